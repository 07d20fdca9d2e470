//! Tables and `switch`.

use super::messages;
use expect_test::expect;

fn table(text: &str) -> String {
    messages(&format!(
        "header h_h {{ bit<8> x; bit<16> y; }} struct h_t {{ h_h a; }}
control C(inout h_t h) {{
action set(bit<8> v) {{ h.a.x = v; }}
action copy(in bit<8> v) {{ h.a.x = v; }}
{text} }}"
    ))
}

#[test]
fn keys_and_match_kinds() {
    expect![[r#""#]].assert_eq(&table(
        "table t { key = { h.a.x : exakt; h.a : exact; h.a.y[3:0] : ternary; h.a.isValid() : exact; } actions = { set; NoAction; } }
apply { t.apply(); t.apply(1); }",
    ));
}

#[test]
fn actions_of_tables() {
    expect![[r#""#]].assert_eq(&table(
        "table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
table u { actions = { set; } default_action = set; }
table v { actions = { set; } const default_action = set(h.a.x); }
table w { actions = { set; copy(h.a.x); } default_action = set(v = 300); size = 0; }
apply { }",
    ));
}

#[test]
fn entries() {
    expect![[r#""#]].assert_eq(&table(
        "table t { key = { h.a.x : ternary; h.a.y : range; } actions = { set; NoAction; }
const entries = { (1, 2): set(1); (0x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set(); (1, 2): copy(1); } }
apply { }",
    ));
}

#[test]
fn switches() {
    expect![[r#""#]].assert_eq(&table(
        "table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
apply { switch (t.apply().action_run) { set: { } sett: { } copy: { } set: { } default: { } }
if (t.apply().hit) { } if (t.apply()) { } if (t.hit) { } switch (h.a.x) { 1: { } } }",
    ));
}
