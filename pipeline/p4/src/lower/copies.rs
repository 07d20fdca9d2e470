//! Metadata that holds bits of another field.
//!
//! `m.index = m.hash[15:0]` costs a stage, and what reads `m.index` waits for it. Where the other field still has the bits,
//! indices of arrays and conditions read them there, as the chip's compiler does; so do operands of a copy of a whole field.
//! A copy that nothing else reads is left out.

use super::simplify::{cast, slice};
use sluice_asic::gress::Gress;
use sluice_ir::cfg::{Cfg, Node, NodeKind, Var};
use sluice_ir::group::writes;
use sluice_ir::{
    Action, ApplyArms, Block, Cond, Expr, Field, Home, Index, PrimitiveKind, Program, Stmt, StmtKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The most steps by which copies are followed.
const ROUNDS: usize = 4;

/// Values that fields hold where a node reads them.
type Held = BTreeMap<Field, Expr>;

/// Reads copied bits where they come from, and leaves out copies that nothing reads. `tests` is true for conditions that one
/// gateway can test.
pub(super) fn follow(program: &mut Program, tests: &impl Fn(&Program, &Cond) -> bool) {
    // A copy of a copy is one of the first field.
    for _ in 0..ROUNDS {
        if !once(program, tests) {
            return;
        }
    }
}

/// Follows copies by one step; returns true if a value was replaced.
fn once(program: &mut Program, tests: &impl Fn(&Program, &Cond) -> bool) -> bool {
    let mut changed = false;
    for gress in Gress::ALL {
        let cfg = Cfg::of(program, gress);
        let copies = copies(program, &cfg, gress);
        if copies.is_empty() {
            continue;
        }
        let mut writers: BTreeMap<Var, Vec<Node>> = BTreeMap::new();
        for node in cfg.nodes.keys() {
            cfg.effects(program, node)
                .writes
                .into_iter()
                .for_each(|v| writers.entry(v).or_default().push(node));
        }
        let held: BTreeMap<Node, Held> =
            cfg.nodes.keys().map(|node| (node, held(&cfg, &writers, &copies, node))).collect();
        let mut used = in_actions(program, &cfg, &held);
        let mut block = std::mem::take(&mut program.pipes[gress.index()].control);
        let mut gateways = cfg.nodes.iter().filter(|(_, data)| matches!(data.kind, NodeKind::Gateway(_)));
        each_condition(&mut block, &mut |cond| {
            let Some((node, _)) = gateways.next() else { return };
            let mut own = BTreeSet::new();
            let other = in_condition(program, &held[&node], cond, &mut own);
            if !own.is_empty() && (tests(program, &other) || !tests(program, cond)) {
                *cond = other;
                used.extend(own);
            }
        });
        program.pipes[gress.index()].control = block;
        let writes: Vec<(Action, Field)> = copies.iter().map(|copy| (copy.action, copy.to)).collect();
        leave_out(program, gress, &writes, &used);
        changed |= !used.is_empty();
    }
    changed
}

/// A primitive of a node that copies bits of a field.
struct Copy {
    node: Node,
    action: Action,
    to: Field,
    from: Expr,
}

/// Returns the copies of bits to metadata by nodes that run one action, whatever the packet is.
fn copies(program: &Program, cfg: &Cfg, gress: Gress) -> Vec<Copy> {
    let low = low_bits(program, gress);
    let mut list = Vec::new();
    for node in cfg.nodes.keys().filter(|node| !cfg.is_ghost(*node)) {
        let [action] = cfg.actions(program, node)[..] else { continue };
        let body = &program.actions[action].body;
        let written: Vec<Var> = body.iter().flat_map(|p| writes(program, gress, &p.kind)).collect();
        for primitive in body {
            let (to, from) = match &primitive.kind {
                PrimitiveKind::Set(to, from) => (*to, from.clone()),
                // The bits above are zero.
                PrimitiveKind::SetSlice(to, hi, 0, from) if low.get(to) == Some(hi) => {
                    (*to, cast(program, from.clone(), program.fields[*to].width))
                }
                _ => continue,
            };
            if program.fields[to].home == Home::Metadata
                && let Some(source) = bits_of(&from)
                && !written.contains(&Var::Field(source))
                && written.iter().filter(|var| **var == Var::Field(to)).count() == 1
            {
                list.push(Copy { node, action, to, from });
            }
        }
    }
    list
}

/// Returns the metadata of which only the same low bits are ever written, each with the highest of these bits.
fn low_bits(program: &Program, gress: Gress) -> BTreeMap<Field, u16> {
    let mut found: BTreeMap<Field, Option<u16>> = BTreeMap::new();
    for op in program.states.values().flat_map(|state| &state.ops) {
        found.extend(op.kind.written().map(|field| (field, None)));
    }
    for primitive in program.actions.values().filter(|a| a.gress == gress).flat_map(|a| &a.body) {
        if let PrimitiveKind::SetSlice(field, hi, 0, _) = primitive.kind {
            let known = found.entry(field).or_insert(Some(hi));
            *known = known.filter(|other| *other == hi);
            continue;
        }
        for var in writes(program, gress, &primitive.kind) {
            if let Var::Field(field) = var {
                found.insert(field, None);
            }
        }
    }
    found.into_iter().filter_map(|(field, hi)| Some((field, hi?))).collect()
}

/// Returns the field of which a value is bits.
pub(super) fn bits_of(value: &Expr) -> Option<Field> {
    match value {
        Expr::Field(field) => Some(*field),
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => bits_of(inner),
        _ => None,
    }
}

/// Returns the copies whose value a node finds in both fields.
fn held(cfg: &Cfg, writers: &BTreeMap<Var, Vec<Node>>, copies: &[Copy], reader: Node) -> Held {
    let mut held = Held::new();
    for copy in copies.iter().filter(|copy| copy.node < reader) {
        let (Some(from), above) = (bits_of(&copy.from), cfg.nodes[copy.node].pred) else { continue };
        // A node above the reader, or in its block, has run before it.
        let mut pred = Some(cfg.nodes[reader].pred);
        while pred.is_some_and(|pred| pred != above) {
            pred = pred.and_then(|pred| cfg.preds[pred].of).map(|(parent, ..)| parent);
        }
        let between = |node: Node| node > copy.node && node < reader && !cfg.exclusive(node, reader);
        let mut changes = [copy.to, from].into_iter().filter_map(|field| writers.get(&Var::Field(field)));
        if pred.is_some() && !changes.any(|nodes| nodes.iter().any(|node| between(*node))) {
            held.insert(copy.to, copy.from.clone());
        }
    }
    held
}

/// Replaces what actions read, and returns the fields that were replaced.
fn in_actions(program: &mut Program, cfg: &Cfg, held: &BTreeMap<Node, Held>) -> BTreeSet<Field> {
    let mut by_action: BTreeMap<Action, Held> = BTreeMap::new();
    for node in cfg.nodes.keys() {
        for action in cfg.actions(program, node) {
            // An action may run at several places.
            match by_action.get_mut(&action) {
                Some(known) => known.retain(|field, value| held[&node].get(field) == Some(value)),
                None => _ = by_action.insert(action, held[&node].clone()),
            }
        }
    }
    let mut used = BTreeSet::new();
    for (action, mut held) in by_action {
        let data = &program.actions[action];
        let written: Vec<Var> = data.body.iter().flat_map(|p| writes(program, data.gress, &p.kind)).collect();
        held.retain(|field, value| {
            let fields = [Some(*field), bits_of(value)];
            fields.into_iter().flatten().all(|field| !written.contains(&Var::Field(field)))
        });
        if held.is_empty() {
            continue;
        }
        let mut body = program.actions[action].body.clone();
        for primitive in &mut body {
            let index = match &mut primitive.kind {
                PrimitiveKind::Register(access) => Some(&mut access.index),
                PrimitiveKind::Meter(access) => Some(&mut access.index),
                PrimitiveKind::Count(_, index) => {
                    *index = replaced(program, &held, index, &mut used);
                    None
                }
                PrimitiveKind::Set(_, value) => {
                    *value = renamed(&held, value, &mut used);
                    None
                }
                _ => None,
            };
            if let Some(Index::At(index)) = index {
                *index = replaced(program, &held, index, &mut used);
            }
        }
        program.actions[action].body = body;
    }
    used
}

/// Returns a value that reads the bits where they come from.
fn replaced(program: &Program, held: &Held, value: &Expr, used: &mut BTreeSet<Field>) -> Expr {
    match value {
        Expr::Field(field) => match held.get(field) {
            Some(from) => {
                used.insert(*field);
                from.clone()
            }
            None => value.clone(),
        },
        Expr::Slice(inner, hi, lo) => slice(program, replaced(program, held, inner, used), *hi, *lo),
        Expr::Cast(inner, width) => cast(program, replaced(program, held, inner, used), *width),
        other => other.clone(),
    }
}

/// Returns a value that reads another field where the whole field is the same.
fn renamed(held: &Held, value: &Expr, used: &mut BTreeSet<Field>) -> Expr {
    match value {
        Expr::Field(field) => match held.get(field) {
            Some(Expr::Field(from)) => {
                used.insert(*field);
                Expr::Field(*from)
            }
            _ => value.clone(),
        },
        Expr::Slice(inner, hi, lo) => Expr::Slice(Box::new(renamed(held, inner, used)), *hi, *lo),
        Expr::Cast(inner, width) => Expr::Cast(Box::new(renamed(held, inner, used)), *width),
        Expr::Alu(op, a, b) => {
            Expr::Alu(*op, Box::new(renamed(held, a, used)), Box::new(renamed(held, b, used)))
        }
        other => other.clone(),
    }
}

/// Calls a function for each condition of a block, in the order of a graph's gateways.
pub(super) fn each_condition(block: &mut Block, change: &mut impl FnMut(&mut Cond)) {
    for Stmt { kind, .. } in block {
        match kind {
            StmtKind::Call(_) => {}
            StmtKind::If(cond, then, otherwise) => {
                change(cond);
                for branch in [then, otherwise] {
                    each_condition(branch, change);
                }
            }
            StmtKind::Apply(_, ApplyArms { run, hit, miss }) => {
                for arm in [hit, miss].into_iter().chain(run.iter_mut().map(|(_, arm)| arm)) {
                    each_condition(arm, change);
                }
            }
        }
    }
}

fn in_condition(program: &Program, held: &Held, cond: &Cond, used: &mut BTreeSet<Field>) -> Cond {
    match cond {
        Cond::Valid(_) => cond.clone(),
        Cond::Not(inner) => Cond::Not(Box::new(in_condition(program, held, inner, used))),
        Cond::And(a, b) => {
            let [a, b] = [a, b].map(|side| Box::new(in_condition(program, held, side, used)));
            Cond::And(a, b)
        }
        Cond::Or(a, b) => {
            let [a, b] = [a, b].map(|side| Box::new(in_condition(program, held, side, used)));
            Cond::Or(a, b)
        }
        Cond::Cmp(op, a, b) => {
            let mut own = BTreeSet::new();
            let [x, y] = [a, b].map(|side| replaced(program, held, side, &mut own));
            // A wider value than its field holds has no bits for a gateway.
            if matches!((&x, &y), (Expr::Cast(..), _) | (_, Expr::Cast(..))) {
                return cond.clone();
            }
            used.extend(own);
            Cond::Cmp(*op, x, y)
        }
    }
}

/// Leaves out the writes of replaced fields that nothing reads.
pub(super) fn leave_out(
    program: &mut Program,
    gress: Gress,
    written: &[(Action, Field)],
    used: &BTreeSet<Field>,
) {
    let cfg = Cfg::of(program, gress);
    let mut read: BTreeSet<Var> = BTreeSet::new();
    for node in cfg.nodes.keys() {
        let effects = cfg.effects(program, node);
        read.extend(effects.match_reads.into_iter().chain(effects.action_reads));
    }
    let idle = |field: Field| {
        used.contains(&field)
            && !read.contains(&Var::Field(field))
            && !program.pipes.iter().any(|pipe| pipe.deparser.reads(field))
    };
    let idle: Vec<(Action, Field)> = written.iter().filter(|(_, to)| idle(*to)).copied().collect();
    for (action, field) in idle {
        let body = &mut program.actions[action].body;
        body.retain(
            |p| !matches!(p.kind, PrimitiveKind::Set(to, _) | PrimitiveKind::SetSlice(to, ..) if to == field),
        );
    }
}
