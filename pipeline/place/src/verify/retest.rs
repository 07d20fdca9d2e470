//! Rule 13, conditions tested again: a gateway in the stage of the node that runs on the conditions, attached to it,
//! or in the stage before gets the same results as the gateways that tested them first.
//!
//! It tests only outcomes of gateways. A node that knows the outcomes before them on the path enables it. No node
//! that such a packet runs has written a container that the conditions read. The gateway sees the bytes of the
//! conditions in one crossbar group over its search bus.

use super::{Check, paths};
use crate::bits::ByteRef;
use crate::data::{Owner, Part};
use crate::next_table::{LongBranch, Retest};
use crate::purpose::Purpose;
use sluice_asic::chip::Column;
use sluice_ir::cfg::{Node, NodeKind, Outcome};
use std::collections::BTreeSet;

pub(super) fn check(check: &mut Check<'_>, owner: Owner, branch: &LongBranch, retest: Retest) {
    let problem = place(check, owner, branch, retest)
        .or_else(|| stale(check, owner, retest))
        .or_else(|| enabled(check, owner, retest))
        .or_else(|| blind(check, owner, retest));
    if let Some(problem) = problem {
        check.report(owner, format!("tested again in stage {}, but {problem}", retest.stage));
    }
}

fn first_part(check: &Check<'_>, owner: Owner) -> Option<Part> {
    check.placed(owner).parts.first().copied()
}

/// Returns a finding if the gateway is not at a legal place for this node.
fn place(check: &Check<'_>, owner: Owner, branch: &LongBranch, retest: Retest) -> Option<String> {
    let first = first_part(check, owner).filter(|p| p.stage == branch.to_stage);
    let Some(first) = first else {
        return Some("the node does not begin in the stage where its outcome arrives".to_owned());
    };
    let ids = |stage, id: u8| {
        let units = check.placement.units.iter();
        units.filter(move |u| {
            u.unit.stage == stage && u.unit.column == Column::LogicalTable && u.unit.row == u16::from(id)
        })
    };
    match retest.id {
        Some(_) if retest.stage + 1 != branch.to_stage => Some("that is not the stage before".to_owned()),
        Some(id) => {
            let own = ids(retest.stage, id).all(|u| u.owner == owner && u.purpose == Purpose::Retest);
            let there = ids(retest.stage, id).count() == 1;
            (!own || !there).then(|| format!("logical id {id} is not the gateway's alone"))
        }
        None if retest.stage != branch.to_stage => {
            Some("the node has no part there to which the gateway could be attached".to_owned())
        }
        None => {
            let gateway = matches!(check.kind(owner), NodeKind::Gateway(_));
            let alone = ids(first.stage, first.logical_id).count() == 1;
            (gateway || !alone).then(|| "it has a gateway already".to_owned())
        }
    }
}

/// Nodes of a path, each with its outcome on the path.
type Steps = Vec<(Node, Outcome)>;

/// Returns the outcomes of the node's path that are not tested again, and those that are.
fn path(check: &Check<'_>, owner: Owner, retest: Retest) -> (Steps, Steps) {
    let cfg = check.cfg(owner.gress);
    let mut before = cfg.outcomes(cfg.nodes[owner.node].pred);
    let tested = before.split_off(before.len().saturating_sub(usize::from(retest.outcomes)));
    (before, tested)
}

/// Returns a finding unless a node that knows the outcomes before is in the stage before or earlier in the stage.
fn enabled(check: &Check<'_>, owner: Owner, retest: Retest) -> Option<String> {
    let cfg = check.cfg(owner.gress);
    if cfg.is_ghost(owner.node) {
        return Some("updates of queue depths do not always run".to_owned());
    }
    let (before, _) = path(check, owner, retest);
    let (last, outcome) = *before.last()?;
    let id = retest.id.or(first_part(check, owner).map(|p| p.logical_id)).unwrap_or(0);
    let near = |p: &Part| p.stage + 1 == retest.stage || p.stage == retest.stage && p.logical_id < id;
    let parts = |node| &check.placed(Owner { gress: owner.gress, node }).parts;
    let decides = match outcome {
        Outcome::Miss => parts(last).last().is_some_and(near),
        _ => parts(last).first().is_some_and(near),
    };
    let mut same = cfg.nodes.keys().filter(|n| cfg.outcomes(cfg.nodes[*n].pred) == before);
    let found = decides || same.any(|n| parts(n).first().is_some_and(near));
    (!found).then(|| format!("nothing right before it knows the outcome of `{}`", name(check, owner, last)))
}

fn name(check: &Check<'_>, owner: Owner, node: Node) -> String {
    check.name(Owner { gress: owner.gress, node })
}

/// Returns a finding if a condition is not one of a gateway, or if its values may have been written since the first
/// test.
fn stale(check: &Check<'_>, owner: Owner, retest: Retest) -> Option<String> {
    let cfg = check.cfg(owner.gress);
    let (before, tested) = path(check, owner, retest);
    if tested.is_empty() {
        return Some("it tests nothing".to_owned());
    }
    for (decider, _) in tested {
        let NodeKind::Gateway(cond) = &cfg.nodes[decider].kind else {
            return Some(format!("only `{}` itself knows its outcome", name(check, owner, decider)));
        };
        let parts = |node| &check.placed(Owner { gress: owner.gress, node }).parts;
        let from = parts(decider).first().map_or(0, |p| p.stage);
        let read = check.view.containers(&cond.vars());
        if read.iter().any(|c| check.view.is_mocha(*c)) {
            return Some("it reads a mocha container".to_owned());
        }
        let mut since = cfg.nodes.keys().filter(|n| {
            let inside = parts(*n).iter().any(|p| p.stage >= from && p.stage < retest.stage);
            // A node that runs on another outcome of the path never runs for such a packet.
            let apart = cfg.is_ghost(*n)
                || before.iter().any(|(d, o)| {
                    cfg.outcomes(cfg.nodes[*n].pred).iter().any(|(m, p)| d == m && contrary(*o, *p))
                });
            inside && !apart
        });
        let writes =
            |n: &Node| !check.view.containers(&cfg.effects(check.program, *n).writes).is_disjoint(&read);
        if let Some(writer) = since.find(writes) {
            return Some(format!("`{}` has written what it reads", name(check, owner, writer)));
        }
    }
    None
}

/// Returns true if a node never has both outcomes for one packet.
pub(super) fn contrary(a: Outcome, b: Outcome) -> bool {
    use Outcome::{Else, Hit, Miss, Ran, Then};
    match (a, b) {
        (Then, Else) | (Else, Then) | (Hit, Miss) | (Miss, Hit) => true,
        (Ran(a), Ran(b)) => a != b,
        _ => false,
    }
}

/// Returns a finding unless there is one gateway, with a search bus that brings it the conditions' bytes.
fn blind(check: &Check<'_>, owner: Owner, retest: Retest) -> Option<String> {
    let stage = retest.stage;
    let rows: Vec<u16> = check
        .units_for(owner, stage, Column::Gateway, |p| *p == Purpose::Retest)
        .map(|u| u.unit.row)
        .collect();
    let [row] = rows[..] else { return Some(format!("{} gateways test it", rows.len())) };
    let (_, tested) = path(check, owner, retest);
    let mut bytes: BTreeSet<ByteRef> = BTreeSet::new();
    for (decider, _) in tested {
        if let NodeKind::Gateway(cond) = &check.cfg(owner.gress).nodes[decider].kind {
            paths::visit(check, cond, &mut bytes);
        }
    }
    let own: Vec<(u16, &Purpose)> =
        check.units(owner, stage, Column::ExactXbar).map(|u| (u.unit.row, &u.purpose)).collect();
    let names: Vec<String> = bytes.iter().map(|b| check.view.byte_name(*b)).collect();
    let mut buses = check.units(owner, stage, Column::ExactSearchBus).filter(|u| u.unit.row == row);
    let sees = buses.any(|bus| {
        let (group, _) = paths::carried(&bus.purpose);
        group.is_some_and(|g| bytes.iter().all(|b| own.contains(&(g, &Purpose::from(*b)))))
    });
    (!sees).then(|| format!("no search bus of row {row} brings it {}", names.join(", ")))
}
