// conga: Sends every flowlet over the least congested path, by feedback between leaves (leaf and
// spine).
// Written by `sluice programs conga --p4` with role=leaf timeout=500us flowlets=32768 tick=256ns
// tau=160us period=20us age=10ms leaves=16 hosts=0-3 uplinks=4-7 remote_uplinks=0 routes=4096.

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

// UDP header (RFC 768)
header outer_udp_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
    bit<16> length; // Bytes of header and payload
    bit<16> checksum; // Ones' complement checksum with pseudo header; 0 for none over IPv4
}

// VXLAN (RFC 7348 §5) with CONGA's fields in its reserved bytes
header overlay_h {
    bit<8> flags; // 0x08: the VXLAN network identifier is valid
    // Bits 7 to 4, LBTag: the sending leaf's uplink that the packet took; bits 3 to 0, FB_LBTag:
    // the uplink that `feedback` is about
    bit<8> tags;
    bit<8> ce; // Largest congestion of the links that the packet passed after its leaf, 8 to 15
    // Congestion from the receiving leaf over its uplink in bits 3 to 0 of `tags`, 8 to 15; 0 = no
    // feedback
    bit<8> feedback;
    bit<24> vni; // VXLAN network identifier
    bit<8> reserved; // Reserved; 0
}

// Bridged header from ingress to egress
header bridge_h {
    bit<16> leaf; // Number of the leaf to which the packet is encapsulated; 0 = none
    bit<16> entropy; // Outer UDP source port: 49152 + 14 bits of the flow hash
    bit<6> dscp; // DSCP of the packet, which is copied to the outer header (RFC 2983 §4)
    bit<2> ecn; // ECN field of the packet, which is copied to the outer header (RFC 6040 §4.1)
    bit<8> tags; // Uplinks, as the field `tags` of the VXLAN header
    bit<8> feedback; // Congestion, as the field `feedback` of the VXLAN header
}

// Resubmit header of a generated packet
header found_h {
    // Output of the uplink's filter in eighths of the uplink's rate; later the congestion, 8 to 15
    bit<32> level;
}

struct ig_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    l4_h l4;
    ethernet_h outer_ethernet;
    ipv4_h outer;
    outer_udp_h outer_udp;
    overlay_h overlay;
    bridge_h bridge;
    found_h found;
}

struct ig_t_t {
    bit<1> bad_outer; // 1 if the outer IPv4 header checksum is wrong
}

struct ig_t_1_t {
    bit<32> now; // Time at which the packet entered ingress, in units of the parameter `tick`
    bit<16> turn; // Uplink of the destination's leaf that the packet's feedback is about: its LBTag
    bit<32> bytes; // Bytes that the packet takes on its uplink; 0 for generated packets
}

struct ig_known_t {
    // Congestion of the path after the uplink, 8 to 15; later the larger of this and the uplink's
    // own, or 31 if the uplink does not lead to the leaf; at the end, how far it is above the
    // lowest of all uplinks
    bit<8> path;
}

struct ig_known_1_t {
    // Congestion of the path after the uplink, 8 to 15; later the larger of this and the uplink's
    // own, or 31 if the uplink does not lead to the leaf; at the end, how far it is above the
    // lowest of all uplinks
    bit<8> path;
}

struct ig_known_2_t {
    // Congestion of the path after the uplink, 8 to 15; later the larger of this and the uplink's
    // own, or 31 if the uplink does not lead to the leaf; at the end, how far it is above the
    // lowest of all uplinks
    bit<8> path;
}

struct ig_known_3_t {
    // Congestion of the path after the uplink, 8 to 15; later the larger of this and the uplink's
    // own, or 31 if the uplink does not lead to the leaf; at the end, how far it is above the
    // lowest of all uplinks
    bit<8> path;
}

struct ig_best_t {
    bit<8> coin; // Random number, 0 to 255, that picks one of several least congested uplinks
    bit<1> many; // 1 if so many uplinks are least congested that `second` has those that are not
    // Generation and number of the least congested uplink that the coin picks (see
    // [`Words::first`])
    bit<32> first;
    // Generation, and the uplinks with which the flow's previous one is compared (see
    // [`Words::second`])
    bit<32> second;
    // 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    bit<1> fresh;
}

struct ig_winner_t {
    // Lower congestion of a pair of uplinks; in the first instance, at the end, the lowest of all
    // uplinks
    bit<8> least;
}

struct ig_winner_1_t {
    // Lower congestion of a pair of uplinks; in the first instance, at the end, the lowest of all
    // uplinks
    bit<8> least;
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
    ig_known_t known;
    ig_known_1_t known_1;
    ig_known_2_t known_2;
    ig_known_3_t known_3;
    ig_best_t best;
    ig_winner_t winner;
    ig_winner_1_t winner_1;
}

struct eg_headers_t {
    bridge_h bridge;
    ethernet_h outer_ethernet;
    ipv4_h outer;
    outer_udp_h outer_udp;
    overlay_h overlay;
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
    Checksum() outer_checksum;

    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            1 : parse_found;
            default : parse_port_metadata;
        }
    }

    state parse_port_metadata {
        pkt.advance(PORT_METADATA_SIZE);
        transition peek_ethernet;
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
        pkt.advance(PORT_METADATA_SIZE - 32);
        transition start_state;
    }

    state peek_ethernet {
        transition select(pkt.lookahead<bit<112>>()[15:0]) {
            0x800 : peek_outer;
            default : start_state;
        }
    }

    state peek_outer {
        transition select(pkt.lookahead<bit<120>>()[7:0], pkt.lookahead<bit<192>>()[7:0],
                pkt.lookahead<bit<224>>()[15:0]) {
            (69, 17, 0xaff) : parse_outer;
            default : start_state;
        }
    }

    state parse_outer {
        pkt.extract(hdr.outer_ethernet);
        transition parse_outer_ipv4;
    }

    state parse_outer_ipv4 {
        pkt.extract(hdr.outer);
        outer_checksum.add(hdr.outer);
        ig_md.t.bad_outer = (bit<1>) outer_checksum.verify();
        transition parse_outer_udp;
    }

    state parse_outer_udp {
        pkt.extract(hdr.outer_udp);
        transition select(hdr.outer_udp.dst_port) {
            0x12b5 : parse_overlay;
            default : accept;
        }
    }

    state parse_overlay {
        pkt.extract(hdr.overlay);
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
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) of_leaf;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) asked;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv4_length;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv6_length;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) entropy;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) tags;
    Hash<bit<6>>(HashAlgorithm_t.IDENTITY) dscp_of_ipv6;
    Hash<bit<2>>(HashAlgorithm_t.IDENTITY) ecn_of_ipv6;

    // Congestion of an uplink, 8 to 15, as a generated packet last read it from the uplink's filter
    Register<bit<32>, bit<1>>(1, 8) local;

    // Returns the larger of the uplink's congestion and the path's
    RegisterAction<bit<32>, bit<1>, bit<8>>(local) worse = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = (bit<8>) (max(value, ((bit<32>) ig_md.known.path)));
        }
    };

    RegisterAction<bit<32>, bit<1>, bit<32>>(local) show = {
        void apply(inout bit<32> value) {
            value = hdr.found.level;
        }
    };

    // By leaf: congestion on the path after this uplink, as that leaf's feedback said, and time of
    // the feedback
    Register<pair_32_t, bit<16>>(16) to_leaf;

    RegisterAction<pair_32_t, bit<16>, bit<8>>(to_leaf) read = {
        void apply(inout pair_32_t value, out bit<8> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.hi > 0x9896) {
                value.lo = 8;
            }
            rv = (bit<8>) value.lo;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(to_leaf) learn = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) hdr.overlay.feedback;
            value.hi = ig_md.t_1.now;
        }
    };

    // Congestion of an uplink, 8 to 15, as a generated packet last read it from the uplink's filter
    Register<bit<32>, bit<1>>(1, 8) local_1;

    // Returns the larger of the uplink's congestion and the path's
    RegisterAction<bit<32>, bit<1>, bit<8>>(local_1) worse_1 = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = (bit<8>) (max(value, ((bit<32>) ig_md.known_1.path)));
        }
    };

    RegisterAction<bit<32>, bit<1>, bit<32>>(local_1) show_1 = {
        void apply(inout bit<32> value) {
            value = hdr.found.level;
        }
    };

    // By leaf: congestion on the path after this uplink, as that leaf's feedback said, and time of
    // the feedback
    Register<pair_32_t, bit<16>>(16) to_leaf_1;

    RegisterAction<pair_32_t, bit<16>, bit<8>>(to_leaf_1) read_1 = {
        void apply(inout pair_32_t value, out bit<8> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.hi > 0x9896) {
                value.lo = 8;
            }
            rv = (bit<8>) value.lo;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(to_leaf_1) learn_1 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) hdr.overlay.feedback;
            value.hi = ig_md.t_1.now;
        }
    };

    // Congestion of an uplink, 8 to 15, as a generated packet last read it from the uplink's filter
    Register<bit<32>, bit<1>>(1, 8) local_2;

    // Returns the larger of the uplink's congestion and the path's
    RegisterAction<bit<32>, bit<1>, bit<8>>(local_2) worse_2 = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = (bit<8>) (max(value, ((bit<32>) ig_md.known_2.path)));
        }
    };

    RegisterAction<bit<32>, bit<1>, bit<32>>(local_2) show_2 = {
        void apply(inout bit<32> value) {
            value = hdr.found.level;
        }
    };

    // By leaf: congestion on the path after this uplink, as that leaf's feedback said, and time of
    // the feedback
    Register<pair_32_t, bit<16>>(16) to_leaf_2;

    RegisterAction<pair_32_t, bit<16>, bit<8>>(to_leaf_2) read_2 = {
        void apply(inout pair_32_t value, out bit<8> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.hi > 0x9896) {
                value.lo = 8;
            }
            rv = (bit<8>) value.lo;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(to_leaf_2) learn_2 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) hdr.overlay.feedback;
            value.hi = ig_md.t_1.now;
        }
    };

    // Congestion of an uplink, 8 to 15, as a generated packet last read it from the uplink's filter
    Register<bit<32>, bit<1>>(1, 8) local_3;

    // Returns the larger of the uplink's congestion and the path's
    RegisterAction<bit<32>, bit<1>, bit<8>>(local_3) worse_3 = {
        void apply(inout bit<32> value, out bit<8> rv) {
            rv = (bit<8>) (max(value, ((bit<32>) ig_md.known_3.path)));
        }
    };

    RegisterAction<bit<32>, bit<1>, bit<32>>(local_3) show_3 = {
        void apply(inout bit<32> value) {
            value = hdr.found.level;
        }
    };

    // By leaf: congestion on the path after this uplink, as that leaf's feedback said, and time of
    // the feedback
    Register<pair_32_t, bit<16>>(16) to_leaf_3;

    RegisterAction<pair_32_t, bit<16>, bit<8>>(to_leaf_3) read_3 = {
        void apply(inout pair_32_t value, out bit<8> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.hi > 0x9896) {
                value.lo = 8;
            }
            rv = (bit<8>) value.lo;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<32>>(to_leaf_3) learn_3 = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) hdr.overlay.feedback;
            value.hi = ig_md.t_1.now;
        }
    };

    // By leaf and that leaf's uplink: congestion that its last packet carried, 8 to 15 (0 = too
    // old), and its time
    Register<pair_32_t, bit<16>>(64) from_leaf;

    RegisterAction<pair_32_t, bit<16>, bit<32>>(from_leaf) hear = {
        void apply(inout pair_32_t value) {
            value.lo = (bit<32>) hdr.overlay.ce;
            value.hi = ig_md.t_1.now;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<8>>(from_leaf) tell = {
        void apply(inout pair_32_t value, out bit<8> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value.hi > 0x9896) {
                value.lo = 0;
            }
            rv = (bit<8>) value.lo;
        }
    };

    // By leaf: the uplink of that leaf that the next feedback is about; all LBTags in turn, from 0
    Register<bit<16>, bit<16>>(16) turn;

    RegisterAction<bit<16>, bit<16>, bit<16>>(turn) next = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
            if (value >= 3) {
                value = 0;
            } else {
                value = value + 1;
            }
        }
    };

    // Time of the flowlet's last packet, in units of the parameter `tick`
    Register<bit<32>, bit<15>>(32768) last_seen;

    // Returns 1 if the gap since the last packet exceeds the timeout; stores the packet's time
    RegisterAction<bit<32>, bit<15>, bit<1>>(last_seen) touch = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>) ig_md.t_1.now - (int<32>) value > 0x7a1) {
                rv = 1;
            }
            value = ig_md.t_1.now;
        }
    };

    // Uplink of the flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    Register<bit<32>, bit<15>>(32768) flowlet_member;

    // Continues a flowlet: keeps its uplink unless it is of an older generation
    RegisterAction<bit<32>, bit<15>, bit<16>>(flowlet_member) hold = {
        void apply(inout bit<32> value, out bit<16> rv) {
            if ((int<32>) value - (int<32>) ig_md.best.first < -1024) {
                value = ig_md.best.first;
            }
            rv = (bit<16>) value;
        }
    };

    // Begins a flowlet if one or two uplinks are least congested: keeps the old uplink if it is one
    // of them
    RegisterAction<bit<32>, bit<15>, bit<16>>(flowlet_member) one_of_two = {
        void apply(inout bit<32> value, out bit<16> rv) {
            if (value != ig_md.best.first && value != ig_md.best.second) {
                value = ig_md.best.first;
            }
            rv = (bit<16>) value;
        }
    };

    // Begins a flowlet if three or four uplinks are least congested: keeps the old uplink if it is
    // one of them
    RegisterAction<bit<32>, bit<15>, bit<16>>(flowlet_member) none_but = {
        void apply(inout bit<32> value, out bit<16> rv) {
            if (value == ig_md.best.second ||
                    (int<32>) value - (int<32>) ig_md.best.first < -1024) {
                value = ig_md.best.first;
            }
            rv = (bit<16>) value;
        }
    };

    // Packets that continued a flowlet (index 0), and packets that began one after a gap (index 1)
    Counter<bit<64>, bit<1>>(2, CounterType_t.PACKETS) flowlets;

    // Load of each uplink in eighths of its rate: bytes sent, decayed with time constant tau
    @sluice_initial("rate", "167.77216us", "167.77216us", 20)
    Lpf<bit<32>, bit<16>>(4) dre;
    Random<bit<16>>() coin;
    Random<bit<8>>() coin_1;

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

    action read_clock() {
        hdr.bridge.setValid();
        ig_md.t_1.now = ig_intr_prsr_md.global_tstamp[39:8];
    }

    @sluice_drop("bad_overlay")
    action drop_bad_overlay() {
        ig_md.routed = 1;
        // reason: A packet from a leaf's address is not VXLAN, or its outer checksum is wrong
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_drop("stray")
    action drop_stray() {
        // reason: A VXLAN packet arrived whose inner destination is not a host of this leaf
        ig_intr_dprsr_md.drop_ctl = 1;
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

    action set_level(bit<32> told) {
        hdr.found.level = told;
    }

    // Load of an uplink in eighths of its rate to congestion: the eighths, at most 7, plus 8
    table quantise {
        key = {
            hdr.found.level : exact;
        }
        actions = {
            set_level;
        }
        default_action = set_level(15);
        const entries = {
            0 : set_level(8);
            1 : set_level(9);
            2 : set_level(10);
            3 : set_level(11);
            4 : set_level(12);
            5 : set_level(13);
            6 : set_level(14);
        }
        size = 7;
    }

    @sluice_consume("shown")
    action drop_shown() {
        // reason: A generated packet that aged feedback of leaves and read an uplink's estimator
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
        size = 16;
    }

    // Uplinks of all groups; an uplink of weight w is w members with the same port
    ActionProfile(240) uplinks_profile;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) draw;
    ActionSelector(uplinks_profile, draw, SelectorMode_t.FAIR, 120, 16) uplinks;

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
        size = 16;
        implementation = uplinks;
    }

    // Lower bound of each uplink's congestion: 0 if the uplink leads to the leaf, 31 if it does not
    action set_reach(bit<8> first, bit<8> second, bit<8> third, bit<8> fourth) {
        ig_md.known.path = max(ig_md.known.path, first);
        ig_md.known_1.path = max(ig_md.known_1.path, second);
        ig_md.known_2.path = max(ig_md.known_2.path, third);
        ig_md.known_3.path = max(ig_md.known_3.path, fourth);
    }

    // Destination leaf to the uplinks that lead to it; without an entry all uplinks do
    table reach {
        key = {
            ig_md.group : exact;
        }
        actions = {
            set_reach;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 16;
    }

    // Takes the lower congestion of each pair of uplinks
    action better() {
        ig_md.winner.least = min(ig_md.known.path, ig_md.known_1.path);
        ig_md.winner_1.least = min(ig_md.known_2.path, ig_md.known_3.path);
    }

    // Takes the lower congestion of the winners of two pairs
    action least() {
        ig_md.winner.least = min(ig_md.winner.least, ig_md.winner_1.least);
    }

    // Subtracts the lowest congestion from each uplink's
    action compare() {
        ig_md.known.path = ig_md.known.path - ig_md.winner.least;
        ig_md.known_1.path = ig_md.known_1.path - ig_md.winner.least;
        ig_md.known_2.path = ig_md.known_2.path - ig_md.winner.least;
        ig_md.known_3.path = ig_md.known_3.path - ig_md.winner.least;
    }

    action few(bit<32> first, bit<32> second) {
        ig_md.best.first = ig_md.generation | first;
        ig_md.best.second = ig_md.generation | second;
    }

    action many(bit<32> first, bit<32> second) {
        ig_md.best.first = ig_md.generation | first;
        ig_md.best.second = ig_md.generation | second;
        ig_md.best.many = 1;
    }

    // Set of least congested uplinks (those with 0) and coin to the uplink for a new flowlet
    table equals {
        key = {
            ig_md.known.path : ternary;
            ig_md.known_1.path : ternary;
            ig_md.known_2.path : ternary;
            ig_md.known_3.path : ternary;
            ig_md.best.coin : range;
        }
        actions = {
            few;
            many;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            (0, 0, 0, 0, 0 .. 63) : many(0, 4);
            (0, 0, 0, 0, 64 .. 127) : many(1, 4);
            (0, 0, 0, 0, 128 .. 191) : many(2, 4);
            (0, 0, 0, 0, 192 .. 255) : many(3, 4);
            (0, 0, 0, _, 0 .. 84) : many(0, 3);
            (0, 0, 0, _, 85 .. 169) : many(1, 3);
            (0, 0, 0, _, 170 .. 255) : many(2, 3);
            (0, 0, _, 0, 0 .. 84) : many(0, 2);
            (0, 0, _, 0, 85 .. 169) : many(1, 2);
            (0, 0, _, 0, 170 .. 255) : many(3, 2);
            (0, _, 0, 0, 0 .. 84) : many(0, 1);
            (0, _, 0, 0, 85 .. 169) : many(2, 1);
            (0, _, 0, 0, 170 .. 255) : many(3, 1);
            (_, 0, 0, 0, 0 .. 84) : many(1, 0);
            (_, 0, 0, 0, 85 .. 169) : many(2, 0);
            (_, 0, 0, 0, 170 .. 255) : many(3, 0);
            (0, 0, _, _, 0 .. 127) : few(0, 1);
            (0, 0, _, _, 128 .. 255) : few(1, 0);
            (0, _, 0, _, 0 .. 127) : few(0, 2);
            (0, _, 0, _, 128 .. 255) : few(2, 0);
            (_, 0, 0, _, 0 .. 127) : few(1, 2);
            (_, 0, 0, _, 128 .. 255) : few(2, 1);
            (0, _, _, 0, 0 .. 127) : few(0, 3);
            (0, _, _, 0, 128 .. 255) : few(3, 0);
            (_, 0, _, 0, 0 .. 127) : few(1, 3);
            (_, 0, _, 0, 128 .. 255) : few(3, 1);
            (_, _, 0, 0, 0 .. 127) : few(2, 3);
            (_, _, 0, 0, 128 .. 255) : few(3, 2);
            (0, _, _, _, _) : few(0, 0);
            (_, 0, _, _, _) : few(1, 1);
            (_, _, 0, _, _) : few(2, 2);
            (_, _, _, 0, _) : few(3, 3);
        }
        size = 32;
    }

    action ipv4_bytes() {
        ig_md.t_1.bytes = ipv4_length.get({ 16w0, hdr.ipv4.total_len });
    }

    // Adds Ethernet twice, outer IPv4, UDP and VXLAN, FCS, preamble and inter-frame gap
    action ipv4_around() {
        ig_md.t_1.bytes = ig_md.t_1.bytes + 88;
    }

    action ipv6_bytes() {
        ig_md.t_1.bytes = ipv6_length.get({ 16w0, hdr.ipv6.payload_len });
    }

    // Adds the same bytes as `ipv4_around`, and the IPv6 header
    action ipv6_around() {
        ig_md.t_1.bytes = ig_md.t_1.bytes + 128;
    }

    action again() {
        ig_intr_dprsr_md.resubmit_type = RESUBMIT_TYPE_FOUND;
    }

    action tell_egress() {
        hdr.bridge.leaf = ig_md.group;
        hdr.bridge.entropy = entropy.get({ 2w3, ig_md.flow[31:18] });
        hdr.bridge.tags = tags.get({ 2w0, ig_md.member[1:0], 2w0, ig_md.t_1.turn[1:0] });
    }

    action mark_ipv4() {
        hdr.ipv4.ecn = 3;
    }

    action mark_ipv6() {
        hdr.ipv6.ecn = 3;
    }

    // Removes the VXLAN overlay of a packet from another leaf
    action unwrap() {
        hdr.outer_ethernet.setInvalid();
        hdr.outer.setInvalid();
        hdr.outer_udp.setInvalid();
        hdr.overlay.setInvalid();
    }

    action like_ipv4() {
        hdr.bridge.dscp = hdr.ipv4.dscp;
        hdr.bridge.ecn = hdr.ipv4.ecn;
    }

    action like_ipv6() {
        hdr.bridge.dscp = dscp_of_ipv6.get({ hdr.ipv6.dscp });
        hdr.bridge.ecn = ecn_of_ipv6.get({ hdr.ipv6.ecn });
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
        size = 240;
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
        read_clock();
        if (hdr.outer.isValid()) {
            if (!hdr.overlay.isValid() || ig_md.t.bad_outer == 1) {
                drop_bad_overlay();
            } else {
                hear.execute(of_leaf.get({ 6w0, hdr.outer.src[7:0], hdr.overlay.tags[5:4] }));
                if (hdr.overlay.feedback != 0) {
                    if (hdr.overlay.tags[1:0] == 0) {
                        learn.execute(hdr.outer.src[15:0]);
                    }
                    if (hdr.overlay.tags[1:0] == 1) {
                        learn_1.execute(hdr.outer.src[15:0]);
                    }
                    if (hdr.overlay.tags[1:0] == 2) {
                        learn_2.execute(hdr.outer.src[15:0]);
                    }
                    if (hdr.overlay.tags[1:0] == 3) {
                        learn_3.execute(hdr.outer.src[15:0]);
                    }
                }
                if (ig_md.group != 0) {
                    drop_stray();
                }
            }
        } else if (ig_md.group != 0) {
            ig_md.t_1.turn = next.execute(ig_md.group);
            hdr.bridge.feedback = tell.execute(asked.get({ 6w0, ig_md.group[7:0], ig_md.t_1.turn[1:0] }));
            ig_md.known.path = read.execute(ig_md.group);
            ig_md.known.path = worse.execute(0);
            ig_md.known_1.path = read_1.execute(ig_md.group);
            ig_md.known_1.path = worse_1.execute(0);
            ig_md.known_2.path = read_2.execute(ig_md.group);
            ig_md.known_2.path = worse_2.execute(0);
            ig_md.known_3.path = read_3.execute(ig_md.group);
            ig_md.known_3.path = worse_3.execute(0);
        } else if (hdr.ethernet.ether_type == 0x88b5) {
            if (generator.apply().hit) {
                if (hdr.found.isValid()) {
                    quantise.apply();
                    if (hdr.ethernet.dst[15:0] == 0) {
                        show.execute(0);
                    }
                    if (hdr.ethernet.dst[15:0] == 1) {
                        show_1.execute(0);
                    }
                    if (hdr.ethernet.dst[15:0] == 2) {
                        show_2.execute(0);
                    }
                    if (hdr.ethernet.dst[15:0] == 3) {
                        show_3.execute(0);
                    }
                    drop_shown();
                } else {
                    tell.execute(hdr.ethernet.dst[15:0]);
                    read.execute((bit<16>) hdr.ethernet.dst[15:2]);
                    read_1.execute((bit<16>) hdr.ethernet.dst[15:2]);
                    read_2.execute((bit<16>) hdr.ethernet.dst[15:2]);
                    read_3.execute((bit<16>) hdr.ethernet.dst[15:2]);
                }
            }
        }
        if (ig_md.group != 0) {
            ig_md.draw = coin.get();
        }
        if (ig_md.group != 0) {
            generation.apply();
        }
        if (ig_md.group != 0) {
            pick.apply();
        }
        if (ig_md.group != 0) {
            ig_md.best.coin = coin_1.get();
            reach.apply();
            better();
            least();
            compare();
            equals.apply();
        }
        if (ig_md.group != 0) {
            ig_md.best.fresh = touch.execute(ig_md.flow[14:0]);
            flowlets.count(ig_md.best.fresh);
            if (ig_md.best.fresh == 1) {
                if (ig_md.best.many == 1) {
                    ig_md.member = none_but.execute(ig_md.flow[14:0]);
                } else {
                    ig_md.member = one_of_two.execute(ig_md.flow[14:0]);
                }
            } else {
                ig_md.member = hold.execute(ig_md.flow[14:0]);
            }
        }
        if (ig_md.group != 0) {
            if (hdr.ipv4.isValid()) {
                ipv4_bytes();
                ipv4_around();
            } else if (hdr.ipv6.isValid()) {
                ipv6_bytes();
                ipv6_around();
            }
            hdr.found.level = dre.execute(ig_md.t_1.bytes, ig_md.member);
        } else if (ig_md.made == 1 && !hdr.found.isValid() && hdr.ethernet.isValid()) {
            hdr.found.level = dre.execute(ig_md.t_1.bytes, (bit<16>) hdr.ethernet.dst[1:0]);
            again();
        }
        tell_egress();
        if (hdr.outer.isValid()) {
            if (hdr.outer.ecn == 3) {
                if (hdr.ipv4.isValid() && hdr.ipv4.ecn != 0) {
                    mark_ipv4();
                } else if (hdr.ipv6.isValid() && hdr.ipv6.ecn != 0) {
                    mark_ipv6();
                }
            }
            unwrap();
        } else if (hdr.ipv4.isValid()) {
            like_ipv4();
        } else if (hdr.ipv6.isValid()) {
            like_ipv6();
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
        pkt.emit(hdr.bridge);
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
        pkt.extract(hdr.bridge);
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

    // Encapsulates the packet in VXLAN, from this leaf's address to the destination leaf's
    action wrap_for(bit<32> dst, bit<32> src) {
        hdr.outer_ethernet.setValid();
        hdr.outer_ethernet.dst = 0x2ff00000002;
        hdr.outer_ethernet.src = 0x2ff00000001;
        hdr.outer_ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.outer.setValid();
        hdr.outer.version = 4;
        hdr.outer.ihl = 5;
        hdr.outer.dscp = hdr.bridge.dscp;
        hdr.outer.ecn = hdr.bridge.ecn;
        hdr.outer.ttl = 64;
        hdr.outer.protocol = IP_PROTOCOL_UDP;
        hdr.outer.src = src;
        hdr.outer.dst = dst;
        hdr.outer_udp.setValid();
        hdr.outer_udp.src_port = hdr.bridge.entropy;
        hdr.outer_udp.dst_port = 0x12b5;
        hdr.overlay.setValid();
        hdr.overlay.flags = 8;
        hdr.overlay.tags = hdr.bridge.tags;
        hdr.overlay.ce = 8;
        hdr.overlay.feedback = hdr.bridge.feedback;
        hdr.overlay.vni = 1;
        hdr.overlay.reserved = 0;
    }

    @sluice_drop("no_leaf")
    action unknown() {
        // reason: The table `leaf_address` has no address for the destination's leaf
        eg_intr_dprsr_md.drop_ctl = 1;
    }

    // Destination leaf to the outer addresses: its own as destination, this leaf's as source
    table leaf_address {
        key = {
            hdr.bridge.leaf : exact;
        }
        actions = {
            wrap_for;
            unknown;
        }
        default_action = unknown();
        size = 16;
    }

    // Sets the outer lengths: the packet's without the bridged header (7 bytes), plus VXLAN, UDP
    // and IPv4
    action measure() {
        hdr.outer.total_len = eg_intr_md.pkt_length + 29;
        hdr.outer_udp.length = eg_intr_md.pkt_length + 9;
    }

    apply {
        ports_out.count(eg_intr_md.egress_port);
        if (hdr.bridge.leaf != 0) {
            leaf_address.apply();
            measure();
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Checksum() outer_checksum;

    apply {
        if (hdr.outer.isValid()) {
            hdr.outer.checksum = outer_checksum.update({
                hdr.outer.version, hdr.outer.ihl, hdr.outer.dscp, hdr.outer.ecn,
                hdr.outer.total_len, hdr.outer.identification, hdr.outer.flags,
                hdr.outer.frag_offset, hdr.outer.ttl, hdr.outer.protocol, hdr.outer.src,
                hdr.outer.dst
            });
        }
        pkt.emit(hdr.outer_ethernet);
        pkt.emit(hdr.outer);
        pkt.emit(hdr.outer_udp);
        pkt.emit(hdr.overlay);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
