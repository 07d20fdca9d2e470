#include <core.p4>
#include <t2na.p4>
header eth_h { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { eth_h eth; }
struct md_t { bit<8> n; }
parser IgParser(packet_in pkt, out headers_t hdr, out md_t md, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.eth);
        transition accept;
    }
}
control Ig(inout headers_t hdr, inout md_t md, in ingress_intrinsic_metadata_t ig,
           in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
           inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<32>, bit<8>>(256, 0) count;
    RegisterAction<bit<32>, bit<8>, bit<32>>(count) next = {
        void apply(inout bit<32> value, out bit<32> result) {
            value = value |+| 1;
            result = value;
        }
    };
    action send(PortId_t port) { tm.ucast_egress_port = port; md.n = (bit<8>) next.execute(md.n)[7:0]; }
    action drop() { dprsr.drop_ctl = 1; }
    table forward {
        key = { hdr.eth.dst : exact; }
        actions = { send; drop; }
        const default_action = drop();
        size = 64;
    }
    apply { forward.apply(); }
}
control IgDeparser(packet_out pkt, inout headers_t hdr, in md_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
parser EgParser(packet_in pkt, out headers_t hdr, out md_t md, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control Eg(inout headers_t hdr, inout md_t md, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
           inout egress_intrinsic_metadata_for_output_port_t port) {
    apply { }
}
control EgDeparser(packet_out pkt, inout headers_t hdr, in md_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) pipe;
Switch(pipe) main;
