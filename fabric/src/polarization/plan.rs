//! Plans a hash setting and a member table for every group.

use crate::topology::Network;
use sluice_hashing::coprime::{NoSize, Request, admits, choose};
use sluice_hashing::graph::{DecisionGraph, Point};
use sluice_hashing::replicas::{Order, layout, replicas};
use sluice_hashing::scheme::{Assignment, NoScheme, Scheme, Setting, Terms, assign};
use sluice_hashing::wcmp::{Method, WcmpError, expand};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Method by which a switch selects a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picker {
    /// All 16 bits of the hash modulo the number of members: RTAG7.
    Modulo16,
    /// Tofino's fair selector: 14 bits modulo the number of members, in words of 120 members.
    Fair,
    /// Tofino's resilient selector.
    Resilient,
    /// Hash-threshold (RFC 2992): equal ranges of the hash. Replication does not decorrelate it.
    Threshold,
    /// An ideal mixer: every switch draws independently. No real switch does; it shows the sampling noise.
    Ideal,
}

impl Picker {
    /// All methods with their names.
    pub const ALL: [(&'static str, Picker); 5] = [
        ("modulo16", Picker::Modulo16),
        ("fair", Picker::Fair),
        ("resilient", Picker::Resilient),
        ("threshold", Picker::Threshold),
        ("ideal", Picker::Ideal),
    ];

    /// Returns the number of hash bits used, and the most members that one modulo operation selects from.
    #[must_use]
    pub const fn limits(self) -> (u32, u32) {
        match self {
            Picker::Fair | Picker::Resilient => (14, 120),
            Picker::Modulo16 | Picker::Threshold | Picker::Ideal => (16, 512),
        }
    }
}

/// Setup of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The scheme.
    pub scheme: Scheme,
    /// Hash functions, seed, limits.
    pub terms: Terms,
    /// The selector.
    pub picker: Picker,
    /// Number of members of every replicated group with at most as many ports; `None`: the planner's choice.
    pub members: Option<u32>,
    /// Method to turn weights into members.
    pub method: Method,
}

/// Hash setting and members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlan {
    /// The hash setting.
    pub setting: Setting,
    /// Member table: maps an entry to the index of one of the group's links.
    pub table: Vec<u32>,
}

/// Settings of all groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One plan for each group.
    pub groups: Vec<GroupPlan>,
    /// Notes for users.
    pub notes: Vec<String>,
}

impl Plan {
    /// Returns the number of entries in the member tables of all switches.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.groups.iter().map(|g| g.table.len() as u64).sum()
    }
}

/// Reason why there is no plan.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoPlan {
    /// The scheme has no assignment.
    #[error(transparent)]
    Scheme(#[from] NoScheme),
    /// There is no coprime size.
    #[error(transparent)]
    Size(#[from] NoSize),
    /// Weights cannot be expanded.
    #[error(transparent)]
    Weights(#[from] WcmpError),
}

/// Plans every group of a network.
///
/// # Errors
/// If the scheme cannot be applied.
pub fn plan(network: &Network, question: &Question) -> Result<Plan, NoPlan> {
    let mut notes = Vec::new();
    let picked = match &network.graph {
        Some(graph) => by_point(network, graph, question, &mut notes)?,
        None => by_block(network, question, &mut notes)?,
    };
    let coprime = question.scheme == Scheme::Coprime;
    if coprime && question.picker == Picker::Threshold {
        notes.push(
            "this selector divides the hash into ranges: replication does not decorrelate it".to_owned(),
        );
    }
    let mut groups = Vec::with_capacity(picked.len());
    for (group, (setting, members)) in network.groups.iter().zip(picked) {
        let ports = group.links.len() as u32;
        let weights: Vec<u32> = group.links.iter().map(|(_, w)| *w).collect();
        let sum: u32 = weights.iter().sum();
        let equal = weights.iter().all(|w| Some(w) == weights.first());
        let shares = if equal {
            replicas(ports, members.max(ports))
        } else {
            expand(question.method, &weights, if coprime { members.max(sum) } else { sum })?
        };
        // With ranges, replicas of a port are adjacent, so that they act as its weight.
        let ranges = question.picker == Picker::Threshold;
        let order = if ranges { Order::Blocked } else { question.terms.order };
        groups.push(GroupPlan { setting, table: layout(&shares, order) });
    }
    Ok(Plan { groups, notes })
}

/// Returns true if all replicated groups may have the same size: under one function, none of them is pinned by another
/// one. False if paths differ in structure.
///
/// # Errors
/// If the scheme cannot be applied.
pub fn one_size_will_do(network: &Network, question: &Question) -> Result<bool, NoPlan> {
    let Some(graph) = &network.graph else { return Ok(false) };
    let made = if network.function_by_stage {
        sizes_by_stage(graph, &question.terms)?
    } else {
        assign(Scheme::Coprime, graph, &question.terms, 0)?
    };
    let replicated = |k: usize| {
        let point = graph.points.get(k).zip(made.members.get(k));
        point.is_some_and(|(p, q)| q.checked_rem(p.fan_out) != Some(0))
    };
    let same =
        |a: usize, b: usize| !network.function_by_stage || graph.points[a].stage == graph.points[b].stage;
    let mut pairs = graph.pinned().into_iter().enumerate();
    Ok(!pairs.any(|(k, list)| replicated(k) && list.iter().any(|p| replicated(*p) && same(k, *p))))
}

/// Returns the number of members of a point or class: the planner's, or the question's if the planner replicates.
fn fixed(question: &Question, ports: u32, planned: u32) -> u32 {
    let replicated = planned.checked_rem(ports).is_some_and(|r| r != 0);
    question.members.filter(|q| replicated && *q >= ports).unwrap_or(planned)
}

/// Plans a network whose paths have equal structure: a setting and a size for each decision point.
fn by_point(
    network: &Network,
    graph: &DecisionGraph,
    question: &Question,
    notes: &mut Vec<String>,
) -> Result<Vec<(Setting, u32)>, NoPlan> {
    let by_stage = network.function_by_stage && question.scheme == Scheme::Coprime;
    let made = if by_stage {
        sizes_by_stage(graph, &question.terms)?
    } else {
        assign(question.scheme, graph, &question.terms, 0)?
    };
    notes.extend(made.notes.iter().cloned());
    if !graph.missing.is_empty() {
        notes.push("planned for the links that are left: lost ones may pin further points".to_owned());
    }
    let mut after_loss: BTreeMap<(usize, u32), u32> = BTreeMap::new();
    let mut picked = Vec::with_capacity(network.groups.len());
    for group in &network.groups {
        let point = group.point as usize;
        let ports = graph.points.get(point).map_or(1, |p| p.fan_out);
        let left = group.links.len() as u32;
        picked.push(match made.settings.get(point).zip(made.members.get(point)) {
            // Points without a choice are not in the graph.
            None => (made.settings[0], 1),
            Some((setting, members)) if question.scheme != Scheme::Coprime || left == ports => {
                (*setting, fixed(question, ports, *members))
            }
            Some((setting, _)) => {
                let members = match after_loss.get(&(point, left)) {
                    Some(members) => *members,
                    None => size_after_loss(graph, &made.members, question, point, left)?,
                };
                after_loss.insert((point, left), members);
                (*setting, fixed(question, left, members))
            }
        });
    }
    Ok(picked)
}

/// Returns the size of a group that has lost links: coprime with the sizes of all points that pin its point, or that it
/// pins.
fn size_after_loss(
    graph: &DecisionGraph,
    members: &[u32],
    question: &Question,
    point: usize,
    ports: u32,
) -> Result<u32, NoSize> {
    let pinned = graph.pinned();
    let pins = |a: usize, b: usize| pinned.get(a).is_some_and(|list| list.contains(&b));
    let near = (0..members.len()).filter(|k| pins(point, *k) || pins(*k, point));
    let paths = near.map(|k| vec![members[k]]).collect();
    choose(&request(&question.terms, ports, paths)).map(|choice| choice.members)
}

/// Plans sizes for schemes with one function per stage: a size must be coprime only with pinned points of the same
/// stage.
fn sizes_by_stage(graph: &DecisionGraph, terms: &Terms) -> Result<Assignment, NoPlan> {
    let mut members: Vec<u32> = Vec::new();
    for (point, pinned) in graph.points.iter().zip(graph.pinned()) {
        let same = pinned.iter().filter(|p| graph.points[**p].stage == point.stage);
        let upstream = same.filter_map(|p| members.get(*p)).map(|q| vec![*q]).collect();
        members.push(choose(&request(terms, point.fan_out, upstream))?.members);
    }
    let nth = |point: &Point| terms.supply[(point.stage as usize).saturating_sub(1) % terms.supply.len()];
    let settings = graph.points.iter().map(|p| Setting { seed: terms.seed, ..Setting::of(nth(p)) }).collect();
    Ok(Assignment { settings, members, notes: Vec::new() })
}

fn request(terms: &Terms, ports: u32, paths: Vec<Vec<u32>>) -> Request {
    Request {
        ports,
        paths,
        hash_bits: terms.hash_bits,
        width: terms.width,
        entries: terms.width,
        target: Some(terms.target),
        order: terms.order,
    }
}

/// Plans a network whose paths differ: settings are drawn per block, and sizes are per class of (block, stage). Sizes
/// of classes that follow each other on a path with the same function are coprime.
fn by_block(
    network: &Network,
    question: &Question,
    notes: &mut Vec<String>,
) -> Result<Vec<(Setting, u32)>, NoPlan> {
    let stages: BTreeSet<u32> = network.points.iter().map(|(_, stage)| *stage).collect();
    let points = network.points.iter().enumerate();
    let points: Vec<Point> = points
        .map(|(k, (_, stage))| Point {
            name: "point",
            stage: *stage,
            fan_out: 2,
            // Without a graph, every earlier point may pin this one.
            located_by: (0..k).collect(),
        })
        .collect();
    let graph = DecisionGraph { points, missing: Vec::new() };
    let coprime = question.scheme == Scheme::Coprime;
    let sizes = if coprime { class_sizes(network, question, notes)? } else { BTreeMap::new() };
    let drawn = if coprime { Scheme::Plain } else { question.scheme };
    let mut by_block: BTreeMap<u32, Vec<Setting>> = BTreeMap::new();
    let blocks: BTreeSet<u32> = network.switches.iter().map(|s| s.block).collect();
    for block in blocks {
        by_block.insert(block, assign(drawn, &graph, &question.terms, block)?.settings);
    }
    let supply = &question.terms.supply;
    let mut out = Vec::with_capacity(network.groups.len());
    for group in &network.groups {
        let switch = &network.switches[group.switch as usize];
        let ports = group.links.len() as u32;
        let mut setting = by_block[&switch.block][group.point as usize];
        if network.function_by_stage && matches!(drawn, Scheme::Plain | Scheme::Ttl) {
            let nth = stages.iter().position(|s| *s == switch.stage).unwrap_or(0);
            setting.function = supply[nth % supply.len()];
        }
        let planned = sizes.get(&(switch.block, switch.stage)).copied().unwrap_or(ports);
        let members = if ports == 1 { 1 } else { fixed(question, ports, planned.max(ports)) };
        out.push((setting, members));
    }
    Ok(out)
}

/// Chooses sizes of classes greedily: the smallest one that is coprime with the sizes of neighbours and even enough for
/// every group of the class.
fn class_sizes(
    network: &Network,
    question: &Question,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<(u32, u32), u32>, NoPlan> {
    let mut ports: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for group in network.groups.iter().filter(|g| g.links.len() > 1) {
        let switch = &network.switches[group.switch as usize];
        ports.entry((switch.block, switch.stage)).or_default().insert(group.links.len() as u32);
    }
    let neighbours = successions(network);
    let mut sizes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for (class, all) in &ports {
        let near = neighbours.iter().filter_map(|(a, b)| match (a == class, b == class) {
            (true, false) => Some(b),
            (false, true) => Some(a),
            _ => None,
        });
        let upstream: BTreeSet<u32> = near.filter_map(|c| sizes.get(c)).copied().collect();
        let paths: Vec<Vec<u32>> = upstream.iter().map(|q| vec![*q]).collect();
        let most = all.last().copied().unwrap_or(1);
        let of = |ports: &u32| request(&question.terms, *ports, paths.clone());
        let even = |q: &u32| all.iter().all(|ports| admits(&of(ports), *q));
        let size = (most..=question.terms.width).find(even);
        let size = size.map_or_else(|| choose(&of(&most)).map(|c| c.members), Ok)?;
        sizes.insert(*class, size);
    }
    let distinct: BTreeSet<u32> = sizes.values().copied().collect();
    notes.push(format!("{} classes of (block, stage) share the sizes {distinct:?}", sizes.len()));
    Ok(sizes)
}

/// Number of later classes with the same function on a path that a switch's choice may still pin.
const REACH: usize = 3;

/// Returns the pairs of classes that follow each other within [`REACH`] on some path with the same function, found by
/// random walks.
fn successions(network: &Network) -> BTreeSet<((u32, u32), (u32, u32))> {
    let mut pairs = BTreeSet::new();
    for (from, &start) in (0u64..).zip(&network.edges) {
        for (to, &target) in (0u32..).zip(&network.edges) {
            for walk in 0..if network.goes(start, target) { 4u64 } else { 0 } {
                let mut draw = from << 40 ^ u64::from(to) << 16 ^ walk;
                let (mut at, mut mode) = (start, 0);
                let mut before: BTreeMap<u32, Vec<(u32, u32)>> = BTreeMap::new();
                while at != target {
                    let Some(group) = network.route(mode, at, to).map(|g| &network.groups[g as usize]) else {
                        break;
                    };
                    let switch = &network.switches[at as usize];
                    if group.links.len() > 1 {
                        let class = (switch.block, switch.stage);
                        let function = if network.function_by_stage { switch.stage } else { 0 };
                        let before = before.entry(function).or_default();
                        let near = before.iter().rev().take(REACH).filter(|c| **c != class);
                        pairs.extend(near.map(|c| (*c, class)));
                        before.push(class);
                    }
                    draw = sluice_asic::hash::splitmix64(draw);
                    let (link, _) = group.links[(draw % group.links.len() as u64) as usize];
                    (at, mode) = (network.links[link as usize].to, group.mode_after);
                }
            }
        }
    }
    pairs
}
