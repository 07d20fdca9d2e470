//! Statements, calls, headers and stacks.

use super::{PACKET, Parts, apply, apply_with};
use sluice_reference::{Nothing, Verdict};

#[test]
fn parameters_are_copied_in_and_out() {
    // `swap(x, x)`-like calls show the copies: `a` is not an alias of `b`.
    let locals = "action both(inout bit<32> a, inout bit<32> b, in bit<32> by) { a = a + by; b = a + b; }";
    assert_eq!(apply_with(locals, "hdr.o.x = 1; hdr.o.y = 10; both(hdr.o.x, hdr.o.y, 5);"), [6, 16]);
    // Both parameters begin with 1; the last copy out wins: 6 + 1.
    assert_eq!(apply_with(locals, "hdr.o.x = 1; both(hdr.o.x, hdr.o.x, 5);"), [7, 0]);
}

#[test]
fn out_parameters_begin_with_zeros() {
    let locals = "action set(out bit<32> a) { a = a + 1; }";
    assert_eq!(apply_with(locals, "hdr.o.x = 7; set(hdr.o.x); set(hdr.o.y);"), [1, 1]);
}

#[test]
fn return_leaves_an_action_and_exit_the_control() {
    let locals = "action first() { hdr.o.x = 1; return; hdr.o.x = 2; } action last() { hdr.o.y = 1; exit; }";
    assert_eq!(apply_with(locals, "first(); last(); hdr.o.y = 2;"), [1, 1]);
    assert_eq!(apply("hdr.o.x = 1; if (hdr.i.a != 0) { return; } hdr.o.x = 2;"), [1, 0]);
}

#[test]
fn nested_controls_have_variables_of_their_own() {
    let parts = Parts {
        top: "control Twice(inout bit<32> v)(bit<32> by) {
                bit<32> seen = 0;
                action add() { seen = seen + by; v = v + seen; }
                apply { add(); if (v > 100) { exit; } add(); return; }
              }",
        locals: "Twice(2) two; Twice(50) fifty;",
        apply: "two.apply(hdr.o.x); two.apply(hdr.o.x); hdr.o.y = 60; fifty.apply(hdr.o.y); hdr.o.x = 0;",
        ..Parts::default()
    };
    // 2 + 4, twice; the exit comes after the copy out: 60 + 50.
    assert_eq!(parts.words(&PACKET), [12, 110]);
}

#[test]
fn headers_keep_fields_while_they_are_invalid() {
    assert_eq!(
        apply("hdr.i.setInvalid(); hdr.o.x = (bit<32>)hdr.i.a; if (!hdr.i.isValid()) { hdr.o.y = 1; }"),
        [0x12, 1]
    );
    assert_eq!(
        apply("hdr.i.setInvalid(); hdr.i.a = 1; hdr.i.setValid(); hdr.o.x = (bit<32>)hdr.i.a;"),
        [1, 0]
    );
    assert_eq!(
        apply("in_h copy = hdr.i; copy.a = 0; if (copy != hdr.i) { hdr.o.x = 1; } copy.setInvalid(); hdr.i = copy;
               if (!hdr.i.isValid()) { hdr.o.y = 2; }"),
        [1, 2]
    );
}

#[test]
fn stacks_are_pushed_and_popped() {
    let parts = Parts {
        apply: "hdr.s.push_front(2); hdr.s[0].setValid(); hdr.s[0].v = 0xaa; hdr.s[1].setValid(); hdr.s[1].v = 0xbb;
                hdr.s.push_front(1); hdr.s[0].setValid(); hdr.s[0].v = 0xcc; hdr.s.pop_front(1); hdr.o.setInvalid();",
        ..Parts::default()
    };
    assert_eq!(parts.bytes(&PACKET), [0xaa, 0xbb]);
}

#[test]
fn only_valid_headers_leave_in_front_of_the_rest() {
    let parts = Parts { apply: "hdr.o.x = 1; hdr.t.v = 9;", ..Parts::default() };
    let packet = [&PACKET[..], &[7, 8]].concat();
    assert_eq!(parts.bytes(&packet), [0, 0, 0, 1, 0, 0, 0, 0, 7, 8]);
}

#[test]
fn switch_takes_actions_and_numbers() {
    let locals = "action one() {} action two() {}
        table t { key = { hdr.i.a : exact; } actions = { one; two; } default_action = one();
                  const entries = { 0x12 : two(); } }";
    assert_eq!(
        apply_with(
            locals,
            "switch (t.apply().action_run) { one : { hdr.o.x = 1; } two : { hdr.o.x = 2; } default : { hdr.o.x = 3; } }"
        ),
        [2, 0]
    );
}

#[test]
fn verdicts() {
    let verdict = |apply: &str| {
        let parts = Parts { apply, ..Parts::default() };
        let out = parts.passes(&[&PACKET], &mut Nothing).remove(0);
        (out.verdict, out.port, out.groups)
    };
    assert_eq!(verdict(""), (Verdict::Forward, Some(2), [0, 0]));
    assert_eq!(verdict("tm.ucast_egress_port = ig.ingress_port + 4;"), (Verdict::Forward, Some(9), [0, 0]));
    assert_eq!(verdict("dprsr.drop_ctl = 1;"), (Verdict::Dropped, Some(2), [0, 0]));
    assert_eq!(verdict("tm.ucast_egress_port = 0x1ff;"), (Verdict::NoPort, None, [0, 0]));
    assert_eq!(
        verdict("tm.ucast_egress_port = 0x1ff; tm.mcast_grp_a = 7;"),
        (Verdict::Forward, None, [7, 0])
    );
}
