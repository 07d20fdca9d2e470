//! Writes a control as Rust: its steps in order, each under the outcome on which it depends.

use super::gate::holds;
use crate::engine::action::{ActionText, Entry};
use crate::engine::code::{GressCode, Probe, Step};
use crate::engine::rust_text::{Out, bits, read};
use crate::engine::table::EngineTable;
use crate::engine::walk::Arm;
use std::collections::BTreeSet;

/// Writes the steps below predicate `root`, and those that always run.
pub(super) fn steps(out: &mut Out, code: &GressCode, root: Option<usize>) {
    let Some(root) = root else { return };
    let mut live = BTreeSet::from([root, code.every]);
    let due = |at: usize| code.due.get(at).map_or(code.every, |pred| usize::from(*pred));
    let mut due_steps = Vec::new();
    for (at, step) in code.steps.iter().enumerate().filter(|(_, s)| !matches!(s, Step::Settle(_))) {
        if live.contains(&due(at)) {
            due_steps.push((due(at), step));
            live.extend((0..step.outcomes()).flat_map(|o| step.arms(o)).filter_map(|arm| arm.decides));
        }
    }
    let asked: BTreeSet<usize> = due_steps.iter().map(|(pred, _)| *pred).collect();
    let decided: Vec<usize> = live.iter().copied().filter(|p| *p != root && *p != code.every).collect();
    let decided: BTreeSet<usize> = decided.into_iter().filter(|p| asked.contains(p)).collect();
    // Several probes may test for one point, which a packet counts once.
    let probed: BTreeSet<usize> = due_steps.iter().flat_map(|(_, step)| probed(step)).collect();
    for pred in decided.union(&probed) {
        out.line(&format!("let mut p{pred} = false;"));
    }
    let text = StepText { code, asked: &decided };
    for (pred, step) in due_steps {
        out.open(&if decided.contains(&pred) { format!("if p{pred}") } else { String::new() });
        text.step(out, step);
        out.close();
    }
    for pred in &probed {
        text.counted_if(out, &format!("p{pred}"), *pred);
    }
}

/// Returns the predicates of a step's probes.
fn probed(step: &Step) -> impl Iterator<Item = usize> + '_ {
    let probes = if let Step::Probe(probes) = step { &probes[..] } else { &[] };
    probes.iter().flat_map(|probe| [probe.holds, probe.fails]).flatten()
}

/// Writer of steps.
struct StepText<'a> {
    code: &'a GressCode,
    /// Predicates on which steps depend.
    asked: &'a BTreeSet<usize>,
}

impl StepText<'_> {
    fn step(&self, out: &mut Out, step: &Step) {
        let actions = ActionText { hashes: &self.code.hashes, accesses: &self.code.accesses };
        match step {
            // Only the engine's batches defer accesses.
            Step::Settle(_) => {}
            Step::Probe(probes) => probe(out, probes),
            Step::Snapshot(copies) => {
                for (from, to) in copies {
                    out.deposit(*to, 0, &bits(*from, 0, u32::MAX));
                }
            }
            Step::Gateway { gate, then, otherwise } => {
                if [then, otherwise].iter().any(|arm| self.matters(arm)) {
                    let held = holds(out, gate);
                    out.line(&format!("let held = {held};"));
                    self.decide(out, then, "held");
                    self.decide(out, otherwise, "!held");
                }
            }
            Step::Action { code, ran, .. } => {
                actions.write(out, code, Entry::None);
                self.decide(out, ran, "true");
            }
            Step::Table { table: number, hit, miss, ran } => {
                let Some(table) = self.code.tables.get(*number) else { return };
                out.line(&format!("let h = {};", find(*number, table)));
                if table.ages() {
                    out.line(&format!("x.refresh({number}, &h);"));
                }
                if table.is_watched() {
                    out.line(&format!("x.note({number}, &h);"));
                }
                self.decide(out, hit, "h.hit");
                self.decide(out, miss, "!h.hit");
                out.open("match h.action");
                for (position, ((_, action), ran)) in table.actions.iter().zip(ran).enumerate() {
                    if action.ops.is_empty() && !self.matters(ran) {
                        continue;
                    }
                    out.open(&format!("{position} =>"));
                    actions.write(out, action, Entry::Matched);
                    self.decide(out, ran, "true");
                    out.close();
                }
                out.line("_ => {}");
                out.close();
            }
        }
    }

    /// Returns true if anything depends on an outcome.
    fn matters(&self, arm: &Arm) -> bool {
        arm.decides.is_some_and(|pred| self.asked.contains(&pred) || self.points(pred).next().is_some())
    }

    /// Writes what an outcome decides: its predicate, and the counts of its points.
    fn decide(&self, out: &mut Out, arm: &Arm, holds: &str) {
        let Some(pred) = arm.decides else { return };
        if self.asked.contains(&pred) {
            out.line(&format!("p{pred} = {holds};"));
        }
        self.counted_if(out, holds, pred);
    }

    /// Writes the counts of a predicate's points.
    fn counted_if(&self, out: &mut Out, holds: &str, pred: usize) {
        for point in self.points(pred) {
            let reach = format!("x.reach({point});");
            out.line(&if holds == "true" { reach } else { format!("if {holds} {{ {reach} }}") });
        }
    }

    fn points(&self, pred: usize) -> impl Iterator<Item = u32> + '_ {
        self.code.covered.iter().filter(move |(p, _)| *p == pred).map(|(_, point)| *point)
    }
}

/// Writes nested conditions; each is tested only if the one before is true.
fn probe(out: &mut Out, probes: &[Probe]) {
    let Some((Probe { gate, holds: held, fails }, inner)) = probes.split_first() else { return };
    let condition = holds(out, gate);
    out.open(&format!("if {condition}"));
    out.line(&held.map_or(String::new(), |pred| format!("p{pred} = true;")));
    probe(out, inner);
    out.close();
    if let Some(pred) = fails {
        out.open("else");
        out.line(&format!("p{pred} = true;"));
        out.close();
    }
}

/// Returns the call that looks up a table.
fn find(number: usize, table: &EngineTable) -> String {
    let key = table.key();
    if key.columns.is_empty() {
        return format!("x.find_default({number})");
    }
    let words: Vec<String> = key.words.iter().map(|w| bits(w.slot, 0, w.mask)).collect();
    let words = words.join(", ");
    match key.lpm() {
        Some((at, width)) if width <= 32 && at.single().is_some() => {
            format!("x.find_prefix({number}, [{words}], {} << {})", read(at, "u32"), 32 - width)
        }
        Some((at, width)) => {
            format!("x.find_wide_prefix({number}, [{words}], {} << {})", read(at, "u128"), 128 - width)
        }
        None if key.has_ternary() => format!("x.find_ternary({number})"),
        None => format!("x.find({number}, [{words}])"),
    }
}
