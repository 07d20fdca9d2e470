#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif
header eth_h { bit<48> dst; bit<48> src; bit<16> type; }
header rec_h { bit<32> a; bit<32> b; bit<32> c; bit<16> p; bit<16> q; bit<8> x; bit<8> y; }
struct heads_t { eth_h eth; rec_h rec;  }
struct md_t { bit<32> t; bit<32> u; bit<16> v; bit<8> w; }
parser IPrs(packet_in pkt, out heads_t h, out md_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); transition eth; }
    state eth { pkt.extract(h.eth); transition select(h.eth.type) { 0x9000: rec; default: accept; } }
    state rec { pkt.extract(h.rec); transition accept; }
}
control Ig(inout heads_t h, inout md_t m, in ingress_intrinsic_metadata_t ig,
           in ingress_intrinsic_metadata_from_parser_t ip,
           inout ingress_intrinsic_metadata_for_deparser_t id, inout ingress_intrinsic_metadata_for_tm_t it) {
    apply {
        it.ucast_egress_port = ig.ingress_port;
        it.ucast_egress_port = 68;
    }
}
control IDep(packet_out pkt, inout heads_t h, in md_t m, in ingress_intrinsic_metadata_for_deparser_t id) {
    apply { pkt.emit(h); }
}
parser EPrs(packet_in pkt, out heads_t h, out md_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition eth; }
    state eth { pkt.extract(h.eth); transition select(h.eth.type) { 0x9000: rec; default: accept; } }
    state rec { pkt.extract(h.rec); transition accept; }
}
control Eg(inout heads_t h, inout md_t m, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t ep,
           inout egress_intrinsic_metadata_for_deparser_t ed, inout egress_intrinsic_metadata_for_output_port_t eo) {
    apply {  }
}
control EDep(packet_out pkt, inout heads_t h, in md_t m, in egress_intrinsic_metadata_for_deparser_t ed) {
    apply { pkt.emit(h); }
}
Pipeline(IPrs(), Ig(), IDep(), EPrs(), Eg(), EDep()) pipe;
Switch(pipe) main;
