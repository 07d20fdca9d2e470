
// flare: a flowlet takes the path that has carried least, as the packet generator last found it. `found` is of
// resubmitted packets: the ingress parser extracts it in front of Ethernet when ig.resubmit_flag is 1, and the ingress
// deparser emits it with Resubmit() when dprsr.resubmit_type is 1. Eight paths; two are written out.
#define FLOWLETS 32768
#define GAP 390
#define OLDER 32w0xfffffc00
#define MADE 0x88b5

control Draw(inout headers_t hdr, inout meta_t m) {
    Random<bit<16>>() coin;
    apply { if (m.group != 0) { m.draw = coin.get(); } }
}

struct flowlet_t { bit<32> lo; bit<32> hi; }
header found_h { bit<32> floor; bit<32> path; }

control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    found_h found;
    bit<32> behind = 0;
    bit<32> least_charge = 0;
    bit<32> charge = 0;
    bit<32> floor = 0;
    bit<32> sent_of_0 = 0;
    bit<32> sent_of_1 = 0;
    bit<32> now = 0;

    action made() { m.made = 1; }
    table generator {
        key = { ig.ingress_port: exact; }
        actions = { made; NoAction; }
        default_action = NoAction;
        size = 16;
    }

    // Group and path, for paths that are up; without an entry for the least charged path the random candidate is used.
    action prefer() { m.candidate = m.generation | behind; }
    table path_up {
        key = { m.group: exact; behind: exact; }
        actions = { prefer; NoAction; }
        default_action = NoAction;
        size = 2048;
    }

    // By group, at its last visit: least charge of its paths, and that path's number (8 = never visited).
    Register<flowlet_t, bit<16>>(GROUPS, { 0, 8 }) least;
    RegisterAction<flowlet_t, bit<16>, bit<32>>(least) read_path = {
        void apply(inout flowlet_t f, out bit<32> out_) { out_ = f.hi; }
    };
    RegisterAction<flowlet_t, bit<16>, bit<32>>(least) read_floor = {
        void apply(inout flowlet_t f, out bit<32> out_) { out_ = f.lo; }
    };
    RegisterAction<flowlet_t, bit<16>, bit<32>>(least) write = {
        void apply(inout flowlet_t f) { f.lo = found.floor; f.hi = found.path; }
    };

    Register<flowlet_t, bit<15>>(FLOWLETS) flowlet;
    RegisterAction<flowlet_t, bit<15>, bit<32>>(flowlet) touch = {
        void apply(inout flowlet_t f, out bit<32> out_) {
            if (now - f.lo > GAP || (int<32>) (f.hi - m.candidate - OLDER) < 0) { f.hi = m.candidate; }
            f.lo = now;
            out_ = f.hi;
        }
    };

    // By group: bytes sent over a path since the last rebase, times 8, plus the path's number.
#define PATH(n) \
    Register<bit<32>, bit<16>>(GROUPS, n) sent_##n; \
    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_##n) pay_##n = { \
        void apply(inout bit<32> value) { value = value + charge; } \
    }; \
    RegisterAction<bit<32>, bit<16>, bit<32>>(sent_##n) rebase_##n = { \
        void apply(inout bit<32> value, out bit<32> out_) { value = value - floor; out_ = value; } \
    };
    PATH(0)
    PATH(1)
    // Only the hash unit moves a 16-bit container into a 32-bit one; it also multiplies by eight.
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv4_length;
    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) ipv6_length;

    apply {
        if (m.group != 0) {
            behind = read_path.execute(m.group);
            if (hdr.ipv4.isValid()) {
                charge = ipv4_length.get({ 13w0, hdr.ipv4.total_len, 3w0 });
            } else {
                charge = ipv6_length.get({ 13w0, hdr.ipv6.payload_len, 3w0 });
            }
            path_up.apply();
            now = prsr.global_tstamp[39:8];
            m.member = (bit<16>) touch.execute(m.flow[14:0]);
            if (m.member == 0) { pay_0.execute(m.group); }
            else if (m.member == 1) { pay_1.execute(m.group); }
        } else if (hdr.ethernet.ether_type == MADE) {
            if (generator.apply().hit) {
                if (found.isValid()) {
                    write.execute(hdr.ethernet.dst[15:0]);
                    dprsr.drop_ctl = 1;
                } else {
                    floor = read_floor.execute(hdr.ethernet.dst[15:0]);
                    sent_of_0 = rebase_0.execute(hdr.ethernet.dst[15:0]);
                    sent_of_1 = rebase_1.execute(hdr.ethernet.dst[15:0]);
                    found.setValid();
                    least_charge = min(sent_of_0, sent_of_1);
                    found.floor = least_charge & 0xfffffff8;
                    found.path = least_charge & 7;
                    dprsr.resubmit_type = 1;
                }
            }
        }
    }
}
