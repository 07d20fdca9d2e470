//! Headers that share containers, and reasons that forbid it.

use super::*;
use sluice_ir::{Cond, MatchKind, SelectArm};

/// Two headers of 24 bytes, each used where it is valid, on a chip that has containers for one.
struct Two {
    s: Sketch,
    headers: [Header; 2],
    fields: [Vec<Field>; 2],
}

fn two() -> Two {
    let mut s = Sketch::new("two");
    let (first, of_first) = s.header("first", &[("kind", 8)]);
    let names: Vec<String> = (0..24).map(|i| format!("f{i}")).collect();
    let list: Vec<(&str, u16)> = names.iter().map(|n| (n.as_str(), 8)).collect();
    let (a, of_a) = s.header("a", &list);
    let (b, of_b) = s.header("b", &list);
    let to = |n: usize| Next::State(sluice_ir::entity::Entity::new(n));
    let arm = |value, next| SelectArm::new(vec![(value, 0xff)], next);
    s.state("parse_first", first, &[of_first[0]], vec![arm(1, to(1)), arm(2, to(2))]);
    s.state("parse_a", a, &[], vec![]);
    s.state("parse_b", b, &[], vec![]);
    Two { s, headers: [a, b], fields: [of_a, of_b] }
}

impl Two {
    /// Every field is written where its header is valid; `more` adds statements to the control block.
    fn program(mut self, more: impl FnOnce(&mut Two) -> Vec<sluice_ir::Stmt>) -> Program {
        let mut block = Vec::new();
        for i in 0..2 {
            for n in (0..24).step_by(8) {
                let body = self.fields[i][n..n + 8].iter().map(|f| set(*f, Expr::Const(1, 8))).collect();
                let action = self.s.action(&format!("w{i}_{n}"), &[], body);
                let call = self.s.stmt(StmtKind::Call(action));
                block.push(self.s.stmt(StmtKind::If(Cond::Valid(self.headers[i]), vec![call], Vec::new())));
            }
        }
        block.extend(more(&mut self));
        self.s.control(block);
        self.s.program
    }
}

fn small() -> ChipSpec {
    let mut chip = ChipSpec::tofino2();
    chip.phv.groups_8 = 2;
    chip
}

#[test]
fn headers_that_exclude_each_other_share_and_the_verifier_agrees() {
    let program = two().program(|_| Vec::new());
    let allocation = allocated(&program, &small());
    let of = |i: usize| program.headers.values().nth(i).unwrap().fields.clone();
    let containers = |i| of(i).iter().map(|f| allocation.slices(*f)[0].container).collect::<Vec<_>>();
    let (a, b) = (containers(1), containers(2));
    assert!(b.iter().filter(|c| a.contains(c)).count() >= 12, "{a:?} {b:?}");
    assert_eq!(findings(&program, &small(), &allocation), [""; 0]);
    let summary = crate::phv::summary(&program, &small(), &allocation);
    assert!(summary.rows.iter().any(|r| r.slices.len() == 2 && r.bits() == 8), "both are named");
    // A whole chip has containers for both.
    let apart = allocated(&program, &ChipSpec::tofino2());
    assert!(of(1).iter().all(|f| of(2).iter().all(|g| apart.slices(*f) != apart.slices(*g))));
}

/// Returns the findings on the allocation of the plain program for a program that forbids sharing; both have the same
/// field numbers.
fn forbidden(
    more: impl FnOnce(&mut Two) -> Vec<sluice_ir::Stmt>,
    harm: impl Fn(&mut Program),
) -> Vec<String> {
    let allocation = allocated(&two().program(|_| Vec::new()), &small());
    let mut program = two().program(more);
    harm(&mut program);
    assert!(!refusal(&program, &small()).is_empty(), "no other way to fit");
    findings(&program, &small(), &allocation)
}

#[test]
fn a_parser_that_can_have_both() {
    let found = forbidden(
        |_| Vec::new(),
        |p| {
            let state = p.states.values_mut().nth(1).unwrap();
            state.default = Next::State(sluice_ir::entity::Entity::new(2));
        },
    );
    assert_says(&found, "shares bits with `b`, but a path to parser state `parse_b` extracts both");
}

#[test]
fn an_action_that_makes_one_of_them() {
    let makes = |t: &mut Two| {
        let action = t.s.action("makes", &[], vec![PrimitiveKind::SetValid(t.headers[1], true)]);
        vec![t.s.stmt(StmtKind::Call(action))]
    };
    assert_says(
        &forbidden(makes, |_| {}),
        "header `b` shares bits with `a`, but action `makes` makes it valid",
    );
}

#[test]
fn whoever_looks_without_knowing() {
    let writes = |t: &mut Two| {
        let action = t.s.action("writes", &[], vec![set(t.fields[0][0], Expr::Const(7, 8))]);
        vec![t.s.stmt(StmtKind::Call(action))]
    };
    assert_says(&forbidden(writes, |_| {}), "`writes` uses it where a packet may have the other header");
    let matches = |t: &mut Two| {
        let action = t.s.action("nothing", &[], Vec::new());
        let table = t.s.table("matches", &[(t.fields[1][3], MatchKind::Exact)], &[action], 16);
        vec![t.s.apply(table)]
    };
    assert_says(&forbidden(matches, |_| {}), "`matches` uses it where");
    let either = |t: &mut Two| {
        let cmp = sluice_samples::sketch::cmp(sluice_ir::CmpOp::Eq, t.fields[0][2], 3, 8);
        let cond = Cond::Or(Box::new(Cond::Valid(t.headers[0])), Box::new(cmp));
        let action = t.s.action("nothing", &[], Vec::new());
        let call = t.s.stmt(StmtKind::Call(action));
        vec![t.s.stmt(StmtKind::If(cond, vec![call], Vec::new()))]
    };
    assert_says(&forbidden(either, |_| {}), "uses it where a packet may have the other header");
}

#[test]
fn a_condition_that_asks_for_the_header_first_may_look() {
    let both = |t: &mut Two| {
        let cmp = sluice_samples::sketch::cmp(sluice_ir::CmpOp::Eq, t.fields[0][2], 3, 8);
        let cond = Cond::And(Box::new(Cond::Valid(t.headers[0])), Box::new(cmp));
        let action = t.s.action("nothing", &[], Vec::new());
        let call = t.s.stmt(StmtKind::Call(action));
        vec![t.s.stmt(StmtKind::If(cond, vec![call], Vec::new()))]
    };
    let program = two().program(both);
    let allocation = allocated(&program, &small());
    assert_eq!(findings(&program, &small(), &allocation), [""; 0]);
}

#[test]
fn a_header_that_passes_through_shares_with_one_in_use_and_both_are_halved() {
    let mut s = Sketch::new("mixed");
    let (first, of_first) = s.header("first", &[("kind", 8)]);
    let names: Vec<String> = (0..20).map(|i| format!("f{i}")).collect();
    let list: Vec<(&str, u16)> = names.iter().map(|n| (n.as_str(), 32)).collect();
    let (used, of_used) = s.header("used", &list);
    let (passes, of_passes) = s.header("passes", &[("all", 640)]);
    let to = |n: usize| Next::State(sluice_ir::entity::Entity::new(n));
    let arm = |value, next| SelectArm::new(vec![(value, 0xff)], next);
    s.state("parse_first", first, &[of_first[0]], vec![arm(1, to(1)), arm(2, to(2))]);
    s.state("parse_used", used, &[], vec![]);
    s.state("parse_passes", passes, &[], vec![]);
    let mut block = Vec::new();
    for (n, f) in of_used.iter().enumerate() {
        let action = s.action(&format!("w{n}"), &[], vec![set(*f, Expr::Const(1, 32))]);
        let call = s.stmt(StmtKind::Call(action));
        block.push(s.stmt(StmtKind::If(Cond::Valid(used), vec![call], Vec::new())));
    }
    s.control(block);
    let program = s.program;
    let mut chip = ChipSpec::tofino2();
    (chip.phv.groups_32, chip.phv.groups_16, chip.phv.groups_8) = (1, 2, 1);
    let allocation = allocated(&program, &chip);
    assert_eq!(findings(&program, &chip, &allocation), [""; 0]);
    let containers = |fields: &[Field]| -> Vec<(Container, u8)> {
        let slices = fields.iter().flat_map(|f| allocation.slices(*f));
        slices.map(|s| (s.container, info(&chip, s.container).size.bits() as u8)).collect()
    };
    let (of_used, of_passes) = (containers(&of_used), containers(&of_passes));
    let shared: Vec<_> = of_used.iter().filter(|c| of_passes.contains(c)).collect();
    assert!(shared.iter().any(|c| c.1 == 32) && shared.iter().any(|c| c.1 == 16), "{shared:?}");
}
