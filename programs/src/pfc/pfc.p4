/* A sketch of pfc for T2NA, written by hand after the builder code beside this file, with obey=true, storm_drop=true,
 * probe=false.
 *
 * Order and names are those of the builder code. With obey=false the registers and tables of "obey" are not there and the
 * rest is TNA. Times, thresholds and table sizes are the defaults of `--set`.
 */
#include <core.p4>
#include <t2na.p4>

#define ROUTES  1024
#define SLOTS   1024
#define SENDERS 4096
#define QUANTA  65535
const bit<32> REFRESH     = 40000;             /* ns */
const bit<32> DETECTION   = 195312;            /* ticks of 1024 ns */
const bit<32> RESTORATION = 195312;
const bit<32> LOST        = 16384;             /* ns */
const bit<9>  LAP_PORT    = 6;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<16> MAC_CONTROL    = 0x8808;
const bit<16> PFC            = 0x0101;

const bit<8> DATA = 0;
const bit<8> ASK = 1;
const bit<8> TIMER = 2;
const bit<8> FRAME = 3;
const bit<8> PAUSED = 0;
const bit<8> STORMED = 1;
const bit<8> OVER = 2;

/* ---------------------------------------------------------------- headers */

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header vlan_h { bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header ipv6_front_h { bit<4> version; bit<6> dscp; bit<2> ecn; bit<20> flow_label; }
header tag_h { bit<8> kind; bit<8> state; bit<16> slot; bit<16> port; bit<32> word; }
header control_h {
    bit<16> opcode; bit<8> reserved; bit<8> enabled;
    bit<16> time0; bit<16> time1; bit<16> time2; bit<16> time3;
    bit<16> time4; bit<16> time5; bit<16> time6; bit<16> time7;
}
header padding_h { bit<208> zero; }

struct headers_t { tag_h tag; ethernet_h ethernet; vlan_h vlan; ipv4_h ipv4; ipv6_front_h ipv6; control_h mac_control; }
struct meta_t {
    bit<16> port; bit<8> class; bit<8> rest; bit<16> quanta; bit<32> time; bit<32> scaled; bit<32> more;
    bit<32> base; bit<32> quarter; bit<32> part; bit<32> now; bit<32> tick; bit<32> until;
    bit<16> slot; bit<32> word; bit<9> pipe; MirrorId_t session;
    bit<8> stormed; bit<1> arm; bit<1> ended; bit<1> long; bit<1> quiet; tag_h timer;
}

/* ---------------------------------------------------------------- ingress */

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig.ingress_port) { LAP_PORT &&& 0x7f: parse_tag; default: parse_ethernet; }
    }
    state parse_tag {
        pkt.extract(hdr.tag);
        transition select(hdr.tag.kind) { FRAME: parse_ethernet; default: accept; }
    }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: parse_vlan; ETHERTYPE_IPV4: parse_ipv4; ETHERTYPE_IPV6: parse_ipv6;
            MAC_CONTROL: parse_control; default: accept;
        }
    }
    state parse_vlan {
        pkt.extract(hdr.vlan);
        transition select(hdr.vlan.ether_type) {
            ETHERTYPE_IPV4: parse_ipv4; ETHERTYPE_IPV6: parse_ipv6; default: accept;
        }
    }
    state parse_ipv4 { pkt.extract(hdr.ipv4); transition accept; }
    state parse_ipv6 { pkt.extract(hdr.ipv6); transition accept; }
    state parse_control { pkt.extract(hdr.mac_control); transition accept; }
}

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
    /* Forwarding: as in ecn-mark. */
    action refuse() { dprsr.drop_ctl = 1; }
    action to_port(PortId_t port) { tm.ucast_egress_port = port; }
    table ipv4_route {
        key = { hdr.ipv4.dst: lpm; }
        actions = { to_port; refuse; }
        default_action = refuse();
        size = ROUTES;
    }
    action elsewhere_to(PortId_t port) { tm.ucast_egress_port = port; }
    table elsewhere { actions = { elsewhere_to; } default_action = elsewhere_to(0x1ff); }
    action set_class(QueueId_t queue, bit<3> traffic_class) { tm.qid = queue; tm.ingress_cos = traffic_class; }
    table ipv4_class {
        key = { hdr.ipv4.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(1, 1);
        size = 64;
    }
    table ipv6_class {
        key = { hdr.ipv6.dscp: exact; }
        actions = { set_class; }
        default_action = set_class(1, 1);
        size = 64;
    }
    action ignore() { dprsr.drop_ctl = 1; }
    action announce() { hdr.tag.setValid(); hdr.tag.kind = DATA; hdr.tag.port = (bit<16>)ig.ingress_port; }

    Register<bit<8>, bit<16>>(SLOTS) stormed;
    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) is_stormed = {
        void apply(inout bit<8> value, out bit<8> rv) { rv = value; }
    };
    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) set_stormed_in = { void apply(inout bit<8> value) { value = 1; } };
    RegisterAction<bit<8>, bit<16>, bit<8>>(stormed) clear_stormed_in = { void apply(inout bit<8> value) { value = 0; } };

    Register<bit<32>, bit<16>>(SLOTS) paused_until;
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) pause_until = {
        void apply(inout bit<32> value, out bit<1> rv) {
            rv = 0;
            if (value == 0 || (int<32>)(m.now - value) > (int<32>)LOST) { rv = 1; }
            value = m.until;
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) end_pause_in = {
        void apply(inout bit<32> value) { if (value != 0) { value = m.now; } }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) check_pause = {
        void apply(inout bit<32> value, out bit<1> rv) {
            rv = 0;
            if (value == 0 || (int<32>)(m.now - value) >= 0) { value = 0; rv = 1; }
        }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_until) forget_pause_in = {
        void apply(inout bit<32> value) { value = 0; }
    };

    Register<bit<32>, bit<16>>(SLOTS) paused_since;
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_since) begin_in = {
        void apply(inout bit<32> value) { if (value == 0) { value = m.tick; } }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_since) forget_in = {
        void apply(inout bit<32> value) { value = 0; }
    };
    RegisterAction<bit<32>, bit<16>, bit<1>>(paused_since) check_age = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>)(m.tick - value) > (int<32>)DETECTION) { rv = 1; } else { rv = 0; }
        }
    };

    Register<bit<32>, bit<16>>(SLOTS) heard;
    RegisterAction<bit<32>, bit<16>, bit<1>>(heard) hear_in = { void apply(inout bit<32> value) { value = m.tick; } };
    RegisterAction<bit<32>, bit<16>, bit<1>>(heard) check_quiet = {
        void apply(inout bit<32> value, out bit<1> rv) {
            if ((int<32>)(m.tick - value) > (int<32>)RESTORATION) { rv = 1; } else { rv = 0; }
        }
    };

    Counter<bit<32>, bit<16>>(SLOTS, CounterType_t.PACKETS) pauses;
    Counter<bit<32>, bit<16>>(SLOTS, CounterType_t.PACKETS) expiries;
    Counter<bit<32>, bit<16>>(SLOTS, CounterType_t.PACKETS) storms;
    action pause() { dprsr.adv_flow_ctl = m.word | 1; pauses.count(m.slot); }
    action resume() { dprsr.adv_flow_ctl = m.word; }
    action expired() { expiries.count(m.slot); }
    action arm() {
        m.timer.kind = TIMER; m.timer.state = PAUSED; m.timer.slot = m.slot; m.timer.port = m.port;
        m.timer.word = m.word; dprsr.mirror_type = 1;
    }
    action again() {
        hdr.tag.setValid(); hdr.tag.kind = FRAME; hdr.tag.port = m.port;
        hdr.mac_control.enabled = m.rest; tm.ucast_egress_port = m.pipe | LAP_PORT;
    }
    action lap() { tm.ucast_egress_port = ig.ingress_port; }
    action done() { dprsr.drop_ctl = 1; }
    action set_stormed() { set_stormed_in.execute(m.slot); }
    action clear_stormed() { clear_stormed_in.execute(m.slot); }
    action end_pause() { end_pause_in.execute(m.slot); }
    action forget_pause() { forget_pause_in.execute(m.slot); }
    action begin() { begin_in.execute(m.slot); }
    action forget() { forget_in.execute(m.slot); }
    action hear() { hear_in.execute(m.slot); }

#define TAKE(N) action take_##N() { m.class = N; m.quanta = hdr.mac_control.time##N; \
                                   m.rest = hdr.mac_control.enabled & (0xff ^ (1 << N)); }
    TAKE(0) TAKE(1) TAKE(2) TAKE(3) TAKE(4) TAKE(5) TAKE(6) TAKE(7)
    table pick {
        key = { hdr.mac_control.enabled: ternary; }
        actions = { take_0; take_1; take_2; take_3; take_4; take_5; take_6; take_7; NoAction; }
        const entries = {
            0x01 &&& 0x01: take_0(); 0x02 &&& 0x03: take_1(); 0x04 &&& 0x07: take_2(); 0x08 &&& 0x0f: take_3();
            0x10 &&& 0x1f: take_4(); 0x20 &&& 0x3f: take_5(); 0x40 &&& 0x7f: take_6(); 0x80 &&& 0xff: take_7();
        }
    }
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) widen;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ticks;
#define AT(SPEED, SCALED, MORE) action at_##SPEED##g(bit<16> slot, bit<32> word, MirrorId_t session) { \
        m.session = session; m.slot = slot; m.word = word; m.scaled = SCALED; m.more = MORE; }
    AT(400, m.time, 0) AT(200, m.time << 1, 0) AT(100, m.time << 2, 0) AT(50, m.time << 3, 0)
    AT(25, m.time << 4, 0) AT(40, m.time << 3, m.time << 1) AT(10, m.time << 5, m.time << 3)
    table queue {
        key = { m.port: exact; m.class: exact; }
        actions = { at_400g; at_200g; at_100g; at_50g; at_25g; at_40g; at_10g; NoAction; }
        size = 1024;
    }

    apply {
        if (hdr.tag.isValid() || hdr.mac_control.isValid()) {
            m.now = prsr.global_tstamp[31:0];
            m.tick = ticks.get({ prsr.global_tstamp[41:10] });
        }
        if (hdr.tag.isValid() && hdr.tag.kind == TIMER) {
            m.slot = hdr.tag.slot;
            m.word = hdr.tag.word;
            lap();
            if (hdr.tag.state == PAUSED) {
                m.ended = check_pause.execute(m.slot);
                if (m.ended == 1) { forget(); resume(); expired(); done(); }
                else {
                    m.long = check_age.execute(m.slot);
                    if (m.long == 1) { hdr.tag.state = STORMED; }
                }
            } else if (hdr.tag.state == STORMED) {
                set_stormed();
                resume();
                m.quiet = check_quiet.execute(m.slot);
                if (m.quiet == 1) { hdr.tag.state = OVER; }
            } else {
                clear_stormed(); forget_pause(); forget(); storms.count(m.slot); done();
            }
        } else if (hdr.mac_control.isValid()) {
            if (hdr.mac_control.opcode == PFC) {
                m.pipe = ig.ingress_port & 0x180;
                m.port = (bit<16>)ig.ingress_port;
                if (hdr.tag.isValid()) { m.port = hdr.tag.port; }
                pick.apply();
                m.time = widen.get({ 16w0, m.quanta });
                if (queue.apply().hit) {
                    m.stormed = is_stormed.execute(m.slot);
                    m.base = m.scaled + m.more;
                    m.quarter = m.base >> 2;
                    m.part = m.base >> 5;
                    m.until = m.now + m.base;
                    m.quarter = m.quarter + m.part;
                    m.until = m.until + m.quarter;
                    if (m.quanta == 0) {
                        if (m.stormed == 0) { end_pause(); forget(); resume(); }
                    } else {
                        hear();
                        if (m.stormed == 0) {
                            m.arm = pause_until.execute(m.slot);
                            begin();
                            pause();
                            if (m.arm == 1) { arm(); }
                        }
                    }
                }
                if (m.rest != 0) { again(); } else { done(); }
            } else {
                ignore();
            }
        } else {
            announce();
            if (hdr.ipv4.isValid()) {
                ipv4_route.apply();
                ipv4_class.apply();
            } else {
                elsewhere.apply();
                if (hdr.ipv6.isValid()) { ipv6_class.apply(); }
            }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t m,
        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) { mirror.emit<tag_h>(m.session, m.timer); }
        pkt.emit(hdr);
    }
}

/* ---------------------------------------------------------------- egress */

struct eg_headers_t { tag_h tag; ethernet_h ethernet; control_h mac_control; padding_h padding; }
struct eg_meta_t {
    bit<32> depth; bit<32> xoff; bit<32> xon; bit<8> bit_; bit<8> class; bit<16> slot; bit<32> over; bit<32> under;
    bit<32> now; bit<1> ask; bit<1> lossless; bit<8> stormed; MirrorId_t session; tag_h wanted;
}

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); pkt.extract(hdr.tag); transition accept; }
}

control Egress(inout eg_headers_t hdr, inout eg_meta_t m, in egress_intrinsic_metadata_t queue,
        in egress_intrinsic_metadata_from_parser_t prsr,
        inout egress_intrinsic_metadata_for_deparser_t dprsr,
        inout egress_intrinsic_metadata_for_output_port_t oport) {
    action set_limits(bit<8> class, bit<8> bit_, bit<16> slot, bit<32> xoff, bit<32> xon) {
        m.class = class; m.bit_ = bit_; m.slot = slot; m.xoff = xoff; m.xon = xon;
    }
    table limits {
        key = { queue.egress_port: exact; queue.egress_qid: exact; }
        actions = { set_limits; NoAction; }
        size = 1024;
    }
    Register<bit<32>, bit<12>>(SENDERS) asked;
    RegisterAction<bit<32>, bit<12>, bit<1>>(asked) ask = {
        void apply(inout bit<32> value, out bit<1> rv) {
            rv = 0;
            if (value == 0 || (int<32>)(m.now - value) > (int<32>)REFRESH) { value = m.now; rv = 1; }
        }
    };
    RegisterAction<bit<32>, bit<12>, bit<1>>(asked) release = {
        void apply(inout bit<32> value, out bit<1> rv) { rv = 0; if (value != 0) { value = 0; rv = 1; } }
    };
    Hash<bit<12>>(HashAlgorithm_t.IDENTITY) sender;
    action to_session(MirrorId_t session) { m.session = session; dprsr.mirror_type = 1; }
    table upstream { key = { hdr.tag.port: exact; } actions = { to_session; NoAction; } size = 512; }
#define FILL(N) action fill_##N() { hdr.mac_control.time##N = hdr.tag.slot; }
    FILL(0) FILL(1) FILL(2) FILL(3) FILL(4) FILL(5) FILL(6) FILL(7)
    table fill {
        key = { hdr.tag.state: exact; }
        actions = { fill_0; fill_1; fill_2; fill_3; fill_4; fill_5; fill_6; fill_7; NoAction; }
        const entries = {
            0x01: fill_0(); 0x02: fill_1(); 0x04: fill_2(); 0x08: fill_3();
            0x10: fill_4(); 0x20: fill_5(); 0x40: fill_6(); 0x80: fill_7();
        }
    }
    action set_source(bit<48> source) { hdr.ethernet.src = source; }
    table own_mac { key = { queue.egress_port: exact; } actions = { set_source; NoAction; } size = 512; }
    action build() {
        hdr.ethernet.setValid(); hdr.mac_control.setValid(); hdr.padding.setValid();
        hdr.ethernet.dst = 0x0180c2000001; hdr.ethernet.ether_type = MAC_CONTROL;
        hdr.mac_control.opcode = PFC; hdr.mac_control.enabled = hdr.tag.state;
    }
    action refuse() { m.lossless = 0; dprsr.drop_ctl = 1; }
    Register<bit<8>, bit<16>>(SLOTS) dropping;
    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) is_dropping = {
        void apply(inout bit<8> value, out bit<8> rv) { rv = value; }
    };
    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) set_dropping = { void apply(inout bit<8> value) { value = 1; } };
    RegisterAction<bit<8>, bit<16>, bit<8>>(dropping) clear_dropping = { void apply(inout bit<8> value) { value = 0; } };

    apply {
        if (hdr.tag.kind == DATA) {
            m.depth = (bit<32>)queue.deq_qdepth;
            m.now = prsr.global_tstamp[31:0];
            if (limits.apply().hit) { m.lossless = 1; }
        }
        if (m.lossless == 1) {
            m.stormed = is_dropping.execute(m.slot);
            if (m.stormed == 1) { refuse(); }
        } else if (hdr.tag.kind == TIMER) {
            if (hdr.tag.state == STORMED) { set_dropping.execute(hdr.tag.slot); }
            else if (hdr.tag.state == OVER) { clear_dropping.execute(hdr.tag.slot); }
        }
        if (m.lossless == 1) {
            m.over = m.depth |-| m.xoff;
            m.under = m.xon |-| m.depth;
            if (m.over != 0) {
                m.ask = ask.execute(sender.get({ hdr.tag.port[8:0], m.class[2:0] }));
                m.wanted.slot = QUANTA;
            } else if (m.under != 0) {
                m.ask = release.execute(sender.get({ hdr.tag.port[8:0], m.class[2:0] }));
                m.wanted.slot = 0;
            }
            if (m.ask == 1) { m.wanted.kind = ASK; m.wanted.state = m.bit_; upstream.apply(); }
        }
        if (hdr.tag.kind == ASK) { build(); fill.apply(); own_mac.apply(); hdr.tag.setInvalid(); }
        else if (hdr.tag.kind == DATA) { hdr.tag.setInvalid(); }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_meta_t m,
        in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror() mirror;
    apply {
        if (dprsr.mirror_type == 1) { mirror.emit<tag_h>(m.session, m.wanted); }
        pkt.emit(hdr);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
