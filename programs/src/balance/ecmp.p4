// ecmp: Spreads flows over equal paths by any scheme of hashing: plain, per stage, per port,
// recombining, coprime.
// Written by `sluice programs ecmp --p4` with scheme=coprime stage=2
// functions=crc32_lo,ccitt,bisync,crc32_hi,xor16,crc16_xor8 seed=0 ports=8 upstream=8 members=auto
// target=50 order=interleaved selection=resilient routes=1024 groups=512 member_entries=16384.

#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

const bit<16> ETHERTYPE_IPV4 = 0x0800;
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

// The first four bytes of a TCP or UDP header
header l4_h {
    bit<16> src_port; // Source port
    bit<16> dst_port; // Destination port
}

struct ig_headers_t {
    ethernet_h ethernet;
    ipv4_h ipv4;
    l4_h l4;
}

struct ig_metadata_t {
    bit<1> bad_checksum; // 1 if the IPv4 header checksum is wrong
    bit<1> from_north; // 1 if the packet arrived on a port to the north
    bit<16> group; // Group of ports that the route selects
    bit<16> flow_hash; // Flow hash after seed and rotation, if computed whole
    bit<8> hash_high; // High byte of a flow hash that is computed in halves
    bit<8> hash_low; // Low byte of a flow hash that is computed in halves
    bit<16> src_port; // TCP or UDP source port; 0 for fragments and other protocols
    bit<16> dst_port; // TCP or UDP destination port; 0 for fragments and other protocols
}

struct eg_headers_t {
    ethernet_h ethernet;
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
            ETHERTYPE_IPV4 : parse_ipv4;
            default : accept;
        }
    }

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
    // Flow hash, or part of it, after seed and rotation
    CRCPolynomial<bit<32>>(0x1edc6f41, false, false, false, 0x0, 0x0) flow_hash_up_polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, flow_hash_up_polynomial) flow_hash_up;

    // Flow hash, or part of it, after seed and rotation
    CRCPolynomial<bit<32>>(0x1edc6f41, false, false, false, 0x0, 0x0) flow_hash_down_polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, flow_hash_down_polynomial) flow_hash_down;

    action north() {
        ig_md.from_north = 1;
    }

    action south() {
    }

    // Ingress port to its side; packets from the north use the flow hash for the way down; without
    // an entry south
    table side {
        key = {
            ig_intr_md.ingress_port : exact;
        }
        actions = {
            north;
            south;
        }
        default_action = south();
        size = 64;
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

    action down() {
        ig_md.flow_hash = flow_hash_down.get({
            hdr.ipv4.protocol[0:0], hdr.ipv4.protocol[1:1], hdr.ipv4.protocol[2:2],
            hdr.ipv4.protocol[3:3], hdr.ipv4.protocol[4:4], hdr.ipv4.protocol[5:5],
            hdr.ipv4.protocol[6:6], hdr.ipv4.protocol[7:7], 8w0, ig_md.dst_port[0:0],
            ig_md.dst_port[1:1], ig_md.dst_port[2:2], ig_md.dst_port[3:3], ig_md.dst_port[4:4],
            ig_md.dst_port[5:5], ig_md.dst_port[6:6], ig_md.dst_port[7:7], ig_md.dst_port[8:8],
            ig_md.dst_port[9:9], ig_md.dst_port[10:10], ig_md.dst_port[11:11],
            ig_md.dst_port[12:12], ig_md.dst_port[13:13], ig_md.dst_port[14:14],
            ig_md.dst_port[15:15], ig_md.src_port[0:0], ig_md.src_port[1:1], ig_md.src_port[2:2],
            ig_md.src_port[3:3], ig_md.src_port[4:4], ig_md.src_port[5:5], ig_md.src_port[6:6],
            ig_md.src_port[7:7], ig_md.src_port[8:8], ig_md.src_port[9:9], ig_md.src_port[10:10],
            ig_md.src_port[11:11], ig_md.src_port[12:12], ig_md.src_port[13:13],
            ig_md.src_port[14:14], ig_md.src_port[15:15], 16w0, hdr.ipv4.dst[0:0],
            hdr.ipv4.dst[1:1], hdr.ipv4.dst[2:2], hdr.ipv4.dst[3:3], hdr.ipv4.dst[4:4],
            hdr.ipv4.dst[5:5], hdr.ipv4.dst[6:6], hdr.ipv4.dst[7:7], hdr.ipv4.dst[8:8],
            hdr.ipv4.dst[9:9], hdr.ipv4.dst[10:10], hdr.ipv4.dst[11:11], hdr.ipv4.dst[12:12],
            hdr.ipv4.dst[13:13], hdr.ipv4.dst[14:14], hdr.ipv4.dst[15:15], hdr.ipv4.dst[16:16],
            hdr.ipv4.dst[17:17], hdr.ipv4.dst[18:18], hdr.ipv4.dst[19:19], hdr.ipv4.dst[20:20],
            hdr.ipv4.dst[21:21], hdr.ipv4.dst[22:22], hdr.ipv4.dst[23:23], hdr.ipv4.dst[24:24],
            hdr.ipv4.dst[25:25], hdr.ipv4.dst[26:26], hdr.ipv4.dst[27:27], hdr.ipv4.dst[28:28],
            hdr.ipv4.dst[29:29], hdr.ipv4.dst[30:30], hdr.ipv4.dst[31:31], hdr.ipv4.src[0:0],
            hdr.ipv4.src[1:1], hdr.ipv4.src[2:2], hdr.ipv4.src[3:3], hdr.ipv4.src[4:4],
            hdr.ipv4.src[5:5], hdr.ipv4.src[6:6], hdr.ipv4.src[7:7], hdr.ipv4.src[8:8],
            hdr.ipv4.src[9:9], hdr.ipv4.src[10:10], hdr.ipv4.src[11:11], hdr.ipv4.src[12:12],
            hdr.ipv4.src[13:13], hdr.ipv4.src[14:14], hdr.ipv4.src[15:15], hdr.ipv4.src[16:16],
            hdr.ipv4.src[17:17], hdr.ipv4.src[18:18], hdr.ipv4.src[19:19], hdr.ipv4.src[20:20],
            hdr.ipv4.src[21:21], hdr.ipv4.src[22:22], hdr.ipv4.src[23:23], hdr.ipv4.src[24:24],
            hdr.ipv4.src[25:25], hdr.ipv4.src[26:26], hdr.ipv4.src[27:27], hdr.ipv4.src[28:28],
            hdr.ipv4.src[29:29], hdr.ipv4.src[30:30], hdr.ipv4.src[31:31], 32w0
        });
    }

    action up() {
        ig_md.flow_hash = flow_hash_up.get({
            hdr.ipv4.protocol[0:0], hdr.ipv4.protocol[1:1], hdr.ipv4.protocol[2:2],
            hdr.ipv4.protocol[3:3], hdr.ipv4.protocol[4:4], hdr.ipv4.protocol[5:5],
            hdr.ipv4.protocol[6:6], hdr.ipv4.protocol[7:7], 8w0, ig_md.dst_port[0:0],
            ig_md.dst_port[1:1], ig_md.dst_port[2:2], ig_md.dst_port[3:3], ig_md.dst_port[4:4],
            ig_md.dst_port[5:5], ig_md.dst_port[6:6], ig_md.dst_port[7:7], ig_md.dst_port[8:8],
            ig_md.dst_port[9:9], ig_md.dst_port[10:10], ig_md.dst_port[11:11],
            ig_md.dst_port[12:12], ig_md.dst_port[13:13], ig_md.dst_port[14:14],
            ig_md.dst_port[15:15], ig_md.src_port[0:0], ig_md.src_port[1:1], ig_md.src_port[2:2],
            ig_md.src_port[3:3], ig_md.src_port[4:4], ig_md.src_port[5:5], ig_md.src_port[6:6],
            ig_md.src_port[7:7], ig_md.src_port[8:8], ig_md.src_port[9:9], ig_md.src_port[10:10],
            ig_md.src_port[11:11], ig_md.src_port[12:12], ig_md.src_port[13:13],
            ig_md.src_port[14:14], ig_md.src_port[15:15], 16w0, hdr.ipv4.dst[0:0],
            hdr.ipv4.dst[1:1], hdr.ipv4.dst[2:2], hdr.ipv4.dst[3:3], hdr.ipv4.dst[4:4],
            hdr.ipv4.dst[5:5], hdr.ipv4.dst[6:6], hdr.ipv4.dst[7:7], hdr.ipv4.dst[8:8],
            hdr.ipv4.dst[9:9], hdr.ipv4.dst[10:10], hdr.ipv4.dst[11:11], hdr.ipv4.dst[12:12],
            hdr.ipv4.dst[13:13], hdr.ipv4.dst[14:14], hdr.ipv4.dst[15:15], hdr.ipv4.dst[16:16],
            hdr.ipv4.dst[17:17], hdr.ipv4.dst[18:18], hdr.ipv4.dst[19:19], hdr.ipv4.dst[20:20],
            hdr.ipv4.dst[21:21], hdr.ipv4.dst[22:22], hdr.ipv4.dst[23:23], hdr.ipv4.dst[24:24],
            hdr.ipv4.dst[25:25], hdr.ipv4.dst[26:26], hdr.ipv4.dst[27:27], hdr.ipv4.dst[28:28],
            hdr.ipv4.dst[29:29], hdr.ipv4.dst[30:30], hdr.ipv4.dst[31:31], hdr.ipv4.src[0:0],
            hdr.ipv4.src[1:1], hdr.ipv4.src[2:2], hdr.ipv4.src[3:3], hdr.ipv4.src[4:4],
            hdr.ipv4.src[5:5], hdr.ipv4.src[6:6], hdr.ipv4.src[7:7], hdr.ipv4.src[8:8],
            hdr.ipv4.src[9:9], hdr.ipv4.src[10:10], hdr.ipv4.src[11:11], hdr.ipv4.src[12:12],
            hdr.ipv4.src[13:13], hdr.ipv4.src[14:14], hdr.ipv4.src[15:15], hdr.ipv4.src[16:16],
            hdr.ipv4.src[17:17], hdr.ipv4.src[18:18], hdr.ipv4.src[19:19], hdr.ipv4.src[20:20],
            hdr.ipv4.src[21:21], hdr.ipv4.src[22:22], hdr.ipv4.src[23:23], hdr.ipv4.src[24:24],
            hdr.ipv4.src[25:25], hdr.ipv4.src[26:26], hdr.ipv4.src[27:27], hdr.ipv4.src[28:28],
            hdr.ipv4.src[29:29], hdr.ipv4.src[30:30], hdr.ipv4.src[31:31], 32w0
        });
    }

    @sluice_drop("ipv4_checksum")
    action refuse_checksum() {
        // reason: The IPv4 header checksum is wrong, or the header has options
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    @sluice_drop("ttl_expired")
    action refuse_ttl() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The TTL is 0 or 1
    }

    action set_group(bit<16> group) {
        ig_md.group = group;
    }

    @sluice_drop("no_route")
    action unreachable() {
        // reason: No matching route, or a route whose action is `unreachable`
        ig_intr_dprsr_md.drop_ctl = 1;
    }

    // IPv4 longest prefix to group of ports
    table ipv4_route {
        key = {
            hdr.ipv4.dst : lpm;
        }
        actions = {
            set_group;
            unreachable;
        }
        default_action = unreachable();
        size = 1024;
    }

    // Egress ports by entry of the member table; a port has as many entries as replicas
    ActionProfile(16384) members_profile;
    Hash<bit<51>>(HashAlgorithm_t.IDENTITY) member_hash;
    ActionSelector(members_profile, member_hash, SelectorMode_t.RESILIENT, 120, 512) members;

    action to_port(PortId_t port) {
        ig_intr_tm_md.ucast_egress_port = port;
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
    }

    // Group to the egress port that the flow hash picks
    table group {
        key = {
            ig_md.group : exact;
            ig_md.flow_hash : selector;
        }
        actions = {
            to_port;
        }
        size = 512;
        implementation = members;
    }

    @sluice_drop("not_ipv4")
    action refuse_other() {
        ig_intr_dprsr_md.drop_ctl = 1; // reason: The packet is not IPv4
    }

    apply {
        side.apply();
        if (hdr.ipv4.isValid()) {
            class.apply();
            if (ig_md.from_north == 1) {
                down();
            } else {
                up();
            }
            if (ig_md.bad_checksum == 1) {
                refuse_checksum();
            } else if (hdr.ipv4.ttl <= 1) {
                refuse_ttl();
            } else {
                switch (ipv4_route.apply().action_run) {
                    set_group : {
                        group.apply();
                    }
                }
            }
        } else {
            refuse_other();
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

Pipeline(
    IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()
) pipe;

Switch(pipe) main;
