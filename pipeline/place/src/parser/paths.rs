//! Paths through a parser, with their cost.

use crate::PlacedParser;
use sluice_asic::gress::Gress;
use sluice_ir::parser_unroll::{Successor, UnrolledParser};
use sluice_ir::{ParserState, Program};

/// Most paths that are listed.
const MAX_PATHS: usize = 256;

/// One path through a parser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCost {
    /// States in order.
    pub states: Vec<ParserState>,
    /// Bytes extracted or skipped.
    pub bytes: u32,
    /// Cycles of its states, including those for intrinsic metadata, without the parser's fixed part.
    pub cycles: u32,
}

/// Paths through a parser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Paths in the order of the arms.
    pub list: Vec<PathCost>,
    /// True if there are more paths than are listed.
    pub cut: bool,
}

/// Returns every path from the start to acceptance or rejection, at most 256. Repetitions of a loop are separate paths; of
/// a loop that only the packet bounds, only paths without repetitions are listed.
#[must_use]
pub fn paths(program: &Program, gress: Gress, placed: &PlacedParser) -> Paths {
    let mut found = Paths::default();
    match UnrolledParser::of(program, gress) {
        Ok(unrolled) if unrolled.nodes.is_empty() => found.list.push(PathCost::default()),
        Ok(unrolled) => walk(placed, &unrolled, 0, &mut Vec::new(), &mut found),
        Err(_) => {}
    }
    found
}

fn walk(
    placed: &PlacedParser,
    unrolled: &UnrolledParser,
    at: usize,
    before: &mut Vec<usize>,
    found: &mut Paths,
) {
    before.push(at);
    // All ends after the same states are one path.
    let mut ended = false;
    for successor in &unrolled.nodes[at].successors {
        match successor {
            Successor::Node(next) if *next <= at => found.cut = true,
            Successor::Node(next) => walk(placed, unrolled, *next, before, found),
            Successor::End(_) if ended => {}
            Successor::End(_) if found.list.len() >= MAX_PATHS => found.cut = true,
            Successor::End(_) => {
                ended = true;
                let nodes = before.iter().map(|i| &unrolled.nodes[*i]);
                let cycles = |s: ParserState| placed.cycles.get(s).map_or(0, |c| u32::from(*c));
                found.list.push(PathCost {
                    states: nodes.clone().map(|s| s.config.state).collect(),
                    bytes: nodes.clone().map(|s| s.effect.bytes).sum(),
                    cycles: nodes.map(|s| cycles(s.config.state)).sum(),
                });
            }
        }
        if found.list.len() >= MAX_PATHS && found.cut {
            break;
        }
    }
    before.pop();
}
