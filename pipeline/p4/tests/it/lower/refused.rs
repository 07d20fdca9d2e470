//! Messages on what has no home in the program.

use super::refused;
use expect_test::expect;

#[test]
fn operations_that_the_chip_lacks() {
    let declarations = "
    action scale(bit<8> by) { m.a = m.b * 3; }
    action shift(bit<8> by) { m.wide = m.wide << by; }
    table u { key = { m.a : exact; } actions = { scale; shift; } default_action = scale(1); }
    ";
    let expected = expect![[r#"
        error: the chip multiplies and divides only by powers of two
          --> snippet.p4:18:37
           |
        18 |     action scale(bit<8> by) { m.a = m.b * 3; }
           |                                     ^^^^^^^
           |
           = help: use a table of results, or the math unit of a register
        error: a shift by a value that is not constant
          --> snippet.p4:19:40
           |
        19 |     action shift(bit<8> by) { m.wide = m.wide << by; }
           |                                        ^^^^^^^^^^^^
           |
           = help: use one action per amount, chosen by a table
    "#]];
    expected.assert_eq(&refused(declarations, "u.apply();"));
}

#[test]
fn conditions_of_parameters_need_fields() {
    let declarations = "
    action choose(bit<8> limit) { m.b = m.a |-| limit; if (m.b == 0) { m.a = 0; } else { m.a = m.a << limit; } }
    table t { key = { m.a : exact; } actions = { choose; } default_action = choose(1); }";
    let expected = expect![[r#"
        error: a shift by a value that is not constant
          --> snippet.p4:18:96
           |
        18 |     action choose(bit<8> limit) { m.b = m.a |-| limit; if (m.b == 0) { m.a = 0; } else { m.a = m.a << limit; } }
           |                                                                                                ^^^^^^^^^^^^
           |
           = help: use one action per amount, chosen by a table
    "#]];
    expected.assert_eq(&refused(declarations, "t.apply();"));
}

#[test]
fn validity_of_fields_that_have_none() {
    let apply = "if (is_validated(dprsr.mirror_type)) { m.a = 1; } if (is_validated(m.word)) { m.a = 2; }";
    let expected = expect![[r#"
        error: the parser of Tofino's ingress makes `mirror_type` valid
          --> snippet.p4:19:5
           |
        19 | if (is_validated(dprsr.mirror_type)) { m.a = 1; } if (is_validated(m.word)) { m.a = 2; }
           |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           |
           = help: put `@disable_reserved_i2e_drop_implementation` on a declaration, or leave the condition out: it is true
        error: nothing says whether this field is valid
          --> snippet.p4:19:55
           |
        19 | if (is_validated(dprsr.mirror_type)) { m.a = 1; } if (is_validated(m.word)) { m.a = 2; }
           |                                                       ^^^^^^^^^^^^^^^^^^^^
           |
           = help: ask for a type of a request or the egress port; ask `isValid` of a header
    "#]];
    expected.assert_eq(&refused("", apply));
}
