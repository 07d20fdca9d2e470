//! The ways through a parser, with their cost.

use crate::PlacedParser;
use sluice_asic::gress::Gress;
use sluice_ir::ways::{Follow, Ways};
use sluice_ir::{ParserState, Program};

/// Most paths that are listed.
const MAX_PATHS: usize = 256;

/// One way through a parser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCost {
    /// States in order.
    pub states: Vec<ParserState>,
    /// Bytes extracted or skipped.
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

/// Every path from the start to acceptance or rejection, at most 256. Laps of a loop are paths of their own.
#[must_use]
pub fn paths(program: &Program, gress: Gress, placed: &PlacedParser) -> Paths {
    let mut found = Paths::default();
    match Ways::of(program, gress) {
        Ok(ways) if ways.places.is_empty() => found.list.push(PathCost::default()),
        Ok(ways) => walk(placed, &ways, 0, &mut Vec::new(), &mut found),
        Err(_) => {}
    }
    found
}

fn walk(placed: &PlacedParser, ways: &Ways, at: usize, before: &mut Vec<usize>, found: &mut Paths) {
    before.push(at);
    // All ways to end here are one path.
    let mut ended = false;
    for follow in &ways.places[at].follows {
        match follow {
            Follow::Place(next) => walk(placed, ways, *next, before, found),
            Follow::End(_) if ended => {}
            Follow::End(_) if found.list.len() >= MAX_PATHS => found.cut = true,
            Follow::End(_) => {
                ended = true;
                let stops = before.iter().map(|i| &ways.places[*i]);
                let cycles = |s: ParserState| placed.cycles.get(s).map_or(0, |c| u32::from(*c));
                found.list.push(PathCost {
                    states: stops.clone().map(|s| s.place.state).collect(),
                    bytes: stops.clone().map(|s| s.effect.bytes).sum(),
                    cycles: stops.map(|s| cycles(s.place.state)).sum(),
                });
            }
        }
        if found.cut {
            break;
        }
    }
    before.pop();
}
