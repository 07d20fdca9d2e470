//! Logical ids of a stage: the order in which its tables take effect, and the gateways that share a table's id.
//!
//! A gateway attaches to the first table of its then- or else-branch if that table is in the same stage and no other
//! gateway is attached to it (model: chip §3.6, §3.7).

use super::demand::Demand;
use super::relations::Wait;
use sluice_ir::cfg::{Cfg, NodeKind, Outcome};
use std::collections::{BTreeMap, BTreeSet};

/// Nodes of a stage in order of placing, and the attached gateways.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageOrder {
    nodes: Vec<usize>,
    /// Table to attached gateway.
    gateway_of: BTreeMap<usize, usize>,
    /// True if gateways may be attached to tables.
    attaches: bool,
    /// True if next tables form a chain, in which nothing is between the parts of a table.
    chain: bool,
}

impl StageOrder {
    /// Returns a stage without nodes.
    pub(crate) fn new(attaches: bool, chain: bool) -> Self {
        StageOrder { attaches, chain, ..Default::default() }
    }

    /// Returns the number of logical ids needed.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len() - self.gateway_of.len()
    }

    /// Adds a node, attached to its gateway if possible.
    pub(crate) fn add(&mut self, i: usize, demands: &[Demand], cfgs: &[Cfg; 2], waits: &[Vec<Wait>]) {
        self.nodes.push(i);
        let gateway = gateway_before(i, demands, cfgs).filter(|g| {
            // The nodes that wait for the gateway would come after this table, which may go on in the next stage.
            let waits_for = |n: &usize| *n != i && waits[*n].iter().any(|w| w.on == *g);
            let parts = self.chain && demands[i].splittable() && self.nodes.iter().any(waits_for);
            self.attaches
                && !parts
                && self.nodes.contains(g)
                && !self.gateway_of.values().any(|taken| taken == g)
        });
        if let Some(gateway) = gateway {
            self.gateway_of.insert(i, gateway);
            if self.groups(waits).is_none() {
                self.gateway_of.remove(&i);
            }
        }
    }

    /// Returns the nodes of each logical id, in order; `None` if no order satisfies all dependencies.
    pub(crate) fn groups(&self, waits: &[Vec<Wait>]) -> Option<Vec<Vec<usize>>> {
        let attached: BTreeSet<usize> = self.gateway_of.values().copied().collect();
        let mut open: Vec<Vec<usize>> = self
            .nodes
            .iter()
            .filter(|i| !attached.contains(i))
            .map(|&i| self.gateway_of.get(&i).copied().into_iter().chain([i]).collect())
            .collect();
        let mut done: BTreeSet<usize> = BTreeSet::new();
        let mut groups = Vec::new();
        while !open.is_empty() {
            let free = open.iter().position(|group: &Vec<usize>| {
                group.iter().all(|&i| {
                    let mut inside = waits[i].iter().filter(|w| self.nodes.contains(&w.on));
                    inside.all(|w| done.contains(&w.on) || group.contains(&w.on))
                })
            })?;
            let group = open.remove(free);
            done.extend(&group);
            groups.push(group);
        }
        Some(groups)
    }
}

/// Returns the gateway in whose then- or else-branch this table or action is first.
fn gateway_before(i: usize, demands: &[Demand], cfgs: &[Cfg; 2]) -> Option<usize> {
    let owner = demands[i].owner;
    let cfg = &cfgs[owner.gress.index()];
    if matches!(cfg.nodes[owner.node].kind, NodeKind::Gateway(_)) {
        return None;
    }
    let pred = cfg.nodes[owner.node].pred;
    let (_, gateway, outcome) = cfg.preds[pred].of?;
    let first = cfg.nodes.iter().find(|(_, d)| d.pred == pred).map(|(n, _)| n);
    if first != Some(owner.node) || !matches!(outcome, Outcome::Then | Outcome::Else) {
        return None;
    }
    demands.iter().position(|d| d.owner.gress == owner.gress && d.owner.node == gateway)
}
