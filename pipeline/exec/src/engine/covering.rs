//! Coverage of a gress: a predicate for each outcome that is a coverage point, and probes where placed gateways differ from
//! the program's.

use super::code::{Probe, Step};
use super::field::SlotMap;
use super::gateway::Gate;
use super::walk::Arm;
use crate::cover::{self, Point, Points};
use sluice_asic::gress::Gress;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Outcome};
use sluice_place::PlacedGress;
use std::collections::BTreeSet;

/// Predicates in addition to those of the control-flow graph, so that every outcome of every node has one, and the coverage
/// points that they count.
pub(super) struct Covering<'p> {
    gress: Gress,
    /// Coverage points; `None`: nothing is counted or added.
    points: Option<&'p Points>,
    /// Control-flow graph of the program as written; coverage points refer to its nodes. Empty if no points are counted.
    own: Cfg,
    /// Original gateways whose conditions several placed gateways test.
    repeated: BTreeSet<Node>,
    /// Number of predicates so far.
    pub(super) preds: usize,
    /// Predicates whose lanes are counted, each with the number of its point.
    pub(super) covered: Vec<(usize, u32)>,
}

impl<'p> Covering<'p> {
    pub(super) fn new(
        program: &Program,
        placed: &PlacedGress,
        gress: Gress,
        points: Option<&'p Points>,
    ) -> Covering<'p> {
        let own = if points.is_some() { Cfg::of(program, gress) } else { Cfg::default() };
        let mut seen = BTreeSet::new();
        let decided = placed.cfg.nodes.values().flat_map(|n| &n.decides);
        let repeated = decided.filter(|n| !seen.insert(**n)).copied().collect();
        let preds = usize::from(every_lane(placed)) + 1;
        Covering { gress, points, own, repeated, preds, covered: Vec::new() }
    }

    /// Adds counting of a node's outcomes to its step.
    pub(super) fn step(&mut self, program: &Program, cfg: &Cfg, node: Node, step: &mut Step) {
        if self.points.is_none() {
            return;
        }
        let of = (cfg, node);
        match step {
            Step::Gateway { then, otherwise, .. } => {
                if self.alone(cfg, node) {
                    self.outcome(of, Outcome::Then, then);
                    self.outcome(of, Outcome::Else, otherwise);
                }
            }
            Step::Table { hit, miss, ran, .. } => {
                self.outcome(of, Outcome::Hit, hit);
                self.outcome(of, Outcome::Miss, miss);
                let actions = cfg.actions(program, node);
                actions.into_iter().zip(ran).for_each(|(a, arm)| self.outcome(of, Outcome::Ran(a), arm));
            }
            Step::Action { action, ran, .. } => self.outcome(of, Outcome::Ran(*action), ran),
            Step::Snapshot(_) | Step::Settle(_) | Step::Probe(_) => {}
        }
    }

    /// Returns true if a gateway tests one condition of the program that no other gateway tests.
    fn alone(&self, cfg: &Cfg, node: Node) -> bool {
        matches!(&cfg.nodes[node].decides[..], [one] if !self.repeated.contains(one))
    }

    /// Returns the probe to run before a gateway whose outcomes are not those of one original condition; `None` if it needs
    /// none.
    pub(super) fn probe(
        &mut self,
        program: &Program,
        cfg: &Cfg,
        node: Node,
        slots: &mut SlotMap<'_>,
    ) -> Option<Step> {
        self.points.filter(|_| !self.alone(cfg, node))?;
        let mut probes = Vec::new();
        for &decided in &cfg.nodes[node].decides {
            let NodeKind::Gateway(cond) = &self.own.nodes[decided].kind else { continue };
            let gate = Gate::new(program, cond, slots);
            let [holds, fails] =
                [true, false].map(|holds| self.counted(Point::Branch(self.gress, decided, holds)));
            probes.push(Probe { gate, holds, fails });
        }
        (!probes.is_empty()).then_some(Step::Probe(probes))
    }

    /// Returns a predicate that counts for a point; it is the same for all callers.
    fn counted(&mut self, point: Point) -> Option<usize> {
        let number = self.points?.number(point)?;
        if let Some((pred, _)) = self.covered.iter().find(|(_, n)| *n == number) {
            return Some(*pred);
        }
        self.covered.push((self.preds, number));
        self.preds += 1;
        Some(self.preds - 1)
    }

    fn outcome(&mut self, (cfg, node): (&Cfg, Node), outcome: Outcome, arm: &mut Arm) {
        let point = cover::outcome(self.gress, cfg, node, outcome);
        let Some(number) = point.zip(self.points).and_then(|(point, points)| points.number(point)) else {
            return;
        };
        let pred = *arm.decides.get_or_insert_with(|| {
            self.preds += 1;
            self.preds - 1
        });
        self.covered.push((pred, number));
    }
}

/// Returns the predicate that is true for packets and for updates of the ghost thread. Its number follows those of the
/// program's predicates.
pub(super) fn every_lane(placed: &PlacedGress) -> u16 {
    placed.cfg.preds.len() as u16
}
