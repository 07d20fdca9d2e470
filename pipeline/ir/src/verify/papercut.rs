//! Papercuts: legal code that is probably not intended.

use super::Diag;
use crate::cfg::{Cfg, NodeKind, Var};
use crate::parser_unroll::UnrolledParser;
use crate::{Field, Hash, Home, Index, Intrinsic, Loc, Operand, PrimitiveKind, Program};
use sluice_asic::gress::Gress;
use std::collections::BTreeSet;

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    let cfgs = Gress::ALL.map(|g| Cfg::of(p, g));
    unused(p, &cfgs, d);
    for gress in Gress::ALL {
        unreached(p, gress, d);
        unwritten(p, gress, &cfgs[gress.index()], d);
        left_out(p, gress, &cfgs[gress.index()], d);
    }
    if !p.pipe(Gress::Ingress).control.is_empty() {
        no_port(p, &cfgs[Gress::Ingress.index()], d);
    }
}

/// Reports a key of a header that is never valid where the table is applied.
pub(super) fn key_of_absent_header(field: &str, table: &str, header: &str, at: Loc) -> Diag {
    let text = format!("`{field}` is a key of table `{table}` but header `{header}` is never valid here");
    Diag::warning(at, text).help(format!("apply the table where a parser path has extracted `{header}`"))
}

fn unused(p: &Program, cfgs: &[Cfg; 2], d: &mut Vec<Diag>) {
    let mut warn = |word: &str, name: &str, at: Loc, verb: &str, help: &str| {
        d.push(Diag::warning(at, format!("{word} `{name}` is never {verb}")).help(help));
    };
    let nodes = || cfgs.iter().flat_map(|f| f.nodes.values());
    for (t, data) in p.tables.iter() {
        if !nodes().any(|n| n.kind == NodeKind::Table(t)) {
            warn("table", &data.name, data.loc, "applied", "apply it in the control block or remove it");
        }
    }
    let called: BTreeSet<_> =
        cfgs.iter().flat_map(|f| f.nodes.keys().flat_map(|n| f.actions(p, n)).collect::<Vec<_>>()).collect();
    for (a, data) in p.actions.iter() {
        // Actions of a table that is never applied are reported with the table.
        let listed = p.tables.values().any(|t| t.actions.contains(&a) || t.default.action == a);
        // An action that does nothing may be the rest of one whose writes a lowering has left out.
        if !called.contains(&a) && !listed && !data.body.is_empty() {
            warn("action", &data.name, data.loc, "used", "list it in a table, call it or remove it");
        }
    }
    let primitives = || p.actions.values().flat_map(|a| a.body.iter().map(|x| &x.kind));
    for (c, data) in p.counters.iter() {
        let counts = |k: &PrimitiveKind| matches!(k, PrimitiveKind::Count(x, _) | PrimitiveKind::CountDirect(x) if *x == c);
        if !primitives().any(counts) {
            warn("counter", &data.name, data.loc, "counted", "count it in an action or remove it");
        }
    }
    for (r, data) in p.registers.iter() {
        if p.actions_of(r).next().is_none() {
            warn("register", &data.name, data.loc, "accessed", "give it a register action or remove it");
        }
    }
    for (a, data) in p.register_actions.iter() {
        if !primitives().any(|k| matches!(k, PrimitiveKind::Register(x) if x.action == a)) {
            warn("register action", &data.name, data.loc, "executed", "execute it in an action or remove it");
        }
    }
    for (m, data) in p.meters.iter() {
        if !primitives().any(|k| matches!(k, PrimitiveKind::Meter(x) if x.meter == m)) {
            warn("meter", &data.name, data.loc, "accessed", "access it in an action or remove it");
        }
    }
    for (r, data) in p.randoms.iter() {
        if !primitives().any(|k| matches!(k, PrimitiveKind::Random(_, x) if *x == r)) {
            let word = "generator of random numbers";
            warn(word, &data.name, data.loc, "drawn from", "draw from it in an action or remove it");
        }
    }
    for (l, data) in p.labels.iter() {
        let drops = |k: &PrimitiveKind| matches!(k, PrimitiveKind::Drop(x) | PrimitiveKind::DropCtl(_, _, x) if *x == l);
        if !primitives().any(drops) {
            warn("label", &data.name, data.loc, "used", "drop with it or remove it");
        }
    }
    for (h, data) in p.hashes.iter() {
        let selects = p.profiles.values().any(|x| x.selector.as_ref().is_some_and(|s| s.hash == h));
        if !selects && !primitives().any(|k| computes(p, k, h)) {
            warn("hash", &data.name, data.loc, "computed", "compute it in an action or remove it");
        }
    }
    let arms = || p.states.values().flat_map(|s| &s.arms);
    for (s, data) in p.value_sets.iter() {
        if !arms().any(|arm| arm.set.is_some_and(|of| of.set == s)) {
            warn("value set", &data.name, data.loc, "compared", "use it in a select or remove it");
        }
    }
    for (x, data) in p.profiles.iter() {
        if !p.tables.values().any(|t| t.profile == Some(x)) {
            warn("profile", &data.name, data.loc, "used", "give it to a table or remove it");
        }
    }
}

/// Returns true if a primitive computes this hash, also as an index.
fn computes(p: &Program, kind: &PrimitiveKind, hash: Hash) -> bool {
    match kind {
        PrimitiveKind::Hash(_, h) | PrimitiveKind::HashSlice(_, h, _) | PrimitiveKind::HashInto(.., h, _) => {
            *h == hash
        }
        PrimitiveKind::Register(access) => {
            let operands = p.register_actions[access.action].operands();
            access.index == Index::Hash(hash) || operands.contains(&Operand::Hash(hash))
        }
        PrimitiveKind::Meter(access) => access.index == Index::Hash(hash),
        _ => false,
    }
}

fn unreached(p: &Program, gress: Gress, d: &mut Vec<Diag>) {
    let Ok(unrolled) = UnrolledParser::of(p, gress) else { return };
    let order = unrolled.states();
    for (_, data) in p.states.iter().filter(|(s, x)| x.gress == gress && !order.contains(s)) {
        let text = format!("state `{}` of the {gress} parser is never reached", data.name);
        d.push(Diag::warning(data.loc, text).help("make an arm of a reached state go to it, or remove it"));
    }
}

/// Reports metadata that is read but never written: it is always zero.
fn unwritten(p: &Program, gress: Gress, cfg: &Cfg, d: &mut Vec<Diag>) {
    let (mut read, mut written): (BTreeSet<Field>, BTreeSet<Field>) = Default::default();
    for node in cfg.nodes.keys() {
        let e = cfg.effects(p, node);
        read.extend(e.match_reads.iter().chain(&e.action_reads).filter_map(|v| field(*v)));
        written.extend(e.writes.iter().filter_map(|v| field(*v)));
    }
    for op in p.states.values().filter(|s| s.gress == gress).flat_map(|s| &s.ops) {
        written.extend(op.kind.written());
    }
    for f in read.difference(&written) {
        let data = &p.fields[*f];
        if data.home == Home::Metadata && data.gress == gress {
            let help = "write it in the parser, or in an action before it is read";
            d.push(Diag::warning(data.loc, never_written(&data.name)).help(help));
        }
    }
}

/// Returns the text of the warning of a metadata field that is read but never written.
#[must_use]
pub fn never_written(field: &str) -> String {
    format!("metadata field `{field}` is read but never written: it is always 0")
}

fn field(var: Var) -> Option<Field> {
    if let Var::Field(f) = var { Some(f) } else { None }
}

fn no_port(p: &Program, cfg: &Cfg, d: &mut Vec<Diag>) {
    let port = p.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort).map(Var::Field);
    let group = |which| p.intrinsic(Gress::Ingress, which).map(Var::Field);
    let ways = [port, group(Intrinsic::McastGrpA), group(Intrinsic::McastGrpB), group(Intrinsic::CopyToCpu)];
    let written = |n| cfg.effects(p, n).writes.iter().any(|v| ways.contains(&Some(*v)));
    if !cfg.nodes.keys().any(written) {
        let help = "write it in an action, otherwise every packet is dropped at the end of ingress";
        d.push(Diag::warning(Loc::default(), "ingress never writes `ucast_egress_port`").help(help));
    }
}

/// Reports intrinsic fields that are used although the model leaves them out ([`Intrinsic::note`]).
fn left_out(p: &Program, gress: Gress, cfg: &Cfg, d: &mut Vec<Diag>) {
    let mut said = BTreeSet::new();
    for (node, data) in cfg.nodes.iter() {
        let e = cfg.effects(p, node);
        for var in e.match_reads.iter().chain(&e.action_reads).chain(&e.writes) {
            let Var::Field(field) = *var else { continue };
            let Home::Intrinsic(which) = p.fields[field].home else { continue };
            let Some(note) =
                which.note().filter(|_| which != Intrinsic::EnqCongestStat && said.insert(which))
            else {
                continue;
            };
            let text = format!("{gress} uses `{}`, which {note}", which.info().name);
            d.push(Diag::warning(data.loc, text).help("leave it out, or expect this"));
        }
    }
}
