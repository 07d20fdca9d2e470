#define ETHERTYPE_IPV4 16w0x0800
#define COUNT(name) \
    action name##_count() { n = n + 1; }
header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_h ethernet; }
struct metadata_t { bit<8> n; }
parser Parser(packet_in pkt, out headers_t hdr, out metadata_t md) {
    state start {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            ETHERTYPE_IPV4: accept;
            default: reject;
        }
    }
}
control Ingress(inout headers_t hdr, inout metadata_t md) {
    bit<8> n = 8w3;
    COUNT(ipv4)
    action set(bit<48> dst) { hdr.ethernet.dst = dst; }
    table forward {
        key = { hdr.ethernet.dst : exact; hdr.ethernet.isValid() : ternary; }
        actions = { set; ipv4_count; }
        default_action = set(48w1);
        const entries = { (1, true): set(2); (3, _): ipv4_count(); }
        size = 1024;
    }
    apply {
        if (forward.apply().hit) { md.n = n |+| 1; } else { exit; }
    }
}
control Deparser(packet_out pkt, inout headers_t hdr) { apply { pkt.emit(hdr); } }
Pipeline(Parser(), Ingress(), Deparser()) pipe;
Switch(pipe) main;
