//! Runs the control of a gress: its steps in order of stage and logical id.
//!
//! A batch visits every step and runs it for the lanes in which it is due. One packet goes from a step, by its outcome,
//! directly to the next step that is due.

use super::action::{self, Effects, Op};
use super::batch::{Phv, for_lanes, lanes_where};
use super::code::Step;
use super::gress::{GressRun, Lanes};
use super::register::{Stamps, settle};
use super::source::EntryOf;
use super::table::{EngineTable, LaneLookups, NO_ENTRY};
use crate::pass::{MAX_BATCH, State};

impl GressRun {
    /// Runs the steps under the predicate `root`.
    pub(super) fn control<const N: usize>(
        &mut self,
        root: usize,
        mask: u64,
        phv: &Phv<N>,
        lanes: &mut Lanes,
        state: &mut State,
    ) {
        if mask == 0 {
            return;
        }
        if N == 1 && self.code.covered.is_empty() {
            self.due_steps(root, phv, lanes, state);
        } else {
            self.all_steps(root, mask, phv, lanes, state);
        }
        for (pred, point) in &self.code.covered {
            if let Some(times) = self.reached.get_mut(*point as usize) {
                *times += u64::from(self.preds[*pred].count_ones());
            }
        }
    }

    /// Visits every step in order and runs it for the lanes in which it is due.
    fn all_steps<const N: usize>(
        &mut self,
        root: usize,
        mask: u64,
        phv: &Phv<N>,
        lanes: &mut Lanes,
        state: &mut State,
    ) {
        let GressRun { code, preds, found, notes, .. } = self;
        let preds = &mut preds[..];
        preds.fill(0);
        (preds[root], preds[code.every]) = (mask, mask);
        let Lanes { bytes, labels, now, random, .. } = lanes;
        let (hashes, accesses) = (&code.hashes, &code.accesses);
        let mut fx = Effects { hashes, accesses, notes, state, bytes, labels, dropped: 0, now, random };
        for (step, due) in code.steps.iter().zip(&code.due) {
            let here = preds[usize::from(*due)];
            if here == 0 {
                continue;
            }
            match step {
                Step::Probe(probes) => {
                    let mut lanes = here;
                    for probe in probes {
                        let yes = probe.gate.eval::<N>(lanes, phv);
                        for (pred, held) in [(probe.holds, yes), (probe.fails, lanes & !yes)] {
                            pred.into_iter().for_each(|pred| preds[pred] |= held);
                        }
                        lanes = yes;
                    }
                }
                Step::Gateway { gate, then, otherwise } => {
                    let yes = gate.eval::<N>(here, phv);
                    then.decide(yes, preds);
                    otherwise.decide(here & !yes, preds);
                }
                Step::Table { table, hit, miss, ran } => {
                    let table = &code.tables[*table];
                    let hits = table.find::<N>(here, phv, found, fx.state);
                    table.refresh::<N>(hits, found, fx.state);
                    table.note::<N>(here, found);
                    hit.decide(hits, preds);
                    miss.decide(here & !hits, preds);
                    run_found::<N>(table, here, phv, found, &mut fx, |action, lanes_of| {
                        ran[action].decide(lanes_of, preds);
                    });
                }
                Step::Action { code, ran, .. } => {
                    ran.decide(here, preds);
                    let entry = EntryOf { args: &[], base: &[0; 64], entry: &[NO_ENTRY; 64] };
                    action::run::<N>(code, here, phv, &entry, &mut fx);
                }
                Step::Snapshot(copies) => {
                    for (from, to) in copies {
                        let (from, to) = (phv.column(*from), phv.column(*to));
                        for_lanes::<N>(mask, |l| to[l % N].set(from[l % N].get()));
                    }
                }
                Step::Settle(arrays) => {
                    for &n in arrays {
                        let stamps = Stamps { bytes: fx.bytes, now: fx.now };
                        settle::<N>(&mut fx.notes[n], fx.accesses, phv, stamps, fx.state);
                    }
                }
            }
        }
        lanes.dropped = fx.dropped;
    }

    /// Runs one packet: visits only the steps that are due.
    fn due_steps<const N: usize>(&mut self, root: usize, phv: &Phv<N>, lanes: &mut Lanes, state: &mut State) {
        let GressRun { code, walk, found, notes, .. } = self;
        let outcomes = |step: usize| code.steps.get(step).map_or(0, Step::outcomes);
        let Lanes { bytes, labels, now, random, .. } = lanes;
        let (hashes, accesses) = (&code.hashes, &code.accesses);
        let mut fx = Effects { hashes, accesses, notes, state, bytes, labels, dropped: 0, now, random };
        let ghost = usize::from(code.ghost == Some(root));
        let mut at = walk.start(ghost, &code.starts[ghost], outcomes);
        while let Some(step) = walk.step(at).and_then(|step| code.steps.get(step)) {
            // All actions run at one place in the code, where their operations are inlined.
            let (outcome, ops, args): (usize, &[Op], &[u32]) = match step {
                Step::Gateway { gate, .. } => (usize::from(gate.eval::<N>(1, phv) == 0), &[], &[]),
                Step::Table { table, .. } => {
                    let table = &code.tables[*table];
                    let (hits, action) = table.one(phv, found, fx.state);
                    table.refresh::<N>(hits.into(), found, fx.state);
                    let ops = table.actions.get(action).map_or(&[][..], |(_, code)| &code.ops);
                    (2 * action + usize::from(hits), ops, &table.args)
                }
                Step::Action { code, .. } => {
                    found.entry[0] = NO_ENTRY;
                    (0, &code.ops, &[])
                }
                // Probes exist only if coverage is counted, and then every step is visited.
                Step::Probe(_) => (0, &[], &[]),
                Step::Snapshot(copies) => {
                    for (from, to) in copies {
                        phv.column(*to)[0].set(phv.get(*from, 0));
                    }
                    (0, &[], &[])
                }
                Step::Settle(arrays) => {
                    for &n in arrays {
                        let stamps = Stamps { bytes: fx.bytes, now: fx.now };
                        settle::<N>(&mut fx.notes[n], fx.accesses, phv, stamps, fx.state);
                    }
                    (0, &[], &[])
                }
            };
            let entry = EntryOf { args, base: &found.base, entry: &found.entry };
            action::run_ops::<N>(ops, 1, phv, &entry, &mut fx);
            at = match walk.next(at, outcome) {
                Some(next) => next,
                None => walk.learn(at, outcome, &step.arms(outcome), outcomes),
            };
        }
        lanes.dropped = fx.dropped;
    }
}

/// Runs the actions that a lookup selected, one action at a time over all its lanes; calls `ran` with the action's position
/// in the table.
#[inline]
fn run_found<const N: usize>(
    table: &EngineTable,
    mask: u64,
    phv: &Phv<N>,
    found: &LaneLookups,
    fx: &mut Effects<'_>,
    mut ran: impl FnMut(usize, u64),
) {
    let entry = EntryOf { args: &table.args, base: &found.base, entry: &found.entry };
    let mut rest = mask;
    while rest != 0 {
        let action = found.action[rest.trailing_zeros() as usize % MAX_BATCH];
        let lanes = if found.mixed { lanes_where::<N>(rest, |l| found.action[l] == action) } else { rest };
        rest &= !lanes;
        let (_, code) = &table.actions[action as usize];
        action::run::<N>(code, lanes, phv, &entry, fx);
        ran(action as usize, lanes);
    }
}
