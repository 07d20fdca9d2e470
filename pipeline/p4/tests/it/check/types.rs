//! Types that do not fit, and types that cannot be.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn widths_differ() {
    expect![[r#"
        error: expected `bit<16>`, found `bit<8>`
         --> snippet.p4:7:10
          |
        7 | m.word = h.ipv4.ttl; h.ipv4.ttl = h.ipv4.ttl + m.word;
          | ------   ^^^^^^^^^^
          | |
          | the target has the type
          |
          = help: convert the value with zeros in front: `(bit<16>) x`
        error: expected `bit<8>`, found `bit<16>`
         --> snippet.p4:7:48
          |
        7 | m.word = h.ipv4.ttl; h.ipv4.ttl = h.ipv4.ttl + m.word;
          |                                   ----------   ^^^^^^
          |                                   |
          |                                   the other operand has the type
          |
          = help: take the low bits: `x[7:0]`
    "#]]
    .assert_eq(&statements("m.word = h.ipv4.ttl; h.ipv4.ttl = h.ipv4.ttl + m.word;"));
}

#[test]
fn truth_values_are_no_bits() {
    expect![[r#"
        error: expected `bool`, found `bit<1>`
         --> snippet.p4:7:5
          |
        7 | if (m.flag) { m.flag = m.good; } if (h.ipv4.isValid() & m.good) { }
          |     ^^^^^^ a condition
          |
          = help: compare the bit: `x == 1`
        error: expected `bit<1>`, found `bool`
         --> snippet.p4:7:24
          |
        7 | if (m.flag) { m.flag = m.good; } if (h.ipv4.isValid() & m.good) { }
          |               ------   ^^^^^^
          |               |
          |               the target has the type
          |
          = help: convert the truth value: `(bit<1>) x`
        error: operator `&` expects numbers, found `bool`
         --> snippet.p4:7:38
          |
        7 | if (m.flag) { m.flag = m.good; } if (h.ipv4.isValid() & m.good) { }
          |                                      ^^^^^^^^^^^^^^^^
          |
          = help: use `&&` for truth values
    "#]]
    .assert_eq(&statements("if (m.flag) { m.flag = m.good; } if (h.ipv4.isValid() & m.good) { }"));
}

#[test]
fn signs_differ() {
    expect![[r#"
        error: expected `bit<16>`, found `int<16>`
         --> snippet.p4:7:14
          |
        7 | h.ipv4.len = h.ipv4.delta; h.ipv4.delta = (int<16>) h.ipv4.ttl;
          | ----------   ^^^^^^^^^^^^
          | |
          | the target has the type
          |
          = help: convert the value: `(bit<16>) x`
        error: `bit<8>` cannot be cast to `int<16>`
         --> snippet.p4:7:43
          |
        7 | h.ipv4.len = h.ipv4.delta; h.ipv4.delta = (int<16>) h.ipv4.ttl;
          |                                           ^^^^^^^^^^^^^^^^^^^^
          |
          = help: change one thing at a time: `(int<8>) x` first
    "#]]
    .assert_eq(&statements("h.ipv4.len = h.ipv4.delta; h.ipv4.delta = (int<16>) h.ipv4.ttl;"));
}

#[test]
fn widths_that_no_type_has() {
    let text = "typedef bit<0> none_t;\ntypedef bit<1000000000> much_t;\nconst bit<8> A = 0w1;\ntypedef bit<(1 << 1000000000)> huge_t;";
    expect![[r#"
        error: the width of `bit<W>` is 1000000000; it must be from 0 to 2048
         --> snippet.p4:3:13
          |
        3 | typedef bit<1000000000> much_t;
          |             ^^^^^^^^^^
        error: the number has a width of 0; it must be from 1 to 2048
         --> snippet.p4:4:18
          |
        4 | const bit<8> A = 0w1;
          |                  ^^^
        error: operator `<<` has no result: the result has more than 2048 bits
         --> snippet.p4:5:14
          |
        5 | typedef bit<(1 << 1000000000)> huge_t;
          |              ^^^^^^^^^^^^^^^
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn slices_outside() {
    expect![[r#"
        error: slice `[16:1]` is outside `bit<16>`
         --> snippet.p4:7:21
          |
        7 | m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];
          |                     ^^^^
          |
          = help: a slice is `[hi:lo]` with 15 >= hi >= lo >= 0
        error: slice `[0:1]` has its bounds in the wrong order
         --> snippet.p4:7:44
          |
        7 | m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];
          |                                            ^^^
          |
          = help: a slice is `[hi:lo]` with 15 >= hi >= lo >= 0
        error: the bound of a slice is not known at compile time
         --> snippet.p4:7:66
          |
        7 | m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];
          |                                                                  ^^^^^^
          |
          = help: use numbers, constants and operators on them only
        error: the bound of a slice is not known at compile time
         --> snippet.p4:7:73
          |
        7 | m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];
          |                                                                         ^^^^^^
          |
          = help: use numbers, constants and operators on them only
    "#]]
    .assert_eq(&statements(
        "m.word = h.ipv4.len[16:1]; m.flag = m.word[0:1]; m.flag = m.word[m.flag:m.flag];",
    ));
}

#[test]
fn lists_with_other_fields() {
    let text = "m = {1, true, 2}; h.ipv4 = {1, 2, 3, 4, h.ipv4.len}; m = {flag = 1, goood = true, word = 2, color = MeterColor_t.RED};";
    expect![[r#"
        error: expected struct `meta_t`, found `{int, bool, int}`
         --> snippet.p4:7:5
          |
        7 | m = {1, true, 2}; h.ipv4 = {1, 2, 3, 4, h.ipv4.len}; m = {flag = 1, goood = true, word = 2, color = MeterColor_t.RED};
          | -   ^^^^^^^^^^^^
          | |
          | the target has the type
          |
          = help: the list has 3 elements and `meta_t` has 4 fields; give one element per field
        error: expected `bit<32>`, found `bit<16>`
         --> snippet.p4:7:41
          |
        7 | m = {1, true, 2}; h.ipv4 = {1, 2, 3, 4, h.ipv4.len}; m = {flag = 1, goood = true, word = 2, color = MeterColor_t.RED};
          |                                         ^^^^^^^^^^ value of field `src`
          |
          = help: convert the value with zeros in front: `(bit<32>) x`
        error: there is no field `goood` in struct `meta_t`
         --> snippet.p4:7:69
          |
        5 | struct meta_t { bit<1> flag; bool good; bit<16> word; MeterColor_t color; }
          |        ------ struct `meta_t` is declared here
        6 | control C(inout headers_t h, inout meta_t m, in bit<9> port) { apply {
        7 | m = {1, true, 2}; h.ipv4 = {1, 2, 3, 4, h.ipv4.len}; m = {flag = 1, goood = true, word = 2, color = MeterColor_t.RED};
          |                                                                     ^^^^^
          |
          = help: did you mean `good`?
    "#]].assert_eq(&statements(text));
}

#[test]
fn enumerations_are_named() {
    expect![[r#"
        error: expected enumeration `MeterColor_t`, found `int`, a constant without a width
         --> snippet.p4:7:11
          |
        7 | m.color = 1; m.color = (MeterColor_t) 8w1; h.ipv4.ttl = m.color;
          | -------   ^
          | |
          | the target has the type
          |
          = help: name a member of `MeterColor_t`, or convert the value: `(MeterColor_t) x`
    "#]]
    .assert_eq(&statements("m.color = 1; m.color = (MeterColor_t) 8w1; h.ipv4.ttl = m.color;"));
}

#[test]
fn fields_of_headers() {
    let text = "struct in_t { bit<8> x; }\nenum e_t { A }\nheader h_t { in_t a; e_t b; bool c; varbit<32> d; }\nheader g_t { h_t e; }";
    expect![[r#"
        error: field `b` of a header has the type enumeration `e_t`
         --> snippet.p4:4:22
          |
        4 | header h_t { in_t a; e_t b; bool c; varbit<32> d; }
          |                      ^^^
          |
          = help: fields of a header are `bit<W>`, `int<W>`, `bool`, `varbit<W>`, enumerations with a type, and structs of these
        error: field `e` of a header has the type header `h_t`
         --> snippet.p4:5:14
          |
        5 | header g_t { h_t e; }
          |              ^^^
          |
          = help: fields of a header are `bit<W>`, `int<W>`, `bool`, `varbit<W>`, enumerations with a type, and structs of these
    "#]].assert_eq(&messages(text));
}

#[test]
fn numbers_of_type_arguments() {
    let text = "Register<bit<8>>(16) a;\nRegister<bit<8>, bit<4>, bit<4>>(16) b;\ncontrol C()() { Counter<bit<32>, bit<4>>(16, CounterType_t.PACKETS) c; apply { } }";
    expect![[r#"
        error: `Register` has 2 type parameters, and 1 type argument is given
         --> snippet.p4:2:1
          |
        2 | Register<bit<8>>(16) a;
          | ^^^^^^^^
          |
          = help: write `Register<T, I>`
        error: `Register` has 2 type parameters, and 3 type arguments are given
         --> snippet.p4:3:1
          |
        3 | Register<bit<8>, bit<4>, bit<4>>(16) b;
          | ^^^^^^^^
          |
          = help: write `Register<T, I>`
    "#]]
    .assert_eq(&messages(text));
}
