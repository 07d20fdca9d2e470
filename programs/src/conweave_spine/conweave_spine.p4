// conweave-spine: Forwards between ConWeave's ToRs: DATA by PathID, the rest by ECMP, with ECN
// marking.
// Written by `sluice programs conweave-spine --p4` with routes=2048 groups=256 links=1.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<8> IP_PROTOCOL_UDP = 17;

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

// UDP header (RFC 768)
header udp_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
    bit<16> length; // Bytes of header and payload
    bit<16> checksum; // Ones' complement checksum with pseudo header; 0 for none over IPv4
}

// Base transport header, its reserved bits as ConWeave uses them: hosts send and receive zeros
// there
header bth_h {
    bit<8> opcode; // RDMA operation
    // Solicited event, migration, padding, version; in an RTT_REPLY the RTT_REQUEST's ECN
    bit<8> flags;
    bit<16> partition; // Partition key
    bit<8> path; // PathID
    bit<24> queue_pair; // Destination queue pair
    bit<1> ack_request; // Acknowledgement request
    bit<2> cw_opcode; // 0 none, 1 DATA, 2 REPLY, 3 NOTIFY
    bit<1> phase; // 1 in REROUTED packets and in CLEAR
    bit<2> epoch; // Epoch modulo 4
    bit<1> ask_reply; // Asks DstToR for an answer: RTT_REQUEST and TAIL
    bit<1> tail; // The last packet on the old path
    bit<24> psn; // Packet sequence number
}

struct ig_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    bth_h bth;
}

struct ig_metadata_t {
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    bit<16> group; // Group of links to the ToR
    bit<16> src_port; // UDP source port; 0 for fragments and other protocols
    bit<16> dst_port; // UDP destination port; 0 for fragments and other protocols
}

struct eg_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
}

struct eg_k_t {
    // Marking probability in 256ths; after the draw, the amount by which it exceeds the draw (0 =
    // no mark)
    bit<8> probability;
    bit<8> draw; // Random number from 0 to 255; the packet is marked if the probability is above it
    bit<13> depth; // Depth of the packet's queue when the packet was dequeued, in units of 64 cells
}

struct eg_metadata_t {
    eg_k_t k;
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() ipv4_checksum;

    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, pkt.lookahead<bit<8>>()) {
            (ETHERTYPE_IPV4, 69) : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        ig_md.bad_checksum = (bit<1>) ipv4_checksum.verify();
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        ig_md.src_port = hdr.udp.src_port;
        ig_md.dst_port = hdr.udp.dst_port;
        transition select(hdr.udp.dst_port) {
            0x12b7 : parse_bth;
            default : accept;
        }
    }

    state parse_bth {
        pkt.extract(hdr.bth);
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    @sluice_drop("bad_checksum")
    action drop_bad_checksum() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The IPv4 header checksum is wrong
    }

    @sluice_drop("ttl_expired")
    action drop_ttl_expired() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The TTL is 0 or 1
    }

    action set_class(QueueId_t queue, bit<3> traffic_class) {
        ig_intr_tm_md.qid = queue;
        ig_intr_tm_md.ingress_cos = traffic_class;
    }

    // DSCP to egress queue and traffic class
    table class {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(0, 0);
        size = 64;
    }

    action to_group(bit<16> group) {
        ig_md.group = group;
    }

    @sluice_drop("no_route")
    action unreachable() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: No route matches the destination
    }

    // IPv4 longest prefix to the group of links to its ToR
    table route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            to_group;
            @defaultonly unreachable;
        }
        default_action = unreachable();
        size = 2048;
    }

    // Links of all groups
    ActionProfile(1024) ecmp_ports_profile;
    Hash<bit<51>>(HashAlgorithm_t.CRC64) flow_hash;
    ActionSelector(ecmp_ports_profile, flow_hash, SelectorMode_t.RESILIENT, 32, 256) ecmp_ports;

    action ecmp_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Group to the link that the flow hash picks
    table ecmp {
        key = {
            ig_md.group : exact;
            hdr.ipv4.src : selector;
            hdr.ipv4.dst : selector;
            hdr.ipv4.protocol : selector;
            ig_md.src_port : selector;
            ig_md.dst_port : selector;
        }
        actions = {
            ecmp_to;
        }
        size = 256;
        implementation = ecmp_ports;
    }

    action path_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Group and PathID to a link, for DATA
    table by_path {
        key = {
            ig_md.group : exact;
            hdr.bth.path : exact;
        }
        actions = {
            path_to;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 4096;
    }

    action bridge_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    @sluice_drop("no_port")
    action nowhere() {
        // reason: No port for this destination MAC, and no default port
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // Destination MAC to port, for frames that are not IPv4 without options
    table l2 {
        key = {
            hdr.ethernet.dst : exact;
        }
        actions = {
            bridge_to;
            @defaultonly nowhere;
        }
        default_action = nowhere();
        size = 1024;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            if (ig_md.bad_checksum == 1) {
                drop_bad_checksum();
            } else if (hdr.ipv4.ttl <= 1) {
                drop_ttl_expired();
            } else {
                hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                class.apply();
                route.apply();
                ecmp.apply();
                if (hdr.bth.isValid() && hdr.bth.cw_opcode == 1) {
                    by_path.apply();
                }
            }
        } else {
            l2.apply();
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
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.bth);
    }
}

parser EgressParser(packet_in pkt,
                    out eg_headers_t hdr,
                    out eg_metadata_t eg_md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type, pkt.lookahead<bit<8>>()) {
            (ETHERTYPE_IPV4, 69) : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // Random number of a packet, 0 to 255, that is compared with the marking probability
    Random<bit<8>>() mark_draw;

    action set_probability(bit<8> p) {
        eg_md.k.probability = p;
    }

    // Queue depth in units of 64 cells to marking probability in 256ths; without an entry the
    // probability is 0
    table mark_probability {
        key = {
            eg_md.k.depth : ternary;
        }
        actions = {
            set_probability;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 64;
    }

    apply {
        eg_md.k.depth = eg_intr_md.deq_qdepth[18:6];
        eg_md.k.draw = mark_draw.get();
        mark_probability.apply();
        eg_md.k.probability = eg_md.k.probability |-| eg_md.k.draw;
        if (hdr.ipv4.isValid() && hdr.ipv4.ecn != 0 && eg_md.k.probability != 0) {
            hdr.ipv4.ecn = 3;
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Checksum() ipv4_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
