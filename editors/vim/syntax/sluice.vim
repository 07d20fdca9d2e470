" Vim syntax file
" Language: Sluice stage programs

if exists("b:current_syntax")
  finish
endif

syntax case match
" Names contain dots, dashes and dollars.
syntax iskeyword @,48-57,_,.,-,$

syntax match sluiceOperator "&&&\|&&\|||\|[=!<>]=\|\.\.\|[-+*/%<>!=]"
syntax match sluiceName "[A-Za-z_$][A-Za-z0-9_.$-]*"

" The test `editors` of sluice-ir writes the words.
syntax keyword sluiceDeclaration action const containers control counter deparser entries hash header intrinsic label metadata meter param parser port_metadata profile program property random register register_action role routes sluice stack start state table together value_set
syntax keyword sluiceSetting actions adds algorithm alpm atcam core default_action direct edge element format groups idle initial inputs key kind leaves_out max_group_size out0 out1 out2 out3 pack params pin pin_entries ports priority reads registers rotate scramble seed selector size symmetric ways width
syntax keyword sluiceOperation advance cast checksum copy_valid count counter_is_negative counter_is_zero crc decrement digest drop emit execute extract extract_next funnel_shift in.valid increment index last log2 lookahead lpf match math mirror out.valid partitions phv pktgen pop_counter pow2 predicate push_counter push_linked_counter quotient rates remainder resubmit search set_counter set_drop_ctl set_invalid set_masked set_valid sizes subtract_checksum valid verify_checksum wred
syntax keyword sluiceInstruction add alu_a alu_b and andca andcb eq gteqs gtequ gts gtu leqs lequ lts ltu max16 max8 maxs maxu min16 min8 mins minu nand neq nor nota notb or orca orcb sadds saddu set sethi setz shl shrs shru ssubrs ssubru ssubs ssubu sub subr xnor xor
syntax keyword sluiceIntrinsic dprsr.adv_flow_ctl dprsr.coalesce_flush dprsr.coalesce_length dprsr.digest_type dprsr.drop_ctl dprsr.mirror_coalesce_length dprsr.mirror_deflect_on_drop dprsr.mirror_egress_port dprsr.mirror_hash dprsr.mirror_ingress_cos dprsr.mirror_io_select dprsr.mirror_multicast_ctrl dprsr.mirror_qid dprsr.mirror_type dprsr.mtu_trunc_err_f dprsr.mtu_trunc_len dprsr.pktgen dprsr.pktgen_address dprsr.pktgen_length dprsr.resubmit_type eg.app_pool_congest_stat eg.deflection_flag eg.deq_congest_stat eg.deq_qdepth eg.deq_timedelta eg.egress_cos eg.egress_port eg.egress_qid eg.egress_rid eg.egress_rid_first eg.enq_congest_stat eg.enq_qdepth eg.enq_tstamp eg.pkt_length eg_oport.capture_tstamp_on_tx eg_oport.update_delay_on_tx ghost.ping_pong ghost.pipe_id ghost.qid ghost.qlength ig.ingress_mac_tstamp ig.ingress_port ig.packet_version ig.resubmit_flag ig_tm.bypass_egress ig_tm.copy_to_cpu ig_tm.deflect_on_drop ig_tm.disable_ucast_cutthru ig_tm.enable_mcast_cutthru ig_tm.icos_for_copy_to_cpu ig_tm.ingress_cos ig_tm.level1_exclusion_id ig_tm.level1_mcast_hash ig_tm.level2_exclusion_id ig_tm.level2_mcast_hash ig_tm.mcast_grp_a ig_tm.mcast_grp_b ig_tm.packet_color ig_tm.qid ig_tm.rid ig_tm.ucast_egress_port prsr.global_tstamp prsr.global_ver prsr.parser_err
syntax keyword sluiceValue both_17_25 both_28_36 both_64 bytes changed consume crc_16 crc_16_bypass crc_16_dds_110 crc_16_dect crc_16_dect_r crc_16_dect_x crc_16_dnp crc_16_en_13757 crc_16_genibus crc_16_kermit crc_16_maxim crc_16_mcrf4xx crc_16_modbus crc_16_riello crc_16_t10_dif crc_16_teledisk crc_16_usb crc_16_x_25 crc_16_xmodem crc_32 crc_32_bzip2 crc_32_mpeg crc_32c crc_32d crc_32q crc_64 crc_64_go_iso crc_64_jones crc_64_we crc_8 crc_8_darc crc_8_i_code crc_8_itu crc_8_maxim crc_8_rohc crc_8_wcdma crc_aug_ccitt crc_ccitt_false dark egress exact fair identity ingress jamcrc lane lane_index lpm mocha normal notify old_hi old_lo packets packets_and_bytes plain_modulo poll posix range rate resilient sample serial signed single_32 single_64 tagalong ternary xfer xor16 xor32 xor8
syntax keyword sluiceType bit
syntax keyword sluiceKeyword _ accept address apply atomic call cell default destination else entry from ghost hi hit holds if in in.length in.port keep lo miss no_overlay off on only_changes out.length out.port out.queue packet port reject run select self sent solitary sum transition when zeros_as_ones

syntax match sluiceCell "@[A-Za-z0-9_]\+"
syntax match sluiceNumber "\%([A-Za-z0-9_$-]\|[A-Za-z0-9_$-]\.\)\@2<!\%(0x[0-9A-Fa-f_]\+\|\d[0-9_]*\)"
syntax match sluiceNumber "\%([A-Za-z0-9_$-]\|[A-Za-z0-9_$-]\.\)\@2<!\d\+w\%(0x[0-9A-Fa-f_]\+\|\d[0-9_]*\|(\@=\)"
syntax match sluiceNumber "#\d\+"
syntax match sluiceNumber "\$\d\+"

syntax match sluiceEscape "\\." contained
syntax region sluiceString start=+"+ end=+"+ contains=sluiceEscape
syntax region sluiceString start=+"""+ end=+"""+
syntax region sluiceQuotedName start=+`+ end=+`+ contains=sluiceEscape

syntax match sluiceComment "//.*$" contains=@Spell
syntax match sluiceDoc "////\@!.*$" contains=@Spell
syntax region sluiceComment start="/\*" end="\*/" contains=@Spell
syntax sync fromstart

highlight default link sluiceDeclaration Structure
highlight default link sluiceSetting Identifier
highlight default link sluiceOperation Function
highlight default link sluiceInstruction Function
highlight default link sluiceIntrinsic Special
highlight default link sluiceValue Constant
highlight default link sluiceKeyword Statement
highlight default link sluiceType Type
highlight default link sluiceCell Special
highlight default link sluiceNumber Number
highlight default link sluiceEscape SpecialChar
highlight default link sluiceString String
highlight default link sluiceQuotedName String
highlight default link sluiceOperator Operator
highlight default link sluiceComment Comment
highlight default link sluiceDoc SpecialComment

let b:current_syntax = "sluice"
