/* A sketch of hpcc-int for TNA (Tofino 2: include <t2na.p4>), written by hand after the builder code beside this file.
 *
 * Order and names are those of the builder code. Ingress is plain routing (route.rs); egress adds the record.
 */
#include <core.p4>
#include <tna.p4>

#define ROUTES     4096
#define GROUPS     64
#define UDP_PORT   4791
#define SWITCH_ID  1
#define MTU        9000
#define MAX_HOPS   5
#define RECORD     8

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header ipv6_h {
    bit<4> version; bit<6> dscp; bit<2> ecn; bit<20> flow_label;
    bit<16> payload_len; bit<8> next_header; bit<8> hop_limit; bit<128> src; bit<128> dst;
}
header l4_ports_h { bit<16> src_port; bit<16> dst_port; }
header udp_h { bit<16> src_port; bit<16> dst_port; bit<16> length; bit<16> checksum; }
/* nHop (4 bits) and pathID (12) */
header common_h { bit<16> word; }
/* B (4), TS (24), upper 4 bits of txBytes; the other 16, qLen */
header hop_h { bit<32> hi; bit<32> lo; }

/* ---------------------------------------------------------------- ingress */

struct ig_headers_t { ethernet_h ethernet; ipv4_h ipv4; ipv6_h ipv6; l4_ports_h l4; }
struct ig_meta_t {
    bit<1> bad_checksum; bit<16> refused; bit<16> src_port; bit<16> dst_port; bit<16> group; bit<16> flow;
}

parser IgParser(packet_in pkt, out ig_headers_t hdr, out ig_meta_t m, out ingress_intrinsic_metadata_t ig) {
    Checksum() ipv4_sum;
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        m = { 0, 0, 0, 0, 0, 0 };
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { 0x0800: peek_ipv4; 0x86dd: parse_ipv6; default: accept; }
    }
    state peek_ipv4 {
        transition select(pkt.lookahead<bit<8>>()) { 0x45: parse_ipv4; default: accept; }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        ipv4_sum.add(hdr.ipv4);
        m.bad_checksum = (bit<1>)ipv4_sum.verify();
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, 6): parse_l4;
            (0 &&& 1, 0, 17): parse_l4;
            default: accept;
        }
    }
    state parse_ipv6 {
        pkt.extract(hdr.ipv6);
        transition select(hdr.ipv6.next_header) { 6: parse_l4; 17: parse_l4; default: accept; }
    }
    state parse_l4 {
        pkt.extract(hdr.l4);
        m.src_port = hdr.l4.src_port;
        m.dst_port = hdr.l4.dst_port;
        transition accept;
    }
}

control Ingress(inout ig_headers_t hdr, inout ig_meta_t m, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr,
                inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    action ipv4_to(PortId_t port) { tm.ucast_egress_port = port; hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    action ipv4_spread(bit<16> group) { m.group = group; hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    action ipv6_to(PortId_t port) { tm.ucast_egress_port = port; hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1; }
    action ipv6_spread(bit<16> group) { m.group = group; hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1; }
    action unreachable() { m.refused = 1; dprsr.drop_ctl = 1; }
    action expire() { m.refused = 2; dprsr.drop_ctl = 1; }
    action refuse() { m.refused = 3; dprsr.drop_ctl = 1; }
    table ipv4_route {
        key = { hdr.ipv4.dst: lpm; }
        actions = { ipv4_to; ipv4_spread; unreachable; }
        default_action = unreachable();
        size = ROUTES;
    }
    table ipv6_route {
        key = { hdr.ipv6.dst: lpm; }
        actions = { ipv6_to; ipv6_spread; unreachable; }
        default_action = unreachable();
        size = ROUTES;
    }
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv4_flow;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) ipv6_flow;
    action hash_ipv4() {
        m.flow = ipv4_flow.get({ hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, m.src_port, m.dst_port });
    }
    action hash_ipv6() {
        m.flow = ipv6_flow.get({ hdr.ipv6.src, hdr.ipv6.dst, hdr.ipv6.next_header, m.src_port, m.dst_port });
    }
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) way_hash;
    ActionProfile(8 * GROUPS) ways;
    ActionSelector(ways, way_hash, SelectorMode_t.FAIR, 120, GROUPS) ways_selector;
    action take(PortId_t port) { tm.ucast_egress_port = port; }
    table group {
        key = { m.group: exact; m.flow: selector; }
        actions = { take; }
        implementation = ways_selector;
        size = GROUPS;
    }
    action elsewhere_to(PortId_t port) { tm.ucast_egress_port = port; }
    table elsewhere { actions = { elsewhere_to; } default_action = elsewhere_to(0x1ff); }
    action set_class(QueueId_t queue, bit<3> traffic_class) { tm.qid = queue; tm.ingress_cos = traffic_class; }
    table ipv4_class { key = { hdr.ipv4.dscp: exact; } actions = { set_class; } default_action = set_class(0, 0); size = 64; }
    table ipv6_class { key = { hdr.ipv6.dscp: exact; } actions = { set_class; } default_action = set_class(0, 0); size = 64; }
    apply {
        if (hdr.ipv4.isValid()) { hash_ipv4(); } else if (hdr.ipv6.isValid()) { hash_ipv6(); }
        if (hdr.ipv4.isValid()) {
            ipv4_class.apply();
            if (m.bad_checksum == 1) { refuse(); }
            else if (hdr.ipv4.ttl <= 1) { expire(); }
            else { ipv4_route.apply(); }
        } else if (hdr.ipv6.isValid()) {
            ipv6_class.apply();
            if (hdr.ipv6.hop_limit <= 1) { expire(); } else { ipv6_route.apply(); }
        } else {
            elsewhere.apply();
        }
        if (m.group != 0) { group.apply(); }
    }
}

#define IPV4_FIELDS { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_len, \
    hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, \
    hdr.ipv4.src, hdr.ipv4.dst }

control IgDeparser(packet_out pkt, inout ig_headers_t hdr, in ig_meta_t m,
                   in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() ipv4_sum;
    apply {
        if (hdr.ipv4.isValid()) { hdr.ipv4.checksum = ipv4_sum.update(IPV4_FIELDS); }
        pkt.emit(hdr);
    }
}

/* ---------------------------------------------------------------- egress */

struct eg_headers_t {
    ethernet_h ethernet; ipv4_h ipv4; udp_h udp; udp_h summed_udp; common_h common; hop_h[MAX_HOPS] hops; hop_h pushed;
}
struct eg_meta_t {
    bit<1> reply; bit<1> malformed; bit<8> event;
    bit<32> code; bit<16> switch_id; bit<16> excess;
    bit<32> length; bit<32> sent; bit<32> depth; bit<32> hi; bit<32> lo; bit<32> top;
    bit<16> word; bit<16> old_word; bit<16> old_checksum; bit<16> growth;
}

parser EgParser(packet_in pkt, out eg_headers_t hdr, out eg_meta_t m, out egress_intrinsic_metadata_t eg) {
    state start {
        pkt.extract(eg);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { 0x0800: peek_ipv4; default: accept; }
    }
    state peek_ipv4 {
        transition select(pkt.lookahead<bit<8>>()) { 0x45: parse_ipv4; default: accept; }
    }
    state parse_ipv4 {
        pkt.extract(hdr.ipv4);
        transition select(hdr.ipv4.flags, hdr.ipv4.frag_offset, hdr.ipv4.protocol) {
            (0 &&& 1, 0, 17): parse_udp;
            default: accept;
        }
    }
    state parse_udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dst_port) { UDP_PORT: parse_common; default: accept; }
    }
    state parse_common {
        pkt.extract(hdr.common);
        transition select(hdr.common.word[15:12]) { 0: opcode; 1 .. MAX_HOPS: hop_1; default: malformed; }
    }
    state hop_1 { pkt.extract(hdr.hops[0]); transition select(hdr.common.word[15:12]) { 1: opcode; default: hop_2; } }
    state hop_2 { pkt.extract(hdr.hops[1]); transition select(hdr.common.word[15:12]) { 2: opcode; default: hop_3; } }
    state hop_3 { pkt.extract(hdr.hops[2]); transition select(hdr.common.word[15:12]) { 3: opcode; default: hop_4; } }
    state hop_4 { pkt.extract(hdr.hops[3]); transition select(hdr.common.word[15:12]) { 4: opcode; default: hop_5; } }
    state hop_5 { pkt.extract(hdr.hops[4]); transition select(hdr.common.word[15:12]) { 5: opcode; default: accept; } }
    state malformed { m.malformed = 1; transition accept; }
    state opcode { transition select(pkt.lookahead<bit<8>>()) { 0x11: reply; 0x81: reply; default: accept; } }
    state reply { m.reply = 1; transition accept; }
}

control Egress(inout eg_headers_t hdr, inout eg_meta_t m, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr,
               inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t oport) {
    Counter<bit<64>, bit<8>>(8, CounterType_t.PACKETS) events;
    Register<bit<32>, PortId_t>(512) tx_bytes;
    RegisterAction<bit<32>, PortId_t, bit<32>>(tx_bytes) add_bytes = {
        void apply(inout bit<32> value, out bit<32> before) { before = value; value = value + m.length; }
    };
    action set_port(bit<32> code, bit<12> switch_id, bit<16> longest) {
        m.code = code; m.switch_id = (bit<16>) switch_id; m.excess = hdr.ipv4.total_len |-| longest;
    }
    table port {
        key = { eg.egress_port: exact; }
        actions = { set_port; }
        default_action = set_port(0xf0000000, SWITCH_ID, MTU - RECORD);
        size = 512;
    }
    action observe() {
        m.length = (bit<32>)eg.pkt_length;
        m.depth = (bit<32>)eg.deq_qdepth;
        m.hi = prsr.global_tstamp[31:0];
        if (hdr.common.isValid()) {
            m.old_checksum = ~hdr.udp.checksum;
            m.old_word = ~hdr.common.word;
            m.word = hdr.common.word + 0x1000;
        }
    }
    action place() {
        m.hi = m.hi << 4; m.lo = m.sent << 9; m.top = m.sent >> 23;
        m.depth = min(m.depth, 0xffff); m.word = m.word ^ m.switch_id;
    }
    action cut() { m.hi = m.hi & 0x0ffffff0; m.lo = m.lo & 0xffff0000; m.top = m.top & 0xf; }
    action join() { m.hi = m.hi | m.code; m.lo = m.lo | m.depth; }
    action join_top() { m.hi = m.hi | m.top; }
    action push() {
        hdr.pushed.setValid(); hdr.pushed.hi = m.hi; hdr.pushed.lo = m.lo;
        hdr.common.word = m.word; hdr.ipv4.total_len = hdr.ipv4.total_len + RECORD; m.event = 1;
    }
    action lengthen() { hdr.udp.length = hdr.udp.length + RECORD; }
    action lengthen_summed() {
        hdr.udp.setInvalid(); hdr.summed_udp.setValid();
        hdr.summed_udp.src_port = hdr.udp.src_port; hdr.summed_udp.dst_port = hdr.udp.dst_port;
        hdr.summed_udp.length = hdr.udp.length + RECORD; m.growth = 2 * RECORD;
    }
    apply {
        observe();
        if (hdr.common.isValid()) { port.apply(); }
        m.sent = add_bytes.execute(eg.egress_port);
        place(); cut(); join(); join_top();
        if (hdr.common.isValid()) {
            if (prsr.parser_err != 0 || m.malformed == 1) { m.event = 5; }
            else if (m.reply == 1) { m.event = 4; }
            else if (hdr.common.word[15:12] == MAX_HOPS) { m.event = 2; }
            else if (m.excess != 0) { m.event = 3; }
            else {
                push();
                if (hdr.udp.checksum == 0) { lengthen(); } else { lengthen_summed(); }
            }
            events.count(m.event);
        }
    }
}

control EgDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_meta_t m,
                   in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() ipv4_sum;
    Checksum() udp_sum;
    apply {
        if (hdr.ipv4.isValid()) { hdr.ipv4.checksum = ipv4_sum.update(IPV4_FIELDS); }
        if (hdr.summed_udp.isValid()) {
            hdr.summed_udp.checksum = udp_sum.update({ m.old_checksum, m.old_word, m.growth, hdr.common.word,
                                                       hdr.pushed.hi, hdr.pushed.lo }, zeros_as_ones = true);
        }
        pkt.emit(hdr);
    }
}

Pipeline(IgParser(), Ingress(), IgDeparser(), EgParser(), Egress(), EgDeparser()) pipe;
Switch(pipe) main;
