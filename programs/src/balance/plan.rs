//! Plans hashes and member tables from parameters.

use super::params::{EcmpParams, WcmpParams};
use crate::l3_ecmp::{HashSeed, Selection};
use sluice_asic::select::SelectorMode;
use sluice_catalogue::ProgramError;
use sluice_hashing::coprime::{NoSize, Request, choose};
use sluice_hashing::graph::DecisionGraph;
use sluice_hashing::replicas::{Order, layout, replicas};
use sluice_hashing::scheme::{FLOW_HASH_BITS, FlowFunction, Scheme, Setting, Terms, assign};
use sluice_hashing::values::Members;
use sluice_hashing::weighted;

/// Number of ports to the south.
pub(super) const SOUTH_PORTS: u32 = 4;

/// One side of the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Hash of packets that leave to this side.
    pub setting: Setting,
    /// The member table: entry to port of this side, counted from 0.
    pub table: Vec<u32>,
}

/// Hashes, member tables and selector from which the programs and their default entries are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Hash and members of packets on their way up.
    pub north: Side,
    /// Hash and members of packets on their way down.
    pub south: Side,
    /// Mode of the selector.
    pub selection: Selection,
    /// Remarks of the planner for users.
    pub notes: Vec<String>,
}

/// Returns the number of hash bits that the selector divides.
const fn hash_bits(selection: Selection) -> u32 {
    if matches!(selection.mode(), SelectorMode::PlainModulo) { FLOW_HASH_BITS } else { 14 }
}

impl Plan {
    /// Returns the plan of `ecmp`.
    ///
    /// # Errors
    /// If the scheme has no plan with these parameters.
    pub fn ecmp(p: &EcmpParams, program: &str) -> Result<Plan, ProgramError> {
        let HashSeed(seed) = p.seed;
        supported(&p.functions.0, program)?;
        let refuse = |key, found: String, expected: String| -> ProgramError {
            ProgramError::conflict(program, key, found, expected)
        };
        let mut notes = Vec::new();
        let (settings, members) = if p.scheme == Scheme::Coprime {
            let setting = Setting { seed, ..Setting::of(p.functions.0[0]) };
            let size = |ports| {
                ecmp_size(p, ports)
                    .map_err(|e| refuse("upstream", p.upstream.to_string(), format!("but {e}")))
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

    /// Returns the plan of `wcmp`.
    ///
    /// # Errors
    /// If the weights have no plan with these parameters.
    pub fn wcmp(p: &WcmpParams, program: &str) -> Result<Plan, ProgramError> {
        let HashSeed(seed) = p.seed;
        supported(&p.functions.0, program)?;
        let refuse = |found: String, expected: String| -> ProgramError {
            ProgramError::conflict(program, "weights", found, expected)
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

/// Returns an error if the list of functions is empty.
fn supported(functions: &[FlowFunction], program: &str) -> Result<(), ProgramError> {
    if functions.is_empty() {
        let (found, expected) = ("none".to_owned(), "a switch needs at least one hash function".to_owned());
        return Err(ProgramError::conflict(program, "functions", found, expected));
    }
    Ok(())
}

/// Returns the member table of an `ecmp` group over links of these weights: replicated to a coprime size under
/// scheme=coprime if the weights are equal, else one member per unit of weight.
///
/// # Errors
/// If no size satisfies the request; the message says why.
pub(super) fn ecmp_group(p: &EcmpParams, weights: &[u32]) -> Result<Vec<u32>, String> {
    let ports = weights.len() as u32;
    let equal = weights.iter().all(|w| Some(w) == weights.first());
    if !equal {
        return Ok(layout(weights, p.order));
    }
    let members = match (p.scheme, p.members) {
        (Scheme::Coprime, Members::Fixed(n)) if n >= ports && ports > 1 => n,
        (Scheme::Coprime, _) if ports > 1 => ecmp_size(p, ports).map_err(|e| e.to_string())?,
        _ => ports,
    };
    Ok(layout(&replicas(ports, members), p.order))
}

fn ecmp_size(p: &EcmpParams, ports: u32) -> Result<u32, NoSize> {
    let request = Request {
        hash_bits: hash_bits(p.selection),
        target: Some(p.target),
        order: p.order,
        ..Request::tofino(ports, &p.upstream.0)
    };
    choose(&request).map(|choice| choice.members)
}

/// Returns the member table of a `wcmp` group over links of these weights.
///
/// # Errors
/// If no size satisfies the request; the message says why.
pub(super) fn wcmp_group(p: &WcmpParams, weights: &[u32]) -> Result<Vec<u32>, String> {
    if weights.len() == 1 {
        return Ok(vec![0]);
    }
    let fixed = if let Members::Fixed(n) = p.members { Some(n) } else { None };
    let request = Request {
        hash_bits: hash_bits(p.selection),
        target: Some(p.target),
        order: p.order,
        ..Request::tofino(weights.len() as u32, &p.upstream.0)
    };
    let planned = weighted::plan(weights, p.method, fixed, &request).map_err(|e| e.to_string())?;
    Ok(layout(&planned.members, p.order))
}
