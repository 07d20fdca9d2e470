//! Fields that take turns at the same bits: every read sees the last value of the same field.
//!
//! Each read is checked, in program order. That stages keep program order where bits are shared is a rule of the
//! table placement.

use super::headers::headers;
use super::{Held, View};
use sluice_asic::gress::Gress;
use sluice_asic::phv::ContainerKind;
use sluice_ir::cfg::{Cfg, Effects, Node, Var};
use sluice_ir::verify::Diag;
use sluice_ir::{Field, PrimitiveKind, Program};

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    let effects = view.cfgs.each_ref().map(|cfg| -> Vec<(Node, Effects)> {
        cfg.nodes.keys().map(|n| (n, cfg.effects(view.program, n))).collect()
    });
    for (container, held) in &view.held {
        if view.info(*container).is_some_and(|i| i.kind == ContainerKind::Dark) {
            found.extend(held.iter().filter_map(|h| undefined(view, &effects, h)));
        }
        for (i, a) in held.iter().enumerate() {
            for b in held[i + 1..].iter().filter(|b| b.meets(a) && headers(view, a, b).is_none()) {
                found.extend(spoiled(view, &effects, a, b).or_else(|| spoiled(view, &effects, b, a)));
            }
        }
    }
    found
}

/// Reports a read of a dark container that may come before any write.
fn undefined(view: &View, effects: &[Vec<(Node, Effects)>; 2], own: &Held) -> Option<Diag> {
    let Var::Field(field) = own.var else { return None };
    let gress = view.gress(own.var).index();
    let cfg = &view.cfgs[gress];
    let mut readers = effects[gress].iter().filter(|(_, e)| reads(e, own.var)).map(|(n, _)| *n);
    let read = readers.find(|n| !cfg.nodes.keys().any(|w| w < *n && decides(view, cfg, w, *n, field)))?;
    let text = format!("{} is in a dark container, but is read before it is written", view.var(own.var));
    Some(view.error(own.var, text).also(cfg.nodes[read].loc, "the read"))
}

/// Reports a read of `own` that may see a value that `other` wrote.
fn spoiled(view: &View, effects: &[Vec<(Node, Effects)>; 2], own: &Held, other: &Held) -> Option<Diag> {
    let (Var::Field(field), Var::Field(stranger)) = (own.var, other.var) else { return None };
    let gress = view.gress(own.var);
    let cfg = &view.cfgs[gress.index()];
    let nodes = &effects[gress.index()];
    let text = |where_: &str| {
        let text = format!("{} shares bits with {}, but {where_}", view.var(own.var), view.var(other.var));
        view.error(own.var, text).also(view.loc(other.var), "the other")
    };
    if kept(view.program, gress, field) {
        return Some(text("the deparser or the traffic manager reads it"));
    }
    for (n, _) in nodes.iter().filter(|(_, e)| reads(e, own.var)) {
        let source = nodes.iter().rev().map(|(w, _)| *w).find(|w| w < n && decides(view, cfg, *w, *n, field));
        if source.is_none() && parsed(view.program, stranger) {
            return Some(
                text("the parser writes the latter, and a read may see that value")
                    .also(cfg.nodes[*n].loc, "the read"),
            );
        }
        let between = nodes.iter().find(|(q, e)| {
            source.is_none_or(|w| *q >= w) && q < n && e.writes.contains(&other.var) && !cfg.exclusive(*q, *n)
        });
        if let Some((q, _)) = between {
            let diag = text("a packet can read the one after the other was written");
            return Some(diag.also(cfg.nodes[*q].loc, "the write").also(cfg.nodes[*n].loc, "the read"));
        }
    }
    None
}

fn reads(e: &Effects, var: Var) -> bool {
    e.match_reads.contains(&var) || e.action_reads.contains(&var)
}

/// Returns true if `node` has written all bits of the field in every packet that runs `later`.
fn decides(view: &View, cfg: &Cfg, node: Node, later: Node, field: Field) -> bool {
    let needed = cfg.outcomes(cfg.nodes[later].pred);
    let runs = cfg.outcomes(cfg.nodes[node].pred).iter().all(|o| needed.contains(o));
    let whole = |p: &PrimitiveKind| match p {
        PrimitiveKind::Set(to, _)
        | PrimitiveKind::Hash(to, _)
        | PrimitiveKind::HashSlice(to, ..)
        | PrimitiveKind::Random(to, _) => *to == field,
        PrimitiveKind::Register(access) => access.outputs.iter().any(|(_, to)| *to == field),
        PrimitiveKind::Meter(access) => access.to == field,
        _ => false,
    };
    let actions = cfg.actions(view.program, node);
    let all = actions.iter().all(|a| view.program.actions[*a].body.iter().any(|p| whole(&p.kind)));
    runs && cfg.is_ghost(node) == cfg.is_ghost(later) && !actions.is_empty() && all
}

/// Returns true if the deparser or the traffic manager reads the field.
fn kept(program: &Program, gress: Gress, field: Field) -> bool {
    program.pipe(gress).deparser.reads(field)
}

/// Returns true if the parser writes the field.
fn parsed(program: &Program, field: Field) -> bool {
    program.states.values().flat_map(|s| &s.ops).any(|op| op.kind.written() == Some(field))
}
