// Something for each pass of the core to change.
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header rec_h { bit<32> a; bit<32> b; bit<16> p; bit<16> q; bit<8> x; bit<8> y; }
header made_h { bit<32> c; }
struct headers_t { rec_h rec; made_h made; }
struct metadata_t { bit<32> sum; bool known; }

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t m, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.rec);
        transition select(hdr.rec.y) {
            0x80 &&& 0x80 : made;
            default : accept;
        }
    }
    state made {
        pkt.extract(hdr.made);
        transition accept;
    }
}

control Next(in bit<32> v, inout headers_t hdr) {
    apply {
        hdr.rec.a = hdr.rec.a + 1;
        hdr.rec.b = hdr.rec.b + v;
    }
}

control Made(out made_h made) {
    apply {
        made.c = 5;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t m, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t ip,
                inout ingress_intrinsic_metadata_for_deparser_t id, inout ingress_intrinsic_metadata_for_tm_t it) {
    Next() next;
    Made() made;
    Register<bit<32>, bit<1>>(1) cell;
    RegisterAction<bit<32>, bit<1>, bit<32>>(cell) look = {
        void apply(inout bit<32> v, out bit<32> r) { r = v; v = v + 1; }
    };
    action swap(inout bit<8> one, inout bit<8> two) { bit<8> t = one; one = two; two = t; }
    action both(inout bit<16> one, inout bit<16> two) { one = one + 5; two = one + two; }
    action mark(bit<16> v) { hdr.rec.q = v; }
    action pass() {}
    table near {
        key = { hdr.rec.x : ternary; (bit<8>) (hdr.rec.b >> 4) : ternary @name("mid"); }
        actions = { mark; pass; }
        default_action = pass();
        size = 16;
    }

    apply {
        it.ucast_egress_port = 1;
        m.known = hdr.rec.y != 7 && near.apply().hit;
        bit<8> unused = hdr.rec.y + 1;
        swap(hdr.rec.a[7:0], hdr.rec.b[15:8]);
        both(hdr.rec.p, hdr.rec.p);
        next.apply(hdr.rec.a, hdr);
        if (hdr.made.isValid() && hdr.rec.x == 1) {
            made.apply(hdr.made);
        }
        m.sum = hdr.rec.a - 14 - 20 + 2;
        bit<32> old = look.execute(0);
        if (m.known) {
            hdr.rec.b = old;
        } else {
            hdr.rec.b = m.sum;
        }
        hdr.rec.y = hdr.rec.y < hdr.rec.x ? hdr.rec.y : hdr.rec.x;
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t m, in ingress_intrinsic_metadata_for_deparser_t id) {
    apply { pkt.emit(hdr); }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out metadata_t m, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        transition accept;
    }
}

control Egress(inout headers_t hdr, inout metadata_t m, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t ep,
               inout egress_intrinsic_metadata_for_deparser_t ed, inout egress_intrinsic_metadata_for_output_port_t eo) {
    apply {}
}

control EgressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t m, in egress_intrinsic_metadata_for_deparser_t ed) {
    apply { pkt.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
