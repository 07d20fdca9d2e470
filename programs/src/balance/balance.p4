// A sketch of ecmp and wcmp in P4_16 for TNA: flows over groups of ports. The two programs differ in their entries only;
// function, seed and rotation of the two hashes are what the scheme gives this switch.
#include <core.p4>
#include <tna.p4>

#ifndef ROUTES
#define ROUTES 1024
#define GROUPS 512
#define MEMBERS 16384
#define SELECTION SelectorMode_t.RESILIENT
#endif
// RTAG7's crc32_lo: the Castagnoli polynomial, not reflected, over the fields with their bits reversed.
#define POLYNOMIAL CRCPolynomial<bit<32>>(0x1EDC6F41, false, false, false, 0, 0)

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header l4_ports_h { bit<16> src_port; bit<16> dst_port; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; l4_ports_h l4; }
struct meta_t {
    bit<1> bad_checksum; bit<1> from_north; bit<16> group; bit<16> flow_hash;
    bit<16> src_port; bit<16> dst_port;
}
struct no_meta_t {}

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    Checksum() sum;
    state start {
        m = { 0, 0, 0, 0, 0, 0 };
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { 0x0800: parse_ipv4; default: accept; }
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
    state parse_l4 {
        pkt.extract(hdr.l4);
        m.src_port = hdr.l4.src_port;
        m.dst_port = hdr.l4.dst_port;
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    POLYNOMIAL poly_up;
    POLYNOMIAL poly_down;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, poly_up) flow_hash_up;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, poly_down) flow_hash_down;
    // FIELDS stands for the single bits of protocol, ports and addresses, lowest first.
#define FIELDS { hdr.ipv4.protocol, m.dst_port, m.src_port, hdr.ipv4.dst, hdr.ipv4.src }
    action up() { m.flow_hash = flow_hash_up.get(FIELDS); }
    action down() { m.flow_hash = flow_hash_down.get(FIELDS); }

    action north() { m.from_north = 1; }
    action south() {}
    table side {
        key = { ig.ingress_port: exact; }
        actions = { north; south; }
        default_action = south;
        size = 64;
    }

    action set_group(bit<16> group) { m.group = group; }
    action unreachable() { dprsr.drop_ctl = 1; }
    table ipv4_route {
        key = { hdr.ipv4.dst: lpm; }
        actions = { set_group; unreachable; }
        default_action = unreachable;
        size = ROUTES;
    }

    Hash<bit<51>>(HashAlgorithm_t.IDENTITY) member_hash;
    ActionProfile(MEMBERS) profile;
    ActionSelector(profile, member_hash, SELECTION, 120, GROUPS) members;
    action to_port(PortId_t port) {
        tm.ucast_egress_port = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }
    table group {
        key = { m.group: exact; m.flow_hash: selector; }
        actions = { to_port; NoAction; }
        implementation = members;
        size = GROUPS;
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) { tm.qid = queue; tm.ingress_cos = traffic_class; }
    table class {
        key = { hdr.ipv4.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(0, 0);
        size = 64;
    }

    apply {
        side.apply();
        if (hdr.ipv4.isValid()) {
            class.apply();
            if (m.from_north == 1) { down(); } else { up(); }
            if (m.bad_checksum == 1 || hdr.ipv4.ttl <= 1) {
                dprsr.drop_ctl = 1;
            } else {
                switch (ipv4_route.apply().action_run) { set_group: { group.apply(); } }
            }
        } else {
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
