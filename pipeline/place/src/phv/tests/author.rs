//! Demands of the author on containers: obeyed, checked, and blamed if nothing fits.

use super::*;
use crate::data::FieldSlice;
use sluice_asic::phv::ContainerKind;
use sluice_ir::{ContainerDemand, ContainerRule, Loc};

/// Returns the sizes of a field's containers, the most significant one first, on both chips.
fn sizes(program: &Program, field: Field) -> Vec<u32> {
    let [x, y] = chips().map(|chip| {
        let allocation = allocated(program, &chip);
        assert_eq!(findings(program, &chip, &allocation), [""; 0]);
        let size = |s: &FieldSlice| info(&chip, s.container).size.bits();
        allocation.slices(field).iter().map(size).collect::<Vec<_>>()
    });
    assert_eq!(x, y);
    x
}

fn demand(program: &mut Program, field: Field, demand: ContainerDemand) {
    program.container_rules.push(ContainerRule { field, demand, loc: Loc::default() });
}

fn sized(mut program: Program, field: Field, list: &[u8]) -> Vec<u32> {
    demand(&mut program, field, ContainerDemand::Sizes(list.to_vec()));
    sizes(&program, field)
}

#[test]
fn fields_of_headers_have_the_sizes_that_are_demanded() {
    let program = || {
        let mut s = Small::new();
        let (_, h) = s.header("h", &[("a", 8), ("b", 8), ("c", 16), ("d", 32), ("e", 48), ("f", 16)]);
        // Each field alone, so that none of them is only passed through.
        for (f, width) in h.iter().zip([8, 8, 16, 32, 48, 16]) {
            s.set(*f, Expr::Const(1, width));
        }
        (s.program(), h)
    };
    let (p, h) = program();
    assert_eq!(
        h.iter().map(|f| sizes(&p, *f)).collect::<Vec<_>>(),
        [vec![8], vec![8], vec![16], vec![32], vec![32, 16], vec![16],]
    );
    let with = |at: usize, list: &[u8]| sized(program().0, h[at], list);
    assert_eq!(with(0, &[16]), [16], "with `b`");
    assert_eq!(with(1, &[32]), [32], "with `a` and `c`");
    assert_eq!(with(2, &[8]), [8, 8]);
    assert_eq!(with(3, &[16]), [16, 16]);
    assert_eq!(with(3, &[8, 16, 8]), [8, 16, 8]);
    assert_eq!(with(4, &[8]), [8; 6]);
    assert_eq!(with(4, &[32, 16]), [16, 32], "the first size has the least significant bits");
    assert_eq!(with(5, &[32]), [32], "with bytes of `e`");
}

#[test]
fn metadata_has_the_sizes_that_are_demanded() {
    let program = || {
        let mut s = Small::new();
        let fields = [("a", 1), ("b", 9), ("c", 32), ("d", 48)].map(|(n, w)| (s.sketch.meta(n, w), w));
        s.call(fields.iter().map(|(f, w)| set(*f, Expr::Const(1, *w))).collect());
        (s.program(), fields.map(|(f, _)| f))
    };
    let (_, [a, b, c, d]) = program();
    let with = |field: Field, list: &[u8]| sized(program().0, field, list);
    assert_eq!(with(a, &[32]), [32]);
    assert_eq!(with(b, &[32]), [32]);
    assert_eq!(with(b, &[8]), [8, 8]);
    assert_eq!(with(c, &[16]), [16, 16]);
    assert_eq!(with(c, &[8, 8, 16]), [16, 8, 8]);
    assert_eq!(with(d, &[16]), [16; 3]);
}

#[test]
fn a_solitary_field_has_its_container_alone() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 1), s.sketch.meta("b", 3));
    s.call(vec![set(a, Expr::Const(1, 1)), set(b, Expr::Const(3, 3))]);
    let mut program = s.program();
    let container = |program: &Program, f: Field| allocated(program, &chips()[0]).slices(f)[0].container;
    assert_eq!(container(&program, a), container(&program, b));
    let shared = allocated(&program, &chips()[0]);
    demand(&mut program, a, ContainerDemand::Solitary);
    assert_ne!(container(&program, a), container(&program, b));
    let found = findings(&program, &chips()[0], &shared);
    assert_says(&found, "`@pa_solitary(\"ingress\", \"meta.a\")` demands otherwise: `meta.a` shares");
}

#[test]
fn a_field_in_one_container_takes_neighbours_along() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 8), ("b", 24), ("c", 8)]);
    s.set(h[1], Expr::Const(1, 24));
    let mut program = s.program();
    assert_eq!(sizes(&program, h[1]).len(), 2);
    demand(&mut program, h[1], ContainerDemand::Atomic);
    assert_eq!(sizes(&program, h[1]), [32]);
}

#[test]
fn kinds_of_containers_are_obeyed() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 8), ("b", 8)]);
    s.set(h[0], Expr::Const(1, 8));
    let mut program = s.program();
    let chip = ChipSpec::tofino2();
    let kind =
        |program: &Program, f: Field| info(&chip, allocated(program, &chip).slices(f)[0].container).kind;
    assert_eq!(kind(&program, h[1]), ContainerKind::Mocha, "it only passes through");
    let other = allocated(&program, &chip);
    demand(&mut program, h[1], ContainerDemand::Kind(ContainerKind::Normal));
    assert_eq!(kind(&program, h[1]), ContainerKind::Normal);
    assert_says(&findings(&program, &chip, &other), "which is no normal container");
}

#[test]
fn a_field_keeps_its_bits_if_that_is_demanded() {
    let mut s = Small::new();
    let (a, b) = (s.sketch.meta("a", 32), s.sketch.meta("b", 32));
    s.set(a, Expr::Const(1, 32)).set(b, Expr::Const(1, 32));
    let mut program = s.program();
    let chip = ChipSpec::tofino();
    let mut allocation = allocated(&program, &chip);
    allocation.fields[b] = allocation.fields[a].clone();
    demand(&mut program, a, ContainerDemand::NoOverlay);
    assert_says(
        &findings(&program, &chip, &allocation),
        "demands otherwise: `meta.a` shares bits with `meta.b`",
    );
    assert_eq!(sizes(&program, a), [32]);
}

#[test]
fn the_annotation_that_leaves_no_allocation_is_named() {
    let mut s = Small::new();
    let (_, h) = s.header("h", &[("a", 16), ("b", 16)]);
    s.set(h[0], alu(AluOp::Add, field(h[0]), Expr::Const(1, 16)));
    let mut program = s.program();
    demand(&mut program, h[1], ContainerDemand::Sizes(vec![16]));
    demand(&mut program, h[0], ContainerDemand::Sizes(vec![32]));
    for chip in chips() {
        let found = refusal(&program, &chip);
        let text = "PHV: no allocation obeys `@pa_container_size(\"ingress\", \"h.a\", 32)` in addition to the annotation before it";
        assert_eq!(found[0], text);
    }
}
