//! Hardware parser states: what each state of the program costs, and the paths through them.
//!
//! Rules (facts: asic §6.1–§6.3):
//! 1. One matched TCAM row is one cycle. A state of the program takes as many as its containers and its select
//!    ask for.
//! 2. A cycle sees 32 bytes from the first that is still needed and fills containers from them: four of each
//!    size (T1), or twenty 16-bit ones, of which a 32-bit container takes two (T2).
//! 3. Validity bits and constants take extractors too; on T1 a constant for a 16- or 32-bit container sets few
//!    neighbouring bits, and more bits take more extractors.
//! 4. A cycle matches 32 bits (T1: one 16-bit half and two bytes). Wider selects take more cycles, and each of
//!    these a row per arm; so do bytes of earlier states beyond those that scratch registers (T2) hold.
//! 5. A state takes a row per arm and a row per cycle for everything else; 256 rows in all. States that no path
//!    reaches take none.
//! 6. The first state also pays for the intrinsic metadata in front of the packet: 32 bytes a cycle, and the
//!    extractors of the intrinsic fields that the program uses. A program without states does not pay.
//! 7. No path reads beyond the depth of its gress. The padding states that T1 adds to egress paths of less than
//!    65 bytes are not counted.
//!
//! What may not live here: execution.

mod cost;
mod paths;
#[cfg(test)]
mod tests;

pub use paths::{PathCost, Paths, paths};

use super::data::{PhvAllocation, PlacedParser};
use crate::entity::EntityMap;
use crate::ir::{Next, ParserOpKind, ParserState, Program};
use crate::verify::Diag;
use cost::{Hardware, StateCost};
use paths::{state_bytes, successors};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::phv::PhvInventory;

/// Cycles and rows of every state of `gress`.
///
/// # Errors
/// When there are more rows or checksum units needed than the parser has, a path goes deeper than the parser
/// can, or states form a loop.
pub fn place(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    alloc: &PhvAllocation,
) -> Result<PlacedParser, Vec<Diag>> {
    let inventory = PhvInventory::new(&chip.phv);
    let hardware = Hardware { program, spec: &chip.parser, inventory: &inventory, allocation: alloc };
    let start = program.pipe(gress).start;
    let order = match order(program, start) {
        Ok(order) => order,
        Err(looped) => return Err(vec![loop_found(program, looped)]),
    };
    let mut rows = 0;
    let cost = |(state, data): (ParserState, &crate::ir::StateData)| {
        if data.gress != gress {
            return 0;
        }
        let StateCost { mut cycles, rows: mut needed } = hardware.state(state);
        if start == Next::State(state) {
            let before = hardware.intrinsic(gress);
            cycles += before;
            needed += before;
        }
        if order.contains(&state) {
            rows += needed;
        }
        cycles.min(u16::MAX.into()) as u16
    };
    let cycles: EntityMap<ParserState, u16> = program.states.iter().map(cost).collect();
    let diags = check(program, chip, gress, &order, rows);
    if diags.is_empty() { Ok(PlacedParser { cycles, rows }) } else { Err(diags) }
}

/// The states that can be reached, each after all that it goes on to; or a state that is reached from itself.
fn order(program: &Program, start: Next) -> Result<Vec<ParserState>, ParserState> {
    let mut done: Vec<ParserState> = Vec::new();
    let mut open: Vec<(ParserState, Vec<Next>)> = Vec::new();
    let mut next = Some(start);
    loop {
        match next {
            Some(Next::State(s)) if open.iter().any(|(o, _)| *o == s) => return Err(s),
            Some(Next::State(s)) if !done.contains(&s) => open.push((s, successors(program, s))),
            _ => {}
        }
        let Some((state, rest)) = open.last_mut() else { return Ok(done) };
        next = rest.pop();
        if next.is_none() {
            done.push(*state);
            open.pop();
        }
    }
}

fn loop_found(program: &Program, state: ParserState) -> Diag {
    let data = &program.states[state];
    Diag::error(data.loc, format!("parser state `{}` can be reached from itself", data.name))
        .help("write out one state per repetition")
}

fn check(program: &Program, chip: &ChipSpec, gress: Gress, order: &[ParserState], rows: u32) -> Vec<Diag> {
    let mut diags = Vec::new();
    let first = order.last().map(|&s| program.states[s].loc).unwrap_or_default();
    if rows > chip.parser.tcam_rows {
        let text = format!(
            "the {gress} parser needs {rows} TCAM rows; a parser of {} has {}",
            chip.name, chip.parser.tcam_rows
        );
        diags.push(Diag::error(first, text).help("merge states, or select on fewer values"));
    }
    diags.extend(depth(program, chip, gress, order));
    for &state in order {
        diags.extend(checksums(program, chip, state));
    }
    diags
}

/// The deepest path is within the parser's reach.
fn depth(program: &Program, chip: &ChipSpec, gress: Gress, order: &[ParserState]) -> Option<Diag> {
    let limit = match gress {
        Gress::Ingress => chip.parser.ingress_depth,
        Gress::Egress => chip.parser.egress_depth,
    };
    // Bytes of the deepest path to the end of each state; predecessors come first.
    let mut deepest: EntityMap<ParserState, u32> = program.states.keys().map(|_| 0).collect();
    for &state in order.iter().rev() {
        deepest[state] += state_bytes(program, state);
        for next in successors(program, state) {
            if let Next::State(s) = next {
                deepest[s] = deepest[s].max(deepest[state]);
            }
        }
    }
    let state = order.iter().rev().copied().find(|s| deepest[*s] > limit)?;
    let data = &program.states[state];
    let text = format!(
        "state `{}` parses up to byte {}; {gress} of {} parses {limit}",
        data.name, deepest[state], chip.name
    );
    Some(Diag::error(data.loc, text).help("parse fewer headers on this path"))
}

/// A state verifies no more checksums than there are units.
fn checksums(program: &Program, chip: &ChipSpec, state: ParserState) -> Option<Diag> {
    let data = &program.states[state];
    let count = data.ops.iter().filter(|op| matches!(op.kind, ParserOpKind::VerifyChecksum(..))).count();
    if count <= chip.parser.checksum_units as usize {
        return None;
    }
    let text = format!(
        "state `{}` verifies {count} checksums; a parser of {} has {} units",
        data.name, chip.name, chip.parser.checksum_units
    );
    Some(Diag::error(data.loc, text).help("verify fewer checksums in one state"))
}
