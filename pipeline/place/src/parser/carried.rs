//! States that take no rows of their own, because every row that leads to them does their work as well.
//!
//! A row extracts, shifts and names the next state. Of a state that selects on nothing, the row before it can do the work:
//! it fills the containers of both, shifts by the bytes of both, and names the state after the second.

use super::added;
use super::cost::Hardware;
use sluice_ir::parser_unroll::{StackCounts, Successor, UnrolledParser};
use sluice_ir::{CounterLoad, Field, ParserOpKind, ParserState};
use std::collections::{BTreeMap, BTreeSet};

/// Copy of a state in the hardware.
pub(super) type StateCopy = (ParserState, StackCounts);

/// Copies by those that lead to them, or that they lead to.
type Edges = BTreeMap<StateCopy, BTreeSet<StateCopy>>;

/// Returns the copies whose work all rows before them can do.
pub(super) fn carried(hardware: &Hardware<'_>, unrolled: &UnrolledParser) -> BTreeSet<StateCopy> {
    let (mut before, mut after) = (Edges::new(), Edges::new());
    let copies: Vec<StateCopy> =
        unrolled.nodes.iter().map(|n| (n.config.state, n.config.elements.clone())).collect();
    for (node, copy) in unrolled.nodes.iter().zip(&copies) {
        for successor in &node.successors {
            if let Successor::Node(next) = successor {
                before.entry(copies[*next].clone()).or_default().insert(copy.clone());
                after.entry(copy.clone()).or_default().insert(copies[*next].clone());
            }
        }
    }
    let none = BTreeSet::new();
    let mut found: BTreeSet<StateCopy> = BTreeSet::new();
    for copy in copies.iter().skip(1).filter(|copy| **copy != copies[0]) {
        let data = &hardware.program.states[copy.0];
        let (from, to) = (before.get(copy).unwrap_or(&none), after.get(copy).unwrap_or(&none));
        // A row does the work of two states, not of three.
        let chained = from.iter().chain(to).any(|other| other == copy || found.contains(other));
        if data.select.is_empty()
            && data.arms.is_empty()
            && !chained
            && from.iter().all(|first| carries(hardware, first, copy, to))
        {
            found.insert(copy.clone());
        }
    }
    found
}

/// Returns true if each row of `first` can do the work of `second` as well and load the match registers for the states after it.
fn carries(
    hardware: &Hardware<'_>,
    first: &StateCopy,
    second: &StateCopy,
    after: &BTreeSet<StateCopy>,
) -> bool {
    let spec = hardware.spec;
    let bytes = hardware.bytes(first) + hardware.bytes(second);
    let matched = after.iter().map(|next| hardware.match_reach(next)).max().unwrap_or(0);
    let one_cycle = |copy: &StateCopy| hardware.state(copy.0, &copy.1).cycles == 1;
    one_cycle(first)
        && one_cycle(second)
        && bytes <= spec.max_shift
        && (matched == 0 || bytes + matched <= spec.window_bytes)
        && joinable(hardware, first, second)
        && hardware.fits_one_row(first, second)
}

/// Returns true if operations of two states do not get into each other's way in one row: it changes the counter once, writes
/// a field once, and sums no checksums for both.
fn joinable(hardware: &Hardware<'_>, first: &StateCopy, second: &StateCopy) -> bool {
    let program = hardware.program;
    let ops = || [first, second].into_iter().flat_map(|copy| &program.states[copy.0].ops);
    let counts = ops().filter(|op| counts(&op.kind)).count();
    let apart = ops().all(|op| {
        !matches!(
            op.kind,
            ParserOpKind::VerifyChecksum(..)
                | ParserOpKind::SubtractChecksum(..)
                | ParserOpKind::SetValid(_, false)
                | ParserOpKind::SetCounter(CounterLoad::Field { .. } | CounterLoad::Ahead { .. })
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter
        )
    });
    let summed = [first, second].into_iter().any(|copy| !added(program, copy.0).is_empty());
    let written: BTreeSet<Field> = hardware.written(first).into_iter().collect();
    counts <= 1 && apart && !summed && hardware.written(second).iter().all(|f| !written.contains(f))
}

fn counts(op: &ParserOpKind) -> bool {
    matches!(
        op,
        ParserOpKind::SetCounter(_)
            | ParserOpKind::AddCounter(_)
            | ParserOpKind::PushCounter(..)
            | ParserOpKind::PopCounter
    )
}
