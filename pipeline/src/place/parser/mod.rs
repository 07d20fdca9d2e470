//! Hardware parser states: what each state of the program costs, and the paths through them.
//!
//! What lives here: the number of TCAM rows and cycles per state (facts: asic §6.1, §6.2), and the paths.
//! What may not: execution.

use super::data::{PhvAllocation, PlacedParser};
use crate::entity::EntityMap;
use crate::ir::{Next, ParserOpKind, ParserState, Program};
use crate::verify::Diag;
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

/// One way through a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCost {
    /// States in order.
    pub states: Vec<ParserState>,
    /// Bytes extracted.
    pub bytes: u32,
    /// Cycles.
    pub cycles: u32,
}

/// Cycles and rows of every state of `gress`.
///
/// # Errors
/// When there are more rows than the parser has.
pub fn place(program: &Program, chip: &ChipSpec, gress: Gress, _alloc: &PhvAllocation) -> Result<PlacedParser, Vec<Diag>> {
    let mut rows = 0;
    let cycles: EntityMap<ParserState, u16> = program
        .states
        .values()
        .map(|s| {
            if s.gress == gress {
                rows += s.arms.len() as u32 + 1;
            }
            1
        })
        .collect();
    if rows > chip.parser.tcam_rows {
        let text = format!("the {gress} parser needs {rows} rows; {} has {}", chip.name, chip.parser.tcam_rows);
        return Err(vec![Diag::error(crate::ir::Loc::default(), text)]);
    }
    Ok(PlacedParser { cycles, rows })
}

/// Every path from the start to acceptance.
#[must_use]
pub fn paths(program: &Program, gress: Gress, placed: &PlacedParser) -> Vec<PathCost> {
    let mut found = Vec::new();
    walk(program, placed, program.pipe(gress).start, &mut Vec::new(), &mut found);
    found
}

fn walk(program: &Program, placed: &PlacedParser, at: Next, states: &mut Vec<ParserState>, found: &mut Vec<PathCost>) {
    match at {
        Next::State(s) if !states.contains(&s) => {
            states.push(s);
            let data = &program.states[s];
            for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
                walk(program, placed, next, states, found);
            }
            states.pop();
        }
        Next::Accept => {
            let bits = |s: &ParserState| -> u32 {
                program.states[*s].ops.iter().map(|op| match op.kind {
                    ParserOpKind::Extract(h) => program.header_bits(h),
                    _ => 0,
                }).sum()
            };
            let path = PathCost {
                states: states.clone(),
                bytes: states.iter().map(bits).sum::<u32>() / 8,
                cycles: states.iter().map(|&s| u32::from(placed.cycles[s])).sum(),
            };
            if !found.contains(&path) {
                found.push(path);
            }
        }
        _ => {}
    }
}
