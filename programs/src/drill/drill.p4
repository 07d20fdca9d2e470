// drill: Sends every packet over the shortest queue of some random uplinks and the last shortest
// one.
// Written by `sluice programs drill --p4` with samples=2 remember=true banks=2
// weights=1,1,1,1,1,1,1,1 routes=4096 groups=256.

#include <core.p4>
#include <t2na.p4>

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
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    l4_h l4;
}

struct ig_s_t {
    bit<16> draw; // Random number that picks the sample among the group's members that are up
    bit<16> member; // Number of the sampled member within the group
    // Sampled member: its group's generation in bits 31 to 16, its number in bits 15 to 0
    bit<32> candidate;
    bit<9> port; // dev_port of the sampled uplink
    bit<32> depth; // Cells in queue 0 of the sampled uplink
    // Cells by which that is below the shortest queue of the earlier samples; 0 = not shorter
    bit<32> less;
}

struct ig_best_t {
    // Cells in the shortest queue; in the ghost control, the new depth of the queue that changed
    bit<32> depth;
    bit<8> bank; // Bank that holds the group's memory, from 1; 0 = none
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
    ig_s_t s;
    ig_best_t best;
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

// By dev_port: cells in queue 0
Register<bit<32>, bit<16>>(512) depth;

// By dev_port: cells in queue 0
Register<bit<32>, bit<16>>(512) depth_1;

// By group: lo = cells in the remembered uplink's queue; hi = generation and number of that uplink
Register<pair_32_t, bit<16>>(256) memory;

// By group: lo = cells in the remembered uplink's queue; hi = generation and number of that uplink
Register<pair_32_t, bit<16>>(256) memory_1;

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
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr,
                inout ig_metadata_t ig_md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_intr_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_intr_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_intr_tm_md) {
    RegisterAction<bit<32>, bit<16>, bit<32>>(depth) read = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(depth_1) read_1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<16>>(memory) compare = {
        void apply(inout pair_32_t value, out bit<16> rv) {
            if (ig_md.best.depth < value.lo ||
                    (int<32>) value.hi - (int<32>) ig_md.candidate < -1024) {
                value.lo = ig_md.best.depth;
                value.hi = ig_md.candidate;
            }
            rv = (bit<16>) value.hi;
        }
    };

    RegisterAction<pair_32_t, bit<16>, bit<16>>(memory_1) compare_1 = {
        void apply(inout pair_32_t value, out bit<16> rv) {
            if (ig_md.best.depth < value.lo ||
                    (int<32>) value.hi - (int<32>) ig_md.candidate < -1024) {
                value.lo = ig_md.best.depth;
                value.hi = ig_md.candidate;
            }
            rv = (bit<16>) value.hi;
        }
    };
    Random<bit<16>>() coin;
    Random<bit<16>>() sample_coin;

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

    // Uplinks of all groups, repeated for one further sample
    ActionProfile(2048) sample_uplinks_profile;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) sample_draw;
    ActionSelector(
        sample_uplinks_profile, sample_draw, SelectorMode_t.FAIR, 120, 256
    ) sample_uplinks;

    action sample_member(bit<16> member, bit<9> port) {
        ig_md.s.member = member;
        ig_md.s.candidate = ig_md.generation | ((bit<32>) member);
        ig_md.s.port = port;
    }

    // Uplink group to a further sampled uplink
    table sample {
        key = {
            ig_md.group : exact;
            ig_md.s.draw : selector;
        }
        actions = {
            sample_member;
        }
        size = 256;
        implementation = sample_uplinks;
    }

    action take_shorter() {
        ig_md.member = ig_md.s.member;
        ig_md.candidate = ig_md.s.candidate;
        ig_intr_tm_md.ucast_egress_port = ig_md.s.port;
        ig_md.best.depth = ig_md.s.depth;
    }

    action set_bank(bit<8> number) {
        ig_md.best.bank = number;
    }

    // Uplink group to the bank that holds its memory, from 1
    table bank {
        key = {
            ig_md.group : exact;
        }
        actions = {
            set_bank;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 256;
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
            if (ig_md.bad_checksum == 1) {
                drop_ipv4_checksum();
            } else if (hdr.ipv4.ttl <= 1) {
                drop_ttl_expired();
            } else {
                ipv4_route.apply();
            }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
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
            generation.apply();
        }
        if (ig_md.group != 0) {
            pick.apply();
        }
        if (ig_md.group != 0) {
            ig_md.s.draw = sample_coin.get();
            sample.apply();
        }
        if (ig_md.group != 0) {
            ig_md.best.depth = read.execute((bit<16>) ig_intr_tm_md.ucast_egress_port);
            ig_md.s.depth = read_1.execute((bit<16>) ig_md.s.port);
        }
        if (ig_md.group != 0) {
            ig_md.s.less = ig_md.best.depth |-| ig_md.s.depth;
            if (ig_md.s.less != 0) {
                take_shorter();
            }
        }
        if (ig_md.group != 0) {
            bank.apply();
        }
        if (ig_md.best.bank == 1) {
            ig_md.member = compare.execute(ig_md.group);
        }
        if (ig_md.best.bank == 2) {
            ig_md.member = compare_1.execute(ig_md.group);
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

control Ghost(in ghost_intrinsic_metadata_t g_intr_md) {
    bit<16> g_port; // dev_port of the queue that changed
    // Cells in the shortest queue; in the ghost control, the new depth of the queue that changed
    @sluice_field("ig_md.best.depth") bit<32> best_depth;
    bit<16> t_group; // Group that has the uplink of the queue
    // Member for a new flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0
    @sluice_field("ig_md.candidate") bit<32> m_candidate;
    bit<16> t_1_group; // Group that has the uplink of the queue

    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) depth_widened;

    RegisterAction<bit<32>, bit<16>, bit<32>>(depth) write = {
        void apply(inout bit<32> value) {
            value = (bit<32>) g_intr_md.qlength;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(depth_1) write_1 = {
        void apply(inout bit<32> value) {
            value = (bit<32>) g_intr_md.qlength;
        }
    };

    // Stores the depth if the uplink is the one that the group remembers
    RegisterAction<pair_32_t, bit<16>, bit<32>>(memory) refresh = {
        void apply(inout pair_32_t value) {
            if ((value.hi & 0xffff) == m_candidate) {
                value.lo = best_depth;
            }
        }
    };

    // Stores the depth if the uplink is the one that the group remembers
    RegisterAction<pair_32_t, bit<16>, bit<32>>(memory_1) refresh_1 = {
        void apply(inout pair_32_t value) {
            if ((value.hi & 0xffff) == m_candidate) {
                value.lo = best_depth;
            }
        }
    };

    action watch(bit<16> port) {
        g_port = port;
    }

    // Pipe and queue, for queue 0 of every uplink, to the uplink's dev_port
    table queue {
        key = {
            g_intr_md.pipe_id : exact;
            g_intr_md.qid : exact;
        }
        actions = {
            watch;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action widen() {
        best_depth = depth_widened.get({ 14w0, g_intr_md.qlength });
    }

    action concern(bit<16> group, bit<32> member) {
        t_group = group;
        m_candidate = member;
    }

    // Pipe and queue, for queue 0 of an uplink, to the group of this bank that has the uplink, and
    // its number
    table memory_queue {
        key = {
            g_intr_md.pipe_id : exact;
            g_intr_md.qid : exact;
        }
        actions = {
            concern;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    action concern_1(bit<16> group, bit<32> member) {
        t_1_group = group;
        m_candidate = member;
    }

    // Pipe and queue, for queue 0 of an uplink, to the group of this bank that has the uplink, and
    // its number
    table memory_queue_1 {
        key = {
            g_intr_md.pipe_id : exact;
            g_intr_md.qid : exact;
        }
        actions = {
            concern_1;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    apply {
        if (queue.apply().hit) {
            write.execute(g_port);
            write_1.execute(g_port);
        }
        widen();
        if (memory_queue.apply().hit) {
            refresh.execute(t_group);
        }
        if (memory_queue_1.apply().hit) {
            refresh_1.execute(t_1_group);
        }
    }
}

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser(),
    Ghost()
) pipe;

Switch(pipe) main;
