
// hula: the best hop that probes report replaces the random candidate; then flowlets as in letflow. A probe follows
// Ethernet with EtherType PROBE; a resubmitted packet has `found` in front of Ethernet (ig.resubmit_flag is 1).
#define FLOWLETS 32768
#define GAP 390
#define OLDEST 2343
#define TORS 256
#define OLDER 32w0xfffffc00
#define MADE 0x88b5
#define PROBE 0x88b6

header probe_h { bit<16> tor; bit<16> reserved; bit<32> util; }
header found_h { bit<32> level; bit<32> other; }
struct hula_headers_t { probe_h probe; found_h found; }
struct path_t { bit<32> lo; bit<32> hi; }
struct flowlet_t { bit<32> lo; bit<32> hi; }

control Draw(inout headers_t hdr, inout meta_t m) {
    Random<bit<16>>() coin;
    apply { if (m.group != 0) { m.draw = coin.get(); } }
}

// Before the draw.
control Probes(inout headers_t hdr, inout hula_headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t ig,
        in bit<32> now, inout bit<32> best, inout bit<1> silent, inout bit<1> seen,
        inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    bit<32> hop = 0;
    bit<16> onward = 0;
    bit<1> news = 0;
    action made() { m.made = 1; }
    table generator {
        key = { ig.ingress_port: exact; }
        actions = { made; NoAction; }
        default_action = NoAction;
        size = 16;
    }
    action announce(bit<16> tor, bit<16> group) {
        hdr.ethernet.ether_type = PROBE;
        h.probe.setValid();
        h.probe = { tor, 0, 0 };
        tm.mcast_grp_a = group;
    }
    table own_tor { actions = { announce; } default_action = announce(0, 0); }
    action neighbour(bit<32> member, bit<16> group) { m.made = 1; seen = 1; hop = member; onward = group; }
    table probe_from {
        key = { ig.ingress_port: exact; }
        actions = { neighbour; NoAction; }
        default_action = NoAction;
        size = 512;
    }
    // By ToR: member number of the best hop; utilisation of the best path, and time of the probe that reported it.
    Register<bit<32>, bit<16>>(TORS, 0xffff) best_hop;
    RegisterAction<bit<32>, bit<16>, bit<32>>(best_hop) read_hop = {
        void apply(inout bit<32> value, out bit<32> out_) { out_ = value; }
    };
    RegisterAction<bit<32>, bit<16>, bit<32>>(best_hop) set_hop = { void apply(inout bit<32> value) { value = hop; } };
    Register<path_t, bit<16>>(TORS) best_path;
    RegisterAction<path_t, bit<16>, bit<1>>(best_path) look = {
        void apply(inout path_t r, out bit<1> out_) { out_ = 0; if (now - r.hi > OLDEST) { out_ = 1; } }
    };
    RegisterAction<path_t, bit<16>, bit<1>>(best_path) renew = {
        void apply(inout path_t r) { r.lo = h.probe.util; r.hi = now; }
    };
    RegisterAction<path_t, bit<16>, bit<1>>(best_path) challenge = {
        void apply(inout path_t r, out bit<1> out_) {
            out_ = 0;
            if (h.probe.util < r.lo || now - r.hi > OLDEST) { r.lo = h.probe.util; r.hi = now; out_ = 1; }
        }
    };
    apply {
        if (m.group != 0) {
            silent = look.execute(m.group);
            best = read_hop.execute(m.group);
        } else if (h.probe.isValid()) {
            if (probe_from.apply().hit) {
                if (h.found.isValid()) {
                    h.probe.util = max(h.probe.util, h.found.level);
                    if (h.found.other == 0) {
                        renew.execute(h.probe.tor);
                        news = 1;
                    } else {
                        news = challenge.execute(h.probe.tor);
                        if (news == 1) { set_hop.execute(h.probe.tor); }
                    }
                    if (news == 1 && onward != 0) { tm.mcast_grp_a = onward; } else { dprsr.drop_ctl = 1; }
                } else {
                    best = read_hop.execute(h.probe.tor);
                    h.found.other = best - hop;
                }
            } else {
                dprsr.drop_ctl = 1;
            }
        } else if (hdr.ethernet.ether_type == MADE) {
            if (generator.apply().hit) { own_tor.apply(); }
        }
    }
}

control Keep(inout headers_t hdr, inout meta_t m, in bit<32> now, in bit<32> best, in bit<1> silent) {
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
            if (silent == 0) { m.candidate = m.generation | best; }
            m.member = (bit<16>) touch.execute(m.flow[14:0]);
        }
    }
}

// After the egress port: bytes on the line charge the link; a probe reads its own port's filter and is resubmitted.
control Charge(inout hula_headers_t h, inout meta_t m, in ingress_intrinsic_metadata_t ig, in bit<32> bytes,
        in bit<1> seen, inout ingress_intrinsic_metadata_for_deparser_t dprsr,
        inout ingress_intrinsic_metadata_for_tm_t tm) {
    Lpf<bit<32>, bit<9>>(512) dre;
    apply {
        if (m.routed == 1) {
            h.found.level = dre.execute(bytes, tm.ucast_egress_port);
        } else if (seen == 1 && !h.found.isValid()) {
            h.found.level = dre.execute(0, ig.ingress_port);
            dprsr.resubmit_type = 1;
        }
    }
}
