// flare: Sends every flowlet over the uplink that falls furthest short of its share of the bytes.
// Written by `sluice programs flare --p4` with timeout=100us flowlets=32768 tick=256ns period=1us
// weights=1,1,1,1 routes=4096 groups=256 visited=4.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

const ResubmitType_t RESUBMIT_TYPE_FOUND = 1;

// Ethernet II header (IEEE 802.3 §3.2)
header ethernet_h {
    bit<48> dst; // Destination MAC address
    bit<48> src; // Source MAC address
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

// Resubmit header of a generated packet
header found_h {
    bit<32> floor; // Least charge of the group: bytes times 8
    bit<32> path; // Number of the path with the least charge, 0 to 7
}

struct ig_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    l4_h l4;
    found_h found;
}

struct ig_t_t {
    // Least charged path at the last visit of the group, 0 to 7; 8 = the group was never visited
    bit<32> behind;
    // Length of the packet in bytes, from the IPv4 length or IPv6 payload length, times 8
    bit<32> charge;
    // Least charge at the previous visit of the group, which this visit subtracts from all its
    // charges
    bit<32> floor;
}

struct ig_t_1_t {
    bit<32> now; // Time at which the packet entered ingress, in units of the parameter `tick`
    // 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    bit<1> fresh;
}

struct ig_visit_t {
    // Charge of the path: bytes times 8, plus the path's number; each round replaces it by the
    // lesser of two
    bit<32> sent;
}

struct ig_visit_1_t {
    // Charge of the path: bytes times 8, plus the path's number; each round replaces it by the
    // lesser of two
    bit<32> sent;
}

struct ig_visit_2_t {
    // Charge of the path: bytes times 8, plus the path's number; each round replaces it by the
    // lesser of two
    bit<32> sent;
}

struct ig_visit_3_t {
    // Charge of the path: bytes times 8, plus the path's number; each round replaces it by the
    // lesser of two
    bit<32> sent;
}

struct ig_metadata_t {
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    bit<1> routed; // 1 if a route gave an uplink group or a port
    bit<1> made; // 1 for packets that the packet generator made
    bit<16> group; // Uplink group that the route selects; 0 = none
    bit<32> flow; // CRC-32 of the flow's addresses, protocol and ports
    bit<16> draw; // Number that picks the candidate among the group's members that are up
    bit<32> generation; // Generation of the group in bits 31 to 16; bits 15 to 0 are 0
    // Member for a new flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    bit<32> candidate;
    bit<16> member; // Number, within the group, of the member that the packet takes
    bit<16> src_port; // TCP or UDP source port; 0 for fragments and other protocols
    bit<16> dst_port; // TCP or UDP destination port; 0 for fragments and other protocols
    ig_t_t t;
    ig_t_1_t t_1;
    ig_visit_t visit;
    ig_visit_1_t visit_1;
    ig_visit_2_t visit_2;
    ig_visit_3_t visit_3;
}

struct eg_headers_t {
    ethernet_h ethernet;
}

struct eg_metadata_t {
}

// The two halves of an element of a register.
struct pair_32_t {
    bit<32> lo;
    bit<32> hi;
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1 : parse_found;
            default : parse_port_metadata;
        }
    }

    state parse_port_metadata {
        pkt.advance(PORT_METADATA_SIZE);
        transition start_state;
    }

    state start_state {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    // The ports of fragments are not parsed, so that all fragments of a datagram belong to one flow
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

    state parse_found {
        pkt.extract(hdr.found);
        pkt.advance(PORT_METADATA_SIZE - 64);
        transition start_state;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    Hash<bit<32>>(HashAlgorithm_t.CRC32) ipv4_flow;
    Hash<bit<32>>(HashAlgorithm_t.CRC32) ipv6_flow;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv4_length;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv6_length;

    // By group, at its last visit: lo = least charge of its paths, hi = that path's number (8 =
    // never visited)
    Register<pair_32_t, bit<16>>(256, { 0, 8 }) least;

    RegisterAction<pair_32_t, bit<16>, bit<32>>(least) path = {
        void apply(inout pair_32_t value, out bit<32> rv) {
            rv = value.hi;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(least) floor = {
        void apply(inout pair_32_t value, out bit<32> rv) {
            rv = value.lo;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(least) write = {
        void apply(inout pair_32_t value) {
            value.lo = hdr.found.floor;
            value.hi = hdr.found.path;
        }
    };

    // lo: time of the flowlet's last packet, in units of `tick`; hi: generation and number of its
    // uplink
    Register<pair_32_t, bit<15>>(32768) flowlet;

    // Keeps the uplink within the timeout; after a longer gap, or a change of the group, takes the
    // candidate
    RegisterAction<pair_32_t, bit<15>, bit<16>>(flowlet) touch = {
        void apply(inout pair_32_t value, out bit<16> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.lo > 0x186 ||
                    (int<32>) value.hi - (int<32>) ig_md.candidate < -1024) {
                value.hi = ig_md.candidate;
            }
            value.lo = ig_md.t_1.now;
            rv = (bit<16>) value.hi;
        }
    };

    // By group: bytes sent over this path since the last rebase, times 8, plus the path's number
    Register<bit<32>, bit<16>>(256) sent;

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent) pay = {
        void apply(inout bit<32> value) {
            value = value + ig_md.t.charge;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent) rebase = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - ig_md.t.floor;
            rv = value;
        }
    };

    // By group: bytes sent over this path since the last rebase, times 8, plus the path's number
    Register<bit<32>, bit<16>>(256, 1) sent_1;

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_1) pay_1 = {
        void apply(inout bit<32> value) {
            value = value + ig_md.t.charge;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_1) rebase_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - ig_md.t.floor;
            rv = value;
        }
    };

    // By group: bytes sent over this path since the last rebase, times 8, plus the path's number
    Register<bit<32>, bit<16>>(256, 2) sent_2;

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_2) pay_2 = {
        void apply(inout bit<32> value) {
            value = value + ig_md.t.charge;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_2) rebase_2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - ig_md.t.floor;
            rv = value;
        }
    };

    // By group: bytes sent over this path since the last rebase, times 8, plus the path's number
    Register<bit<32>, bit<16>>(256, 3) sent_3;

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_3) pay_3 = {
        void apply(inout bit<32> value) {
            value = value + ig_md.t.charge;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_3) rebase_3 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value - ig_md.t.floor;
            rv = value;
        }
    };
    Random<bit<16>>() coin;

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
        ig_md.flow = ipv4_flow.get({
            hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, ig_md.src_port, ig_md.dst_port
        });
    }

    @sluice_drop("ipv4_checksum")
    action drop_ipv4_checksum() {
        // reason: The IPv4 header checksum is wrong, or the header has options
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_drop("ttl_expired")
    action drop_ttl_expired() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The TTL or hop limit is 0 or 1
    }

    // Sends the packet over an uplink of this group
    action set_group(bit<16> group) {
        ig_md.group = group;
        ig_md.routed = 1;
    }

    // Sends the packet to the only port of the route; no uplink is chosen or remembered
    action to_port(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        ig_md.routed = 1;
    }

    @sluice_drop("no_route")
    action unreachable() {
        // reason: No matching route, or a route whose action is `unreachable`
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // IPv4 longest prefix to uplink group or egress port
    table ipv4_route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            set_group;
            to_port;
            unreachable;
        }
        default_action = unreachable();
        size = 4096;
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
        ig_md.flow = ipv6_flow.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, ig_md.src_port, ig_md.dst_port
        });
    }

    @sluice_drop("ttl_expired")
    action drop_ttl_expired_2() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The TTL or hop limit is 0 or 1
    }

    // IPv6 longest prefix to uplink group or egress port
    table ipv6_route {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            set_group;
            to_port;
            unreachable;
        }
        default_action = unreachable();
        size = 1024;
    }

    action ipv4_charge() {
        ig_md.t.charge = ipv4_length.get({ 13w0, hdr.ipv4.total_len, 3w0 });
    }

    action ipv6_charge() {
        ig_md.t.charge = ipv6_length.get({ 13w0, hdr.ipv6.payload_len, 3w0 });
    }

    action made() {
        ig_md.made = 1;
    }

    // Ingress ports of the packet generators
    table generator {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            made;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 16;
    }

    @sluice_consume("noted")
    action drop_noted() {
        // reason: A generated packet that stored a group's least charged uplink
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    action set_generation(bit<32> generation) {
        ig_md.generation = generation;
    }

    // Uplink group to its generation * 65536; raised when a member goes down, so that it expires
    table generation {
        key = {
            ig_md.group : exact;
        }
        actions = {
            set_generation;
        }
        default_action = set_generation(0x10000);
        size = 256;
    }

    // Uplinks of all groups; an uplink of weight w is w members with the same port
    ActionProfile(2048) uplinks_profile;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) draw;
    ActionSelector(uplinks_profile, draw, SelectorMode_t.FAIR, 120, 256) uplinks;

    // Proposes a member: its number within the group, and its egress port
    action propose(bit<16> member, PortId_t port) {
        ig_md.member = member;
        ig_intr_tm_md.ucast_egress_port = port;
        ig_md.candidate = ig_md.generation | ((bit<32>) member);
    }

    @sluice_drop("no_uplink")
    action stranded() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: No uplink of the group is up
    }

    // Uplink group to candidate: the member that the draw picks among those that are up
    table pick {
        key = {
            ig_md.group : exact;
            ig_md.draw : selector;
        }
        actions = {
            propose;
            @defaultonly stranded;
        }
        default_action = stranded();
        size = 256;
        implementation = uplinks;
    }

    action prefer() {
        ig_md.candidate = ig_md.generation | ig_md.t.behind;
    }

    // Group and path, for paths that are up; without an entry for the least charged path the random
    // candidate is used
    table path_up {
        key = {
            ig_md.group : exact;
            ig_md.t.behind : exact;
        }
        actions = {
            prefer;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 2048;
    }

    // Takes 32 bits of the ingress timestamp, in units of the parameter `tick`
    action read_clock() {
        ig_md.t_1.now = ig_intr_prsr_md.global_tstamp[39:8];
    }

    // One round of the search: the lesser charge of each pair
    action lesser() {
        ig_md.visit.sent = min(ig_md.visit.sent, ig_md.visit_1.sent);
        ig_md.visit_2.sent = min(ig_md.visit_2.sent, ig_md.visit_3.sent);
    }

    // One round of the search: the lesser charge of each pair
    action lesser_1() {
        ig_md.visit.sent = min(ig_md.visit.sent, ig_md.visit_2.sent);
    }

    // Resubmits the packet with the least charge and its path
    action again() {
        hdr.found.floor = ig_md.visit.sent & 0xfffffff8;
        hdr.found.path = ig_md.visit.sent & 7;
        ig_intr_dprsr_md.resubmit_type = RESUBMIT_TYPE_FOUND;
    }

    action to_uplink(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Uplink group and member number to egress port; without an entry the candidate's port is used
    table uplink {
        key = {
            ig_md.group : exact;
            ig_md.member : exact;
        }
        actions = {
            to_uplink;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 2048;
    }

    @sluice_drop("not_ip")
    action drop_not_ip() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The packet is neither IPv4 nor IPv6
    }

    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_class.apply();
            hash_ipv4();
            if (ig_md.bad_checksum == 1) {
                drop_ipv4_checksum();
            } else if (hdr.ipv4.ttl <= 1) {
                drop_ttl_expired();
            } else {
                ipv4_route.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
            hash_ipv6();
            if (hdr.ipv6.hop_limit <= 1) {
                drop_ttl_expired_2();
            } else {
                ipv6_route.apply();
            }
        }
        if (ig_md.group != 0) {
            ig_md.draw = coin.get();
        }
        if (ig_md.group != 0) {
            ig_md.t.behind = path.execute(ig_md.group);
            if (hdr.ipv4.isValid()) {
                ipv4_charge();
            } else if (hdr.ipv6.isValid()) {
                ipv6_charge();
            }
        } else if (hdr.ethernet.ether_type == 0x88b5) {
            if (generator.apply().hit) {
                if (hdr.found.isValid()) {
                    write.execute(hdr.ethernet.dst[15:0]);
                    drop_noted();
                } else {
                    ig_md.t.floor = floor.execute(hdr.ethernet.dst[15:0]);
                }
            }
        }
        if (ig_md.group != 0) {
            generation.apply();
        }
        if (ig_md.group != 0) {
            pick.apply();
        }
        if (ig_md.group != 0) {
            path_up.apply();
        }
        if (ig_md.group != 0) {
            read_clock();
        }
        if (ig_md.group != 0) {
            ig_md.member = touch.execute(ig_md.flow[14:0]);
        }
        if (ig_md.group != 0) {
            if (ig_md.member == 0) {
                pay.execute(ig_md.group);
            }
        } else if (ig_md.made == 1 && !hdr.found.isValid()) {
            ig_md.visit.sent = rebase.execute(hdr.ethernet.dst[15:0]);
        }
        if (ig_md.group != 0) {
            if (ig_md.member == 1) {
                pay_1.execute(ig_md.group);
            }
        } else if (ig_md.made == 1 && !hdr.found.isValid()) {
            ig_md.visit_1.sent = rebase_1.execute(hdr.ethernet.dst[15:0]);
        }
        if (ig_md.group != 0) {
            if (ig_md.member == 2) {
                pay_2.execute(ig_md.group);
            }
        } else if (ig_md.made == 1 && !hdr.found.isValid()) {
            ig_md.visit_2.sent = rebase_2.execute(hdr.ethernet.dst[15:0]);
        }
        if (ig_md.group != 0) {
            if (ig_md.member == 3) {
                pay_3.execute(ig_md.group);
            }
        } else if (ig_md.made == 1 && !hdr.found.isValid()) {
            ig_md.visit_3.sent = rebase_3.execute(hdr.ethernet.dst[15:0]);
        }
        if (ig_md.made == 1 && !hdr.found.isValid()) {
            lesser();
        }
        if (ig_md.made == 1 && !hdr.found.isValid()) {
            lesser_1();
        }
        if (ig_md.made == 1 && !hdr.found.isValid()) {
            again();
        }
        if (ig_md.group != 0) {
            uplink.apply();
        }
        if (ig_md.routed == 1) {
            if (hdr.ipv4.isValid()) {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
            } else if (hdr.ipv6.isValid()) {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        } else if (!hdr.ipv4.isValid() && !hdr.ipv6.isValid() && ig_md.made == 0) {
            drop_not_ip();
        }
    }
}

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    Checksum() ipv4_checksum;
    Resubmit() resubmit;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        if (ig_intr_dprsr_md.resubmit_type == RESUBMIT_TYPE_FOUND) {
            resubmit.emit(hdr.found);
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
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
        transition start_state;
    }

    state start_state {
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
    // Packets and bytes sent, by dev_port
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports_out;

    apply {
        ports_out.count(eg_intr_md.egress_port);
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
