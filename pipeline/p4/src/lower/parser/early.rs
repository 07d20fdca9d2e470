//! Loads of the parser counter from a header that an earlier state extracts.
//!
//! The chip loads the counter from one of the bytes that it matches on, which may come from an earlier state. Here the state
//! that extracts the header loads the counter, if nothing changes or reads it before the state in which the author loads it,
//! and nothing reads it on other paths.

use super::made::Made;
use super::walk::Walk;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use sluice_ir::{CounterLoad, Header, Next, ParserOpKind, ParserState, Program, SelectKey};

/// A load in a state after the one that extracts the header.
#[derive(Clone, Copy, Debug)]
pub(super) struct EarlyLoad {
    /// The state that loads.
    pub(super) state: ParserState,
    /// The header with the byte.
    pub(super) header: Header,
    /// The first bit of the byte in the header.
    pub(super) bit: u32,
    /// The load, but for the distance of the byte.
    pub(super) load: CounterLoad,
    /// Its place.
    pub(super) at: Span,
}

impl Walk<'_, '_> {
    /// Moves loads to the states that extract their headers.
    pub(super) fn load_early(&mut self) {
        for early in std::mem::take(&mut self.early) {
            let Some(states) = self.extracting(&early) else {
                self.refuse(
                    early.at,
                    "the parser counter is loaded with a rotation and a mask from a part of a byte that an earlier state \
                     extracts, and the counter is used between the two states, or on another path",
                    "load it in the state that extracts the header, before the counter changes",
                );
                continue;
            };
            let CounterLoad::Ahead { max, rotate, mask, add, .. } = early.load else { continue };
            if max < u8::MAX {
                let effect = "the state that extracts the header does it, so that packets with a greater byte end there with \
                              the error \"counter range\", even if they do not come to this state";
                self.cx.note(early.at, "this load of the parser counter", effect);
            }
            for (position, distance) in states {
                let load = CounterLoad::Ahead { at: distance, max, rotate, mask, add };
                let op = (Made::Plain(ParserOpKind::SetCounter(load)), early.at);
                self.made.states[position].1.insert(0, op);
            }
        }
    }

    /// Returns the positions of the states that extract the header, each with the distance of the byte; `None` if they cannot load
    /// the counter.
    fn extracting(&self, early: &EarlyLoad) -> Option<Vec<(usize, u16)>> {
        let program = &self.cx.program;
        let at: FxHashMap<ParserState, usize> =
            self.made.states.iter().enumerate().map(|(position, (state, _))| (*state, position)).collect();
        let (mut open, mut seen) = (vec![early.state], FxHashSet::default());
        let mut found = Vec::new();
        while let Some(state) = open.pop() {
            if !seen.insert(state) {
                continue;
            }
            let ops = &self.made.states[*at.get(&state)?].1;
            if state != early.state && uses_counter(program, state, ops) {
                return None;
            }
            if let Some(distance) = distance(program, ops, early) {
                found.push((at[&state], distance));
                continue;
            }
            let before: Vec<ParserState> = at
                .keys()
                .copied()
                .filter(|other| successors(program, *other).any(|next| next == state))
                .collect();
            if before.is_empty() {
                return None;
            }
            open.extend(before);
        }
        // On paths that do not reach the load, nothing may read what it would load.
        let mut seen: FxHashSet<ParserState> = [early.state].into_iter().collect();
        let mut open: Vec<ParserState> =
            found.iter().map(|(position, _)| self.made.states[*position].0).collect();
        while let Some(state) = open.pop() {
            for next in successors(program, state).filter(|next| *next != early.state) {
                if uses_counter(program, next, &self.made.states[*at.get(&next)?].1) {
                    return None;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        found.sort_unstable();
        Some(found)
    }
}

fn successors(program: &Program, state: ParserState) -> impl Iterator<Item = ParserState> + '_ {
    let data = &program.states[state];
    data.arms.iter().map(|arm| arm.next).chain([data.default]).filter_map(|next| match next {
        Next::State(state) => Some(state),
        _ => None,
    })
}

/// Returns true if a state changes the counter or selects on it.
fn uses_counter(program: &Program, state: ParserState, ops: &[(Made, Span)]) -> bool {
    let selects = |key: &SelectKey| matches!(key, SelectKey::CounterIsZero | SelectKey::CounterIsNegative);
    program.states[state].select.iter().any(selects) || ops.iter().any(|(op, _)| changes_counter(op))
}

/// Returns true for an operation that changes the counter.
pub(super) fn changes_counter(op: &Made) -> bool {
    matches!(
        op,
        Made::Plain(
            ParserOpKind::SetCounter(_)
                | ParserOpKind::AddCounter(_)
                | ParserOpKind::PushCounter(..)
                | ParserOpKind::PopCounter
        )
    )
}

/// Returns the distance of the byte from the beginning of a state that extracts its header.
fn distance(program: &Program, ops: &[(Made, Span)], early: &EarlyLoad) -> Option<u16> {
    let mut bits = 0;
    for (op, _) in ops {
        match op {
            Made::Plain(ParserOpKind::Extract(header)) if *header == early.header => {
                return u16::try_from(bits + early.bit).ok();
            }
            Made::Plain(ParserOpKind::Extract(header)) => bits += program.header_bits(*header),
            Made::Plain(ParserOpKind::ExtractNext(stack)) => {
                let first = program.stacks[*stack].headers.first()?;
                bits += program.header_bits(*first);
            }
            Made::Plain(ParserOpKind::Advance(bytes)) => bits += u32::from(*bytes) * 8,
            _ => {}
        }
    }
    None
}
