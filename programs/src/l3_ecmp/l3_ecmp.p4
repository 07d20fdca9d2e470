// l3-ecmp: Routes IPv4 and IPv6 with ECMP and WCMP, filters, and bridges VLANs, as a leaf switch
// does.
// Written by `sluice programs l3-ecmp --p4` with ipv4_routes=12288 ipv6_routes=4096
// ipv4_acl_rules=512 ipv6_acl_rules=512 ecmp_groups=1024 ecmp_members=4096 ecmp_group_size=120
// neighbors=4096 macs=4096 port_vlans=1024 hash_fields_v4=src,dst,protocol,src_port,dst_port
// hash_fields_v6=src,dst,next_header,src_port,dst_port,flow_label hash_algorithm=crc_32
// hash_width=auto hash_seed=0 hash_seed_style=xor hash_rotate=0 selection=fair.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

const bit<16> ETHERTYPE_ARP = 0x0806;
const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

// Bridged header from ingress to egress: the 802.1Q tag for ports that send the VLAN tagged
header bridge_h {
    bit<3> pcp; // Priority code point
    bit<1> dei; // Drop eligible indicator
    bit<12> vid; // VLAN of the frame at egress
}

// Ethernet II header (IEEE 802.3 §3.2)
header ethernet_h {
    bit<48> dst; // Destination MAC address
    bit<48> src; // Source MAC address
    bit<16> ether_type; // EtherType of what follows
}

// VLAN tag control information and the EtherType behind it (IEEE 802.1Q §9.6)
header vlan_h {
    bit<3> pcp; // Priority code point
    bit<1> dei; // Drop eligible indicator
    bit<12> vid; // VLAN identifier
    bit<16> ether_type; // EtherType of what follows
}

// IPv4 header without options (RFC 791)
header ipv4_h {
    bit<4> version; // 4
    bit<4> ihl; // Header length in 32-bit words; 5 without options
    bit<6> dscp; // Differentiated services code point (RFC 2474)
    // Explicit congestion notification (RFC 3168): 0 not capable, 1 and 2 capable, 3 congestion met
    bit<2> ecn;
    bit<16> total_len; // Bytes of header and payload
    bit<16> identification; // Identifies the fragments of one datagram
    bit<3> flags; // Reserved, don't fragment, more fragments
    bit<13> frag_offset; // Offset of the fragment in units of 8 bytes
    bit<8> ttl; // Hops left
    bit<8> protocol; // Protocol of what follows (6 TCP, 17 UDP, 1 ICMP)
    bit<16> checksum; // Ones' complement checksum of the header
    bit<32> src; // Source address
    bit<32> dst; // Destination address
}

// IPv6 header without extensions (RFC 8200 §3)
header ipv6_h {
    bit<4> version; // 6
    bit<6> dscp; // Differentiated services code point (RFC 2474)
    // Explicit congestion notification (RFC 3168): 0 not capable, 1 and 2 capable, 3 congestion met
    bit<2> ecn;
    bit<20> flow_label; // Flow label (RFC 6437)
    bit<16> payload_len; // Bytes after this header
    bit<8> next_header; // Protocol or extension that follows
    bit<8> hop_limit; // Hops left
    bit<128> src; // Source address
    bit<128> dst; // Destination address
}

// The first four bytes of a TCP or UDP header
header l4_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
}

struct ig_headers_t {
    bridge_h bridge;
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h ipv4;
    ipv6_h ipv6;
    l4_h l4;
    // Replaces `ipv4` in packets with options: the deparser does not update its checksum
    ipv4_h ipv4_options;
}

struct ig_flow_t {
    bit<14> hash; // Flow hash after seed and rotation
}

struct ig_metadata_t {
    bit<1> arp; // 1 if the frame is ARP
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    bit<1> punt; // 1 if the packet goes to the CPU
    bit<1> routed; // 1 if a route gave a group or a next hop
    bit<12> vid; // VLAN on which the packet arrived
    bit<8> vrf; // Routing table (VRF) of the VLAN
    bit<16> group; // ECMP or WCMP group that the route selects; 0 = none
    bit<16> nexthop; // Next hop; 0 = none
    bit<16> src_port; // TCP or UDP source port; 0 for fragments and other protocols
    bit<16> dst_port; // TCP or UDP destination port; 0 for fragments and other protocols
    ig_flow_t flow;
}

struct eg_headers_t {
    bridge_h bridge;
    ethernet_h ethernet;
    vlan_h vlan;
}

struct eg_metadata_t {
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN : parse_vlan;
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            ETHERTYPE_ARP : parse_arp;
            default : accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            ETHERTYPE_ARP : parse_arp;
            default : accept;
        }
    }

    // ARP is not parsed further: the frame goes to the CPU unchanged
    state parse_arp {
        ig_md.arp = 1;
        transition accept;
    }

    // Options are not parsed. The ports of fragments are not parsed either, not even the first
    // fragment's, so that all fragments of a datagram take one path
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        ig_md.bad_checksum = (bit<1>) ipv4_checksum.verify();
        transition select(hdr.ipv4.ihl, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (5, 0 &&& 0x1, 0, IP_PROTOCOL_TCP) : parse_l4;
            (5, 0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_l4;
            default : accept;
        }
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) {
            IP_PROTOCOL_TCP : parse_l4;
            IP_PROTOCOL_UDP : parse_l4;
            default : accept;
        }
    }

    state parse_l4 {
        pkt.extract(hdr.l4);
        ig_md.src_port = hdr.l4.src_port;
        ig_md.dst_port = hdr.l4.dst_port;
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    Hash<bit<14>>(HashAlgorithm_t.CRC32) ipv4_hash;
    Hash<bit<14>>(HashAlgorithm_t.CRC32) ipv6_hash;

    // Packets and bytes, by rule
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_acl_hits;

    // Packets and bytes, by rule
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_acl_hits;

    // Packets and bytes, by route
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv4_route_hits;

    // Packets and bytes, by route
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) ipv6_route_hits;

    // Packets and bytes received, by dev_port
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_in;

    action set_vid(bit<12> vid) {
        ig_md.vid = vid;
    }

    // Ingress port to the VLAN of frames without a VLAN tag; without an entry VLAN 1
    table port_vlan {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            set_vid;
        }
        default_action = set_vid(1);
        size = 512;
    }

    // Removes the 802.1Q tag; egress adds one if the port sends the VLAN tagged
    action untag() {
        hdr.bridge.pcp = hdr.vlan.pcp;
        hdr.bridge.dei = hdr.vlan.dei;
        hdr.ethernet.ether_type = hdr.vlan.ether_type;
        hdr.vlan.setInvalid();
    }

    action set_vrf(bit<8> vrf) {
        ig_md.vrf = vrf;
    }

    // VLAN to routing table (VRF); without an entry VRF 0
    table vlan {
        key = {
            ig_md.vid : exact;
        }
        actions = {
            set_vrf;
        }
        default_action = set_vrf(0);
        size = 4096;
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) {
        ig_intr_tm_md.qid = queue;
        ig_intr_tm_md.ingress_cos = traffic_class;
    }

    // IPv4 DSCP to egress queue and traffic class
    table ipv4_class {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(0, 0);
        size = 64;
    }

    // Computes the flow hash of an IPv4 packet
    action hash_ipv4() {
        ig_md.flow.hash = ipv4_hash.get({
            hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, ig_md.src_port, ig_md.dst_port
        });
    }

    // Sends a packet with IPv4 options to the CPU unchanged
    action punt_options() {
        ig_md.punt = 1;
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

    @sluice_drop("ipv4_checksum")
    action drop_ipv4_checksum() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The IPv4 header checksum is wrong
    }

    // Permits the packet
    action ipv4_acl_permit() {
        ipv4_acl_hits.count();
    }

    // Drops the packet
    @sluice_drop("acl_deny")
    action ipv4_acl_deny() {
        ipv4_acl_hits.count();
        ig_intr_dprsr_md.drop_ctl = 1; // reason: A filter rule denies the packet
    }

    // Sends the packet to the CPU
    action ipv4_acl_punt() {
        ipv4_acl_hits.count();
        ig_md.punt = 1;
    }

    // Filter by addresses, protocol and ports; no match permits
    table ipv4_acl {
        key = {
            hdr.ipv4.src : ternary;
            hdr.ipv4.dst : ternary;
            hdr.ipv4.protocol : ternary;
            ig_md.src_port : ternary;
            ig_md.dst_port : ternary;
        }
        actions = {
            ipv4_acl_permit;
            ipv4_acl_deny;
            ipv4_acl_punt;
        }
        default_action = ipv4_acl_permit();
        size = 512;
        counters = ipv4_acl_hits;
    }

    action punt() {
        ig_md.punt = 1;
    }

    // Routes to a member of a group
    action ipv4_set_group(bit<16> group) {
        ig_md.group = group;
        ig_md.routed = 1;
        ipv4_route_hits.count();
    }

    // Routes to one next hop
    action ipv4_set_nexthop(bit<16> nexthop) {
        ig_md.nexthop = nexthop;
        ig_md.routed = 1;
        ipv4_route_hits.count();
    }

    // To the CPU: the router's own address
    action ipv4_route_punt() {
        ig_md.punt = 1;
        ipv4_route_hits.count();
    }

    // Drops the packet
    @sluice_drop("no_route")
    action ipv4_no_route() {
        // reason: No matching route, or one with action `ipv4_no_route` or `ipv6_no_route`
        ig_intr_dprsr_md.drop_ctl = 1;
        ipv4_route_hits.count();
    }

    // VRF and longest prefix to next hop or group
    table ipv4_route {
        key = {
            ig_md.vrf : exact;
            hdr.ipv4.dst : lpm;
        }
        actions = {
            ipv4_set_group;
            ipv4_set_nexthop;
            ipv4_route_punt;
            ipv4_no_route;
        }
        default_action = ipv4_no_route();
        size = 12288;
        counters = ipv4_route_hits;
    }

    // IPv6 DSCP to egress queue and traffic class
    table ipv6_class {
        key = {
            hdr.ipv6.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(0, 0);
        size = 64;
    }

    // Computes the flow hash of an IPv6 packet
    action hash_ipv6() {
        ig_md.flow.hash = ipv6_hash.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, ig_md.src_port, ig_md.dst_port,
            hdr.ipv6.flow_label
        });
    }

    // Permits the packet
    action ipv6_acl_permit() {
        ipv6_acl_hits.count();
    }

    // Drops the packet
    @sluice_drop("acl_deny")
    action ipv6_acl_deny() {
        ipv6_acl_hits.count();
        ig_intr_dprsr_md.drop_ctl = 1; // reason: A filter rule denies the packet
    }

    // Sends the packet to the CPU
    action ipv6_acl_punt() {
        ipv6_acl_hits.count();
        ig_md.punt = 1;
    }

    // Filter by addresses, protocol and ports; no match permits
    table ipv6_acl {
        key = {
            hdr.ipv6.src : ternary;
            hdr.ipv6.dst : ternary;
            hdr.ipv6.next_header : ternary;
            ig_md.src_port : ternary;
            ig_md.dst_port : ternary;
        }
        actions = {
            ipv6_acl_permit;
            ipv6_acl_deny;
            ipv6_acl_punt;
        }
        default_action = ipv6_acl_permit();
        size = 512;
        counters = ipv6_acl_hits;
    }

    // Routes to a member of a group
    action ipv6_set_group(bit<16> group) {
        ig_md.group = group;
        ig_md.routed = 1;
        ipv6_route_hits.count();
    }

    // Routes to one next hop
    action ipv6_set_nexthop(bit<16> nexthop) {
        ig_md.nexthop = nexthop;
        ig_md.routed = 1;
        ipv6_route_hits.count();
    }

    // To the CPU: the router's own address
    action ipv6_route_punt() {
        ig_md.punt = 1;
        ipv6_route_hits.count();
    }

    // Drops the packet
    @sluice_drop("no_route")
    action ipv6_no_route() {
        // reason: No matching route, or one with action `ipv4_no_route` or `ipv6_no_route`
        ig_intr_dprsr_md.drop_ctl = 1;
        ipv6_route_hits.count();
    }

    // VRF and longest prefix to next hop or group
    table ipv6_route {
        key = {
            ig_md.vrf : exact;
            hdr.ipv6.dst : lpm;
        }
        actions = {
            ipv6_set_group;
            ipv6_set_nexthop;
            ipv6_route_punt;
            ipv6_no_route;
        }
        default_action = ipv6_no_route();
        size = 4096;
        counters = ipv6_route_hits;
    }

    // Sends the frame out of a port, in the VLAN on which it arrived
    action forward(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.bridge.vid = ig_md.vid;
    }

    @sluice_drop("no_bridge_port")
    action no_port() {
        // reason: No port for this VLAN and destination MAC, and no default port
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // VLAN and destination MAC to port, for frames that are not IP; the default action has the port
    // for unknown MACs
    table l2 {
        key = {
            ig_md.vid : exact;
            hdr.ethernet.dst : exact;
        }
        actions = {
            forward;
            @defaultonly no_port;
        }
        default_action = no_port();
        size = 4096;
    }

    action send_to_cpu(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.bridge.vid = ig_md.vid;
    }

    // Port of the CPU; the control plane sets it
    table to_cpu {
        actions = {
            send_to_cpu;
        }
        default_action = send_to_cpu(2);
    }

    // Next hops of all groups; a member of weight w takes w slots of its group
    ActionProfile(4096) ecmp_members_profile;
    Hash<bit<14>>(HashAlgorithm_t.IDENTITY) member_hash;
    ActionSelector(ecmp_members_profile, member_hash, SelectorMode_t.FAIR, 120, 1024) ecmp_members;

    action set_nexthop(bit<16> nexthop) {
        ig_md.nexthop = nexthop;
    }

    // Group to the next hop that the flow hash picks; weights are repeated members
    table ecmp {
        key = {
            ig_md.group : exact;
            ig_md.flow.hash : selector;
        }
        actions = {
            set_nexthop;
        }
        size = 1024;
        implementation = ecmp_members;
    }

    // Addresses the frame to the next hop
    action rewrite(bit<48> dst_mac, bit<48> src_mac, PortId_t port, bit<12> vid) {
        hdr.ethernet.dst = dst_mac;
        hdr.ethernet.src = src_mac;
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.bridge.vid = vid;
    }

    @sluice_drop("no_neighbor")
    action unresolved() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The table `neighbor` has no entry for the next hop
    }

    // Next hop to MAC addresses, port and VLAN
    table neighbor {
        key = {
            ig_md.nexthop : exact;
        }
        actions = {
            rewrite;
            @defaultonly unresolved;
        }
        default_action = unresolved();
        size = 4096;
    }

    apply {
        ports_in.count(ig_intr_md.ingress_port);
        hdr.bridge.setValid();
        if (hdr.vlan.isValid() && hdr.vlan.vid != 0) {
            ig_md.vid = hdr.vlan.vid;
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
            if (hdr.ipv4.ihl != 5) {
                punt_options();
            } else if (ig_md.bad_checksum == 1) {
                drop_ipv4_checksum();
            } else {
                switch (ipv4_acl.apply().action_run) {
                    ipv4_acl_permit : {
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
                ipv6_acl_permit : {
                    if (hdr.ipv6.hop_limit <= 1) {
                        punt();
                    } else {
                        ipv6_route.apply();
                    }
                }
            }
        } else if (ig_md.arp == 1) {
            punt();
        } else {
            l2.apply();
        }
        if (ig_md.punt == 1) {
            to_cpu.apply();
        } else if (ig_md.routed == 1) {
            if (ig_md.group != 0) {
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

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        pkt.emit(hdr.bridge);
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv4_options);
        pkt.emit(hdr.ipv6);
        pkt.emit(hdr.l4);
    }
}

parser EgressParser(packet_in pkt,
                    out eg_headers_t hdr,
                    out eg_metadata_t eg_md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // Packets and bytes sent, by dev_port; the bytes include the bridged header, 2 per packet
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_out;

    action untagged() {
    }

    // Adds the 802.1Q tag
    action tagged() {
        hdr.vlan.setValid();
        hdr.vlan.pcp = hdr.bridge.pcp;
        hdr.vlan.dei = hdr.bridge.dei;
        hdr.vlan.vid = hdr.bridge.vid;
        hdr.vlan.ether_type = hdr.ethernet.ether_type;
        hdr.ethernet.ether_type = ETHERTYPE_VLAN;
    }

    // Egress port and VLAN to tagged or untagged; without an entry untagged
    table port_vlan_out {
        key = {
            eg_intr_md.egress_port : exact;
            hdr.bridge.vid : exact;
        }
        actions = {
            untagged;
            tagged;
        }
        default_action = untagged();
        size = 1024;
    }

    apply {
        ports_out.count(eg_intr_md.egress_port);
        port_vlan_out.apply();
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
