//! Which part of which node goes to which stage.
//!
//! What lives here: list scheduling, stage by stage, of what is ready: parts of tables already begun first,
//! then by earliest stage, length of the chain behind, size and program order. What may not: which units a
//! part gets.

use super::super::data::Part;
use super::super::deps::{Dependency, DependencyGraph};
use super::demand::Demand;
use super::fit::{Fit, Shortage};
use super::order::StageOrder;
use super::pool::{Content, Pool};
use super::sizes;
use crate::flow::{Flow, Var};
use sluice_asic::chip::Column;
use std::cmp::Reverse;

/// How readily tables are split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// Only tables that fit no stage alone, in parts of at least half of what an empty stage takes.
    Sparing,
    /// Any table, wherever a block is free.
    Greedy,
}

/// A dependency of one demand on another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Index of the demand waited for.
    pub(crate) on: usize,
    /// Stages between.
    pub(crate) distance: u32,
    kind: Dependency,
    var: Option<Var>,
}

/// What could not be had.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    /// Index of the demand.
    pub(crate) demand: usize,
    /// The stage.
    pub(crate) stage: u8,
    /// The resource.
    pub(crate) shortage: Shortage,
}

/// The state of scheduling.
pub(crate) struct Schedule<'a> {
    /// What is placed, in order of gress and node.
    pub(crate) demands: &'a [Demand],
    flows: &'a [Flow; 2],
    waits: Vec<Vec<Wait>>,
    conflicts: Vec<Vec<(usize, Option<Var>)>>,
    clusters: Vec<Vec<usize>>,
    tails: Vec<u32>,
    mins: Vec<u32>,
    fit: Fit<'a>,
    splitting: Splitting,
    /// The stages' units.
    pub(crate) pools: Vec<Pool>,
    /// Parts of each demand.
    pub(crate) parts: Vec<Vec<Part>>,
    left: Vec<u32>,
    complete: Vec<bool>,
    alone: Vec<Option<u32>>,
    blocked: Vec<Option<(u8, String)>>,
    /// Why each demand is not earlier than it is.
    pub(crate) why: Vec<String>,
    /// Everything that could not be had, in order of trying.
    pub(crate) missed: Vec<Missed>,
}

impl<'a> Schedule<'a> {
    /// Nothing placed yet.
    pub(crate) fn new(
        demands: &'a [Demand],
        flows: &'a [Flow; 2],
        graph: &DependencyGraph,
        clusters: Vec<Vec<usize>>,
        fit: Fit<'a>,
        splitting: Splitting,
    ) -> Self {
        let index = |owner| demands.iter().position(|d| d.owner == owner);
        let waits = demands.iter().map(|d| {
            let edges = graph.before(d.owner);
            edges
                .filter_map(|e| {
                    let (on, distance) = (index(e.from)?, e.kind.distance()?);
                    Some(Wait { on, distance, kind: e.kind, var: e.var })
                })
                .collect()
        });
        let conflicts = demands
            .iter()
            .map(|d| graph.conflicts(d.owner).filter_map(|(o, e)| Some((index(o)?, e.var))).collect());
        let count = demands.len();
        Schedule {
            waits: waits.collect(),
            conflicts: conflicts.collect(),
            tails: demands.iter().map(|d| graph.tail(d.owner)).collect(),
            mins: demands.iter().map(|d| graph.min_stage(d.owner)).collect(),
            pools: (0..fit.chip.mau.stages.min(256)).map(|s| Pool::new(s as u8)).collect(),
            parts: vec![Vec::new(); count],
            left: demands.iter().map(|d| d.size).collect(),
            complete: vec![false; count],
            alone: vec![None; count],
            blocked: vec![None; count],
            why: vec![String::new(); count],
            missed: Vec::new(),
            demands,
            flows,
            clusters,
            fit,
            splitting,
        }
    }

    /// Places everything; returns the clusters that found no place.
    pub(crate) fn run(&mut self, var_name: &dyn Fn(Var) -> String) -> Vec<Vec<usize>> {
        let mut pending = std::mem::take(&mut self.clusters);
        for stage in 0..self.pools.len() as u8 {
            let mut order = StageOrder::default();
            let mut refused = vec![false; pending.len()];
            loop {
                let mut candidates: Vec<usize> = (0..pending.len()).filter(|&i| !refused[i]).collect();
                candidates.sort_by_key(|&i| self.priority(&pending[i]));
                let next = candidates.into_iter().find(|&i| self.ready(&pending[i], stage, var_name));
                let Some(i) = next else { break };
                if self.place(&pending[i], stage, &mut order, var_name) && self.done(&pending[i]) {
                    pending.remove(i);
                    refused.remove(i);
                } else {
                    refused[i] = true;
                }
            }
            self.number(stage, &order);
        }
        pending
    }

    fn done(&self, cluster: &[usize]) -> bool {
        cluster.iter().all(|&i| self.complete[i])
    }

    fn priority(&self, cluster: &[usize]) -> impl Ord + use<> {
        let begun = cluster.iter().any(|&i| !self.parts[i].is_empty());
        let min = cluster.iter().map(|&i| self.mins[i]).max();
        let tail = cluster.iter().map(|&i| self.tails[i]).max();
        let size = cluster.iter().map(|&i| self.demands[i].size).max();
        (Reverse(begun), min, Reverse(tail), Reverse(size), cluster.first().copied())
    }

    /// Whether dependencies, conflicts and pins allow the cluster in this stage.
    fn ready(&mut self, cluster: &[usize], stage: u8, var_name: &dyn Fn(Var) -> String) -> bool {
        for &i in cluster {
            let late = self.waits[i].iter().any(|w| {
                let last = self.parts[w.on].last().filter(|_| self.complete[w.on]);
                !cluster.contains(&w.on)
                    && last.is_none_or(|p| u32::from(p.stage) + w.distance > u32::from(stage))
            });
            let pinned = self.parts[i].is_empty() && self.demands[i].pin.is_some_and(|pin| pin != stage);
            if late || pinned {
                return false;
            }
            let clash = self.conflicts[i].iter().find(|(other, _)| {
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

    /// Puts the cluster, or as much of its table as there is room for, into the stage.
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

    /// Room for the node in the order of predication.
    fn logical_id(&self, i: usize, order: &mut StageOrder) -> Result<(), Shortage> {
        order.add(i, self.demands, self.flows, &self.waits);
        if order.len() as u32 <= self.fit.chip.mau.logical_tables {
            return Ok(());
        }
        Err(Shortage { column: Column::LogicalTable, wanted: "a logical table".to_owned() })
    }

    /// Takes what all entries that are left need, or, for a table that may be split, as many as fit.
    fn entries(&mut self, i: usize, stage: u8, alone: bool) -> Result<u32, Shortage> {
        let demand = &self.demands[i];
        if let Some(entries) = demand.classifier.filter(|_| self.parts[i].is_empty()) {
            // The partitions follow in later stages.
            return self.fit.classifier(&mut self.pools[usize::from(stage)], demand, entries).map(|()| 0);
        }
        let want = self.left[i];
        let pool = &mut self.pools[usize::from(stage)];
        let whole = self.fit.part(pool, demand, want);
        let Err(shortage) = whole else { return whole };
        if !(alone && demand.splittable()) {
            return Err(shortage);
        }
        let step = sizes::step(&self.fit.chip.mau, demand).max(1);
        let most = *self.alone[i].get_or_insert_with(|| {
            let mut empty = Pool::new(stage);
            largest(&mut self.fit, &mut empty, demand, step, demand.size).0
        });
        let least = match self.splitting {
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

    /// Why a node is not earlier than the stage where it begins.
    fn reason(&self, i: usize, stage: u8, var_name: &dyn Fn(Var) -> String) -> String {
        if self.demands[i].pin == Some(stage) {
            return format!("pinned to stage {stage}");
        }
        if stage == 0 {
            return "nothing keeps it from the first stage".to_owned();
        }
        if let Some((at, text)) = self.blocked[i].as_ref().filter(|(at, _)| at + 1 == stage) {
            return format!("stage {at}: {text}");
        }
        let binding = self.waits[i].iter().find_map(|w| {
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
        for (id, group) in order.groups(&self.waits).into_iter().flatten().enumerate() {
            for i in group {
                let (owner, content) = (self.demands[i].owner, Content::Shared(u32::MAX - id as u32));
                self.pools[usize::from(stage)].take(
                    (Column::LogicalTable, id as u16, 0),
                    owner,
                    content,
                    "logical table",
                );
                for part in self.parts[i].iter_mut().filter(|p| p.stage == stage) {
                    part.logical_id = id as u8;
                }
            }
        }
    }
}

/// The most entries of the node, in whole steps up to `want`, that fit, and what one step more lacks; takes
/// them.
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
