/* A sketch of ecn-mark for TNA (Tofino 2: include <t2na.p4>), written by hand after the builder code beside this file.
 *
 * Order and names are those of the builder code. Table sizes are the defaults of `--set`.
 */
#include <core.p4>
#include <tna.p4>

#define ROUTES 1024
#define ROWS   16

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_VLAN = 0x8100;
const bit<16> ETHERTYPE_IPV6 = 0x86dd;
const bit<2>  ECT_1 = 1;
const bit<2>  ECT_0 = 2;
const bit<2>  CE    = 3;
const bit<32> NEVER = 1 << 20;

/* ---------------------------------------------------------------- headers */

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header vlan_h { bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> ether_type; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<3> flags; bit<13> frag_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header ipv4_front_h {
    bit<4> version; bit<4> ihl; bit<6> dscp; bit<2> ecn; bit<16> total_len;
    bit<16> identification; bit<16> fragment; bit<8> ttl; bit<8> protocol; bit<16> checksum;
}
header ipv6_front_h { bit<4> version; bit<6> dscp; bit<2> ecn; bit<20> flow_label; }

struct no_meta_t { }
struct headers_t { ethernet_h ethernet; vlan_h vlan; ipv4_h ipv4; ipv6_front_h ipv6; }
struct eg_headers_t { ethernet_h ethernet; vlan_h vlan; ipv4_front_h ipv4; ipv6_front_h ipv6; }
struct meta_t {
    bit<8> row; bit<32> depth; bit<32> kmin; bit<32> kmax; bit<32> width; bit<32> last;
    bit<32> above; bit<32> beyond; bit<32> coin; bit<32> draw; bit<32> fits; bit<32> threshold; bit<32> over;
    bit<1> fell; bit<1> mark;
}

/* ---------------------------------------------------------------- ingress: forwarding */

parser IngressParser(packet_in pkt, out headers_t hdr, out no_meta_t m, out ingress_intrinsic_metadata_t ig) {
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); transition parse_ethernet; }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: parse_vlan; ETHERTYPE_IPV4: parse_ipv4; ETHERTYPE_IPV6: parse_ipv6; default: accept;
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
}

control Ingress(inout headers_t hdr, inout no_meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
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
    apply {
        if (hdr.ipv4.isValid()) {
            ipv4_route.apply();
            ipv4_class.apply();
        } else {
            elsewhere.apply();
            if (hdr.ipv6.isValid()) { ipv6_class.apply(); }
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in no_meta_t m,
        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}

/* ---------------------------------------------------------------- egress: marking probability, mark */

parser EgressParser(packet_in pkt, out eg_headers_t hdr, out meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition parse_ethernet; }
    state parse_ethernet {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) {
            ETHERTYPE_VLAN: parse_vlan; ETHERTYPE_IPV4: parse_ipv4; ETHERTYPE_IPV6: parse_ipv6; default: accept;
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
}

control Egress(inout eg_headers_t hdr, inout meta_t m, in egress_intrinsic_metadata_t queue,
        in egress_intrinsic_metadata_from_parser_t prsr,
        inout egress_intrinsic_metadata_for_deparser_t dprsr,
        inout egress_intrinsic_metadata_for_output_port_t oport) {
    action set_row(bit<8> row) { m.row = row; }
    table profile {
        key = { queue.egress_port: exact; queue.egress_qid: exact; }
        actions = { set_row; NoAction; }
        size = 4096;
    }

    Register<bit<32>, bit<8>>(ROWS, NEVER) kmin;
    RegisterAction<bit<32>, bit<8>, bit<32>>(kmin) get_kmin = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; }
    };
    Register<bit<32>, bit<8>>(ROWS, NEVER) kmax;
    RegisterAction<bit<32>, bit<8>, bit<32>>(kmax) get_kmax = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; }
    };
    Register<bit<32>, bit<8>>(ROWS) pmax;
    RegisterAction<bit<32>, bit<8>, bit<1>>(pmax) toss = {
        void apply(inout bit<32> value, out bit<1> rv) { if (m.coin < value) { rv = 1; } else { rv = 0; } }
    };
    Register<bit<32>, bit<8>>(ROWS) threshold;
    RegisterAction<bit<32>, bit<8>, bit<32>>(threshold) fresh = {
        void apply(inout bit<32> value, out bit<32> rv) { value = m.draw; rv = value; }
    };
    RegisterAction<bit<32>, bit<8>, bit<32>>(threshold) mirrored = {
        void apply(inout bit<32> value, out bit<32> rv) { value = m.last - value; rv = value; }
    };
    Random<bit<32>>() coins;
    Random<bit<32>>() draws;

    action cut(bit<32> mask) { m.draw = m.draw & mask; }
    table spread {
        key = { m.width: ternary; }
        actions = { cut; }
        default_action = cut(0);
        const entries = { /* one row per power of two up to 2^18: its highest bit to a mask of all bits up to it */
            0x00000001 &&& 0xffffffff: cut(0x00001);
            0x00000002 &&& 0xfffffffe: cut(0x00003);
            0x00000004 &&& 0xfffffffc: cut(0x00007);
            0x00000008 &&& 0xfffffff8: cut(0x0000f);
            0x00000010 &&& 0xfffffff0: cut(0x0001f);
            0x00000020 &&& 0xffffffe0: cut(0x0003f);
            0x00000040 &&& 0xffffffc0: cut(0x0007f);
            0x00000080 &&& 0xffffff80: cut(0x000ff);
            0x00000100 &&& 0xffffff00: cut(0x001ff);
            0x00000200 &&& 0xfffffe00: cut(0x003ff);
            0x00000400 &&& 0xfffffc00: cut(0x007ff);
            0x00000800 &&& 0xfffff800: cut(0x00fff);
            0x00001000 &&& 0xfffff000: cut(0x01fff);
            0x00002000 &&& 0xffffe000: cut(0x03fff);
            0x00004000 &&& 0xffffc000: cut(0x07fff);
            0x00008000 &&& 0xffff8000: cut(0x0ffff);
            0x00010000 &&& 0xffff0000: cut(0x1ffff);
            0x00020000 &&& 0xfffe0000: cut(0x3ffff);
            0x00040000 &&& 0xfffc0000: cut(0x7ffff);
        }
    }

    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) marked;
    action less_1() { hdr.ipv4.ecn = CE; hdr.ipv4.checksum = hdr.ipv4.checksum - 1; marked.count(queue.egress_port); }
    action less_2() { hdr.ipv4.ecn = CE; hdr.ipv4.checksum = hdr.ipv4.checksum - 2; marked.count(queue.egress_port); }
    action less_3() { hdr.ipv4.ecn = CE; hdr.ipv4.checksum = hdr.ipv4.checksum - 3; marked.count(queue.egress_port); }
    action as_it_is() { }
    table mark_ipv4 {
        key = { hdr.ipv4.ecn: ternary; hdr.ipv4.checksum: ternary; }
        actions = { less_1; less_2; less_3; as_it_is; }
        default_action = as_it_is();
        const entries = {
            (ECT_0, 0): less_2();
            (ECT_0, _): less_1();
            (ECT_1, 0 &&& 0xfffe): less_3();
            (ECT_1, _): less_2();
        }
    }
    action mark_flow() { hdr.ipv6.ecn = CE; marked.count(queue.egress_port); }
    table mark_ipv6 {
        key = { hdr.ipv6.ecn: exact; }
        actions = { mark_flow; as_it_is; }
        default_action = as_it_is();
        const entries = { ECT_0: mark_flow(); ECT_1: mark_flow(); }
    }

    apply {
        m.depth = (bit<32>)queue.deq_qdepth;
        m.coin = coins.get();
        m.draw = draws.get();
        if (profile.apply().hit) {
            m.kmin = get_kmin.execute(m.row);
            m.kmax = get_kmax.execute(m.row);
            m.fell = toss.execute(m.row);
            m.width = m.kmax |-| m.kmin;
            m.above = m.depth |-| m.kmin;
            m.beyond = m.depth |-| m.kmax;
            spread.apply();
            m.last = m.width - 1;
            m.fits = m.width |-| m.draw;
            if (m.fits == 0) { m.threshold = mirrored.execute(m.row); } else { m.threshold = fresh.execute(m.row); }
            m.over = m.above |-| m.threshold;
            if (m.beyond != 0) { m.mark = 1; }
            else if (m.over != 0 && m.fell == 1) { m.mark = 1; }
            if (m.mark == 1) {
                if (hdr.ipv4.isValid()) { mark_ipv4.apply(); }
                else if (hdr.ipv6.isValid()) { mark_ipv6.apply(); }
            }
        }
    }
}

control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in meta_t m,
        in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
