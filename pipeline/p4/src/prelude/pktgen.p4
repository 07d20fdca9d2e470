// Headers that the packet generator puts in front of its packets. Tofino 2 has twice as many applications.

#if __TARGET_TOFINO__ == 1
#define PKTGEN_PAD 3
#define PKTGEN_APP 3
#else
#define PKTGEN_PAD 2
#define PKTGEN_APP 4
#endif

header pktgen_timer_header_t {
    @padding bit<PKTGEN_PAD> _pad1;
    bit<2> pipe_id;
    bit<PKTGEN_APP> app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    @padding bit<PKTGEN_PAD> _pad1;
    bit<2> pipe_id;
    bit<PKTGEN_APP> app_id;
    @padding bit<15> _pad2;
    bit<9> port_num;
    bit<16> packet_id;
}

#if __TARGET_TOFINO__ == 1
header pktgen_recirc_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<24> key;
    bit<16> packet_id;
}
#else
header pktgen_recirc_header_t {
    @padding bit<2> _pad1;
    bit<2> pipe_id;
    bit<4> app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_deparser_header_t {
    @padding bit<2> _pad1;
    bit<2> pipe_id;
    bit<4> app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_pfc_header_t {
    @padding bit<2> _pad1;
    bit<2> pipe_id;
    bit<4> app_id;
    @padding bit<40> _pad2;
}
#endif

#undef PKTGEN_PAD
#undef PKTGEN_APP
