// A sketch of conweave-spine in P4_16 for T2NA: forwards between ConWeave's ToRs. For comparison; it is not compiled.
// Parsers, checksums and the emission of headers are those of the stage program's `pipes.rs`.
#include <core.p4>
#include <t2na.p4>

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    action to_group(bit<16> group) { m.group = group; }
    action unreachable() { dprsr.drop_ctl = 1; }
    // IPv4 longest prefix to the group of links to its ToR
    table route {
        key = { hdr.ipv4.dst : lpm; }
        actions = { to_group; unreachable; }
        default_action = unreachable;
        size = 2048;
    }
    action forward(PortId_t port) { tm.ucast_egress_port = port; }
    // Destination MAC to port, for frames that are not IPv4 without options
    table l2 {
        key = { hdr.ethernet.dst : exact; }
        actions = { forward; unreachable; }
        default_action = unreachable;
        size = 1024;
    }
    Hash<bit<51>>(HashAlgorithm_t.CRC64) flow_hash;
    ActionProfile(1024) ecmp_ports;
    ActionSelector(ecmp_ports, flow_hash, SelectorMode_t.RESILIENT, 32, 256) ecmp_selector;
    table ecmp {
        key = {
            m.group : exact;
            hdr.ipv4.src : selector; hdr.ipv4.dst : selector; hdr.ipv4.protocol : selector;
            m.src_port : selector; m.dst_port : selector;
        }
        actions = { forward; }
        implementation = ecmp_selector;
        size = 256;
    }
    // Group and PathID to a link, for DATA
    table by_path {
        key = { m.group : exact; hdr.bth.path : exact; }
        actions = { forward; }
        size = 4096;
    }
    action set_class(QueueId_t queue, bit<3> traffic_class) { tm.qid = queue; tm.ingress_cos = traffic_class; }
    table class {
        key = { hdr.ipv4.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = 64;
    }

    apply {
        if (!hdr.ipv4.isValid()) {
            l2.apply();
        } else if (m.bad_checksum == 1 || hdr.ipv4.ttl <= 1) {
            dprsr.drop_ctl = 1;
        } else {
            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            class.apply();
            route.apply();
            ecmp.apply();
            if (hdr.bth.isValid() && hdr.bth.cw_opcode == 1) { by_path.apply(); }
        }
    }
}

control Egress(inout headers_t hdr, inout eg_meta_t k, in egress_intrinsic_metadata_t eg) {
    action set_probability(bit<8> p) { k.probability = p; }
    table mark_probability {
        key = { k.depth : ternary; }
        actions = { set_probability; }
        size = 64;
    }
    Random<bit<8>>() mark_draw;
    apply {
        k.depth = eg.deq_qdepth[18:6];
        k.draw = mark_draw.get();
        mark_probability.apply();
        k.probability = k.probability |-| k.draw;
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != 0 && k.probability != 0) { hdr.ipv4.ecn = 3; }
    }
}
