#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header vlan_h { bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> type; }
header label_h { bit<20> label; bit<3> tc; bit<1> bottom; bit<8> ttl; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<16> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header tcp_h { bit<16> sport; bit<16> dport; bit<16> checksum; bit<16> urgent; }
header note_h { bit<8> kind; bit<8> a; bit<16> b; } header tail_h { bit<8> kind; bit<2> mark; }
struct headers_t { ethernet_h eth; vlan_h vlan; label_h[3] labels; ipv4_h ipv4; tcp_h tcp; note_h note; }
struct port_t { bit<16> vrf; bit<8> group; }
struct metadata_t {
    bit<16> key; bit<8> kind; bool bad; bit<16> rest; bit<8> pad; MirrorId_t session; port_t port; note_h mirrored; note_h resubmitted; tail_h tail;
}

// PROGRAM

parser EgressP(packet_in pkt, out headers_t hdr, out metadata_t md, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control EgressD(packet_out pkt, inout headers_t hdr, in metadata_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { }
}
control C(inout headers_t hdr, inout metadata_t md, in ingress_intrinsic_metadata_t ig,
          in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
          inout ingress_intrinsic_metadata_for_tm_t tm) { apply { } }
control E(inout headers_t hdr, inout metadata_t md, in egress_intrinsic_metadata_t eg,
          in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
          inout egress_intrinsic_metadata_for_output_port_t oport) { apply { } }
Pipeline(P(), C(), D(), EgressP(), E(), EgressD()) pipe;
Switch(pipe) main;
