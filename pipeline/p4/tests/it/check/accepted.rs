//! Constructs that are accepted without a message.

use super::messages;

#[track_caller]
fn accepted(text: &str) {
    assert_eq!(messages(text), "");
}

#[test]
fn declarations() {
    accepted(
        "typedef bit<48> mac_t; type bit<9> Port_t; const mac_t ME = 0x0102_0304_0506;
enum kind_t { A, B } enum bit<16> ether_t { IPV4 = 0x800, ARP = 0x806 }
header eth_h { mac_t dst; mac_t src; ether_t type; } header opts_h { varbit<320> data; bool more; }
struct pair<T> { T a; T b; } struct all_t { eth_h eth; opts_h[3] opts; pair<bit<8>> p; kind_t k; error e; Port_t port; }
control Gen<H, M>(inout H h, in M m)(bit<8> n, bool b) { apply { } }
control C(inout all_t a) { Gen<eth_h, bit<8>>(3, true) g; pair<bit<16>> local; apply { g.apply(a.eth, 5); local = {1, 2}; a.p = {a = 1, b = 2}; local.a = local.b; } }
error { Mine } match_kind { mine }
const error E = error.Mine;",
    );
}

#[test]
fn expressions() {
    accepted(
        "header h_t { bit<8> a; bit<16> b; int<8> s; bit<1> f; bool t; bit<32> w; }
control C(inout h_t h, inout h_t g) { apply {
h.b = h.a ++ h.a; h.a = h.b[7:0]; h.b[11:4] = h.a; h.a = h.a |+| 1; h.a = h.a |-| 0xff; h.b = (bit<16>) h.a << 3;
h.s = (int<8>) h.a; h.s = h.s >> 1; h.s = -h.s; h.f = (bit<1>) h.t; h.t = (bool) h.f; h.t = h.a == 0 || !(h.b != 1) && h.s < 0;
h.w = max(h.w, 5); h.w = min(1, h.w); h.a = h.t ? 8w1 : 2; h.a = h.t ? 1 : 2; h = g; if (h == g) { h.setInvalid(); }
h = {1, 2, 3, 1, true, 4}; h.a = h.a ^ ~h.a & 0xf | 1; h.w[31:24] = h.w[7:0]; invalidate(h.a); h.a = (bit<8>) MeterColor_t.RED;
bit<8> local = h.a; const bit<8> K = 3; local = local + K; h.a = local; return; } }",
    );
}

#[test]
fn parser_with_everything() {
    accepted(
        "header a_h { bit<8> x; bit<8> n; } header v_h { varbit<320> data; } struct h_t { a_h a; a_h[4] s; v_h v; bit<8> pad; }
struct key_t { bit<8> x; bit<8> n; }
parser Sub(packet_in pkt, out h_t h)(bit<8> n) { state start { transition accept; } }
parser P(packet_in pkt, out h_t h, out ingress_intrinsic_metadata_t ig) {
    ParserCounter() counter; Checksum() sum; value_set<bit<8>>(4) one; value_set<key_t>(4) two; Sub(3) sub; ParserPriority() prio;
    state start { pkt.extract(ig); pkt.advance(PORT_METADATA_SIZE); sub.apply(pkt, h); prio.set(3); transition select(pkt.lookahead<bit<8>>()) { one: more; 0x10 &&& 0xf0: more; 1 .. 5: reject; default: accept; } }
    state more { pkt.extract(h.s.next); counter.set(h.s.last.n); counter.set(h.s.last.n, 15, 4, 7, 1); sum.add({h.a.x, 8w0}); sum.subtract_all_and_deposit(h.pad); h.a.setValid(); h.a.x = 3;
        transition select(h.s.last.x, h.s.last.n, counter.is_zero()) { (1, 2, true): loop; (_, _, false): loop; default: accept; } }
    state loop { counter.decrement(1); pkt.extract(h.v, (bit<32>) h.a.n * 8); transition select(h.a.x, h.a.n) { two: more; (1, _): accept; } }
}",
    );
}

#[test]
fn tables_with_everything() {
    accepted(
        "header h_h { bit<8> x; bit<16> y; bit<32> a; } struct h_t { h_h a; }
control C(inout h_t h, inout ingress_intrinsic_metadata_for_tm_t tm) {
DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) dc; DirectMeter(MeterType_t.BYTES) dm; Hash<bit<16>>(HashAlgorithm_t.CRC16) hash;
CRCPolynomial<bit<16>>(coeff = 0x8005, reversed = true, msb = false, extended = false, init = 0, xor = 0) poly; Hash<bit<16>>(HashAlgorithm_t.CUSTOM, poly) custom;
ActionProfile(64) ap; ActionSelector(ap, hash, SelectorMode_t.FAIR, 16, 4) sel; Alpm(number_partitions = 1024) alpm;
Counter<bit<32>, bit<9>>(512, CounterType_t.BYTES) count; Meter<bit<9>>(512, MeterType_t.BYTES) meter; DirectRegister<bit<32>>() dr;
DirectRegisterAction<bit<32>, bit<32>>(dr) dra = { void apply(inout bit<32> value, out bit<32> rv) { rv = value; if (value < 5) { value = value + 1; } else { value = 0; } } };
action send(PortId_t port) { tm.ucast_egress_port = port; dc.count(); h.a.x = dm.execute(); h.a.a = dra.execute(); }
action copy(inout bit<8> to, in bit<8> from) { to = from; }
@name(\"renamed\") action other() { copy(h.a.x, 3); h.a.y = hash.get({h.a.x, h.a.y[3:0], 4w0}); }
@stage(3) @pragma ways 2
table t { key = { h.a.x : exact @name(\"ex\"); h.a.y[11:0] : ternary; h.a.a : lpm; h.a.isValid() : exact; h.a.y : range; h.a.a & 0xff : ternary; }
  actions = { send; @defaultonly other; @tableonly NoAction; copy(h.a.x, 7); } const default_action = other(); size = 1024; counters = dc; meters = dm; registers = dr; idle_timeout = true; }
table s { key = { h.a.x : exact; h.a.y : selector; } actions = { send; } implementation = sel; size = 16; }
table l { key = { h.a.a : lpm; } actions = { send; NoAction; } alpm = alpm; default_action = NoAction(); }
table c { key = { h.a.x : ternary; h.a.y : range; } actions = { send; NoAction; } const entries = { (1, 2): send(1); (0x10 &&& 0xf0, 1 .. 5): send(port = 2); (_, 7): NoAction; } }
apply { if (t.apply().hit) { s.apply(); } else if (!c.apply().miss) { exit; }
 switch (l.apply().action_run) { send: { count.count(tm.ucast_egress_port); } NoAction: { h.a.x = meter.execute(tm.ucast_egress_port); } default: { } } } }",
    );
}

#[test]
fn externs_with_inferred_types() {
    accepted(
        "struct pair { bit<16> lo; bit<16> hi; }
control C(inout bit<16> x, inout bit<32> y) {
Register<pair, _>(32w1024, {lo = 1, hi = 2}) reg; Register<bit<16>, bit<10>>(size = 1024, initial_value = 7) named;
RegisterAction<pair, _, bit<16>>(reg) act = { void apply(inout pair value, out bit<16> rv) { rv = value.lo; value.lo = value.hi |+| 1; value.hi = x; } };
RegisterAction<_, bit<10>, bit<16>>(named) any = { void apply(inout bit<16> value) { value = value + 1; } };
RegisterAction2<pair, bit<10>, bit<16>, bit<16>>(reg) two = { void apply(inout pair value, out bit<16> a, out bit<16> b) { a = value.lo; b = this.predicate<bit<16>>(value.lo == 1); } };
Random<bit<16>>() random; MathUnit<bit<16>>(MathOp_t.MUL, 3, 4) math; RegisterParam<bit<32>>(5) param; Lpf<bit<16>, bit<10>>(1024) lpf;
bit<16> second;
apply { x = act.execute(x[9:0]); any.execute(3); x = two.execute(5, second); x = random.get(); x = lpf.execute(x, 3); funnel_shift_right(y, y, 3, 4); x = named.read(5); } }",
    );
}
