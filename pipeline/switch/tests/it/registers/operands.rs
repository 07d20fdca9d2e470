//! Packet values that reach stateful ALUs: crossbar bytes at the positions of the ALU, or bits of a hash group.

use crate::registers::bench::placed;
use proptest::prelude::*;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify::has_errors;
use sluice_place::{ArrayRef, Placement, Purpose, UnitUse, place, verify};
use std::collections::BTreeSet;

/// Returns a program with a register of these elements whose action compares or stores values of a header with these
/// fields.
fn program(fields: &str, element: &str, body: &str) -> Program {
    let text = format!(
        "program operands;
        header h : ingress {{ {fields} bit<8> slot; bit<32> out; }}
        intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
        hash digest : ingress {{ algorithm = crc_16; inputs = {{ h.out }}; width = 16; }}
        register cells : ingress {{ element = \"{element}\"; size = 16; }}
        register_action remember (cells) {{ {body} }}
        action note : ingress () {{ h.out = execute(remember, h.slot); ig_tm.ucast_egress_port = 9w1; }}
        parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
        control ingress {{ call note; }}
        deparser ingress {{ emit(h); }}\n"
    );
    text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Returns the hash bits of the operands, by their numbers in their group.
fn hash_bits(placement: &Placement) -> BTreeSet<u16> {
    let units = placement.units.iter().filter(|u| u.unit.column == Column::HashBit);
    units
        .filter(|u| matches!(u.purpose, Purpose::AluInput(ArrayRef::Register(_))))
        .map(|u| u.unit.col)
        .collect()
}

/// Returns the positions on the exact crossbar in the group that an ALU reads, from its first byte on.
fn bytes(placement: &Placement) -> BTreeSet<u16> {
    let first = placement.chip.mau.alu_operand_byte as u16;
    let units = placement.units.iter().filter(|u| u.unit.column == Column::ExactXbar && u.unit.row == 0);
    units.filter_map(|u| u.unit.col.checked_sub(first)).collect()
}

fn both(program: &Program, check: impl Fn(&Placement)) {
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let placement = placed(program, &chip);
        assert_eq!(verify(program, &placement), []);
        check(&placement);
    }
}

#[test]
fn fields_that_fill_their_bytes_come_by_the_crossbar() {
    let one = program("bit<32> a;", "32", "@lo = h.a; @out0 = @lo;");
    both(&one, |p| {
        assert_eq!(hash_bits(p), BTreeSet::new());
        assert!(bytes(p).is_superset(&(0..4).collect()), "{:?}", bytes(p));
    });
    // The second value begins one width of the ALU after the first.
    let two =
        program("bit<16> a; bit<8> b;", "32x2", "@lo = cast(h.a, 32); @hi = cast(h.b, 32); @out0 = @lo;");
    both(&two, |p| {
        assert_eq!(hash_bits(p), BTreeSet::new());
        assert!(bytes(p).is_superset(&BTreeSet::from([0, 1, 4])), "{:?}", bytes(p));
    });
}

#[test]
fn fields_that_share_a_byte_come_by_hash_bits() {
    let one = program("bit<3> a; bit<5> b;", "8", "@lo = cast(h.a, 8); @out0 = @lo;");
    both(&one, |p| assert_eq!(hash_bits(p), (0..3).collect()));
    // The widest value comes first; both come the same way, although one could come by the crossbar.
    let two = program(
        "bit<3> a; bit<5> b; bit<16> c;",
        "32x2",
        "@lo = cast(h.a, 32); @hi = cast(h.c, 32); @out0 = @lo;",
    );
    both(&two, |p| assert_eq!(hash_bits(p), (0..16).chain(32..35).collect()));
}

#[test]
fn bytes_out_of_their_lanes_come_by_hash_bits() {
    // Three bytes take containers of two bytes and one byte, so the second byte cannot follow the first.
    let odd = program("bit<24> a;", "32", "@lo = cast(h.a, 32); @out0 = @lo;");
    both(&odd, |p| assert_eq!(hash_bits(p), (0..24).collect()));
}

#[test]
fn a_hash_comes_straight_from_its_group() {
    let hashed = program("", "32", "@lo = hash(digest); @out0 = @lo;");
    both(&hashed, |p| {
        // If it has room there, it takes the upper place.
        assert_eq!(hash_bits(p), (32..48).collect());
        let distributed = p.units.iter().filter(|u| u.unit.column == Column::HashDist);
        assert_eq!(distributed.filter(|u| u.purpose.kind() == "hash").count(), 0);
    });
}

#[test]
fn what_no_way_brings_is_refused() {
    let wide =
        program("bit<4> x; bit<32> a; bit<32> b; bit<4> y;", "32x2", "@lo = h.a; @hi = h.b; @out0 = @lo;");
    for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
        let refused = place(&wide, &chip).expect_err("64 bits that begin within bytes");
        let text = &refused.diags[0].text;
        assert!(text.contains("the packet values of register `cells` do not come to its ALU"), "{text}");
    }
}

/// Breaks a placement and expects a finding about its operands.
fn found(program: &Program, corrupt: impl Fn(&mut Placement)) {
    both(program, |p| {
        let mut broken = p.clone();
        corrupt(&mut broken);
        broken.units.sort_by_key(|u| (u.unit, u.owner));
        let diags = verify(program, &broken);
        assert!(diags.iter().any(|d| d.text.contains("come to its ALU")), "{diags:#?}");
    });
}

#[test]
fn the_verifier_finds_operands_that_do_not_arrive() {
    let bus = program("bit<32> a;", "32", "@lo = h.a; @out0 = @lo;");
    // Four bytes further on, no ALU of this width takes its first value, nor all of its second.
    found(&bus, |p| {
        for u in p.units.iter_mut().filter(|u| u.unit.column == Column::ExactXbar) {
            u.unit.row = 1;
            u.unit.col = (u.unit.col + 12) % 16;
        }
    });
    let hashed = program("bit<3> a; bit<5> b;", "8", "@lo = cast(h.a, 8); @out0 = @lo;");
    let operand = |u: &UnitUse| u.unit.column == Column::HashBit && matches!(u.purpose, Purpose::AluInput(_));
    found(&hashed, |p| {
        let one = p.units.iter_mut().find(|u| operand(u)).unwrap();
        one.unit.col = 7;
    });
    // Another bit in a byte of the operand would reach the ALU with it.
    found(&hashed, |p| {
        let group = p.units.iter().find(|u| operand(u)).unwrap().unit.row;
        let other = |u: &&mut _| {
            let u: &UnitUse = u;
            u.unit.column == Column::HashBit && u.purpose.kind() == "value"
        };
        let bit = p.units.iter_mut().find(other).unwrap();
        (bit.unit.row, bit.unit.col) = (group, 6);
    });
}

#[test]
fn cells_of_two_sizes_at_one_index_take_two_slices() {
    let one = |element: &str| {
        let text = format!(
            "program sizes;
            header h : ingress {{ bit<8> slot; bit<8> a; bit<32> b; }}
            intrinsic : ingress {{ bit<9> ig_tm.ucast_egress_port; }}
            register first : ingress {{ element = \"8\"; size = 16; }}
            register second : ingress {{ element = \"{element}\"; size = 16; }}
            register_action get (first) {{ @out0 = @lo; }}
            register_action see (second) {{ @out0 = @lo; }}
            action note : ingress () {{
                h.a = execute(get, h.slot);
                h.b = execute(see, h.slot);
                ig_tm.ucast_egress_port = 9w1;
            }}
            parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
            control ingress {{ call note; }}
            deparser ingress {{ emit(h); }}\n"
        );
        text::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
    };
    // A slice shifts its output once for all users.
    let slices = |p: &Placement| p.units.iter().filter(|u| u.unit.column == Column::HashDist).count();
    both(&one("32"), |p| assert_eq!(slices(p), 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_layout_is_placed_as_the_verifier_wants_it_or_refused(
        widths in prop::collection::vec(1_u16..40, 1..6),
        picks in prop::collection::vec((0_usize..6, 0_u16..24, 1_u16..33), 1..3),
        element in prop::sample::select(vec!["8", "16", "32", "8x2", "16x2", "32x2"]),
        tofino2: bool,
    ) {
        let rest = (8 - widths.iter().sum::<u16>() % 8) % 8;
        let mut fields: String = widths.iter().enumerate().map(|(i, w)| format!("bit<{w}> f{i}; ")).collect();
        if rest > 0 {
            fields += &format!("bit<{rest}> rest;");
        }
        let half: u16 = element.trim_end_matches("x2").parse().unwrap();
        let value = |&(pick, lo, width): &(usize, u16, u16)| {
            let field = pick % widths.len();
            let lo = lo % widths[field];
            let hi = (lo + width.min(half)).min(widths[field]) - 1;
            format!("cast(h.f{field}[{hi}:{lo}], {half})")
        };
        let second = if element.ends_with("x2") { "@hi" } else { "@lo" };
        let mut body: String =
            picks.iter().zip(["@lo", second]).map(|(p, to)| format!("{to} = {};", value(p))).collect();
        body += "@out0 = @lo;";
        let program = program(&fields, element, &body);
        prop_assert!(!has_errors(&sluice_ir::verify::verify(&program)), "{}", text::print(&program));
        let chip = if tofino2 { ChipSpec::tofino2() } else { ChipSpec::tofino() };
        match place(&program, &chip) {
            Ok(placement) => prop_assert_eq!(verify(&program, &placement), []),
            Err(refused) => {
                let text = &refused.diags[0].text;
                prop_assert!(text.contains("do not come to its ALU") || text.contains("value"), "{}", text);
            }
        }
    }
}
