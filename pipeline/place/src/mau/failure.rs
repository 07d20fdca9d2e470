//! Findings about nodes without a place and outcomes without a carrier: what was short, who holds it, and what would help.

use super::super::data::Owner;
use super::super::deps::{DependencyGraph, node_name};
use super::super::next_table::{Carrier, LongBranch};
use super::super::nofit::{Exhausted, Resource, ShortIn};
use super::demand::Lookup;
use super::fit::{Shortage, count};
use super::pool::Pool;
use super::schedule::{Missed, Schedule};
use super::{PlacedTables, TablesFailed, sizes};
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, NodeKind};
use sluice_ir::verify::Diag;
use sluice_ir::{Loc, Program, words};

/// Reports all nodes without a place, causes first, and the resource that ran out first.
///
/// If the longest dependency chain has more stages than the chip, the resource is stages. Else it is the first
/// shortage of the first node without a place or, if none of them was short of anything, the first shortage of
/// any node, which then came late and pushed others out of the pipe.
pub(super) fn failure(
    program: &Program,
    schedule: &mut Schedule<'_>,
    graph: &DependencyGraph,
    pending: &[Vec<usize>],
) -> TablesFailed {
    let stages = schedule.pools.len();
    let order = causes_first(schedule, graph, pending);
    let too_large = order.iter().filter(|(rank, _)| *rank == Rank::TooLarge).count();
    let order: Vec<usize> = order.into_iter().map(|(_, i)| i).collect();
    let longest = Gress::ALL.into_iter().find(|&g| graph.critical_length(g) as usize > stages);
    let first = order.iter().find_map(|&i| first_missed(schedule, i)).or_else(|| schedule.missed.first());
    let mut diags: Vec<Diag> =
        longest.map(|gress| chain(program, schedule, graph, gress)).into_iter().collect();
    let first_exhausted = match (longest, first) {
        (Some(gress), _) => {
            let chain = graph.critical_path(gress);
            let name = |o: Owner| schedule.demands.iter().find(|d| d.owner == o).map(|d| d.name.clone());
            let mut contenders: Vec<String> = chain.iter().filter_map(|e| name(e.from)).collect();
            contenders.extend(chain.last().and_then(|e| name(e.to)));
            Some(Exhausted {
                resource: Resource::Stages,
                place: ShortIn::Gress(gress),
                contenders,
                followers: 0,
            })
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
                place: ShortIn::Stage(missed.stage),
                contenders,
                followers: 0,
            })
        }
        (None, None) => {
            let gress = order.first().map_or(Gress::Ingress, |&i| schedule.demands[i].owner.gress);
            let contenders = order.iter().map(|&i| schedule.demands[i].name.clone()).collect();
            Some(Exhausted {
                resource: Resource::Stages,
                place: ShortIn::Gress(gress),
                contenders,
                followers: 0,
            })
        }
    };
    let causes = (diags.len() + too_large).max(1);
    diags.extend(order.iter().map(|&i| no_place(program, schedule, i)));
    let followers = diags.len().saturating_sub(causes);
    let first_exhausted = first_exhausted.map(|first| Exhausted { followers, ..first });
    TablesFailed { diags, first_exhausted, is_final: false }
}

/// Nodes without a place in the order in which they are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// Even an empty stage lacks something.
    TooLarge,
    /// The node itself holds most of the resource that other nodes are short of.
    Crowds,
    /// The node was short of a resource.
    Short,
    /// The node only waits for others.
    Waits,
}

/// Returns the nodes without a place, in the order of their ranks.
fn causes_first(
    schedule: &mut Schedule<'_>,
    graph: &DependencyGraph,
    pending: &[Vec<usize>],
) -> Vec<(Rank, usize)> {
    let mut nodes: Vec<usize> = pending.iter().flatten().copied().collect();
    nodes.sort_by_key(|&i| (graph.min_stage(schedule.demands[i].owner), i));
    let shortage = nodes.iter().find_map(|&i| first_missed(schedule, i));
    let holder =
        shortage.and_then(|missed| crowder(schedule, missed.shortage.column)).map(|(holder, _)| holder);
    let mut rank = |i: usize| {
        if first_missed(schedule, i).is_none() {
            Rank::Waits
        } else if even_alone(schedule, i).is_some() {
            Rank::TooLarge
        } else if holder == Some(i) {
            Rank::Crowds
        } else {
            Rank::Short
        }
    };
    let mut order: Vec<(Rank, usize)> = nodes.into_iter().map(|i| (rank(i), i)).collect();
    // Nodes of equal ranks keep their order.
    order.sort_by_key(|(rank, _)| *rank);
    order
}

/// Returns what a node was short of first.
fn first_missed<'s>(schedule: &'s Schedule<'_>, i: usize) -> Option<&'s Missed> {
    schedule.missed.iter().find(|missed| missed.demand == i)
}

/// Returns the node that holds most units of a resource, and their number, if it holds a quarter or more of those of all stages.
fn crowder(schedule: &Schedule<'_>, column: Column) -> Option<(usize, u32)> {
    let all = u64::from(column.available(&schedule.fit.chip.mau)) * schedule.pools.len() as u64;
    schedule.largest_holder(column).filter(|(_, units)| u64::from(*units) * 4 >= all)
}

/// Reports a chain of dependencies that is longer than the pipe, at the first node for which no stage is left.
fn chain(program: &Program, schedule: &Schedule<'_>, graph: &DependencyGraph, gress: Gress) -> Diag {
    let (stages, chip) = (schedule.pools.len() as u32, &schedule.fit.chip.name);
    let edges = graph.critical_path(gress);
    let of = |o: Owner| schedule.demands.iter().find(|d| d.owner == o);
    let name = |o: Owner| of(o).map_or("", |d| d.name.as_str());
    let mut links: Vec<String> = edges.first().map(|e| format!("`{}`", name(e.from))).into_iter().collect();
    links.extend(edges.iter().map(|e| match e.var {
        Some(var) => format!("`{}` (through `{}`)", name(e.to), words::var(program, var)),
        None => format!("`{}`", name(e.to)),
    }));
    let beyond = edges.iter().map(|e| e.to).find(|&o| graph.min_stage(o) >= stages);
    let at = beyond.and_then(of).map_or(Loc::default(), |d| d.at);
    let text = format!(
        "the longest chain of dependencies in {gress} needs {} stages; {chip} has {stages}",
        graph.critical_length(gress)
    );
    let help = format!(
        "shorten the chain: let two of its parts run in one action, or compute a value from an earlier one; the chain is {}",
        links.join(", ")
    );
    Diag::error(at, text).help(help).limit("mau.stages", stages, graph.critical_length(gress))
}

fn no_place(program: &Program, schedule: &mut Schedule<'_>, i: usize) -> Diag {
    let demand = &schedule.demands[i];
    let missed = schedule.missed.iter().rfind(|m| m.demand == i).cloned();
    let diag = match (missed, even_alone(schedule, i)) {
        (None, _) => late(schedule, i),
        (Some(_), Some(shortage)) => too_large(schedule, i, &shortage),
        (Some(missed), None) => crowded(schedule, i, &missed),
    };
    match schedule.cfgs[demand.owner.gress.index()].nodes[demand.owner.node].kind {
        NodeKind::Table(table) => diag.also(program.tables[table].loc, "the table"),
        _ => diag,
    }
}

/// Returns what an empty stage lacks for the smallest part of a node; `None` if it has room.
fn even_alone(schedule: &mut Schedule<'_>, i: usize) -> Option<Shortage> {
    let demand = &schedule.demands[i];
    if let Some(entries) = demand.classifier {
        return schedule.fit.classifier(&mut Pool::new(0), demand, entries).err();
    }
    let may_split = schedule.options.splitting.is_some() && demand.splittable();
    let step = sizes::step(&schedule.fit.chip.mau, demand).max(1);
    let least = if may_split { demand.size.min(step) } else { demand.size };
    schedule.fit.part(&mut Pool::new(0), demand, least).err()
}

/// Reports a node for which even an empty stage lacks something.
fn too_large(schedule: &Schedule<'_>, i: usize, shortage: &Shortage) -> Diag {
    let (demand, chip, column) = (&schedule.demands[i], schedule.fit.chip, shortage.column);
    let text = format!(
        "`{}` fits no stage: an empty stage of {} has {} units of {}, too few for {}",
        demand.name,
        chip.name,
        column.available(&chip.mau),
        column.vendor_name(),
        shortage.wanted
    );
    let shared = demand.shared_arrays();
    let help = match column {
        Column::MeterAlu => format!(
            "its actions access {}: access one of them in an action that runs before or after",
            count(demand.arrays.len() as u64, "register or meter", "registers and meters")
        ),
        Column::StatsAlu => format!(
            "its actions count {}: count one of them in an action that runs before or after",
            count(demand.counters.len() as u64, "counter", "counters")
        ),
        Column::HashBit | Column::HashDist | Column::ExactXbar => {
            "compute fewer or narrower hashes in its actions, or narrow its key: move one hash to an action that runs before"
                .to_owned()
        }
        Column::ActionBusBytes | Column::Slots8 | Column::Slots16 | Column::Slots32 => {
            "give its actions fewer or narrower parameters: let a second table give the rest".to_owned()
        }
        Column::Vliw | Column::Gateway | Column::LogicalTable => {
            "give it fewer actions: divide it into two tables".to_owned()
        }
        Column::TernaryXbar => "narrow its key, or divide it into two tables".to_owned(),
        _ if demand.classifier.is_some() => "use fewer partitions, or fewer subtrees of a partition".to_owned(),
        _ if demand.lookup == Lookup::None => "lower the sizes of the arrays that it accesses".to_owned(),
        _ if demand.splittable() || demand.profile.is_some() || shared.is_empty() => {
            "lower its size, narrow its key or its action data, or divide it into two tables".to_owned()
        }
        _ => format!(
            "the table is in one stage, because its actions access {}: access it in an action that runs after the table, or \
             lower the size of the table",
            shared.join(" and ")
        ),
    };
    Diag::error(demand.at, text).help(help)
}

/// Reports a node for which other nodes left too little, or a table that needs more than all stages have.
fn crowded(schedule: &Schedule<'_>, i: usize, missed: &Missed) -> Diag {
    let (demand, column, stages) = (&schedule.demands[i], missed.shortage.column, schedule.pools.len());
    let per_stage = column.available(&schedule.fit.chip.mau);
    let taken = schedule.pools[usize::from(missed.stage)].used(column);
    let what = format!(
        "no {} left for {} in stage {}, where {taken} of {per_stage} units are in use",
        column.vendor_name(),
        missed.shortage.wanted,
        missed.stage
    );
    let held: u32 = schedule.parts[i].iter().map(|p| p.entries).sum();
    let name = &demand.name;
    let all = u64::from(per_stage) * stages as u64;
    let most = crowder(schedule, column);
    let text = match demand.pin {
        _ if held > 0 => {
            format!(
                "only {held} of the {} entries of `{name}` have a place in {stages} stages: {what}",
                demand.size
            )
        }
        Some(pin) => format!("`{name}` has no place in stage {pin}, to which it is pinned: {what}"),
        None => {
            let because =
                most.filter(|(holder, _)| *holder != i).map_or_else(String::new, |(holder, units)| {
                    let (holder, what) = (&schedule.demands[holder].name, column.vendor_name());
                    format!(", because `{holder}` holds {units} of the {all} units of {what}")
                });
            format!("`{name}` has no place in {stages} stages{because}: {what}")
        }
    };
    let help = match most {
        _ if demand.pin.is_some() => "remove the pin, or pin another table away".to_owned(),
        Some((holder, units)) => {
            let (holder, what) = (&schedule.demands[holder].name, column.vendor_name());
            format!(
                "`{holder}` holds {units} of the {all} units of {what} in all stages: lower its size, narrow its key or its \
                 action data, or choose a larger chip"
            )
        }
        None if demand.size > 0 => {
            "lower its size, narrow its key or its action data, or choose a larger chip".to_owned()
        }
        None => "use less of that resource before it, or choose a larger chip".to_owned(),
    };
    Diag::error(demand.at, text).help(help)
}

/// Reports a node that was short of nothing: the nodes that it waits for have no place, or end too late.
fn late(schedule: &Schedule<'_>, i: usize) -> Diag {
    let (demand, stages) = (&schedule.demands[i], schedule.pools.len());
    let waits = &schedule.relations.waits[i];
    let name = |n: usize| &schedule.demands[n].name;
    let nowhere = waits.iter().find(|w| !schedule.complete[w.on]);
    let last = |on: usize| schedule.parts[on].last().map(|p| p.stage);
    let latest = waits.iter().filter_map(|w| last(w.on).map(|s| (s, w.on))).max_by_key(|(s, _)| *s);
    let (why, help) = match (nowhere, latest) {
        (Some(wait), _) => {
            let on = name(wait.on);
            (format!("it runs after `{on}`, which has none"), format!("find a place for `{on}` first"))
        }
        (None, Some((stage, on))) => {
            let on = name(on);
            let ends = format!(
                "it runs after `{on}`, which ends in stage {stage} of 0 to {}",
                stages.saturating_sub(1)
            );
            let blocked = schedule.blocked[i].as_ref().filter(|(at, _)| *at >= stage);
            let why =
                blocked.map_or_else(|| ends.clone(), |(at, text)| format!("{ends}; in stage {at}, {text}"));
            (why, format!("let `{on}` end earlier, or shorten the chain of dependencies before it"))
        }
        (None, None) => {
            let blocked =
                schedule.blocked[i].as_ref().map_or("a node that it depends on comes too late", |b| &b.1);
            (blocked.to_owned(), "shorten the chain of dependencies before it".to_owned())
        }
    };
    let text = match demand.pin {
        Some(pin) => format!("`{}` has no place in stage {pin}, to which it is pinned: {why}", demand.name),
        None => format!("`{}` has no place in {stages} stages: {why}", demand.name),
    };
    let help =
        if demand.pin.is_some() { "remove the pin, or pin another table away".to_owned() } else { help };
    Diag::error(demand.at, text).help(help)
}

/// Reports the outcomes without a carrier.
pub(super) fn uncarried(
    program: &Program,
    chip: &ChipSpec,
    cfgs: &[Cfg; 2],
    tables: &PlacedTables,
) -> TablesFailed {
    let left: Vec<&LongBranch> = tables.long_branches.iter().filter(|b| b.by == Carrier::Nothing).collect();
    let name = |b: &LongBranch| node_name(program, &cfgs[b.gress.index()], b.to);
    let diag = |b: &&LongBranch| {
        let (from, to, tags) = (b.from_stage, b.to_stage, chip.mau.long_branch_tags);
        let text = format!(
            "the outcome that decides `{}` in stage {to} is known in stage {from}, and no carrier takes it there: the \
             {tags} long-branch tags and the next-table pointer are taken, no gateway can test it again, and a stage \
             between has no logical table left for a relay",
            name(b)
        );
        let help = "test the condition again right before the tables that it decides, keep its outcome in a metadata \
                    field, or apply these tables closer to the condition";
        Diag::error(cfgs[b.gress.index()].nodes[b.to].loc, text).help(help)
    };
    let first = left.first().map(|b| Exhausted {
        resource: Resource::LongBranches,
        place: ShortIn::Stage(b.from_stage),
        contenders: left.iter().map(|b| name(b)).collect(),
        followers: 0,
    });
    TablesFailed { diags: left.iter().map(diag).collect(), first_exhausted: first, is_final: false }
}
