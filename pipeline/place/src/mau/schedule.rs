//! List scheduling: assigns the parts of nodes to stages, stage by stage.
//!
//! In each stage the ready clusters are placed by priority: tables with a part in an earlier stage first, then by
//! earliest stage, length of the dependency chain that follows, size and program order. One attempt takes the chain before
//! the earliest stage: where units are scarce, what can wait otherwise delays long chains.

use super::super::data::{Owner, Part};
use super::super::deps::DependencyGraph;
use super::super::next_table::LongBranch;
use super::super::purpose::Purpose;
use super::delay_search::EarliestStages;
use super::demand::Demand;
use super::fit::{Fit, Shortage};
use super::latency_groups::LatencyGroups;
use super::order::StageOrder;
use super::outcome_carriers::OptionalCarriers;
use super::pool::{Content, Pool};
use super::relations::Relations;
use super::{outcome_carriers, sizes};
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Var};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rule by which tables are split over stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Splits only tables that fit no stage alone, into parts of at least half of the entries that an empty stage
    /// takes.
    Sparing,
    /// Splits any table, wherever a memory block is free.
    Greedy,
}

/// Options of one scheduling attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScheduleOptions {
    /// Rule by which tables are split; `None`: they are not.
    pub(crate) splitting: Option<Splitting>,
    /// True if a gateway waits for the stage in which a node that it decides can run.
    pub(crate) late_gateways: bool,
    /// True if gateways wait, and are apart from tables that may be split, where next tables are a chain.
    pub(crate) chain_waits: bool,
    /// True if gateways share the logical ids of tables.
    pub(crate) attached: bool,
    /// True if the length of the chain that follows counts before the earliest stage.
    pub(crate) chains_first: bool,
    /// Stages per gress that are reserved for nodes without a match dependency on the open latency group.
    pub(crate) reserved_stages: u32,
}

/// Resource that a node did not get.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    /// Index of the demand.
    pub(crate) demand: usize,
    /// Stage in which it was tried.
    pub(crate) stage: u8,
    /// Resource that was short.
    pub(crate) shortage: Shortage,
}

/// The state of scheduling.
pub(crate) struct Schedule<'a> {
    /// Needs of all nodes, in order of gress and node. Other lists here have the same indices.
    pub(crate) demands: &'a [Demand],
    pub(crate) cfgs: &'a [Cfg; 2],
    pub(crate) relations: &'a Relations,
    clusters: Vec<Vec<usize>>,
    tails: Vec<u32>,
    mins: Vec<u32>,
    /// Stage of each node to which it, or one with which it shares a memory, is pinned.
    pins: Vec<Option<u8>>,
    /// Last stage of each node that pins allow.
    deadlines: Vec<u32>,
    pub(crate) fit: Fit<'a>,
    pub(crate) options: ScheduleOptions,
    groups: LatencyGroups,
    /// Earliest stage of each node; 0 if it is not delayed.
    earliest: Vec<u8>,
    /// Units of each stage.
    pub(crate) pools: Vec<Pool>,
    /// Placed parts of each node.
    pub(crate) parts: Vec<Vec<Part>>,
    /// Entries of each node that are not placed.
    left: Vec<u32>,
    pub(crate) complete: Vec<bool>,
    /// Entries that an empty stage takes of each node; `None`: not computed.
    alone: Vec<Option<u32>>,
    /// For each node the last stage that dependencies, conflicts or pins ruled out, and the reason.
    pub(crate) blocked: Vec<Option<(u8, String)>>,
    /// Reason why each node is in no earlier stage.
    pub(crate) why: Vec<String>,
    /// Resources that nodes did not get, in order of the attempts.
    pub(crate) missed: Vec<Missed>,
}

impl<'a> Schedule<'a> {
    /// Returns a schedule with empty stages.
    pub(crate) fn new(
        demands: &'a [Demand],
        cfgs: &'a [Cfg; 2],
        graph: &DependencyGraph,
        relations: &'a Relations,
        clusters: Vec<Vec<usize>>,
        fit: Fit<'a>,
        options: ScheduleOptions,
    ) -> Self {
        let count = demands.len();
        Schedule {
            groups: LatencyGroups::new(options.reserved_stages, fit.chip),
            tails: demands.iter().map(|d| graph.tail(d.owner)).collect(),
            mins: demands.iter().map(|d| graph.min_stage(d.owner)).collect(),
            pins: super::cluster::pins(&clusters, demands),
            deadlines: super::cluster::deadlines(&clusters, demands, relations),
            pools: (0..fit.chip.mau.stages.min(256)).map(|s| Pool::new(s as u8)).collect(),
            parts: vec![Vec::new(); count],
            earliest: vec![0; count],
            left: demands.iter().map(|d| d.size).collect(),
            complete: vec![false; count],
            alone: vec![None; count],
            blocked: vec![None; count],
            why: vec![String::new(); count],
            missed: Vec::new(),
            demands,
            cfgs,
            relations,
            clusters,
            fit,
            options,
        }
    }

    /// Delays nodes to their earliest stages; called before anything is placed.
    pub(crate) fn delay(&mut self, delayed: &EarliestStages) {
        for (earliest, demand) in self.earliest.iter_mut().zip(self.demands) {
            *earliest = delayed.get(&demand.owner).copied().unwrap_or(0);
        }
    }

    /// Places all clusters; returns those without a place.
    pub(crate) fn run(&mut self, var_name: &dyn Fn(Var) -> String) -> Vec<Vec<usize>> {
        let mut pending = std::mem::take(&mut self.clusters);
        for stage in 0..self.pools.len() as u8 {
            let mut order = StageOrder::new(self.options.attached, self.options.chain_waits);
            self.begin(&pending, stage, var_name);
            // A cluster is tried once per stage, and placing one does not change the priorities of the others.
            pending.sort_by_cached_key(|cluster| self.priority(cluster, stage));
            let mut asking: Vec<usize> = (0..pending.len()).collect();
            let mut from = 0;
            while let Some(next) = (from..asking.len()).find(|&next| {
                !self.fit.steps.are_over() && self.ready(&pending[asking[next]], stage, var_name)
            }) {
                let i = asking.remove(next);
                // A cluster that finds no place makes no other one ready.
                let placed = self.place(&pending[i], stage, &mut order, var_name);
                from = if placed { 0 } else { next };
            }
            if self.fit.steps.are_over() {
                self.end(&pending);
                return pending;
            }
            pending.retain(|cluster| !self.done(cluster));
            self.groups.end(stage, &self.parts, self.demands, self.relations);
            self.number(stage, &order);
        }
        self.end(&pending);
        pending
    }

    /// Tells the budget how far the schedule came.
    fn end(&self, pending: &[Vec<usize>]) {
        let placed = self.complete.iter().filter(|complete| **complete).count();
        let stages = self.parts.iter().flatten().map(|p| usize::from(p.stage) + 1).max().unwrap_or(0);
        let open = pending.iter().flatten().find(|i| !self.complete[**i]);
        self.fit.steps.schedule(
            placed,
            stages,
            open.map(|&i| (self.demands[i].name.as_str(), self.demands[i].at)),
        );
    }

    /// Reserves this stage in each gress in which some ready clusters have a match dependency on the open latency
    /// group and some have none.
    fn begin(&mut self, pending: &[Vec<usize>], stage: u8, var_name: &dyn Fn(Var) -> String) {
        for gress in Gress::ALL {
            if !self.groups.may_reserve(gress, stage) {
                continue;
            }
            let own = |c: &&Vec<usize>| c.iter().all(|&i| self.demands[i].owner.gress == gress);
            let own: Vec<Vec<usize>> = pending.iter().filter(own).cloned().collect();
            let (mut free, mut waiting) = (false, false);
            for cluster in &own {
                if !self.ready(cluster, stage, var_name) {
                    continue;
                }
                let waits = cluster
                    .iter()
                    .any(|&i| self.groups.matches(gress, i, stage, &self.parts, self.relations));
                free |= !waits;
                waiting |= waits;
            }
            self.groups.reserve(gress, free && waiting);
        }
    }

    /// Assigns carriers to the outcomes that are used in a later stage; called after everything is placed.
    pub(crate) fn carry(&mut self, optional: &OptionalCarriers<'_>, branches: &mut [LongBranch]) {
        outcome_carriers::carry(&mut self.pools, &self.fit, optional, branches);
    }

    /// Returns the node that holds the most units of a column in all stages, and how many; `None` if all are free.
    pub(crate) fn largest_holder(&self, column: Column) -> Option<(usize, u32)> {
        let index: BTreeMap<Owner, usize> = self.demands.iter().zip(0..).map(|(d, i)| (d.owner, i)).collect();
        let mut units = vec![0; self.demands.len()];
        for used in self.pools.iter().flat_map(Pool::uses).filter(|u| u.unit.column == column) {
            if let Some(&i) = index.get(&used.owner) {
                units[i] += 1;
            }
        }
        // Of equals, the first.
        units.into_iter().enumerate().rev().max_by_key(|(_, n)| *n).filter(|(_, n)| *n > 0)
    }

    fn done(&self, cluster: &[usize]) -> bool {
        cluster.iter().all(|&i| self.complete[i])
    }

    fn priority(&self, cluster: &[usize], stage: u8) -> impl Ord + use<> {
        let begun = cluster.iter().any(|&i| !self.parts[i].is_empty());
        let due = cluster.iter().any(|&i| self.deadlines[i] <= u32::from(stage));
        let min = cluster.iter().map(|&i| self.mins[i]).max();
        let tail = cluster.iter().map(|&i| self.tails[i]).max();
        let wanted = cluster.iter().map(|&i| self.demands[i].rules.priority).max();
        let size = cluster.iter().map(|&i| self.demands[i].size).max();
        let longest = tail.filter(|_| self.options.chains_first);
        (
            (Reverse(begun), Reverse(due), Reverse(longest)),
            (min, Reverse(tail), Reverse(wanted), Reverse(size), cluster.first().copied()),
        )
    }

    /// Returns true if dependencies, conflicts and pins allow the cluster in this stage.
    fn ready(&mut self, cluster: &[usize], stage: u8, var_name: &dyn Fn(Var) -> String) -> bool {
        for &i in cluster {
            self.fit.steps.take(1 + self.relations.waits[i].len() + self.relations.conflicts[i].len());
            if self.parts[i].is_empty() && self.earliest[i] > stage {
                let text = "delayed, so that an outcome reaches the nodes that run on it".to_owned();
                self.blocked[i] = Some((stage, text));
                return false;
            }
            if let Some(text) =
                self.groups.refuses(self.demands[i].owner.gress, i, stage, &self.parts, self.relations)
            {
                self.blocked[i] = Some((stage, text.to_owned()));
                return false;
            }
            let late = self.relations.waits[i].iter().any(|w| {
                let last = self.parts[w.on].last().filter(|_| self.complete[w.on]);
                !cluster.contains(&w.on)
                    && last.is_none_or(|p| u32::from(p.stage) + w.distance > u32::from(stage))
            });
            let pinned = self.parts[i].is_empty() && self.demands[i].pin.is_some_and(|pin| pin != stage);
            if late || pinned || self.too_early(i, stage) {
                return false;
            }
            if let Some(open) = self.chained(i, cluster) {
                self.blocked[i] = Some((
                    stage,
                    format!("next tables are a chain, and the branches of `{open}` are not complete"),
                ));
                return false;
            }
            let clash = self.relations.conflicts[i].iter().find(|(other, _)| {
                self.parts[*other].iter().any(|p| p.stage == stage) || cluster.contains(other)
            });
            if let Some((other, var)) = clash {
                let var = var.map(var_name).unwrap_or_default();
                let text = format!(
                    "`{}` is there and writes the same container (`{var}`)",
                    self.demands[*other].name
                );
                self.blocked[i] = Some((stage, text));
                return false;
            }
        }
        true
    }

    /// Returns true if none of the nodes that a gateway decides could run in this stage.
    fn too_early(&self, i: usize, stage: u8) -> bool {
        let children = &self.relations.children[i];
        if self.may_wait(i) {
            return !children.iter().any(|&c| self.soon(c, i, stage));
        }
        // Where next tables are a chain, a gateway whose branches are not complete keeps all other nodes away.
        self.options.late_gateways
            && self.options.chain_waits
            && self.relations.gateways[i]
            && !children
                .iter()
                .chain(&self.relations.waiting[i])
                .any(|&n| self.parts[n].is_empty() && self.soon(n, i, stage))
    }

    fn may_wait(&self, i: usize) -> bool {
        self.options.late_gateways && self.relations.may_wait[i]
    }

    /// Returns true if a node could run in the stage if `gateway` were there.
    fn soon(&self, node: usize, gateway: usize, stage: u8) -> bool {
        if self.pins[node].is_some_and(|pin| pin > stage) {
            return false;
        }
        let free = self.relations.waits[node].iter().all(|w| {
            let last = self.parts[w.on].last().filter(|_| self.complete[w.on]);
            w.on == gateway
                || self.relations.deciders[node].contains(&w.on)
                || last.is_some_and(|p| u32::from(p.stage) + w.distance <= u32::from(stage))
        });
        free && (!self.may_wait(node)
            || self.relations.children[node].iter().any(|&c| self.soon(c, node, stage)))
    }

    /// Returns the name of a node whose branches must be complete before node `i` is placed; `None` if there is none.
    /// Nodes of its cluster come into the stage with it. Only on a chip whose next tables form a chain: a result names one next table, and no other unit remembers an
    /// outcome.
    fn chained(&self, i: usize, cluster: &[usize]) -> Option<&str> {
        let r = self.relations;
        if self.fit.chip.features.parallel_next_tables {
            return None;
        }
        self.fit.steps.take(self.demands.len());
        let begun = |n: usize| !self.parts[n].is_empty();
        let name = |n: usize| self.demands[n].name.as_str();
        let gress = self.demands[i].owner.gress;
        let open = (0..self.demands.len()).filter(|&c| {
            !cluster.contains(&c)
                && !self.complete[c]
                && self.demands[c].owner.gress == gress
                && !r.exclusive[i][c]
        });
        for c in open {
            if begun(c) {
                return Some(name(c));
            }
            let decider = r.deciders[c]
                .iter()
                .find(|&&d| begun(d) && !cluster.contains(&d) && !r.deciders[i].contains(&d));
            if let Some(&d) = decider {
                return Some(name(d));
            }
        }
        let mut outside = r.outside[i].iter().filter(|o| !cluster.contains(o));
        let missing = outside.find(|&&o| !begun(i) && !self.complete[o]);
        missing.map(|&o| name(o))
    }

    /// Puts the cluster, or as much of its table as there is room for, into the stage; returns false if there is none.
    fn place(
        &mut self,
        cluster: &[usize],
        stage: u8,
        order: &mut StageOrder,
        var_name: &dyn Fn(Var) -> String,
    ) -> bool {
        let mark = self.pools[usize::from(stage)].mark();
        let before = order.clone();
        let mut taken = Vec::new();
        for &i in cluster {
            if self.complete[i] {
                continue;
            }
            let got = self.logical_id(i, order).and_then(|()| self.entries(i, stage, cluster.len() == 1));
            match got {
                Ok(entries) => taken.push((i, entries)),
                Err(shortage) => {
                    self.pools[usize::from(stage)].roll_back(mark);
                    *order = before;
                    let text = format!("no {} left for {}", shortage.column.vendor_name(), shortage.wanted);
                    for &j in cluster {
                        self.blocked[j] = Some((stage, text.clone()));
                    }
                    self.missed.push(Missed { demand: i, stage, shortage });
                    return false;
                }
            }
        }
        for (i, entries) in taken {
            if self.parts[i].is_empty() {
                self.why[i] = self.reason(i, stage, var_name);
            }
            self.parts[i].push(Part { stage, logical_id: 0, entries });
            self.left[i] = self.left[i].saturating_sub(entries);
            self.complete[i] = self.left[i] == 0;
        }
        true
    }

    /// Adds the node to the order of the stage's logical tables, and checks that a logical id is left for it.
    fn logical_id(&self, i: usize, order: &mut StageOrder) -> Result<(), Shortage> {
        order.add(i, self.demands, self.cfgs, &self.relations.waits);
        if order.len() as u32 <= self.fit.chip.mau.logical_tables {
            return Ok(());
        }
        Err(Shortage { column: Column::LogicalTable, wanted: "a logical table".to_owned() })
    }

    /// Takes the units of all entries that are not placed or, if the table may be split, of as many as fit. Returns
    /// the number of entries that then have a place.
    fn entries(&mut self, i: usize, stage: u8, alone: bool) -> Result<u32, Shortage> {
        let demand = &self.demands[i];
        if let Some(entries) = demand.classifier.filter(|_| self.parts[i].is_empty()) {
            // The stage holds only the classifier; the partitions follow in later stages.
            return self.fit.classifier(&mut self.pools[usize::from(stage)], demand, entries).map(|()| 0);
        }
        // The author says how many entries the first stage has.
        let first = demand.rules.pin_entries.filter(|_| self.parts[i].is_empty() && demand.splittable());
        let want = self.left[i].min(first.unwrap_or(u32::MAX));
        let pool = &mut self.pools[usize::from(stage)];
        let whole = self.fit.part(pool, demand, want);
        let Err(shortage) = whole else { return whole };
        let may_split = alone && first.is_none() && demand.splittable();
        let Some(splitting) = self.options.splitting.filter(|_| may_split) else {
            return Err(shortage);
        };
        let step = sizes::step(&self.fit.chip.mau, demand).max(1);
        let most = *self.alone[i].get_or_insert_with(|| {
            let mut empty = Pool::new(stage);
            largest(&mut self.fit, &mut empty, demand, step, demand.size).0
        });
        let least = match splitting {
            Splitting::Greedy => step,
            Splitting::Sparing if most >= demand.size => return Err(shortage),
            Splitting::Sparing => (most.min(want) / 2).max(step),
        };
        let mark = pool.mark();
        let (entries, limit) = largest(&mut self.fit, pool, demand, step, want);
        let shortage = limit.unwrap_or(shortage);
        if entries < least {
            pool.roll_back(mark);
            return Err(shortage);
        }
        self.missed.push(Missed { demand: i, stage, shortage });
        Ok(entries)
    }

    /// Returns the reason why a node does not start before `stage`.
    fn reason(&self, i: usize, stage: u8, var_name: &dyn Fn(Var) -> String) -> String {
        if self.demands[i].pin == Some(stage) {
            return format!("pinned to stage {stage}");
        }
        if stage == 0 {
            return "nothing keeps it from the first stage".to_owned();
        }
        if let Some((at, text)) = self.blocked[i].as_ref().filter(|(at, _)| *at == stage || at + 1 == stage) {
            return format!("stage {at}: {text}");
        }
        let binding = self.relations.waits[i].iter().find_map(|w| {
            let last = self.parts[w.on].last().map(|p| p.stage)?;
            (u32::from(last) + w.distance == u32::from(stage)).then_some((w, last))
        });
        match binding {
            None => "waits for the nodes with which it shares a memory".to_owned(),
            Some((w, last)) => {
                let var = w.var.map_or_else(String::new, |v| format!(" through `{}`", var_name(v)));
                format!("{} dependency on `{}` in stage {last}{var}", w.kind.name(), self.demands[w.on].name)
            }
        }
    }

    /// Gives the nodes of a finished stage their logical ids.
    fn number(&mut self, stage: u8, order: &StageOrder) {
        for (id, group) in order.groups(&self.relations.waits).into_iter().flatten().enumerate() {
            for i in group {
                let (owner, content) = (self.demands[i].owner, Content::Shared(u32::MAX - id as u32));
                self.pools[usize::from(stage)].take(
                    (Column::LogicalTable, id as u16, 0),
                    owner,
                    content,
                    Purpose::LogicalTable,
                );
                for part in self.parts[i].iter_mut().filter(|p| p.stage == stage) {
                    part.logical_id = id as u8;
                }
            }
        }
    }
}

/// Takes units for the most entries of the node that fit, in whole steps up to `want`. Returns these entries, and
/// what one step more lacks; `None` if all of `want` fit.
fn largest(
    fit: &mut Fit<'_>,
    pool: &mut Pool,
    demand: &Demand,
    step: u32,
    want: u32,
) -> (u32, Option<Shortage>) {
    let mark = pool.mark();
    let mut limit = None;
    let (mut low, mut high) = (0, want.div_ceil(step));
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        match fit.part(pool, demand, middle.saturating_mul(step)) {
            Ok(_) => low = middle,
            Err(shortage) => {
                limit = Some(shortage);
                high = middle - 1;
            }
        }
        pool.roll_back(mark);
    }
    let entries = if low == 0 { 0 } else { fit.part(pool, demand, low.saturating_mul(step)).unwrap_or(0) };
    (entries, limit)
}
