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
