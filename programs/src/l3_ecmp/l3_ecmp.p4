/* A sketch of l3-ecmp for TNA (Tofino 2: include <t2na.p4>), written by hand after the builder code beside this file.
 *
 * Order and names are those of the builder code, so that the two can be read line by line. Where TNA needs
 * what the builder has no words for (parameter lists, casts, pipe assembly), this file has more lines.
 * Differences in behaviour: TNA drops packets with parser errors on its own terms, and a program for silicon
 * would pad the bridged header itself. Table sizes and hash parameters are the defaults of `--set`.
 */
#include <core.p4>
#include <tna.p4>

/* ---------------------------------------------------------------- parameters */

#define IPV4_ROUTES       12288
#define IPV6_ROUTES       4096
#define IPV4_ACL_RULES    512
#define IPV6_ACL_RULES    512
#define ECMP_GROUPS       1024
#define ECMP_MEMBERS      4096
#define ECMP_GROUP_SIZE   120
#define NEIGHBORS         4096
#define MACS              4096
#define PORT_VLANS        1024

/* hash_fields_v4, hash_fields_v6, hash_algorithm, hash_width, selection. hash_seed and hash_rotate are bits of
 * the hash engine's GF(2) matrix, which the control plane sets; P4 has no word for them. A seed of
 * hash_seed_style=prefix is one more item, `32w0xdeadbeef`, at the head of each tuple. */
#define HASH_FIELDS_V4    { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, m.src_port, m.dst_port }
#define HASH_FIELDS_V6    { hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, m.src_port, m.dst_port, \
                            hdr.ipv6.flow_label }
#define HASH_ALGORITHM    HashAlgorithm_t.CRC32
typedef bit<14> flow_hash_t;
#define SELECTION         SelectorMode_t.FAIR

/* ---------------------------------------------------------------- headers */

typedef bit<48> mac_t;
typedef bit<12> vid_t;
typedef bit<8>  vrf_t;
typedef bit<16> group_t;
typedef bit<16> nexthop_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8>  PROTOCOL_TCP   = 6;
const bit<8>  PROTOCOL_UDP   = 17;

/* Bridged header from ingress to egress: the 802.1Q tag for ports that send the VLAN tagged. */
header bridge_h {
    bit<3> pcp;
    bit<1> dei;
    vid_t  vid;
}

header ethernet_h {
    mac_t   dst;
    mac_t   src;
    bit<16> ether_type;
}

header vlan_h {
    bit<3>  pcp;
    bit<1>  dei;
    vid_t   vid;
    bit<16> ether_type;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> total_len;
    bit<16> identification;
    bit<3>  flags;
    bit<13> frag_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv6_h {
    bit<4>   version;
    bit<6>   dscp;
    bit<2>   ecn;
    bit<20>  flow_label;
    bit<16>  payload_len;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

/* The first four bytes of a TCP or UDP header. */
header l4_ports_h {
    bit<16> src_port;
    bit<16> dst_port;
}

struct ingress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    vlan_h     vlan;
    ipv4_h     ipv4;
    ipv4_h     ipv4_options;  /* replaces ipv4 in packets with options */
    ipv6_h     ipv6;
    l4_ports_h l4;
}

struct egress_headers_t {
    bridge_h   bridge;
    ethernet_h ethernet;
    vlan_h     vlan;
}

struct ingress_metadata_t {
    bit<1>      arp;
    bool        bad_checksum;
    bit<1>      punt;
    bit<1>      routed;
    vid_t       vid;
    vrf_t       vrf;
    group_t     group;
    nexthop_t   nexthop;
    bit<16>     src_port;
    bit<16>     dst_port;
    flow_hash_t flow_hash;
}

struct egress_metadata_t {}

/* ---------------------------------------------------------------- ingress parser */

parser IngressParser(
        packet_in pkt,
        out ingress_headers_t hdr,
        out ingress_metadata_t m,
        out ingress_intrinsic_metadata_t ig) {
    Checksum() ipv4_sum;

    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        m = {0, false, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: parse_vlan;
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            ETHERTYPE_ARP:  parse_arp;
            default:        accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            ETHERTYPE_ARP:  parse_arp;
            default:        accept;
        }
    }

    state parse_arp {
        m.arp = 1;
        transition accept;
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_sum.add(hdr.ipv4);
        m.bad_checksum = ipv4_sum.verify();
        /* no options, not fragmented */
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 1, 0, PROTOCOL_TCP): parse_l4;
            (5, 0 &&& 1, 0, PROTOCOL_UDP): parse_l4;
            default:                       accept;
        }
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            PROTOCOL_TCP: parse_l4;
            PROTOCOL_UDP: parse_l4;
            default:      accept;
        }
    }

    state parse_l4 {
        pkt.extract(hdr.l4);
        m.src_port = hdr.l4.src_port;
        m.dst_port = hdr.l4.dst_port;
        transition accept;
    }
}

/* ---------------------------------------------------------------- ingress */

control Ingress(
        inout ingress_headers_t hdr,
        inout ingress_metadata_t m,
        in    ingress_intrinsic_metadata_t ig,
        in    ingress_intrinsic_metadata_from_parser_t ig_prsr,
        inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr,
        inout ingress_intrinsic_metadata_for_tm_t ig_tm) {

    /* ---- flow hash and selector */

    Hash<flow_hash_t>(HASH_ALGORITHM) ipv4_hash;
    Hash<flow_hash_t>(HASH_ALGORITHM) ipv6_hash;
    action hash_ipv4() { m.flow_hash = ipv4_hash.get(HASH_FIELDS_V4); }
    action hash_ipv6() { m.flow_hash = ipv6_hash.get(HASH_FIELDS_V6); }

    Hash<flow_hash_t>(HashAlgorithm_t.IDENTITY) member_hash;
    ActionProfile(ECMP_MEMBERS) ecmp_profile;
    ActionSelector(ecmp_profile, member_hash, SELECTION, ECMP_GROUP_SIZE, ECMP_GROUPS) ecmp_members;

    /* ---- drops: the builder's labels acl_deny, no_route, no_neighbor, no_bridge_port, ipv4_checksum */

    action discard() { ig_dprsr.drop_ctl = 1; }

    /* ---- VLAN and routing table */

    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_in;

    action untag() {
        hdr.bridge.pcp = hdr.vlan.pcp;
        hdr.bridge.dei = hdr.vlan.dei;
        hdr.ethernet.ether_type = hdr.vlan.ether_type;
        hdr.vlan.setInvalid();
    }

    action set_vid(vid_t vid) { m.vid = vid; }
    table port_vlan {
        key = { ig.ingress_port: exact; }
        actions = { set_vid; }
        default_action = set_vid(1);
        size = 512;
    }

    action set_vrf(vrf_t vrf) { m.vrf = vrf; }
    table vlan {
        key = { m.vid: exact; }
        actions = { set_vrf; }
        default_action = set_vrf(0);
        size = 4096;
    }

    /* ---- filters */

    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_acl_hits;
    action ipv4_acl_permit() { ipv4_acl_hits.count(); }
    action ipv4_acl_deny()   { ipv4_acl_hits.count(); discard(); }
    action ipv4_acl_punt()   { ipv4_acl_hits.count(); m.punt = 1; }
    table ipv4_acl {
        key = {
            hdr.ipv4.src:      ternary;
            hdr.ipv4.dst:      ternary;
            hdr.ipv4.protocol: ternary;
            m.src_port:        ternary;
            m.dst_port:        ternary;
        }
        actions = { ipv4_acl_permit; ipv4_acl_deny; ipv4_acl_punt; }
        default_action = ipv4_acl_permit();
        counters = ipv4_acl_hits;
        size = IPV4_ACL_RULES;
    }

    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_acl_hits;
    action ipv6_acl_permit() { ipv6_acl_hits.count(); }
    action ipv6_acl_deny()   { ipv6_acl_hits.count(); discard(); }
    action ipv6_acl_punt()   { ipv6_acl_hits.count(); m.punt = 1; }
    table ipv6_acl {
        key = {
            hdr.ipv6.src:         ternary;
            hdr.ipv6.dst:         ternary;
            hdr.ipv6.next_header: ternary;
            m.src_port:           ternary;
            m.dst_port:           ternary;
        }
        actions = { ipv6_acl_permit; ipv6_acl_deny; ipv6_acl_punt; }
        default_action = ipv6_acl_permit();
        counters = ipv6_acl_hits;
        size = IPV6_ACL_RULES;
    }

    /* ---- routes */

    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_route_hits;
    action ipv4_set_group(group_t group)       { m.group = group;     m.routed = 1; ipv4_route_hits.count(); }
    action ipv4_set_nexthop(nexthop_t nexthop) { m.nexthop = nexthop; m.routed = 1; ipv4_route_hits.count(); }
    action ipv4_route_punt()                   { m.punt = 1; ipv4_route_hits.count(); }
    action ipv4_no_route()                     { discard();  ipv4_route_hits.count(); }
    table ipv4_route {
        key = { m.vrf: exact; hdr.ipv4.dst: lpm; }
        actions = { ipv4_set_group; ipv4_set_nexthop; ipv4_route_punt; ipv4_no_route; }
        default_action = ipv4_no_route();
        counters = ipv4_route_hits;
        size = IPV4_ROUTES;
    }

    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_route_hits;
    action ipv6_set_group(group_t group)       { m.group = group;     m.routed = 1; ipv6_route_hits.count(); }
    action ipv6_set_nexthop(nexthop_t nexthop) { m.nexthop = nexthop; m.routed = 1; ipv6_route_hits.count(); }
    action ipv6_route_punt()                   { m.punt = 1; ipv6_route_hits.count(); }
    action ipv6_no_route()                     { discard();  ipv6_route_hits.count(); }
    table ipv6_route {
        key = { m.vrf: exact; hdr.ipv6.dst: lpm; }
        actions = { ipv6_set_group; ipv6_set_nexthop; ipv6_route_punt; ipv6_no_route; }
        default_action = ipv6_no_route();
        counters = ipv6_route_hits;
        size = IPV6_ROUTES;
    }

    /* ---- groups and next hops */

    action set_nexthop(nexthop_t nexthop) { m.nexthop = nexthop; }
    table ecmp {
        key = { m.group: exact; m.flow_hash: selector; }
        actions = { set_nexthop; NoAction; }
        default_action = NoAction();
        implementation = ecmp_members;
        size = ECMP_GROUPS;
    }

    action unresolved() { discard(); }
    action rewrite(mac_t dst_mac, mac_t src_mac, PortId_t port, vid_t vid) {
        hdr.ethernet.dst = dst_mac;
        hdr.ethernet.src = src_mac;
        ig_tm.ucast_egress_port = port;
        hdr.bridge.vid = vid;
    }
    table neighbor {
        key = { m.nexthop: exact; }
        actions = { rewrite; unresolved; }
        default_action = unresolved();
        size = NEIGHBORS;
    }

    /* ---- bridging and the CPU */

    action no_port() { discard(); }
    action forward(PortId_t port) {
        ig_tm.ucast_egress_port = port;
        hdr.bridge.vid = m.vid;
    }
    table l2 {
        key = { m.vid: exact; hdr.ethernet.dst: exact; }
        actions = { forward; no_port; }
        default_action = no_port();
        size = MACS;
    }

    action punt() { m.punt = 1; }
    /* The deparser's checksum covers 20 bytes: the header moves to an instance without checksum update. */
    action punt_options() {
        m.punt = 1;
        hdr.ipv4.setInvalid();
        hdr.ipv4_options.setValid();
        hdr.ipv4_options.version = hdr.ipv4.version;
        hdr.ipv4_options.ihl = hdr.ipv4.ihl;
        hdr.ipv4_options.dscp = hdr.ipv4.dscp;
        hdr.ipv4_options.ecn = hdr.ipv4.ecn;
        hdr.ipv4_options.total_len = hdr.ipv4.total_len;
        hdr.ipv4_options.identification = hdr.ipv4.identification;
        hdr.ipv4_options.flags = hdr.ipv4.flags;
        hdr.ipv4_options.frag_offset = hdr.ipv4.frag_offset;
        hdr.ipv4_options.ttl = hdr.ipv4.ttl;
        hdr.ipv4_options.protocol = hdr.ipv4.protocol;
        hdr.ipv4_options.checksum = hdr.ipv4.checksum;
        hdr.ipv4_options.src = hdr.ipv4.src;
        hdr.ipv4_options.dst = hdr.ipv4.dst;
    }
    action send_to_cpu(PortId_t port) {
        ig_tm.ucast_egress_port = port;
        hdr.bridge.vid = m.vid;
    }
    table to_cpu {
        actions = { send_to_cpu; }
        default_action = send_to_cpu(2);
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) { ig_tm.qid = queue; ig_tm.ingress_cos = traffic_class; }
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
        ports_in.count(ig.ingress_port);
        hdr.bridge.setValid();
        /* A tag of VLAN 0 carries a priority only. */
        if (hdr.vlan.isValid() && hdr.vlan.vid != 0) {
            m.vid = hdr.vlan.vid;
        } else {
            port_vlan.apply();
        }
        if (hdr.vlan.isValid()) {
            untag();
        }
        vlan.apply();
        if (hdr.ipv4.isValid()) {
            ipv4_class.apply();
            hash_ipv4();
            /* With options the checksum covers more than was parsed. */
            if (hdr.ipv4.ihl != 5) {
                punt_options();
            } else if (m.bad_checksum) {
                discard();
            } else {
                switch (ipv4_acl.apply().action_run) {
                    ipv4_acl_permit: {
                        if (hdr.ipv4.ttl <= 1) {
                            punt();
                        } else {
                            ipv4_route.apply();
                        }
                    }
                }
            }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
            hash_ipv6();
            switch (ipv6_acl.apply().action_run) {
                ipv6_acl_permit: {
                    if (hdr.ipv6.hop_limit <= 1) {
                        punt();
                    } else {
                        ipv6_route.apply();
                    }
                }
            }
        } else if (m.arp == 1) {
            punt();
        } else {
            l2.apply();
        }

        if (m.punt == 1) {
            to_cpu.apply();
        } else if (m.routed == 1) {
            if (m.group != 0) {
                ecmp.apply();
            }
            neighbor.apply();
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            } else if (hdr.ipv6.isValid()) {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }
    }
}

control IngressDeparser(
        packet_out pkt,
        inout ingress_headers_t hdr,
        in    ingress_metadata_t m,
        in    ingress_intrinsic_metadata_for_deparser_t ig_dprsr) {
    Checksum() ipv4_sum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_sum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst });
        }
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv4_options);
        pkt.emit(hdr.ipv6);
        pkt.emit(hdr.l4);
    }
}

/* ---------------------------------------------------------------- egress */

parser EgressParser(
        packet_in pkt,
        out egress_headers_t hdr,
        out egress_metadata_t m,
        out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(
        inout egress_headers_t hdr,
        inout egress_metadata_t m,
        in    egress_intrinsic_metadata_t eg,
        in    egress_intrinsic_metadata_from_parser_t eg_prsr,
        inout egress_intrinsic_metadata_for_deparser_t eg_dprsr,
        inout egress_intrinsic_metadata_for_output_port_t eg_oport) {

    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_out;

    action untagged() {}
    action tagged() {
        hdr.vlan.setValid();
        hdr.vlan.pcp = hdr.bridge.pcp;
        hdr.vlan.dei = hdr.bridge.dei;
        hdr.vlan.vid = hdr.bridge.vid;
        hdr.vlan.ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = ETHERTYPE_VLAN;
    }
    table port_vlan_out {
        key = { eg.egress_port: exact; hdr.bridge.vid: exact; }
        actions = { untagged; tagged; }
        default_action = untagged();
        size = PORT_VLANS;
    }

    apply {
        ports_out.count(eg.egress_port);
        port_vlan_out.apply();
    }
}

control EgressDeparser(
        packet_out pkt,
        inout egress_headers_t hdr,
        in    egress_metadata_t m,
        in    egress_intrinsic_metadata_for_deparser_t eg_dprsr) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
