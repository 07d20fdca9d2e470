//! How the outcome of a node reaches the nodes that run on it, over stages (model: chip §3.7).
//!
//! On a chip whose tables may have several successors, a node enables others of its own stage and of the next one
//! directly; over a longer way a *long branch* carries the outcome on one of a few tags, or *relays* do: keyless tables
//! without an action, one in every stage between, each of which enables the next. Of the nodes that run on one
//! outcome the first in each stage hands it on, so only stages without any of them have to be crossed. Nodes that
//! always run need nothing; one outcome at a time is on the next-table *pointer*; and a condition that the packet still
//! answers can be tested again. On a chip whose tables follow each other as a chain there are no tags; what such a
//! chain can do is a matter of order.

use super::data::PlacedNode;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, Outcome, Pred};
use sluice_ir::entity::EntityMap;

/// A gateway that tests conditions once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retest {
    /// Its stage: that of the node which runs on them, or the one before.
    pub stage: u8,
    /// Its logical id; `None` if it is attached to the node.
    pub id: Option<u8>,
    /// How many outcomes of the node's path it finds again, counted from the last one.
    pub outcomes: u8,
}

/// What carries an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// A tag, from 0.
    Tag(u8),
    /// The next-table pointer of the gress.
    Pointer,
    /// Tables in the stages between, by their logical ids.
    Relays(Vec<u8>),
    /// Nothing has to: the conditions are tested again where the outcome is needed.
    Retest(Retest),
    /// Nothing does, or not yet: in a placement every outcome is carried.
    Nothing,
}

/// An outcome that crosses stages in which nothing runs on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongBranch {
    /// Gress.
    pub gress: Gress,
    /// The node that hands it on: the one that decided, or the first that runs on it in `from_stage`.
    pub from: Node,
    /// The first node, by logical id, that it enables in its last stage.
    pub to: Node,
    /// Stage from which it starts.
    pub from_stage: u8,
    /// Stage in which it ends, at least two later.
    pub to_stage: u8,
    /// What carries it.
    pub by: Carrier,
}

impl LongBranch {
    /// The tag, if it is on one.
    #[must_use]
    pub fn tag(&self) -> Option<u8> {
        if let Carrier::Tag(tag) = self.by { Some(tag) } else { None }
    }

    /// Stages between its ends.
    #[must_use]
    pub fn between(&self) -> std::ops::Range<u8> {
        self.from_stage + 1..self.to_stage
    }

    /// Whether two of them could not be on one tag: in one gress one may start where the other ends.
    #[must_use]
    pub fn collides(&self, other: &LongBranch) -> bool {
        if self.gress == other.gress {
            self.from_stage < other.to_stage && other.from_stage < self.to_stage
        } else {
            self.from_stage <= other.to_stage && other.from_stage <= self.to_stage
        }
    }
}

/// The long branches of a placed gress, without tags.
fn needed(gress: Gress, cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>) -> Vec<LongBranch> {
    let mut list: Vec<LongBranch> = Vec::new();
    let mut add = |(from_stage, from): (u8, Node), (to_stage, to): (u8, Node)| {
        if to_stage < from_stage.saturating_add(2) {
            return;
        }
        // Whoever enables a node over stages does so on one tag.
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

/// The stages in which nodes of a predicate begin, each with the first of them.
fn firsts(cfg: &Cfg, nodes: &EntityMap<Node, PlacedNode>, pred: Pred) -> Vec<(u8, Node)> {
    let inside = cfg.nodes.iter().filter(|(_, d)| d.pred == pred);
    let mut list: Vec<(u8, u8, Node)> =
        inside.filter_map(|(n, _)| nodes[n].parts.first().map(|p| (p.stage, p.logical_id, n))).collect();
    list.sort_unstable();
    list.dedup_by_key(|(stage, ..)| *stage);
    list.into_iter().map(|(stage, _, node)| (stage, node)).collect()
}

/// The long branches of both gresses, in order of their first stages; nothing carries them yet.
pub(crate) fn long_branches(cfgs: &[Cfg; 2], nodes: &[EntityMap<Node, PlacedNode>; 2]) -> Vec<LongBranch> {
    let mut wanted: Vec<LongBranch> =
        Gress::ALL.into_iter().flat_map(|g| needed(g, &cfgs[g.index()], &nodes[g.index()])).collect();
    wanted.sort_by_key(|b| (b.from_stage, b.to_stage, b.gress, b.to));
    wanted
}

/// Outcomes that nothing carries.
pub(crate) fn uncarried(branches: &[LongBranch]) -> usize {
    branches.iter().filter(|b| b.by == Carrier::Nothing).count()
}

/// Tags in use.
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
