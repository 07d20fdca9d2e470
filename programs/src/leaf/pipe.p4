
parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    Checksum() sum;
    state start {
        m = { 0, 0, 0, 0, 0, 0, FIRST_GENERATION, 0, 0, 0, 0 };
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            0x0800: parse_ipv4;
            0x86dd: parse_ipv6;
            default: accept;
        }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        sum.add(hdr.ipv4);
        m.bad_checksum = (bit<1>) sum.verify();
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, 6): parse_l4;
            (5, 0 &&& 1, 0, 17): parse_l4;
            default: accept;
        }
    }
    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) { 6: parse_l4; 17: parse_l4; default: accept; }
    }
    state parse_l4 {
        pkt.extract(hdr.l4);
#ifndef NO_FLOW
        m.src_port = hdr.l4.src_port;
        m.dst_port = hdr.l4.dst_port;
#endif
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    Draw() draw;
    Keep() keep;
#ifndef NO_FLOW
    Hash<bit<32>>(HashAlgorithm_t.CRC32) ipv4_flow;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) ipv6_flow;
    action hash_ipv4() {
        m.flow = ipv4_flow.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, m.src_port, m.dst_port });
    }
    action hash_ipv6() {
        m.flow = ipv6_flow.get({ hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, m.src_port, m.dst_port });
    }
#else
    action hash_ipv4() {}
    action hash_ipv6() {}
#endif

    action unreachable() { dprsr.drop_ctl = 1; }
    action set_group(bit<16> group) { m.group = group; m.routed = 1; }
    action to_port(PortId_t port) { tm.ucast_egress_port = port; m.routed = 1; }
    table ipv4_route {
        key = { hdr.ipv4.dst: lpm; }
        actions = { set_group; to_port; unreachable; }
        default_action = unreachable;
        size = ROUTES;
    }
    table ipv6_route {
        key = { hdr.ipv6.dst: lpm; }
        actions = { set_group; to_port; unreachable; }
        default_action = unreachable;
        size = ROUTES / 4;
    }

    action set_generation(bit<32> generation) { m.generation = generation; }
    table generation {
        key = { m.group: exact; }
        actions = { set_generation; }
        default_action = set_generation(FIRST_GENERATION);
        size = GROUPS;
    }

    action stranded() { dprsr.drop_ctl = 1; }
    action propose(bit<16> member, PortId_t port) {
        m.member = member;
        tm.ucast_egress_port = port;
        m.candidate = m.generation | (bit<32>) member;
    }
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) draw_hash;
    ActionProfile(MEMBERS) profile;
    ActionSelector(profile, draw_hash, SelectorMode_t.FAIR, 120, GROUPS) uplinks;
    table pick {
        key = { m.group: exact; m.draw: selector; }
        actions = { propose; stranded; }
        default_action = stranded;
        implementation = uplinks;
        size = GROUPS;
    }
    action to_uplink(PortId_t port) { tm.ucast_egress_port = port; }
    table uplink {
        key = { m.group: exact; m.member: exact; }
        actions = { to_uplink; NoAction; }
        default_action = NoAction;
        size = MEMBERS;
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) { tm.qid = queue; tm.ingress_cos = traffic_class; }
    table ipv4_class {
        key = { hdr.ipv4.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = 64;
    }
    table ipv6_class {
        key = { hdr.ipv6.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = 64;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_class.apply();
            hash_ipv4();
            if (m.bad_checksum == 1 || hdr.ipv4.ttl <= 1) {
                dprsr.drop_ctl = 1;
            } else {
                ipv4_route.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
            hash_ipv6();
            if (hdr.ipv6.hop_limit <= 1) { dprsr.drop_ctl = 1; } else { ipv6_route.apply(); }
        }

        draw.apply(hdr, m);
        if (m.group != 0) {
            generation.apply();
            pick.apply();
        }
        keep.apply(hdr, m, ig, prsr, dprsr);
        if (m.group != 0) { uplink.apply(); }

        if (m.routed == 1) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            } else if (hdr.ipv6.isValid()) {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        } else if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid() && m.made == 0) {
            dprsr.drop_ctl = 1;
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t m,
        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() sum;
    apply {
        hdr.ipv4.checksum = sum.update({ hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn,
            hdr.ipv4.total_len, hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset,
            hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst });
        pkt.emit(hdr);
    }
}

struct eg_headers_t { ethernet_h ethernet; }
parser EgressParser(packet_in pkt, out eg_headers_t hdr, out no_meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); pkt.extract(hdr.ethernet); transition accept; }
}
control Egress(inout eg_headers_t hdr, inout no_meta_t m, in egress_intrinsic_metadata_t eg,
        in egress_intrinsic_metadata_from_parser_t prsr,
        inout egress_intrinsic_metadata_for_deparser_t dprsr,
        inout egress_intrinsic_metadata_for_output_port_t port) {
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_out;
    apply { ports_out.count(eg.egress_port); }
}
control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in no_meta_t m,
        in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
