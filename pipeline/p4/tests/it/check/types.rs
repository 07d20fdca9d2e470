//! Types that do not fit, and types that cannot be.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn widths_differ() {
    expect![[r#""#]].assert_eq(&statements("m.word = h.ipv4.ttl; h.ipv4.ttl = h.ipv4.ttl + m.word;"));
}

#[test]
fn truth_values_are_no_bits() {
    expect![[r#""#]].assert_eq(&statements("if (m.flag) { m.flag = m.good; } if (h.ipv4.isValid() & m.good) { }"));
}

#[test]
fn signs_differ() {
    expect![[r#""#]].assert_eq(&statements("h.ipv4.len = h.ipv4.delta; h.ipv4.delta = (int<16>) h.ipv4.ttl;"));
}

#[test]
fn widths_that_no_type_has() {
    let text = "typedef bit<0> none_t;\ntypedef bit<1000000000> much_t;\nconst bit<8> A = 0w1;\ntypedef bit<(1 << 1000000000)> huge_t;";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn slices_outside() {
    expect![[r#""#]].assert_eq(&statements("m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];"));
}

#[test]
fn lists_with_other_fields() {
    let text = "m = {1, true, 2}; h.ipv4 = {1, 2, 3, 4, h.ipv4.len}; m = {flag = 1, goood = true, word = 2, color = MeterColor_t.RED};";
    expect![[r#""#]].assert_eq(&statements(text));
}

#[test]
fn enumerations_are_named() {
    expect![[r#""#]].assert_eq(&statements("m.color = 1; m.color = (MeterColor_t) 8w1; h.ipv4.ttl = m.color;"));
}

#[test]
fn fields_of_headers() {
    let text = "struct in_t { bit<8> x; }\nenum e_t { A }\nheader h_t { in_t a; e_t b; bool c; varbit<32> d; }\nheader g_t { h_t e; }";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn numbers_of_type_arguments() {
    let text = "Register<bit<8>>(16) a;\nRegister<bit<8>, bit<4>, bit<4>>(16) b;\ncontrol C()() { Counter<bit<32>, bit<4>>(16, CounterType_t.PACKETS) c; apply { } }";
    expect![[r#""#]].assert_eq(&messages(text));
}
