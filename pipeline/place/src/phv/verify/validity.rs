//! Validity bits that actions copy: one rotation per container, with constants only if no other bits have to stay.

use super::View;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{Action, Loc, PrimitiveKind};
use std::collections::{BTreeMap, BTreeSet};

/// Writes of one action to the validity bits of a container.
#[derive(Default)]
struct Bits {
    loc: Loc,
    /// Sources: container and rotation to the right, with the bits that they give.
    copied: BTreeMap<(Container, u32), u32>,
    /// Bits set by constants.
    set: u32,
}

pub(super) fn check(view: &View) -> Vec<Diag> {
    let actions: BTreeSet<Action> =
        view.cfgs.iter().flat_map(|f| f.nodes.keys().flat_map(|n| f.actions(view.program, n))).collect();
    let mut found = Vec::new();
    for action in actions {
        for (container, bits) in bits(view, action) {
            if let Some(problem) = problem(view, container, &bits) {
                let text = format!(
                    "PHV: action `{}` moves validity bits in {}, but {problem}",
                    view.program.actions[action].name,
                    view.name(container)
                );
                let help = "move a stack of at most as many elements as a container has bits";
                found.push(Diag::error(bits.loc, text).help(help));
            }
        }
    }
    found
}

fn bits(view: &View, action: Action) -> BTreeMap<Container, Bits> {
    let mut list: BTreeMap<Container, Bits> = BTreeMap::new();
    for p in &view.program.actions[action].body {
        let (to, from) = match p.kind {
            PrimitiveKind::CopyValid(to, from) => (to, Some(from)),
            PrimitiveKind::SetValid(to, _) => (to, None),
            _ => continue,
        };
        let place = |h| view.allocation.valid.get(h).copied().flatten();
        let Some(to) = place(to) else { continue };
        let bits = list.entry(to.container).or_default();
        match from.and_then(place) {
            Some(from) => {
                let size = view.info(to.container).map_or(32, |i| i.size.bits());
                let rotation = (u32::from(from.bit) + size - u32::from(to.bit)) % size;
                *bits.copied.entry((from.container, rotation)).or_default() |= 1 << to.bit;
                bits.loc = p.loc;
            }
            None => bits.set |= 1 << to.bit,
        }
    }
    list.retain(|_, b| !b.copied.is_empty());
    list
}

fn problem(view: &View, container: Container, bits: &Bits) -> Option<String> {
    let mut sources = bits.copied.iter();
    let (Some(((source, _), mask)), None) = (sources.next(), sources.next()) else {
        return Some(format!("from {} places at once, and a container rotates once", bits.copied.len()));
    };
    let group = |c: Container| view.info(c).and_then(|info| info.mau_group);
    if group(*source) != group(container) {
        return Some(format!("from {}, which is not in its MAU group", view.name(*source)));
    }
    let run = (mask >> mask.trailing_zeros().min(31)).wrapping_add(1);
    if !run.is_power_of_two() && run != 0 {
        return Some("they are not neighbours".to_owned());
    }
    let kept = view.occupied(container) & !(mask | bits.set);
    if kept != 0 && bits.set != 0 {
        let held = view.held.get(&container).into_iter().flatten();
        let other = held.filter(|h| kept >> h.at & 1 == 1).map(|h| h.var).next();
        let other = other.map_or_else(String::new, |v: Var| view.var(v));
        return Some(format!("a constant and {other}, which has to stay, take a third source"));
    }
    None
}
