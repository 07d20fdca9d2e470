//! Messages on what has no home in the program.

use super::refused;
use expect_test::expect;

#[test]
fn actions_that_decide_or_compute_twice() {
    let declarations = "
    action decide() { if (m.a == 1) { m.b = 2; } }
    action twice(bit<32> x) { m.wide = (m.wide + x) ^ hdr.ipv4.dst; }
    table u { key = { m.a : exact; } actions = { twice; } default_action = twice(1); }
    action late(bit<8> index) { m.wide = r.execute(0); m.wide = m.wide + 1; }";
    let register = "
    Register<bit<32>, bit<8>>(16) r0;
    RegisterAction<bit<32>, bit<8>, bit<32>>(r0) r = { void apply(inout bit<32> value, out bit<32> rv) { rv = value; } };";
    let expected = expect![[r#"
        error: an action decides nothing: its instructions run for every packet that runs it
          --> snippet.p4:15:27
           |
        15 |     action decide() { if (m.a == 1) { m.b = 2; } }
           |                           ^^^^^^^^
           |
           = help: move the `if` to the `apply` block, with an action for each branch
        error: this value takes several operations: xor(add(m.wide, $0), ipv4.dst)
          --> snippet.p4:16:31
           |
        16 |     action twice(bit<32> x) { m.wide = (m.wide + x) ^ hdr.ipv4.dst; }
           |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
           |
           = help: one instruction does one operation: write a part of the value to a metadata field in an earlier action
        error: `m.wide` takes the result of another unit in this action, and is read in the same action
          --> snippet.p4:18:65
           |
        18 |     action late(bit<8> index) { m.wide = r.execute(0); m.wide = m.wide + 1; }
           |                                                                 ^^^^^^
           |
           = help: read it in a later action: the result arrives when the instructions have run
    "#]];
    expected.assert_eq(&refused(&format!("{register}{declarations}"), "decide(); u.apply(); late(3);"));
}

#[test]
fn tables_at_two_places_and_conditions_that_compute() {
    let declarations = "
    action none() {}
    table t { key = { m.a : exact; } actions = { none; } default_action = none(); }";
    let apply = "
        if (m.a + 1 == m.b) { t.apply(); } else { t.apply(); }";
    let expected = expect![[r#"
        error: a gateway compares fields, slices and constants, and computes nothing
          --> snippet.p4:17:13
           |
        17 |         if (m.a + 1 == m.b) { t.apply(); } else { t.apply(); }
           |             ^^^^^^^^^^^^^^
           |
           = help: write the value to a metadata field in an earlier action and compare the field
    "#]];
    expected.assert_eq(&refused(declarations, apply));
}
