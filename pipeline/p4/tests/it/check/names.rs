//! Names that are unknown, too late, or declared twice.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn unknown_field_with_a_near_name() {
    expect![[r#"
        error: there is no field `tll` in header `ipv4_h`
         --> snippet.p4:7:8
          |
        2 | header ipv4_h { bit<8> ttl; bit<8> proto; bit<16> len; int<16> delta; bit<32> src; }
          |        ------ header `ipv4_h` is declared here
        ...
        7 | h.ipv4.tll = 1;
          |        ^^^
          |
          = help: did you mean `ttl`?
    "#]]
    .assert_eq(&statements("h.ipv4.tll = 1;"));
}

#[test]
fn unknown_names() {
    expect![[r#"
        error: `wrod` is not declared
         --> snippet.p4:7:10
          |
        7 | m.word = wrod; undeclared();
          |          ^^^^
          |
          = help: declare a value of this name before the use, or correct the name
        error: `undeclared` is not declared
         --> snippet.p4:7:16
          |
        7 | m.word = wrod; undeclared();
          |                ^^^^^^^^^^
          |
          = help: declare a function of this name before the use, or correct the name
    "#]]
    .assert_eq(&statements("m.word = wrod; undeclared();"));
}

#[test]
fn names_of_v1model_have_a_form_in_tna() {
    expect![[r#"
        error: `mark_to_drop` is not declared
         --> snippet.p4:7:1
          |
        7 | mark_to_drop();
          | ^^^^^^^^^^^^
          |
          = help: the name is of v1model (bmv2); in TNA, `dprsr.drop_ctl = 1;` drops the packet
    "#]]
    .assert_eq(&statements("mark_to_drop();"));
}

#[test]
fn type_after_its_use() {
    expect![[r#"
        error: `const_t` is used before its declaration
         --> snippet.p4:2:14
          |
        2 | struct a_t { const_t x; }
          |              ^^^^^^^
        3 | typedef bit<8> const_t;
          |                ------- a type of this name is declared here
          |
          = help: move the declaration in front of the use
    "#]]
    .assert_eq(&messages("struct a_t { const_t x; }\ntypedef bit<8> const_t;"));
}

#[test]
fn constant_after_its_use() {
    expect![[r#"
        error: `B` is used before its declaration
         --> snippet.p4:2:18
          |
        2 | const bit<8> A = B;
          |                  ^
        3 | const bit<8> B = 1;
          |              - a constant of this name is declared here
          |
          = help: move the declaration in front of the use
    "#]]
    .assert_eq(&messages("const bit<8> A = B;\nconst bit<8> B = 1;"));
}

#[test]
fn names_declared_twice() {
    let text =
        "const bit<8> A = 1;\nconst bit<8> A = 2;\nstruct s_t { bit<8> x; bit<8> x; }\nenum e_t { P, P }";
    expect![[r#"
        error: `A` is declared twice
         --> snippet.p4:3:14
          |
        2 | const bit<8> A = 1;
          |              - declared first here
        3 | const bit<8> A = 2;
          |              ^ declared again here
          |
          = help: remove or rename one of the two declarations
        error: `x` is declared twice
         --> snippet.p4:4:31
          |
        4 | struct s_t { bit<8> x; bit<8> x; }
          |                     -         ^ declared again here
          |                     |
          |                     declared first here
          |
          = help: remove or rename one of the two declarations
        error: `P` is declared twice
         --> snippet.p4:5:15
          |
        5 | enum e_t { P, P }
          |            -  ^ declared again here
          |            |
          |            declared first here
          |
          = help: remove or rename one of the two declarations
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn type_inside_itself() {
    expect![[r#"
        error: `s_t` is used inside its own declaration
         --> snippet.p4:2:14
          |
        2 | struct s_t { s_t inner; }
          |        ---   ^^^
          |        |
          |        this declaration is not complete at the use
          |
          = help: a P4 type, parser or control cannot contain itself
    "#]]
    .assert_eq(&messages("struct s_t { s_t inner; }"));
}

#[test]
fn members_of_enumerations() {
    let text = "const HashAlgorithm_t A = HashAlgorithm_t.CRC61;\nconst error E = error.NoMatsch;";
    expect![[r#"
        error: there is no member `CRC61` in enumeration `HashAlgorithm_t`
          --> snippet.p4:2:43
           |
         2 | const HashAlgorithm_t A = HashAlgorithm_t.CRC61;
           |                                           ^^^^^
           |
          ::: <tofino1_specs.p4>:76:6
           |
        76 | enum HashAlgorithm_t { IDENTITY, RANDOM, XOR8, XOR16, XOR32, CRC8, CRC16, CRC32, CRC64, CUSTOM }
           |      --------------- enumeration `HashAlgorithm_t` is declared here
           |
           = help: did you mean `CRC16`?
        error: there is no member `NoMatsch` in `error`
         --> snippet.p4:3:23
          |
        3 | const error E = error.NoMatsch;
          |                       ^^^^^^^^
          |
          = help: did you mean `NoMatch`?
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn place_inside_a_macro() {
    let text = "#define BUMP(f) f = f + h.ipv4.tll\n".to_owned() + &super::control("BUMP(m.word);");
    expect![[r#"
        error: there is no field `tll` in header `ipv4_h`
         --> snippet.p4:8:1
          |
        2 | #define BUMP(f) f = f + h.ipv4.tll
          |                                --- in the definition of macro `BUMP`
        3 | header ipv4_h { bit<8> ttl; bit<8> proto; bit<16> len; int<16> delta; bit<32> src; }
          |        ------ header `ipv4_h` is declared here
        ...
        8 | BUMP(m.word);
          | ^^^^^^^^^^^^
          |
          = help: did you mean `ttl`?
    "#]]
    .assert_eq(&messages(&text));
}

#[test]
fn control_inside_itself() {
    expect![[r#"
        error: `C` is used inside its own declaration
         --> snippet.p4:2:29
          |
        2 | control C(inout bit<8> x) { C() inner; apply { inner.apply(x); } }
          |         -                   ^
          |         |
          |         this declaration is not complete at the use
          |
          = help: a P4 type, parser or control cannot contain itself
    "#]]
    .assert_eq(&messages("control C(inout bit<8> x) { C() inner; apply { inner.apply(x); } }"));
}
