//! Tests of parser placement.

use super::*;
use crate::Options;
use crate::phv::allocate;
use sluice_ir::cfg::Cfg;
use sluice_ir::entity::Entity;
use sluice_ir::{Expr, Field, Intrinsic, Loc, MatchKind, ParserOp, SelectArm};
use sluice_samples::sketch::{Sketch, l3};

fn placed(program: &Program, chip: &ChipSpec, gress: Gress) -> Result<PlacedParser, Vec<Diag>> {
    let cfgs = Gress::ALL.map(|g| Cfg::of(program, g));
    let allocation = allocate(program, chip, &Options::default(), &cfgs).unwrap();
    place(program, chip, gress, &allocation)
}

fn cycles(program: &Program, chip: &ChipSpec) -> Vec<u16> {
    placed(program, chip, Gress::Ingress).unwrap().cycles.values().copied().collect()
}

fn state(index: usize) -> Next {
    Next::State(ParserState::new(index))
}

fn arm(values: &[u128], next: Next) -> SelectArm {
    SelectArm::new(values.iter().map(|v| (*v, *v)).collect(), next)
}

/// Returns a program with a start state of one byte, then a header of these fields. A table matches each field, so
/// that none is joined with its neighbour. The second state selects on some of the fields.
fn second(widths: &[u16], select: &[usize], arms: usize) -> Program {
    let mut s = Sketch::new("second");
    let (first, f) = s.header("first", &[("x", 8)]);
    let names: Vec<String> = (0..widths.len()).map(|i| format!("f{i}")).collect();
    let fields: Vec<(&str, u16)> = names.iter().map(String::as_str).zip(widths.iter().copied()).collect();
    let (header, h) = s.header("h", &fields);
    s.state("start", first, &f, vec![arm(&[1], state(1))]);
    let chosen: Vec<Field> = select.iter().map(|i| h[*i]).collect();
    let values: Vec<u128> = vec![1; chosen.len()];
    s.state("second", header, &chosen, vec![arm(&values, Next::Accept); arms]);
    let nop = s.action("nop", &[], vec![]);
    let keys: Vec<_> = h.iter().map(|f| (*f, MatchKind::Exact)).collect();
    let table = s.table("t", &keys, &[nop], 16);
    let block = vec![s.apply(table)];
    s.control(block);
    s.program
}

#[test]
fn extractors_per_size_decide() {
    // Four extractors of a size on Tofino. The validity bit takes one more byte, in an 8-bit container.
    for (widths, on_tofino, on_tofino2) in [
        (&[8, 8, 8][..], 1, 1),
        (&[8, 8, 8, 8], 2, 1),
        (&[16, 16, 16, 16], 1, 1),
        (&[16, 16, 16, 16, 16], 2, 1),
        (&[32, 32, 32, 32], 1, 1),
        (&[32, 32, 32, 32, 32], 2, 1),
        // Twenty 16-bit extractors on Tofino 2, one of which the validity bit takes; a window of 32 bytes.
        (&[8; 19], 5, 1),
        (&[8; 20], 6, 2),
        // 33 bytes: the last is beyond the first window.
        (&[32, 32, 32, 32, 32, 32, 32, 32, 8], 2, 2),
    ] {
        let program = second(widths, &[], 0);
        assert_eq!(cycles(&program, &ChipSpec::tofino())[1], on_tofino, "{widths:?}");
        assert_eq!(cycles(&program, &ChipSpec::tofino2())[1], on_tofino2, "{widths:?}");
    }
}

#[test]
fn selects_take_32_bits_a_cycle() {
    for (widths, select, on_tofino, on_tofino2) in [
        (&[32][..], &[0][..], 1, 1),
        (&[16, 8, 8], &[0, 1, 2], 1, 1),
        // The four bytes are apart, so the 16-bit half of Tofino takes only one of them.
        (&[8, 16, 8, 16, 8, 16, 8], &[0, 2, 4, 6], 3, 1),
        (&[32, 8], &[0, 1], 2, 2),
        (&[48, 16], &[0, 1], 2, 2),
    ] {
        let program = second(widths, select, 1);
        assert_eq!(cycles(&program, &ChipSpec::tofino())[1], on_tofino, "{widths:?}");
        assert_eq!(cycles(&program, &ChipSpec::tofino2())[1], on_tofino2, "{widths:?}");
    }
}

#[test]
fn every_matching_cycle_has_a_row_per_arm() {
    let chip = ChipSpec::tofino2();
    let rows = |select: &[usize], arms| {
        placed(&second(&[32, 32], select, arms), &chip, Gress::Ingress).unwrap().rows
    };
    let none = rows(&[], 0);
    assert_eq!(rows(&[0], 5), none + 5);
    assert_eq!(rows(&[0, 1], 5), none + 2 * 5 + 1);
}

#[test]
fn bytes_that_have_passed_cost_a_cycle_unless_they_were_kept() {
    let mut program = second(&[8], &[0], 1);
    let first = program.headers.values().next().unwrap().fields[0];
    let second = program.states.values_mut().nth(1).unwrap();
    second.select = vec![first.into()];
    assert_eq!(cycles(&program, &ChipSpec::tofino())[1], 2);
    assert_eq!(cycles(&program, &ChipSpec::tofino2())[1], 1);
}

#[test]
fn constants_of_distant_bits_take_extractors_on_tofino() {
    let mut s = Sketch::new("constants");
    let wide: Vec<Field> = (0..2).map(|i| s.meta(&format!("x{i}"), 32)).collect();
    let (h, _) = s.header("h", &[("a", 8)]);
    s.state("start", h, &[], vec![]);
    let mut program = s.program;
    for x in wide {
        let kind = ParserOpKind::Set(x, Expr::Const(0x8000_8001, 32));
        program.states.values_mut().next().unwrap().ops.push(ParserOp { kind, loc: Loc::default() });
    }
    // Three patterns each, four 32-bit extractors per cycle, and one cycle for the intrinsic metadata.
    assert_eq!(cycles(&program, &ChipSpec::tofino()), [3]);
    assert_eq!(cycles(&program, &ChipSpec::tofino2()), [2]);
}

#[test]
fn the_first_state_pays_for_intrinsic_fields() {
    let chip = ChipSpec::tofino();
    let mut s = Sketch::new("stamps");
    s.gress = Gress::Egress;
    let stamps = [
        Intrinsic::EnqQdepth,
        Intrinsic::EnqTstamp,
        Intrinsic::DeqQdepth,
        Intrinsic::DeqTimedelta,
        Intrinsic::GlobalTstamp,
    ]
    .map(|i| s.intrinsic(i));
    let (h, _) = s.header("h", &[("a", 8)]);
    s.state("start", h, &[], vec![]);
    let nop = s.action("nop", &[], vec![]);
    let table = |s: &mut Sketch, n: usize| {
        let keys: Vec<_> = stamps[..n].iter().map(|f| (*f, MatchKind::Exact)).collect();
        let table = s.table(&format!("t{n}"), &keys, &[nop], 16);
        let block = vec![s.apply(table)];
        s.control(block);
        placed(&s.program, &chip, Gress::Egress).unwrap().cycles[ParserState::new(0)]
    };
    // Four words in one cycle, five in two; one more for the header.
    assert_eq!(table(&mut s, 4), 2);
    assert_eq!(table(&mut s, 5), 3);
}

#[test]
fn unreachable_states_have_no_rows() {
    let mut program = second(&[8], &[], 0);
    let all = placed(&program, &ChipSpec::tofino(), Gress::Ingress).unwrap();
    program.states.values_mut().next().unwrap().arms.clear();
    let some = placed(&program, &ChipSpec::tofino(), Gress::Ingress).unwrap();
    assert_eq!(some.cycles, all.cycles);
    assert!(some.rows < all.rows);
}

#[test]
fn too_many_rows_name_the_limit() {
    let program = second(&[16], &[0], 300);
    let found = placed(&program, &ChipSpec::tofino2(), Gress::Ingress).unwrap_err();
    assert_eq!(found.len(), 1);
    assert!(found[0].text.contains("TCAM rows; a parser of tofino2 has 256"), "{}", found[0].text);
}

#[test]
fn a_loop_that_takes_no_bytes_is_refused() {
    let mut program = second(&[8], &[], 0);
    program.states.values_mut().nth(1).unwrap().default = state(0);
    assert!(placed(&program, &ChipSpec::tofino(), Gress::Ingress).is_ok(), "the packet ends the loop");
    program.states.values_mut().for_each(|state| state.ops.clear());
    let found = placed(&program, &ChipSpec::tofino(), Gress::Ingress).unwrap_err();
    assert_eq!(found[0].text, "parser state `start` can be reached from itself without end");
}

/// Returns a program with a chain of `count` states of 20 bytes each, in egress.
fn deep(count: usize) -> Program {
    let mut s = Sketch::new("deep");
    s.gress = Gress::Egress;
    for i in 0..count {
        let (h, _) = s.header(&format!("h{i}"), &[("a", 128), ("b", 32)]);
        s.state(&format!("s{i}"), h, &[], vec![]);
    }
    let mut program = s.program;
    for (i, data) in program.states.values_mut().enumerate().take(count - 1) {
        data.default = state(i + 1);
    }
    program
}

#[test]
fn depth_is_limited_in_egress() {
    let chip = ChipSpec::tofino();
    assert!(placed(&deep(8), &chip, Gress::Egress).is_ok());
    let found = placed(&deep(9), &chip, Gress::Egress).unwrap_err();
    assert_eq!(found[0].text, "state `s8` parses up to byte 180; egress of tofino parses 160");
    assert!(placed(&deep(9), &ChipSpec::tofino2(), Gress::Egress).is_ok());
}

#[test]
fn checksum_units_are_limited() {
    let mut s = Sketch::new("sums");
    let flags: Vec<Field> = (0..3).map(|i| s.meta(&format!("bad{i}"), 1)).collect();
    let (h, f) = s.header("h", &[("a", 16)]);
    s.state("start", h, &[], vec![]);
    let mut program = s.program;
    for flag in flags {
        let kind = ParserOpKind::VerifyChecksum(flag, f.iter().map(|&f| Expr::Field(f)).collect());
        program.states.values_mut().next().unwrap().ops.push(ParserOp { kind, loc: Loc::default() });
    }
    let found = placed(&program, &ChipSpec::tofino(), Gress::Ingress).unwrap_err();
    assert!(found[0].text.contains("verifies 3 checksums; a parser of tofino has 2"), "{}", found[0].text);
    assert!(placed(&program, &ChipSpec::tofino2(), Gress::Ingress).is_ok());
}

#[test]
fn a_sum_keeps_its_unit_until_a_later_state_verifies_it() {
    let mut s = Sketch::new("sums");
    let flags: Vec<Field> = (0..3).map(|i| s.meta(&format!("bad{i}"), 1)).collect();
    let (h, f) = s.header("h", &[("a", 16)]);
    let (k, g) = s.header("k", &[("b", 16)]);
    let next = Next::State(ParserState::new(1));
    s.state("start", h, &f, vec![SelectArm::new(vec![(1, 0xffff)], next)]);
    s.state("later", k, &[], vec![]);
    let mut program = s.program;
    let verify = |flag: &Field, inputs: &[Field]| {
        let kind = ParserOpKind::VerifyChecksum(*flag, inputs.iter().map(|&f| Expr::Field(f)).collect());
        ParserOp { kind, loc: Loc::default() }
    };
    let later = ParserState::new(1);
    program.states[later].ops.push(verify(&flags[0], &[f[0], g[0]]));
    program.states[later].ops.push(verify(&flags[1], &[f[0]]));
    assert!(placed(&program, &ChipSpec::tofino(), Gress::Ingress).is_ok());
    program.states[ParserState::new(0)].ops.push(verify(&flags[2], &f));
    let found = placed(&program, &ChipSpec::tofino(), Gress::Ingress).unwrap_err();
    let text = "state `start` verifies 1 checksums, adds to 2 that later states verify; a parser of tofino has 2 units";
    assert_eq!(found[0].text, text);
}

#[test]
fn paths_are_listed_once_with_their_sums() {
    let program = l3(1000);
    let chip = ChipSpec::tofino2();
    let placed = placed(&program, &chip, Gress::Ingress).unwrap();
    let found = paths(&program, Gress::Ingress, &placed);
    assert!(!found.cut);
    let bytes: Vec<u32> = found.list.iter().map(|p| p.bytes).collect();
    assert_eq!(bytes, [34, 14]);
    for p in &found.list {
        assert_eq!(p.cycles, p.states.iter().map(|s| u32::from(placed.cycles[*s])).sum::<u32>());
    }
}

#[test]
fn many_paths_are_cut_and_arms_to_one_place_do_not_multiply() {
    // Twenty states, each with two arms to the same next state: one path to the end.
    let mut program = deep(20);
    let key = program.headers.values().next().unwrap().fields[0];
    for data in program.states.values_mut() {
        data.select = vec![key.into()];
        data.arms = vec![arm(&[1], data.default); 2];
    }
    let cycles = program.states.values().map(|_| 1).collect();
    let parser = PlacedParser { cycles, ..PlacedParser::default() };
    let found = paths(&program, Gress::Egress, &parser);
    assert_eq!((found.list.len(), found.cut), (1, false));
    // Each state may also skip one.
    for (i, data) in program.states.values_mut().enumerate().take(18) {
        data.arms = vec![arm(&[1], state(i + 2))];
    }
    let found = paths(&program, Gress::Egress, &parser);
    assert_eq!((found.list.len(), found.cut), (256, true));
}

/// Returns a program whose first state has an arm for each of 130 states that skip `bytes` and lead to a state that selects on a
/// byte.
fn skips(bytes: u16) -> Program {
    let mut s = Sketch::new("skips");
    let (length, f) = s.header("length", &[("n", 8)]);
    let (after, g) = s.header("after", &[("n", 8)]);
    s.state(
        "start",
        length,
        &f,
        (0..130).map(|i| SelectArm::new(vec![(i, 255)], state(i as usize + 1))).collect(),
    );
    for i in 0..130 {
        s.state(&format!("skip_{i}"), length, &[], vec![]);
    }
    s.state("after", after, &g, vec![arm(&[1], Next::Accept)]);
    let mut program = s.program;
    for skip in program.states.values_mut().skip(1).take(130) {
        skip.ops = vec![ParserOp { kind: ParserOpKind::Advance(bytes), loc: Loc::default() }];
        skip.default = state(131);
    }
    program
}

#[test]
fn rows_do_the_work_of_the_states_after_them_if_they_are_short() {
    let chip = ChipSpec::tofino();
    // A row for each arm and one for other packets; the states that skip have none.
    let parser = placed(&skips(30), &chip, Gress::Ingress).unwrap();
    assert_eq!(parser.states.iter().filter(|s| s.carried).count(), 130);
    assert_eq!(parser.rows, 1 + 131 + 2);
    // The byte after the skipped ones is beyond the window of the first state's rows, or the shift is too long.
    for bytes in [31, 32] {
        let found = placed(&skips(bytes), &chip, Gress::Ingress).unwrap_err();
        assert!(found[0].text.contains("TCAM rows"), "{}", found[0].text);
    }
    // With enough rows every state has its own.
    let parser = placed(&l3(1000), &chip, Gress::Ingress).unwrap();
    assert!(parser.states.iter().all(|s| !s.carried && s.rows > 0));
}
