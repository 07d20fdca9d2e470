//! Rule 1, conditions: every table and action runs if and only if the program says so, whichever gateways decide it.
//!
//! The path to a node is split into conditions that must hold and conditions that must not. The control flow of the
//! program and the placed one must give the same conditions, and no node may write a variable of a condition between
//! the place where the program tests it and the place where the gateway does.

use super::Check;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Outcome, Var};
use sluice_ir::verify::Diag;
use sluice_ir::{Cond, Loc};

/// Requirement for a node to run.
#[derive(Clone, Debug, PartialEq)]
enum Fact {
    /// A condition, and the result that it must have.
    Cond(Cond, bool),
    /// A table, by its index among tables and actions, and the outcome that it must have.
    Table(usize, Outcome),
}

/// Returns the tables and actions of a control-flow graph.
fn leaves(cfg: &Cfg) -> Vec<Node> {
    cfg.nodes.keys().filter(|n| !matches!(cfg.nodes[*n].kind, NodeKind::Gateway(_))).collect()
}

/// Returns the facts for a node, each with the number of tables and actions before the place where it is decided.
fn facts(cfg: &Cfg, leaves: &[Node], node: Node) -> Vec<(Fact, usize)> {
    let mut list = Vec::new();
    for (decider, outcome) in cfg.outcomes(cfg.nodes[node].pred) {
        let before = leaves.partition_point(|l| *l < decider);
        match &cfg.nodes[decider].kind {
            NodeKind::Gateway(cond) => apart(cond, outcome == Outcome::Then, before, &mut list),
            _ => list.push((Fact::Table(before, outcome), before)),
        }
    }
    list
}

fn apart(cond: &Cond, holds: bool, before: usize, list: &mut Vec<(Fact, usize)>) {
    match (cond, holds) {
        (Cond::Not(inner), _) => apart(inner, !holds, before, list),
        (Cond::And(a, b), true) | (Cond::Or(a, b), false) => {
            apart(a, holds, before, list);
            apart(b, holds, before, list);
        }
        _ => list.push((Fact::Cond(cond.clone(), holds), before)),
    }
}

/// Checks that the placed control flow of a gress runs the same nodes under the same conditions as the program's.
pub(super) fn check(check: &mut Check<'_>, gress: Gress) {
    let (program, placed) = (Cfg::of(check.program, gress), &check.placement.gress(gress).cfg);
    if let Some(what) = difference(check, &program, placed) {
        let text = format!("the placed nodes of {gress} are not those of the program: {what}");
        check.diags.push(Diag::error(Loc::default(), text));
    }
}

fn difference(check: &Check<'_>, program: &Cfg, placed: &Cfg) -> Option<String> {
    let (wanted, found) = (leaves(program), leaves(placed));
    let data = |cfg: &Cfg, nodes: &[Node]| -> Vec<(NodeKind, Loc, bool)> {
        nodes.iter().map(|n| (cfg.nodes[*n].kind.clone(), cfg.nodes[*n].loc, cfg.is_ghost(*n))).collect()
    };
    if data(program, &wanted) != data(placed, &found) {
        return Some("other tables and actions".to_owned());
    }
    wanted.iter().zip(&found).find_map(|(&w, &f)| {
        let (asked, given) = (facts(program, &wanted, w), facts(placed, &found, f));
        let name = || super::node_name(check.program, program, w);
        let all =
            |a: &[(Fact, usize)], b: &[(Fact, usize)]| a.iter().all(|(x, _)| b.iter().any(|(y, _)| x == y));
        if !all(&asked, &given) || !all(&given, &asked) {
            return Some(format!("`{}` runs under other conditions", name()));
        }
        let kept = |(fact, at): &(Fact, usize)| {
            asked
                .iter()
                .any(|(x, from)| x == fact && unchanged(check, program, &wanted, w, (*from, *at), fact))
        };
        (!given.iter().all(kept)).then(|| format!("a condition of `{}` is tested too late", name()))
    })
}

/// Returns true if no table or action from `from` on and before `to` that a packet can run together with `node`
/// writes a variable of the fact.
fn unchanged(
    check: &Check<'_>,
    cfg: &Cfg,
    leaves: &[Node],
    node: Node,
    (from, to): (usize, usize),
    fact: &Fact,
) -> bool {
    let Fact::Cond(cond, _) = fact else { return from == to };
    let reads: Vec<Var> = cond.vars();
    let between = leaves.get(from..to).unwrap_or(&[]);
    between
        .iter()
        .filter(|n| !cfg.exclusive(**n, node))
        .all(|n| cfg.effects(check.program, *n).writes.iter().all(|v| !reads.contains(v)))
}
