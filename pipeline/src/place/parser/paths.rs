//! The ways through a parser, with their cost. What may not live here: how cycles come about.

use crate::ir::{Next, ParserOpKind, ParserState, Program};
use crate::place::PlacedParser;
use sluice_asic::gress::Gress;

/// Most paths that are listed.
const MAX_PATHS: usize = 256;

/// One way through a parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathCost {
    /// States in order.
    pub states: Vec<ParserState>,
    /// Bytes extracted.
    pub bytes: u32,
    /// Cycles, without the parser's fixed part.
    pub cycles: u32,
}

/// The ways through a parser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// In the order of the arms; each different list of states once.
    pub list: Vec<PathCost>,
    /// There are more than are listed.
    pub cut: bool,
}

/// Every path from the start to acceptance or rejection, at most 256.
#[must_use]
pub fn paths(program: &Program, gress: Gress, placed: &PlacedParser) -> Paths {
    let mut found = Paths::default();
    walk(program, placed, program.pipe(gress).start, &mut Vec::new(), &mut found);
    found
}

fn walk(
    program: &Program,
    placed: &PlacedParser,
    at: Next,
    states: &mut Vec<ParserState>,
    found: &mut Paths,
) {
    if found.list.len() >= MAX_PATHS {
        found.cut = true;
        return;
    }
    match at {
        Next::State(s) if !states.contains(&s) => {
            states.push(s);
            let data = &program.states[s];
            for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
                walk(program, placed, next, states, found);
            }
            states.pop();
        }
        Next::State(_) | Next::Accept | Next::Reject => {
            let path = PathCost {
                states: states.clone(),
                bytes: states.iter().map(|&s| state_bytes(program, s)).sum(),
                cycles: states.iter().map(|&s| u32::from(placed.cycles[s])).sum(),
            };
            if !found.list.contains(&path) {
                found.list.push(path);
            }
        }
    }
}

fn state_bytes(program: &Program, state: ParserState) -> u32 {
    let bits = program.states[state].ops.iter().map(|op| match op.kind {
        ParserOpKind::Extract(h) => program.header_bits(h),
        ParserOpKind::Set(..) | ParserOpKind::VerifyChecksum(..) => 0,
    });
    bits.sum::<u32>() / 8
}
