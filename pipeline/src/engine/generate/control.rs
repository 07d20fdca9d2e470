//! A control as Rust: its steps in order, each under the outcome that it hangs on. What may not live here: actions.

use super::gate::holds;
use super::words::{Out, bits, read};
use crate::engine::action::{ActionText, Entry};
use crate::engine::code::{GressCode, Step};
use crate::engine::table::EngineTable;
use crate::engine::walk::Arm;
use std::collections::BTreeSet;

/// The steps below a predicate, and those that run whatever holds.
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
    for pred in &decided {
        out.line(&format!("let mut p{pred} = false;"));
    }
    for (pred, step) in due_steps {
        out.open(&if decided.contains(&pred) { format!("if p{pred}") } else { String::new() });
        self::step(out, code, step, &decided);
        out.close();
    }
}

fn step(out: &mut Out, code: &GressCode, step: &Step, asked: &BTreeSet<usize>) {
    let arm = |arm: &Arm| arm.decides.filter(|pred| asked.contains(pred));
    let actions = ActionText { hashes: &code.hashes, accesses: &code.accesses };
    match step {
        // Conditions are counted, and accesses deferred, in batches of the engine only.
        Step::Probe(_) | Step::Settle(_) => {}
        Step::Snapshot(copies) => {
            for (from, to) in copies {
                out.deposit(*to, 0, &bits(*from, 0, u32::MAX));
            }
        }
        Step::Gateway { gate, then, otherwise } => match (arm(then), arm(otherwise)) {
            (None, None) => {}
            (then, otherwise) => {
                let held = holds(out, gate);
                out.line(&format!("let held = {held};"));
                out.line(&then.map_or(String::new(), |pred| format!("p{pred} = held;")));
                out.line(&otherwise.map_or(String::new(), |pred| format!("p{pred} = !held;")));
            }
        },
        Step::Action { code, ran, .. } => {
            actions.write(out, code, Entry::None);
            out.line(&arm(ran).map_or(String::new(), |pred| format!("p{pred} = true;")));
        }
        Step::Table { table: number, hit, miss, ran } => {
            let Some(table) = code.tables.get(*number) else { return };
            out.line(&format!("let h = {};", find(*number, table)));
            if table.ages() {
                out.line(&format!("x.refresh({number}, &h);"));
            }
            for (arm, found) in [(arm(hit), "h.hit"), (arm(miss), "!h.hit")] {
                out.line(&arm.map_or(String::new(), |pred| format!("p{pred} = {found};")));
            }
            out.open("match h.action");
            for (position, ((_, action), ran)) in table.actions.iter().zip(ran).enumerate() {
                let ran = arm(ran).map_or(String::new(), |pred| format!("p{pred} = true;"));
                if action.ops.is_empty() && ran.is_empty() {
                    continue;
                }
                out.open(&format!("{position} =>"));
                actions.write(out, action, Entry::Matched);
                out.line(&ran);
                out.close();
            }
            out.line("_ => {}");
            out.close();
        }
    }
}

/// The lookup of a table.
fn find(number: usize, table: &EngineTable) -> String {
    let key = table.key();
    if key.fields.is_empty() {
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
