
// letflow: a random number picks the candidate, and a flowlet keeps the member that its first packet drew.
// GAP is the timeout in ticks of 256 ns; detect=pair unless DETECT_SPLIT or DETECT_AGE is defined.
#define FLOWLETS 32768
#define GAP 390
// -1024 in two's complement: a member further below the candidate is of an older generation.
#define OLDER 32w0xfffffc00
#define SWEEP 0x88b5

control Draw(inout headers_t hdr, inout meta_t m) {
    Random<bit<16>>() coin;
    apply { if (m.group != 0) { m.draw = coin.get(); } }
}

struct flowlet_t { bit<32> lo; bit<32> hi; }

control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    bit<32> now = 0;
    action read_clock() { now = prsr.global_tstamp[39:8]; }
#if !defined(DETECT_SPLIT) && !defined(DETECT_AGE)
    // lo: time of the flowlet's last packet, in ticks; hi: generation and number of its uplink.
    Register<flowlet_t, bit<15>>(FLOWLETS) flowlet;
    RegisterAction<flowlet_t, bit<15>, bit<32>>(flowlet) touch = {
        void apply(inout flowlet_t f, out bit<32> out_) {
            if (now - f.lo > GAP || (int<32>) (f.hi - m.candidate - OLDER) < 0) { f.hi = m.candidate; }
            f.lo = now;
            out_ = f.hi;
        }
    };
    apply {
        if (m.group != 0) {
            read_clock();
            m.member = (bit<16>) touch.execute(m.flow[14:0]);
        }
    }
#else
    // Uplink of the flowlet: its group's generation in bits 31 to 16, its number in bits 15 to 0.
    Register<bit<32>, bit<15>>(FLOWLETS) flowlet_member;
    RegisterAction<bit<32>, bit<15>, bit<32>>(flowlet_member) keep = {
        void apply(inout bit<32> value, out bit<32> out_) {
            if ((int<32>) (value - m.candidate - OLDER) < 0) { value = m.candidate; }
            out_ = value;
        }
    };
    RegisterAction<bit<32>, bit<15>, bit<32>>(flowlet_member) take = {
        void apply(inout bit<32> value, out bit<32> out_) { value = m.candidate; out_ = value; }
    };
    Counter<bit<32>, bit<1>>(2, CounterType_t.PACKETS) flowlets;
#ifdef DETECT_SPLIT
    bit<1> fresh = 0;
    Register<bit<32>, bit<15>>(FLOWLETS) last_seen;
    RegisterAction<bit<32>, bit<15>, bit<1>>(last_seen) touch = {
        void apply(inout bit<32> value, out bit<1> out_) {
            out_ = 0;
            if (now - value > GAP) { out_ = 1; }
            value = now;
        }
    };
    apply {
        if (m.group != 0) {
            read_clock();
            fresh = touch.execute(m.flow[14:0]);
            flowlets.count(fresh);
            if (fresh == 1) { m.member = (bit<16>) take.execute(m.flow[14:0]); }
            else { m.member = (bit<16>) keep.execute(m.flow[14:0]); }
        }
    }
#else
    bit<8> left = 0;
    bit<1> fresh = 0;
    // Sweeps left to the flowlet: 2 after a packet, one less after each sweep by the generator; 0 = over.
    Register<bit<8>, bit<15>>(FLOWLETS) life;
    RegisterAction<bit<8>, bit<15>, bit<8>>(life) renew = {
        void apply(inout bit<8> value, out bit<8> out_) { out_ = value; value = 2; }
    };
    RegisterAction<bit<8>, bit<15>, bit<8>>(life) sweep = {
        void apply(inout bit<8> value) { if (value != 0) { value = value - 1; } }
    };
    action made() { m.made = 1; }
    table generator {
        key = { ig.ingress_port: exact; }
        actions = { made; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    apply {
        if (m.group != 0) {
            left = renew.execute(m.flow[14:0]);
            if (left == 0) { fresh = 1; m.member = (bit<16>) take.execute(m.flow[14:0]); }
            else { m.member = (bit<16>) keep.execute(m.flow[14:0]); }
            flowlets.count(fresh);
        } else if (hdr.ethernet.ether_type == SWEEP) {
            if (generator.apply().hit) {
                // The last two bytes of the generator's header: the number of the packet in its batch.
                sweep.execute(hdr.ethernet.dst[14:0]);
                dprsr.drop_ctl = 1;
            }
        }
    }
#endif
#endif
}
