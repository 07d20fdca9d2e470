//! Ghost control: the operations that are allowed without a packet.

use super::Diag;
use crate::cfg::{Cfg, Var};
use crate::{Home, Loc, PrimitiveKind, Program, Register, Stmt};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(p: &Program, d: &mut Vec<Diag>) {
    let cfg = Cfg::of(p, Gress::Ingress);
    let mut written: BTreeMap<Register, Loc> = BTreeMap::new();
    let mut read: BTreeSet<Register> = BTreeSet::new();
    for (node, data) in cfg.nodes.iter() {
        let ghost = cfg.is_ghost(node);
        let e = cfg.effects(p, node);
        for var in e.match_reads.iter().chain(&e.action_reads) {
            if ghost { reads(p, *var, data.loc, d) } else { spies(p, *var, data.loc, d) }
        }
        e.writes.iter().filter(|_| ghost).for_each(|var| writes(p, *var, data.loc, d));
        for primitive in cfg.actions(p, node).iter().flat_map(|a| &p.actions[*a].body) {
            match &primitive.kind {
                PrimitiveKind::Register(access) => {
                    let register = p.register_actions[access.action].register;
                    if ghost {
                        written.entry(register).or_insert(primitive.loc);
                    } else {
                        read.insert(register);
                    }
                }
                PrimitiveKind::Drop(_) | PrimitiveKind::DropCtl(..) if ghost => {
                    let help = "let ingress drop, by a register that the ghost control writes";
                    d.push(
                        Diag::error(primitive.loc, "the ghost control drops, but it has no packet")
                            .help(help),
                    );
                }
                PrimitiveKind::Count(..) | PrimitiveKind::CountDirect(_) if ghost => {
                    let help = "count in a register";
                    let text = "the ghost control counts packets or bytes, but it has no packet";
                    d.push(Diag::error(primitive.loc, text).help(help));
                }
                PrimitiveKind::Meter(_) | PrimitiveKind::Random(..) if ghost => {
                    let help = "meter and draw in ingress";
                    let text = "the ghost control uses a meter or a random number, which needs a packet";
                    d.push(Diag::error(primitive.loc, text).help(help));
                }
                _ => {}
            }
        }
    }
    let Some(Stmt { loc, .. }) = p.ghost.first() else { return };
    if written.is_empty() {
        let text = "the ghost control writes no register, so it has no effect";
        d.push(Diag::warning(*loc, text).help("keep the depth in a register that ingress reads"));
    } else if !written.keys().any(|r| read.contains(r)) {
        let (register, loc) = written.iter().next().map_or((None, *loc), |(r, loc)| (Some(*r), *loc));
        let name = register.map_or("", |r| p.registers[r].name.as_str());
        let text = format!("ingress reads no register that the ghost control writes, such as `{name}`");
        d.push(Diag::warning(loc, text).help("access it in ingress as well"));
    }
}

/// Checks a read of the ghost control.
fn reads(p: &Program, var: Var, loc: Loc, d: &mut Vec<Diag>) {
    let (name, what) = match var {
        Var::Valid(_) => (var.name(p), "headers"),
        Var::Field(f) => match p.fields[f].home {
            Home::Metadata => return,
            Home::Intrinsic(which) if which.is_ghost() => return,
            Home::Header(_) => (var.name(p), "headers"),
            Home::PortMetadata => (var.name(p), "port metadata"),
            Home::Intrinsic(_) => (var.name(p), "intrinsic metadata of packets"),
        },
    };
    let text = format!("the ghost control reads `{name}`, but it has no packet and so no {what}");
    d.push(Diag::error(loc, text).help("use ghost.qlength, ghost.qid, ghost.pipe_id and registers"));
}

/// Checks a write of the ghost control.
fn writes(p: &Program, var: Var, loc: Loc, d: &mut Vec<Diag>) {
    if matches!(var, Var::Field(f) if p.fields[f].home == Home::Metadata) {
        return;
    }
    // A drop is reported separately.
    if matches!(var, Var::Field(f) if p.fields[f].home == Home::Intrinsic(crate::Intrinsic::DropCtl)) {
        return;
    }
    let text = format!("the ghost control writes `{}`, but it has no packet and no deparser", var.name(p));
    d.push(Diag::error(loc, text).help("write metadata and registers"));
}

/// Checks a read of ingress.
fn spies(p: &Program, var: Var, loc: Loc, d: &mut Vec<Diag>) {
    let Var::Field(f) = var else { return };
    let Home::Intrinsic(which) = p.fields[f].home else { return };
    if which.is_ghost() {
        let text = format!("ingress reads `{}`, which only the ghost control can read", p.fields[f].name);
        d.push(Diag::error(loc, text).help("let the ghost control write it to a register"));
    }
}

/// Reports a ghost control on a chip without a ghost thread.
pub(super) fn for_chip(p: &Program, chip: &ChipSpec, d: &mut Vec<Diag>) {
    let Some(first) = p.ghost.first().filter(|_| !chip.features.ghost) else { return };
    let text = format!("the program has a ghost control, which {} does not run", chip.name);
    let help = "on this chip only egress has queue depths, in `enq_qdepth` and `deq_qdepth`; use Tofino 2";
    d.push(Diag::error(first.loc, text).help(help).limit("features.ghost", 0u32, 1u32));
}
