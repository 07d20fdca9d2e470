//! Calls, assignments, and other statements.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn places_that_cannot_be_written() {
    expect![[r#""#]].assert_eq(&statements("port = 1; h.ipv4.ttl + 1 = 2; h.ipv4.isValid() = true;"));
}

#[test]
fn arguments_of_methods() {
    let text = "control C(inout bit<8> x) { Register<bit<8>, bit<4>>(16) reg;
RegisterAction<bit<8>, bit<4>, bit<8>>(reg) step = { void apply(inout bit<8> value, out bit<8> rv) { rv = value; value = value + 1; } };
Random<bit<8>>() rnd;
apply { x = step.execute(16w1); x = step.exekute(1); x = rnd.get(1); x = rnd.get(); x = step.execute(index = 1); x = step.execute(indx = 1); } }";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn methods_of_register_actions() {
    let text = "struct pair { bit<32> a; bit<32> b; }
Register<pair, bit<8>>(256) reg;
RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_type = { void apply(inout bit<32> value, out bit<32> rv) { rv = value; } };
RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_direction = { void apply(in pair value) { } };
RegisterAction<pair, bit<8>, bit<32>>(reg) other_name = { void run(inout pair value) { } };
RegisterAction<pair, bit<8>, bit<32>>(reg) no_method;
RegisterAction<pair, bit<8>, bit<32>>(reg) good = { void apply(inout pair value) { value.a = value.a |+| 1; } };
RegisterAction3<pair, bit<8>, bit<32>, bit<32>, bit<32>>(reg) three = { void apply(inout pair value, out bit<32> x, out bit<32> y, out bit<32> z) { } };";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn arguments_of_actions_and_controls() {
    let text = "control Inner(inout bit<8> x, in bit<16> y)(bit<8> n) { apply { x = n; } }
control C(inout bit<8> x, inout bit<16> z) { Inner(5) a; Inner() b; Inner(x) c;
action set(inout bit<8> to, bit<8> v) { to = v; }
apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn parsers() {
    let text = "header a_h { bit<8> x; } struct h_t { a_h a; a_h[3] s; }
parser P(packet_in pkt, out h_t h) {
    state begin { pkt.extract(h); pkt.extract(h.s); transition next; }
    state nekst { pkt.extract(h.s.next); transition select(h.s.last.x, h.a.x) { (1, 2): accept; (1, 2, 3): accept; (0x10 &&& 0xf0, 1 .. 5): begn; (x, _): reject; default: accept; } }
    state accept { transition nekst; }
}";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn independent_errors_are_all_found() {
    let text = "h.ipv4.ttl = unknown_name; h.ipv4.missing = 1; m.word = h.ipv4.ttl; if (m.word) { }";
    assert_eq!(statements(text).matches("error").count(), 4);
}
