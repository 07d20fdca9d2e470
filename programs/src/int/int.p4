// int: INT v2.1 source, transit and sink with Telemetry Reports v2.0, as INT-MD, INT-MX or INT-XD.
// Written by `sluice programs int --p4` with mode=md carrier=dscp int_dscp=23 int_port=54321
// foreign=drop role=all node_id=1 domain=0 unknown_domain=pad sink_words=84 sink_report=egress
// report_metadata=31744 session=1 watch=all watch_rules=512 routes=4096 groups=64.

#include <core.p4>
#include <t2na.p4>

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<8> IP_PROTOCOL_TCP = 6;
const bit<8> IP_PROTOCOL_UDP = 17;

const MirrorType_t MIRROR_TYPE_COPY = 1;
const MirrorType_t EG_MIRROR_TYPE_COPY = 1;

// Bridged header from ingress to egress
header bridge_h {
    bit<8> kind; // Kind: 1 = bridged packet
    bit<1> watched; // 1 if the flow is watched and the packet sampled: INT begins here
    bit<1> sink; // 1 if the packet is sent to a host: INT ends here
    bit<1> edge; // 1 if the packet arrived from a host: a mark of INT is ignored
    bit<5> profile; // Watch-list profile, which selects the instructions of a source
    bit<16> ingress_port; // dev_port on which the packet arrived
    bit<16> ingress_time_hi; // Arrival time of the packet's first bit in ns, upper 16 bits
    bit<32> ingress_time; // Arrival time of the packet's first bit in ns, lower 32 bits
}

// Header of mirrored copies that become reports
header copy_h {
    bit<32> head; // Kind (2), report flags, and metadata bitmap of the report
    bit<16> ingress_port; // dev_port on which the packet arrived
    bit<16> egress_port; // 0xffff: no egress port
    bit<16> reason; // Drop reason in the lower 8 bits; the upper 8 bits are 0, as there is no queue
    bit<32> queue; // 0: no queue
    bit<32> latency; // 0: no time in the device
    bit<48> ingress_time; // Arrival time of the packet, ns
    bit<48> egress_time; // 0: no egress time
}

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

// Header of a mirrored copy that becomes a report
header copy_h_eg {
    bit<8> kind; // Kind: 2 = copy of the packet as sent or as it arrived, 3 = as it entered egress
    // Report flags D (dropped), Q (queue), F (tracked flow), I (intermediate), then four zeros
    bit<8> flags;
    bit<8> bits_hi; // Bits 0 to 7 of the report's metadata bitmap
    bit<8> bits_lo; // Bits 8 to 15 of the report's metadata bitmap; bit 15 is queue and drop reason
    bit<16> ingress_port; // dev_port on which the packet arrived
    bit<16> egress_port; // dev_port on which the packet was sent
    bit<16> reason; // Queue number in the upper 8 bits, drop reason in the lower 8
    bit<32> queue; // Queue number in the upper 8 bits, queue depth in cells in the lower 24
    bit<32> latency; // Time in the device, ns
    bit<16> ingress_time_hi; // Arrival time of the packet in ns, upper 16 bits
    bit<32> ingress_time; // Arrival time of the packet in ns, lower 32 bits
    bit<16> egress_time_hi; // Egress time of the packet in ns, upper 16 bits
    bit<32> egress_time; // Egress time of the packet in ns, lower 32 bits
}

// First 20 bytes of a TCP header, in words that only the checksum uses; INT follows them
header tcp_h {
    bit<32> ports; // Source and destination port
    bit<32> seq_no; // Sequence number
    bit<32> ack_no; // Acknowledgement number
    @name("control") bit<32> control_field; // Offset, flags, window
    bit<16> checksum; // Checksum
    bit<16> urgent_ptr; // Urgent pointer
}

// UDP header (RFC 768)
header udp_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
    bit<16> length; // Bytes of header and payload
    bit<16> checksum; // Ones' complement checksum with pseudo header; 0 for none over IPv4
}

// INT shim header over TCP and UDP (model: int §2.2)
header shim_h {
    bit<8> types; // Type (4 bits), NPT (2), reserved
    bit<8> length; // Words of INT header and stack, without this word
    bit<16> original; // The original DSCP (in bits 7 to 2), UDP port or protocol
}

// INT header of INT-MD, and the part of INT-MX's that both share (model: int §2.3)
header int_h {
    bit<4> version; // INT version: 2
    bit<1> discard; // D: the sink discards the packet
    bit<1> exceeded; // E: hop count exceeded
    bit<1> mtu; // M: MTU exceeded
    bit<9> reserved; // Reserved
    bit<8> hop_ml; // Hop ML: three reserved bits, then words of metadata per hop
    bit<8> remaining; // Number of hops that may still add metadata
    bit<8> bits_hi; // Instruction bits 0 to 7
    bit<8> bits_lo; // Instruction bits 8 to 15
    bit<16> domain; // Domain specific ID; 0 = none
    bit<16> ds_instruction; // Domain specific instructions
    bit<16> ds_flags; // Domain specific flags
}

// Metadata of one word
header node_h {
    bit<32> value; // Value of the metadata
}

// Level-1 interface IDs
header interfaces_h {
    bit<16> ingress; // dev_port on which the packet arrived
    bit<16> egress; // dev_port on which the packet is sent; 0xffff = none
}

// Timestamp of 64 bits: 16 zero bits, then the 48 bits of the device's clock
header ingress_time_h {
    bit<16> pad; // Zero
    bit<16> time_hi; // Time in ns, upper 16 bits
    bit<32> time; // Time in ns, lower 32 bits
}

// Level-2 interface IDs
header l2_h {
    bit<32> ingress; // Level-2 interface of the ingress port; 0xffffffff = none
    bit<32> egress; // Level-2 interface of the egress port; 0xffffffff = none
}

// Two words of ones, in place of metadata that this node cannot add
header ones2_h {
    bit<32> first; // 0xffffffff
    bit<32> second; // 0xffffffff
}

// Checksum complement
header complement_h {
    bit<16> pad; // Zero
    bit<16> value; // Value that makes the ones' complement sum of all changes of this hop zero
}

// Queue and drop reason of a report
header drop_reason_h {
    bit<16> reason; // Queue number in the upper 8 bits, drop reason in the lower 8
    bit<16> pad; // Zero
}

// Telemetry Report group header and one individual report header (model: int §2.8)
header report_h {
    bit<32> group; // Version 2 (4 bits), hw_id (6), sequence number (22)
    bit<32> node; // Node ID
    bit<16> head; // RepType, InType, report length in words
    bit<8> md_length; // Words of metadata
    // Flags D (dropped), Q (queue), F (tracked flow), I (intermediate), then four reserved bits
    bit<8> flags;
    bit<8> bits_hi; // RepMdBits 0 to 7: metadata of the report
    bit<8> bits_lo; // RepMdBits 8 to 15: metadata of the report
    bit<16> domain; // Domain ID
    bit<32> ds; // DSMdBits and DSMdstatus
}

struct ig_headers_t {
    bridge_h bridge;
    copy_h copy;
    ethernet_h ethernet;
    l4_h l4;
    ipv4_h ipv4;
    ipv6_h ipv6;
}

struct ig_m_1_t {
    @name("int") bit<1> int_member; // 1 if the packet is marked as INT
    bit<1> watched; // 1 if the watch-list contains the flow
    bit<16> draw; // Random number for sampling, 0 to 65535
    // Amount by which the random number exceeds the rule's `chance`; 0 = the packet is sampled
    bit<16> over;
    bit<10> session; // Mirror session of the report
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
    ig_m_1_t m_1;
}

struct eg_headers_t {
    bridge_h bridge;
    copy_h_eg copy;
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    tcp_h tcp;
    udp_h udp;
    udp_h int_udp; // UDP header that carrier=new-udp adds in front of TCP or UDP
    shim_h shim;
    @name("int") int_h int_member;
    node_h node;
    interfaces_h interfaces;
    node_h latency;
    node_h queue;
    ingress_time_h ingress_time;
    ingress_time_h egress_time;
    l2_h l2;
    node_h util;
    ones2_h ones2;
    node_h ones1;
    node_h ds;
    complement_h complement;
    drop_reason_h drop_reason;
    report_h report;
}

struct eg_metadata_t {
    bit<10> session; // Mirror session of the report
    bit<1> malformed; // 1 if the shim's length is too small to hold an INT header
    bit<1> begun; // 1 if this node added the INT header
    bit<1> adds; // 1 if this node adds its metadata block, or the packet is a report
    bit<1> summed; // 1 if an L4 checksum covers INT
    bit<1> tcp; // 1 for TCP
    bit<1> udp; // 1 for UDP, unless carrier=new-udp added the UDP header
    bit<1> asks_ds; // 1 if domain specific metadata is requested
    // 1 if Hop ML disagrees with the instructions, so that this node cannot add its block
    bit<1> odd;
    bit<1> unknown; // 1 if the instructions are of another domain
    bit<1> tracked; // 1 if the packet gets a report as one of a tracked flow
    bit<8> event; // Outcome for the INT header: index of the counter `events`
    bit<8> bits_hi; // Instruction bits 0 to 7; in a report, bits 0 to 7 of its metadata bitmap
    bit<8> bits_lo; // Instruction bits 8 to 15; in a report, bits 8 to 15 of its metadata bitmap
    bit<8> hop_words; // Hop ML: words of metadata per hop
    // Words of metadata for instruction bits 0 to 7; in a report, all words of metadata
    bit<8> words;
    bit<8> ones; // Words of metadata for instruction bits 8 to 14, which this node fills with ones
    bit<8> tail; // Words of domain specific metadata and checksum complement
    bit<8> pad; // Words of ones that fill the block up to Hop ML
    bit<8> shim_length; // Length field of the shim including the block; 255 = too long
    // Bytes of the block; at a sink, the bytes removed, as a negative number; in a report, the
    // bytes of its metadata
    bit<16> block;
    // Bytes of the IP packet with all additions, then their excess over the MTU (0 = fits); at a
    // sink, bytes of the datagram that contains INT, then their excess over INT (0 = INT does not
    // fit)
    bit<16> longest;
    // MTU of the port in bytes; then the excess of the packet with shim and header alone over the
    // MTU (0 = fits)
    bit<16> mtu;
    bit<16> changes; // Ones' complement sum of the block's changes in shim, header and lengths
    // Ones' complement sum of the shim and header that this node adds, and of the growth of one
    // length
    bit<16> fixed_sum;
    // Growth of the UDP length by the shim and header that this node adds, in bytes
    bit<16> fixed_udp;
    bit<16> original; // Field `original` of the shim that this node adds
    // New UDP destination port of a packet in which INT begins, for carrier=udp-port
    bit<16> new_port;
    bit<16> old_port; // Ones' complement of the old UDP destination port, for carrier=udp-port
    bit<16> sum; // L4 checksum of the packet
    // Change of E and M: 1 = set E, 2 = set M, 5 = remove E, 6 = remove M, 7 = remove both; 0 =
    // none
    bit<16> flags;
    bit<32> node; // Node ID
    bit<32> now; // Egress time in ns, low 32 bits
    bit<32> latency; // Time in the device, ns
    bit<32> queue; // Queue number in the upper 8 bits, queue depth in cells in the lower 24
    bit<32> depth; // Queue depth in cells when the packet was dequeued
    bit<32> length; // Length of the packet in bytes
    bit<32> window; // Number of the present window of 65536 ns
    bit<32> ended; // Bytes of the port's previous window if the packet begins a new one, else 0
    bit<32> deep; // Cells by which the queue depth exceeds its threshold; 0 = not above
    bit<32> late; // Nanoseconds by which the latency exceeds its threshold; 0 = not above
    bit<16> congested; // 1 if depth or latency is above its threshold
    bit<16> before; // 1 if the queue's previous packet was above a threshold, too
    // Kind of the copied packet: 0 IPv4, 1 IPv6, 2 other; 3 more for a copy of the packet as it
    // entered egress
    bit<8> shape;
    bit<16> inner; // Bytes of the packet that the report includes
    bit<16> report_length; // Length of the report in words; 255 = to the end of the packet
    bit<32> sequence; // Sequence number of the report, 22 bits
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

    // Random number for sampling, 0 to 65535
    Random<bit<16>>() sampler;

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

    action arrive() {
        hdr.bridge.setValid();
        hdr.bridge.kind = 1;
        hdr.bridge.ingress_port = (bit<16>) ig_intr_md.ingress_port;
        hdr.bridge.ingress_time_hi = ig_intr_md.ingress_mac_tstamp[47:32];
        hdr.bridge.ingress_time = ig_intr_md.ingress_mac_tstamp[31:0];
        ig_intr_tm_md.deflect_on_drop = 1;
        ig_md.m_1.session = 1;
    }

    action describe_refused() {
        hdr.copy.ingress_port = (bit<16>) ig_intr_md.ingress_port;
        hdr.copy.egress_port = 0xffff;
        hdr.copy.queue = 0;
        hdr.copy.latency = 0;
        hdr.copy.egress_time = 0x0;
        hdr.copy.ingress_time = ig_intr_md.ingress_mac_tstamp;
    }

    // The packet arrived from a host
    action from_host() {
        hdr.bridge.edge = 1;
    }

    action from_node() {
    }

    // Ingress ports from hosts: INT begins there, and a host's packets that are marked as INT are
    // refused
    table port_in {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            from_host;
            from_node;
        }
        default_action = from_node();
        size = 512;
    }

    action to_host() {
        hdr.bridge.sink = 1;
    }

    action to_node() {
    }

    // Egress ports to hosts: INT ends there
    table port_out {
        key = {
            ig_intr_tm_md.ucast_egress_port : exact;
        }
        actions = {
            to_host;
            to_node;
        }
        default_action = to_node();
        size = 512;
    }

    action draw() {
        ig_md.m_1.draw = sampler.get();
    }

    // Watches the flow: samples `chance` + 1 of 65536 packets, with the instructions of `profile`
    action watch(bit<5> profile, bit<16> chance) {
        ig_md.m_1.watched = 1;
        hdr.bridge.profile = profile;
        ig_md.m_1.over = ig_md.m_1.draw |-| chance;
    }

    action ignore() {
    }

    // Watch-list of IPv4 flows
    table ipv4_watch {
        key = {
            hdr.ipv4.src : ternary;
            hdr.ipv4.dst : ternary;
            hdr.ipv4.protocol : ternary;
            ig_md.src_port : ternary;
            ig_md.dst_port : ternary;
        }
        actions = {
            watch;
            ignore;
        }
        default_action = ignore();
        size = 512;
    }

    // Watch-list of IPv6 flows
    table ipv6_watch {
        key = {
            hdr.ipv6.src : ternary;
            hdr.ipv6.dst : ternary;
            hdr.ipv6.next_header : ternary;
            ig_md.src_port : ternary;
            ig_md.dst_port : ternary;
        }
        actions = {
            watch;
            ignore;
        }
        default_action = ignore();
        size = 512;
    }

    action looks_like_int() {
        ig_md.m_1.int_member = 1;
    }

    @sluice_drop("foreign_int")
    action refuse_1() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: A host sent a packet that is marked as INT
    }

    action report_drop() {
        hdr.copy.head = 0x2804801;
        hdr.copy.reason = ig_md.refused;
        ig_intr_dprsr_md.mirror_type = MIRROR_TYPE_COPY;
    }

    action sample() {
        hdr.bridge.watched = 1;
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
        arrive();
        describe_refused();
        port_in.apply();
        port_out.apply();
        draw();
        if (hdr.ipv4.isValid()) {
            ipv4_watch.apply();
        } else if (hdr.ipv6.isValid()) {
            ipv6_watch.apply();
        }
        if (hdr.ipv4.isValid() && hdr.ipv4.dscp == 23) {
            looks_like_int();
        } else if (hdr.ipv6.isValid() && hdr.ipv6.dscp == 23) {
            looks_like_int();
        }
        if (ig_md.m_1.int_member == 1 && hdr.bridge.edge == 1) {
            refuse_1();
        }
        if (ig_md.refused != 0) {
            report_drop();
        } else if (ig_md.m_1.watched == 1 && ig_md.m_1.over == 0) {
            if (hdr.bridge.edge == 1 && !(ig_md.m_1.int_member == 1)) {
                sample();
            }
        }
    }
}

control IngressDeparser(packet_out pkt,
                        inout ig_headers_t hdr,
                        in ig_metadata_t ig_md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md) {
    Checksum() ipv4_checksum;
    Mirror() mirror;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        if (ig_intr_dprsr_md.mirror_type == MIRROR_TYPE_COPY) {
            mirror.emit((MirrorId_t) ig_md.m_1.session, hdr.copy);
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
    ParserCounter() counter;

    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) {
            1 : bridged;
            2 : left;
            3 : came;
            default : accept;
        }
    }

    state bridged {
        pkt.extract(hdr.bridge);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_IPV4 : peek_ipv4;
            ETHERTYPE_IPV6 : parse_ipv6;
            default : accept;
        }
    }

    state left {
        pkt.extract(hdr.copy);
        transition select(pkt.lookahead<bit<112>>()[15:0]) {
            0x800 : inner;
            0x86dd : inner_1;
            default : inner_2;
        }
    }

    // Copy of the packet as it entered egress: skips its bridged header
    state came {
        pkt.extract(hdr.copy);
        pkt.advance(80);
        transition select(pkt.lookahead<bit<112>>()[15:0]) {
            0x800 : inner_3;
            0x86dd : inner_4;
            default : inner_5;
        }
    }

    // Packet data that the report includes
    state inner {
        eg_md.shape = 0;
        pkt.advance(112);
        transition accept;
    }

    // Packet data that the report includes
    state inner_1 {
        eg_md.shape = 1;
        pkt.advance(112);
        transition accept;
    }

    // Packet data that the report includes
    state inner_2 {
        eg_md.shape = 2;
        transition accept;
    }

    // Packet data that the report includes
    state inner_3 {
        eg_md.shape = 3;
        pkt.advance(112);
        transition accept;
    }

    // Packet data that the report includes
    state inner_4 {
        eg_md.shape = 4;
        pkt.advance(112);
        transition accept;
    }

    // Packet data that the report includes
    state inner_5 {
        eg_md.shape = 5;
        transition accept;
    }

    state found {
        transition select(pkt.lookahead<bit<4>>(), pkt.lookahead<bit<36>>()[3:0]) {
            (1, 2) : parse_int;
            default : accept;
        }
    }

    state parse_int {
        pkt.extract(hdr.shim);
        pkt.extract(hdr.int_member);
        transition select(hdr.bridge.sink) {
            1 : measure;
            default : accept;
        }
    }

    // Counts the words of the metadata stack: the shim's length without the 3 words of the INT
    // header
    state measure {
        counter.set(hdr.shim.length, 87, 0, 0xff, 253);
        transition select(counter.is_negative(), counter.is_zero()) {
            (true, _) : too_short;
            (_, false) : skip;
            default : accept;
        }
    }

    state too_short {
        eg_md.malformed = 1;
        transition accept;
    }

    state skip {
        pkt.advance(32);
        counter.decrement(1);
        transition select(counter.is_zero()) {
            false : skip;
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
        transition select(hdr.bridge.edge, hdr.ipv4.dscp, hdr.ipv4.flags,
                hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0, 23, 0 &&& 0x1, 0, IP_PROTOCOL_TCP) : marked_tcp;
            (0, 23, 0 &&& 0x1, 0, IP_PROTOCOL_UDP) : marked_udp;
            (_, _, 0 &&& 0x1, 0, IP_PROTOCOL_TCP) : parse_tcp;
            (_, _, 0 &&& 0x1, 0, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition select(hdr.bridge.edge, hdr.ipv6.dscp, hdr.ipv6.next_header) {
            (0, 23, IP_PROTOCOL_TCP) : marked_tcp;
            (0, 23, IP_PROTOCOL_UDP) : marked_udp;
            (_, _, IP_PROTOCOL_TCP) : parse_tcp;
            (_, _, IP_PROTOCOL_UDP) : parse_udp;
            default : accept;
        }
    }

    state parse_tcp {
        pkt.extract(hdr.tcp);
        eg_md.tcp = 1;
        transition accept;
    }

    state parse_udp {
        pkt.extract(hdr.udp);
        eg_md.udp = 1;
        transition accept;
    }

    state marked_tcp {
        pkt.extract(hdr.tcp);
        eg_md.tcp = 1;
        transition found;
    }

    state marked_udp {
        pkt.extract(hdr.udp);
        eg_md.udp = 1;
        transition found;
    }
}

control Egress(inout eg_headers_t hdr,
               inout eg_metadata_t eg_md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_intr_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_intr_oport_md) {
    // The packet's length in 32 bits, through the hash unit, because no ALU widens a container
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) length;

    // Number of the present window of 65536 ns: egress time / 65536
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) window;

    // Index of a queue: port and queue number, concatenated
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) port_queue;

    // By port: lo = number of the present window of 65536 ns, hi = bytes sent in it
    Register<pair_32_t, PortId_t>(512) windows;

    // Adds the packet's bytes; returns the bytes of the previous window if a new one begins, else 0
    RegisterAction<pair_32_t, PortId_t, bit<32>>(windows) count_bytes = {
        void apply(inout pair_32_t value, out bit<32> rv) {
            if (value.lo == eg_md.window) {
                value.hi = value.hi + eg_md.length;
            } else {
                rv = value.hi;
                value.hi = eg_md.length;
            }
            value.lo = eg_md.window;
        }
    };

    // By port: bytes sent in the last window that ended (65536 ns each)
    Register<bit<32>, PortId_t>(512) utilisation;

    RegisterAction<bit<32>, PortId_t, bit<32>>(utilisation) renew = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (eg_md.ended != 0) {
                value = eg_md.ended;
            }
            rv = value;
        }
    };

    // Reports sent, by port, modulo 2^32; the low 22 bits are the sequence number
    Register<bit<32>, PortId_t>(512) sequence;

    RegisterAction<bit<32>, PortId_t, bit<32>>(sequence) next = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
            value = value + 1;
        }
    };

    // By port and queue: 1 if the last packet was above a threshold
    Register<bit<16>, bit<16>>(65536) congestion;

    RegisterAction<bit<16>, bit<16>, bit<16>>(congestion) renew_1 = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = value;
            value = eg_md.congested;
        }
    };

    // INT headers by outcome: 1 block added, 2 hop limit, 3 MTU, 4 block impossible, 5 no
    // complement
    Counter<bit<64>, bit<8>>(8, CounterType_t.PACKETS) events;

    action is_node(bit<32> id) {
        eg_md.node = id;
    }

    // Node ID; the control plane sets it
    table node {
        actions = {
            is_node;
        }
        default_action = is_node(1);
    }

    action read() {
        eg_md.depth = (bit<32>) eg_intr_md.deq_qdepth;
        eg_md.length = length.get({ 16w0, eg_intr_md.pkt_length });
        eg_md.now = eg_intr_prsr_md.global_tstamp[31:0];
        hdr.ingress_time.time_hi = hdr.bridge.ingress_time_hi;
        hdr.ingress_time.time = hdr.bridge.ingress_time;
        hdr.egress_time.time_hi = eg_intr_prsr_md.global_tstamp[47:32];
        hdr.egress_time.time = eg_intr_prsr_md.global_tstamp[31:0];
        eg_md.window = window.get({ eg_intr_prsr_md.global_tstamp[47:16] });
        hdr.interfaces.ingress = hdr.bridge.ingress_port;
        hdr.interfaces.egress = (bit<16>) eg_intr_md.egress_port;
    }

    action set_port(bit<16> mtu, bit<32> interface) {
        eg_md.mtu = mtu;
        hdr.l2.egress = interface;
    }

    // Egress port to its MTU (longest IP packet in bytes) and level-2 interface; without an entry
    // 9000 and none
    table egress_port {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            set_port;
        }
        default_action = set_port(0x2328, 0xffffffff);
        size = 512;
    }

    action set_interface(bit<32> interface) {
        hdr.l2.ingress = interface;
    }

    // Ingress port to its level-2 interface; without an entry 0xffffffff
    table ingress_port {
        key = {
            hdr.bridge.ingress_port : exact;
        }
        actions = {
            set_interface;
        }
        default_action = set_interface(0xffffffff);
        size = 512;
    }

    action place_queue(bit<32> queue, bit<16> reason) {
        eg_md.queue = queue;
        hdr.copy.reason = reason;
    }

    // Egress queue q to two words of a report: q << 24, and q << 8 | 16 (16 = drop reason "queue
    // full")
    table queue {
        key = {
            eg_intr_md.egress_qid : exact;
        }
        actions = {
            place_queue;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : place_queue(0, 16);
            1 : place_queue(0x1000000, 0x110);
            2 : place_queue(0x2000000, 0x210);
            3 : place_queue(0x3000000, 0x310);
            4 : place_queue(0x4000000, 0x410);
            5 : place_queue(0x5000000, 0x510);
            6 : place_queue(0x6000000, 0x610);
            7 : place_queue(0x7000000, 0x710);
            8 : place_queue(0x8000000, 0x810);
            9 : place_queue(0x9000000, 0x910);
            10 : place_queue(0xa000000, 0xa10);
            11 : place_queue(0xb000000, 0xb10);
            12 : place_queue(0xc000000, 0xc10);
            13 : place_queue(0xd000000, 0xd10);
            14 : place_queue(0xe000000, 0xe10);
            15 : place_queue(0xf000000, 0xf10);
            16 : place_queue(0x10000000, 0x1010);
            17 : place_queue(0x11000000, 0x1110);
            18 : place_queue(0x12000000, 0x1210);
            19 : place_queue(0x13000000, 0x1310);
            20 : place_queue(0x14000000, 0x1410);
            21 : place_queue(0x15000000, 0x1510);
            22 : place_queue(0x16000000, 0x1610);
            23 : place_queue(0x17000000, 0x1710);
            24 : place_queue(0x18000000, 0x1810);
            25 : place_queue(0x19000000, 0x1910);
            26 : place_queue(0x1a000000, 0x1a10);
            27 : place_queue(0x1b000000, 0x1b10);
            28 : place_queue(0x1c000000, 0x1c10);
            29 : place_queue(0x1d000000, 0x1d10);
            30 : place_queue(0x1e000000, 0x1e10);
            31 : place_queue(0x1f000000, 0x1f10);
            32 : place_queue(0x20000000, 0x2010);
            33 : place_queue(0x21000000, 0x2110);
            34 : place_queue(0x22000000, 0x2210);
            35 : place_queue(0x23000000, 0x2310);
            36 : place_queue(0x24000000, 0x2410);
            37 : place_queue(0x25000000, 0x2510);
            38 : place_queue(0x26000000, 0x2610);
            39 : place_queue(0x27000000, 0x2710);
            40 : place_queue(0x28000000, 0x2810);
            41 : place_queue(0x29000000, 0x2910);
            42 : place_queue(0x2a000000, 0x2a10);
            43 : place_queue(0x2b000000, 0x2b10);
            44 : place_queue(0x2c000000, 0x2c10);
            45 : place_queue(0x2d000000, 0x2d10);
            46 : place_queue(0x2e000000, 0x2e10);
            47 : place_queue(0x2f000000, 0x2f10);
            48 : place_queue(0x30000000, 0x3010);
            49 : place_queue(0x31000000, 0x3110);
            50 : place_queue(0x32000000, 0x3210);
            51 : place_queue(0x33000000, 0x3310);
            52 : place_queue(0x34000000, 0x3410);
            53 : place_queue(0x35000000, 0x3510);
            54 : place_queue(0x36000000, 0x3610);
            55 : place_queue(0x37000000, 0x3710);
            56 : place_queue(0x38000000, 0x3810);
            57 : place_queue(0x39000000, 0x3910);
            58 : place_queue(0x3a000000, 0x3a10);
            59 : place_queue(0x3b000000, 0x3b10);
            60 : place_queue(0x3c000000, 0x3c10);
            61 : place_queue(0x3d000000, 0x3d10);
            62 : place_queue(0x3e000000, 0x3e10);
            63 : place_queue(0x3f000000, 0x3f10);
            64 : place_queue(0x40000000, 0x4010);
            65 : place_queue(0x41000000, 0x4110);
            66 : place_queue(0x42000000, 0x4210);
            67 : place_queue(0x43000000, 0x4310);
            68 : place_queue(0x44000000, 0x4410);
            69 : place_queue(0x45000000, 0x4510);
            70 : place_queue(0x46000000, 0x4610);
            71 : place_queue(0x47000000, 0x4710);
            72 : place_queue(0x48000000, 0x4810);
            73 : place_queue(0x49000000, 0x4910);
            74 : place_queue(0x4a000000, 0x4a10);
            75 : place_queue(0x4b000000, 0x4b10);
            76 : place_queue(0x4c000000, 0x4c10);
            77 : place_queue(0x4d000000, 0x4d10);
            78 : place_queue(0x4e000000, 0x4e10);
            79 : place_queue(0x4f000000, 0x4f10);
            80 : place_queue(0x50000000, 0x5010);
            81 : place_queue(0x51000000, 0x5110);
            82 : place_queue(0x52000000, 0x5210);
            83 : place_queue(0x53000000, 0x5310);
            84 : place_queue(0x54000000, 0x5410);
            85 : place_queue(0x55000000, 0x5510);
            86 : place_queue(0x56000000, 0x5610);
            87 : place_queue(0x57000000, 0x5710);
            88 : place_queue(0x58000000, 0x5810);
            89 : place_queue(0x59000000, 0x5910);
            90 : place_queue(0x5a000000, 0x5a10);
            91 : place_queue(0x5b000000, 0x5b10);
            92 : place_queue(0x5c000000, 0x5c10);
            93 : place_queue(0x5d000000, 0x5d10);
            94 : place_queue(0x5e000000, 0x5e10);
            95 : place_queue(0x5f000000, 0x5f10);
            96 : place_queue(0x60000000, 0x6010);
            97 : place_queue(0x61000000, 0x6110);
            98 : place_queue(0x62000000, 0x6210);
            99 : place_queue(0x63000000, 0x6310);
            100 : place_queue(0x64000000, 0x6410);
            101 : place_queue(0x65000000, 0x6510);
            102 : place_queue(0x66000000, 0x6610);
            103 : place_queue(0x67000000, 0x6710);
            104 : place_queue(0x68000000, 0x6810);
            105 : place_queue(0x69000000, 0x6910);
            106 : place_queue(0x6a000000, 0x6a10);
            107 : place_queue(0x6b000000, 0x6b10);
            108 : place_queue(0x6c000000, 0x6c10);
            109 : place_queue(0x6d000000, 0x6d10);
            110 : place_queue(0x6e000000, 0x6e10);
            111 : place_queue(0x6f000000, 0x6f10);
            112 : place_queue(0x70000000, 0x7010);
            113 : place_queue(0x71000000, 0x7110);
            114 : place_queue(0x72000000, 0x7210);
            115 : place_queue(0x73000000, 0x7310);
            116 : place_queue(0x74000000, 0x7410);
            117 : place_queue(0x75000000, 0x7510);
            118 : place_queue(0x76000000, 0x7610);
            119 : place_queue(0x77000000, 0x7710);
            120 : place_queue(0x78000000, 0x7810);
            121 : place_queue(0x79000000, 0x7910);
            122 : place_queue(0x7a000000, 0x7a10);
            123 : place_queue(0x7b000000, 0x7b10);
            124 : place_queue(0x7c000000, 0x7c10);
            125 : place_queue(0x7d000000, 0x7d10);
            126 : place_queue(0x7e000000, 0x7e10);
            127 : place_queue(0x7f000000, 0x7f10);
        }
        size = 128;
    }

    // Subtracts the IPv6 header from the MTU, because the IPv6 payload length excludes it
    action ipv6_mtu() {
        eg_md.mtu = eg_md.mtu - 40;
    }

    action tcp_sum() {
        eg_md.sum = hdr.tcp.checksum;
    }

    action udp_sum() {
        eg_md.sum = hdr.udp.checksum;
    }

    action compute() {
        eg_md.latency = eg_md.now - hdr.bridge.ingress_time;
        eg_md.queue = eg_md.queue | eg_md.depth;
        eg_md.length = eg_md.length - 10;
    }

    action show() {
        hdr.latency.value = eg_md.latency;
        hdr.queue.value = eg_md.queue;
        hdr.node.value = eg_md.node;
    }

    action of_report() {
        eg_md.bits_hi = hdr.copy.bits_hi;
        eg_md.bits_lo = hdr.copy.bits_lo;
    }

    action of_packet() {
        eg_md.bits_hi = hdr.int_member.bits_hi;
        eg_md.bits_lo = hdr.int_member.bits_lo;
        eg_md.hop_words = hdr.int_member.hop_ml & 31;
    }

    // Adds shim and INT header. `sum` is the ones' complement sum of both as added, and of the 16
    // bytes by which they lengthen the packet
    action begin(bit<8> remaining, bit<8> hop_words, bit<8> bits_hi, bit<8> bits_lo,
            bit<16> domain, bit<16> ds_instruction, bit<16> sum) {
        hdr.shim.setValid();
        hdr.shim.types = 16;
        hdr.shim.length = 3;
        hdr.int_member.setValid();
        hdr.int_member.version = 2;
        hdr.int_member.discard = 0;
        hdr.int_member.exceeded = 0;
        hdr.int_member.mtu = 0;
        hdr.int_member.reserved = 0;
        hdr.int_member.ds_flags = 0;
        hdr.int_member.hop_ml = hop_words;
        hdr.int_member.remaining = remaining;
        hdr.int_member.bits_hi = bits_hi;
        hdr.int_member.bits_lo = bits_lo;
        hdr.int_member.domain = domain;
        hdr.int_member.ds_instruction = ds_instruction;
        eg_md.bits_hi = bits_hi;
        eg_md.bits_lo = bits_lo;
        eg_md.hop_words = hop_words;
        eg_md.fixed_sum = sum;
        eg_md.begun = 1;
    }

    action nothing() {
    }

    // Watch-list profile to the instructions that a source gives to its flows
    table profile {
        key = {
            hdr.bridge.profile : exact;
        }
        actions = {
            begin;
            nothing;
        }
        default_action = nothing();
        size = 256;
    }

    action known(bit<8> words) {
        eg_md.words = words;
    }

    // Instruction bits 0 to 7 to their words of metadata
    table words_hi {
        key = {
            eg_md.bits_hi : exact;
        }
        actions = {
            known;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : known(0);
            1 : known(1);
            2 : known(2);
            3 : known(3);
            4 : known(2);
            5 : known(3);
            6 : known(4);
            7 : known(5);
            8 : known(2);
            9 : known(3);
            10 : known(4);
            11 : known(5);
            12 : known(4);
            13 : known(5);
            14 : known(6);
            15 : known(7);
            16 : known(1);
            17 : known(2);
            18 : known(3);
            19 : known(4);
            20 : known(3);
            21 : known(4);
            22 : known(5);
            23 : known(6);
            24 : known(3);
            25 : known(4);
            26 : known(5);
            27 : known(6);
            28 : known(5);
            29 : known(6);
            30 : known(7);
            31 : known(8);
            32 : known(1);
            33 : known(2);
            34 : known(3);
            35 : known(4);
            36 : known(3);
            37 : known(4);
            38 : known(5);
            39 : known(6);
            40 : known(3);
            41 : known(4);
            42 : known(5);
            43 : known(6);
            44 : known(5);
            45 : known(6);
            46 : known(7);
            47 : known(8);
            48 : known(2);
            49 : known(3);
            50 : known(4);
            51 : known(5);
            52 : known(4);
            53 : known(5);
            54 : known(6);
            55 : known(7);
            56 : known(4);
            57 : known(5);
            58 : known(6);
            59 : known(7);
            60 : known(6);
            61 : known(7);
            62 : known(8);
            63 : known(9);
            64 : known(1);
            65 : known(2);
            66 : known(3);
            67 : known(4);
            68 : known(3);
            69 : known(4);
            70 : known(5);
            71 : known(6);
            72 : known(3);
            73 : known(4);
            74 : known(5);
            75 : known(6);
            76 : known(5);
            77 : known(6);
            78 : known(7);
            79 : known(8);
            80 : known(2);
            81 : known(3);
            82 : known(4);
            83 : known(5);
            84 : known(4);
            85 : known(5);
            86 : known(6);
            87 : known(7);
            88 : known(4);
            89 : known(5);
            90 : known(6);
            91 : known(7);
            92 : known(6);
            93 : known(7);
            94 : known(8);
            95 : known(9);
            96 : known(2);
            97 : known(3);
            98 : known(4);
            99 : known(5);
            100 : known(4);
            101 : known(5);
            102 : known(6);
            103 : known(7);
            104 : known(4);
            105 : known(5);
            106 : known(6);
            107 : known(7);
            108 : known(6);
            109 : known(7);
            110 : known(8);
            111 : known(9);
            112 : known(3);
            113 : known(4);
            114 : known(5);
            115 : known(6);
            116 : known(5);
            117 : known(6);
            118 : known(7);
            119 : known(8);
            120 : known(5);
            121 : known(6);
            122 : known(7);
            123 : known(8);
            124 : known(7);
            125 : known(8);
            126 : known(9);
            127 : known(10);
            128 : known(1);
            129 : known(2);
            130 : known(3);
            131 : known(4);
            132 : known(3);
            133 : known(4);
            134 : known(5);
            135 : known(6);
            136 : known(3);
            137 : known(4);
            138 : known(5);
            139 : known(6);
            140 : known(5);
            141 : known(6);
            142 : known(7);
            143 : known(8);
            144 : known(2);
            145 : known(3);
            146 : known(4);
            147 : known(5);
            148 : known(4);
            149 : known(5);
            150 : known(6);
            151 : known(7);
            152 : known(4);
            153 : known(5);
            154 : known(6);
            155 : known(7);
            156 : known(6);
            157 : known(7);
            158 : known(8);
            159 : known(9);
            160 : known(2);
            161 : known(3);
            162 : known(4);
            163 : known(5);
            164 : known(4);
            165 : known(5);
            166 : known(6);
            167 : known(7);
            168 : known(4);
            169 : known(5);
            170 : known(6);
            171 : known(7);
            172 : known(6);
            173 : known(7);
            174 : known(8);
            175 : known(9);
            176 : known(3);
            177 : known(4);
            178 : known(5);
            179 : known(6);
            180 : known(5);
            181 : known(6);
            182 : known(7);
            183 : known(8);
            184 : known(5);
            185 : known(6);
            186 : known(7);
            187 : known(8);
            188 : known(7);
            189 : known(8);
            190 : known(9);
            191 : known(10);
            192 : known(2);
            193 : known(3);
            194 : known(4);
            195 : known(5);
            196 : known(4);
            197 : known(5);
            198 : known(6);
            199 : known(7);
            200 : known(4);
            201 : known(5);
            202 : known(6);
            203 : known(7);
            204 : known(6);
            205 : known(7);
            206 : known(8);
            207 : known(9);
            208 : known(3);
            209 : known(4);
            210 : known(5);
            211 : known(6);
            212 : known(5);
            213 : known(6);
            214 : known(7);
            215 : known(8);
            216 : known(5);
            217 : known(6);
            218 : known(7);
            219 : known(8);
            220 : known(7);
            221 : known(8);
            222 : known(9);
            223 : known(10);
            224 : known(3);
            225 : known(4);
            226 : known(5);
            227 : known(6);
            228 : known(5);
            229 : known(6);
            230 : known(7);
            231 : known(8);
            232 : known(5);
            233 : known(6);
            234 : known(7);
            235 : known(8);
            236 : known(7);
            237 : known(8);
            238 : known(9);
            239 : known(10);
            240 : known(4);
            241 : known(5);
            242 : known(6);
            243 : known(7);
            244 : known(6);
            245 : known(7);
            246 : known(8);
            247 : known(9);
            248 : known(6);
            249 : known(7);
            250 : known(8);
            251 : known(9);
            252 : known(8);
            253 : known(9);
            254 : known(10);
            255 : known(11);
        }
        size = 256;
    }

    action others(bit<8> ones, bit<8> tail) {
        eg_md.ones = ones;
        eg_md.tail = tail;
    }

    // Instruction bits 8 to 15 to words of ones (bits 8 to 14) and of the complement (bit 15)
    table words_lo {
        key = {
            eg_md.bits_lo : exact;
        }
        actions = {
            others;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : others(0, 0);
            1 : others(0, 1);
            2 : others(1, 0);
            3 : others(1, 1);
            4 : others(1, 0);
            5 : others(1, 1);
            6 : others(2, 0);
            7 : others(2, 1);
            8 : others(1, 0);
            9 : others(1, 1);
            10 : others(2, 0);
            11 : others(2, 1);
            12 : others(2, 0);
            13 : others(2, 1);
            14 : others(3, 0);
            15 : others(3, 1);
            16 : others(1, 0);
            17 : others(1, 1);
            18 : others(2, 0);
            19 : others(2, 1);
            20 : others(2, 0);
            21 : others(2, 1);
            22 : others(3, 0);
            23 : others(3, 1);
            24 : others(2, 0);
            25 : others(2, 1);
            26 : others(3, 0);
            27 : others(3, 1);
            28 : others(3, 0);
            29 : others(3, 1);
            30 : others(4, 0);
            31 : others(4, 1);
            32 : others(1, 0);
            33 : others(1, 1);
            34 : others(2, 0);
            35 : others(2, 1);
            36 : others(2, 0);
            37 : others(2, 1);
            38 : others(3, 0);
            39 : others(3, 1);
            40 : others(2, 0);
            41 : others(2, 1);
            42 : others(3, 0);
            43 : others(3, 1);
            44 : others(3, 0);
            45 : others(3, 1);
            46 : others(4, 0);
            47 : others(4, 1);
            48 : others(2, 0);
            49 : others(2, 1);
            50 : others(3, 0);
            51 : others(3, 1);
            52 : others(3, 0);
            53 : others(3, 1);
            54 : others(4, 0);
            55 : others(4, 1);
            56 : others(3, 0);
            57 : others(3, 1);
            58 : others(4, 0);
            59 : others(4, 1);
            60 : others(4, 0);
            61 : others(4, 1);
            62 : others(5, 0);
            63 : others(5, 1);
            64 : others(1, 0);
            65 : others(1, 1);
            66 : others(2, 0);
            67 : others(2, 1);
            68 : others(2, 0);
            69 : others(2, 1);
            70 : others(3, 0);
            71 : others(3, 1);
            72 : others(2, 0);
            73 : others(2, 1);
            74 : others(3, 0);
            75 : others(3, 1);
            76 : others(3, 0);
            77 : others(3, 1);
            78 : others(4, 0);
            79 : others(4, 1);
            80 : others(2, 0);
            81 : others(2, 1);
            82 : others(3, 0);
            83 : others(3, 1);
            84 : others(3, 0);
            85 : others(3, 1);
            86 : others(4, 0);
            87 : others(4, 1);
            88 : others(3, 0);
            89 : others(3, 1);
            90 : others(4, 0);
            91 : others(4, 1);
            92 : others(4, 0);
            93 : others(4, 1);
            94 : others(5, 0);
            95 : others(5, 1);
            96 : others(2, 0);
            97 : others(2, 1);
            98 : others(3, 0);
            99 : others(3, 1);
            100 : others(3, 0);
            101 : others(3, 1);
            102 : others(4, 0);
            103 : others(4, 1);
            104 : others(3, 0);
            105 : others(3, 1);
            106 : others(4, 0);
            107 : others(4, 1);
            108 : others(4, 0);
            109 : others(4, 1);
            110 : others(5, 0);
            111 : others(5, 1);
            112 : others(3, 0);
            113 : others(3, 1);
            114 : others(4, 0);
            115 : others(4, 1);
            116 : others(4, 0);
            117 : others(4, 1);
            118 : others(5, 0);
            119 : others(5, 1);
            120 : others(4, 0);
            121 : others(4, 1);
            122 : others(5, 0);
            123 : others(5, 1);
            124 : others(5, 0);
            125 : others(5, 1);
            126 : others(6, 0);
            127 : others(6, 1);
            128 : others(1, 0);
            129 : others(1, 1);
            130 : others(2, 0);
            131 : others(2, 1);
            132 : others(2, 0);
            133 : others(2, 1);
            134 : others(3, 0);
            135 : others(3, 1);
            136 : others(2, 0);
            137 : others(2, 1);
            138 : others(3, 0);
            139 : others(3, 1);
            140 : others(3, 0);
            141 : others(3, 1);
            142 : others(4, 0);
            143 : others(4, 1);
            144 : others(2, 0);
            145 : others(2, 1);
            146 : others(3, 0);
            147 : others(3, 1);
            148 : others(3, 0);
            149 : others(3, 1);
            150 : others(4, 0);
            151 : others(4, 1);
            152 : others(3, 0);
            153 : others(3, 1);
            154 : others(4, 0);
            155 : others(4, 1);
            156 : others(4, 0);
            157 : others(4, 1);
            158 : others(5, 0);
            159 : others(5, 1);
            160 : others(2, 0);
            161 : others(2, 1);
            162 : others(3, 0);
            163 : others(3, 1);
            164 : others(3, 0);
            165 : others(3, 1);
            166 : others(4, 0);
            167 : others(4, 1);
            168 : others(3, 0);
            169 : others(3, 1);
            170 : others(4, 0);
            171 : others(4, 1);
            172 : others(4, 0);
            173 : others(4, 1);
            174 : others(5, 0);
            175 : others(5, 1);
            176 : others(3, 0);
            177 : others(3, 1);
            178 : others(4, 0);
            179 : others(4, 1);
            180 : others(4, 0);
            181 : others(4, 1);
            182 : others(5, 0);
            183 : others(5, 1);
            184 : others(4, 0);
            185 : others(4, 1);
            186 : others(5, 0);
            187 : others(5, 1);
            188 : others(5, 0);
            189 : others(5, 1);
            190 : others(6, 0);
            191 : others(6, 1);
            192 : others(2, 0);
            193 : others(2, 1);
            194 : others(3, 0);
            195 : others(3, 1);
            196 : others(3, 0);
            197 : others(3, 1);
            198 : others(4, 0);
            199 : others(4, 1);
            200 : others(3, 0);
            201 : others(3, 1);
            202 : others(4, 0);
            203 : others(4, 1);
            204 : others(4, 0);
            205 : others(4, 1);
            206 : others(5, 0);
            207 : others(5, 1);
            208 : others(3, 0);
            209 : others(3, 1);
            210 : others(4, 0);
            211 : others(4, 1);
            212 : others(4, 0);
            213 : others(4, 1);
            214 : others(5, 0);
            215 : others(5, 1);
            216 : others(4, 0);
            217 : others(4, 1);
            218 : others(5, 0);
            219 : others(5, 1);
            220 : others(5, 0);
            221 : others(5, 1);
            222 : others(6, 0);
            223 : others(6, 1);
            224 : others(3, 0);
            225 : others(3, 1);
            226 : others(4, 0);
            227 : others(4, 1);
            228 : others(4, 0);
            229 : others(4, 1);
            230 : others(5, 0);
            231 : others(5, 1);
            232 : others(4, 0);
            233 : others(4, 1);
            234 : others(5, 0);
            235 : others(5, 1);
            236 : others(5, 0);
            237 : others(5, 1);
            238 : others(6, 0);
            239 : others(6, 1);
            240 : others(4, 0);
            241 : others(4, 1);
            242 : others(5, 0);
            243 : others(5, 1);
            244 : others(5, 0);
            245 : others(5, 1);
            246 : others(6, 0);
            247 : others(6, 1);
            248 : others(5, 0);
            249 : others(5, 1);
            250 : others(6, 0);
            251 : others(6, 1);
            252 : others(6, 0);
            253 : others(6, 1);
            254 : others(7, 0);
            255 : others(7, 1);
        }
        size = 256;
    }

    // Sets the addresses of the report, and the first word of its group header: version and hw_id
    action send(bit<48> dst_mac, bit<48> src_mac, bit<32> src, bit<32> dst, bit<16> src_port,
            bit<16> dst_port, bit<32> group) {
        hdr.ethernet.dst = dst_mac;
        hdr.ethernet.src = src_mac;
        hdr.ipv4.src = src;
        hdr.ipv4.dst = dst;
        hdr.udp.src_port = src_port;
        hdr.udp.dst_port = dst_port;
        hdr.report.group = group;
    }

    // Egress port of a report to the collector's addresses
    table collector {
        key = {
            eg_intr_md.egress_port : exact;
        }
        actions = {
            send;
        }
        default_action = send(0, 0, 0, 0, 0, 0, 0x20000000);
        size = 64;
    }

    action shape(bit<16> types, bit<16> in_front) {
        hdr.report.head = types;
        eg_md.inner = eg_intr_md.pkt_length - in_front;
    }

    // Kind of the copied packet to RepType and InType, and to the bytes in front of the part that
    // the report includes
    table copy_shape {
        key = {
            eg_md.shape : exact;
        }
        actions = {
            shape;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : shape(0x1400, 44);
            1 : shape(0x1500, 44);
            2 : shape(0x1300, 30);
            3 : shape(0x1400, 54);
            4 : shape(0x1500, 54);
            5 : shape(0x1300, 40);
        }
        size = 6;
    }

    action cut() {
        eg_md.sequence = eg_md.sequence & 0x3fffff;
    }

    action compose() {
        hdr.ethernet.setValid();
        hdr.ethernet.ether_type = ETHERTYPE_IPV4;
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.ihl = 5;
        hdr.ipv4.ttl = 64;
        hdr.ipv4.protocol = IP_PROTOCOL_UDP;
        hdr.udp.setValid();
        hdr.udp.checksum = 0;
        hdr.report.setValid();
        hdr.report.node = eg_md.node;
        hdr.report.flags = hdr.copy.flags;
        hdr.report.bits_hi = hdr.copy.bits_hi;
        hdr.report.bits_lo = hdr.copy.bits_lo;
        hdr.report.domain = 0;
        hdr.report.ds = 0;
        eg_md.adds = 1;
        eg_md.words = eg_md.words + eg_md.tail;
        hdr.interfaces.ingress = hdr.copy.ingress_port;
        hdr.interfaces.egress = hdr.copy.egress_port;
        hdr.latency.value = hdr.copy.latency;
        hdr.queue.value = hdr.copy.queue;
        hdr.ingress_time.time_hi = hdr.copy.ingress_time_hi;
        hdr.ingress_time.time = hdr.copy.ingress_time;
        hdr.egress_time.time_hi = hdr.copy.egress_time_hi;
        hdr.egress_time.time = hdr.copy.egress_time;
    }

    action number() {
        hdr.report.group = hdr.report.group | eg_md.sequence;
    }

    action reason() {
        hdr.drop_reason.setValid();
        hdr.drop_reason.reason = hdr.copy.reason;
        hdr.drop_reason.pad = 0;
    }

    action size(bit<16> bytes, bit<16> words) {
        eg_md.block = bytes;
        eg_md.report_length = words;
    }

    // Words of metadata to bytes, and to the words of the report without its part of the packet
    table report_size {
        key = {
            eg_md.words : exact;
        }
        actions = {
            size;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : size(0, 2);
            1 : size(4, 3);
            2 : size(8, 4);
            3 : size(12, 5);
            4 : size(16, 6);
            5 : size(20, 7);
            6 : size(24, 8);
            7 : size(28, 9);
            8 : size(32, 10);
            9 : size(36, 11);
            10 : size(40, 12);
            11 : size(44, 13);
            12 : size(48, 14);
            13 : size(52, 15);
            14 : size(56, 16);
            15 : size(60, 17);
        }
        size = 16;
    }

    action scale() {
        eg_md.longest = eg_md.inner >> 2;
    }

    action join() {
        hdr.report.md_length = eg_md.words;
        eg_md.report_length = eg_md.report_length + eg_md.longest;
        eg_md.block = eg_md.block + eg_md.inner;
    }

    action lengths() {
        hdr.udp.length = eg_md.block + 28;
        hdr.ipv4.total_len = eg_md.block + 48;
    }

    // Report length 255 = to the end of the packet, as its words are not whole or too many
    action to_the_end() {
        eg_md.report_length = 255;
    }

    action head() {
        hdr.report.head = hdr.report.head | eg_md.report_length;
    }

    action yes() {
        eg_md.summed = 1;
    }

    action size_1(bit<16> block, bit<16> changes) {
        eg_md.block = block;
        eg_md.changes = changes;
    }

    // Hop ML to the bytes of the block, and to the sum of its changes in shim, header and lengths
    table block_size {
        key = {
            eg_md.hop_words : exact;
            eg_md.udp : exact;
        }
        actions = {
            size_1;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            (0, 0) : size_1(0, 0xfffe);
            (0, 1) : size_1(0, 0xfffe);
            (1, 0) : size_1(4, 4);
            (1, 1) : size_1(4, 8);
            (2, 0) : size_1(8, 9);
            (2, 1) : size_1(8, 17);
            (3, 0) : size_1(12, 14);
            (3, 1) : size_1(12, 26);
            (4, 0) : size_1(16, 19);
            (4, 1) : size_1(16, 35);
            (5, 0) : size_1(20, 24);
            (5, 1) : size_1(20, 44);
            (6, 0) : size_1(24, 29);
            (6, 1) : size_1(24, 53);
            (7, 0) : size_1(28, 34);
            (7, 1) : size_1(28, 62);
            (8, 0) : size_1(32, 39);
            (8, 1) : size_1(32, 71);
            (9, 0) : size_1(36, 44);
            (9, 1) : size_1(36, 80);
            (10, 0) : size_1(40, 49);
            (10, 1) : size_1(40, 89);
            (11, 0) : size_1(44, 54);
            (11, 1) : size_1(44, 98);
            (12, 0) : size_1(48, 59);
            (12, 1) : size_1(48, 107);
            (13, 0) : size_1(52, 64);
            (13, 1) : size_1(52, 116);
            (14, 0) : size_1(56, 69);
            (14, 1) : size_1(56, 125);
            (15, 0) : size_1(60, 74);
            (15, 1) : size_1(60, 134);
            (16, 0) : size_1(64, 79);
            (16, 1) : size_1(64, 143);
        }
        size = 34;
    }

    action fill() {
        eg_md.pad = eg_md.hop_words - eg_md.words;
        eg_md.shim_length = hdr.shim.length |+| eg_md.hop_words;
    }

    action other_domain() {
        eg_md.unknown = 1;
    }

    action take_tail() {
        eg_md.pad = eg_md.pad - eg_md.tail;
    }

    action ipv4_longest() {
        eg_md.longest = hdr.ipv4.total_len + eg_md.block;
    }

    action ipv6_longest() {
        eg_md.longest = hdr.ipv6.payload_len + eg_md.block;
    }

    action with_header() {
        eg_md.longest = eg_md.longest + 16;
    }

    action exceed() {
        eg_md.longest = eg_md.longest |-| eg_md.mtu;
    }

    // Computes the excess over the MTU without the block
    action exceed_fixed() {
        eg_md.mtu = eg_md.longest |-| eg_md.block;
    }

    // Notes that Hop ML disagrees with the instructions
    action differ() {
        eg_md.odd = 1;
    }

    // The block would exceed the MTU
    action too_long() {
        eg_md.event = 3;
    }

    // Removes the shim and INT header that this node added: no INT begins here
    action cancel() {
        hdr.shim.setInvalid();
        hdr.int_member.setInvalid();
        eg_md.begun = 0;
    }

    action flag_hop_limit() {
        eg_md.flags = 1;
    }

    action hop_limit() {
        eg_md.event = 2;
        hdr.int_member.exceeded = 1;
    }

    // The L4 checksum would be invalid
    action no_complement() {
        eg_md.event = 5;
    }

    // This node cannot make the block
    action skip() {
        eg_md.event = 4;
    }

    action flag_mtu() {
        eg_md.flags = 2;
    }

    action mark_mtu() {
        hdr.int_member.mtu = 1;
    }

    action push() {
        eg_md.event = 1;
        eg_md.adds = 1;
        hdr.shim.length = eg_md.shim_length;
        hdr.int_member.remaining = hdr.int_member.remaining - 1;
    }

    // Adds no block; a source adds shim and header only
    action no_block() {
        eg_md.block = 0;
    }

    action thresholds(bit<32> depth, bit<32> latency) {
        eg_md.deep = eg_md.depth |-| depth;
        eg_md.late = eg_md.latency |-| latency;
    }

    // Egress port and queue to the depth in cells and the latency in ns above which the queue is
    // congested
    table queue_watch {
        key = {
            eg_intr_md.egress_port : exact;
            eg_intr_md.egress_qid : exact;
        }
        actions = {
            thresholds;
        }
        default_action = thresholds(0xffffffff, 0xffffffff);
        size = 1024;
    }

    action congested() {
        eg_md.congested = 1;
    }

    action describe() {
        hdr.copy.kind = 2;
        hdr.copy.ingress_port = hdr.bridge.ingress_port;
        hdr.copy.egress_port = (bit<16>) eg_intr_md.egress_port;
        hdr.copy.queue = eg_md.queue;
        hdr.copy.latency = eg_md.latency;
        hdr.copy.ingress_time_hi = hdr.bridge.ingress_time_hi;
        hdr.copy.ingress_time = hdr.bridge.ingress_time;
        hdr.copy.egress_time_hi = eg_intr_prsr_md.global_tstamp[47:32];
        hdr.copy.egress_time = eg_intr_prsr_md.global_tstamp[31:0];
        hdr.copy.bits_hi = 124;
        eg_md.session = 1;
    }

    action tracked() {
        eg_md.tracked = 1;
    }

    @sluice_drop("no_room")
    action report_drop_1() {
        hdr.copy.flags = 128;
        hdr.copy.bits_lo = 1;
        eg_intr_dprsr_md.mirror_type = EG_MIRROR_TYPE_COPY;
        eg_intr_dprsr_md.drop_ctl = 1; // reason: The queue was full; a report is sent
    }

    action report_both() {
        hdr.copy.flags = 96;
        eg_intr_dprsr_md.mirror_type = EG_MIRROR_TYPE_COPY;
    }

    action report_flow() {
        hdr.copy.flags = 32;
        eg_intr_dprsr_md.mirror_type = EG_MIRROR_TYPE_COPY;
    }

    action report_queue() {
        hdr.copy.flags = 64;
        eg_intr_dprsr_md.mirror_type = EG_MIRROR_TYPE_COPY;
    }

    @sluice_consume("discarded")
    action discard() {
        // reason: A probe: flag D of the INT header tells the sink to discard it
        eg_intr_dprsr_md.drop_ctl = 1;
    }

    action as_it_came() {
        hdr.copy.kind = 3;
    }

    action as_it_leaves() {
        eg_intr_dprsr_md.mirror_io_select = 1;
    }

    action udp_room() {
        eg_md.longest = hdr.udp.length;
    }

    action tcp4_room() {
        eg_md.longest = hdr.ipv4.total_len |-| 32;
    }

    action tcp6_room() {
        eg_md.longest = hdr.ipv6.payload_len |-| 12;
    }

    @sluice_drop("malformed")
    action refuse_2() {
        // reason: The INT data of a packet to a host is longer than the packet, or than
        // `sink_words` allows
        eg_intr_dprsr_md.drop_ctl = 1;
    }

    action cut_1(bit<16> block, bit<16> least) {
        eg_md.block = block;
        eg_md.longest = eg_md.longest |-| least;
    }

    // Shim length to the bytes that are removed, as a negative number
    table strip_bytes {
        key = {
            hdr.shim.length : exact;
        }
        actions = {
            cut_1;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            3 : cut_1(0xfff0, 23);
            4 : cut_1(0xffec, 27);
            5 : cut_1(0xffe8, 31);
            6 : cut_1(0xffe4, 35);
            7 : cut_1(0xffe0, 39);
            8 : cut_1(0xffdc, 43);
            9 : cut_1(0xffd8, 47);
            10 : cut_1(0xffd4, 51);
            11 : cut_1(0xffd0, 55);
            12 : cut_1(0xffcc, 59);
            13 : cut_1(0xffc8, 63);
            14 : cut_1(0xffc4, 67);
            15 : cut_1(0xffc0, 71);
            16 : cut_1(0xffbc, 75);
            17 : cut_1(0xffb8, 79);
            18 : cut_1(0xffb4, 83);
            19 : cut_1(0xffb0, 87);
            20 : cut_1(0xffac, 91);
            21 : cut_1(0xffa8, 95);
            22 : cut_1(0xffa4, 99);
            23 : cut_1(0xffa0, 103);
            24 : cut_1(0xff9c, 107);
            25 : cut_1(0xff98, 111);
            26 : cut_1(0xff94, 115);
            27 : cut_1(0xff90, 119);
            28 : cut_1(0xff8c, 123);
            29 : cut_1(0xff88, 127);
            30 : cut_1(0xff84, 131);
            31 : cut_1(0xff80, 135);
            32 : cut_1(0xff7c, 139);
            33 : cut_1(0xff78, 143);
            34 : cut_1(0xff74, 147);
            35 : cut_1(0xff70, 151);
            36 : cut_1(0xff6c, 155);
            37 : cut_1(0xff68, 159);
            38 : cut_1(0xff64, 163);
            39 : cut_1(0xff60, 167);
            40 : cut_1(0xff5c, 171);
            41 : cut_1(0xff58, 175);
            42 : cut_1(0xff54, 179);
            43 : cut_1(0xff50, 183);
            44 : cut_1(0xff4c, 187);
            45 : cut_1(0xff48, 191);
            46 : cut_1(0xff44, 195);
            47 : cut_1(0xff40, 199);
            48 : cut_1(0xff3c, 203);
            49 : cut_1(0xff38, 207);
            50 : cut_1(0xff34, 211);
            51 : cut_1(0xff30, 215);
            52 : cut_1(0xff2c, 219);
            53 : cut_1(0xff28, 223);
            54 : cut_1(0xff24, 227);
            55 : cut_1(0xff20, 231);
            56 : cut_1(0xff1c, 235);
            57 : cut_1(0xff18, 239);
            58 : cut_1(0xff14, 243);
            59 : cut_1(0xff10, 247);
            60 : cut_1(0xff0c, 251);
            61 : cut_1(0xff08, 255);
            62 : cut_1(0xff04, 0x103);
            63 : cut_1(0xff00, 0x107);
            64 : cut_1(0xfefc, 0x10b);
            65 : cut_1(0xfef8, 0x10f);
            66 : cut_1(0xfef4, 0x113);
            67 : cut_1(0xfef0, 0x117);
            68 : cut_1(0xfeec, 0x11b);
            69 : cut_1(0xfee8, 0x11f);
            70 : cut_1(0xfee4, 0x123);
            71 : cut_1(0xfee0, 0x127);
            72 : cut_1(0xfedc, 0x12b);
            73 : cut_1(0xfed8, 0x12f);
            74 : cut_1(0xfed4, 0x133);
            75 : cut_1(0xfed0, 0x137);
            76 : cut_1(0xfecc, 0x13b);
            77 : cut_1(0xfec8, 0x13f);
            78 : cut_1(0xfec4, 0x143);
            79 : cut_1(0xfec0, 0x147);
            80 : cut_1(0xfebc, 0x14b);
            81 : cut_1(0xfeb8, 0x14f);
            82 : cut_1(0xfeb4, 0x153);
            83 : cut_1(0xfeb0, 0x157);
            84 : cut_1(0xfeac, 0x15b);
            85 : cut_1(0xfea8, 0x15f);
            86 : cut_1(0xfea4, 0x163);
            87 : cut_1(0xfea0, 0x167);
        }
        size = 256;
    }

    action undo_both() {
        eg_md.flags = 7;
    }

    action undo_e() {
        eg_md.flags = 5;
    }

    action undo_m() {
        eg_md.flags = 6;
    }

    action ipv4_dscp(bit<6> dscp) {
        hdr.ipv4.dscp = dscp;
    }

    // Shim field `original` to the IPv4 DSCP that is restored
    table ipv4_original {
        key = {
            hdr.shim.original : ternary;
        }
        actions = {
            ipv4_dscp;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 &&& 0xfc : ipv4_dscp(0);
            4 &&& 0xfc : ipv4_dscp(1);
            8 &&& 0xfc : ipv4_dscp(2);
            12 &&& 0xfc : ipv4_dscp(3);
            16 &&& 0xfc : ipv4_dscp(4);
            20 &&& 0xfc : ipv4_dscp(5);
            24 &&& 0xfc : ipv4_dscp(6);
            28 &&& 0xfc : ipv4_dscp(7);
            32 &&& 0xfc : ipv4_dscp(8);
            36 &&& 0xfc : ipv4_dscp(9);
            40 &&& 0xfc : ipv4_dscp(10);
            44 &&& 0xfc : ipv4_dscp(11);
            48 &&& 0xfc : ipv4_dscp(12);
            52 &&& 0xfc : ipv4_dscp(13);
            56 &&& 0xfc : ipv4_dscp(14);
            60 &&& 0xfc : ipv4_dscp(15);
            64 &&& 0xfc : ipv4_dscp(16);
            68 &&& 0xfc : ipv4_dscp(17);
            72 &&& 0xfc : ipv4_dscp(18);
            76 &&& 0xfc : ipv4_dscp(19);
            80 &&& 0xfc : ipv4_dscp(20);
            84 &&& 0xfc : ipv4_dscp(21);
            88 &&& 0xfc : ipv4_dscp(22);
            92 &&& 0xfc : ipv4_dscp(23);
            96 &&& 0xfc : ipv4_dscp(24);
            100 &&& 0xfc : ipv4_dscp(25);
            104 &&& 0xfc : ipv4_dscp(26);
            108 &&& 0xfc : ipv4_dscp(27);
            112 &&& 0xfc : ipv4_dscp(28);
            116 &&& 0xfc : ipv4_dscp(29);
            120 &&& 0xfc : ipv4_dscp(30);
            124 &&& 0xfc : ipv4_dscp(31);
            128 &&& 0xfc : ipv4_dscp(32);
            132 &&& 0xfc : ipv4_dscp(33);
            136 &&& 0xfc : ipv4_dscp(34);
            140 &&& 0xfc : ipv4_dscp(35);
            144 &&& 0xfc : ipv4_dscp(36);
            148 &&& 0xfc : ipv4_dscp(37);
            152 &&& 0xfc : ipv4_dscp(38);
            156 &&& 0xfc : ipv4_dscp(39);
            160 &&& 0xfc : ipv4_dscp(40);
            164 &&& 0xfc : ipv4_dscp(41);
            168 &&& 0xfc : ipv4_dscp(42);
            172 &&& 0xfc : ipv4_dscp(43);
            176 &&& 0xfc : ipv4_dscp(44);
            180 &&& 0xfc : ipv4_dscp(45);
            184 &&& 0xfc : ipv4_dscp(46);
            188 &&& 0xfc : ipv4_dscp(47);
            192 &&& 0xfc : ipv4_dscp(48);
            196 &&& 0xfc : ipv4_dscp(49);
            200 &&& 0xfc : ipv4_dscp(50);
            204 &&& 0xfc : ipv4_dscp(51);
            208 &&& 0xfc : ipv4_dscp(52);
            212 &&& 0xfc : ipv4_dscp(53);
            216 &&& 0xfc : ipv4_dscp(54);
            220 &&& 0xfc : ipv4_dscp(55);
            224 &&& 0xfc : ipv4_dscp(56);
            228 &&& 0xfc : ipv4_dscp(57);
            232 &&& 0xfc : ipv4_dscp(58);
            236 &&& 0xfc : ipv4_dscp(59);
            240 &&& 0xfc : ipv4_dscp(60);
            244 &&& 0xfc : ipv4_dscp(61);
            248 &&& 0xfc : ipv4_dscp(62);
            252 &&& 0xfc : ipv4_dscp(63);
        }
        size = 64;
    }

    action ipv6_dscp(bit<6> dscp) {
        hdr.ipv6.dscp = dscp;
    }

    // Shim field `original` to the IPv6 DSCP that is restored
    table ipv6_original {
        key = {
            hdr.shim.original : ternary;
        }
        actions = {
            ipv6_dscp;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 &&& 0xfc : ipv6_dscp(0);
            4 &&& 0xfc : ipv6_dscp(1);
            8 &&& 0xfc : ipv6_dscp(2);
            12 &&& 0xfc : ipv6_dscp(3);
            16 &&& 0xfc : ipv6_dscp(4);
            20 &&& 0xfc : ipv6_dscp(5);
            24 &&& 0xfc : ipv6_dscp(6);
            28 &&& 0xfc : ipv6_dscp(7);
            32 &&& 0xfc : ipv6_dscp(8);
            36 &&& 0xfc : ipv6_dscp(9);
            40 &&& 0xfc : ipv6_dscp(10);
            44 &&& 0xfc : ipv6_dscp(11);
            48 &&& 0xfc : ipv6_dscp(12);
            52 &&& 0xfc : ipv6_dscp(13);
            56 &&& 0xfc : ipv6_dscp(14);
            60 &&& 0xfc : ipv6_dscp(15);
            64 &&& 0xfc : ipv6_dscp(16);
            68 &&& 0xfc : ipv6_dscp(17);
            72 &&& 0xfc : ipv6_dscp(18);
            76 &&& 0xfc : ipv6_dscp(19);
            80 &&& 0xfc : ipv6_dscp(20);
            84 &&& 0xfc : ipv6_dscp(21);
            88 &&& 0xfc : ipv6_dscp(22);
            92 &&& 0xfc : ipv6_dscp(23);
            96 &&& 0xfc : ipv6_dscp(24);
            100 &&& 0xfc : ipv6_dscp(25);
            104 &&& 0xfc : ipv6_dscp(26);
            108 &&& 0xfc : ipv6_dscp(27);
            112 &&& 0xfc : ipv6_dscp(28);
            116 &&& 0xfc : ipv6_dscp(29);
            120 &&& 0xfc : ipv6_dscp(30);
            124 &&& 0xfc : ipv6_dscp(31);
            128 &&& 0xfc : ipv6_dscp(32);
            132 &&& 0xfc : ipv6_dscp(33);
            136 &&& 0xfc : ipv6_dscp(34);
            140 &&& 0xfc : ipv6_dscp(35);
            144 &&& 0xfc : ipv6_dscp(36);
            148 &&& 0xfc : ipv6_dscp(37);
            152 &&& 0xfc : ipv6_dscp(38);
            156 &&& 0xfc : ipv6_dscp(39);
            160 &&& 0xfc : ipv6_dscp(40);
            164 &&& 0xfc : ipv6_dscp(41);
            168 &&& 0xfc : ipv6_dscp(42);
            172 &&& 0xfc : ipv6_dscp(43);
            176 &&& 0xfc : ipv6_dscp(44);
            180 &&& 0xfc : ipv6_dscp(45);
            184 &&& 0xfc : ipv6_dscp(46);
            188 &&& 0xfc : ipv6_dscp(47);
            192 &&& 0xfc : ipv6_dscp(48);
            196 &&& 0xfc : ipv6_dscp(49);
            200 &&& 0xfc : ipv6_dscp(50);
            204 &&& 0xfc : ipv6_dscp(51);
            208 &&& 0xfc : ipv6_dscp(52);
            212 &&& 0xfc : ipv6_dscp(53);
            216 &&& 0xfc : ipv6_dscp(54);
            220 &&& 0xfc : ipv6_dscp(55);
            224 &&& 0xfc : ipv6_dscp(56);
            228 &&& 0xfc : ipv6_dscp(57);
            232 &&& 0xfc : ipv6_dscp(58);
            236 &&& 0xfc : ipv6_dscp(59);
            240 &&& 0xfc : ipv6_dscp(60);
            244 &&& 0xfc : ipv6_dscp(61);
            248 &&& 0xfc : ipv6_dscp(62);
            252 &&& 0xfc : ipv6_dscp(63);
        }
        size = 64;
    }

    action ipv4_block() {
        hdr.ipv4.total_len = hdr.ipv4.total_len + eg_md.block;
    }

    action ipv4_header() {
        hdr.ipv4.total_len = hdr.ipv4.total_len + 16;
    }

    action ipv6_block() {
        hdr.ipv6.payload_len = hdr.ipv6.payload_len + eg_md.block;
    }

    action ipv6_header() {
        hdr.ipv6.payload_len = hdr.ipv6.payload_len + 16;
    }

    action udp_block() {
        hdr.udp.length = hdr.udp.length + eg_md.block;
    }

    action udp_header() {
        hdr.udp.length = hdr.udp.length + 16;
        eg_md.fixed_udp = 16;
    }

    action keep(bit<16> original) {
        hdr.shim.original = original;
        eg_md.original = original;
    }

    // IPv4 DSCP to the shim's field `original`: the DSCP in bits 7 to 2
    table keep_ipv4 {
        key = {
            hdr.ipv4.dscp : exact;
        }
        actions = {
            keep;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : keep(0);
            1 : keep(4);
            2 : keep(8);
            3 : keep(12);
            4 : keep(16);
            5 : keep(20);
            6 : keep(24);
            7 : keep(28);
            8 : keep(32);
            9 : keep(36);
            10 : keep(40);
            11 : keep(44);
            12 : keep(48);
            13 : keep(52);
            14 : keep(56);
            15 : keep(60);
            16 : keep(64);
            17 : keep(68);
            18 : keep(72);
            19 : keep(76);
            20 : keep(80);
            21 : keep(84);
            22 : keep(88);
            23 : keep(92);
            24 : keep(96);
            25 : keep(100);
            26 : keep(104);
            27 : keep(108);
            28 : keep(112);
            29 : keep(116);
            30 : keep(120);
            31 : keep(124);
            32 : keep(128);
            33 : keep(132);
            34 : keep(136);
            35 : keep(140);
            36 : keep(144);
            37 : keep(148);
            38 : keep(152);
            39 : keep(156);
            40 : keep(160);
            41 : keep(164);
            42 : keep(168);
            43 : keep(172);
            44 : keep(176);
            45 : keep(180);
            46 : keep(184);
            47 : keep(188);
            48 : keep(192);
            49 : keep(196);
            50 : keep(200);
            51 : keep(204);
            52 : keep(208);
            53 : keep(212);
            54 : keep(216);
            55 : keep(220);
            56 : keep(224);
            57 : keep(228);
            58 : keep(232);
            59 : keep(236);
            60 : keep(240);
            61 : keep(244);
            62 : keep(248);
            63 : keep(252);
        }
        size = 64;
    }

    action mark_ipv4() {
        hdr.ipv4.dscp = 23;
    }

    // IPv6 DSCP to the shim's field `original`: the DSCP in bits 7 to 2
    table keep_ipv6 {
        key = {
            hdr.ipv6.dscp : exact;
        }
        actions = {
            keep;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 : keep(0);
            1 : keep(4);
            2 : keep(8);
            3 : keep(12);
            4 : keep(16);
            5 : keep(20);
            6 : keep(24);
            7 : keep(28);
            8 : keep(32);
            9 : keep(36);
            10 : keep(40);
            11 : keep(44);
            12 : keep(48);
            13 : keep(52);
            14 : keep(56);
            15 : keep(60);
            16 : keep(64);
            17 : keep(68);
            18 : keep(72);
            19 : keep(76);
            20 : keep(80);
            21 : keep(84);
            22 : keep(88);
            23 : keep(92);
            24 : keep(96);
            25 : keep(100);
            26 : keep(104);
            27 : keep(108);
            28 : keep(112);
            29 : keep(116);
            30 : keep(120);
            31 : keep(124);
            32 : keep(128);
            33 : keep(132);
            34 : keep(136);
            35 : keep(140);
            36 : keep(144);
            37 : keep(148);
            38 : keep(152);
            39 : keep(156);
            40 : keep(160);
            41 : keep(164);
            42 : keep(168);
            43 : keep(172);
            44 : keep(176);
            45 : keep(180);
            46 : keep(184);
            47 : keep(188);
            48 : keep(192);
            49 : keep(196);
            50 : keep(200);
            51 : keep(204);
            52 : keep(208);
            53 : keep(212);
            54 : keep(216);
            55 : keep(220);
            56 : keep(224);
            57 : keep(228);
            58 : keep(232);
            59 : keep(236);
            60 : keep(240);
            61 : keep(244);
            62 : keep(248);
            63 : keep(252);
        }
        size = 64;
    }

    action mark_ipv6() {
        hdr.ipv6.dscp = 23;
    }

    action add(bit<16> by) {
        eg_md.sum = eg_md.sum + by;
    }

    // Change of E and M, protocol and checksum to the number that is added to the checksum
    table flag_sum {
        key = {
            eg_md.flags : exact;
            eg_md.tcp : exact;
            eg_md.sum : range;
        }
        actions = {
            add;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            (1, 0, 0x401 .. 0xffff) : add(0xfc00);
            (1, 0, 0 .. 0x400) : add(0xfbff);
            (2, 0, 0x201 .. 0xffff) : add(0xfe00);
            (2, 0, 0 .. 0x200) : add(0xfdff);
            (5, 0, 0 .. 0xfbff) : add(0x400);
            (5, 0, 0xfc00 .. 0xffff) : add(0x401);
            (6, 0, 0 .. 0xfdff) : add(0x200);
            (6, 0, 0xfe00 .. 0xffff) : add(0x201);
            (7, 0, 0 .. 0xf9ff) : add(0x600);
            (7, 0, 0xfa00 .. 0xffff) : add(0x601);
            (1, 1, 0x401 .. 0xffff) : add(0xfc00);
            (1, 1, 0 .. 0x400) : add(0xfbff);
            (2, 1, 0x201 .. 0xffff) : add(0xfe00);
            (2, 1, 0 .. 0x200) : add(0xfdff);
            (5, 1, 0 .. 0xfbfe) : add(0x400);
            (5, 1, 0xfbff .. 0xffff) : add(0x401);
            (6, 1, 0 .. 0xfdfe) : add(0x200);
            (6, 1, 0xfdff .. 0xffff) : add(0x201);
            (7, 1, 0 .. 0xf9fe) : add(0x600);
            (7, 1, 0xf9ff .. 0xffff) : add(0x601);
        }
        size = 20;
    }

    action tcp_sum_1() {
        hdr.tcp.checksum = eg_md.sum;
    }

    action udp_sum_1() {
        hdr.udp.checksum = eg_md.sum;
    }

    action take_off() {
        hdr.shim.setInvalid();
        hdr.int_member.setInvalid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0000() {
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0001() {
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0010() {
        hdr.latency.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0011() {
        hdr.latency.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0100() {
        hdr.interfaces.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0101() {
        hdr.interfaces.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0110() {
        hdr.interfaces.setValid();
        hdr.latency.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_0111() {
        hdr.interfaces.setValid();
        hdr.latency.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1000() {
        hdr.node.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1001() {
        hdr.node.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1010() {
        hdr.node.setValid();
        hdr.latency.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1011() {
        hdr.node.setValid();
        hdr.latency.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1100() {
        hdr.node.setValid();
        hdr.interfaces.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1101() {
        hdr.node.setValid();
        hdr.interfaces.setValid();
        hdr.queue.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1110() {
        hdr.node.setValid();
        hdr.interfaces.setValid();
        hdr.latency.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_0_1111() {
        hdr.node.setValid();
        hdr.interfaces.setValid();
        hdr.latency.setValid();
        hdr.queue.setValid();
    }

    // Headers of instructions 0 to 3
    table show_bits_0 {
        key = {
            eg_md.bits_hi : ternary;
        }
        actions = {
            show_bits_0_0000;
            show_bits_0_0001;
            show_bits_0_0010;
            show_bits_0_0011;
            show_bits_0_0100;
            show_bits_0_0101;
            show_bits_0_0110;
            show_bits_0_0111;
            show_bits_0_1000;
            show_bits_0_1001;
            show_bits_0_1010;
            show_bits_0_1011;
            show_bits_0_1100;
            show_bits_0_1101;
            show_bits_0_1110;
            show_bits_0_1111;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 &&& 0xf0 : show_bits_0_0000();
            16 &&& 0xf0 : show_bits_0_0001();
            32 &&& 0xf0 : show_bits_0_0010();
            48 &&& 0xf0 : show_bits_0_0011();
            64 &&& 0xf0 : show_bits_0_0100();
            80 &&& 0xf0 : show_bits_0_0101();
            96 &&& 0xf0 : show_bits_0_0110();
            112 &&& 0xf0 : show_bits_0_0111();
            128 &&& 0xf0 : show_bits_0_1000();
            144 &&& 0xf0 : show_bits_0_1001();
            160 &&& 0xf0 : show_bits_0_1010();
            176 &&& 0xf0 : show_bits_0_1011();
            192 &&& 0xf0 : show_bits_0_1100();
            208 &&& 0xf0 : show_bits_0_1101();
            224 &&& 0xf0 : show_bits_0_1110();
            240 &&& 0xf0 : show_bits_0_1111();
        }
        size = 16;
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0000() {
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0001() {
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0010() {
        hdr.l2.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0011() {
        hdr.l2.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0100() {
        hdr.egress_time.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0101() {
        hdr.egress_time.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0110() {
        hdr.egress_time.setValid();
        hdr.l2.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_0111() {
        hdr.egress_time.setValid();
        hdr.l2.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1000() {
        hdr.ingress_time.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1001() {
        hdr.ingress_time.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1010() {
        hdr.ingress_time.setValid();
        hdr.l2.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1011() {
        hdr.ingress_time.setValid();
        hdr.l2.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1100() {
        hdr.ingress_time.setValid();
        hdr.egress_time.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1101() {
        hdr.ingress_time.setValid();
        hdr.egress_time.setValid();
        hdr.util.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1110() {
        hdr.ingress_time.setValid();
        hdr.egress_time.setValid();
        hdr.l2.setValid();
    }

    // Makes the headers of these instructions valid
    action show_bits_4_1111() {
        hdr.ingress_time.setValid();
        hdr.egress_time.setValid();
        hdr.l2.setValid();
        hdr.util.setValid();
    }

    // Headers of instructions 4 to 7
    table show_bits_4 {
        key = {
            eg_md.bits_hi : ternary;
        }
        actions = {
            show_bits_4_0000;
            show_bits_4_0001;
            show_bits_4_0010;
            show_bits_4_0011;
            show_bits_4_0100;
            show_bits_4_0101;
            show_bits_4_0110;
            show_bits_4_0111;
            show_bits_4_1000;
            show_bits_4_1001;
            show_bits_4_1010;
            show_bits_4_1011;
            show_bits_4_1100;
            show_bits_4_1101;
            show_bits_4_1110;
            show_bits_4_1111;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            0 &&& 0xf : show_bits_4_0000();
            1 &&& 0xf : show_bits_4_0001();
            2 &&& 0xf : show_bits_4_0010();
            3 &&& 0xf : show_bits_4_0011();
            4 &&& 0xf : show_bits_4_0100();
            5 &&& 0xf : show_bits_4_0101();
            6 &&& 0xf : show_bits_4_0110();
            7 &&& 0xf : show_bits_4_0111();
            8 &&& 0xf : show_bits_4_1000();
            9 &&& 0xf : show_bits_4_1001();
            10 &&& 0xf : show_bits_4_1010();
            11 &&& 0xf : show_bits_4_1011();
            12 &&& 0xf : show_bits_4_1100();
            13 &&& 0xf : show_bits_4_1101();
            14 &&& 0xf : show_bits_4_1110();
            15 &&& 0xf : show_bits_4_1111();
        }
        size = 16;
    }

    action fill_1() {
        hdr.ones2.first = 0xffffffff;
        hdr.ones2.second = 0xffffffff;
        hdr.ones1.value = 0xffffffff;
        hdr.complement.pad = 0;
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_000() {
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_001() {
        hdr.complement.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_010() {
        hdr.ones1.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_011() {
        hdr.ones1.setValid();
        hdr.complement.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_100() {
        hdr.ones2.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_101() {
        hdr.ones2.setValid();
        hdr.complement.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_110() {
        hdr.ones2.setValid();
        hdr.ones1.setValid();
    }

    // Makes two words of ones, one, and the complement valid
    action show_rest_111() {
        hdr.ones2.setValid();
        hdr.ones1.setValid();
        hdr.complement.setValid();
    }

    // Words of ones and complement bit to the headers for unknown instructions and the complement
    table show_rest {
        key = {
            eg_md.pad : ternary;
            eg_md.bits_lo : ternary;
        }
        actions = {
            show_rest_000;
            show_rest_001;
            show_rest_010;
            show_rest_011;
            show_rest_100;
            show_rest_101;
            show_rest_110;
            show_rest_111;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        const entries = {
            (0 &&& 0x3, 0 &&& 0x1) : show_rest_000();
            (0 &&& 0x3, 1 &&& 0x1) : show_rest_001();
            (1 &&& 0x3, 0 &&& 0x1) : show_rest_010();
            (1 &&& 0x3, 1 &&& 0x1) : show_rest_011();
            (2 &&& 0x3, 0 &&& 0x1) : show_rest_100();
            (2 &&& 0x3, 1 &&& 0x1) : show_rest_101();
            (3 &&& 0x3, 0 &&& 0x1) : show_rest_110();
            (3 &&& 0x3, 1 &&& 0x1) : show_rest_111();
        }
        size = 8;
    }

    apply {
        node.apply();
        if (hdr.bridge.isValid()) {
            read();
            egress_port.apply();
            ingress_port.apply();
            queue.apply();
            if (hdr.ipv6.isValid()) {
                ipv6_mtu();
            }
            if (hdr.tcp.isValid()) {
                tcp_sum();
            } else if (hdr.udp.isValid()) {
                udp_sum();
            }
            compute();
            eg_md.ended = count_bytes.execute(eg_intr_md.egress_port);
            hdr.util.value = renew.execute(eg_intr_md.egress_port);
            show();
        }
        if (hdr.copy.isValid()) {
            of_report();
        }
        if (hdr.int_member.isValid()) {
            of_packet();
        } else if (hdr.bridge.isValid() && hdr.bridge.watched == 1 && !(hdr.bridge.sink == 1)) {
            if (hdr.tcp.isValid() || hdr.udp.isValid()) {
                profile.apply();
            }
        }
        words_hi.apply();
        words_lo.apply();
        if (hdr.copy.isValid()) {
            collector.apply();
            copy_shape.apply();
            eg_md.sequence = next.execute(eg_intr_md.egress_port);
            cut();
            compose();
            number();
            if (eg_md.bits_lo == 1) {
                reason();
            }
            report_size.apply();
            scale();
            join();
            lengths();
            if (eg_md.inner[1:0] != 0 || eg_md.report_length > 254) {
                to_the_end();
            }
            head();
        }
        if (hdr.tcp.isValid()) {
            yes();
        } else if (hdr.udp.isValid() && hdr.udp.checksum != 0) {
            yes();
        }
        if (hdr.int_member.isValid() && !(hdr.bridge.sink == 1)) {
            block_size.apply();
            fill();
        }
        if (hdr.int_member.isValid() && hdr.int_member.domain != 0) {
            other_domain();
        }
        if (hdr.int_member.isValid() && !(hdr.bridge.sink == 1)) {
            take_tail();
            if (hdr.ipv4.isValid()) {
                ipv4_longest();
            } else {
                ipv6_longest();
            }
            if (eg_md.begun == 1) {
                with_header();
            }
            exceed();
            exceed_fixed();
            if (eg_md.pad[7:2] != 0) {
                differ();
            } else if (eg_md.shim_length == 255) {
                differ();
            } else if (eg_md.pad != eg_md.ones) {
                if (!(eg_md.unknown == 1)) {
                    differ();
                }
            }
        }
        if (hdr.int_member.isValid() && !(hdr.bridge.sink == 1)) {
            if (eg_md.begun == 1 && eg_md.mtu != 0) {
                too_long();
                cancel();
            } else if (hdr.int_member.remaining == 0) {
                if (eg_md.summed == 1 && !(hdr.int_member.exceeded == 1)) {
                    flag_hop_limit();
                }
                hop_limit();
            } else if (eg_md.summed == 1 && eg_md.bits_lo[0:0] == 0) {
                no_complement();
                if (eg_md.begun == 1) {
                    cancel();
                }
            } else if (eg_md.odd == 1) {
                skip();
            } else if (eg_md.longest != 0) {
                too_long();
                if (!(eg_md.begun == 1)) {
                    if (eg_md.summed == 1 && !(hdr.int_member.mtu == 1)) {
                        flag_mtu();
                    }
                    mark_mtu();
                } else if (eg_md.summed == 1) {
                    cancel();
                } else {
                    mark_mtu();
                }
            } else {
                push();
            }
            events.count(eg_md.event);
            if (!(eg_md.adds == 1)) {
                no_block();
            }
        }
        if (hdr.bridge.isValid()) {
            queue_watch.apply();
            if (eg_md.deep != 0) {
                congested();
            } else if (eg_md.late != 0) {
                congested();
            }
            eg_md.before = renew_1.execute(port_queue.get({ eg_intr_md.egress_port, eg_intr_md.egress_qid }));
            describe();
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            tracked();
        }
        if (hdr.bridge.isValid()) {
            if (eg_intr_md.deflection_flag == 1) {
                report_drop_1();
            } else if (eg_md.tracked == 1 && eg_md.congested == 1 && eg_md.before == 0) {
                report_both();
            } else if (eg_md.tracked == 1) {
                report_flow();
            } else if (eg_md.congested == 1 && eg_md.before == 0) {
                report_queue();
            }
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1 && hdr.int_member.discard == 1) {
            discard();
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            as_it_came();
        } else {
            as_it_leaves();
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            if (hdr.udp.isValid()) {
                udp_room();
            } else if (hdr.ipv4.isValid()) {
                tcp4_room();
            } else {
                tcp6_room();
            }
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            if (eg_md.malformed == 1 || eg_intr_prsr_md.parser_err != 0) {
                refuse_2();
            } else {
                strip_bytes.apply();
                if (eg_md.longest == 0) {
                    refuse_2();
                }
                if (eg_md.summed == 1) {
                    if (hdr.int_member.exceeded == 1 && hdr.int_member.mtu == 1) {
                        undo_both();
                    } else if (hdr.int_member.exceeded == 1) {
                        undo_e();
                    } else if (hdr.int_member.mtu == 1) {
                        undo_m();
                    }
                }
            }
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            if (hdr.ipv4.isValid()) {
                ipv4_original.apply();
            } else {
                ipv6_original.apply();
            }
        }
        if (hdr.int_member.isValid()) {
            if (hdr.ipv4.isValid()) {
                ipv4_block();
                if (eg_md.begun == 1) {
                    ipv4_header();
                }
            } else {
                ipv6_block();
                if (eg_md.begun == 1) {
                    ipv6_header();
                }
            }
        }
        if (hdr.int_member.isValid() && hdr.udp.isValid()) {
            udp_block();
            if (eg_md.begun == 1) {
                udp_header();
            }
        }
        if (eg_md.begun == 1) {
            if (hdr.ipv4.isValid()) {
                keep_ipv4.apply();
                mark_ipv4();
            } else {
                keep_ipv6.apply();
                mark_ipv6();
            }
        }
        if (eg_md.flags != 0) {
            flag_sum.apply();
            if (hdr.tcp.isValid()) {
                tcp_sum_1();
            } else {
                udp_sum_1();
            }
        }
        if (hdr.int_member.isValid() && hdr.bridge.sink == 1) {
            take_off();
        }
        if (eg_md.adds == 1) {
            show_bits_0.apply();
            show_bits_4.apply();
        }
        if (eg_md.adds == 1 && hdr.int_member.isValid()) {
            fill_1();
            show_rest.apply();
        }
    }
}

control EgressDeparser(packet_out pkt,
                       inout eg_headers_t hdr,
                       in eg_metadata_t eg_md,
                       in egress_intrinsic_metadata_for_deparser_t eg_intr_dprsr_md) {
    Checksum() ipv4_checksum;
    Checksum() complement_checksum;
    Mirror() mirror;

    apply {
        if (hdr.ipv4.isValid()) {
            hdr.ipv4.checksum = ipv4_checksum.update({
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl,
                hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
            });
        }
        if (hdr.complement.isValid()) {
            hdr.complement.value = complement_checksum.update({
                hdr.node.value, hdr.interfaces.ingress, hdr.interfaces.egress, hdr.latency.value,
                hdr.queue.value, hdr.ingress_time.pad, hdr.ingress_time.time_hi,
                hdr.ingress_time.time, hdr.egress_time.pad, hdr.egress_time.time_hi,
                hdr.egress_time.time, hdr.l2.ingress, hdr.l2.egress, hdr.util.value,
                hdr.ones2.first, hdr.ones2.second, hdr.ones1.value, eg_md.changes, eg_md.fixed_sum,
                eg_md.fixed_udp, eg_md.original
            });
        }
        if (eg_intr_dprsr_md.mirror_type == EG_MIRROR_TYPE_COPY) {
            mirror.emit((MirrorId_t) eg_md.session, hdr.copy);
        }
        pkt.emit(hdr.ethernet);
        pkt.emit(hdr.ipv4);
        pkt.emit(hdr.ipv6);
        pkt.emit(hdr.tcp);
        pkt.emit(hdr.udp);
        pkt.emit(hdr.report);
        pkt.emit(hdr.shim);
        pkt.emit(hdr.int_member);
        pkt.emit(hdr.node);
        pkt.emit(hdr.interfaces);
        pkt.emit(hdr.latency);
        pkt.emit(hdr.queue);
        pkt.emit(hdr.ingress_time);
        pkt.emit(hdr.egress_time);
        pkt.emit(hdr.l2);
        pkt.emit(hdr.util);
        pkt.emit(hdr.ones2);
        pkt.emit(hdr.ones1);
        pkt.emit(hdr.complement);
        pkt.emit(hdr.drop_reason);
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
