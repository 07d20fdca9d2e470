//! Conditions tested once more where their outcome is needed, instead of being carried there.
//!
//! A gateway needs no tag to know what the packet still says. It stands in the stage of the first node that runs on the
//! outcome, attached to it, or in the stage before with a logical id of its own, and tests the last conditions of the
//! node's path together. What decides the path before them must be known there, and nothing may have written their
//! containers since they were tested first. What may not live here: outcomes of tables, which only tables know.

use super::super::bits::PhvView;
use super::super::data::{Owner, PlacedNode};
use super::super::next_table::{Carrier, LongBranch, Retest};
use super::fit::Fit;
use super::gateway;
use super::pool::{Content, Pool};
use crate::entity::EntityMap;
use crate::flow::{Flow, Node, NodeKind, Outcome, Pred};
use crate::ir::{Cond, Program};
use sluice_asic::chip::Column;
use std::collections::BTreeSet;

/// Finds gateways that test again.
pub(super) struct Retester<'a> {
    pub(super) program: &'a Program,
    pub(super) view: &'a PhvView<'a>,
    pub(super) flows: &'a [Flow; 2],
    pub(super) nodes: &'a [EntityMap<Node, PlacedNode>; 2],
}

impl Retester<'_> {
    /// Takes what a gateway for one of the branches needs; nothing if none can do it.
    pub(super) fn retest(
        &self,
        fit: &Fit<'_>,
        pools: &mut [Pool],
        branches: &[LongBranch],
        which: usize,
    ) -> Option<Carrier> {
        let branch = &branches[which];
        let (flow, nodes) = (&self.flows[branch.gress.index()], &self.nodes[branch.gress.index()]);
        let first = nodes[branch.to].parts.first()?;
        // A table's way to its own next part is no condition, and a queue's depth is no packet.
        if first.stage != branch.to_stage || flow.is_ghost(branch.to) {
            return None;
        }
        let path = flow.outcomes(flow.nodes[branch.to].pred);
        let own_stage = branch.to_stage.checked_sub(1)?;
        for (stage, attached) in [(branch.to_stage, true), (own_stage, false)] {
            let pool = pools.get_mut(usize::from(stage))?;
            let id = if attached {
                // Attached to what sets the next-table pointer it would set it, too.
                let names = |b: &LongBranch| {
                    b.by == Carrier::Pointer && (b.gress, b.from) == (branch.gress, branch.to)
                };
                let may = !branches.iter().any(names);
                (may && attaches(pool, flow, branch.to, first.logical_id.into())).then_some(first.logical_id)
            } else {
                let mut ids = (0..fit.chip.mau.logical_tables as u16).rev();
                ids.find(|id| pool.is_free(Column::LogicalTable, *id, 0)).map(|id| id as u8)
            };
            let Some(id) = id else { continue };
            let mut before = flow.nodes[branch.to].pred;
            for again in 1..=path.len() {
                before = flow.preds[before].of?.0;
                let tested = &path[path.len() - again..];
                let Some(cond) = joint(flow, tested) else { break };
                if known(flow, nodes, before, (stage, id)) && self.unchanged(branch, before, tested, stage) {
                    let owner = Owner { gress: branch.gress, node: branch.to };
                    if self.take(fit, pool, owner, &cond, (!attached).then_some(id)) {
                        let id = (!attached).then_some(id);
                        return Some(Carrier::Retest(Retest { stage, id, outcomes: again as u8 }));
                    }
                }
            }
        }
        None
    }

    fn take(&self, fit: &Fit<'_>, pool: &mut Pool, owner: Owner, cond: &Cond, id: Option<u8>) -> bool {
        let at = self.flows[owner.gress.index()].nodes[owner.node].loc;
        let Ok(need) = gateway::demand(self.program, &fit.chip.mau, self.view, cond, at) else {
            return false;
        };
        let mark = pool.mark();
        if fit.gateway(pool, owner, &need, "retest").is_err() {
            pool.roll_back(mark);
            return false;
        }
        if let Some(id) = id {
            pool.take((Column::LogicalTable, id.into(), 0), owner, Content::Own, "retest");
        }
        true
    }

    /// Whether no packet that gets as far as `before` can have written what the conditions read since they were tested,
    /// and none of it is in a container that delays a stage in which it is matched.
    fn unchanged(&self, branch: &LongBranch, before: Pred, tested: &[(Node, Outcome)], stage: u8) -> bool {
        let (flow, nodes) = (&self.flows[branch.gress.index()], &self.nodes[branch.gress.index()]);
        tested.iter().all(|(decider, _)| {
            let NodeKind::Gateway(cond) = &flow.nodes[*decider].kind else { return false };
            let Some(from) = nodes[*decider].parts.first().map(|p| p.stage) else { return false };
            let read: BTreeSet<_> = self.view.containers(&cond.vars());
            let between = |n: &Node| nodes[*n].parts.iter().any(|p| (from..stage).contains(&p.stage));
            let mut writers = flow.nodes.keys().filter(|n| between(n) && !flow.excluded(*n, before));
            from < stage
                && !read.iter().any(|c| self.view.is_mocha(*c))
                && writers
                    .all(|n| self.view.containers(&flow.effects(self.program, n).writes).is_disjoint(&read))
        })
    }
}

/// Whether a gateway can be attached to the node: it is a table or an action, and has none yet.
fn attaches(pool: &Pool, flow: &Flow, node: Node, id: u16) -> bool {
    !matches!(flow.nodes[node].kind, NodeKind::Gateway(_))
        && pool.owners_at(Column::LogicalTable, id, 0).len() == 1
}

/// The outcomes as one condition, if gateways decide them all.
fn joint(flow: &Flow, outcomes: &[(Node, Outcome)]) -> Option<Cond> {
    let mut all: Option<Cond> = None;
    for (node, outcome) in outcomes {
        let NodeKind::Gateway(cond) = &flow.nodes[*node].kind else { return None };
        let cond = if *outcome == Outcome::Then { cond.clone() } else { Cond::Not(Box::new(cond.clone())) };
        all = Some(match all {
            Some(before) => Cond::And(Box::new(before), Box::new(cond)),
            None => cond,
        });
    }
    all
}

/// Whether a logical table with this place can be enabled by what decides `pred` or runs on it: it always holds, or
/// one of them is in the stage before or earlier in the same one.
fn known(flow: &Flow, nodes: &EntityMap<Node, PlacedNode>, pred: Pred, (stage, id): (u8, u8)) -> bool {
    let Some((_, decider, outcome)) = flow.preds[pred].of else { return true };
    let parts = &nodes[decider].parts;
    let decided = if outcome == Outcome::Miss { parts.last() } else { parts.first() };
    let inside = flow.nodes.iter().filter(|(_, d)| d.pred == pred);
    let inside = inside.filter_map(|(n, _)| nodes[n].parts.first());
    inside.chain(decided).any(|p| p.stage + 1 == stage || p.stage == stage && p.logical_id < id)
}
