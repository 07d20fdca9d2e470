//! Proofs, from the program's graph alone, that no packet can reach a point.

use sluice_asic::alu::width_mask;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::Node;
use sluice_ir::parser_unroll::UnrolledParser;
use sluice_ir::verify::{ControlReach, control_reach};
use sluice_ir::{KeyValue, ParserState, Program, SelectArm, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Reachability in a gress.
pub(super) struct Reach {
    /// For each parser state that a path leads to: true for each arm, and last for the default, that the parser counter
    /// lets packets take. `None` if the parser cannot be unrolled; then nothing is known.
    unrolled: Option<BTreeMap<ParserState, Vec<bool>>>,
    control: ControlReach,
}

impl Reach {
    pub(super) fn of(program: &Program, gress: Gress) -> Reach {
        let unrolled = UnrolledParser::of(program, gress).ok().map(|unrolled| {
            let mut known: BTreeMap<ParserState, Vec<bool>> = BTreeMap::new();
            for node in &unrolled.nodes {
                let state = &program.states[node.config.state];
                let open =
                    known.entry(node.config.state).or_insert_with(|| vec![false; state.arms.len() + 1]);
                if node.effect.full.is_none() {
                    let passes = node.effect.counter.transitions(state);
                    open.iter_mut().zip(passes).for_each(|(o, (_, p))| *o |= p.is_some());
                }
            }
            known
        });
        Reach { unrolled, control: control_reach(program, gress) }
    }

    pub(super) fn state(&self, state: ParserState) -> Option<&'static str> {
        let unrolled = self.unrolled.as_ref()?;
        (!unrolled.contains_key(&state)).then_some("no way through the parser leads to it")
    }

    pub(super) fn transition(
        &self,
        program: &Program,
        state: ParserState,
        arm: Option<usize>,
    ) -> Option<&'static str> {
        if let Some(why) = self.state(state) {
            return Some(why);
        }
        let data = &program.states[state];
        let at = arm.unwrap_or(data.arms.len());
        let open = self.unrolled.as_ref().and_then(|unrolled| unrolled.get(&state));
        if open.is_some_and(|open| !open.get(at).copied().unwrap_or(true)) {
            return Some("the parser's counter or a stack never allows it");
        }
        let before = &data.arms[..at];
        let taken = match arm {
            Some(n) => before.iter().any(|b| takes_all(b, &data.arms[n])),
            None => {
                let widths = data.select.iter().map(|k| k.width(program).unwrap_or(0));
                before.iter().any(SelectArm::takes_all) || exhausted(before, widths.collect())
            }
        };
        taken.then_some("the arms before it take every packet that it would")
    }

    pub(super) fn node(&self, node: Node) -> Option<&'static str> {
        known(self.control.nodes.get(node))
    }

    pub(super) fn branch(&self, node: Node, holds: bool) -> Option<&'static str> {
        self.node(node).or_else(|| {
            let open = self.control.branches.get(node)?;
            (!open[usize::from(holds)]).then_some("the headers that it wants are never valid together here")
        })
    }
}

fn known(reached: Option<&bool>) -> Option<&'static str> {
    reached
        .is_some_and(|r| !r)
        .then_some("the headers that the conditions above want are never valid together")
}

/// Returns true if every value that `later` matches is matched by `earlier`.
fn takes_all(earlier: &SelectArm, later: &SelectArm) -> bool {
    let set = earlier.set.is_none() || earlier.set == later.set;
    set && earlier.values.iter().zip(&later.values).all(|((v, m), (w, n))| m & n == *m && v & m == w & m)
}

/// Returns true if arms without wildcards cover every value of a select of at most 16 bits.
fn exhausted(arms: &[SelectArm], widths: Vec<u16>) -> bool {
    let bits: u32 = widths.iter().map(|w| u32::from(*w)).sum();
    let whole = |arm: &&SelectArm| {
        arm.set.is_none()
            && arm.values.iter().zip(&widths).all(|((_, mask), w)| *mask == width_mask(u32::from(*w)))
    };
    let values: BTreeSet<Vec<u128>> =
        arms.iter().filter(whole).map(|arm| arm.values.iter().map(|(v, _)| *v).collect()).collect();
    bits > 0 && bits <= 16 && values.len() as u64 == 1 << bits
}

/// Returns true if a table's constant entries match every packet.
pub(super) fn entries_catch_all(program: &Program, table: Table) -> bool {
    let data = &program.tables[table];
    let full = |at: usize| data.keys.get(at).map_or(0, |k| width_mask(u32::from(k.width(program))));
    let any = |(at, value): (usize, &KeyValue)| match value {
        KeyValue::Exact(_) => false,
        KeyValue::Ternary { mask, .. } => *mask == 0,
        KeyValue::Lpm { len, .. } => *len == 0,
        KeyValue::Range { lo, hi } => *lo == 0 && *hi == full(at),
    };
    if data.entries.iter().any(|e| e.key.iter().enumerate().all(any)) {
        return true;
    }
    let bits: u32 = data.keys.iter().map(|k| k.compared(program).count_ones()).sum();
    let exact: BTreeSet<&[KeyValue]> = data
        .entries
        .iter()
        .filter(|e| e.key.iter().all(|v| matches!(v, KeyValue::Exact(_))))
        .map(|e| e.key.as_slice())
        .collect();
    bits > 0 && bits <= 16 && exact.len() as u64 == 1 << bits
}
