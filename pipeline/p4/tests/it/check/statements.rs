//! Calls, assignments, and other statements.

use super::{messages, statements};
use expect_test::expect;

#[test]
fn places_that_cannot_be_written() {
    expect![[r#"
        error: `port` cannot be assigned
         --> snippet.p4:7:1
          |
        6 | control C(inout headers_t h, inout meta_t m, in bit<9> port) { apply {
          |                                                        ---- declared here
        7 | port = 1; h.ipv4.ttl + 1 = 2; h.ipv4.isValid() = true;
          | ^^^^ it is an `in` parameter
          |
          = help: declare the parameter `inout`, or write to a local variable
        error: this value cannot be assigned
         --> snippet.p4:7:11
          |
        7 | port = 1; h.ipv4.ttl + 1 = 2; h.ipv4.isValid() = true;
          |           ^^^^^^^^^^^^^^
          |
          = help: name a variable, a field of a header or struct, an element of a stack, or a slice of these
        error: this value cannot be assigned
         --> snippet.p4:7:31
          |
        7 | port = 1; h.ipv4.ttl + 1 = 2; h.ipv4.isValid() = true;
          |                               ^^^^^^^^^^^^^^^^
          |
          = help: name a variable, a field of a header or struct, an element of a stack, or a slice of these
    "#]]
    .assert_eq(&statements("port = 1; h.ipv4.ttl + 1 = 2; h.ipv4.isValid() = true;"));
}

#[test]
fn arguments_of_methods() {
    let text = "control C(inout bit<8> x) { Register<bit<8>, bit<4>>(16) reg;
RegisterAction<bit<8>, bit<4>, bit<8>>(reg) step = { void apply(inout bit<8> value, out bit<8> rv) { rv = value; value = value + 1; } };
Random<bit<8>>() rnd;
apply { x = step.execute(16w1); x = step.exekute(1); x = rnd.get(1); x = rnd.get(); x = step.execute(index = 1); x = step.execute(indx = 1); } }";
    expect![[r#"
        error: expected `bit<4>`, found `bit<16>`
         --> snippet.p4:5:26
          |
        5 | apply { x = step.execute(16w1); x = step.exekute(1); x = rnd.get(1); x = rnd.get(); x = step.execute(index = 1); x = step.execute(ind...
          |                          ^^^^ argument for parameter `index`
          |
          = help: take the low bits: `x[3:0]`
        error: there is no method `exekute` in extern `RegisterAction<bit<8>, bit<4>, bit<8>>`
         --> snippet.p4:5:42
          |
        5 | apply { x = step.execute(16w1); x = step.exekute(1); x = rnd.get(1); x = rnd.get(); x = step.execute(index = 1); x = step.execute(ind...
          |                                          ^^^^^^^
          |
          = help: did you mean `execute`?
        error: method `get` of extern `Random<bit<8>>` has 0 parameters, and 1 argument is given
         --> snippet.p4:5:66
          |
        5 | apply { x = step.execute(16w1); x = step.exekute(1); x = rnd.get(1); x = rnd.get(); x = step.execute(index = 1); x = step.execute(ind...
          |                                                                  ^
          |
          = help: it takes no arguments
        error: method `execute` of extern `RegisterAction<bit<8>, bit<4>, bit<8>>` has no parameter `indx`
         --> snippet.p4:5:131
          |
        5 | ...; x = rnd.get(); x = step.execute(index = 1); x = step.execute(indx = 1); } }
          |                                                                   ^^^^
          |
          = help: its parameters are (index, rv2, rv3, rv4)
    "#]].assert_eq(&messages(text));
}

#[test]
fn methods_of_register_actions() {
    let text = "struct pair { bit<32> a; bit<32> b; }
Register<pair, bit<8>>(256) reg;
RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_type = { void apply(inout bit<32> value, out bit<32> rv) { rv = value; } };
RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_direction = { void apply(in pair value) { } };
RegisterAction<pair, bit<8>, bit<32>>(reg) other_name = { void run(inout pair value) { } };
RegisterAction<pair, bit<8>, bit<32>>(reg) no_method;
RegisterAction<pair, bit<8>, bit<32>>(reg) good = { void apply(inout pair value) { value.a = value.a |+| 1; } };
RegisterAction3<pair, bit<8>, bit<32>, bit<32>, bit<32>>(reg) three = { void apply(inout pair value, out bit<32> x, out bit<32> y, out bit<32> z) { } };";
    expect![[r#"
        error: parameter `value` has the type `bit<32>`; expected struct `pair`
           --> snippet.p4:4:70
            |
          4 | RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_type = { void apply(inout bit<32> value, out bit<32> rv) { rv = value; } };
            |                                                                      ^^^^^^^^^^^^^^^^^^^
            |
           ::: <tofino2_base.p4>:282:25
            |
        282 |     abstract void apply(inout T value, @optional out U rv1, @optional out U rv2, @optional out U rv3, @optional out U rv4);
            |                         ------------- the declaration of the method
            |
            = help: use the type that the type arguments of the instance give
        error: parameter `value` has the wrong direction
           --> snippet.p4:5:75
            |
          5 | RegisterAction<pair, bit<8>, bit<32>>(reg) wrong_direction = { void apply(in pair value) { } };
            |                                                                           ^^^^^^^^^^^^^
            |
           ::: <tofino2_base.p4>:282:25
            |
        282 |     abstract void apply(inout T value, @optional out U rv1, @optional out U rv2, @optional out U rv3, @optional out U rv4);
            |                         ------------- the declaration of the method
        error: there is no abstract method `run` in extern `RegisterAction<pair, bit<8>, bit<32>>`
         --> snippet.p4:6:64
          |
        6 | RegisterAction<pair, bit<8>, bit<32>>(reg) other_name = { void run(inout pair value) { } };
          |                                                                ^^^
          |
          = help: it takes apply, overflow, underflow
        error: extern `RegisterAction<pair, bit<8>, bit<32>>` needs a method `apply`
         --> snippet.p4:6:1
          |
        6 | RegisterAction<pair, bit<8>, bit<32>>(reg) other_name = { void run(inout pair value) { } };
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: write `= { void apply(...) { ... } };` after the name
        error: extern `RegisterAction<pair, bit<8>, bit<32>>` needs a method `apply`
         --> snippet.p4:7:1
          |
        7 | RegisterAction<pair, bit<8>, bit<32>>(reg) no_method;
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: write `= { void apply(...) { ... } };` after the name
        error: Sluice does not have `RegisterAction3`
         --> snippet.p4:9:1
          |
        9 | RegisterAction3<pair, bit<8>, bit<32>, bit<32>, bit<32>>(reg) three = { void apply(inout pair value, out bit<32> x, out bit<32> y, ou...
          | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          |
          = help: no more than two words are returned by a register access
    "#]].assert_eq(&messages(text));
}

#[test]
fn arguments_of_actions_and_controls() {
    let text = "control Inner(inout bit<8> x, in bit<16> y)(bit<8> n) { apply { x = n; } }
control C(inout bit<8> x, inout bit<16> z) { Inner(5) a; Inner() b; Inner(x) c;
action set(inout bit<8> to, bit<8> v) { to = v; }
apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }";
    expect![[r#"
        error: the constructor of control `Inner` lacks an argument for parameter `n`
         --> snippet.p4:3:58
          |
        3 | control C(inout bit<8> x, inout bit<16> z) { Inner(5) a; Inner() b; Inner(x) c;
          |                                                          ^^^^^
          |
          = help: its parameters are (n)
        error: the argument for parameter `n` is not known at compile time
         --> snippet.p4:3:75
          |
        3 | control C(inout bit<8> x, inout bit<16> z) { Inner(5) a; Inner() b; Inner(x) c;
          |                                                                           ^
          |
          = help: use numbers, constants and operators on them only
        error: expected `bit<8>`, found `bit<16>`
         --> snippet.p4:5:32
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                ^ argument for `out` parameter `x`
          |
          = help: a place that is written must have the very type; use a variable of that type
        error: expected `bit<16>`, found `bit<8>`
         --> snippet.p4:5:35
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                   ^ argument for parameter `y`
          |
          = help: convert the value with zeros in front: `(bit<16>) x`
        error: control `Inner` lacks an argument for parameter `y`
         --> snippet.p4:5:41
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                         ^^^^^
          |
          = help: its parameters are (x, y)
        error: action `set` lacks an argument for parameter `v`
         --> snippet.p4:5:62
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                                              ^^^
          |
          = help: its parameters are (to, v)
        error: this value cannot be passed to the `out` parameter `to`
         --> snippet.p4:5:74
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                                                          ^
          |
          = help: name a variable, a field of a header or struct, an element of a stack, or a slice of these
        error: `a` is an instance, and cannot be called
         --> snippet.p4:5:81
          |
        5 | apply { a.apply(x, z); a.apply(z, x); a.apply(x); set(x, 3); set(x); set(3, x); a(); } }
          |                                                                                 ^
          |
          = help: call one of its methods: `a.apply(...)`
    "#]]
    .assert_eq(&messages(text));
}

#[test]
fn parsers() {
    let text = "header a_h { bit<8> x; } struct h_t { a_h a; a_h[3] s; }
parser P(packet_in pkt, out h_t h) {
    state begin { pkt.extract(h); pkt.extract(h.s); transition next; }
    state nekst { pkt.extract(h.s.next); transition select(h.s.last.x, h.a.x) { (1, 2): accept; (1, 2, 3): accept; (0x10 &&& 0xf0, 1 .. 5): begn; (x, _): reject; default: accept; } }
    state accept { transition nekst; }
}";
    expect![[r#"
        error: state `accept` is declared; every parser has it
         --> snippet.p4:6:11
          |
        6 |     state accept { transition nekst; }
          |           ^^^^^^
          |
          = help: rename the state
        error: struct `h_t` cannot be extracted
         --> snippet.p4:4:31
          |
        4 |     state begin { pkt.extract(h); pkt.extract(h.s); transition next; }
          |                               ^
          |
          = help: only headers are extracted; extract each header of a struct by itself
        error: header stack `a_h[3]` cannot be extracted
         --> snippet.p4:4:47
          |
        4 |     state begin { pkt.extract(h); pkt.extract(h.s); transition next; }
          |                                               ^^^
          |
          = help: extract one element: `stack.next`
        error: parser `P` has no state `next`
         --> snippet.p4:4:64
          |
        4 |     state begin { pkt.extract(h); pkt.extract(h.s); transition next; }
          |                                                                ^^^^
          |
          = help: declare the state, or go to `accept` or `reject`
        error: this has 3 keys; 2 are expected
         --> snippet.p4:5:97
          |
        5 |     state nekst { pkt.extract(h.s.next); transition select(h.s.last.x, h.a.x) { (1, 2): accept; (1, 2, 3): accept; (0x10 &&& 0xf0, 1 ...
          |                                                                                                 ^^^^^^^^^^^^^^^^^
          |
          = help: give one key per value, in the same order; `_` matches any value
        error: `x` is not declared
         --> snippet.p4:5:148
          |
        5 | ... 2): accept; (1, 2, 3): accept; (0x10 &&& 0xf0, 1 .. 5): begn; (x, _): reject; default: accept; } }
          |                                                                    ^
          |
          = help: declare a value of this name before the use, or correct the name
        error: parser `P` has no state `begn`
         --> snippet.p4:5:141
          |
        5 | ... { (1, 2): accept; (1, 2, 3): accept; (0x10 &&& 0xf0, 1 .. 5): begn; (x, _): reject; default: accept; } }
          |                                                                   ^^^^
          |
          = help: did you mean `begin`?
        error: parser `P` has no state `start`
         --> snippet.p4:3:8
          |
        3 | parser P(packet_in pkt, out h_t h) {
          |        ^
          |
          = help: name the first state `start`
    "#]].assert_eq(&messages(text));
}

#[test]
fn independent_errors_are_all_found() {
    let text = "h.ipv4.ttl = unknown_name; h.ipv4.missing = 1; m.word = h.ipv4.ttl; if (m.word) { }";
    assert_eq!(statements(text).matches("error").count(), 4);
}
