//! From parameters to hashes and member tables. What may not live here: tables of the program.

use super::params::{EcmpParams, WcmpParams};
use super::values::Members;
use crate::catalog::ProgramError;
use crate::l3_ecmp::{HashSeed, Selection};
use crate::planning::coprime::{Request, choose};
use crate::planning::graph::DecisionGraph;
use crate::planning::replicas::{Order, layout, replicas};
use crate::planning::scheme::{FLOW_HASH_BITS, FlowFunction, Scheme, Setting, Terms, assign};
use crate::planning::weighted;
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::select::SelectorMode;

/// Ports to the south.
pub(super) const SOUTH_PORTS: u32 = 4;

/// One side of the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Hash of packets that leave to this side.
    pub setting: Setting,
    /// The member table: entry to port of this side, counted from 0.
    pub table: Vec<u32>,
}

/// What the programs are built and filled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Packets on their way up.
    pub north: Side,
    /// Packets on their way down.
    pub south: Side,
    /// The selector.
    pub selection: Selection,
    /// What users should know.
    pub notes: Vec<String>,
}

/// Bits that the selector divides.
const fn hash_bits(selection: Selection) -> u32 {
    if matches!(selection.mode(), SelectorMode::PlainModulo) { FLOW_HASH_BITS } else { 14 }
}

impl Plan {
    /// The plan of `ecmp`.
    ///
    /// # Errors
    /// When the scheme has no plan with these parameters.
    pub fn ecmp(p: &EcmpParams, program: &'static str) -> Result<Plan, ProgramError> {
        let HashSeed(seed) = p.seed;
        supported(&p.functions.0, program)?;
        let refuse = |key, found: String, expected: String| -> ProgramError {
            ProgramError::Conflict { program, key, found, expected }
        };
        let mut notes = Vec::new();
        let (settings, members) = if p.scheme == Scheme::Coprime {
            let setting = Setting { seed, ..Setting::of(p.functions.0[0]) };
            let size = |ports| -> Result<u32, ProgramError> {
                let request = Request {
                    hash_bits: hash_bits(p.selection),
                    target: Some(p.target),
                    order: p.order,
                    ..Request::tofino(ports, &p.upstream.0)
                };
                let no = |e: crate::planning::coprime::NoSize| {
                    refuse("upstream", p.upstream.to_string(), format!("but {e}"))
                };
                choose(&request).map(|c| c.members).map_err(no)
            };
            let north = if let Members::Fixed(n) = p.members { n } else { size(p.ports)? };
            ([setting; 2], [north, size(SOUTH_PORTS)?])
        } else {
            let terms = Terms {
                supply: p.functions.0.clone(),
                seed,
                hash_bits: hash_bits(p.selection),
                width: 120,
                target: p.target,
                order: p.order,
            };
            let graph = DecisionGraph::clos5(p.ports, SOUTH_PORTS);
            let made = assign(p.scheme, &graph, &terms, 0)
                .map_err(|e| refuse("scheme", p.scheme.to_string(), format!("but {e}")))?;
            notes.extend(made.notes);
            let mut here =
                graph.points.iter().zip(&made.settings).filter(|(point, _)| point.stage == p.stage);
            let up = here.next().map_or_else(|| Setting::of(p.functions.0[0]), |(_, setting)| *setting);
            let down = here.next_back().map_or(up, |(_, setting)| *setting);
            let north = if let Members::Fixed(n) = p.members { n } else { p.ports };
            ([up, down], [north, SOUTH_PORTS])
        };
        if members[0] < p.ports {
            let expected = format!("{} ports need at least as many members", p.ports);
            return Err(refuse("members", p.members.to_string(), expected));
        }
        let side =
            |setting, ports, members| Side { setting, table: layout(&replicas(ports, members), p.order) };
        Ok(Plan {
            north: side(settings[0], p.ports, members[0]),
            south: side(settings[1], SOUTH_PORTS, members[1]),
            selection: p.selection,
            notes,
        })
    }

    /// The plan of `wcmp`.
    ///
    /// # Errors
    /// When the weights have no plan with these parameters.
    pub fn wcmp(p: &WcmpParams, program: &'static str) -> Result<Plan, ProgramError> {
        let HashSeed(seed) = p.seed;
        supported(&p.functions.0, program)?;
        let refuse = |found: String, expected: String| -> ProgramError {
            ProgramError::Conflict { program, key: "weights", found, expected }
        };
        if !(1..=16).contains(&p.weights.0.len()) {
            return Err(refuse(p.weights.to_string(), "the north has 1 to 16 ports".to_owned()));
        }
        let request = Request {
            hash_bits: hash_bits(p.selection),
            target: Some(p.target),
            order: p.order,
            ..Request::tofino(p.weights.0.len() as u32, &p.upstream.0)
        };
        let fixed = if let Members::Fixed(n) = p.members { Some(n) } else { None };
        let planned = weighted::plan(&p.weights.0, p.method, fixed, &request)
            .map_err(|e| refuse(p.weights.to_string(), format!("but {e}")))?;
        let setting = Setting { seed, ..Setting::of(p.functions.0[0]) };
        let south = layout(&replicas(SOUTH_PORTS, SOUTH_PORTS), Order::Interleaved);
        Ok(Plan {
            north: Side { setting, table: layout(&planned.members, p.order) },
            south: Side { setting, table: south },
            selection: p.selection,
            notes: planned.notes,
        })
    }
}

/// Refuses functions that the programs do not compute.
fn supported(functions: &[FlowFunction], program: &'static str) -> Result<(), ProgramError> {
    use Rtag7Function::{Bisync, Ccitt, Crc32Lo, Xor16};
    let refuse = |found: String, expected: &str| {
        Err(ProgramError::Conflict { program, key: "functions", found, expected: expected.to_owned() })
    };
    if functions.is_empty() {
        return refuse("none".to_owned(), "a switch needs at least one hash function");
    }
    let missing = functions
        .iter()
        .find(|f| matches!(f, FlowFunction::Rtag7(r) if ![Bisync, Ccitt, Crc32Lo, Xor16].contains(r)));
    missing.map_or(Ok(()), |f| {
        refuse(
            f.to_string(),
            "the hash extern keeps the low bits of one algorithm's result, and this function is the high half \
             of one or parts of two; of RTAG7, take crc32_lo, ccitt, bisync or xor16",
        )
    })
}
