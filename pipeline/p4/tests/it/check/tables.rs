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
    expect![[r#"
        error: there is no match kind `exakt`
         --> snippet.p4:6:27
          |
        6 | table t { key = { h.a.x : exakt; h.a : exact; h.a.y[3:0] : ternary; h.a.isValid() : exact; } actions = { set; NoAction; } }
          |                           ^^^^^
          |
          = help: did you mean `exact`?
        error: header `h_h` cannot be a key of a table
         --> snippet.p4:6:34
          |
        6 | table t { key = { h.a.x : exakt; h.a : exact; h.a.y[3:0] : ternary; h.a.isValid() : exact; } actions = { set; NoAction; } }
          |                                  ^^^
          |
          = help: use its fields, or `.isValid()` of a header
        error: table `t` is applied with arguments
         --> snippet.p4:7:28
          |
        7 | apply { t.apply(); t.apply(1); } }
          |                            ^
          |
          = help: its key and actions name their values; write `apply()`
    "#]].assert_eq(&table(
        "table t { key = { h.a.x : exakt; h.a : exact; h.a.y[3:0] : ternary; h.a.isValid() : exact; } actions = { set; NoAction; } }
apply { t.apply(); t.apply(1); }",
    ));
}

#[test]
fn actions_of_tables() {
    expect![[r#"
        error: an argument is given to a parameter of action `set` without direction
         --> snippet.p4:6:52
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                    ^
          |
          = help: the control plane gives these parameters; leave the argument out
        error: action `copy` lacks an argument for parameter `v`
         --> snippet.p4:6:56
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                        ^^^^
          |
          = help: its parameters are (v)
        error: table `t` has action `copy` twice
         --> snippet.p4:6:62
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                              ^^^^^^^^^^^
          |
          = help: remove one of the two
        error: `sett` is not declared
         --> snippet.p4:6:75
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                                           ^^^^
          |
          = help: did you mean `set`?
        error: table `t` has action `set` twice
         --> snippet.p4:6:81
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                                                 ^^^
          |
          = help: remove one of the two
        error: `h` is a parameter, not an action
         --> snippet.p4:6:86
          |
        3 | control C(inout h_t h) {
          |                     - declared here
        ...
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                                                                      ^
        error: action `NoAction` is not among the actions of table `t`
         --> snippet.p4:6:108
          |
        6 | table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
          |                                    ------------------------------------------------------                  ^^^^^^^^
          |                                    |
          |                                    the table's actions
          |
          = help: add `@defaultonly NoAction;` or `NoAction;` to `actions`
        error: action `set` lacks an argument for parameter `v`
         --> snippet.p4:7:47
          |
        7 | table u { actions = { set; } default_action = set; }
          |                                               ^^^
          |
          = help: its parameters are (v)
        error: the argument for parameter `v` is not known at compile time
         --> snippet.p4:8:57
          |
        8 | table v { actions = { set; } const default_action = set(h.a.x); }
          |                                                         ^^^^^
          |
          = help: use numbers, constants and operators on them only
        error: the size of a table is 0; it must be from 1 to 4294967295
         --> snippet.p4:9:81
          |
        9 | table w { actions = { set; copy(h.a.x); } default_action = set(v = 300); size = 0; }
          |                                                                                 ^
        warning: the number 300 does not fit `bit<8>`
         --> snippet.p4:9:68
          |
        9 | table w { actions = { set; copy(h.a.x); } default_action = set(v = 300); size = 0; }
          |                                                                    ^^^ its low bits are 44
          |
          = help: write a number in the range of the type, or a wider type
    "#]].assert_eq(&table(
        "table t { key = { h.a.x : exact; } actions = { set(3); copy; copy(h.a.x); sett; set; h; } default_action = NoAction; }
table u { actions = { set; } default_action = set; }
table v { actions = { set; } const default_action = set(h.a.x); }
table w { actions = { set; copy(h.a.x); } default_action = set(v = 300); size = 0; }
apply { }",
    ));
}

#[test]
fn entries() {
    expect![[r#"
        error: this has 1 key; 2 are expected
         --> snippet.p4:7:88
          |
        7 | const entries = { (1, 2): set(1); (0x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set();...
          |                                                                                        ^^^^^^^^^^^
          |
          = help: give one key per value, in the same order; `_` matches any value
        error: expected `bit<8>`, found `bool`
         --> snippet.p4:7:102
          |
        6 | table t { key = { h.a.x : ternary; h.a.y : range; } actions = { set; NoAction; }
          |                   ----- the key has the type
        7 | const entries = { (1, 2): set(1); (0x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set();...
          |                                                                                                      ^^^^
          |
          = help: convert the truth value: `(bit<8>)(bit<1>) x`
        error: action `set` lacks an argument for parameter `v`
         --> snippet.p4:7:128
          |
        7 | const entries = { (1, 2): set(1); (0x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set();...
          |                                                                                                                                ^^^
          |
          = help: its parameters are (v)
        error: action `copy` is not among the actions of table `t`
         --> snippet.p4:7:143
          |
        6 | ....a.y : range; } actions = { set; NoAction; }
          |                    ---------------------------- the table's actions
        7 | ...x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set(); (1, 2): copy(1); } }
          |                                                                                                              ^^^^^^^
          |
          = help: add `@defaultonly copy;` or `copy;` to `actions`
    "#]].assert_eq(&table(
        "table t { key = { h.a.x : ternary; h.a.y : range; } actions = { set; NoAction; }
const entries = { (1, 2): set(1); (0x10 &&& 0xf0, 1 .. 5): set(2); (_, _): NoAction(); (1): set(3); (true, 1): set(4); (1, 1): set(); (1, 2): copy(1); } }
apply { }",
    ));
}

#[test]
fn switches() {
    expect![[r#"
        error: Sluice does not support `switch` on a value
         --> snippet.p4:8:58
          |
        8 | if (t.apply().hit) { } if (t.apply()) { } if (t.hit) { } switch (h.a.x) { 1: { } } } }
          |                                                          ^^^^^^^^^^^^^
          |
          = help: write `if` and `else if`, or a table with constant entries
        error: property `implementation` has as its value `int`, a constant without a width
         --> snippet.p4:6:82
          |
        6 | table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
          |                                                                                  ^
          |
          = help: name an extern object, such as a `ActionProfile`
        warning: property `ageing` of a table has no effect
         --> snippet.p4:6:106
          |
        6 | table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
          |                                                                                                          ^^^^^^
          |
          = help: remove the property
        error: table `t` has no action `sett`
         --> snippet.p4:7:50
          |
        6 | table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
          |       - the table
        7 | apply { switch (t.apply().action_run) { set: { } sett: { } copy: { } set: { } default: { } }
          |                                                  ^^^^
          |
          = help: did you mean `set`?
        error: table `t` has no action `copy`
         --> snippet.p4:7:60
          |
        6 | table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
          |       - the table
        7 | apply { switch (t.apply().action_run) { set: { } sett: { } copy: { } set: { } default: { } }
          |                                                            ^^^^
          |
          = help: add the action to the table, or remove the case
        error: action `set` has two cases
         --> snippet.p4:7:70
          |
        7 | apply { switch (t.apply().action_run) { set: { } sett: { } copy: { } set: { } default: { } }
          |                                                                      ^^^
          |
          = help: remove one of the two
        error: expected `bool`, found the result of table `t`
         --> snippet.p4:8:28
          |
        8 | if (t.apply().hit) { } if (t.apply()) { } if (t.hit) { } switch (h.a.x) { 1: { } } } }
          |                            ^^^^^^^^^ a condition
          |
          = help: ask for `.hit` or `.miss`
        error: table `t` has no member `hit`; the result of applying it has
         --> snippet.p4:8:49
          |
        8 | if (t.apply().hit) { } if (t.apply()) { } if (t.hit) { } switch (h.a.x) { 1: { } } } }
          |                                                 ^^^
          |
          = help: write `.apply().hit`
    "#]].assert_eq(&table(
        "table t { key = { h.a.x : exact; } actions = { set; NoAction; } implementation = 3; idle_timeout = true; ageing = 5; }
apply { switch (t.apply().action_run) { set: { } sett: { } copy: { } set: { } default: { } }
if (t.apply().hit) { } if (t.apply()) { } if (t.hit) { } switch (h.a.x) { 1: { } } }",
    ));
}
