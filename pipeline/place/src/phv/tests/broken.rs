//! Corrupted allocations: the verifier must find each.

use super::router::router;
use super::*;
use crate::data::{FieldSlice, PovBit};
use sluice_ir::{ChecksumUpdate, Loc};

/// Returns the verifier's findings on the router's allocation after `harm`.
fn harmed(chip: &ChipSpec, harm: impl Fn(&Program, &mut PhvAllocation)) -> Vec<String> {
    let program = router();
    let mut allocation = allocated(&program, chip);
    harm(&program, &mut allocation);
    findings(&program, chip, &allocation)
}

fn slice<'a>(program: &Program, a: &'a mut PhvAllocation, name: &str) -> &'a mut FieldSlice {
    &mut a.fields[program.field_named(Gress::Ingress, name).unwrap()][0]
}

fn move_to(chip: &ChipSpec, field: &str, container: &str) -> Vec<String> {
    let to = named(chip, container);
    harmed(chip, |p, a| {
        // The fields in the two containers are swapped, so that only the rule under test is broken.
        let from = slice(p, a, field).container;
        for s in a.fields.values_mut().flatten() {
            s.container = match s.container {
                c if c == from => to,
                c if c == to => from,
                c => c,
            };
        }
    })
}

#[test]
fn an_allocation_of_another_program() {
    let found = harmed(&ChipSpec::tofino(), |_, a| a.fields = Default::default());
    assert_says(&found, "the allocation is for 0 fields");
}

#[test]
fn a_container_that_the_chip_does_not_have() {
    let found = harmed(&ChipSpec::tofino(), |p, a| slice(p, a, "ipv4.ttl").container = Container(999));
    assert_says(&found, "which has 0 bits");
}

#[test]
fn bits_beyond_the_container() {
    let found = harmed(&ChipSpec::tofino2(), |p, a| slice(p, a, "ipv4.ttl").at = 3);
    assert_says(&found, "`ipv4.ttl` has 8 bits at bit 3 of");
}

#[test]
fn two_fields_at_one_place() {
    let found = harmed(&ChipSpec::tofino(), |p, a| {
        let other = slice(p, a, "ipv4.ttl").container;
        slice(p, a, "meta.denied").container = other;
    });
    assert_says(&found, "`ipv4.ttl` and `meta.denied` overlap");
}

#[test]
fn bits_that_are_nowhere() {
    let found = harmed(&ChipSpec::tofino(), |p, a| {
        let f = p.field_named(Gress::Ingress, "ethernet.dst").unwrap();
        a.fields[f].pop();
    });
    assert_says(&found, "`ethernet.dst` has no container for its low 16 bits");
    let found = harmed(&ChipSpec::tofino(), |p, a| {
        let f = p.field_named(Gress::Ingress, "ethernet.dst").unwrap();
        a.fields[f].remove(0);
    });
    assert_says(&found, "where bit 48 should end");
}

#[test]
fn a_container_for_what_nothing_uses() {
    let mut program = router();
    let chip = ChipSpec::tofino();
    let mut allocation = allocated(&program, &chip);
    let loc = Loc::default();
    program.fields.push(sluice_ir::FieldData {
        name: "meta.idle".to_owned(),
        gress: Gress::Ingress,
        width: 8,
        home: sluice_ir::Home::Metadata,
        doc: String::new(),
        loc,
    });
    allocation.fields.push(vec![FieldSlice { lo: 0, width: 8, container: named(&chip, "B20"), at: 0 }]);
    assert_says(&findings(&program, &chip, &allocation), "`meta.idle` has bits 0..8");
}

#[test]
fn a_header_without_a_validity_bit() {
    let found = harmed(&ChipSpec::tofino(), |_, a| *a.valid.values_mut().next().unwrap() = None);
    assert_says(&found, "header `ethernet` has no validity bit");
}

#[test]
fn header_bytes_out_of_order() {
    let found = harmed(&ChipSpec::tofino(), |p, a| {
        let pcp = *slice(p, a, "vlan.pcp");
        slice(p, a, "vlan.pcp").at = pcp.at - 1;
        slice(p, a, "vlan.dei").at = pcp.at + 2;
    });
    assert_says(&found, "of header `vlan` are not the whole of");
}

#[test]
fn a_header_byte_in_a_larger_container() {
    let chip = ChipSpec::tofino2();
    let free = named(&chip, "H71");
    let found = harmed(&chip, |p, a| slice(p, a, "ipv4.ttl").container = free);
    assert_says(&found, "of header `ipv4` are not the whole of H71");
}

#[test]
fn another_gress_in_the_group() {
    // A free container in the gress group of an egress container.
    let chip = ChipSpec::tofino2();
    let program = router();
    let allocation = allocated(&program, &chip);
    let theirs = program.field_named(Gress::Egress, "eg.egress_port").unwrap();
    let inventory = PhvInventory::new(&chip.phv);
    let group = info(&chip, allocation.slices(theirs)[0].container).gress_group;
    let free = inventory.in_gress_group(group).find(|c| allocation.users(*c).count() == 0).unwrap();
    let found = harmed(&chip, |p, a| slice(p, a, "meta.nexthop").container = free);
    assert_says(&found, "whose gress group belongs to");
}

#[test]
fn a_container_wired_to_the_other_gress() {
    assert_says(&move_to(&ChipSpec::tofino(), "meta.nexthop", "H15"), "wired to the other gress");
}

#[test]
fn a_parser_pair_of_two_gresses() {
    let mut chip = ChipSpec::tofino2();
    chip.phv.gress_group_8 = 1;
    let mut program = router();
    let f = |program: &mut Program, gress| {
        program.fields.push(sluice_ir::FieldData {
            name: "meta.x".to_owned(),
            gress,
            width: 8,
            home: sluice_ir::Home::Metadata,
            doc: String::new(),
            loc: Loc::default(),
        })
    };
    let (a, b) = (f(&mut program, Gress::Ingress), f(&mut program, Gress::Egress));
    for (gress, x) in [(Gress::Ingress, a), (Gress::Egress, b)] {
        let state = program.states.values_mut().find(|s| s.gress == gress).unwrap();
        state.ops.push(ParserOp { kind: ParserOpKind::Set(x, Expr::Const(1, 8)), loc: Loc::default() });
    }
    let mut allocation = allocated(&program, &chip);
    for (x, name) in [(a, "B40"), (b, "B41")] {
        allocation.fields[x][0] = FieldSlice { lo: 0, width: 8, container: named(&chip, name), at: 0 };
    }
    assert_says(
        &findings(&program, &chip, &allocation),
        "B40 and B41 share a parser container but not a gress",
    );
}

#[test]
fn flags_of_two_tables_in_one_container_are_written_in_different_stages() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 1), s.sketch.meta("b", 1));
    s.set(a, Expr::Const(1, 1)).set(b, Expr::Const(1, 1));
    let program = s.program();
    let mut placement = crate::place(&program, &ChipSpec::tofino()).unwrap();
    let at = placement.phv.fields[a][0];
    placement.phv.fields[b][0] = FieldSlice { at: 7, ..at };
    let found = texts(&crate::verify(&program, &placement));
    assert_says(&found, "writes a container that `a0` writes in the same stage 0");
}

#[test]
fn a_neighbour_of_an_intrinsic_field() {
    let found = harmed(&ChipSpec::tofino(), |p, a| {
        let at = *slice(p, a, "ig.ingress_port");
        *slice(p, a, "meta.denied") = FieldSlice { container: at.container, at: 15, lo: 0, width: 1 };
    });
    assert_says(&found, "`ig.ingress_port` is an intrinsic field");
}

#[test]
fn validity_bits_too_many_misplaced_or_mixed() {
    let mut chip = ChipSpec::tofino();
    let program = router();
    let allocation = allocated(&program, &chip);
    chip.phv.pov_bits = 5;
    assert_says(&findings(&program, &chip, &allocation), "ingress has 6 validity bits, the chip 5");

    let chip = ChipSpec::tofino2();
    let found = harmed(&chip, |p, a| {
        let bit = a.valid.values().next().unwrap().unwrap();
        *slice(p, a, "meta.denied") = FieldSlice { container: bit.container, at: 15, lo: 0, width: 1 };
    });
    assert_says(&found, "`meta.denied` is among validity bits");

    let mocha = named(&chip, "MH20");
    let found = harmed(&chip, |_, a| {
        *a.valid.values_mut().next().unwrap() = Some(PovBit { container: mocha, bit: 0 });
    });
    assert_says(&found, "validity bits need a normal container");
}

/// A header of two 16-bit fields, both in one word.
fn in_one_word(program: Program, chip: &ChipSpec, container: &str) -> (Program, PhvAllocation) {
    let mut allocation = allocated(&program, chip);
    let container = named(chip, container);
    let fields = program.headers.values().next().unwrap().fields.clone();
    allocation.fields[fields[0]] = vec![FieldSlice { lo: 0, width: 16, container, at: 16 }];
    allocation.fields[fields[1]] = vec![FieldSlice { lo: 0, width: 16, container, at: 0 }];
    (program, allocation)
}

#[test]
fn a_checksum_with_a_neighbour() {
    let mut s = Small::new();
    let (header, h) = s.header("h", &[("checksum", 16), ("x", 16)]);
    let mut program = s.program();
    program.pipes[0].deparser.checksums = vec![ChecksumUpdate {
        header,
        when: None,
        field: h[0],
        inputs: vec![sluice_ir::Expr::Field(h[1])],
        zeros_as_ones: false,
        loc: Loc::default(),
    }];
    let chip = ChipSpec::tofino();
    let (program, allocation) = in_one_word(program, &chip, "W2");
    assert_says(
        &findings(&program, &chip, &allocation),
        "checksum `h.checksum` is not alone in a 16-bit container",
    );
}

#[test]
fn an_operand_with_a_neighbour() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("x", 16), ("y", 16)]);
    s.set(h[1], alu(AluOp::Add, field(h[1]), Expr::Const(1, 16)));
    let chip = ChipSpec::tofino();
    let (program, allocation) = in_one_word(s.program(), &chip, "W2");
    assert_says(
        &findings(&program, &chip, &allocation),
        "whole-container operation in action `a0`, but shares W2 with `h.x`",
    );
}

#[test]
fn an_operand_that_does_not_begin_at_bit_0() {
    let mut s = Small::new();
    let x = s.sketch.meta("x", 12);
    s.set(x, alu(AluOp::Add, field(x), Expr::Const(1, 12)));
    let (program, chip) = (s.program(), ChipSpec::tofino2());
    let mut allocation = allocated(&program, &chip);
    allocation.fields[x][0].at = 2;
    assert_says(&findings(&program, &chip, &allocation), "is not in one container from bit 0");
}

#[test]
fn a_parser_copy_with_padding_or_a_neighbour() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("x", 8), ("y", 8)]);
    let (kept, other) = (s.sketch.meta("kept", 8), s.sketch.meta("other", 4));
    s.set(other, Expr::Const(1, 4));
    let mut program = s.program();
    also(&mut program, ParserOpKind::Set(kept, field(h[0])));
    let chip = ChipSpec::tofino();
    let mut allocation = allocated(&program, &chip);
    let container = named(&chip, "H30");
    allocation.fields[kept][0].container = container;
    assert_says(
        &findings(&program, &chip, &allocation),
        "`meta.kept` is copied by the parser, but does not fill",
    );
    allocation.fields[other][0] = FieldSlice { lo: 0, width: 4, container, at: 12 };
    assert_says(
        &findings(&program, &chip, &allocation),
        "`meta.kept` is copied by the parser, but shares H30",
    );
}

#[test]
fn kinds_of_container_that_do_not_see_enough() {
    assert_says(
        &move_to(&ChipSpec::tofino(), "ipv4.dst", "TW3"),
        "`ipv4.dst` is matched or hashed, but TW3 cannot be",
    );
    assert_says(&move_to(&ChipSpec::tofino(), "ipv4.ttl", "TB3"), "`ipv4.ttl` is read or written by actions");
    assert_says(&move_to(&ChipSpec::tofino2(), "ipv4.src", "DW3"), "`ipv4.src` is parsed or deparsed");
}

#[test]
fn arithmetic_in_a_mocha_container() {
    let found = move_to(&ChipSpec::tofino2(), "ipv4.ttl", "MB5");
    assert_says(&found, "that container can only be set as a whole from one source");
}

#[test]
fn a_source_outside_the_group() {
    let found = move_to(&ChipSpec::tofino2(), "ethernet.src", "W47");
    assert_says(&found, "action `rewrite4` writes W47 from");
    assert_says(&found, "which is not in its MAU group");
}
