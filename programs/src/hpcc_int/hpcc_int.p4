// hpcc-int: Adds every hop's port speed, time, bytes sent and queue length to packets, for HPCC
// senders.
// Written by `sluice programs hpcc-int --p4` with switch_id=1 udp_port=4791 mtu=9000 layout=paper
// qlen=queue multi=1 overhead=0 routes=4096 groups=64.

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

// Ethernet II header (IEEE 802.3 §3.2)
header ethernet_h {
    bit<48> dst; // Destination MAC address
    bit<48> src; // Source MAC address
    bit<16> ether_type; // EtherType of what follows
}

// The first four bytes of a TCP or UDP header
header l4_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
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

// UDP header (RFC 768)
header udp_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
    bit<16> length; // Bytes of header and payload
    bit<16> checksum; // Ones' complement checksum with pseudo header; 0 for none over IPv4
}

// INT header word that all hops share
header common_h {
    bit<16> word; // nHop in the upper 4 bits, pathID in the lower 12
}

// Record of a hop: port speed code (4 bits), time (24), bytes sent (20), queue length (16)
header hops_h {
    bit<32> hi; // B (speed code), TS (ns), and the upper 4 bits of txBytes (128-byte units)
    bit<32> lo; // Lower 16 bits of txBytes, and qLen (cells)
}

struct ig_headers_t {
    ethernet_h ethernet;
    l4_h l4;
    ipv4_h ipv4;
    ipv6_h ipv6;
}

struct ig_metadata_t {
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    // Drop reason: 1 = no route, 2 = TTL or hop limit 0 or 1, 3 = wrong IPv4 header checksum; 0 =
    // not dropped
    bit<16> refused;
    bit<16> src_port; // TCP or UDP source port; 0 for fragments and other protocols
    bit<16> dst_port; // TCP or UDP destination port; 0 for fragments and other protocols
    bit<16> group; // ECMP group that the route selects; 0 = none
    bit<16> flow; // CRC-16 of the flow's addresses, protocol and ports
}

struct eg_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    udp_h udp;
    udp_h summed_udp; // Replaces `udp` if the UDP checksum must be updated
    common_h common;
    hops_h[5] hops;
    hops_h pushed; // Record that this switch adds
}

struct eg_metadata_t {
    // 1 for an acknowledgement or a congestion notification, which carries a copy of the records
    // back
    bit<1> reply;
    bit<1> malformed; // 1 if nHop is above 5
    bit<8> event; // Outcome for the INT header: index of the counter `events`
    bit<32> code; // Speed code of the port, in the upper 4 bits; with layout=ns3 in the lower 3
    bit<16> switch_id; // Number of this switch, 12 bits, which is combined with pathID
    bit<16> excess; // Bytes by which the IP packet is too long for a record; 0 = not too long
    bit<32> length; // Length of the packet in bytes
    bit<32> sent; // Bytes that the port sent before the packet, modulo 2^32
    bit<32> depth; // Queue depth in cells when the packet was dequeued
    bit<32> earlier; // Depth of the packet's queue when it last sent, in cells
    bit<32> change; // Change of the depth of the packet's queue since it last sent, in cells
    bit<32> hi; // First word of the record under construction
    bit<32> lo; // Second word of the record under construction
    bit<32> top; // Upper 4 bits of txBytes
    bit<16> word; // Updated word of nHop and pathID
    // Ones' complement of the old word of nHop and pathID, for the checksum update (RFC 1624)
    bit<16> old_word;
    // Ones' complement of the old UDP checksum, for the checksum update (RFC 1624)
    bit<16> old_checksum;
    // Twice the bytes by which the packet grows, because both UDP length and pseudo header contain
    // the length
    bit<16> growth;
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
            ETHERTYPE_IPV4 : peek_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    // IPv4 with options is not parsed further, and so is not routed
    state peek_ipv4 {
        transition select(pkt.lookahead<bit<8>>()) {
            69 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_checksum.add(hdr.ipv4);
        ig_md.bad_checksum = (bit<1>) ipv4_checksum.verify();
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 0x1, 0, IP_PROTOCOL_TCP) : parse_l4;
            (0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_l4;
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
    // Flow hash of IPv4: addresses, protocol and ports
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv4_flow;

    // Flow hash of IPv6: addresses, next header and ports
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv6_flow;

    action hash_ipv4() {
        ig_md.flow = ipv4_flow.get({
            hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, ig_md.src_port, ig_md.dst_port
        });
    }

    action hash_ipv6() {
        ig_md.flow = ipv6_flow.get({
            hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, ig_md.src_port, ig_md.dst_port
        });
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

    @sluice_drop("ipv4_checksum")
    action refuse() {
        ig_md.refused = 3;
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The IPv4 header checksum is wrong
    }

    @sluice_drop("ttl_expired")
    action expire() {
        ig_md.refused = 2;
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The TTL or hop limit is 0 or 1
    }

    action ipv4_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    action ipv4_spread(bit<16> group) {
        ig_md.group = group;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    @sluice_drop("no_route")
    action unreachable() {
        ig_md.refused = 1;
        // reason: No matching route, or a route whose action is `unreachable`
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // IPv4 longest prefix to egress port or ECMP group
    table ipv4_route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            ipv4_to;
            ipv4_spread;
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

    action ipv6_to(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    action ipv6_spread(bit<16> group) {
        ig_md.group = group;
        hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
    }

    // IPv6 longest prefix to egress port or ECMP group
    table ipv6_route {
        key = {
            hdr.ipv6.dst : lpm;
        }
        actions = {
            ipv6_to;
            ipv6_spread;
            unreachable;
        }
        default_action = unreachable();
        size = 4096;
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

    // Egress ports of all ECMP groups
    ActionProfile(512) ways_profile;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) way_hash;
    ActionSelector(ways_profile, way_hash, SelectorMode_t.FAIR, 120, 64) ways;

    action take(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
    }

    // ECMP group to the egress port that the flow hash picks
    table group {
        key = {
            ig_md.group : exact;
            ig_md.flow : selector;
        }
        actions = {
            take;
        }
        size = 64;
        implementation = ways;
    }

    apply {
        if (hdr.ipv4.isValid()) {
            hash_ipv4();
        } else if (hdr.ipv6.isValid()) {
            hash_ipv6();
        }
        if (hdr.ipv4.isValid()) {
            ipv4_class.apply();
            if (ig_md.bad_checksum == 1) {
                refuse();
            } else if (hdr.ipv4.ttl <= 1) {
                expire();
            } else {
                ipv4_route.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
            if (hdr.ipv6.hop_limit <= 1) {
                expire();
            } else {
                ipv6_route.apply();
            }
        } else {
            elsewhere.apply();
        }
        if (ig_md.group != 0) {
            group.apply();
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
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4 : peek_ipv4;
            default : accept;
        }
    }

    state peek_ipv4 {
        transition select(pkt.lookahead<bit<8>>()) {
            69 : parse_ipv4;
            default : accept;
        }
    }

    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) {
            0x12b7 : parse_common;
            default : accept;
        }
    }

    state parse_common {
        pkt.extract(hdr.common);
        transition select(hdr.common.word) {
            0 &&& 0xf000 : opcode;
            0x1000 &&& 0xf000 : parse_hop;
            0x2000 &&& 0xf000 : parse_hop;
            0x3000 &&& 0xf000 : parse_hop;
            0x4000 &&& 0xf000 : parse_hop;
            0x5000 &&& 0xf000 : parse_hop;
            default : malformed;
        }
    }

    // nHop is above 5: nothing after it is parsed
    state malformed {
        eg_md.malformed = 1;
        transition accept;
    }

    // InfiniBand header, after the last record
    state opcode {
        transition select(pkt.lookahead<bit<8>>()) {
            17 : reply;
            129 : reply;
            default : accept;
        }
    }

    state reply {
        eg_md.reply = 1;
        transition accept;
    }

    state parse_hop {
        pkt.extract(hdr.hops[0]);
        transition select(hdr.common.word) {
            0x1000 &&& 0xf000 : opcode;
            default : parse_hop_1;
        }
    }

    state parse_hop_1 {
        pkt.extract(hdr.hops[1]);
        transition select(hdr.common.word) {
            0x2000 &&& 0xf000 : opcode;
            default : parse_hop_2;
        }
    }

    state parse_hop_2 {
        pkt.extract(hdr.hops[2]);
        transition select(hdr.common.word) {
            0x3000 &&& 0xf000 : opcode;
            default : parse_hop_3;
        }
    }

    state parse_hop_3 {
        pkt.extract(hdr.hops[3]);
        transition select(hdr.common.word) {
            0x4000 &&& 0xf000 : opcode;
            default : parse_hop_4;
        }
    }

    state parse_hop_4 {
        pkt.extract(hdr.hops[4]);
        transition select(hdr.common.word) {
            0x5000 &&& 0xf000 : opcode;
            default : accept;
        }
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // Bytes sent by each port, modulo 2^32
    Register<bit<32>, PortId_t>(512) tx_bytes;

    // Adds the packet's bytes; returns the sum before the packet, so two records differ by the
    // bytes sent between them
    RegisterAction<bit<32>, PortId_t, bit<32>>(tx_bytes) add_bytes = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = value + eg_md.length;
        }
    };

    // INT headers by outcome: 1 record added, 2 hop limit, 3 MTU, 4 reply, 5 malformed
    Counter<bit<64>, bit<8>>(8, CounterType_t.PACKETS) events;

    // Reads packet length, queue depth and egress time from intrinsic metadata
    action observe() {
        eg_md.length = (bit<32>) eg_intr_md.pkt_length;
        eg_md.depth = (bit<32>) eg_intr_md.deq_qdepth;
        eg_md.hi = eg_intr_prsr_md.global_tstamp[31:0];
    }

    // Stores the complements of the old checksum and first word, and counts the hop
    action remember() {
        eg_md.old_checksum = hdr.udp.checksum ^ 0xffff;
        eg_md.old_word = hdr.common.word ^ 0xffff;
        eg_md.word = hdr.common.word + 0x1000;
    }

    action set_port(bit<32> code, bit<12> switch_id, bit<16> longest) {
        eg_md.code = code;
        eg_md.switch_id = (bit<16>) switch_id;
        eg_md.excess = hdr.ipv4.total_len |-| longest;
    }

    // Egress port to its speed code (upper 4 bits of 32), this switch's number, and the longest IP
    // packet in bytes that still gets a record
    table port {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            set_port;
        }
        default_action = set_port(0xf0000000, 1, 0x2320);
        size = 512;
    }

    // Shifts time and bytes to their positions in the record, and limits the depth to 16 bits
    action place() {
        eg_md.hi = eg_md.hi << 4;
        eg_md.lo = eg_md.sent << 9;
        eg_md.top = eg_md.sent >> 23;
        eg_md.depth = min(eg_md.depth, 0xffff);
        eg_md.word = eg_md.word ^ eg_md.switch_id;
    }

    // Masks time, bytes and depth to their bits in the record
    action cut() {
        eg_md.hi = eg_md.hi & 0xffffff0;
        eg_md.lo = eg_md.lo & 0xffff0000;
        eg_md.top = eg_md.top & 15;
    }

    // Combines speed code, time, bytes and depth
    action join() {
        eg_md.hi = eg_md.hi | eg_md.code;
        eg_md.lo = eg_md.lo | eg_md.depth;
    }

    action join_top() {
        eg_md.hi = eg_md.hi | eg_md.top;
    }

    action push() {
        hdr.pushed.setValid();
        hdr.pushed.hi = eg_md.hi;
        hdr.pushed.lo = eg_md.lo;
        hdr.common.word = eg_md.word;
        hdr.ipv4.total_len = hdr.ipv4.total_len + 8;
        eg_md.event = 1;
    }

    // Increases the UDP length; a UDP checksum of 0 stays 0
    action lengthen() {
        hdr.udp.length = hdr.udp.length + 8;
    }

    // Increases the UDP length in the header whose checksum the deparser updates by the record
    action lengthen_summed() {
        hdr.udp.setInvalid();
        hdr.summed_udp.setValid();
        hdr.summed_udp.src_port = hdr.udp.src_port;
        hdr.summed_udp.dst_port = hdr.udp.dst_port;
        hdr.summed_udp.length = hdr.udp.length + 8;
        eg_md.growth = 16;
    }

    apply {
        observe();
        if (hdr.common.isValid()) {
            remember();
            port.apply();
        }
        eg_md.sent = add_bytes.execute(eg_intr_md.egress_port);
        place();
        cut();
        join();
        join_top();
        if (hdr.common.isValid()) {
            if (eg_intr_prsr_md.parser_err != 0 || eg_md.malformed == 1) {
                eg_md.event = 5;
            } else if (eg_md.reply == 1) {
                eg_md.event = 4;
            } else if (hdr.common.word[15:12] == 5) {
                eg_md.event = 2;
            } else if (eg_md.excess != 0) {
                eg_md.event = 3;
            } else {
                push();
                if (hdr.udp.checksum == 0) {
                    lengthen();
                } else {
                    lengthen_summed();
                }
            }
            events.count(eg_md.event);
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Checksum() ipv4_checksum;
    Checksum() summed_udp_checksum;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        if (hdr.summed_udp.isValid()) {
            hdr.summed_udp.checksum = summed_udp_checksum.update({
                eg_md.old_checksum, eg_md.old_word, eg_md.growth, hdr.common.word, hdr.pushed.hi,
                hdr.pushed.lo
            }, true);
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.summed_udp);
        pkt.emit(hdr.common);
        pkt.emit(hdr.hops);
        pkt.emit(hdr.pushed);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
