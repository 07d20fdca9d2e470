// hula: Sends every flowlet to the next hop of the least used path, as probes report it (ToR and
// spine).
// Written by `sluice programs hula --p4` with role=tor timeout=100us flowlets=32768 tick=256ns
// period=200us keepalive=600us refresh=true tau=400us tors=256 hosts=0-3 uplinks=4-7 routes=4096.

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

// Probe header, after Ethernet
header probe_h {
    bit<16> tor; // Number of the ToR that sent the probe
    bit<16> reserved; // Reserved; 0
    // Utilisation of the most used link on the path to the ToR, in 128ths of the link's rate
    bit<32> util;
}

// Resubmit header of a probe
header found_h {
    // Utilisation, in the opposite direction, of the link on which the probe arrived, in 128ths of
    // its rate
    bit<32> level;
    // 0 if the probe arrived from the best hop, else the difference of the two member numbers
    bit<32> other;
}

struct ig_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    ipv6_h ipv6;
    l4_h l4;
    probe_h probe;
    found_h found;
}

struct ig_t_t {
    bit<32> now; // Time at which the packet entered ingress, in units of the parameter `tick`
    bit<32> hop; // Member number of the port on which the probe arrived
    bit<16> onward; // Multicast group to which the probe is forwarded; 0 = the probe ends here
    bit<1> seen; // 1 for a probe from a neighbouring switch
    bit<1> news; // 1 if the probe changed the best path's utilisation or time
    bit<32> best; // Member number of the best hop; 65535 = none so far
    bit<1> silent; // 1 if the best path to the ToR is older than the keepalive
    bit<32> bytes; // Bytes that the packet takes on its link
}

struct ig_t_1_t {
    bit<32> now; // Time at which the packet entered ingress, in units of the parameter `tick`
    // 1 if the gap since the last packet ended the flowlet, so that the packet begins a new one
    bit<1> fresh;
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
            0x88b6 : parse_probe;
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

    state parse_probe {
        pkt.extract(hdr.probe);
        transition accept;
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

    // By ToR: member number of the best hop; 65535 = none so far
    Register<bit<32>, bit<16>>(256, 0xffff) best_hop;

    RegisterAction<bit<32>, bit<16>, bit<32>>(best_hop) read_hop = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };

    RegisterAction<bit<32>, bit<16>, bit<32>>(best_hop) set_hop = {
        void apply(inout bit<32> value) {
            value = ig_md.t.hop;
        }
    };

    // By ToR: lo = utilisation of the best path in 128ths, hi = time of the probe that reported it,
    // in units of `tick`
    Register<pair_32_t, bit<16>>(256) best_path;

    RegisterAction<pair_32_t, bit<16>, bit<1>>(best_path) look = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if ((int<32>) ig_md.t.now - (int<32>) value.hi > 0x927) {
                rv = 1;
            }
        }
    };

    // Stores utilisation and time of a probe from the best hop
    RegisterAction<pair_32_t, bit<16>, bit<32>>(best_path) renew = {
        void apply(inout pair_32_t value) {
            value.lo = hdr.probe.util;
            value.hi = ig_md.t.now;
        }
    };

    // If the probe's path is less used, or the best path is older than the keepalive: stores the
    // probe's and returns 1
    RegisterAction<pair_32_t, bit<16>, bit<1>>(best_path) challenge = {
        void apply(inout pair_32_t value, out bit<1> rv) {
            if (hdr.probe.util < value.lo || (int<32>) ig_md.t.now - (int<32>) value.hi > 0x927) {
                value.lo = hdr.probe.util;
                value.hi = ig_md.t.now;
                rv = 1;
            }
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

    // Utilisation of each link in 128ths of its rate, by dev_port: bytes sent, decayed with time
    // constant tau
    @sluice_initial("rate", "335.54432us", "335.54432us", 17)
    Lpf<bit<32>, PortId_t>(512) dre;
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

    action read_clock() {
        ig_md.t.now = ig_intr_prsr_md.global_tstamp[39:8];
    }

    action neighbour(bit<32> member, bit<16> group) {
        ig_md.made = 1;
        ig_md.t.seen = 1;
        ig_md.t.hop = member;
        ig_md.t.onward = group;
    }

    // Ingress port from another switch to its member number, and to the multicast group for its
    // probes
    table probe_from {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            neighbour;
            @defaultonly NoAction;
        }
        default_action = NoAction();
        size = 512;
    }

    // Raises the path's utilisation to that of the link on which the probe arrived
    action raise() {
        hdr.probe.util = max(hdr.probe.util, hdr.found.level);
    }

    action onward() {
        ig_intr_tm_md.mcast_grp_a = ig_md.t.onward;
    }

    @sluice_consume("ended")
    action drop_ended() {
        // reason: A probe that did not change the best path, or had no next switch
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_drop("stranger")
    action drop_stranger() {
        ig_md.made = 1;
        // reason: A probe arrived on a port that does not lead to a switch
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

    // Turns a generated packet into a probe of this ToR
    action announce(bit<16> tor, MulticastGroupId_t group) {
        hdr.ethernet.ether_type = 0x88b6;
        hdr.probe.setValid();
        hdr.probe.tor = tor;
        hdr.probe.reserved = 0;
        hdr.probe.util = 0;
        ig_intr_tm_md.mcast_grp_a = group;
    }

    // Number of this ToR, and multicast group of its probes; the control plane sets them (0 on a
    // spine)
    table own_tor {
        actions = {
            announce;
        }
        default_action = announce(0, 0);
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
        ig_md.candidate = ig_md.generation | ig_md.t.best;
    }

    // Takes 32 bits of the ingress timestamp, in units of the parameter `tick`
    action read_clock_1() {
        ig_md.t_1.now = ig_intr_prsr_md.global_tstamp[39:8];
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

    action ipv4_bytes() {
        ig_md.t.bytes = ipv4_length.get({ 16w0, hdr.ipv4.total_len });
    }

    // Adds Ethernet, FCS, preamble and inter-frame gap
    action ipv4_around() {
        ig_md.t.bytes = ig_md.t.bytes + 38;
    }

    action ipv6_bytes() {
        ig_md.t.bytes = ipv6_length.get({ 16w0, hdr.ipv6.payload_len });
    }

    // Adds the same bytes as `ipv4_around`, and the IPv6 header
    action ipv6_around() {
        ig_md.t.bytes = ig_md.t.bytes + 78;
    }

    action again() {
        ig_intr_dprsr_md.resubmit_type = RESUBMIT_TYPE_FOUND;
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
        if (ig_md.group != 0) {
            ig_md.t.silent = look.execute(ig_md.group);
            ig_md.t.best = read_hop.execute(ig_md.group);
        } else if (hdr.probe.isValid()) {
            if (probe_from.apply().hit) {
                if (hdr.found.isValid()) {
                    raise();
                    if (hdr.found.other == 0) {
                        renew.execute(hdr.probe.tor);
                        ig_md.t.news = 1;
                    } else {
                        ig_md.t.news = challenge.execute(hdr.probe.tor);
                        if (ig_md.t.news == 1) {
                            set_hop.execute(hdr.probe.tor);
                        }
                    }
                    if (ig_md.t.news == 1 && ig_md.t.onward != 0) {
                        onward();
                    } else {
                        drop_ended();
                    }
                } else {
                    ig_md.t.best = read_hop.execute(hdr.probe.tor);
                    hdr.found.other = ig_md.t.best - ig_md.t.hop;
                }
            } else {
                drop_stranger();
            }
        } else if (hdr.ethernet.ether_type == 0x88b5) {
            if (generator.apply().hit) {
                own_tor.apply();
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
        if (ig_md.group != 0 && ig_md.t.silent == 0) {
            prefer();
        }
        if (ig_md.group != 0) {
            read_clock_1();
        }
        if (ig_md.group != 0) {
            ig_md.member = touch.execute(ig_md.flow[14:0]);
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
        if (ig_md.routed == 1) {
            if (hdr.ipv4.isValid()) {
                ipv4_bytes();
                ipv4_around();
            } else if (hdr.ipv6.isValid()) {
                ipv6_bytes();
                ipv6_around();
            }
            hdr.found.level = dre.execute(ig_md.t.bytes, ig_intr_tm_md.ucast_egress_port);
        } else if (ig_md.t.seen == 1 && !hdr.found.isValid()) {
            hdr.found.level = dre.execute(ig_md.t.bytes, ig_intr_md.ingress_port);
            again();
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
        pkt.emit(hdr.probe);
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
