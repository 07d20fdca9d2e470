
// conga: a leaf's ingress between the shared parts of leaf/pipe.p4, its egress, and a spine's egress. Four uplinks; one
// is written out where all are alike. Congestion in headers and tables has 8 added, so that 0 means none.
#define LEAVES 16
#define FLOWLETS 32768
#define GAP 1953
#define OLDEST 39062
#define TOLD 32w8
#define OLDER 32w0xfffffc00
#define MADE 0x88b5

header overlay_h { bit<8> flags; bit<8> tags; bit<8> ce; bit<8> feedback; bit<24> vni; bit<8> reserved; }
header udp_h { bit<16> src_port; bit<16> dst_port; bit<16> length; bit<16> checksum; }
header bridge_h { bit<16> leaf; bit<16> entropy; bit<6> dscp; bit<2> ecn; bit<8> tags; bit<8> feedback; }
header found_h { bit<32> level; }
struct leaf_headers_t { ethernet_h outer_ethernet; ipv4_h outer; udp_h outer_udp; overlay_h overlay; bridge_h bridge; found_h found; }
struct known_t { bit<32> lo; bit<32> hi; }

// Before the parser of the leaf: a resubmitted packet has `found` in front, one from 10.255.0.0/16 has the overlay.
parser Unwrap(packet_in pkt, out leaf_headers_t w, in ingress_intrinsic_metadata_t ig) {
    state start {
        transition select(ig.resubmit_flag) { 1: parse_found; default: peek; }
    }
    state parse_found { pkt.extract(w.found); transition accept; }
    state peek {
        // EtherType; version and length, protocol, first half of the source address
        transition select(pkt.lookahead<bit<112>>()[15:0], pkt.lookahead<bit<120>>()[7:0],
                pkt.lookahead<bit<192>>()[7:0], pkt.lookahead<bit<224>>()[15:0]) {
            (0x0800, 0x45, 17, 0x0aff): parse_outer;
            default: accept;
        }
    }
    state parse_outer {
        pkt.extract(w.outer_ethernet);
        pkt.extract(w.outer);
        pkt.extract(w.outer_udp);
        transition select(w.outer_udp.dst_port) { 4789: parse_overlay; default: accept; }
    }
    state parse_overlay { pkt.extract(w.overlay); transition accept; }
}

control Exchange(inout headers_t hdr, inout leaf_headers_t w, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr, in bit<32> now, inout bit<32> own, inout bit<32> path) {
    bit<16> turn = 0;
    Register<bit<32>, bit<1>>(1, TOLD) local;
    RegisterAction<bit<32>, bit<1>, bit<32>>(local) read_own = {
        void apply(inout bit<32> value, out bit<32> out_) { out_ = value; }
    };
    RegisterAction<bit<32>, bit<1>, bit<32>>(local) show = { void apply(inout bit<32> value) { value = w.found.level; } };
    Register<known_t, bit<16>>(LEAVES) to_leaf;
    RegisterAction<known_t, bit<16>, bit<32>>(to_leaf) read = {
        void apply(inout known_t r, out bit<32> out_) { if (now - r.hi > OLDEST) { r.lo = TOLD; } out_ = r.lo; }
    };
    RegisterAction<known_t, bit<16>, bit<32>>(to_leaf) learn = {
        void apply(inout known_t r) { r.lo = (bit<32>) w.overlay.feedback; r.hi = now; }
    };
    Register<known_t, bit<16>>(LEAVES * 4) from_leaf;
    RegisterAction<known_t, bit<16>, bit<32>>(from_leaf) hear = {
        void apply(inout known_t r) { r.lo = (bit<32>) w.overlay.ce; r.hi = now; }
    };
    RegisterAction<known_t, bit<16>, bit<32>>(from_leaf) tell = {
        void apply(inout known_t r, out bit<32> out_) { if (now - r.hi > OLDEST) { r.lo = 0; } out_ = r.lo; }
    };
    Register<bit<16>, bit<16>>(LEAVES) turns;
    RegisterAction<bit<16>, bit<16>, bit<16>>(turns) next = {
        void apply(inout bit<16> value, out bit<16> out_) {
            out_ = value;
            if (value >= 3) { value = 0; } else { value = value + 1; }
        }
    };
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) of_leaf;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) asked;
    action made() { m.made = 1; }
    table generator {
        key = { ig.ingress_port: exact; }
        actions = { made; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    action set_level(bit<32> told) { w.found.level = told; }
    table quantise {
        key = { w.found.level: exact; }
        actions = { set_level; }
        const entries = { 0: set_level(8); 1: set_level(9); 2: set_level(10); 3: set_level(11); 4: set_level(12);
            5: set_level(13); 6: set_level(14); }
        default_action = set_level(15);
    }
    apply {
        w.bridge.setValid();
        if (w.outer.isValid()) {
            if (!w.overlay.isValid()) {
                dprsr.drop_ctl = 1;
            } else {
                hear.execute(of_leaf.get({ 6w0, w.outer.src[7:0], w.overlay.tags[5:4] }));
                if (w.overlay.feedback != 0 && w.overlay.tags[1:0] == 0) { learn.execute(w.outer.src[15:0]); }
                if (m.group != 0) { dprsr.drop_ctl = 1; }
                if (w.outer.ecn == 3 && hdr.ipv4.isValid() && hdr.ipv4.ecn != 0) { hdr.ipv4.ecn = 3; }
                else if (w.outer.ecn == 3 && hdr.ipv6.isValid() && hdr.ipv6.ecn != 0) { hdr.ipv6.ecn = 3; }
            }
        } else if (m.group != 0) {
            turn = next.execute(m.group);
            if (hdr.ipv4.isValid()) { w.bridge.dscp = hdr.ipv4.dscp; w.bridge.ecn = hdr.ipv4.ecn; }
            else if (hdr.ipv6.isValid()) { w.bridge.dscp = hdr.ipv6.dscp; w.bridge.ecn = hdr.ipv6.ecn; }
            w.bridge.feedback = (bit<8>) tell.execute(asked.get({ 6w0, m.group[7:0], turn[1:0] }));
            own = read_own.execute(0);
            path = read.execute(m.group);
        } else if (hdr.ethernet.ether_type == MADE) {
            if (generator.apply().hit) {
                if (w.found.isValid()) {
                    quantise.apply();
                    if (hdr.ethernet.dst[15:0] == 0) { show.execute(0); }
                    dprsr.drop_ctl = 1;
                } else {
                    tell.execute(hdr.ethernet.dst[15:0]);
                    read.execute((bit<16>) hdr.ethernet.dst[15:2]);
                }
            }
        }
    }
}

control Choose(inout meta_t m, in bit<32> now, in bit<32> own_0, in bit<32> path_0, in bit<32> own_1, in bit<32> path_1) {
    bit<32> worse_0 = 0;
    bit<32> worse_1 = 0;
    bit<32> least = 0;
    bit<32> beyond_0 = 0;
    bit<32> beyond_1 = 0;
    bit<8> coin = 0;
    bit<1> many = 0;
    bit<1> fresh = 0;
    bit<32> first = 0;
    bit<32> second = 0;
    Random<bit<8>>() coins;
    action few_equal(bit<32> a, bit<32> b) { first = m.generation | a; second = m.generation | b; }
    action many_equal(bit<32> a, bit<32> b) { first = m.generation | a; second = m.generation | b; many = 1; }
    // The controller adds the 32 rows: sets of least congested uplinks, largest first; members share the coin evenly.
    table equals {
        key = { beyond_0: ternary; beyond_1: ternary; coin: range; }
        actions = { few_equal; many_equal; }
        size = 32;
    }
    Register<bit<32>, bit<15>>(FLOWLETS) last_seen;
    RegisterAction<bit<32>, bit<15>, bit<1>>(last_seen) touch = {
        void apply(inout bit<32> value, out bit<1> out_) {
            out_ = 0;
            if (now - value > GAP) { out_ = 1; }
            value = now;
        }
    };
    Register<bit<32>, bit<15>>(FLOWLETS) flowlet_member;
    RegisterAction<bit<32>, bit<15>, bit<32>>(flowlet_member) hold = {
        void apply(inout bit<32> value, out bit<32> out_) {
            if ((int<32>) (value - first - OLDER) < 0) { value = first; }
            out_ = value;
        }
    };
    RegisterAction<bit<32>, bit<15>, bit<32>>(flowlet_member) one_of_two = {
        void apply(inout bit<32> value, out bit<32> out_) {
            if (value != first && value != second) { value = first; }
            out_ = value;
        }
    };
    RegisterAction<bit<32>, bit<15>, bit<32>>(flowlet_member) none_but = {
        void apply(inout bit<32> value, out bit<32> out_) {
            if (value == second || (int<32>) (value - first - OLDER) < 0) { value = first; }
            out_ = value;
        }
    };
    apply {
        coin = coins.get();
        worse_0 = max(own_0, path_0);
        worse_1 = max(own_1, path_1);
        least = min(worse_0, worse_1);
        beyond_0 = worse_0 - least;
        beyond_1 = worse_1 - least;
        equals.apply();
        fresh = touch.execute(m.flow[14:0]);
        if (fresh == 0) { m.member = (bit<16>) hold.execute(m.flow[14:0]); }
        else if (many == 1) { m.member = (bit<16>) none_but.execute(m.flow[14:0]); }
        else { m.member = (bit<16>) one_of_two.execute(m.flow[14:0]); }
    }
}

// After the choice: packets of hosts charge their uplink, generated ones read it and are resubmitted.
control Charge(inout headers_t hdr, inout leaf_headers_t w, inout meta_t m, in bit<32> bytes,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Lpf<bit<32>, bit<16>>(4) dre;
    apply {
        if (m.group != 0) {
            w.found.level = dre.execute(bytes, m.member);
        } else if (m.made == 1 && !w.found.isValid()) {
            w.found.level = dre.execute(0, (bit<16>) hdr.ethernet.dst[1:0]);
            dprsr.resubmit_type = 1;
        }
    }
}

control Wrap(inout leaf_headers_t w, in egress_intrinsic_metadata_t eg,
        inout egress_intrinsic_metadata_for_deparser_t dprsr) {
    action unknown() { dprsr.drop_ctl = 1; }
    action wrap_for(bit<32> dst, bit<32> src) {
        w.outer_ethernet = { 0x02ff00000002, 0x02ff00000001, 0x0800 };
        w.outer = { 4, 5, w.bridge.dscp, w.bridge.ecn, 0, 0, 0, 0, 64, 17, 0, src, dst };
        w.outer_udp = { w.bridge.entropy, 4789, 0, 0 };
        w.overlay = { 8, w.bridge.tags, 8, w.bridge.feedback, 1, 0 };
    }
    table leaf_address {
        key = { w.bridge.leaf: exact; }
        actions = { wrap_for; unknown; }
        default_action = unknown;
        size = LEAVES;
    }
    apply {
        if (w.bridge.leaf != 0) {
            leaf_address.apply();
            w.outer.total_len = eg.pkt_length + 29;
            w.outer_udp.length = eg.pkt_length + 9;
        }
    }
}

control Raise(inout leaf_headers_t w, in egress_intrinsic_metadata_t eg) {
    bit<8> level = 0;
    Lpf<bit<16>, bit<9>>(512) dre;
    apply {
        level = (bit<8>) dre.execute(eg.pkt_length + 24, eg.egress_port);
        if (w.overlay.isValid()) {
            level = min(level, 7);
            level = level | 8;
            w.overlay.ce = max(w.overlay.ce, level);
        }
    }
}
