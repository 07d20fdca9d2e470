//! Operators, slices, casts and constants.

use super::{Parts, apply, apply_with};

#[test]
fn sums_wrap_and_saturate_at_their_width() {
    // 0xf0 + 0x12 = 0x102.
    assert_eq!(
        apply("hdr.o.x = (bit<32>)(hdr.i.b + hdr.i.a); hdr.o.y = (bit<32>)(hdr.i.b |+| hdr.i.a);"),
        [0x02, 0xff]
    );
    // 0x12 - 0xf0 = -0xde.
    assert_eq!(
        apply("hdr.o.x = (bit<32>)(hdr.i.a - hdr.i.b); hdr.o.y = (bit<32>)(hdr.i.a |-| hdr.i.b);"),
        [0x22, 0]
    );
    assert_eq!(apply("hdr.o.x = hdr.o.x - 1; hdr.o.y = -hdr.i.d;"), [0xffff_ffff, 0xfefd_fcfc]);
}

#[test]
fn signed_numbers_compare_shift_and_saturate_by_sign() {
    // (int<8>) 0xf0 is -16; -16 >> 2 = -4; -16 - 120 = -136, which saturates at -128.
    assert_eq!(
        apply(
            "int<8> s = (int<8>)hdr.i.b; int<8> t = s >> 2; hdr.o.x = (bit<32>)(bit<8>)t;
             int<8> u = s |-| 120; hdr.o.y = (bit<32>)(bit<8>)u;"
        ),
        [0xfc, 0x80]
    );
    assert_eq!(
        apply(
            "int<8> s = (int<8>)hdr.i.b; if (s < 0) { hdr.o.x = 1; } if (hdr.i.b < 0x12) { hdr.o.y = 1; }
             int<16> w = (int<16>)s; hdr.o.y = (bit<32>)(bit<16>)w;"
        ),
        [1, 0xfff0]
    );
}

#[test]
fn slices_are_read_and_written() {
    assert_eq!(
        apply("hdr.o.x = (bit<32>)hdr.i.d[23:8]; hdr.o.y = 0xffffffff; hdr.o.y[15:8] = hdr.i.a;"),
        [0x0203, 0xffff_12ff]
    );
    assert_eq!(apply("hdr.o.x[31:16] = hdr.i.c; hdr.o.x[0:0] = 1; hdr.o.y = hdr.o.x;"), [0x8001_0001; 2]);
}

#[test]
fn values_are_joined_and_cast() {
    assert_eq!(
        apply("hdr.o.x = hdr.i.a ++ hdr.i.b ++ hdr.i.c; hdr.o.y = (bit<32>)(hdr.i.d[3:0] ++ 4w5);"),
        [0x12f0_8001, 0x45]
    );
    assert_eq!(
        apply("bool t = hdr.i.a == 0x12; hdr.o.x = (bit<32>)(bit<1>)t; hdr.o.y = (bit<32>)(bit<4>)hdr.i.d;"),
        [1, 4]
    );
}

#[test]
fn bits_are_combined_and_shifted() {
    assert_eq!(
        apply("hdr.o.x = ~hdr.i.d; hdr.o.y = (hdr.i.d & 0xff00) | (hdr.i.d ^ 0xff);"),
        [0xfefd_fcfb, 0x0102_03fb]
    );
    assert_eq!(apply("hdr.o.x = hdr.i.d << 28; hdr.o.y = hdr.i.d >> hdr.i.a;"), [0x4000_0000, 0x40]);
    assert_eq!(
        apply("hdr.o.x = hdr.i.d << hdr.i.b; hdr.o.y = (hdr.i.a > 3 ? hdr.i.d : 7);"),
        [0, 0x0102_0304]
    );
}

#[test]
fn constants_have_any_size_until_they_get_a_width() {
    let parts = Parts {
        top: "const int BIG = 1 << 40; const bit<32> LOW = (bit<32>)(BIG + 5); const bit<8> LAST = 8w250 + 10;",
        apply: "hdr.o.x = LOW; hdr.o.y = (bit<32>)LAST;",
        ..Parts::default()
    };
    assert_eq!(parts.words(&super::PACKET), [5, 4]);
}

#[test]
fn enumerations_and_structs() {
    let parts = Parts {
        top: "enum bit<8> kind_t { ONE = 1, TWO = 0x12 } enum plain_t { A, B }
              struct pair_t { bit<16> lo; bit<16> hi; }",
        apply: "if (hdr.i.a == kind_t.TWO) { hdr.o.x = 9; }
                plain_t p = plain_t.B; if (p == plain_t.B && p != plain_t.A) { hdr.o.x = hdr.o.x + 1; }
                pair_t q = { 3, hdr.i.c }; pair_t r = q; q.lo = 4;
                hdr.o.y = r.hi ++ q.lo; if (r == q) { hdr.o.y = 0; }",
        ..Parts::default()
    };
    assert_eq!(parts.words(&super::PACKET), [10, 0x8001_0004]);
}

#[test]
fn the_second_operand_is_not_evaluated_without_need() {
    // `push` would have an effect: a table is applied only on the right of `&&`.
    let table = "action one() { hdr.o.y = hdr.o.y + 1; }
        table t { actions = { one; } default_action = one(); }";
    assert_eq!(
        apply_with(
            table,
            "if (hdr.i.a == 0 && t.apply().miss) { hdr.o.x = 1; } if (hdr.i.a != 0 || t.apply().hit) { hdr.o.x = 2; }"
        ),
        [2, 0]
    );
}
