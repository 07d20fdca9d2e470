//! Nested conditions as one gateway.
//!
//! A gateway takes a logical table id unless it is attached to a table. `if a { if b { t } }` is therefore placed as
//! `if a && b { t }` where one gateway can decide that. What may not live here: what a gateway can decide.

use crate::flow::{Flow, Var, block_writes};
use crate::ir::{ApplyArms, Block, Cond, Program, Stmt, StmtKind};
use sluice_asic::gress::Gress;

/// The flow of a gress with as few gateways as `fits` allows.
pub(super) fn joined(program: &Program, gress: Gress, fits: &impl Fn(&Cond) -> bool) -> Flow {
    let [control, ghost] = blocks(program, gress).map(|b| block(program, b, fits));
    Flow::of_blocks(&control, &ghost)
}

/// The flow of a gress in which `if c { a; b }` is `if c { a }` and `if c { b }` wherever `a` leaves `c` as it is; joined
/// as `fits` allows, if given.
pub(super) fn repeated(program: &Program, gress: Gress, fits: Option<&impl Fn(&Cond) -> bool>) -> Flow {
    let [control, ghost] = blocks(program, gress).map(|b| {
        let apart = apart(program, b);
        fits.map_or_else(|| apart.clone(), |fits| block(program, &apart, fits))
    });
    Flow::of_blocks(&control, &ghost)
}

/// The control of a gress, and the ghost control, which is ingress' alone.
fn blocks(program: &Program, gress: Gress) -> [&[Stmt]; 2] {
    let ghost: &[Stmt] = if gress == Gress::Ingress { &program.ghost } else { &[] };
    [&program.pipe(gress).control, ghost]
}

fn apart(program: &Program, stmts: &[Stmt]) -> Block {
    stmts.iter().flat_map(|s| one_apart(program, s)).collect()
}

fn one_apart(program: &Program, s: &Stmt) -> Block {
    let kind = match &s.kind {
        StmtKind::Call(action) => StmtKind::Call(*action),
        StmtKind::Apply(table, arms) => StmtKind::Apply(*table, in_arms(arms, |b| apart(program, b))),
        StmtKind::If(cond, then, otherwise) => {
            let (then, otherwise) = (apart(program, then), apart(program, otherwise));
            let reads = cond.vars();
            let (_, before) = then.split_last().unzip();
            let changed = block_writes(program, before.unwrap_or_default());
            if otherwise.is_empty() && then.len() > 1 && !reads.iter().any(|v| changed.contains(v)) {
                let alone =
                    |t: Stmt| Stmt { loc: s.loc, kind: StmtKind::If(cond.clone(), vec![t], Block::new()) };
                return then.into_iter().map(alone).collect();
            }
            StmtKind::If(cond.clone(), then, otherwise)
        }
    };
    vec![Stmt { kind, loc: s.loc }]
}

fn in_arms(arms: &ApplyArms, each: impl Fn(&Block) -> Block) -> ApplyArms {
    let mut arms = arms.clone();
    for arm in [&mut arms.hit, &mut arms.miss].into_iter().chain(arms.run.iter_mut().map(|(_, b)| b)) {
        *arm = each(arm);
    }
    arms
}

fn block(program: &Program, stmts: &[Stmt], fits: &impl Fn(&Cond) -> bool) -> Block {
    stmts.iter().flat_map(|s| stmt(program, s, fits)).collect()
}

fn stmt(program: &Program, s: &Stmt, fits: &impl Fn(&Cond) -> bool) -> Block {
    let kind = match &s.kind {
        StmtKind::Call(action) => StmtKind::Call(*action),
        StmtKind::Apply(table, arms) => StmtKind::Apply(*table, in_arms(arms, |b| block(program, b, fits))),
        StmtKind::If(cond, then, otherwise) => {
            let (then, otherwise) = (block(program, then, fits), block(program, otherwise, fits));
            if otherwise.is_empty()
                && let Some(joined) = into_children(program, cond, &then, fits)
            {
                return joined;
            }
            StmtKind::If(cond.clone(), then, otherwise)
        }
    };
    vec![Stmt { kind, loc: s.loc }]
}

/// The statements under a condition, each with the condition in its own. `None` unless all of them are conditions
/// without another branch, one gateway decides each of the joint conditions, and nothing among them changes what the
/// outer one reads before it would be looked at again.
fn into_children(
    program: &Program,
    outer: &Cond,
    children: &[Stmt],
    fits: &impl Fn(&Cond) -> bool,
) -> Option<Block> {
    let reads = outer.vars();
    let mut changed: Vec<Var> = Vec::new();
    let mut list = Block::new();
    for child in children {
        let StmtKind::If(inner, then, otherwise) = &child.kind else { return None };
        let joint = Cond::And(Box::new(outer.clone()), Box::new(inner.clone()));
        if !otherwise.is_empty() || reads.iter().any(|v| changed.contains(v)) || !fits(&joint) {
            return None;
        }
        changed.extend(block_writes(program, then));
        list.push(Stmt { kind: StmtKind::If(joint, then.clone(), Block::new()), loc: child.loc });
    }
    (!list.is_empty()).then_some(list)
}
