// Sends packets back by their port, and marks those to a known address.
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header eth_h {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}
header mark_h {
    bit<16> v;
}
struct headers_t {
    eth_h eth;
    mark_h mark;
}
struct meta_t {
}

parser IPrs(packet_in pkt, out headers_t hdr, out meta_t md, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.eth);
        pkt.extract(hdr.mark);
        transition accept;
    }
}
control Ig(inout headers_t hdr, inout meta_t md, in ingress_intrinsic_metadata_t ig,
           in ingress_intrinsic_metadata_from_parser_t prsr,
           inout ingress_intrinsic_metadata_for_deparser_t dprsr,
           inout ingress_intrinsic_metadata_for_tm_t tm) {
    Register<bit<16>, bit<1>>(1) last;
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) seen;

    action mark(bit<16> v) {
        hdr.mark.v = v;
    }
    action drop() {
        dprsr.drop_ctl = 1;
    }
    table near {
        key = { hdr.eth.dst : exact; }
        actions = { mark; drop; }
        default_action = drop();
        size = 64;
    }
    apply {
        tm.ucast_egress_port = ig.ingress_port;
        if (near.apply().hit) {
            last.write(0, (bit<16>)ig.ingress_port);
            seen.count(ig.ingress_port);
        }
    }
}
control IDprs(packet_out pkt, inout headers_t hdr, in meta_t md,
              in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
        pkt.emit(hdr);
    }
}
parser EPrs(packet_in pkt, out headers_t hdr, out meta_t md, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        transition accept;
    }
}
control Eg(inout headers_t hdr, inout meta_t md, in egress_intrinsic_metadata_t eg,
           in egress_intrinsic_metadata_from_parser_t prsr,
           inout egress_intrinsic_metadata_for_deparser_t dprsr,
           inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {
    }
}
control EDprs(packet_out pkt, inout headers_t hdr, in meta_t md,
              in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply {
    }
}
Pipeline(IPrs(), Ig(), IDprs(), EPrs(), Eg(), EDprs()) pipe;
Switch(pipe) main;
