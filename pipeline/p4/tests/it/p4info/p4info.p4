#include <core.p4>
#include <tna.p4>

type bit<16> next_hop_t;

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ether_type; }
header ipv4_h { bit<32> src; bit<32> dst; }
@controller_header("packet_in")
header packet_in_h { bit<9> port; @padding bit<7> pad; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; }
struct note_t { bit<48> station; PortId_t port; }
struct pair_t { bit<32> low; bit<32> high; }
struct meta_t { next_hop_t next_hop; bit<16> selected; }

parser IngressParser(packet_in pkt, out headers_t hdr, out meta_t m, out ingress_intrinsic_metadata_t ig) {
    value_set<bit<16>>(4) types;
    state start {
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.ether_type) { types : ip; default : accept; }
    }
    state ip { pkt.extract(hdr.ipv4); transition accept; }
}

control Acl(in headers_t hdr, in ingress_intrinsic_metadata_t ig, inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action permit() { hits.count(); }
    action deny() { hits.count(); dprsr.drop_ctl = 1; }
    table filter {
        key = {
            hdr.ipv4.src : ternary;
            hdr.ipv4.isValid() : exact;
            ig.ingress_port : ternary @name("port");
            hdr.ipv4.dst[31:24] : exact;
        }
        actions = { permit; deny; @defaultonly NoAction; }
        const default_action = NoAction();
        counters = hits;
        size = 64;
    }
    apply { filter.apply(); }
}

control Ingress(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t prsr, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
                inout ingress_intrinsic_metadata_for_tm_t tm) {
    Acl() acl;
    Counter<bit<64>, PortId_t>(512, CounterType_t.PACKETS_AND_BYTES) ports;
    Register<pair_t, bit<8>>(256) pairs;
    Meter<bit<8>>(16, MeterType_t.BYTES) limits;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
    ActionProfile(128) members;
    ActionSelector(members, hash, SelectorMode_t.FAIR, 120, 4) groups;
    action hop(next_hop_t hop) { m.next_hop = hop; }
    action send(PortId_t port) { tm.ucast_egress_port = port; }
    @hidden action secret() { m.selected = 0; }
    table route {
        key = { hdr.ipv4.dst : lpm; }
        actions = { hop; secret; }
        idle_timeout = true;
    }
    table next {
        key = { m.next_hop : exact; m.selected : selector; }
        actions = { send; }
        implementation = groups;
        size = 1024;
    }
    @hidden table secret_table { actions = { secret; } const default_action = secret(); }
    apply { acl.apply(hdr, ig, dprsr); ports.count(ig.ingress_port); route.apply(); next.apply(); }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in meta_t m,
                        in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Digest<note_t>() learn;
    apply { if (dprsr.digest_type == 1) { learn.pack({hdr.ethernet.src, 0}); } pkt.emit(hdr); }
}

parser EgressParser(packet_in pkt, out headers_t hdr, out meta_t m, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control Egress(inout headers_t hdr, inout meta_t m, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t prsr, inout egress_intrinsic_metadata_for_deparser_t dprsr,
               inout egress_intrinsic_metadata_for_output_port_t port) {
    apply {}
}
control EgressDeparser(packet_out pkt, inout headers_t hdr, in meta_t m,
                       in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
