//! Hardware parser states: what each state of the program costs, and the paths through them.
//!
//! Rules (facts: asic §6.1–§6.3). One matched TCAM row is one cycle. A state takes as many cycles as its
//! scarcest resource asks for: extractors per container size, 32 match bits, 32 bytes of shift. It takes
//! one row per arm and one for the default, and one more for every cycle beyond the first. The first state
//! of a gress also pays for the intrinsic metadata in front of the packet, 32 bytes a cycle. No state reads
//! beyond the depth of its gress. What may not live here: execution.

mod paths;

pub use paths::{PathCost, Paths, paths};

use super::data::{PhvAllocation, PlacedParser};
use crate::entity::EntityMap;
use crate::flow::Var;
use crate::ir::{Next, ParserOpKind, ParserState, Program};
use crate::verify::Diag;
use sluice_asic::chip::{ChipSpec, ParserSpec};
use sluice_asic::gress::Gress;
use sluice_asic::phv::{Container, PhvInventory};
use std::collections::BTreeSet;

/// Cycles and rows of every state of `gress`.
///
/// # Errors
/// When there are more rows than the parser has, or a path goes deeper than the parser can.
pub fn place(
    program: &Program,
    chip: &ChipSpec,
    gress: Gress,
    alloc: &PhvAllocation,
) -> Result<PlacedParser, Vec<Diag>> {
    let inventory = PhvInventory::new(&chip.phv);
    let spec = &chip.parser;
    let start = program.pipe(gress).start;
    let mut rows = 0;
    let cycles: EntityMap<ParserState, u16> = program
        .states
        .iter()
        .map(|(state, data)| {
            if data.gress != gress {
                return 0;
            }
            let mut cycles = state_cycles(program, spec, &inventory, alloc, state);
            if start == Next::State(state) {
                cycles += intrinsic_bytes(spec, gress).div_ceil(spec.max_shift.max(1));
            }
            // A row per arm and one for the default; a split state passes through one more per extra cycle.
            rows += data.arms.len() as u32 + cycles;
            cycles as u16
        })
        .collect();
    let placed = PlacedParser { cycles, rows };
    let diags = check(program, chip, gress, &placed);
    if diags.is_empty() { Ok(placed) } else { Err(diags) }
}

fn check(program: &Program, chip: &ChipSpec, gress: Gress, placed: &PlacedParser) -> Vec<Diag> {
    let mut diags = Vec::new();
    let first = program.states.values().find(|s| s.gress == gress).map(|s| s.loc).unwrap_or_default();
    if placed.rows > chip.parser.tcam_rows {
        let text = format!(
            "the {gress} parser needs {} TCAM rows; a parser of {} has {}",
            placed.rows, chip.name, chip.parser.tcam_rows
        );
        diags.push(Diag::error(first, text).help("merge states, or select on fewer values"));
    }
    let depth = match gress {
        Gress::Ingress => chip.parser.ingress_depth,
        Gress::Egress => chip.parser.egress_depth,
    };
    if let Some(deep) = paths(program, gress, placed).list.iter().find(|p| p.bytes > depth) {
        let last = deep.states.last().map(|&s| &program.states[s]);
        let name = last.map_or("", |s| s.name.as_str());
        let text = format!(
            "state `{name}` parses up to byte {}; {gress} of {} parses {depth}",
            deep.bytes, chip.name
        );
        diags.push(
            Diag::error(last.map(|s| s.loc).unwrap_or_default(), text)
                .help("parse fewer headers on this path"),
        );
    }
    diags
}

/// Bytes that the hardware puts in front of the packet.
fn intrinsic_bytes(spec: &ParserSpec, gress: Gress) -> u32 {
    match gress {
        Gress::Ingress => spec.ingress_intrinsic_bytes + spec.port_metadata_bytes + spec.port_metadata_pad,
        Gress::Egress => spec.egress_intrinsic_full,
    }
}

fn state_cycles(
    program: &Program,
    spec: &ParserSpec,
    inventory: &PhvInventory,
    alloc: &PhvAllocation,
    state: ParserState,
) -> u32 {
    let data = &program.states[state];
    let mut containers: BTreeSet<Container> = BTreeSet::new();
    let mut bytes = 0;
    for op in &data.ops {
        match &op.kind {
            ParserOpKind::Extract(h) => {
                bytes += program.header_bits(*h) / 8;
                for &f in &program.headers[*h].fields {
                    containers.extend(alloc.containers_of(Var::Field(f)));
                }
                containers.extend(alloc.containers_of(Var::Valid(*h)));
            }
            ParserOpKind::Set(f, _) | ParserOpKind::VerifyChecksum(f, _) => {
                containers.extend(alloc.containers_of(Var::Field(*f)));
            }
        }
    }
    let selected: u32 = data.select.iter().map(|&f| u32::from(program.fields[f].width)).sum();
    let match_bits = 16 * spec.match_halves + 8 * spec.match_bytes;
    [
        extract_cycles(spec, inventory, &containers),
        cycles(selected, match_bits),
        cycles(bytes, spec.max_shift),
        1,
    ]
    .into_iter()
    .max()
    .unwrap_or(1)
}

/// Cycles that the extractors take for these containers.
fn extract_cycles(spec: &ParserSpec, inventory: &PhvInventory, containers: &BTreeSet<Container>) -> u32 {
    let count = |bits: u32| {
        containers.iter().filter(|c| inventory.get(**c).is_some_and(|i| i.size.bits() == bits)).count() as u32
    };
    let (b, h, w) = (count(8), count(16), count(32));
    if spec.extract_32 > 0 {
        let each = [cycles(b, spec.extract_8), cycles(h, spec.extract_16), cycles(w, spec.extract_32)];
        return each.into_iter().max().unwrap_or(0);
    }
    // Tofino 2 sees everything as 16-bit containers: a 32-bit one is two, an 8-bit one half of a pair.
    cycles(b + h + 2 * w, spec.extract_16)
}

/// `need` over `per_cycle`, rounded up; nothing needed is no cycle.
fn cycles(need: u32, per_cycle: u32) -> u32 {
    need.div_ceil(per_cycle.max(1))
}
