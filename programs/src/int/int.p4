/* A sketch of int for T2NA (t2na.p4), written by hand after the builder code for its default parameters: mode=md,
 * carrier=dscp, role=all, domain=0, sink_report=egress. A role other than `all` leaves out what its part does not need:
 * source has no port_out, sink's skipping of the stack, strip; transit has no port_in, watch-list, profile either; sink
 * adds no blocks.
 *
 * Order and names are those of the builder code, file by file. What is the same as in hpcc_int.p4 is left out here:
 * routing, Ethernet, IPv4, IPv6 and UDP headers, the ingress parser, the IPv4 checksum, parameter lists and the pipe.
 * Of tables with constant entries a comment says what their rows are.
 */
#include <core.p4>
#include <t2na.p4>

#define NODE_ID         1
#define INT_DSCP        0x17
#define SINK_WORDS      84
#define SESSION         1
#define REPORT_METADATA 0x7c
#define WATCH_RULES     512

/* ---------------------------------------------------------------- headers */

header bridge_h {
    bit<8> kind; bit<1> watched; bit<1> sink; bit<1> edge; bit<5> profile;
    bit<16> ingress_port; bit<16> ingress_time_hi; bit<32> ingress_time;
}
header copy_h {
    bit<8> kind; bit<8> flags; bit<8> bits_hi; bit<8> bits_lo; bit<16> ingress_port; bit<16> egress_port;
    bit<16> reason; bit<32> queue; bit<32> latency;
    bit<16> ingress_time_hi; bit<32> ingress_time; bit<16> egress_time_hi; bit<32> egress_time;
}
header tcp_words_h { bit<32> ports; bit<32> seq_no; bit<32> ack_no; bit<32> offset_flags_window; bit<16> checksum; bit<16> urgent_ptr; }
header shim_h { bit<8> types; bit<8> length; bit<16> original; }
header int_header_h {
    bit<4> version; bit<1> discard; bit<1> exceeded; bit<1> mtu; bit<9> reserved; bit<8> hop_ml; bit<8> remaining;
    bit<8> bits_hi; bit<8> bits_lo; bit<16> domain; bit<16> ds_instruction; bit<16> ds_flags;
}
header word_h { bit<32> value; }
header interfaces_h { bit<16> ingress; bit<16> egress; }
header stamp_h { bit<16> pad; bit<16> time_hi; bit<32> time; }
header logical_interfaces_h { bit<32> ingress; bit<32> egress; }
header two_words_h { bit<32> first; bit<32> second; }
header complement_h { bit<16> pad; bit<16> value; }
header drop_reason_h { bit<16> reason; bit<16> pad; }
header report_header_h {
    bit<32> group; bit<32> node; bit<16> head; bit<8> md_length; bit<8> flags;
    bit<8> bits_hi; bit<8> bits_lo; bit<16> domain; bit<32> ds;
}

/* ---------------------------------------------------------------- ingress, after route.apply() */

    action from_host() { hdr.bridge.edge = 1; }
    action to_host() { hdr.bridge.sink = 1; }
    action watch(bit<5> profile, bit<16> chance) { m.watched = 1; hdr.bridge.profile = profile; m.over = m.draw |-| chance; }
    table port_in { key = { ig.ingress_port: exact; } actions = { from_host; NoAction; } size = 512; }
    table port_out { key = { tm.ucast_egress_port: exact; } actions = { to_host; NoAction; } size = 512; }
    table ipv4_watch {
        key = { hdr.ipv4.src: ternary; hdr.ipv4.dst: ternary; hdr.ipv4.protocol: ternary;
                m.src_port: ternary; m.dst_port: ternary; }
        actions = { watch; NoAction; }
        size = WATCH_RULES;
    }
    /* ipv6_watch: the same over ipv6.src, ipv6.dst, ipv6.next_header */
    Random<bit<16>>() sampler;
    action arrive() {
        hdr.bridge.setValid(); hdr.bridge.kind = 1;
        hdr.bridge.ingress_port = (bit<16>)ig.ingress_port;
        hdr.bridge.ingress_time_hi = ig.ingress_mac_tstamp[47:32];
        hdr.bridge.ingress_time = ig.ingress_mac_tstamp[31:0];
        tm.deflect_on_drop = 1; m.session = SESSION; m.draw = sampler.get();
    }
    apply {
        arrive(); port_in.apply(); port_out.apply(); describe_refused();
        if (hdr.ipv4.isValid()) { ipv4_watch.apply(); } else if (hdr.ipv6.isValid()) { ipv6_watch.apply(); }
        if (hdr.ipv4.isValid() && hdr.ipv4.dscp == INT_DSCP) { m.int = 1; }
        else if (hdr.ipv6.isValid() && hdr.ipv6.dscp == INT_DSCP) { m.int = 1; }
        if (m.int == 1 && hdr.bridge.edge == 1) { dprsr.drop_ctl = 1; }
        if (m.refused != 0) { report_drop(); }
        else if (m.watched == 1 && m.over == 0 && hdr.bridge.edge == 1 && m.int == 0) { hdr.bridge.watched = 1; }
    }

/* ---------------------------------------------------------------- egress parser */

    state start { transition select(pkt.lookahead<bit<8>>()) { 1: bridged; 2: left; 3: came; default: accept; } }
    /* left: copy; came: copy, then the bridged header is skipped. Both skip Ethernet of IP and set m.shape. */
    state found {
        transition select(pkt.lookahead<bit<36>>()[35:32], pkt.lookahead<bit<36>>()[3:0]) {
            (1, 2): parse_int;
            default: accept;
        }
    }
    state parse_int {
        pkt.extract(hdr.shim); pkt.extract(hdr.int);
        transition select(hdr.bridge.sink) { 1: measure; default: accept; }
    }
    state measure {
        words.set(hdr.shim.length, SINK_WORDS + 3, 0, 7, -3);
        transition select(words.is_negative(), words.is_zero()) { (true, _): too_short; (false, false): skip; default: accept; }
    }
    state skip {
        pkt.advance(32); words.decrement(1);
        transition select(words.is_zero()) { false: skip; default: accept; }
    }

/* ---------------------------------------------------------------- egress: observe */

    RegisterAction<pair_t, PortId_t, bit<32>>(windows) count_bytes = {
        void apply(inout pair_t v, out bit<32> ended) {
            if (v.lo == m.window) { v.hi = v.hi + m.length; } else { ended = v.hi; v.hi = m.length; }
            v.lo = m.window;
        }
    };
    RegisterAction<bit<32>, PortId_t, bit<32>>(utilisation) renew = {
        void apply(inout bit<32> v, out bit<32> last) { if (m.ended != 0) { v = m.ended; } last = v; }
    };
    /* egress_port: mtu and level-2 interface; ingress_port: level-2 interface; queue: qid << 24, 128 rows */

/* ---------------------------------------------------------------- egress: source and transit */

    action begin(bit<8> remaining, bit<8> hop_words, bit<8> bits_hi, bit<8> bits_lo, bit<16> domain,
                 bit<16> ds_instruction, bit<16> sum) {
        hdr.shim.setValid(); hdr.shim.types = 0x10; hdr.shim.length = 3;
        hdr.int.setValid(); hdr.int.version = 2; hdr.int.hop_ml = hop_words; hdr.int.remaining = remaining;
        hdr.int.bits_hi = bits_hi; hdr.int.bits_lo = bits_lo; hdr.int.domain = domain;
        hdr.int.ds_instruction = ds_instruction;
        m.bits_hi = bits_hi; m.bits_lo = bits_lo; m.hop_words = hop_words; m.fixed_sum = sum; m.begun = 1;
    }
    table profile { key = { hdr.bridge.profile: exact; } actions = { begin; NoAction; } size = 256; }
    action is_node(bit<32> id) { m.node = id; }    /* metadata and reports copy it */
    table node { actions = { is_node; } default_action = is_node(NODE_ID); }
    apply {
        node.apply();
        if (hdr.int.isValid()) { of_packet(); }
        else if (hdr.bridge.isValid() && hdr.bridge.watched == 1 && hdr.bridge.sink == 0
                 && (hdr.tcp.isValid() || hdr.udp.isValid())) { profile.apply(); }
        words_hi.apply(); words_lo.apply();           /* 256 rows each: words per half of the bitmap */
        if (hdr.int.isValid() && hdr.bridge.sink == 0) {
            block_size.apply();                       /* (hop_words, udp) -> 4 * words, sum of their changes */
            fill(); take_tail(); longest(); exceed(); exceed_fixed();
            if (m.begun == 1 && m.mtu != 0) { too_long(); cancel(); }
            else if (hdr.int.remaining == 0) { hop_limit(); if (m.summed == 1) { flag_hop_limit(); } }
            else if (m.summed == 1 && m.bits_lo[0:0] == 0) { no_complement(); if (m.begun == 1) { cancel(); } }
            else if (m.odd == 1) { skip(); }
            else if (m.longest != 0) {
                too_long();
                if (m.begun == 0) { mark_mtu(); if (m.summed == 1) { flag_mtu(); } }
                else if (m.summed == 1) { cancel(); }
                else { mark_mtu(); }
            } else { push(); }
            events.count(m.event);
            if (m.adds == 0) { no_block(); }
        }
        /* ask: drop, congestion and flow reports; strip: (shim.length) -> -(4 * length + 4), a row per length that a sink takes */
        if (hdr.int.isValid() && hdr.bridge.sink == 1) {
            if (m.malformed == 1 || prsr.parser_err != 0) { dprsr.drop_ctl = 1; }
            else { strip_bytes.apply(); undo_flags(); }
            restore_dscp();
        }
        lengths(); mark();                            /* commit */
        if (m.flags != 0) { flag_sum.apply(); write_sum(); }
        if (hdr.int.isValid() && hdr.bridge.sink == 1) { take_off(); }
        if (m.adds == 1) { show_bits_0.apply(); show_bits_4.apply(); }
        if (m.adds == 1 && hdr.int.isValid()) { fill_ones(); show_rest.apply(); }
    }

/* ---------------------------------------------------------------- egress deparser */

    if (hdr.complement.isValid()) {
        hdr.complement.value = complement.update({ hdr.node, hdr.interfaces, hdr.latency, hdr.queue, hdr.ingress_time,
            hdr.egress_time, hdr.l2, hdr.util, hdr.ones2, hdr.ones1, m.changes, m.fixed_sum, m.fixed_udp, m.original });
    }
    if (dprsr.mirror_type == 1) { mirror.emit<copy_h>(m.session, hdr.copy); }
    pkt.emit(hdr);    /* ethernet ipv4 ipv6 tcp udp report shim int node .. util ones2 ones1 complement drop_reason */
