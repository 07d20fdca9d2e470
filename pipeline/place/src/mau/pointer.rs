//! The next-table pointer as a carrier of outcomes (model: chip §3.7).
//!
//! In addition to enabling tables of its own stage and of the next one, a result can name one logical table of any later
//! stage. The packet keeps that name until another result replaces it. Either all results of a node name a table or none
//! does. An outcome is therefore safe on the pointer if no node that names a table can run on that outcome before the named
//! table is reached. A gateway that tests again belongs to the table to which it is attached but runs for more packets, so
//! such a table names none.

use super::super::data::PlacedNode;
use super::super::next_table::{Carrier, LongBranch};
use sluice_ir::cfg::{Cfg, Node, Outcome};
use sluice_ir::entity::EntityMap;

/// Decides which outcomes can share the pointer.
pub(super) struct Pointer<'a> {
    pub(super) cfgs: &'a [Cfg; 2],
    pub(super) nodes: &'a [EntityMap<Node, PlacedNode>; 2],
}

/// Stage and logical id.
type StageSlot = (u8, u8);

impl Pointer<'_> {
    /// Returns true if an outcome can be on the pointer together with those that are.
    pub(super) fn takes(&self, branches: &[LongBranch], which: usize) -> bool {
        self.in_the_way(branches, which).is_some_and(|there| there.is_empty())
    }

    /// Returns the outcomes that would have to leave the pointer for this one; `None` if it cannot be on the pointer in any
    /// case.
    pub(super) fn in_the_way(&self, branches: &[LongBranch], which: usize) -> Option<Vec<usize>> {
        let branch = &branches[which];
        self.way(branch)?;
        let mut there = Vec::new();
        for (i, other) in branches.iter().enumerate().filter(|(i, _)| *i != which) {
            match &other.by {
                Carrier::Pointer if self.disturbs(other, branch) || self.disturbs(branch, other) => {
                    there.push(i)
                }
                Carrier::Retest(r)
                    if r.id.is_none() && (other.gress, other.to) == (branch.gress, branch.from) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        Some(there)
    }

    /// Returns the points at which the name is set and used; `None` if several parts of a table could set it.
    fn way(&self, branch: &LongBranch) -> Option<(StageSlot, StageSlot)> {
        let (cfg, nodes) = (&self.cfgs[branch.gress.index()], &self.nodes[branch.gress.index()]);
        let [from, to] = [branch.from, branch.to].map(|n| &nodes[n].parts);
        let to = to.first().filter(|p| p.stage == branch.to_stage)?;
        let decided = cfg.preds[cfg.nodes[branch.to].pred].of;
        let missed = decided.is_some_and(|(_, n, outcome)| n == branch.from && outcome == Outcome::Miss);
        let from = match &from[..] {
            [one] => one,
            [.., last] if missed => last,
            _ => return None,
        };
        let place = |p: &super::super::data::Part| (p.stage, p.logical_id);
        (!cfg.is_ghost(branch.to) && from.stage == branch.from_stage).then(|| (place(from), place(to)))
    }

    /// Returns true if `other` names a table while `branch` is on the pointer.
    fn disturbs(&self, other: &LongBranch, branch: &LongBranch) -> bool {
        if other.gress != branch.gress {
            return false;
        }
        let cfg = &self.cfgs[branch.gress.index()];
        let pred = cfg.nodes[branch.to].pred;
        if other.from == branch.from {
            return !cfg.excluded(other.to, pred);
        }
        let (Some((from, to)), Some((again, _))) = (self.way(branch), self.way(other)) else { return true };
        from <= again && again < to && !cfg.excluded(other.from, pred)
    }
}
