//! Hardware parser states: the cost of each state of the program, and the paths through them.
//!
//! Rules (model: chip §6.1–§6.3):
//! 1. One matched TCAM row is one cycle. A state of the program takes as many cycles as its containers and its select
//!    need.
//! 2. A cycle sees 32 bytes from the first that is still needed and fills containers from them: four of each size
//!    (T1), or twenty 16-bit ones, of which a 32-bit container takes two (T2).
//! 3. Validity bits and constants take extractors, too. On T1 a constant for a 16- or 32-bit container sets few
//!    neighbouring bits, and more bits take more extractors.
//! 4. A cycle matches 32 bits (T1: one 16-bit half and two bytes). A wider select takes more cycles, each with a row
//!    per arm. Bytes of earlier states beyond those that scratch registers (T2) hold take more cycles as well.
//! 5. A state takes a row per arm, and a row per cycle for packets that match no arm; 256 rows in all. States that no
//!    path reaches take none.
//! 6. The first state also takes the cycles of the intrinsic metadata in front of the packet: 32 bytes per cycle, and
//!    the extractors of the intrinsic fields that the program uses. A program without states takes none.
//! 7. Lookahead is matched and copied from the window of the state that reads it, at the cost of bytes of the state
//!    itself. Skipped bytes take shifts and no extractors.
//! 8. A select on the counter matches no bytes; in the state that loads the counter from a field, it waits one cycle
//!    (model: chip §6.2). There are at most as many different loads as the initialisation RAM has rows.
//! 9. A state that extracts elements of a stack, or leads to one that does, has rows once for each combination of
//!    elements that may have been extracted before it: extractors name containers, and each element has separate
//!    ones. Its cycles are those of the most costly copy. Repetitions that only the counter or the packet bounds share their
//!    rows.
//! 10. No path reads beyond the depth of its gress. The padding states that T1 adds to egress paths of less than 65
//!     bytes are not counted.
//! 11. If the rows do not suffice, rows do the work of a state that selects on nothing together with that of the state before
//!     it, where one row can do both for every state before it (`carried`). Such a state takes no rows and no cycles.

mod carried;
mod cost;
mod paths;
#[cfg(test)]
mod tests;

pub use paths::{PathCost, Paths, paths};

use super::data::{PhvAllocation, PlacedParser, PlacedState};
use carried::StateCopy;
use cost::{Hardware, StateCost};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::PhvInventory;
use sluice_ir::entity::EntityMap;
use sluice_ir::parser_unroll::{LOOP_REACH, StackCounts, UnrollError, UnrolledParser};
use sluice_ir::verify::Diag;
use sluice_ir::{CounterLoad, Field, Header, Home, Next, ParserOpKind, ParserState, Program, StateData};
use std::collections::BTreeSet;

/// Returns the cycles and rows of every state of `gress`.
///
/// # Errors
/// If more rows, counter loads or checksum units are needed than the parser has, a path is deeper than the parser
/// reads, or states follow each other without end.
pub fn place(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    alloc: &PhvAllocation,
) -> Result<PlacedParser, Vec<Diag>> {
    let inventory = PhvInventory::new(&chip.phv);
    let hardware = Hardware { program, spec: &chip.parser, inventory: &inventory, allocation: alloc };
    let unrolled =
        UnrolledParser::of(program, gress).map_err(|endless| vec![loop_found(program, gress, &endless)])?;
    let mut placed = lay(&hardware, gress, &unrolled, &BTreeSet::new());
    if placed.rows > chip.parser.tcam_rows {
        placed = lay(&hardware, gress, &unrolled, &carried::carried(&hardware, &unrolled));
    }
    let diags = check(program, chip, gress, &unrolled, placed.rows);
    if diags.is_empty() { Ok(placed) } else { Err(diags) }
}

/// Gives rows to every copy of a state that the rows before it do not carry.
fn lay(
    hardware: &Hardware<'_>,
    gress: Gress,
    unrolled: &UnrolledParser,
    carried: &BTreeSet<StateCopy>,
) -> PlacedParser {
    let program = hardware.program;
    let start = program.pipe(gress).start;
    let before = if unrolled.nodes.is_empty() { 0 } else { hardware.intrinsic(gress) };
    let mut cycles: EntityMap<ParserState, u16> = program.states.values().map(|_| 0).collect();
    let mut rows = before;
    let mut states = Vec::new();
    let mut take = |state: ParserState, cost: StateCost| {
        let own = cost.cycles + if start == Next::State(state) { before } else { 0 };
        cycles[state] = cycles[state].max(own.min(u16::MAX.into()) as u16);
    };
    for (state, elements) in copies(unrolled) {
        let carried = carried.contains(&(state, elements.clone()));
        let mut cost = hardware.state(state, elements);
        if carried {
            (cost.rows, cost.cycles) = (0, 0);
        }
        states.push(PlacedState {
            state,
            extracted: elements.counts().to_vec(),
            first_row: rows,
            rows: cost.rows,
            cycles: cost.cycles.min(u16::MAX.into()) as u16,
            extractors: cost.extractors,
            match_bytes: cost.match_bytes,
            carried,
        });
        rows += cost.rows;
        take(state, cost);
    }
    // States that no path reaches have a cost, but no rows.
    let reached = unrolled.states();
    for (state, _) in program.states.iter().filter(|(s, d)| d.gress == gress && !reached.contains(s)) {
        take(state, hardware.state(state, &StackCounts::default()));
    }
    PlacedParser { cycles, rows, states }
}

/// Returns the hardware's copies of states: one per combination of elements extracted before (model: chip §6.2).
/// States that differ only in the counter share a copy.
fn copies(unrolled: &UnrolledParser) -> Vec<(ParserState, &StackCounts)> {
    let mut list: Vec<(ParserState, &StackCounts)> =
        unrolled.nodes.iter().map(|s| (s.config.state, &s.config.elements)).collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn loop_found(program: &Program, gress: Gress, endless: &UnrollError) -> Diag {
    match endless {
        UnrollError::Loop(states) => {
            let data = states.first().map(|s| &program.states[*s]);
            let name = data.map_or("", |d| d.name.as_str());
            Diag::error(
                data.map_or_else(Default::default, |d| d.loc),
                format!("parser state `{name}` can be reached from itself without end"),
            )
            .help("bound the loop by a stack or by the parser counter")
        }
        UnrollError::TooMany => {
            Diag::error(Default::default(), format!("the {gress} parser unrolls into too many states"))
                .help("use shorter stacks and smaller counters")
        }
    }
}

fn check(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    unrolled: &UnrolledParser,
    rows: u32,
) -> Vec<Diag> {
    let mut diags = Vec::new();
    let order = unrolled.states();
    let first = order.first().map(|&s| program.states[s].loc).unwrap_or_default();
    if rows > chip.parser.tcam_rows {
        let text = format!(
            "the {gress} parser needs {rows} TCAM rows; a parser of {} has {}",
            chip.name, chip.parser.tcam_rows
        );
        let diag = Diag::error(first, text).help("merge states, or select on fewer values");
        diags.push(diag.limit("parser.tcam_rows", chip.parser.tcam_rows, rows));
    }
    diags.extend(depth(program, chip, gress, unrolled));
    diags.extend(counter_loads(program, chip, gress, &order));
    for &state in &order {
        diags.extend(checksums(program, chip, state));
    }
    diags
}

/// Checks that the different loads of the counter from fields fit into the initialisation RAM (model: chip §6.1).
fn counter_loads(program: &Program, chip: &ChipSpec, gress: Gress, order: &[ParserState]) -> Option<Diag> {
    let mut loads: Vec<(u8, u8, u8, u8)> = Vec::new();
    let mut at = None;
    for op in order.iter().flat_map(|s| &program.states[*s].ops) {
        let (ParserOpKind::SetCounter(load) | ParserOpKind::PushCounter(load, _)) = op.kind else { continue };
        let (CounterLoad::Field { max, rotate, mask, add, .. }
        | CounterLoad::Ahead { max, rotate, mask, add, .. }) = load
        else {
            continue;
        };
        if !loads.contains(&(max, rotate, mask, add)) {
            loads.push((max, rotate, mask, add));
            at = Some(op.loc);
        }
    }
    let rows = chip.parser.counter_init_rows;
    let over = loads.len() > rows as usize;
    over.then(|| {
        let text = format!(
            "the {gress} parser loads its counter in {} ways; a parser of {} has {rows}",
            loads.len(),
            chip.name
        );
        Diag::error(at.unwrap_or_default(), text)
            .help("use one rotation, mask and sum for several headers")
            .limit("parser.counter_init_rows", rows, loads.len() as u64)
    })
}

/// Returns the number of bytes that the parser of `gress` reaches.
#[must_use]
pub fn reach(chip: &ChipSpec, gress: Gress) -> u32 {
    match gress {
        Gress::Ingress => chip.parser.ingress_depth,
        Gress::Egress => chip.parser.egress_depth,
    }
}

/// Returns the depth in bytes of the deepest path of `gress`, lookahead included; 0 if its paths have no end.
#[must_use]
pub fn deepest(program: &Program, gress: Gress) -> u32 {
    let Ok(unrolled) = UnrolledParser::of(program, gress) else { return 0 };
    let before = unrolled.max_before(|node| node.effect.bytes);
    let deepest =
        unrolled.nodes.iter().zip(before).map(|(s, before)| before + s.effect.reach).max().unwrap_or(0);
    if unrolled.is_bounded_by_packet() { deepest.max(LOOP_REACH) } else { deepest }
}

/// Checks that the deepest path is within the parser's reach.
fn depth(program: &Program, chip: &ChipSpec, gress: Gress, unrolled: &UnrolledParser) -> Option<Diag> {
    let limit = reach(chip, gress);
    let before = unrolled.max_before(|node| node.effect.bytes);
    // A loop that only the packet bounds goes on to the end of what a parser sees.
    let reach = |n: usize| {
        let once = before[n] + unrolled.nodes[n].effect.reach;
        if unrolled.repeats[n] { once.max(LOOP_REACH) } else { once }
    };
    let found = (0..unrolled.nodes.len()).find(|&n| reach(n) > limit)?;
    let (data, needs) = (&program.states[unrolled.nodes[found].config.state], reach(found));
    let text =
        format!("state `{}` parses up to byte {needs}; {gress} of {} parses {limit}", data.name, chip.name);
    let key = match gress {
        Gress::Ingress => "parser.ingress_depth",
        Gress::Egress => "parser.egress_depth",
    };
    Some(Diag::error(data.loc, text).help("parse fewer headers on this path").limit(key, limit, needs))
}

/// Returns the flags of checksums that other states verify over headers that a state extracts.
fn added(program: &Program, state: ParserState) -> BTreeSet<Field> {
    let verified = |data: &StateData| -> Vec<(Field, Vec<Field>)> {
        let ops = data.ops.iter();
        ops.filter_map(|op| match &op.kind {
            ParserOpKind::VerifyChecksum(to, inputs) => {
                let mut summed = Vec::new();
                inputs.iter().for_each(|input| input.fields(&mut |f| summed.push(f)));
                Some((*to, summed))
            }
            _ => None,
        })
        .collect()
    };
    let data = &program.states[state];
    let own: Vec<Field> = verified(data).into_iter().map(|(to, _)| to).collect();
    let extracts = |f: &Field| {
        let here = |h: Header| data.ops.iter().any(|op| op.kind == ParserOpKind::Extract(h));
        matches!(program.fields[*f].home, Home::Header(h) if here(h))
    };
    let others = program.states.values().filter(|s| s.gress == data.gress).flat_map(verified);
    others.filter(|(to, inputs)| !own.contains(to) && inputs.iter().any(extracts)).map(|(to, _)| to).collect()
}

/// Checks that a state needs no more checksum units than the parser has.
fn checksums(program: &Program, chip: &ChipSpec, state: ParserState) -> Option<Diag> {
    let data = &program.states[state];
    let verified = data.ops.iter().filter(|op| matches!(op.kind, ParserOpKind::VerifyChecksum(..))).count();
    // A sum from which fields are subtracted stays in its unit from state to state.
    let kept: BTreeSet<Field> = program
        .states
        .values()
        .filter(|s| s.gress == data.gress)
        .flat_map(|s| &s.ops)
        .filter_map(|op| if let ParserOpKind::SubtractChecksum(to, _) = &op.kind { Some(*to) } else { None })
        .collect();
    let sums = data.ops.iter().any(|op| matches!(op.kind, ParserOpKind::SubtractChecksum(..)));
    // So does a sum to which this state adds a header and which a later state verifies.
    let later = added(program, state).len();
    let (units, count) = (chip.parser.checksum_units, verified + kept.len() + later);
    if count <= units as usize || verified + later == 0 && !sums {
        return None;
    }
    let mut what = format!("verifies {verified} checksums");
    if later > 0 {
        what += &format!(", adds to {later} that later states verify");
    }
    if !kept.is_empty() {
        what += &format!(", and {} keeps {} sums", data.gress, kept.len());
    }
    let text = format!("state `{}` {what}; a parser of {} has {units} units", data.name, chip.name);
    let diag = Diag::error(data.loc, text).help("verify fewer checksums in one state");
    Some(diag.limit("parser.checksum_units", units, count as u64))
}
