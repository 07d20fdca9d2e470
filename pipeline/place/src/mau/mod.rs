//! Places tables, conditions and actions in stages and assigns the units of each stage.
//!
//! | modules | purpose |
//! |---|---|
//! | `demand`, `gateway`, `sizes` | what each node needs: match, memory, action data, buses |
//! | `relations`, `cluster`, `order` | dependencies, nodes that must share a stage, order of logical ids |
//! | `schedule`, `latency_groups`, `delay_search` | list scheduling and its variants |
//! | `pool`, `fit`, `hash`, `ram`, `xbar` | units of one stage and their assignment to a node |
//! | `outcome_carriers`, `pointer`, `retest` | outcomes that are used in a later stage |
//! | `failure` | findings about nodes without a place |

mod cluster;
mod delay_search;
mod demand;
mod failure;
mod fit;
pub(super) mod gateway;
mod hash;
mod latency_groups;
mod order;
mod outcome_carriers;
mod pointer;
mod pool;
mod ram;
mod relations;
mod retest;
mod schedule;
mod sizes;
mod xbar;

#[cfg(test)]
mod brute_force;
#[cfg(test)]
mod tests;

use super::bits::PhvView;
use super::data::{PhvAllocation, PlacedNode, UnitUse};
use super::deps::DependencyGraph;
use super::next_table::{self, LongBranch};
use super::nofit::Exhausted;
use super::options::{Objective, Optimisation, Options};
use super::steps::Steps;
use super::timing;
use delay_search::EarliestStages;
use demand::{Demand, Lookup};
use fit::Fit;
use outcome_carriers::OptionalCarriers;
use pointer::Pointer;
use relations::Relations;
use retest::Retester;
use schedule::{Schedule, ScheduleOptions, Splitting};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, Node, Var};
use sluice_ir::entity::EntityMap;
use sluice_ir::verify::Diag;
use std::collections::BTreeSet;

use super::data::Owner;

/// Result of a schedule: places of all nodes, units and carriers of outcomes.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedTables {
    /// Placed nodes, by [`Gress::index`].
    pub(crate) nodes: [EntityMap<Node, PlacedNode>; 2],
    /// All units in use, sorted.
    pub(crate) units: Vec<UnitUse>,
    /// Outcomes that are used in a later stage, with their carriers.
    pub(crate) long_branches: Vec<LongBranch>,
    /// Cost of the schedule.
    pub(crate) cost: Cost,
}

/// Figures by which schedules are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Outcomes without a carrier; a placement is legal only if there are none.
    pub(crate) uncarried: usize,
    /// Stages in use.
    stages: u32,
    /// Latency of both gresses together, in cycles.
    cycles: u64,
    /// Logical table ids in use.
    logical_ids: usize,
}

impl Cost {
    /// Returns true if this cost is less than `other` in stages (or cycles, by the objective): fewer logical ids do not count.
    pub(crate) fn saves(&self, other: &Cost, options: &Options) -> bool {
        let key = |cost: &Cost| Cost { logical_ids: 0, ..*cost }.key(options);
        key(self) < key(other)
    }

    /// Returns true if no schedule has fewer stages, because the longest dependency chain has as many.
    pub(crate) fn is_least(&self, graph: &DependencyGraph, options: &Options) -> bool {
        options.objective == Objective::FewestStages && self.stages <= longest(graph)
    }

    /// Returns the sort key under the objective; less is better. Uncarried outcomes count first.
    pub(crate) fn key(&self, options: &Options) -> (usize, u64, u64, usize) {
        let (stages, cycles) = (u64::from(self.stages), self.cycles);
        match options.objective {
            Objective::FewestStages => (self.uncarried, stages, 0, self.logical_ids),
            Objective::LowestLatency => (self.uncarried, cycles, stages, self.logical_ids),
        }
    }
}

/// Reason why no placement was found.
#[derive(Clone, Debug)]
pub(crate) struct TablesFailed {
    /// Findings for the user.
    pub(crate) diags: Vec<Diag>,
    /// Resource that ran out first; `None` if dependencies or pins alone rule out a placement.
    pub(crate) first_exhausted: Option<Exhausted>,
    /// True if no schedule can succeed, so that there is no point in another one.
    pub(crate) is_final: bool,
}

impl From<Vec<Diag>> for TablesFailed {
    fn from(diags: Vec<Diag>) -> Self {
        TablesFailed { diags, first_exhausted: None, is_final: false }
    }
}

/// What a call of [`place`] tries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search<'a> {
    /// True if nodes with longer chains after them come first, and not those with an earlier earliest stage.
    pub(crate) chains_first: bool,
    /// True if nodes are delayed until every outcome has a carrier.
    pub(crate) last_resort: bool,
    /// The budget of the placement.
    pub(crate) steps: &'a Steps,
}

fn longest(graph: &DependencyGraph) -> u32 {
    Gress::ALL.iter().map(|g| graph.critical_length(*g)).max().unwrap_or(0)
}

/// Places all nodes of both gresses and returns the best of several schedules, by the objective.
///
/// Tables are split sparingly first; if that fails, wherever there is room. With `Search::last_resort`, nodes are delayed
/// until every outcome has a carrier ([`delay_search`]).
///
/// # Errors
/// If a node has no place, or an outcome no carrier.
pub(crate) fn place(
    program: &Program,
    chip: &ChipSpec,
    options: &Options,
    cfgs: &[Cfg; 2],
    phv: &PhvAllocation,
    graph: &DependencyGraph,
    search: Search<'_>,
) -> Result<PlacedTables, TablesFailed> {
    let out_of_steps = || TablesFailed { is_final: true, ..TablesFailed::from(Vec::new()) };
    let view = PhvView::new(chip, phv);
    let demands = demands(program, chip, cfgs, &view)?;
    // Each pair of nodes is compared a few times.
    if !search.steps.take(demands.len().saturating_pow(2).saturating_mul(8) + graph.edges.len()) {
        return Err(out_of_steps());
    }
    let clusters = cluster::clusters(program, cfgs, graph, &demands)?;
    check_pins(chip, graph, &demands)?;
    let relations = Relations::of(program, &view, &demands, cfgs, graph);
    let attempt = |variant: ScheduleOptions, earliest: &EarliestStages| {
        let randoms = demands.iter().map(|d| (d.owner, d.randoms.clone())).collect();
        let fit = Fit {
            chip,
            view: &view,
            instructions: Vec::new(),
            computations: Vec::new(),
            shared_hashes: options.may(Optimisation::SharedHashes),
            randoms,
            steps: search.steps,
        };
        let mut schedule = Schedule::new(&demands, cfgs, graph, &relations, clusters.clone(), fit, variant);
        schedule.delay(earliest);
        let pending = schedule.run(&|v: Var| sluice_ir::words::var(program, v));
        // The carriers of outcomes are found by comparing nodes once more.
        if !search.steps.take(demands.len().saturating_pow(2)) {
            return Err(out_of_steps());
        }
        if !pending.is_empty() {
            return Err(failure::failure(program, &mut schedule, graph, &pending));
        }
        let nodes = nodes(&schedule, cfgs, graph);
        let chain = |gress: Gress| next_table::is_chain(&cfgs[gress.index()], &nodes[gress.index()]);
        // The last attempts may break the chain: the verifier names the nodes.
        if !chip.features.parallel_next_tables && !variant.chain_waits && !Gress::ALL.into_iter().all(chain) {
            return Err(TablesFailed::from(Vec::new()));
        }
        let mut long_branches = Vec::new();
        if chip.features.parallel_next_tables {
            long_branches = next_table::long_branches(cfgs, &nodes);
            let retester = Retester::new(program, &view, cfgs, &nodes, &long_branches);
            let pointer = Pointer { cfgs, nodes: &nodes };
            let optional = OptionalCarriers {
                retest: options.may(Optimisation::RetestedConditions).then_some(&retester),
                pointer: options.may(Optimisation::NextTablePointer).then_some(&pointer),
            };
            schedule.carry(&optional, &mut long_branches);
        }
        let mut tables =
            PlacedTables { nodes, units: units(&schedule), long_branches, cost: Cost::default() };
        tables.cost = cost(program, chip, &view, cfgs, &tables);
        Ok(tables)
    };
    let least = longest(graph);
    let mut first = None;
    let mut unreached: Option<(PlacedTables, ScheduleOptions)> = None;
    for variants in attempts(chip, options, search.chains_first) {
        let mut best: Option<(PlacedTables, ScheduleOptions)> = None;
        let better = |next: &PlacedTables, than: &Option<(PlacedTables, ScheduleOptions)>| {
            than.as_ref().is_none_or(|(b, _)| next.cost.key(options) < b.cost.key(options))
        };
        for variant in variants {
            match attempt(variant, &EarliestStages::new()) {
                Ok(next) if better(&next, &best) => best = Some((next, variant)),
                Ok(_) => {}
                Err(failed) if failed.is_final => return Err(failed),
                Err(failed) if needs_more_tcam(chip, &demands) => {
                    return Err(TablesFailed { is_final: true, ..failed });
                }
                Err(failed) => first = first.or(Some(failed).filter(|failed| !failed.diags.is_empty())),
            }
            // No schedule has fewer stages than the longest dependency chain.
            let done = |t: &PlacedTables| t.cost.stages <= least && t.cost.uncarried == 0;
            if options.objective == Objective::FewestStages && best.as_ref().is_some_and(|(b, _)| done(b)) {
                break;
            }
        }
        match best {
            Some((best, _)) if best.cost.uncarried == 0 => return Ok(best),
            Some((next, variant)) if better(&next, &unreached) => unreached = Some((next, variant)),
            _ => {}
        }
    }
    if let Some((tables, variant)) = unreached.take_if(|_| search.last_resort) {
        let found = delay_search::search(
            tables,
            |cost| cost.key(options),
            |earliest| attempt(variant, earliest).ok(),
        );
        if found.cost.uncarried == 0 {
            return Ok(found);
        }
        unreached = Some((found, variant));
    }
    let failed = unreached.map(|(tables, _)| failure::uncarried(program, chip, cfgs, &tables)).or(first);
    Err(failed.unwrap_or_else(|| TablesFailed::from(Vec::new())))
}

/// Returns true if the ternary tables need more TCAM blocks than the chip has: then every schedule fails.
fn needs_more_tcam(chip: &ChipSpec, demands: &[Demand]) -> bool {
    let mau = &chip.mau;
    let ternary = demands.iter().filter(|d| d.lookup == Lookup::Ternary);
    let rows = |d: &Demand| u64::from(d.size.div_ceil(mau.tcam_depth.max(1)));
    let blocks = |d: &Demand| rows(d) * u64::from(sizes::ternary_width(d));
    ternary.map(blocks).sum::<u64>() > u64::from(mau.tcams()) * u64::from(mau.stages)
}

/// Returns lists of schedule options. A list is tried only if no earlier list led to a placement in which every
/// outcome has a carrier. Within a list, the first of equally good options wins.
fn attempts(chip: &ChipSpec, options: &Options, chains_first: bool) -> Vec<Vec<ScheduleOptions>> {
    let splitting = match options.may(Optimisation::SplitTables) {
        true => vec![Some(Splitting::Sparing), Some(Splitting::Greedy)],
        false => vec![None],
    };
    let late = options.may(Optimisation::LateGateways);
    let most = match options.objective {
        Objective::FewestStages => 0,
        Objective::LowestLatency => chip.mau.stages.saturating_sub(1),
    };
    let attached = options.may(Optimisation::AttachedGateways);
    let of = |(chain_waits, splitting)| {
        let with = move |late_gateways, reserved_stages| ScheduleOptions {
            splitting,
            late_gateways,
            chain_waits,
            attached,
            reserved_stages,
            chains_first,
        };
        let variants = (0..=most).map(move |reserved_stages| with(late, reserved_stages));
        variants.chain(late.then(|| with(false, 0))).collect()
    };
    let chains = if chip.features.parallel_next_tables { vec![false] } else { vec![false, true] };
    chains.into_iter().flat_map(|waits| splitting.iter().map(move |s| (waits, *s))).map(of).collect()
}

fn cost(
    program: &Program,
    chip: &ChipSpec,
    view: &PhvView<'_>,
    cfgs: &[Cfg; 2],
    tables: &PlacedTables,
) -> Cost {
    let parts = tables.nodes.iter().flat_map(EntityMap::values).flat_map(|n| &n.parts);
    let cycles = Gress::ALL.map(|gress| {
        let (cfg, nodes) = (&cfgs[gress.index()], &tables.nodes[gress.index()]);
        let stages = timing::stages(program, chip, view, (gress, cfg), nodes, &tables.units);
        timing::latency(chip, gress, &stages).total.0
    });
    let ids = tables.units.iter().filter(|u| u.unit.column == Column::LogicalTable).map(|u| u.unit);
    let ids: BTreeSet<_> = ids.collect();
    Cost {
        uncarried: next_table::uncarried(&tables.long_branches),
        stages: parts.map(|p| u32::from(p.stage) + 1).max().unwrap_or(0),
        cycles: cycles.iter().sum(),
        logical_ids: ids.len(),
    }
}

fn demands(
    program: &Program,
    chip: &ChipSpec,
    cfgs: &[Cfg; 2],
    view: &PhvView<'_>,
) -> Result<Vec<Demand>, Vec<Diag>> {
    let mut found = Vec::new();
    let mut diags = Vec::new();
    for gress in Gress::ALL {
        let cfg = &cfgs[gress.index()];
        for node in cfg.nodes.keys() {
            match Demand::of(program, chip, view, cfg, Owner { gress, node }) {
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

/// Reports pins to a stage that the chip does not have, or that is earlier than the dependencies allow.
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

fn units(schedule: &Schedule<'_>) -> Vec<UnitUse> {
    let mut units: Vec<UnitUse> = schedule.pools.iter().flat_map(|p| p.uses().iter().cloned()).collect();
    units.sort_by_key(|u| (u.unit, u.owner));
    units
}

fn nodes(
    schedule: &Schedule<'_>,
    cfgs: &[Cfg; 2],
    graph: &DependencyGraph,
) -> [EntityMap<Node, PlacedNode>; 2] {
    let mut placed = schedule.demands.iter().zip(schedule.parts.iter().zip(&schedule.why));
    Gress::ALL.map(|gress| {
        let count = cfgs[gress.index()].nodes.len();
        let of_gress = placed.by_ref().take(count);
        of_gress
            .map(|(d, (parts, why))| PlacedNode {
                parts: parts.clone(),
                min_stage: graph.min_stage(d.owner) as u8,
                why: why.clone(),
            })
            .collect()
    })
}
