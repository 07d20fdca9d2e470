//! Nodes that dependencies keep in different stages, whatever containers their variables have.
//!
//! A node that reads or writes what an earlier node wrote is in a later stage than that node, and so is every node behind
//! it. Metadata fields that only such nodes write can share a container: an instruction leaves the bits of other fields as
//! they are, and the two instructions are in different stages anyway.

use super::super::steps::Steps;
use bitvec::vec::BitVec;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, Effects, Node, Var};
use sluice_ir::entity::Entity;

/// Order of the nodes of one gress by their data.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// For each node, by index, the nodes that are in later stages.
    later: Vec<BitVec>,
}

impl Order {
    /// Returns the order; without a budget for it, no node is in a later stage than another.
    pub(super) fn of(program: &Program, cfg: &Cfg, steps: &Steps) -> Order {
        // A pair takes a comparison, and a row of the matrix if the nodes meet.
        let count = cfg.nodes.len();
        if !steps.take((count * count).saturating_mul(1 + count / 64)) {
            return Order { later: Vec::new() };
        }
        let effects: Vec<(Node, Effects)> = cfg.nodes.keys().map(|n| (n, cfg.effects(program, n))).collect();
        let mut later = vec![BitVec::repeat(false, effects.len()); effects.len()];
        let meets = |written: &[Var], e: &Effects| {
            let has = |list: &[Var]| written.iter().any(|v| list.binary_search(v).is_ok());
            has(&e.match_reads) || has(&e.action_reads) || has(&e.writes)
        };
        for (i, (a, of_a)) in effects.iter().enumerate().rev() {
            let behind = effects.iter().enumerate().skip(i + 1);
            for (j, _) in behind.filter(|(_, (b, of_b))| meets(&of_a.writes, of_b) && !cfg.exclusive(*a, *b))
            {
                let (head, tail) = later.split_at_mut(j);
                let Some(of_j) = tail.first() else { continue };
                head[i] |= of_j;
                head[i].set(j, true);
            }
        }
        Order { later }
    }

    /// Returns true if dependencies keep two nodes in different stages.
    pub(super) fn apart(&self, a: Node, b: Node) -> bool {
        let (first, second) = (a.index().min(b.index()), a.index().max(b.index()));
        self.later.get(first).and_then(|set| set.get(second)).is_some_and(|later| *later)
    }
}
