//! Tables that branches apply at several places, and validity that one header takes from another.

use crate::tables::bench::{agree, both_chips, call, configured, entry, parsed, placed};
use sluice_asic::chip::ChipSpec;
use sluice_ir::verify::verify;
use sluice_ir::{KeyValue, Program, join, text};

const HEAD: &str = "program joined;
    header h : ingress { bit<8> kind; bit<8> x; bit<8> y; bit<8> z; }
    metadata : ingress { bit<8> m.key; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    action found : ingress (bit<8> v) { h.y = v; }
    action none : ingress () { }
    action key_1 : ingress () { m.key = 8w1; }
    action key_2 : ingress () { m.key = 8w2; h.kind = 8w9; }
    action add : ingress () { h.z = add(h.z, 8w1); }
    action add_16 : ingress () { h.z = add(h.z, 8w16); }
    action add_64 : ingress () { h.z = add(h.z, 8w64); }
    action out : ingress () { ig_tm.ucast_egress_port = 9w1; }
    table t : ingress { key = { m.key : exact; } actions = { found; none; } default_action = none(); size = 16; }
    table u : ingress { key = { h.x : exact; } actions = { none; } default_action = none(); size = 16; }
    parser ingress { start = first; state first { extract(h); transition accept; } }
    deparser ingress { emit(h); }";

fn joined(control: &str) -> Program {
    let source = format!("{HEAD} control ingress {{ {control} }}");
    let mut program = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    join(&mut program);
    parsed(&text::print(&program))
}

/// Frames of kinds 0 to 3, each with `x` of 0 and 1.
fn frames() -> Vec<Vec<u8>> {
    (0..8u8).map(|n| [vec![n / 2, n % 2, 0, 0], vec![0; 60]].concat()).collect()
}

#[test]
fn a_packet_finds_the_table_behind_the_branch_that_it_took() {
    // Kind 1 finds the entry of key 1; kind 2, whose condition its own branch changes, the one of key 2; kind 3 none.
    let program = joined(
        "call out;
        if (h.kind == 8w1) { call key_1; apply t { hit { call add; } } call add_16; }
        else if (h.kind == 8w2) { call key_2; if (h.x == 8w1) { apply t; } call add_64; }
        else if (h.kind == 8w3) { apply t { miss { call add_64; } } }",
    );
    let control = text::print(&program);
    assert_eq!(control.matches("apply t").count(), 1, "{control}");
    let of = |key, value| entry(&program, "t", &[KeyValue::Exact(key)], 0, call(&program, "found", &[value]));
    let ran = both_chips(&program, &[of(1, 5), of(2, 6)], &frames());
    assert_eq!(ran.byte(2), [0, 0, 5, 5, 0, 6, 0, 0]);
    assert_eq!(ran.byte(3), [0, 0, 17, 17, 64, 64, 64, 64]);
    assert_eq!(ran.byte(0), [0, 0, 1, 1, 9, 9, 3, 3]);
}

#[test]
fn a_table_below_outcomes_of_another_is_joined_by_flags() {
    let program = joined(
        "call out;
        apply u { hit { call key_1; apply t; } miss { call key_2; apply t; call add; } }",
    );
    let of = |key, value| entry(&program, "t", &[KeyValue::Exact(key)], 0, call(&program, "found", &[value]));
    let hit = entry(&program, "u", &[KeyValue::Exact(1)], 0, call(&program, "none", &[]));
    let ran = both_chips(&program, &[of(1, 5), of(2, 6), hit], &frames());
    assert_eq!(ran.byte(2), [6, 5, 6, 5, 6, 5, 6, 5]);
    assert_eq!(ran.byte(3), [1, 0, 1, 0, 1, 0, 1, 0]);
}

#[test]
fn tables_that_one_packet_may_find_twice_stay_apart_and_are_errors() {
    for control in [
        "apply t; apply t;",
        "if (h.x == 8w1) { apply t; } apply t;",
        // The order of the two differs.
        "if (h.x == 8w1) { apply t; apply u; } else { apply u; apply t; }",
        "apply t { hit { apply t; } }",
    ] {
        let source = format!("{HEAD} control ingress {{ {control} }}");
        let mut program = text::parse(&source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        join(&mut program);
        let found = format!("{:?}", verify(&program));
        assert!(found.contains("is applied twice"), "{control}: {found}");
    }
}

#[test]
fn validity_goes_from_any_header_to_any_other() {
    let program = parsed(
        "program copied;
        header h : ingress { bit<8> kind; }
        header a : ingress { bit<8> v; }
        header b : ingress { bit<16> v; }
        header c : ingress { bit<8> v; }
        intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
        action take : ingress () { copy_valid(c, a); c.v = h.kind; set_invalid(a); ig_tm.ucast_egress_port = 9w1; }
        table t : ingress { key = { h.kind : exact; } actions = { take; } default_action = take(); size = 16; }
        parser ingress { start = first;
            state first { extract(h); select (h.kind) { (1) : one; default : two; } }
            state one { extract(a); transition accept; }
            state two { extract(b); transition accept; } }
        control ingress { apply t; }
        deparser ingress { emit(h); emit(a); emit(b); emit(c); }",
    );
    let frames: Vec<Vec<u8>> =
        [1, 2].iter().map(|kind| [vec![*kind, 7, 8, 9], vec![0; 60]].concat()).collect();
    let control = configured(&program, &[]);
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(&program, &chip);
        assert!(sluice_place::verify(&program, &placement).is_empty());
        let ran = agree(&program, &placement, &control, &frames);
        assert_eq!((&ran.packets[0].1[..4], &ran.packets[1].1[..4]), (&[1, 1, 8, 9][..], &[2, 7, 8, 9][..]));
    }
}
