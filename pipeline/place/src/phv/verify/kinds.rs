//! Rules about kinds of containers: the variables that each kind may hold.

use super::View;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{AluClass, Container, ContainerInfo};
use sluice_ir::RequestKind;
use sluice_ir::cfg::{Cfg, Var};
use sluice_ir::verify::Diag;
use std::collections::BTreeMap;

/// Use of a variable that its containers must allow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Matched,
    Computed,
    Parsed,
}

pub(super) fn check(view: &View) -> Vec<Diag> {
    let mut found = Vec::new();
    for ((var, how), ()) in uses(view) {
        for container in view.allocation.containers_of(var) {
            let Some(info) = view.info(container) else { continue };
            if !allows(info, how) {
                found.push(report(view, var, how, container));
            }
        }
    }
    found
}

fn uses(view: &View) -> BTreeMap<(Var, Use), ()> {
    let mut uses = BTreeMap::new();
    for gress in Gress::ALL {
        let cfg: &Cfg = &view.cfgs[gress.index()];
        for node in cfg.nodes.keys() {
            let e = cfg.effects(view.program, node);
            uses.extend(e.match_reads.iter().map(|v| ((*v, Use::Matched), ())));
            uses.extend(e.action_reads.iter().chain(&e.writes).map(|v| ((*v, Use::Computed), ())));
        }
    }
    // Headers and validity are parsed or deparsed; metadata that the parser sets is parsed.
    for header in view.program.headers.keys().filter(|h| view.allocation.valid[*h].is_some()) {
        uses.insert((Var::Valid(header), Use::Parsed), ());
        uses.extend(view.program.headers[header].fields.iter().map(|f| ((Var::Field(*f), Use::Parsed), ())));
    }
    for request in view.program.pipes.iter().flat_map(|p| &p.deparser.requests) {
        request.fields(&mut |f| {
            uses.insert((Var::Field(f), Use::Parsed), ());
        });
        let session = if let RequestKind::Mirror(f) = request.kind { Some(f) } else { None };
        uses.extend(session.into_iter().chain(request.when).map(|f| ((Var::Field(f), Use::Parsed), ())));
    }
    for update in view.program.pipes.iter().flat_map(|p| &p.deparser.checksums) {
        uses.extend(update.when.map(|f| ((Var::Field(f), Use::Parsed), ())));
    }
    for op in view.program.states.values().flat_map(|s| &s.ops) {
        uses.extend(op.kind.written().map(|f| ((Var::Field(f), Use::Parsed), ())));
    }
    for (field, data) in view.program.fields.iter() {
        if matches!(data.home, sluice_ir::Home::Intrinsic(_) | sluice_ir::Home::PortMetadata) {
            uses.insert((Var::Field(field), Use::Parsed), ());
        }
    }
    uses
}

fn allows(info: &ContainerInfo, how: Use) -> bool {
    match how {
        Use::Matched => info.matchable(),
        Use::Computed => info.alu() != AluClass::None,
        Use::Parsed => info.parsed() && info.deparsed(),
    }
}

fn report(view: &View, var: Var, how: Use, container: Container) -> Diag {
    let what = match how {
        Use::Matched => "matched or hashed",
        Use::Computed => "read or written by actions",
        Use::Parsed => "parsed or deparsed",
    };
    let text = format!("{} is {what}, but {} cannot be", view.var(var), view.name(container));
    view.error(var, text)
}
