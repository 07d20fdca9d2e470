//! Relations between nodes, computed once for all scheduling attempts: dependencies, mutual exclusion, control, and match
//! dependencies.

use super::super::bits::PhvView;
use super::super::data::Owner;
use super::super::deps::{Dependency, DependencyGraph};
use super::demand::Demand;
use sluice_ir::Program;
use sluice_ir::cfg::{Cfg, NodeKind, Var};
use std::collections::BTreeMap;

/// Dependency of one node on another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wait {
    /// Index of the node that is waited for.
    pub(crate) on: usize,
    /// Least number of stages from that node to this one.
    pub(crate) distance: u32,
    pub(crate) kind: Dependency,
    pub(crate) var: Option<Var>,
}

/// Relations of each node, by its index in the demands.
pub(crate) struct Relations {
    /// Dependencies on earlier nodes.
    pub(crate) waits: Vec<Vec<Wait>>,
    /// Nodes with which it may not share a stage, each with the variable that causes the conflict.
    pub(crate) conflicts: Vec<Vec<(usize, Option<Var>)>>,
    /// True for nodes of its gress that no packet runs with it.
    pub(crate) exclusive: Vec<Vec<bool>>,
    /// Nodes that wait for it.
    pub(crate) waiting: Vec<Vec<usize>>,
    /// Nodes on whose outcomes it runs, outermost first.
    pub(crate) deciders: Vec<Vec<usize>>,
    /// Nodes that run directly on its outcome.
    pub(crate) children: Vec<Vec<usize>>,
    /// Nodes outside its branches for which nodes inside its branches wait.
    pub(crate) outside: Vec<Vec<usize>>,
    /// Nodes that write containers on which it matches, for some packet that runs both.
    pub(crate) matches_on: Vec<Vec<usize>>,
    /// True for gateways.
    pub(crate) gateways: Vec<bool>,
    /// True for gateways for which only the nodes that they decide wait.
    pub(crate) may_wait: Vec<bool>,
}

impl Relations {
    pub(crate) fn of(
        program: &Program,
        view: &PhvView<'_>,
        demands: &[Demand],
        cfgs: &[Cfg; 2],
        graph: &DependencyGraph,
    ) -> Relations {
        let of_owner: BTreeMap<Owner, usize> =
            demands.iter().enumerate().map(|(i, d)| (d.owner, i)).collect();
        let index = |owner: Owner| of_owner.get(&owner).copied();
        let mut waits: Vec<Vec<Wait>> = vec![Vec::new(); demands.len()];
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); demands.len()];
        let mut conflicts: Vec<Vec<(usize, Option<Var>)>> = vec![Vec::new(); demands.len()];
        for e in &graph.edges {
            let (Some(on), Some(of)) = (index(e.from), index(e.to)) else { continue };
            if let Some(distance) = e.kind.distance() {
                waits[of].push(Wait { on, distance, kind: e.kind, var: e.var });
                waiting[on].push(of);
            } else if e.kind == Dependency::ContainerConflict {
                conflicts[of].push((on, e.var));
                conflicts[on].push((of, e.var));
            }
        }
        waiting.iter_mut().for_each(|list| {
            list.sort_unstable();
            list.dedup();
        });
        let deciders: Vec<Vec<usize>> = demands
            .iter()
            .map(|d| {
                let cfg = &cfgs[d.owner.gress.index()];
                let outcomes = cfg.outcomes(cfg.nodes[d.owner.node].pred);
                let owner = |node| Owner { gress: d.owner.gress, node };
                outcomes.into_iter().filter_map(|(n, _)| index(owner(n))).collect()
            })
            .collect();
        let children = (0..demands.len())
            .map(|i| (0..demands.len()).filter(|c| deciders[*c].last() == Some(&i)).collect())
            .collect();
        let below = |i: usize, c: usize| c == i || deciders[c].contains(&i);
        let outside = (0..demands.len())
            .map(|i| {
                let inside = (0..demands.len()).filter(|c| deciders[*c].contains(&i));
                let on = inside.flat_map(|c| &waits[c]).map(|w| w.on);
                let mut list: Vec<usize> = on.filter(|o| !below(i, *o)).collect();
                list.sort_unstable();
                list.dedup();
                list
            })
            .collect();
        let gateways: Vec<bool> = demands
            .iter()
            .map(|d| matches!(cfgs[d.owner.gress.index()].nodes[d.owner.node].kind, NodeKind::Gateway(_)))
            .collect();
        let may_wait =
            (0..demands.len()).map(|i| gateways[i] && waiting[i].iter().all(|&j| below(i, j))).collect();
        Relations {
            exclusive: exclusive(demands, cfgs),
            matches_on: matches_on(program, view, demands, cfgs),
            conflicts,
            waits,
            waiting,
            deciders,
            children,
            outside,
            gateways,
            may_wait,
        }
    }
}

fn exclusive(demands: &[Demand], cfgs: &[Cfg; 2]) -> Vec<Vec<bool>> {
    let pair = |a: &Demand, b: &Demand| {
        a.owner.gress == b.owner.gress && cfgs[a.owner.gress.index()].exclusive(a.owner.node, b.owner.node)
    };
    demands.iter().map(|a| demands.iter().map(|b| pair(a, b)).collect()).collect()
}

fn matches_on(program: &Program, view: &PhvView<'_>, demands: &[Demand], cfgs: &[Cfg; 2]) -> Vec<Vec<usize>> {
    let touched: Vec<_> = demands
        .iter()
        .map(|d| {
            let effects = cfgs[d.owner.gress.index()].effects(program, d.owner.node);
            (view.containers(&effects.match_reads), view.containers(&effects.writes))
        })
        .collect();
    let feeds = |a: usize, b: usize| {
        let (oa, ob) = (demands[a].owner, demands[b].owner);
        a != b
            && oa.gress == ob.gress
            && !touched[a].1.is_disjoint(&touched[b].0)
            && !cfgs[oa.gress.index()].exclusive(oa.node, ob.node)
    };
    (0..demands.len()).map(|b| (0..demands.len()).filter(|&a| feeds(a, b)).collect()).collect()
}
