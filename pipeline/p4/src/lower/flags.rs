//! Flags that a condition sets.
//!
//! `bool b = x != 0 && y != 0;` is a gateway and an action, and what reads `b` waits for both. Where the fields of the
//! condition are unchanged, a gateway tests them itself, as the chip's compiler does. A flag that nothing else reads is left
//! out.

use super::copies::{each_condition, leave_out};
use super::zeros::by_parser;
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Outcome, Var};
use sluice_ir::group::writes;
use sluice_ir::{Action, Cond, Expr, Field, Home, PrimitiveKind, Program};
use std::collections::{BTreeMap, BTreeSet};

/// The most steps by which flags are followed.
const ROUNDS: usize = 4;

/// The nodes that write each variable, in program order.
type Writers = BTreeMap<Var, Vec<Node>>;

/// A field of metadata that one gateway decides.
struct Flag {
    field: Field,
    gateway: Node,
    cond: Cond,
    /// The field's value where the condition holds, and where it does not.
    values: [u128; 2],
    /// The actions that write the field.
    actions: Vec<Action>,
}

/// Reads flags as the conditions that set them, and leaves out flags that nothing reads. `tests` is true for conditions that one
/// gateway can test.
pub(super) fn follow(program: &mut Program, tests: &impl Fn(&Program, &Cond) -> bool) {
    // A condition of a flag may read another flag.
    for _ in 0..ROUNDS {
        let changed = Gress::ALL.map(|gress| once(program, gress, tests));
        if changed == [false; 2] {
            return;
        }
    }
}

/// Follows the flags of a gress by one step; returns true if a condition was replaced.
fn once(program: &mut Program, gress: Gress, tests: &impl Fn(&Program, &Cond) -> bool) -> bool {
    let cfg = Cfg::of(program, gress);
    let mut writers = Writers::new();
    for node in cfg.nodes.keys() {
        cfg.effects(program, node).writes.into_iter().for_each(|v| writers.entry(v).or_default().push(node));
    }
    let flags = flags(program, &cfg, &writers);
    let mut used = BTreeSet::new();
    let mut block = std::mem::take(&mut program.pipes[gress.index()].control);
    let mut gateways = cfg.nodes.iter().filter(|(_, data)| matches!(data.kind, NodeKind::Gateway(_)));
    each_condition(&mut block, &mut |cond| {
        let Some((node, _)) = gateways.next() else { return };
        for flag in &flags {
            let Some(other) = replaced(cond, flag) else { continue };
            if holds(program, &cfg, &writers, flag, node) && tests(program, &other) {
                *cond = other;
                used.insert(flag.field);
            }
        }
    });
    program.pipes[gress.index()].control = block;
    let written: Vec<(Action, Field)> =
        flags.iter().flat_map(|flag| flag.actions.iter().map(|action| (*action, flag.field))).collect();
    leave_out(program, gress, &written, &used);
    !used.is_empty()
}

/// Returns the metadata that the branches of one gateway alone write, each with one constant; metadata is zero before.
fn flags(program: &Program, cfg: &Cfg, writers: &Writers) -> Vec<Flag> {
    let parsed = by_parser(program);
    let mut list = Vec::new();
    for (var, nodes) in writers {
        let Var::Field(field) = *var else { continue };
        if program.fields[field].home != Home::Metadata || parsed.contains(&field) {
            continue;
        }
        let decided = nodes.iter().map(|node| {
            let (_, gateway, outcome) = cfg.preds[cfg.nodes[*node].pred].of?;
            let (action, value) = constant(program, cfg, *node, field)?;
            matches!(outcome, Outcome::Then | Outcome::Else).then_some((gateway, outcome, action, value))
        });
        let Some(decided) = decided.collect::<Option<Vec<_>>>() else { continue };
        let apart = match decided[..] {
            [_] => true,
            [a, b] => a.0 == b.0 && a.1 != b.1,
            _ => false,
        };
        let Some((gateway, ..)) = decided.first().copied().filter(|_| apart) else { continue };
        let NodeKind::Gateway(cond) = &cfg.nodes[gateway].kind else { continue };
        let value = |of: Outcome| decided.iter().find(|one| one.1 == of).map_or(0, |one| one.3);
        let values = [value(Outcome::Then), value(Outcome::Else)];
        let actions = decided.iter().map(|one| one.2).collect();
        list.push(Flag { field, gateway, cond: cond.clone(), values, actions });
    }
    list
}

/// Returns the action that a node runs, whatever the packet is, and the constant that it writes to a field.
fn constant(program: &Program, cfg: &Cfg, node: Node, field: Field) -> Option<(Action, u128)> {
    let [action] = cfg.actions(program, node)[..] else { return None };
    let data = &program.actions[action];
    let mut own =
        data.body.iter().filter(|p| writes(program, data.gress, &p.kind).contains(&Var::Field(field)));
    match (own.next().map(|p| &p.kind), own.next()) {
        (Some(PrimitiveKind::Set(_, Expr::Const(value, _))), None) => Some((action, *value)),
        _ => None,
    }
}

/// Returns true if, wherever a node runs, the flag says what its condition says there.
fn holds(program: &Program, cfg: &Cfg, writers: &Writers, flag: &Flag, reader: Node) -> bool {
    let above = cfg.nodes[flag.gateway].pred;
    // A gateway above the reader, or in its block, has decided before it.
    let mut pred = Some(cfg.nodes[reader].pred);
    while pred.is_some_and(|pred| pred != above) {
        pred = pred.and_then(|pred| cfg.preds[pred].of).map(|(parent, ..)| parent);
    }
    let of = |var: &Var| writers.get(var).into_iter().flatten().copied();
    let decided = of(&Var::Field(flag.field)).all(|node| node < reader || cfg.exclusive(node, reader));
    let changed =
        |var: &Var| of(var).any(|node| node > flag.gateway && node < reader && !cfg.exclusive(node, reader));
    // A header that comes or goes takes its fields along.
    let there = |var: &Var| match *var {
        Var::Field(field) => match program.fields[field].home {
            Home::Header(header) => changed(&Var::Valid(header)),
            _ => false,
        },
        Var::Valid(_) => false,
    };
    let same = !flag.cond.vars().iter().any(|var| changed(var) || there(var));
    flag.gateway < reader && pred.is_some() && decided && same
}

/// Returns a condition that tests the flag's condition in place of the flag; `None` if it does not compare the flag.
fn replaced(cond: &Cond, flag: &Flag) -> Option<Cond> {
    let pair = |a: &Cond, b: &Cond| {
        let (x, y) = (replaced(a, flag), replaced(b, flag));
        let found = x.is_some() || y.is_some();
        found.then(|| (Box::new(x.unwrap_or_else(|| a.clone())), Box::new(y.unwrap_or_else(|| b.clone()))))
    };
    match cond {
        Cond::Valid(_) => None,
        Cond::Not(inner) => match replaced(inner, flag)? {
            Cond::Not(inner) => Some(*inner),
            inner => Some(Cond::Not(Box::new(inner))),
        },
        Cond::And(a, b) => pair(a, b).map(|(a, b)| Cond::And(a, b)),
        Cond::Or(a, b) => pair(a, b).map(|(a, b)| Cond::Or(a, b)),
        Cond::Cmp(op, Expr::Field(field), Expr::Const(with, _)) if *field == flag.field => {
            match flag.values.map(|value| op.holds(value, *with)) {
                [true, false] => Some(flag.cond.clone()),
                [false, true] => Some(Cond::Not(Box::new(flag.cond.clone()))),
                // The same for every packet.
                _ => None,
            }
        }
        Cond::Cmp(..) => None,
    }
}
