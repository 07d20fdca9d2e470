//! Gateways that test conditions again in a later stage, so that the outcome needs no carrier.
//!
//! The gateway is in the stage of the first node that runs on the outcome, attached to that node, or in the stage
//! before with its own logical id. It tests the last conditions of the node's path together. The outcomes before them
//! on the path must be known there, and no node may have written the containers of the conditions since they were
//! first tested.

use super::super::bits::PhvView;
use super::super::data::{Owner, Part, PlacedNode};
use super::super::next_table::{Carrier, LongBranch, Retest};
use super::super::purpose::Purpose;
use super::fit::Fit;
use super::gateway::{self, GatewayDemand};
use super::pool::{Content, Pool};
use sluice_asic::chip::Column;
use sluice_ir::cfg::{Cfg, Node, NodeData, NodeKind, Outcome, Pred};
use sluice_ir::entity::EntityMap;
use sluice_ir::{Cond, Program};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Finds such gateways for the branches of one placement.
pub(super) struct Retester<'a> {
    program: &'a Program,
    view: &'a PhvView<'a>,
    cfgs: &'a [Cfg; 2],
    nodes: &'a [EntityMap<Node, PlacedNode>; 2],
    /// For each branch, the candidate gateways, attached or in the stage before. They are computed on first use and
    /// kept, because they are needed often while branches make room for each other.
    tests: Vec<[OnceCell<Vec<Again>>; 2]>,
}

/// A candidate gateway.
struct Again {
    /// Number of outcomes that it tests, the last of the path.
    outcomes: u8,
    /// First logical id in its stage that the earlier outcomes of the path can enable.
    first_id: u8,
    need: GatewayDemand,
}

impl<'a> Retester<'a> {
    pub(super) fn new(
        program: &'a Program,
        view: &'a PhvView<'a>,
        cfgs: &'a [Cfg; 2],
        nodes: &'a [EntityMap<Node, PlacedNode>; 2],
        branches: &[LongBranch],
    ) -> Self {
        Retester { program, view, cfgs, nodes, tests: branches.iter().map(|_| Default::default()).collect() }
    }

    /// Takes the units of a gateway for one of the branches; `None` if no candidate fits.
    pub(super) fn retest(
        &self,
        fit: &Fit<'_>,
        pools: &mut [Pool],
        branches: &[LongBranch],
        which: usize,
    ) -> Option<Carrier> {
        let branch = &branches[which];
        let (cfg, nodes) = (&self.cfgs[branch.gress.index()], &self.nodes[branch.gress.index()]);
        let first = nodes[branch.to].parts.first()?;
        // The branch from a table to its own next part has no condition, and ghost nodes run without a packet.
        if first.stage != branch.to_stage || cfg.is_ghost(branch.to) {
            return None;
        }
        let own_stage = branch.to_stage.checked_sub(1)?;
        for (stage, attached) in [(branch.to_stage, true), (own_stage, false)] {
            let pool = pools.get_mut(usize::from(stage))?;
            let id = if attached {
                // A gateway attached to a table that sets the next-table pointer would set the pointer, too.
                let names = |b: &LongBranch| {
                    b.by == Carrier::Pointer && (b.gress, b.from) == (branch.gress, branch.to)
                };
                let may = !branches.iter().any(names);
                (may && attaches(pool, cfg, branch.to, first.logical_id.into())).then_some(first.logical_id)
            } else {
                let mut ids = (0..fit.chip.mau.logical_tables as u16).rev();
                ids.find(|id| pool.is_free(Column::LogicalTable, *id, 0)).map(|id| id as u8)
            };
            let Some(id) = id else { continue };
            let owner = Owner { gress: branch.gress, node: branch.to };
            let own_id = (!attached).then_some(id);
            let tests =
                self.tests[which][usize::from(attached)].get_or_init(|| self.tests(fit, branch, stage));
            for test in tests.iter().filter(|t| t.first_id <= id) {
                if take(fit, pool, owner, &test.need, own_id) {
                    return Some(Carrier::Retest(Retest { stage, id: own_id, outcomes: test.outcomes }));
                }
            }
        }
        None
    }

    /// Returns the candidate gateways of a branch in a stage, the one with the fewest outcomes first.
    fn tests(&self, fit: &Fit<'_>, branch: &LongBranch, stage: u8) -> Vec<Again> {
        let (cfg, nodes) = (&self.cfgs[branch.gress.index()], &self.nodes[branch.gress.index()]);
        let NodeData { pred, loc, .. } = cfg.nodes[branch.to];
        let path = cfg.outcomes(pred);
        let mut before = pred;
        let mut list = Vec::new();
        for outcomes in 1..=path.len() {
            let tested = &path[path.len() - outcomes..];
            let (Some((parent, ..)), Some(cond)) = (cfg.preds[before].of, joint(cfg, tested)) else {
                break;
            };
            before = parent;
            let Some(first_id) = first_id(cfg, nodes, before, stage) else { continue };
            if !self.unchanged(branch, before, tested, stage) {
                continue;
            }
            if let Ok(need) = gateway::demand(self.program, &fit.chip.mau, self.view, &cond, loc) {
                list.push(Again { outcomes: outcomes as u8, first_id, need });
            }
        }
        list
    }

    /// Returns true if no packet that reaches `before` can have written a value of the conditions since they were
    /// tested, and none of the values is in a container whose match delays the stage.
    fn unchanged(&self, branch: &LongBranch, before: Pred, tested: &[(Node, Outcome)], stage: u8) -> bool {
        let (cfg, nodes) = (&self.cfgs[branch.gress.index()], &self.nodes[branch.gress.index()]);
        tested.iter().all(|(decider, _)| {
            let NodeKind::Gateway(cond) = &cfg.nodes[*decider].kind else { return false };
            let Some(from) = nodes[*decider].parts.first().map(|p| p.stage) else { return false };
            let read: BTreeSet<_> = self.view.containers(&cond.vars());
            let between = |n: &Node| nodes[*n].parts.iter().any(|p| (from..stage).contains(&p.stage));
            let mut writers = cfg.nodes.keys().filter(|n| between(n) && !cfg.excluded(*n, before));
            from < stage
                && !read.iter().any(|c| self.view.is_mocha(*c))
                && writers
                    .all(|n| self.view.containers(&cfg.effects(self.program, n).writes).is_disjoint(&read))
        })
    }
}

/// Takes the units of a gateway, with its own logical id or attached.
fn take(fit: &Fit<'_>, pool: &mut Pool, owner: Owner, need: &GatewayDemand, id: Option<u8>) -> bool {
    let mark = pool.mark();
    if fit.gateway(pool, owner, need, Purpose::Retest).is_err() {
        pool.roll_back(mark);
        return false;
    }
    if let Some(id) = id {
        pool.take((Column::LogicalTable, id.into(), 0), owner, Content::Own, Purpose::Retest);
    }
    true
}

/// Returns true if a gateway can be attached to the node: it is a table or an action, and has none.
fn attaches(pool: &Pool, cfg: &Cfg, node: Node, id: u16) -> bool {
    !matches!(cfg.nodes[node].kind, NodeKind::Gateway(_))
        && pool.owners_at(Column::LogicalTable, id, 0).len() == 1
}

/// Returns the conjunction of the outcomes; `None` unless gateways decide all of them.
fn joint(cfg: &Cfg, outcomes: &[(Node, Outcome)]) -> Option<Cond> {
    let mut all: Option<Cond> = None;
    for (node, outcome) in outcomes {
        let NodeKind::Gateway(cond) = &cfg.nodes[*node].kind else { return None };
        let cond = if *outcome == Outcome::Then { cond.clone() } else { Cond::Not(Box::new(cond.clone())) };
        all = Some(match all {
            Some(before) => Cond::And(Box::new(before), Box::new(cond)),
            None => cond,
        });
    }
    all
}

/// Returns the first logical id in a stage that the deciders of `pred`, or nodes that run on it, can enable: 0 if
/// `pred` always holds or one of these nodes is in the stage before, else the id after the first of them in the
/// stage; `None` if there is none.
fn first_id(cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>, pred: Pred, stage: u8) -> Option<u8> {
    let Some((_, decider, outcome)) = cfg.preds[pred].of else { return Some(0) };
    let parts = &nodes[decider].parts;
    let decided = if outcome == Outcome::Miss { parts.last() } else { parts.first() };
    let inside = cfg.nodes.iter().filter(|(_, d)| d.pred == pred);
    let inside = inside.filter_map(|(n, _)| nodes[n].parts.first());
    let first = |p: &Part| match p.stage {
        s if s + 1 == stage => Some(0),
        s if s == stage => Some(p.logical_id + 1),
        _ => None,
    };
    inside.chain(decided).filter_map(first).min()
}
