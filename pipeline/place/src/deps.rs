//! Dependency graph of both gresses: the required order of nodes, its reasons, and the earliest stage of each node.
//!
//! The graph follows from the variables that nodes read and write and from the containers that variables share. Kinds
//! of dependencies and their distances are those of model: chip §3.8. Nodes of which no packet runs both have no
//! dependency on each other.

use super::bits;
use super::data::{FieldSlice, Owner, PhvAllocation};
use super::steps::Steps;
use petgraph::algo::toposort;
use petgraph::graph::DiGraph;
use sluice_asic::gress::Gress;
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Cfg, Deposits, Effects, Node, NodeKind, Outcome, Var, deposit_apart};
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::{Field, Intrinsic, PrimitiveKind, Program, words};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Kind of a dependency of a later node on an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependency {
    /// Match dependency: the later node matches on a variable that the earlier one writes; needs a later stage.
    Match,
    /// Action dependency: the later node's action reads a variable that the earlier one writes; needs a later stage.
    ActionRead,
    /// Output dependency: both write the same variable; needs a later stage.
    Output,
    /// Both write different variables of one container; needs another stage, in either order.
    ContainerConflict,
    /// Anti-dependency: the later node writes a variable that the earlier one reads; the same stage with a higher
    /// logical id is enough.
    Anti,
    /// Control dependency: the later node runs on the earlier one's outcome; the same stage with a higher logical id is
    /// enough.
    Control,
}

impl Dependency {
    /// Returns the name in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Dependency::Match => "match",
            Dependency::ActionRead => "action",
            Dependency::Output => "output",
            Dependency::ContainerConflict => "container conflict",
            Dependency::Anti => "anti",
            Dependency::Control => "control",
        }
    }

    /// Returns the least number of stages from the earlier node to the later one; `None` if the order is free.
    #[must_use]
    pub const fn distance(self) -> Option<u32> {
        match self {
            Dependency::Match | Dependency::ActionRead | Dependency::Output => Some(1),
            Dependency::Anti | Dependency::Control => Some(0),
            Dependency::ContainerConflict => None,
        }
    }
}

/// One dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Node that is first in program order.
    pub from: Owner,
    /// Node that waits.
    pub to: Owner,
    /// Kind.
    pub kind: Dependency,
    /// Variable that causes it; `None` for control dependencies.
    pub var: Option<Var>,
}

/// Dependencies of both gresses.
#[derive(Clone, Debug, Default)]
pub struct DependencyGraph {
    /// All dependencies, sorted by first node, second node and kind; one per kind and pair.
    pub edges: Vec<Edge>,
    /// Earliest stage that the dependencies alone allow, by gress and node.
    pub min_stage: [EntityMap<Node, u32>; 2],
    /// Number of stages that dependent nodes need after the node's stage, by gress and node.
    pub tail: [EntityMap<Node, u32>; 2],
}

impl DependencyGraph {
    /// Returns the dependencies of a program with this PHV allocation.
    #[must_use]
    pub fn of(program: &Program, cfgs: &[Cfg; 2], phv: &PhvAllocation) -> DependencyGraph {
        DependencyGraph::with(program, cfgs, phv, true, &Steps::default())
    }

    /// Like [`DependencyGraph::of`]; if `exclusion` is false, nodes of which no packet runs both depend on each other
    /// too.
    #[must_use]
    pub(crate) fn with(
        program: &Program,
        cfgs: &[Cfg; 2],
        phv: &PhvAllocation,
        exclusion: bool,
        steps: &Steps,
    ) -> DependencyGraph {
        let mut graph = DependencyGraph::default();
        for gress in Gress::ALL {
            let cfg = &cfgs[gress.index()];
            let edges = gress_edges(program, cfg, gress, phv, exclusion, steps);
            let (min_stage, tail) = longest_paths(cfg, &edges);
            graph.min_stage[gress.index()] = min_stage;
            graph.tail[gress.index()] = tail;
            graph.edges.extend(edges);
        }
        graph
    }

    /// Returns the dependencies of `node` on nodes before it.
    pub fn before(&self, node: Owner) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |e| e.to == node && e.kind.distance().is_some())
    }

    /// Returns the nodes that may not share a stage with `node` although their order is free.
    pub fn conflicts(&self, node: Owner) -> impl Iterator<Item = (Owner, &Edge)> {
        self.edges.iter().filter(|e| e.kind == Dependency::ContainerConflict).filter_map(move |e| {
            if e.from == node {
                Some((e.to, e))
            } else if e.to == node {
                Some((e.from, e))
            } else {
                None
            }
        })
    }

    /// Returns the earliest stage of a node.
    #[must_use]
    pub fn min_stage(&self, node: Owner) -> u32 {
        self.min_stage[node.gress.index()].get(node.node).copied().unwrap_or(0)
    }

    /// Returns the number of stages that dependent nodes need after a node's stage.
    #[must_use]
    pub fn tail(&self, node: Owner) -> u32 {
        self.tail[node.gress.index()].get(node.node).copied().unwrap_or(0)
    }

    /// Returns the stages that the longest chain of dependencies needs; 0 for a program without nodes.
    #[must_use]
    pub fn critical_length(&self, gress: Gress) -> u32 {
        let min = &self.min_stage[gress.index()];
        min.iter().map(|(n, m)| m + self.tail(Owner { gress, node: n }) + 1).max().unwrap_or(0)
    }

    /// Returns the edges of one longest chain of dependencies: the first in program order.
    #[must_use]
    pub fn critical_path(&self, gress: Gress) -> Vec<&Edge> {
        let length = self.critical_length(gress);
        let start = self.min_stage[gress.index()]
            .iter()
            .map(|(node, _)| Owner { gress, node })
            .find(|&o| self.min_stage(o) == 0 && self.tail(o) + 1 == length);
        let mut path = Vec::new();
        let mut at = start;
        while let Some(node) = at {
            let next = self.edges.iter().filter(|e| e.from == node).find(|e| {
                e.kind.distance().is_some_and(|d| {
                    self.tail(node) == self.tail(e.to) + d && self.min_stage(e.to) == self.min_stage(node) + d
                }) && self.tail(node) > 0
            });
            path.extend(next);
            at = next.map(|e| e.to);
        }
        path
    }

    /// Returns the graph in Graphviz's dot language.
    #[must_use]
    pub fn dot(&self, program: &Program, cfgs: &[Cfg; 2]) -> String {
        let mut out = String::from("digraph dependencies {\n  rankdir=LR; node [shape=box];\n");
        for gress in Gress::ALL {
            let cfg = &cfgs[gress.index()];
            let _ = writeln!(out, "  subgraph cluster_{gress} {{\n    label=\"{gress}\";");
            for node in cfg.nodes.keys() {
                let owner = Owner { gress, node };
                let label = node_name(program, cfg, node);
                let stage = self.min_stage(owner);
                let _ = writeln!(out, "    {gress}_{node:?} [label=\"{label}\\nmin stage {stage}\"];");
            }
            out.push_str("  }\n");
        }
        for e in &self.edges {
            let (gress, from, to) = (e.from.gress, e.from.node, e.to.node);
            let cause = e.var.map_or_else(String::new, |v| format!(" {}", v.name(program)));
            let style = match e.kind {
                Dependency::ContainerConflict => ", dir=none, style=dotted",
                Dependency::Anti | Dependency::Control => ", style=dashed",
                _ => "",
            };
            let _ = writeln!(
                out,
                "  {gress}_{from:?} -> {gress}_{to:?} [label=\"{}{cause}\"{style}];",
                e.kind.name()
            );
        }
        out.push_str("}\n");
        out
    }
}

/// Returns the name of a node in reports: the table's or action's. A gateway and an action of inline statements have the
/// author's text, or `cond-N` and `ingress_lN`.
#[must_use]
pub fn node_name(program: &Program, cfg: &Cfg, node: Node) -> String {
    match &cfg.nodes[node].kind {
        NodeKind::Gateway(_) => words::condition(cfg, node),
        NodeKind::Table(table) => program.tables[*table].name.clone(),
        NodeKind::Action(action) => words::action(program, *action),
    }
}

/// Steps of comparing two nodes, and of keeping a dependency.
const PAIR_STEPS: usize = 4;
const EDGE_STEPS: usize = 16;

fn gress_edges(
    program: &Program,
    cfg: &Cfg,
    gress: Gress,
    phv: &PhvAllocation,
    exclusion: bool,
    steps: &Steps,
) -> Vec<Edge> {
    if !steps.take(cfg.nodes.len().saturating_mul(phv.fields.len())) {
        return Vec::new();
    }
    // A queue-depth update is not a packet, so ghost and ingress nodes exclude each other in any case.
    let apart = |a, b| if exclusion { cfg.exclusive(a, b) } else { cfg.is_ghost(a) != cfg.is_ghost(b) };
    let effects: EntityMap<Node, Effects> =
        cfg.nodes.keys().map(|n| overwritten(phv, cfg.effects(program, n))).collect();
    let deposits: EntityMap<Node, Deposits> = cfg.nodes.keys().map(|n| cfg.deposits(program, n)).collect();
    let containers: EntityMap<Node, BTreeSet<Container>> =
        cfg.nodes.keys().map(|n| written_containers(phv, &effects[n].writes, &deposits[n])).collect();
    let mut edges = Vec::new();
    for a in cfg.nodes.keys() {
        if !steps.take((cfg.nodes.len() - a.index()).saturating_mul(PAIR_STEPS)) {
            return Vec::new();
        }
        let known = edges.len();
        for b in cfg.nodes.keys().skip(a.index() + 1).filter(|&b| !apart(a, b)) {
            let (from, to) = (Owner { gress, node: a }, Owner { gress, node: b });
            let mut add = |kind, var| edges.push(Edge { from, to, kind, var });
            // In the arm of an action, only this action has run.
            let in_arm =
                cfg.outcomes(cfg.nodes[b].pred).iter().any(|o| matches!(o, (n, Outcome::Ran(_)) if *n == a));
            let arm = in_arm.then(|| {
                let (effects, deposits) = cfg.effects_before(program, a, b);
                let effects = overwritten(phv, effects);
                let containers = written_containers(phv, &effects.writes, &deposits);
                (effects, deposits, containers)
            });
            let (ea, da, ca) = match &arm {
                Some((effects, deposits, containers)) => (effects, deposits, containers),
                None => (&effects[a], &deposits[a], &containers[a]),
            };
            let eb = &effects[b];
            if let Some(v) = common(&ea.writes, &eb.match_reads) {
                add(Dependency::Match, Some(v));
            }
            let common_rest = |x: &[Var], y: &[Var]| {
                let both = x.iter().filter(|v| y.binary_search(v).is_ok());
                both.copied().find(|v| !deposit_apart(da, &deposits[b], *v))
            };
            if let Some(v) = common_rest(&ea.writes, &eb.action_reads) {
                add(Dependency::ActionRead, Some(v));
            }
            let output = common_rest(&ea.writes, &eb.writes);
            if output.is_some() || both_drop(program, cfg, gress, a, b) {
                add(Dependency::Output, output);
            } else if let Some(v) = in_containers(phv, ca, &eb.writes, &deposits[b]) {
                add(Dependency::ContainerConflict, Some(v));
            }
            if let Some(v) =
                common(&ea.match_reads, &eb.writes).or_else(|| common_rest(&ea.action_reads, &eb.writes))
            {
                add(Dependency::Anti, Some(v));
            }
            if cfg.outcomes(cfg.nodes[b].pred).iter().any(|(n, _)| *n == a) {
                add(Dependency::Control, None);
            }
        }
        // Dependencies take memory too.
        if !steps.take((edges.len() - known).saturating_mul(EDGE_STEPS)) {
            return Vec::new();
        }
    }
    edges
}

/// Adds to the written variables all that share a container bit with one of them: metadata fields with disjoint live
/// ranges.
fn overwritten(phv: &PhvAllocation, mut effects: Effects) -> Effects {
    let bits = |v: Var| bits::slices(phv, v);
    let written: Vec<_> = effects.writes.iter().flat_map(|v| bits(*v)).collect();
    let lost = |f: &Field| bits(Var::Field(*f)).iter().any(|s| written.iter().any(|w| w.meets(s)));
    effects.writes.extend(phv.fields.keys().filter(lost).map(Var::Field));
    effects.writes.sort_unstable();
    effects.writes.dedup();
    effects
}

/// Returns the first common element of two sorted lists.
fn common(a: &[Var], b: &[Var]) -> Option<Var> {
    a.iter().find(|v| b.binary_search(v).is_ok()).copied()
}

/// Returns true for two drops, of which the later one's reason counts: drops keep their order although no field shows
/// it.
fn both_drop(program: &Program, cfg: &Cfg, gress: Gress, a: Node, b: Node) -> bool {
    let drops = |n| {
        cfg.actions(program, n)
            .iter()
            .any(|&x| program.actions[x].body.iter().any(|p| matches!(p.kind, PrimitiveKind::Drop(_))))
    };
    program.intrinsic(gress, Intrinsic::DropCtl).is_none() && drops(a) && drops(b)
}

/// Returns the containers of the bits that a node writes.
fn written_containers(phv: &PhvAllocation, writes: &[Var], deposits: &Deposits) -> BTreeSet<Container> {
    writes.iter().flat_map(|v| containers_of(phv, *v, deposits)).collect()
}

/// Returns the containers of the bits of a variable that a node writes.
fn containers_of(phv: &PhvAllocation, var: Var, deposits: &Deposits) -> Vec<Container> {
    let written = match var {
        Var::Field(field) => deposits.get(&field),
        Var::Valid(_) => None,
    };
    let of = |slice: FieldSlice| {
        let inside = |(hi, lo): &(u16, u16)| slice.within(*lo, hi - lo + 1).is_some();
        written.is_none_or(|slices| slices.iter().any(inside)).then_some(slice.container)
    };
    bits::slices(phv, var).into_iter().filter_map(of).collect()
}

/// Returns a variable that a node writes in one of the containers.
fn in_containers(
    phv: &PhvAllocation,
    containers: &BTreeSet<Container>,
    writes: &[Var],
    deposits: &Deposits,
) -> Option<Var> {
    writes.iter().find(|v| containers_of(phv, **v, deposits).iter().any(|c| containers.contains(c))).copied()
}

/// Returns the stages needed before and after each node by the longest chain through it.
fn longest_paths(cfg: &Cfg, edges: &[Edge]) -> (EntityMap<Node, u32>, EntityMap<Node, u32>) {
    let mut graph: DiGraph<Node, u32> = DiGraph::new();
    let index: EntityMap<Node, _> = cfg.nodes.keys().map(|n| graph.add_node(n)).collect();
    for e in edges {
        if let Some(distance) = e.kind.distance() {
            graph.add_edge(index[e.from.node], index[e.to.node], distance);
        }
    }
    // Edges follow program order, so there is no cycle; without a sorted order, program order would do as well.
    let order = toposort(&graph, None).unwrap_or_else(|_| graph.node_indices().collect());
    let mut min = EntityMap::filled(cfg.nodes.len(), |_: Node| 0);
    let mut tail = EntityMap::filled(cfg.nodes.len(), |_: Node| 0);
    for &at in &order {
        for e in graph.edges(at) {
            use petgraph::visit::EdgeRef;
            let to = graph[e.target()];
            min[to] = min[to].max(min[graph[at]] + e.weight());
        }
    }
    for &at in order.iter().rev() {
        for e in graph.edges(at) {
            use petgraph::visit::EdgeRef;
            let from = graph[at];
            tail[from] = tail[from].max(tail[graph[e.target()]] + e.weight());
        }
    }
    (min, tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_samples::sketch as samples;

    fn graph(program: &Program) -> ([Cfg; 2], DependencyGraph) {
        let cfgs = Gress::ALL.map(|g| Cfg::of(program, g));
        // Without containers there are no conflicts of containers; all else comes from the program.
        let graph = DependencyGraph::of(program, &cfgs, &PhvAllocation::default());
        (cfgs, graph)
    }

    fn kinds(program: &Program, from: &str, to: &str) -> Vec<Dependency> {
        let (cfgs, graph) = graph(program);
        let is = |o: Owner, name: &str| node_name(program, &cfgs[o.gress.index()], o.node) == name;
        graph.edges.iter().filter(|e| is(e.from, from) && is(e.to, to)).map(|e| e.kind).collect()
    }

    #[test]
    fn a_router_has_the_dependencies_of_its_text() {
        let program = samples::l3(1000);
        assert_eq!(kinds(&program, "cond-2", "ipv4_lpm"), [Dependency::Control]);
        assert_eq!(kinds(&program, "ipv4_lpm", "ecmp_group"), [Dependency::Match]);
        assert_eq!(kinds(&program, "ecmp_group", "nexthops"), [Dependency::Match]);
        assert_eq!(kinds(&program, "cond-2", "nexthops"), [Dependency::Anti, Dependency::Control], "ttl");
        assert_eq!(kinds(&program, "port_filter", "expire"), [Dependency::Output], "both drop");
        assert_eq!(kinds(&program, "nexthops", "expire"), [], "no packet runs both");
    }

    #[test]
    fn a_chain_is_as_long_as_its_links() {
        let program = samples::chain(5);
        let (_, graph) = graph(&program);
        assert_eq!(graph.critical_length(Gress::Ingress), 5);
        assert_eq!(graph.critical_length(Gress::Egress), 0);
        let path = graph.critical_path(Gress::Ingress);
        assert_eq!(path.len(), 4);
        assert!(path.windows(2).all(|w| w[0].to == w[1].from));
        for (node, min) in graph.min_stage[0].iter() {
            assert_eq!((*min, graph.tail[0][node]), (node.index() as u32, 4 - node.index() as u32));
        }
    }

    /// Two tables that set the given bits of `h.word`.
    fn two_deposits(first: &str, second: &str) -> Program {
        let text = format!(
            "program two;
            header h : ingress {{ bit<32> word; bit<16> a; bit<16> b; }}
            action one : ingress (bit<8> v) {{ h.word{first} = v; }}
            action two : ingress (bit<8> v) {{ h.word{second} = v; }}
            table ta : ingress {{ key = {{ h.a : exact; }} actions = {{ one; }} default_action = one(0); size = 16; }}
            table tb : ingress {{ key = {{ h.b : exact; }} actions = {{ two; }} default_action = two(0); size = 16; }}
            parser ingress {{ start = first; state first {{ extract(h); transition accept; }} }}
            control ingress {{ apply ta; apply tb; }}
            deparser ingress {{ emit(h); }}"
        );
        sluice_ir::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}"))
    }

    #[test]
    fn slices_without_a_common_bit_need_no_order() {
        use Dependency::{ActionRead, Anti, Output};
        assert_eq!(kinds(&two_deposits("[7:0]", "[15:8]"), "ta", "tb"), []);
        assert_eq!(kinds(&two_deposits("[7:0]", "[14:7]"), "ta", "tb"), [ActionRead, Output, Anti]);
    }

    #[test]
    fn dot_names_every_node_and_edge() {
        let program = samples::l3(1000);
        let (cfgs, graph) = graph(&program);
        let dot = graph.dot(&program, &cfgs);
        assert!(dot.starts_with("digraph") && dot.ends_with("}\n"));
        assert_eq!(dot.matches(" -> ").count(), graph.edges.len());
        assert!(dot.contains("match meta.nexthop"), "{dot}");
    }
}
