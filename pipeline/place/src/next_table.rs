//! Long branches: how the outcome of a node reaches the nodes that run on it in later stages (model: chip §3.7).
//!
//! On a chip whose tables may have several successors, a node enables nodes of its own stage and of the next one
//! directly. An outcome that is used later needs a carrier:
//! - a *long-branch tag*, of which there are few;
//! - *relays*: keyless tables without an action, one in every stage between, each of which enables the next;
//! - the *next-table pointer*, which carries one outcome at a time;
//! - a *retest*: a gateway tests the condition again, if the packet still has the values.
//!
//! The first node in each stage that runs on an outcome passes the outcome on, so only stages without such a node
//! have to be crossed. Nodes that always run need no carrier. On a chip whose next tables form a chain there are no
//! tags, and only the order of tables matters.

use super::data::{Part, PlacedNode};
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, Outcome, Pred};
use sluice_ir::entity::EntityMap;

/// A gateway that tests conditions again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retest {
    /// Stage of the gateway: that of the node that runs on the conditions, or the one before.
    pub stage: u8,
    /// Logical id of the gateway; `None` if it is attached to the node.
    pub id: Option<u8>,
    /// Number of outcomes of the node's path that it tests again, counted from the last one.
    pub outcomes: u8,
}

/// Carrier of an outcome over stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Long-branch tag, from 0.
    Tag(u8),
    /// Next-table pointer of the gress.
    Pointer,
    /// Keyless tables in the stages between, by their logical ids.
    Relays(Vec<u8>),
    /// No carrier is needed: a gateway tests the conditions again.
    Retest(Retest),
    /// No carrier. A legal placement has none of these.
    Nothing,
}

/// An outcome that crosses stages in which no node runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongBranch {
    /// Gress.
    pub gress: Gress,
    /// Node that passes the outcome on: the one that decided it, or the first that runs on it in `from_stage`.
    pub from: Node,
    /// Node that is enabled: the first by logical id that runs on the outcome in `to_stage`.
    pub to: Node,
    /// Stage of `from`.
    pub from_stage: u8,
    /// Stage of `to`, at least two after `from_stage`.
    pub to_stage: u8,
    /// Carrier.
    pub by: Carrier,
}

impl LongBranch {
    /// Returns the tag; `None` if another carrier is used.
    #[must_use]
    pub fn tag(&self) -> Option<u8> {
        if let Carrier::Tag(tag) = self.by { Some(tag) } else { None }
    }

    /// Returns the stages between `from_stage` and `to_stage`.
    #[must_use]
    pub fn between(&self) -> std::ops::Range<u8> {
        self.from_stage + 1..self.to_stage
    }

    /// Returns true if the two cannot share a tag: they are of one gress and overlap. One may start where the other
    /// ends.
    #[must_use]
    pub fn collides(&self, other: &LongBranch) -> bool {
        if self.gress == other.gress {
            self.from_stage < other.to_stage && other.from_stage < self.to_stage
        } else {
            self.from_stage <= other.to_stage && other.from_stage <= self.to_stage
        }
    }
}

/// Returns the long branches of a placed gress, without carriers.
fn needed(gress: Gress, cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>) -> Vec<LongBranch> {
    let mut list: Vec<LongBranch> = Vec::new();
    let mut add = |(from_stage, from): (u8, Node), (to_stage, to): (u8, Node)| {
        if to_stage < from_stage.saturating_add(2) {
            return;
        }
        // All nodes that enable a node over stages share one long branch, from the earliest of them.
        match list.iter_mut().find(|b| b.to == to && b.to_stage == to_stage) {
            Some(known) => {
                (known.from_stage, known.from) = (known.from_stage, known.from).min((from_stage, from))
            }
            None => list.push(LongBranch { gress, from, to, from_stage, to_stage, by: Carrier::Nothing }),
        }
    };
    for (node, placed) in nodes.iter() {
        for pair in placed.parts.windows(2) {
            add((pair[0].stage, node), (pair[1].stage, node));
        }
    }
    for (pred, data) in cfg.preds.iter() {
        let Some((_, decider, outcome)) = data.of else { continue };
        let parts = &nodes[decider].parts;
        let source = if outcome == Outcome::Miss { parts.last() } else { parts.first() };
        let Some(mut from) = source.map(|p| (p.stage, decider)) else { continue };
        for first in firsts(cfg, nodes, pred) {
            add(from, first);
            from = first;
        }
    }
    list
}

/// Returns the stages in which nodes of a predicate begin, each with the first of these nodes.
fn firsts(cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>, pred: Pred) -> Vec<(u8, Node)> {
    let inside = cfg.nodes.iter().filter(|(_, d)| d.pred == pred);
    let mut list: Vec<(u8, u8, Node)> =
        inside.filter_map(|(n, _)| nodes[n].parts.first().map(|p| (p.stage, p.logical_id, n))).collect();
    list.sort_unstable();
    list.dedup_by_key(|(stage, ..)| *stage);
    list.into_iter().map(|(stage, _, node)| (stage, node)).collect()
}

/// Returns the long branches of both gresses, in order of their first stages, without carriers.
pub(crate) fn long_branches(cfgs: &[Cfg; 2], nodes: &[EntityMap<Node, PlacedNode>; 2]) -> Vec<LongBranch> {
    let mut wanted: Vec<LongBranch> =
        Gress::ALL.into_iter().flat_map(|g| needed(g, &cfgs[g.index()], &nodes[g.index()])).collect();
    wanted.sort_by_key(|b| (b.from_stage, b.to_stage, b.gress, b.to));
    wanted
}

/// Returns true if the order of a gress suits a chip whose next tables form a chain: between a node and a node that runs on
/// its outcome, and between the parts of a table, there are only nodes that run on this outcome, or never with it.
pub(crate) fn is_chain(cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>) -> bool {
    let span = |node: Node| {
        let place = |p: &Part| (p.stage, p.logical_id);
        let parts = &nodes[node].parts;
        parts.first().map(place).zip(parts.last().map(place))
    };
    let deciders: EntityMap<Node, Vec<Node>> = cfg
        .nodes
        .values()
        .map(|data| cfg.outcomes(data.pred).into_iter().map(|(decider, _)| decider).collect())
        .collect();
    let breaks = |node: Node, waiting: Node| {
        let (Some((begin, end)), Some((first, last))) = (span(node), span(waiting)) else { return false };
        let known = |decider: &Node| deciders[node].contains(decider);
        let inside = first < begin && begin < last && !known(&waiting);
        let after = |decider: &Node| span(*decider).is_some_and(|(from, _)| from < end && end < first);
        let mut others = deciders[waiting].iter().filter(|decider| **decider != node && !known(decider));
        (inside || others.any(after)) && !cfg.exclusive(node, waiting)
    };
    let mut pairs = cfg.nodes.keys().flat_map(|node| cfg.nodes.keys().map(move |waiting| (node, waiting)));
    !pairs.any(|(node, waiting)| node != waiting && breaks(node, waiting))
}

/// Returns the number of outcomes without a carrier.
pub(crate) fn uncarried(branches: &[LongBranch]) -> usize {
    branches.iter().filter(|b| b.by == Carrier::Nothing).count()
}

/// Returns the number of tags in use.
pub(crate) fn tags(branches: &[LongBranch]) -> u32 {
    branches.iter().filter_map(LongBranch::tag).map(|t| u32::from(t) + 1).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ir::entity::Entity;

    fn branch(gress: Gress, from_stage: u8, to_stage: u8) -> LongBranch {
        let node = Node::new(0);
        LongBranch { gress, from: node, to: node, from_stage, to_stage, by: Carrier::Nothing }
    }

    #[test]
    fn a_tag_may_be_handed_over_within_a_gress_only() {
        let first = branch(Gress::Ingress, 2, 5);
        assert!(!first.collides(&branch(Gress::Ingress, 5, 7)));
        assert!(first.collides(&branch(Gress::Ingress, 4, 7)));
        assert!(first.collides(&branch(Gress::Egress, 5, 7)));
        assert!(!first.collides(&branch(Gress::Egress, 6, 8)));
    }
}
