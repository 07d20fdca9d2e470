//! Nested conditions as one gateway.
//!
//! A gateway takes a logical table id unless it is attached to a table. `if a { if b { t } }` is therefore placed as
//! `if a && b { t }` where one gateway can decide that. What may not live here: what a gateway can decide.

use crate::flow::{Flow, Var, block_writes};
use crate::ir::{Block, Cond, Program, Stmt, StmtKind};
use sluice_asic::gress::Gress;

/// The flow of a gress with as few gateways as `fits` allows.
pub(super) fn joined(program: &Program, gress: Gress, fits: &impl Fn(&Cond) -> bool) -> Flow {
    let control = block(program, &program.pipe(gress).control, fits);
    let ghost = if gress == Gress::Ingress { block(program, &program.ghost, fits) } else { Block::new() };
    Flow::of_blocks(&control, &ghost)
}

fn block(program: &Program, stmts: &[Stmt], fits: &impl Fn(&Cond) -> bool) -> Block {
    stmts.iter().flat_map(|s| stmt(program, s, fits)).collect()
}

fn stmt(program: &Program, s: &Stmt, fits: &impl Fn(&Cond) -> bool) -> Block {
    let kind = match &s.kind {
        StmtKind::Call(action) => StmtKind::Call(*action),
        StmtKind::Apply(table, arms) => {
            let mut arms = arms.clone();
            for arm in [&mut arms.hit, &mut arms.miss].into_iter().chain(arms.run.iter_mut().map(|(_, b)| b))
            {
                *arm = block(program, arm, fits);
            }
            StmtKind::Apply(*table, arms)
        }
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
