//! Tables, conditions and actions into stages and units.
//!
//! What lives here: demands, the units of a stage, the scheduler. What may not: PHV allocation, timing, and
//! the check of the result, which shares nothing with this but the chip's sizing rules.

mod cluster;
mod demand;
mod fit;
pub(super) mod gateway;
mod hash;
mod order;
mod pool;
mod ram;
mod schedule;
mod sizes;
mod xbar;

#[cfg(test)]
mod tests;

use super::bits::PhvView;
use super::data::{PhvAllocation, PlacedNode, UnitUse};
use super::deps::DependencyGraph;
use super::nofit::{Exhausted, Place, Resource};
use crate::entity::EntityMap;
use crate::flow::{Flow, Node, Var};
use crate::ir::Program;
use crate::verify::Diag;
use demand::Demand;
use fit::Fit;
use schedule::{Schedule, Splitting};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;

use super::data::Owner;

/// What this pass makes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    /// Per gress.
    pub(crate) nodes: [EntityMap<Node, PlacedNode>; 2],
    /// Every unit used, sorted.
    pub(crate) units: Vec<UnitUse>,
}

/// Why this pass failed.
#[derive(Clone, Debug)]
pub(crate) struct TablesFailed {
    /// What was found.
    pub(crate) diags: Vec<Diag>,
    /// What ran out first.
    pub(crate) first_exhausted: Option<Exhausted>,
}

impl From<Vec<Diag>> for TablesFailed {
    fn from(diags: Vec<Diag>) -> Self {
        TablesFailed { diags, first_exhausted: None }
    }
}

/// Places all nodes of both gresses. Tables are split sparingly at first; if that fails, wherever there is
/// room.
///
/// # Errors
/// When a node has no place.
pub(crate) fn place(
    program: &Program,
    chip: &ChipSpec,
    flows: &[Flow; 2],
    phv: &PhvAllocation,
    graph: &DependencyGraph,
) -> Result<Tables, TablesFailed> {
    let view = PhvView::new(chip, phv);
    let demands = demands(program, chip, flows, &view)?;
    let clusters = cluster::clusters(program, flows, graph, &demands)?;
    check_pins(chip, graph, &demands)?;
    let attempt = |splitting| {
        let randoms = demands.iter().map(|d| (d.owner, d.randoms.clone())).collect();
        let fit = Fit { chip, view: &view, instructions: Vec::new(), computations: Vec::new(), randoms };
        let mut schedule = Schedule::new(&demands, flows, graph, clusters.clone(), fit, splitting);
        let pending = schedule.run(&|v: Var| v.name(program));
        if pending.is_empty() {
            Ok(tables(schedule, flows, graph))
        } else {
            Err(failure(&schedule, graph, &pending))
        }
    };
    attempt(Splitting::Sparing).or_else(|first| attempt(Splitting::Greedy).map_err(|_| first))
}

fn demands(
    program: &Program,
    chip: &ChipSpec,
    flows: &[Flow; 2],
    view: &PhvView<'_>,
) -> Result<Vec<Demand>, Vec<Diag>> {
    let mut found = Vec::new();
    let mut diags = Vec::new();
    for gress in Gress::ALL {
        let flow = &flows[gress.index()];
        for node in flow.nodes.keys() {
            match Demand::of(program, chip, view, flow, Owner { gress, node }) {
                Ok(demand) => {
                    if let Some(error) = sizes::impossible(&chip.mau, &demand) {
                        diags.push(
                            Diag::error(demand.at, format!("table `{}` fits no stage: {error}", demand.name))
                                .help("narrow its key or its action data, or divide it into two tables"),
                        );
                    }
                    found.push(demand);
                }
                Err(diag) => diags.push(diag),
            }
        }
    }
    if diags.is_empty() { Ok(found) } else { Err(diags) }
}

/// Pins that the dependencies or the chip's length forbid.
fn check_pins(chip: &ChipSpec, graph: &DependencyGraph, demands: &[Demand]) -> Result<(), Vec<Diag>> {
    let mut diags = Vec::new();
    for d in demands {
        let Some(pin) = d.pin.map(u32::from) else { continue };
        let min = graph.min_stage(d.owner);
        if pin >= chip.mau.stages {
            let text =
                format!("table `{}` is pinned to stage {pin}; {} has {}", d.name, chip.name, chip.mau.stages);
            diags.push(Diag::error(d.at, text).help(format!("pin it to a stage below {}", chip.mau.stages)));
        } else if pin < min {
            let text = format!(
                "table `{}` is pinned to stage {pin}; its dependencies allow stage {min} at the earliest",
                d.name
            );
            diags.push(
                Diag::error(d.at, text).help("remove the pin, or break the chain of dependencies before it"),
            );
        }
    }
    if diags.is_empty() { Ok(()) } else { Err(diags) }
}

fn tables(schedule: Schedule<'_>, flows: &[Flow; 2], graph: &DependencyGraph) -> Tables {
    let mut units: Vec<UnitUse> = schedule.pools.iter().flat_map(|p| p.uses().iter().cloned()).collect();
    units.sort_by_key(|u| (u.unit, u.owner));
    let mut placed = schedule.demands.iter().zip(schedule.parts.iter().zip(&schedule.why));
    let nodes = Gress::ALL.map(|gress| {
        let count = flows[gress.index()].nodes.len();
        let of_gress = placed.by_ref().take(count);
        of_gress
            .map(|(d, (parts, why))| PlacedNode {
                parts: parts.clone(),
                min_stage: graph.min_stage(d.owner) as u8,
                why: why.clone(),
            })
            .collect()
    });
    Tables { nodes, units }
}

/// Names the shortage behind the failure: the first one of the most urgent node without a place, else the
/// first one of any node (which then came late and pushed others out of the pipe).
fn failure(schedule: &Schedule<'_>, graph: &DependencyGraph, pending: &[Vec<usize>]) -> TablesFailed {
    let stages = schedule.pools.len();
    let of = |i: usize| schedule.missed.iter().find(|m| m.demand == i);
    let mut order: Vec<usize> = pending.iter().flatten().copied().collect();
    order.sort_by_key(|&i| (graph.min_stage(schedule.demands[i].owner), i));
    let longest = Gress::ALL.into_iter().find(|&g| graph.critical_length(g) as usize > stages);
    let first = order.iter().find_map(|&i| of(i)).or_else(|| schedule.missed.first());
    let mut diags: Vec<Diag> = order.iter().map(|&i| no_place(schedule, i, stages)).collect();
    let first_exhausted = match (longest, first) {
        (Some(gress), _) => {
            let chain = graph.critical_path(gress);
            let name = |o: Owner| schedule.demands.iter().find(|d| d.owner == o).map(|d| d.name.clone());
            let mut contenders: Vec<String> = chain.iter().filter_map(|e| name(e.from)).collect();
            contenders.extend(chain.last().and_then(|e| name(e.to)));
            let text = format!(
                "the longest chain of dependencies in {gress} needs {} stages; the chip has {stages}",
                graph.critical_length(gress)
            );
            diags.insert(
                0,
                Diag::error(crate::ir::Loc::default(), text)
                    .help("shorten the chain: compute independent values in parallel"),
            );
            Some(Exhausted { resource: Resource::Stages, place: Place::Gress(gress), contenders })
        }
        (None, Some(missed)) => {
            let column = missed.shortage.column;
            let mut contenders = vec![schedule.demands[missed.demand].name.clone()];
            for owner in schedule.pools[usize::from(missed.stage)].owners_of(column) {
                let name = schedule.demands.iter().find(|d| d.owner == owner).map(|d| d.name.clone());
                contenders.extend(name.filter(|n| !contenders.contains(n)));
            }
            Some(Exhausted {
                resource: Resource::Column(column),
                place: Place::Stage(missed.stage),
                contenders,
            })
        }
        (None, None) => {
            let gress = order.first().map_or(Gress::Ingress, |&i| schedule.demands[i].owner.gress);
            let contenders = order.iter().map(|&i| schedule.demands[i].name.clone()).collect();
            Some(Exhausted { resource: Resource::Stages, place: Place::Gress(gress), contenders })
        }
    };
    TablesFailed { diags, first_exhausted }
}

fn no_place(schedule: &Schedule<'_>, i: usize, stages: usize) -> Diag {
    let demand = &schedule.demands[i];
    let held: u32 = schedule.parts[i].iter().map(|p| p.entries).sum();
    let missed: Vec<_> = schedule.missed.iter().filter(|m| m.demand == i).collect();
    let what = match missed.last() {
        Some(m) => format!(
            "no {} left for {} in stage {}",
            m.shortage.column.vendor_name(),
            m.shortage.wanted,
            m.stage
        ),
        None => "what it waits for comes too late".to_owned(),
    };
    let text = if held > 0 {
        format!(
            "only {held} of the {} entries of `{}` have a place in {stages} stages: {what}",
            demand.size, demand.name
        )
    } else if let Some(pin) = demand.pin {
        format!("`{}` has no place in stage {pin}, to which it is pinned: {what}", demand.name)
    } else {
        format!("`{}` has no place in {stages} stages: {what}", demand.name)
    };
    let help = match missed.last() {
        None => "shorten the chain of dependencies before it",
        Some(_) if demand.pin.is_some() => "remove the pin, or pin another table away",
        Some(_) if demand.size > 0 => {
            "lower its size, narrow its key or its action data, or choose a larger chip"
        }
        Some(_) => "use less of that resource before it, or choose a larger chip",
    };
    Diag::error(demand.at, text).help(help)
}
