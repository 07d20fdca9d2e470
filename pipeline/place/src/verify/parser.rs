//! Rule 11: parser rows, and lower bounds of the states' cycles.

use super::Check;
use crate::data::PlacedState;
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Header, Home, Loc, Next, ParserOpKind, ParserState, SelectArm, SelectKey};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(check: &mut Check<'_>) {
    for gress in Gress::ALL {
        let mut found = rows(check, gress);
        found.extend(copies(check, gress));
        for placed in &check.placement.gress(gress).parser.states {
            found.extend(if placed.carried {
                super::carried::check(check, gress, placed)
            } else {
                state(check, gress, placed)
            });
        }
        check.diags.extend(found);
    }
}

pub(super) fn diag(check: &Check<'_>, state: ParserState, text: impl std::fmt::Display) -> Diag {
    let (loc, name) = check.program.states.get(state).map_or((Loc::default(), ""), |d| (d.loc, &d.name));
    Diag::error(loc, format!("placement of parser state `{name}`: {text}"))
}

/// Checks that rows exist and have one owner.
fn rows(check: &Check<'_>, gress: Gress) -> Vec<Diag> {
    let parser = &check.placement.gress(gress).parser;
    let limit = check.placement.chip.parser.tcam_rows;
    let mut found = Vec::new();
    let mut taken: BTreeMap<u32, ParserState> = BTreeMap::new();
    for s in &parser.states {
        let end = s.first_row.saturating_add(s.rows);
        if end > limit || end > parser.rows {
            let text = format!("rows to {end}; the parser uses {} of {limit}", parser.rows);
            found.push(diag(check, s.state, text));
            continue;
        }
        if let Some(row) = (s.first_row..end).find(|row| taken.insert(*row, s.state).is_some()) {
            found.push(diag(check, s.state, format!("row {row} has another state already")));
        }
    }
    found
}

/// Checks that every state has a copy for each count of stack elements that it may find, of stacks that it or a state after
/// it uses. Arms that test the counter are not followed, because whether they are taken depends on the number of
/// repetitions.
fn copies(check: &Check<'_>, gress: Gress) -> Vec<Diag> {
    let program = check.program;
    let held: BTreeSet<(ParserState, Vec<u8>)> =
        check.placement.gress(gress).parser.states.iter().map(|s| (s.state, s.extracted.clone())).collect();
    let Next::State(start) = program.pipe(gress).start else { return Vec::new() };
    let mut seen: BTreeSet<(ParserState, Vec<u8>)> = BTreeSet::new();
    let mut open = vec![(start, Vec::new())];
    let mut found = Vec::new();
    while let Some((state, before)) = open.pop() {
        let before = needed(check, state, before);
        if !seen.insert((state, before.clone())) {
            continue;
        }
        if !held.contains(&(state, before.clone())) {
            found.push(diag(check, state, format!("no rows after {before:?} elements of stacks")));
        }
        let data = &program.states[state];
        let Some(after) = after(check, state, &before) else { continue };
        let tests: Vec<bool> = data.select.iter().map(|k| is_test(*k)).collect();
        // Arms after one that matches everything are never taken.
        let takes_all = data.arms.iter().position(SelectArm::takes_all);
        for arm in data.arms.iter().take(takes_all.map_or(data.arms.len(), |n| n + 1)) {
            let free = arm.values.iter().zip(&tests).all(|((_, mask), test)| !test || *mask == 0);
            if let (true, Next::State(next)) = (free, arm.next) {
                open.push((next, after.clone()));
            }
        }
        if let (None, false, Next::State(next)) = (takes_all, tests.contains(&true), data.default) {
            open.push((next, after));
        }
    }
    found
}

/// Returns the counts of stack elements without those of stacks that neither the state nor a state after it uses.
fn needed(check: &Check<'_>, state: ParserState, mut counts: Vec<u8>) -> Vec<u8> {
    let states = &check.program.states;
    let (mut reached, mut open) = (BTreeSet::from([state]), vec![state]);
    let mut used = vec![false; counts.len()];
    while let Some(state) = open.pop() {
        let data = &states[state];
        let extracted = data.ops.iter().map(|op| match op.kind {
            ParserOpKind::ExtractNext(stack) => Some(stack),
            _ => None,
        });
        let selected = data
            .select
            .iter()
            .map(|key| if let SelectKey::Last(stack, _) = key { Some(*stack) } else { None });
        for stack in extracted.chain(selected).flatten() {
            let at = check.program.stacks.keys().position(|s| s == stack);
            at.and_then(|at| used.get_mut(at)).into_iter().for_each(|used| *used = true);
        }
        for next in data.arms.iter().map(|arm| arm.next).chain([data.default]) {
            if let Next::State(next) = next
                && reached.insert(next)
            {
                open.push(next);
            }
        }
    }
    counts.iter_mut().zip(used).filter(|(_, used)| !used).for_each(|(count, _)| *count = 0);
    counts.truncate(counts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1));
    counts
}

fn is_test(key: SelectKey) -> bool {
    matches!(key, SelectKey::CounterIsZero | SelectKey::CounterIsNegative)
}

/// Returns the counts of stack elements after a state; `None` if a stack has no room for one.
fn after(check: &Check<'_>, state: ParserState, before: &[u8]) -> Option<Vec<u8>> {
    extracted(check, state, before).map(|(_, counts)| counts)
}

/// Returns the headers that a state extracts, and the counts of stack elements after it; `None` if a stack is full.
pub(super) fn extracted(
    check: &Check<'_>,
    state: ParserState,
    before: &[u8],
) -> Option<(Vec<Header>, Vec<u8>)> {
    let program = check.program;
    let (mut headers, mut counts) = (Vec::new(), before.to_vec());
    for op in &program.states[state].ops {
        match op.kind {
            ParserOpKind::Extract(h) => headers.push(h),
            ParserOpKind::ExtractNext(stack) => {
                let at = program.stacks.keys().position(|s| s == stack)?;
                if counts.len() <= at {
                    counts.resize(at + 1, 0);
                }
                headers.push(*program.stacks[stack].headers.get(usize::from(counts[at]))?);
                counts[at] += 1;
            }
            _ => {}
        }
    }
    Some((headers, counts))
}

/// Checks a copy of a state against lower bounds of its cycles and rows.
fn state(check: &Check<'_>, gress: Gress, placed: &PlacedState) -> Vec<Diag> {
    let (program, spec) = (check.program, &check.placement.chip.parser);
    let mut found = Vec::new();
    let data = &program.states[placed.state];
    let cycles = u32::from(placed.cycles);
    let mut least = |what: &str, needed: u32, per_cycle: u32| {
        if needed > cycles.saturating_mul(per_cycle) {
            let text = format!("{needed} {what} in {cycles} cycles of {per_cycle}");
            found.push(diag(check, placed.state, text));
        }
    };
    // A copy whose stack has no room for an element ends at that point.
    let headers = extracted(check, placed.state, &placed.extracted).map(|(headers, _)| headers);
    for (i, what) in ["8-bit extractors", "16-bit extractors", "32-bit extractors"].into_iter().enumerate() {
        let (needed, have) = (
            extractors(check, headers.as_deref().unwrap_or_default())[i],
            [spec.extract_8, spec.extract_16, spec.extract_32][i],
        );
        least(what, needed, have);
    }
    let bits = headers.iter().flatten().map(|h| program.header_bits(*h)).sum::<u32>();
    let skipped: u32 = data
        .ops
        .iter()
        .filter(|_| headers.is_some())
        .map(|op| if let ParserOpKind::Advance(n) = op.kind { u32::from(n) } else { 0 })
        .sum();
    least("bytes to move past", bits / 8 + skipped, spec.max_shift);
    let most = 2 * spec.match_halves + spec.match_bytes;
    least("bytes to match", matched(check, gress, placed, headers.as_deref()), most);
    // A value set takes a row for each member that it has room for.
    let rows = data.arms.iter().map(|arm| match arm.set {
        Some(of) => u64::from(program.value_sets[of.set].size),
        None => 1,
    });
    let rows = rows.sum::<u64>() + u64::from(cycles);
    if u64::from(placed.rows) < rows {
        found.push(diag(check, placed.state, format!("{} rows; {rows} needed", placed.rows)));
    }
    let known = check.placement.gress(gress).parser.cycles.get(placed.state).copied().unwrap_or(0);
    if known < placed.cycles {
        let text = format!("paths count {known} cycles, a copy takes {}", placed.cycles);
        found.push(diag(check, placed.state, text));
    }
    found
}

/// Returns the number of extractors that the headers' containers take, by size. If all extractors have 16 bits, an
/// 8-bit container takes one.
pub(super) fn extractors(check: &Check<'_>, headers: &[Header]) -> [u32; 3] {
    let program = check.program;
    let fields = headers.iter().flat_map(|h| &program.headers[*h].fields).map(|f| Var::Field(*f));
    let vars: Vec<Var> = fields.collect();
    let containers: BTreeSet<Container> = check.view.containers(&vars);
    let mut need = [0; 3];
    let uniform = check.placement.chip.parser.extract_32 == 0;
    for c in containers {
        match (check.view.width(c), uniform) {
            (32, true) => need[1] += 2,
            (_, true) => need[1] += 1,
            (8, false) => need[0] += 1,
            (16, false) => need[1] += 1,
            (_, false) => need[2] += 1,
        }
    }
    need
}

/// Returns the least number of bytes that a select needs: those of lookahead, and of fields that the state itself
/// extracts.
fn matched(check: &Check<'_>, gress: Gress, placed: &PlacedState, headers: Option<&[Header]>) -> u32 {
    let program = check.program;
    let Some(headers) = headers else { return 0 };
    let mut bytes: BTreeSet<(Option<Header>, u32)> = BTreeSet::new();
    let mut field = |f: Field| {
        let data = &program.fields[f];
        if let (Home::Header(h), true) = (data.home, data.gress == gress)
            && headers.contains(&h)
        {
            let first = program.field_offset(h, f).unwrap_or(0);
            let last = first + u32::from(data.width) - 1;
            bytes.extend((first / 8..=last / 8).map(|b| (Some(h), b)));
        }
    };
    let select = &program.states[placed.state].select;
    select.iter().filter_map(|k| k.field()).for_each(&mut field);
    for key in select {
        if let SelectKey::Lookahead(ahead) = key {
            bytes.extend((u32::from(ahead.at) / 8..ahead.reach()).map(|b| (None, b)));
        }
    }
    bytes.len() as u32
}
