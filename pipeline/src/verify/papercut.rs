//! What is legal and probably not meant. What may not live here: errors.

use super::Diag;
use crate::flow::{Flow, NodeKind, table_actions};
use crate::ir::{Intrinsic, Next, ParserState, PrimitiveKind, Program};
use sluice_asic::gress::Gress;
use std::collections::BTreeSet;

/// Checks the whole program.
pub(super) fn check(program: &Program) -> Vec<Diag> {
    let mut diags = Vec::new();
    let (mut tables, mut actions) = (BTreeSet::new(), BTreeSet::new());
    for gress in Gress::ALL {
        for node in Flow::of(program, gress).nodes.values() {
            match node.kind {
                NodeKind::Table(t) => {
                    tables.insert(t);
                    actions.extend(table_actions(program, t));
                }
                NodeKind::Action(a) => {
                    actions.insert(a);
                }
                NodeKind::Gateway(_) => {}
            }
        }
    }
    for (t, d) in program.tables.iter().filter(|(t, _)| !tables.contains(t)) {
        let _ = t;
        diags.push(
            Diag::warning(d.loc, format!("table `{}` is never applied", d.name))
                .help("apply it or remove it"),
        );
    }
    for (a, d) in program.actions.iter().filter(|(a, _)| !actions.contains(a)) {
        let _ = a;
        diags.push(
            Diag::warning(d.loc, format!("action `{}` is never run", d.name))
                .help("list it in a table or remove it"),
        );
    }
    states(program, &mut diags);
    headers(program, &mut diags);
    port(program, &mut diags);
    diags
}

fn states(program: &Program, diags: &mut Vec<Diag>) {
    let mut reached: BTreeSet<ParserState> = BTreeSet::new();
    let mut todo: Vec<Next> = program.pipes.iter().map(|p| p.start).collect();
    while let Some(next) = todo.pop() {
        if let Next::State(s) = next
            && reached.insert(s)
        {
            let data = &program.states[s];
            todo.extend(data.arms.iter().map(|a| a.next).chain([data.default]));
        }
    }
    for (_, d) in program.states.iter().filter(|(s, _)| !reached.contains(s)) {
        let text = format!("no path reaches parser state `{}`", d.name);
        diags.push(Diag::warning(d.loc, text).help("select it somewhere or remove it"));
    }
}

fn headers(program: &Program, diags: &mut Vec<Diag>) {
    for data in program.actions.values() {
        for step in &data.body {
            if let PrimitiveKind::SetValid(h, true) = step.kind {
                let header = &program.headers[h];
                if !program.pipe(header.gress).deparser.emit.contains(&h) {
                    let text = format!("header `{}` is made valid and never emitted", header.name);
                    diags.push(Diag::warning(step.loc, text).help("emit it in the deparser"));
                }
            }
        }
    }
}

fn port(program: &Program, diags: &mut Vec<Diag>) {
    let Some(field) = program.intrinsic(Gress::Ingress, Intrinsic::UcastEgressPort) else {
        if !program.pipe(Gress::Ingress).control.is_empty() {
            let text = "ingress never chooses an egress port: every packet is dropped";
            diags.push(Diag::warning(Default::default(), text).help("declare and set `ucast_egress_port`"));
        }
        return;
    };
    let sets = |p: &crate::ir::Primitive| matches!(p.kind, PrimitiveKind::Set(f, _) if f == field);
    if !program.actions.values().any(|a| a.body.iter().any(sets)) {
        let text = "ingress never chooses an egress port: every packet is dropped";
        diags.push(
            Diag::warning(program.fields[field].loc, text).help("set `ucast_egress_port` in an action"),
        );
    }
}
