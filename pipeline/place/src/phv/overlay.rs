//! Assigns metadata fields with disjoint live ranges to the same containers.
//!
//! Live ranges follow program order, and the dependencies from the shared bits keep the table placer to that order. A
//! field in the container of an earlier field cannot rely on the zero with which metadata starts, so it must be
//! written as a whole before every read.

use super::super::steps::Steps;
use super::demand::Demands;
use super::layout::{Layout, Seg, stands_alone};
use sluice_ir::cfg::{Cfg, Effects, Node, Var};
use sluice_ir::entity::{Entity, EntityMap};
use sluice_ir::{Action, Expr, Field, FieldData, Home, ParserOpKind, PrimitiveKind, Program};
use std::collections::BTreeMap;

/// A field that takes the containers of an earlier field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) guest: Field,
    pub(super) host: Field,
}

/// Live range of a field, in program order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    field: Field,
    /// Node that writes the field first; `None` if the field has a value when the packet arrives.
    birth: Option<usize>,
    /// Last node that reads or writes the field; true if that node writes it.
    last: (usize, bool),
}

impl Life {
    /// Returns true if `next` starts after this range ends, and does not rely on the initial zero.
    pub(super) fn over_before(&self, next: &Life) -> bool {
        next.birth.is_some_and(|birth| self.last.0 < birth || self.last == (birth, false))
    }

    /// Returns true if every read follows a write by a node.
    pub(super) fn is_written_first(&self) -> bool {
        self.birth.is_some()
    }

    /// Sort key: first write, then order of declaration.
    pub(super) fn order(&self) -> (Option<usize>, Field) {
        (self.birth, self.field)
    }
}

/// Live ranges of all metadata fields that could share containers this way.
pub(super) type Lives = EntityMap<Field, Option<Life>>;

/// Returns the live range of each metadata field that only control blocks use.
pub(super) fn lives(program: &Program, cfgs: &[Cfg; 2], steps: &Steps) -> Lives {
    let effects = [0, 1].map(|g: usize| -> EntityMap<Node, Effects> {
        cfgs[g].nodes.keys().map(|n| cfgs[g].effects(program, n)).collect()
    });
    let touched = [0, 1].map(|g: usize| touched(&effects[g]));
    let of = |(f, data): (Field, &FieldData)| {
        let g = data.gress.index();
        let nodes = touched[g].get(&f)?;
        let may = data.home == Home::Metadata && !leaves(program, f) && steps.take(nodes.len() * nodes.len());
        if may { life(program, &cfgs[g], &effects[g], (f, nodes)) } else { None }
    };
    program.fields.iter().map(of).collect()
}

/// Returns the nodes that read or write each field, in order.
fn touched(effects: &EntityMap<Node, Effects>) -> BTreeMap<Field, Vec<Node>> {
    let mut touched: BTreeMap<Field, Vec<Node>> = BTreeMap::new();
    for (node, e) in effects.iter() {
        for var in e.match_reads.iter().chain(&e.action_reads).chain(&e.writes) {
            let Var::Field(field) = *var else { continue };
            let nodes = touched.entry(field).or_default();
            if nodes.last() != Some(&node) {
                nodes.push(node);
            }
        }
    }
    touched
}

/// Assigns metadata fields to the containers of earlier fields whose use has ended (linear scan by first write). Only
/// fields that share no container take part. If several hosts are free, the one used last is chosen.
pub(super) fn turns(program: &Program, demands: &Demands, layout: &Layout, lives: &Lives) -> Vec<Turn> {
    // A number with a carry has two neighbouring containers, and the containers of another field need not be
    // neighbours.
    let alone = |l: &&Life| {
        stands_alone(program, demands, l.field)
            && !demands.fields[l.field].copied
            && !demands.carries(program, l.field)
    };
    let mut list: Vec<Life> = lives.values().flatten().filter(alone).copied().collect();
    list.sort_by_key(Life::order);
    // Each chain: the host, and the life that occupies its containers now.
    let mut chains: Vec<(Field, Life)> = Vec::new();
    let mut turns = Vec::new();
    for life in list {
        if !demands.steps.take(chains.len()) {
            break;
        }
        let may = |host: Field| {
            program.fields[host].gress == program.fields[life.field].gress
                && alike(demands, layout, host, life.field)
        };
        let free = chains
            .iter_mut()
            .filter(|(host, now)| now.over_before(&life) && may(*host))
            .max_by_key(|(host, now)| (now.last, std::cmp::Reverse(*host)));
        match free {
            Some((host, now)) => {
                turns.push(Turn { guest: life.field, host: *host });
                *now = life;
            }
            None => chains.push((life.field, life)),
        }
    }
    turns
}

/// Returns true if the deparser or the traffic manager reads a field, or the deparser writes it.
fn leaves(program: &Program, field: Field) -> bool {
    program.pipes.iter().any(|pipe| pipe.deparser.reads(field))
}

/// Returns true if two fields have the same parts in containers of the same size; numbers must fill theirs, otherwise
/// the padding would not be zero.
fn alike(demands: &Demands, layout: &Layout, a: Field, b: Field) -> bool {
    let shape = |f: Field| {
        layout.segs[f].iter().map(|s| (s.lo, s.width, s.at, layout.pieces[s.piece].bits)).collect::<Vec<_>>()
    };
    let number = [a, b].iter().any(|f| demands.fields[*f].number || !demands.fields[*f].parts.is_empty());
    let filled = |s: &Seg| s.width == u16::from(layout.pieces[s.piece].bits);
    shape(a) == shape(b) && (!number || layout.segs[a].iter().all(filled))
}

/// Returns the live range of a field that these nodes read or write.
fn life(
    program: &Program,
    cfg: &Cfg,
    effects: &EntityMap<Node, Effects>,
    (field, touched): (Field, &[Node]),
) -> Option<Life> {
    let var = Var::Field(field);
    let reads = |n: Node| {
        let e = &effects[n];
        e.match_reads.binary_search(&var).is_ok() || e.action_reads.binary_search(&var).is_ok()
    };
    let writes = |n: Node| effects[n].writes.binary_search(&var).is_ok();
    let (first, last) = (*touched.first()?, *touched.last()?);
    let fresh =
        |n: &Node| touched.iter().any(|w| *w < *n && governs(cfg, *w, *n) && fills(program, cfg, *w, field));
    let own = !in_parser(program, field) && touched.iter().filter(|n| reads(**n)).all(fresh);
    Some(Life { field, birth: own.then(|| first.index()), last: (last.index(), writes(last)) })
}

/// Returns true if the parser selects by a field, or sums it.
pub(super) fn in_parser(program: &Program, field: Field) -> bool {
    program.states.values().any(|state| {
        state.select.iter().any(|k| k.field() == Some(field))
            || state.ops.iter().any(|op| match &op.kind {
                ParserOpKind::VerifyChecksum(to, inputs) | ParserOpKind::SubtractChecksum(to, inputs) => {
                    *to == field || inputs.contains(&Expr::Field(field))
                }
                _ => false,
            })
    })
}

/// Returns true if every packet that runs `later` also runs `node`.
fn governs(cfg: &Cfg, node: Node, later: Node) -> bool {
    let theirs = cfg.outcomes(cfg.nodes[later].pred);
    cfg.is_ghost(node) == cfg.is_ghost(later)
        && cfg.outcomes(cfg.nodes[node].pred).iter().all(|o| theirs.contains(o))
}

/// Returns true if every action of the node writes all bits of the field.
fn fills(program: &Program, cfg: &Cfg, node: Node, field: Field) -> bool {
    let filled = |action: &Action| {
        program.actions[*action].body.iter().any(|p| match &p.kind {
            PrimitiveKind::Set(to, _)
            | PrimitiveKind::Hash(to, _)
            | PrimitiveKind::HashSlice(to, ..)
            | PrimitiveKind::Random(to, _) => *to == field,
            PrimitiveKind::Register(access) => access.outputs.iter().any(|(_, to)| *to == field),
            PrimitiveKind::Meter(access) => access.to == field,
            _ => false,
        })
    };
    let actions = cfg.actions(program, node);
    !actions.is_empty() && actions.iter().all(filled)
}
