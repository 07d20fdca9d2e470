// ecn-mark: Marks packets by the length of their queue, as RED for DCQCN does, with thresholds in
// registers.
// Written by `sluice programs ecn-mark --p4` with kmin=100000 kmax=400000 pmax=2000 scaled=true
// control_queue=6 routes=1024.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<16> ETHERTYPE_VLAN = 0x8100;

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

// The first four bytes of an IPv6 header; the other 36 are not parsed
header ipv6_h {
    bit<4> version; // IP version: 6
    bit<6> dscp; // Differentiated services code point
    bit<2> ecn; // Explicit congestion notification
    bit<20> flow_label; // Flow label
}

// The IPv4 header up to its checksum
header ipv4_h_eg {
    bit<4> version; // IP version: 4
    bit<4> ihl; // Header length in 32-bit words
    bit<6> dscp; // Differentiated services code point
    bit<2> ecn; // Explicit congestion notification
    bit<16> total_len; // Bytes of header and payload
    bit<16> identification; // Identifies fragments
    bit<16> fragment; // Flags and fragment offset
    bit<8> ttl; // Time to live
    bit<8> protocol; // Protocol of the next header
    bit<16> checksum; // Ones' complement checksum of the header
}

struct ig_headers_t {
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h ipv4;
    ipv6_h ipv6;
}

struct ig_metadata_t {
}

struct eg_headers_t {
    ethernet_h ethernet;
    vlan_h vlan;
    ipv4_h_eg ipv4;
    ipv6_h ipv6;
}

struct eg_metadata_t {
    bit<8> row; // Row of thresholds of the queue, 0 to 15
    bit<32> depth; // Depth of the packet's queue in cells when the packet was dequeued
    bit<32> kmin; // Kmin of the row in cells (`kmax`: Kmax)
    bit<32> kmax;
    bit<32> width; // Kmax - Kmin in cells (`last`: one less)
    bit<32> last;
    bit<32> above; // Cells by which the depth is above Kmin; 0 = not above (`beyond`: above Kmax)
    bit<32> beyond;
    // Random number that is compared with Pmax (`draw`: random number for the threshold)
    bit<32> coin;
    bit<32> draw;
    bit<32> fits; // 0 if the draw is not below the width, and so cannot be the threshold
    bit<32> threshold; // Threshold in cells above Kmin
    bit<32> over; // Cells by which the depth is above the threshold; 0 = not above
    bit<1> fell; // 1 with probability Pmax: the coin is below it
    bit<1> mark; // 1 if the packet must be marked
}

parser IngressParser(packet_in pkt,
                     out ig_headers_t hdr,
                     out ig_metadata_t ig_md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition parse_ethernet;
    }

    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN : parse_vlan;
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    action to_port(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    @sluice_drop("nowhere")
    action refuse() {
        // reason: No matching route, or a route whose action is `refuse`
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // IPv4 longest prefix to egress port
    table ipv4_route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            to_port;
            refuse;
        }
        default_action = refuse();
        size = 1024;
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
        default_action = set_class(1, 1);
        size = 64;
    }

    action elsewhere_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // Port of frames that no routing table looks up, such as ARP
    table elsewhere {
        actions = {
            elsewhere_to;
        }
        default_action = elsewhere_to(0x1ff);
    }

    // IPv6 DSCP to egress queue and traffic class
    table ipv6_class {
        key = {
            hdr.ipv6.dscp : exact;
        }
        actions = {
            set_class;
        }
        default_action = set_class(1, 1);
        size = 64;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_route.apply();
            ipv4_class.apply();
        } else {
            elsewhere.apply();
            if (hdr.ipv6.isValid()) {
                ipv6_class.apply();
            }
        }
    }
}

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
    }
}

parser EgressParser(packet_in pkt,
                    out eg_headers_t hdr,
                    out eg_metadata_t eg_md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN : parse_vlan;
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4 : parse_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition accept;
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition accept;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // By row: Kmin, the depth in cells up to which no packet is marked
    Register<bit<32>, bit<8>>(16, 0x100000) kmin;

    RegisterAction<bit<32>, bit<8>, bit<32>>(kmin) get_kmin = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // By row: Kmax, the depth in cells above which every packet is marked
    Register<bit<32>, bit<8>>(16, 0x100000) kmax;

    RegisterAction<bit<32>, bit<8>, bit<32>>(kmax) get_kmax = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    // By row: Pmax, the marking probability at Kmax, in parts of 2^32; 0xffffffff stands for
    // certainty
    Register<bit<32>, bit<8>>(16) pmax;

    RegisterAction<bit<32>, bit<8>, bit<1>>(pmax) toss = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if (eg_md.coin < value) {
                rv = 1;
            }
        }
    };

    // By row: the last threshold, in cells above Kmin
    Register<bit<32>, bit<8>>(16) threshold;

    RegisterAction<bit<32>, bit<8>, bit<32>>(threshold) fresh = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = eg_md.draw;
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<8>, bit<32>>(threshold) mirrored = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = eg_md.last - value;
            rv = value;
        }
    };

    // Packets and bytes marked, by dev_port
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) marked;
    Random<bit<32>>() coins;
    Random<bit<32>>() draws;

    action set_row(bit<8> row) {
        eg_md.row = row;
    }

    // Egress port and queue to a row of thresholds; a queue without an entry is not marked
    table profile {
        key = {
            eg_intr_md.egress_port : exact;
            eg_intr_md.egress_qid : exact;
        }
        actions = {
            set_row;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 4096;
    }

    action cut(bit<32> mask) {
        eg_md.draw = eg_md.draw & mask;
    }

    // Width to a mask for the draw: all bits up to the width's highest one
    table spread {
        key = {
            eg_md.width : ternary;
        }
        actions = {
            cut;
        }
        default_action = cut(0);
        const entries = {
            1 : cut(1);
            2 &&& 0xfffffffe : cut(3);
            4 &&& 0xfffffffc : cut(7);
            8 &&& 0xfffffff8 : cut(15);
            16 &&& 0xfffffff0 : cut(31);
            32 &&& 0xffffffe0 : cut(63);
            64 &&& 0xffffffc0 : cut(127);
            128 &&& 0xffffff80 : cut(255);
            0x100 &&& 0xffffff00 : cut(0x1ff);
            0x200 &&& 0xfffffe00 : cut(0x3ff);
            0x400 &&& 0xfffffc00 : cut(0x7ff);
            0x800 &&& 0xfffff800 : cut(0xfff);
            0x1000 &&& 0xfffff000 : cut(0x1fff);
            0x2000 &&& 0xffffe000 : cut(0x3fff);
            0x4000 &&& 0xffffc000 : cut(0x7fff);
            0x8000 &&& 0xffff8000 : cut(0xffff);
            0x10000 &&& 0xffff0000 : cut(0x1ffff);
            0x20000 &&& 0xfffe0000 : cut(0x3ffff);
            0x40000 &&& 0xfffc0000 : cut(0x7ffff);
        }
        size = 19;
    }

    // Marks an IPv4 packet and lowers its checksum
    action mark_less_1() {
        hdr.ipv4.ecn = 3;
        hdr.ipv4.checksum = hdr.ipv4.checksum - 1;
        marked.count(eg_intr_md.egress_port);
    }

    // Marks an IPv4 packet and lowers its checksum
    action mark_less_2() {
        hdr.ipv4.ecn = 3;
        hdr.ipv4.checksum = hdr.ipv4.checksum - 2;
        marked.count(eg_intr_md.egress_port);
    }

    // Marks an IPv4 packet and lowers its checksum
    action mark_less_3() {
        hdr.ipv4.ecn = 3;
        hdr.ipv4.checksum = hdr.ipv4.checksum - 3;
        marked.count(eg_intr_md.egress_port);
    }

    action as_it_is() {
    }

    // Marks an IPv4 packet if it is ECT(0) or ECT(1)
    table mark_ipv4 {
        key = {
            hdr.ipv4.ecn : ternary;
            hdr.ipv4.checksum : ternary;
        }
        actions = {
            mark_less_1;
            mark_less_2;
            mark_less_3;
            as_it_is;
        }
        default_action = as_it_is();
        const entries = {
            (2, 0) : mark_less_2();
            (2, _) : mark_less_1();
            (1, 0 &&& 0xfffe) : mark_less_3();
            (1, _) : mark_less_2();
        }
        size = 4;
    }

    // Marks an IPv6 packet
    action mark_flow() {
        hdr.ipv6.ecn = 3;
        marked.count(eg_intr_md.egress_port);
    }

    // Marks an IPv6 packet if it is ECT(0) or ECT(1)
    table mark_ipv6 {
        key = {
            hdr.ipv6.ecn : exact;
        }
        actions = {
            mark_flow;
            as_it_is;
        }
        default_action = as_it_is();
        const entries = {
            2 : mark_flow();
            1 : mark_flow();
        }
        size = 2;
    }

    apply {
        eg_md.depth = (bit<32>) eg_intr_md.deq_qdepth;
        eg_md.coin = coins.get();
        eg_md.draw = draws.get();
        if (profile.apply().hit) {
            eg_md.kmin = get_kmin.execute(eg_md.row);
            eg_md.kmax = get_kmax.execute(eg_md.row);
            eg_md.fell = toss.execute(eg_md.row);
            eg_md.width = eg_md.kmax |-| eg_md.kmin;
            eg_md.above = eg_md.depth |-| eg_md.kmin;
            eg_md.beyond = eg_md.depth |-| eg_md.kmax;
            spread.apply();
            eg_md.last = eg_md.width - 1;
            eg_md.fits = eg_md.width |-| eg_md.draw;
            if (eg_md.fits == 0) {
                eg_md.threshold = mirrored.execute(eg_md.row);
            } else {
                eg_md.threshold = fresh.execute(eg_md.row);
            }
            eg_md.over = eg_md.above |-| eg_md.threshold;
            if (eg_md.beyond != 0) {
                eg_md.mark = 1;
            } else if (eg_md.over != 0 && eg_md.fell == 1) {
                eg_md.mark = 1;
            }
            if (eg_md.mark == 1) {
                if (hdr.ipv4.isValid()) {
                    mark_ipv4.apply();
                } else if (hdr.ipv6.isValid()) {
                    mark_ipv6.apply();
                }
            }
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    apply {
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.vlan);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
