
// drill: the shortest queue of two random uplinks and the remembered one. Tofino 2: include t2na.p4, and give the
// pipeline the ghost control below. Two banks of memories; one is written out.
#define NO_FLOW
#define OLDER 32w0xfffffc00
#define PORTS 512

control Draw(inout headers_t hdr, inout meta_t m) {
    Random<bit<16>>() coin;
    apply { if (m.group != 0) { m.draw = coin.get(); } }
}

struct memory_t { bit<32> lo; bit<32> hi; }
// By dev_port: cells in queue 0, once for each sample.
Register<bit<32>, bit<9>>(PORTS) depth_0;
Register<bit<32>, bit<9>>(PORTS) depth_1;
// By group: lo = cells in the remembered uplink's queue; hi = generation and number of that uplink.
Register<memory_t, bit<16>>(GROUPS) memory;

control Keep(inout headers_t hdr, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in ingress_intrinsic_metadata_from_parser_t prsr,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    bit<16> draw = 0;
    bit<16> member = 0;
    bit<32> candidate = 0;
    PortId_t port = 0;
    bit<32> depth = 0;
    bit<32> less = 0;
    bit<32> best = 0;
    bit<8> number = 0;
    Random<bit<16>>() sample_coin;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) sample_draw;
    ActionProfile(MEMBERS) sample_profile;
    ActionSelector(sample_profile, sample_draw, SelectorMode_t.FAIR, 120, GROUPS) sample_uplinks;
    action sample_member(bit<16> number_, PortId_t to) {
        member = number_;
        candidate = m.generation | (bit<32>) number_;
        port = to;
    }
    table sample {
        key = { m.group: exact; draw: selector; }
        actions = { sample_member; NoAction; }
        default_action = NoAction;
        implementation = sample_uplinks;
        size = GROUPS;
    }
    RegisterAction<bit<32>, bit<9>, bit<32>>(depth_0) read_0 = {
        void apply(inout bit<32> value, out bit<32> out_) { out_ = value; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(depth_1) read_1 = {
        void apply(inout bit<32> value, out bit<32> out_) { out_ = value; }
    };
    action take_shorter() { m.member = member; m.candidate = candidate; tm.ucast_egress_port = port; best = depth; }
    action set_bank(bit<8> n) { number = n; }
    table bank {
        key = { m.group: exact; }
        actions = { set_bank; NoAction; }
        default_action = NoAction;
        size = GROUPS;
    }
    RegisterAction<memory_t, bit<16>, bit<32>>(memory) compare = {
        void apply(inout memory_t r, out bit<32> out_) {
            if (best < r.lo || (int<32>) (r.hi - m.candidate - OLDER) < 0) { r.lo = best; r.hi = m.candidate; }
            out_ = r.hi;
        }
    };
    apply {
        if (m.group != 0) {
            draw = sample_coin.get();
            sample.apply();
            best = read_0.execute(tm.ucast_egress_port);
            depth = read_1.execute(port);
            less = best |-| depth;
            if (less != 0) { take_shorter(); }
            bank.apply();
            if (number == 1) { m.member = (bit<16>) compare.execute(m.group); }
        }
    }
}

control Ghost(in ghost_intrinsic_metadata_t g) {
    bit<9> port = 0;
    bit<16> group = 0;
    bit<32> member = 0;
    action watch(bit<9> to) { port = to; }
    table queue {
        key = { g.pipe_id: exact; g.qid: exact; }
        actions = { watch; NoAction; }
        default_action = NoAction;
        size = PORTS;
    }
    RegisterAction<bit<32>, bit<9>, bit<32>>(depth_0) write_0 = {
        void apply(inout bit<32> value) { value = (bit<32>) g.qlength; }
    };
    RegisterAction<bit<32>, bit<9>, bit<32>>(depth_1) write_1 = {
        void apply(inout bit<32> value) { value = (bit<32>) g.qlength; }
    };
    action concern(bit<16> of, bit<32> number) { group = of; member = number; }
    table memory_queue {
        key = { g.pipe_id: exact; g.qid: exact; }
        actions = { concern; NoAction; }
        default_action = NoAction;
        size = PORTS;
    }
    RegisterAction<memory_t, bit<16>, bit<32>>(memory) refresh = {
        void apply(inout memory_t r) { if (r.hi & 0xffff == member) { r.lo = (bit<32>) g.qlength; } }
    };
    apply {
        if (queue.apply().hit) { write_0.execute(port); write_1.execute(port); }
        if (memory_queue.apply().hit) { refresh.execute(group); }
    }
}
