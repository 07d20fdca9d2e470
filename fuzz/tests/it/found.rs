//! Small programs, shrunk from random ones, that were refused or handled wrongly.

use sluice_asic::chip::ChipSpec;
use sluice_fuzz::{Case, compare};
use sluice_ir::text;
use sluice_ir::verify::{has_errors, verify};
use sluice_place::{self as place, place};

/// Returns a program with one header and these declarations, actions and ingress statements.
fn program(declarations: &str, control: &str) -> String {
    format!(
        "program found;
        header h : ingress {{ bit<8> kind; bit<20> a; bit<4> b; bit<12> c; bit<4> d; bit<32> out; bit<16> e; }}
        metadata : ingress {{ bit<5> m.x; bit<7> m.y; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        {declarations}
        action to_port : ingress () {{ ig_tm.ucast_egress_port = 9w1; m.x = h.kind[4:0]; }}
        action to_y : ingress () {{ m.y = h.e[6:0]; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ call to_port; call to_y; {control} }}
        deparser ingress {{ emit(h); }}\n"
    )
}

/// Runs the program on both chips with packets of many values, all of which continue.
fn agrees(text: &str) {
    let program = text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let diags = verify(&program);
    assert!(!has_errors(&diags), "{diags:#?}");
    let frames = (0..70u32).map(|n| (8, n.wrapping_mul(0x9e37_79b9).to_be_bytes().repeat(6))).collect();
    let case = Case { program, ops: Vec::new(), frames };
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = place(&case.program, &chip).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(place::verify(&case.program, &placement), []);
        let ran = compare(&case, &placement).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(ran.egress, case.frames.len());
    }
}

#[test]
fn a_hash_takes_slices_and_casts() {
    agrees(&program(
        "hash part : ingress { algorithm = crc_32; inputs = { h.a[17:5], cast(h.c, 32), h.kind }; width = 32; }
         action mix : ingress () { h.out = hash(part); }",
        "call mix;",
    ));
}

#[test]
fn an_index_may_lie_in_several_containers() {
    agrees(&program(
        "counter seen : ingress { kind = packets; size = 4096; }
         action note : ingress () { count(seen, h.a[11:0]); }",
        "call note;",
    ));
}

#[test]
fn two_actions_of_a_table_count_by_different_fields() {
    agrees(&program(
        "counter seen : ingress { kind = packets_and_bytes; size = 256; }
         action by_kind : ingress () { count(seen, h.kind); }
         action by_end : ingress () { count(seen, h.e[7:0]); }
         table either : ingress {
             key = { h.b : exact; }
             actions = { by_kind; by_end; }
             default_action = by_kind();
             size = 16;
             const entries = { (3) : by_end(); (9) : by_end(); }
         }",
        "apply either;",
    ));
}

#[test]
fn a_meter_without_a_colour_of_the_packet_takes_it_for_green() {
    agrees(&program(
        "register last : ingress { element = \"32\"; size = 4; initial = 0, 0; }
         register_action keep (last) { @lo = h.out; @out0 = @lo; }
         meter calm : ingress { kind = packets; size = 1; initial = rates(4000000, 64, 12000000, 200); }
         action note : ingress () { h.out = execute(keep, 2w0); }
         action ask : ingress () { h.e = meter(calm, 1w0); }",
        "call note; call ask;",
    ));
}

#[test]
fn two_magnitudes_that_leave_a_gap_between_their_codes_are_refused() {
    let text =
        program("action done : ingress () { h.out = 32w1; }", "if (m.x < 5w3 && m.y < 7w100) { call done; }");
    let program = text::parse(&text).unwrap();
    let no_fit = place(&program, &ChipSpec::tofino2()).unwrap_err();
    assert!(no_fit.to_string().contains("15 hash bits"), "{no_fit}");
}

#[test]
fn a_sum_over_another_checksum_takes_it_as_it_was() {
    let text = program("header g : ingress { bit<16> sum; bit<16> a; }", "")
        .replace("extract(h);", "extract(g); extract(h);")
        .replace(
            "emit(h);",
            "g.sum = checksum(g, { g.a }); h.e = checksum(h, { h.out, g.sum, g.a }); emit(g); emit(h);",
        );
    agrees(&text);
}
