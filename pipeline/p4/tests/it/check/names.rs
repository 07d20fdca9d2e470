//! Names that are unknown, too late, or declared twice.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn unknown_field_with_a_near_name() {
    expect![[r#""#]].assert_eq(&statements("h.ipv4.tll = 1;"));
}

#[test]
fn unknown_names() {
    expect![[r#""#]].assert_eq(&statements("m.word = wrod; undeclared();"));
}

#[test]
fn type_after_its_use() {
    expect![[r#""#]].assert_eq(&messages("struct a_t { const_t x; }\ntypedef bit<8> const_t;"));
}

#[test]
fn constant_after_its_use() {
    expect![[r#""#]].assert_eq(&messages("const bit<8> A = B;\nconst bit<8> B = 1;"));
}

#[test]
fn names_declared_twice() {
    let text = "const bit<8> A = 1;\nconst bit<8> A = 2;\nstruct s_t { bit<8> x; bit<8> x; }\nenum e_t { P, P }";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn type_inside_itself() {
    expect![[r#""#]].assert_eq(&messages("struct s_t { s_t inner; }"));
}

#[test]
fn members_of_enumerations() {
    let text = "const HashAlgorithm_t A = HashAlgorithm_t.CRC61;\nconst error E = error.NoMatsch;";
    expect![[r#""#]].assert_eq(&messages(text));
}

#[test]
fn place_inside_a_macro() {
    let text = "#define BUMP(f) f = f + h.ipv4.tll\n".to_owned() + &super::control("BUMP(m.word);");
    expect![[r#""#]].assert_eq(&messages(&text));
}
