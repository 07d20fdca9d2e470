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
    /// Cycles of its states, those for intrinsic metadata included; without the parser's fixed part.
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

/// Every path from the start to acceptance or rejection, at most 256. A path ends where it would enter a state
/// again.
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
    let nexts = match at {
        Next::State(s) if !states.contains(&s) => {
            states.push(s);
            successors(program, s)
        }
        Next::State(_) | Next::Accept | Next::Reject => {
            found.list.push(PathCost {
                states: states.clone(),
                bytes: states.iter().map(|&s| state_bytes(program, s)).sum(),
                cycles: states.iter().map(|&s| placed.cycles.get(s).map_or(0, |c| u32::from(*c))).sum(),
            });
            return;
        }
    };
    // All ways to end here are one path.
    let mut ended = false;
    for next in nexts {
        let ends = !matches!(next, Next::State(s) if !states.contains(&s));
        if !(ends && ended) {
            walk(program, placed, next, states, found);
        }
        ended |= ends;
    }
    states.pop();
}

/// Where a state goes on, each once, in the order of its arms.
pub(super) fn successors(program: &Program, state: ParserState) -> Vec<Next> {
    let data = &program.states[state];
    let mut list: Vec<Next> = Vec::new();
    for next in data.arms.iter().map(|a| a.next).chain([data.default]) {
        if !list.contains(&next) {
            list.push(next);
        }
    }
    list
}

/// Bytes that a state moves past.
pub(super) fn state_bytes(program: &Program, state: ParserState) -> u32 {
    let bits = program.states[state].ops.iter().map(|op| match op.kind {
        ParserOpKind::Extract(h) => program.header_bits(h),
        ParserOpKind::Set(..) | ParserOpKind::VerifyChecksum(..) => 0,
    });
    bits.sum::<u32>() / 8
}
