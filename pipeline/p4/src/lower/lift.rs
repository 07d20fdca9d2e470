//! Second steps of actions that leave their branches.
//!
//! The chip writes some results of arrays where the text form has two actions: the access writes a temporary field, and a later
//! action copies bits of it. In a branch, the copy keeps the branch open for another stage, and next tables that are a chain
//! wait for it. Packets that do not take the branch have zeros in both fields, so that the copy may run for them, too. It moves
//! to what reads the field, which may be in a later branch.

use super::copies::bits_of;
use sluice_asic::gress::Gress;
use sluice_entity::Entity;
use sluice_ir::cfg::{Cfg, Effects, Node, Outcome, Var, block_writes};
use sluice_ir::group::writes;
use sluice_ir::{
    Action, ApplyArms, Block, Expr, Field, Home, ParserOpKind, PrimitiveKind, Program, Stmt, StmtKind,
};
use std::collections::BTreeSet;

/// The most statements that move.
const MOST: usize = 64;

/// Moves copies at the ends of branches behind the branches.
pub(super) fn out_of_branches(program: &mut Program) {
    for gress in Gress::ALL {
        let mut block = std::mem::take(&mut program.pipes[gress.index()].control);
        let mut actions = BTreeSet::new();
        for _ in 0..MOST {
            let cfg = Cfg::of_blocks(&block, if gress == Gress::Ingress { &program.ghost } else { &[] });
            let moved = lift(&mut block, &mut 0, &|node| same_outside(program, &cfg, node));
            let Some(action) = moved else { break };
            actions.insert(action);
        }
        for action in actions {
            sink(program, &mut block, action);
        }
        program.pipes[gress.index()].control = block;
    }
}

/// Moves the one call of an action to what reads the fields that it writes, into a branch if all of it is there.
fn sink(program: &Program, block: &mut Block, action: Action) {
    let call = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Call(other) if other == action);
    let Some(at) = block.iter().position(call) else {
        for stmt in block {
            branches(stmt).into_iter().for_each(|branch| sink(program, branch, action));
        }
        return;
    };
    let written = block_writes(program, &block[at..=at]);
    let deparsed = |var: &Var| match *var {
        Var::Field(field) => program.pipes.iter().any(|pipe| pipe.deparser.reads(field)),
        Var::Valid(_) => true,
    };
    if !written.iter().any(deparsed) {
        let stmt = block.remove(at);
        put(program, &written, block, at, stmt);
    }
}

/// Puts a statement in front of the first one, from a position on, that reads what it writes.
fn put(program: &Program, written: &[Var], block: &mut Block, from: usize, stmt: Stmt) {
    let reads = |block: &[Stmt]| {
        let cfg = Cfg::of_blocks(block, &[]);
        cfg.nodes.keys().any(|node| node_reads(program, &cfg, node, written))
    };
    let readers: Vec<usize> = (from..block.len()).filter(|n| reads(&block[*n..=*n])).collect();
    let Some(&first) = readers.first() else { return block.insert(from, stmt) };
    let cfg = Cfg::of_blocks(&block[first..=first], &[]);
    let own = cfg.nodes.keys().next().is_some_and(|node| node_reads(program, &cfg, node, written));
    let mut inside = branches(&mut block[first]);
    inside.retain(|branch| reads(branch));
    match inside.as_mut_slice() {
        [branch] if readers.len() == 1 && !own => put(program, written, branch, 0, stmt),
        _ => block.insert(first, stmt),
    }
}

fn node_reads(program: &Program, cfg: &Cfg, node: Node, vars: &[Var]) -> bool {
    let Effects { match_reads, action_reads, .. } = cfg.effects(program, node);
    match_reads.into_iter().chain(action_reads).any(|var| vars.contains(&var))
}

/// Returns the branches of a statement, in the order of a graph's nodes.
fn branches(stmt: &mut Stmt) -> Vec<&mut Block> {
    match &mut stmt.kind {
        StmtKind::Call(_) => Vec::new(),
        StmtKind::If(_, then, otherwise) => vec![then, otherwise],
        StmtKind::Apply(_, ApplyArms { run, hit, miss }) => {
            [hit, miss].into_iter().chain(run.iter_mut().map(|(_, arm)| arm)).collect()
        }
    }
}

/// Moves the first call for which `may` is true behind the statement that contains it; `count` is the number of nodes before
/// the block. Returns its action.
fn lift(block: &mut Block, count: &mut usize, may: &impl Fn(Node) -> bool) -> Option<Action> {
    for at in 0..block.len() {
        *count += 1;
        let mut moved = None;
        for branch in branches(&mut block[at]) {
            if let Some(action) = lift(branch, count, may) {
                return Some(action);
            }
            let last = branch.last().map(|last| &last.kind);
            if let Some(StmtKind::Call(action)) = last
                && may(Node::new(*count - 1))
            {
                let action = *action;
                moved = branch.pop().map(|stmt| (stmt, action));
                break;
            }
        }
        if let Some((stmt, action)) = moved {
            block.insert(at + 1, stmt);
            return Some(action);
        }
    }
    None
}

/// Returns true for a node that copies bits of metadata to metadata, where both are zero for packets that do not come to it.
fn same_outside(program: &Program, cfg: &Cfg, node: Node) -> bool {
    let ([action], Some((_, decider, outcome))) =
        (&cfg.actions(program, node)[..], cfg.preds[cfg.nodes[node].pred].of)
    else {
        return false;
    };
    let zero = |field: Field| {
        let mut ops = program.states.values().flat_map(|state| &state.ops);
        program.fields[field].home == Home::Metadata
            && ops.all(|op| {
                op.kind.written() != Some(field) || matches!(op.kind, ParserOpKind::Set(_, Expr::Const(0, _)))
            })
    };
    let writers = |field: Field| {
        cfg.nodes.keys().filter(move |other| {
            let writes = cfg.effects(program, *other).writes;
            writes.contains(&Var::Field(field))
        })
    };
    // Of the actions of the node that decides the branch, the branch's own writes the temporary field.
    let by_decider = |field: Field| {
        let mut others =
            cfg.actions(program, decider).into_iter().filter(|one| outcome != Outcome::Ran(*one));
        !others.any(|one| {
            let data = &program.actions[one];
            data.body.iter().any(|p| writes(program, data.gress, &p.kind).contains(&Var::Field(field)))
        })
    };
    let body = &program.actions[*action].body;
    !body.is_empty()
        && body.iter().all(|primitive| {
            let (PrimitiveKind::Set(to, value) | PrimitiveKind::SetSlice(to, _, _, value)) = &primitive.kind
            else {
                return false;
            };
            let Some(from) = bits_of(value) else { return false };
            let inside = |other: Node| match other == decider {
                true => by_decider(from),
                false => other < node && below(cfg, other, node),
            };
            zero(*to)
                && zero(from)
                && writers(*to).all(|other| other == node)
                && writers(from).next().is_some()
                && writers(from).all(inside)
        })
}

/// Returns true if a node runs only for packets that come to the branch of another one.
fn below(cfg: &Cfg, node: Node, other: Node) -> bool {
    let branch = cfg.nodes[other].pred;
    let mut pred = Some(cfg.nodes[node].pred);
    while pred.is_some_and(|pred| pred != branch) {
        pred = pred.and_then(|pred| cfg.preds[pred].of).map(|(parent, ..)| parent);
    }
    pred.is_some()
}
