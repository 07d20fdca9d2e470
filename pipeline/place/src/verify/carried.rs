//! Rule 11, continued: parser states whose work the rows before them do.

use super::Check;
use super::parser::{diag, extracted, extractors};
use crate::data::PlacedState;
use sluice_asic::gress::Gress;
use sluice_ir::verify::Diag;
use sluice_ir::{Field, Home, Next, ParserOpKind, ParserState, SelectKey};
use std::collections::BTreeSet;

/// Checks that every row that leads to a state without rows can do its work: the bytes, extractors, fields, and counter of
/// both states.
pub(super) fn check(check: &Check<'_>, gress: Gress, placed: &PlacedState) -> Vec<Diag> {
    let program = check.program;
    let data = &program.states[placed.state];
    let mut found = Vec::new();
    let mut wrong = |text: String| found.push(diag(check, placed.state, text));
    if !data.select.is_empty() || !data.arms.is_empty() {
        wrong("it selects, and has no rows".to_owned());
    }
    if placed.rows > 0 || placed.cycles > 0 {
        wrong(format!("other rows do its work, and it has {} and {} cycles", placed.rows, placed.cycles));
    }
    if program.pipe(gress).start == Next::State(placed.state) {
        wrong("no row is before the first state".to_owned());
    }
    let copies = &check.placement.gress(gress).parser.states;
    for first in copies.iter().filter(|first| leads(check, first.state, placed.state)) {
        if first.carried || first.cycles != 1 {
            let name = &program.states[first.state].name;
            wrong(format!("state `{name}` before it takes {} cycles, not one", first.cycles));
        }
        together(check, first, placed).into_iter().for_each(&mut wrong);
    }
    found
}

fn leads(check: &Check<'_>, from: ParserState, to: ParserState) -> bool {
    let data = &check.program.states[from];
    data.arms.iter().map(|arm| arm.next).chain([data.default]).any(|next| next == Next::State(to))
}

/// Returns what keeps a row from the work of two states.
fn together(check: &Check<'_>, first: &PlacedState, second: &PlacedState) -> Vec<String> {
    let (program, spec) = (check.program, &check.placement.chip.parser);
    let mut found = Vec::new();
    let mut headers = Vec::new();
    for copy in [first, second] {
        headers.extend(extracted(check, copy.state, &copy.extracted).map(|(h, _)| h).unwrap_or_default());
    }
    let ops = || [first, second].into_iter().flat_map(|copy| &program.states[copy.state].ops);
    let skipped = ops().map(|op| if let ParserOpKind::Advance(n) = op.kind { u32::from(n) } else { 0 });
    let bytes = headers.iter().map(|h| program.header_bits(*h)).sum::<u32>() / 8 + skipped.sum::<u32>();
    if bytes > spec.max_shift {
        found.push(format!(
            "a row moves past {bytes} bytes of it and the state before; {} are most",
            spec.max_shift
        ));
    }
    let ahead = selected(check, program.states[second.state].default);
    if ahead > 0 && bytes + ahead > spec.window_bytes {
        let window = spec.window_bytes;
        found
            .push(format!("the state after it matches up to byte {} of a window of {window}", bytes + ahead));
    }
    let need = extractors(check, &headers);
    let have = [spec.extract_8, spec.extract_16, spec.extract_32];
    if (0..3).any(|i| need[i] > have[i]) {
        found.push(format!("a row takes extractors {need:?} of {have:?} for it and the state before"));
    }
    let counts = |op: &ParserOpKind| {
        use ParserOpKind::{AddCounter, PopCounter, PushCounter, SetCounter};
        matches!(op, AddCounter(_) | PopCounter | PushCounter(..) | SetCounter(_))
    };
    if ops().filter(|op| counts(&op.kind)).count() > 1 {
        found.push("a row changes the counter twice".to_owned());
    }
    if let Some(twice) = written(check, first).intersection(&written(check, second)).next() {
        found.push(format!("a row writes `{}` twice", program.fields[*twice].name));
    }
    found
}

/// Returns the fields that a copy of a state writes.
fn written(check: &Check<'_>, copy: &PlacedState) -> BTreeSet<Field> {
    let program = check.program;
    let headers =
        extracted(check, copy.state, &copy.extracted).map(|(headers, _)| headers).unwrap_or_default();
    let fields = headers.iter().flat_map(|h| program.headers[*h].fields.iter().copied());
    fields.chain(program.states[copy.state].ops.iter().filter_map(|op| op.kind.written())).collect()
}

/// Returns the bytes from the start of a state to the last one that it matches.
fn selected(check: &Check<'_>, next: Next) -> u32 {
    let Next::State(state) = next else { return 0 };
    let program = check.program;
    let data = &program.states[state];
    let (mut moved, mut reach) = (0, 0);
    for op in &data.ops {
        let header = match op.kind {
            ParserOpKind::Advance(bytes) => {
                moved += u32::from(bytes);
                continue;
            }
            ParserOpKind::Extract(header) => header,
            // All elements of a stack are alike.
            ParserOpKind::ExtractNext(stack) => match program.stacks[stack].headers.first() {
                Some(header) => *header,
                None => continue,
            },
            _ => continue,
        };
        for key in data.select.iter().filter_map(|key| key.field()) {
            if program.fields[key].home == Home::Header(header) {
                let end =
                    program.field_offset(header, key).unwrap_or(0) + u32::from(program.fields[key].width);
                reach = reach.max(moved + end.div_ceil(8));
            }
        }
        moved += program.header_bits(header) / 8;
    }
    let ahead = data.select.iter().filter_map(|key| match key {
        SelectKey::Lookahead(ahead) => Some(moved + ahead.reach()),
        _ => None,
    });
    reach.max(ahead.max().unwrap_or(0))
}
