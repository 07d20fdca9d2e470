// A sketch of a leaf with a choice of uplinks, in P4_16 for TNA: types. The program's own part (controls Draw and
// Keep) comes after it, then the pipeline around them.
#include <core.p4>
#include <tna.p4>

#ifndef ROUTES
#define ROUTES 4096
#define GROUPS 256
#define MEMBERS 2048
#endif
#define FIRST_GENERATION 32w0x10000

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header ipv6_h {
    bit<4> version; bit<6> dscp; bit<2> ecn; bit<20> flow_label; bit<16> payload_len;
    bit<8> next_header; bit<8> hop_limit; bit<128> src; bit<128> dst;
}
header l4_ports_h { bit<16> src_port; bit<16> dst_port; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; ipv6_h ipv6; l4_ports_h l4; }
struct meta_t {
    bit<1> bad_checksum; bit<1> routed; bit<1> made;
    bit<16> group;       // uplink group; 0 = none
    bit<32> flow;        // CRC-32 of the flow
    bit<16> draw;        // picks a candidate
    bit<32> generation;  // generation of the group in bits 31 to 16
    bit<32> candidate;   // member for a new flowlet: generation and number
    bit<16> member;      // number of the member that the packet takes
    bit<16> src_port; bit<16> dst_port;
}
struct no_meta_t {}
