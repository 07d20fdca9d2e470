//! Rules of the author about containers.

use super::View;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::verify::Diag;
use sluice_ir::{ContainerDemand, ContainerRule, kind_name};

pub(super) fn check(view: &View) -> Vec<Diag> {
    let broken = |rule: &ContainerRule| {
        let what = finding(view, rule)?;
        let field = &view.program.fields[rule.field];
        let text = format!("`{}` demands otherwise: {what}", rule.p4(field.gress, &field.name));
        Some(view.error(Var::Field(rule.field), text).also(rule.loc, "the demand"))
    };
    view.program.container_rules.iter().filter_map(broken).collect()
}

/// Returns how an allocation breaks a rule; `None` if it obeys the rule.
fn finding(view: &View, rule: &ContainerRule) -> Option<String> {
    let slices = view.allocation.slices(rule.field);
    let var = Var::Field(rule.field);
    let name = view.var(var);
    let bits = |c: Container| view.info(c).map_or(0, |info| info.size.bits());
    match &rule.demand {
        ContainerDemand::Sizes(sizes) => {
            let width = view.program.fields[rule.field].width;
            let parts = rule.demand.parts(width);
            let bad = slices.iter().find(|s| {
                // The bits of a larger field may be cut elsewhere if all containers have one size.
                let part = parts.iter().find(|(lo, count, _)| s.lo >= *lo && s.lo + s.width <= lo + count);
                let size = match (&sizes[..], part) {
                    ([size], _) if parts.len() > 1 => Some(*size),
                    (_, part) => part.map(|(.., size)| *size),
                };
                size.map(u32::from) != Some(bits(s.container))
            })?;
            let (hi, container) = (bad.lo + bad.width - 1, view.name(bad.container));
            Some(format!("bits {hi} to {} of {name} are in {container}", bad.lo))
        }
        ContainerDemand::Atomic => {
            (slices.len() > 1).then(|| format!("{name} is in {} containers", slices.len()))
        }
        ContainerDemand::Solitary => {
            let (container, other) = view.shared(var)?;
            Some(format!("{name} shares {} with {}", view.name(container), view.var(other)))
        }
        ContainerDemand::NoOverlay => {
            let other = slices.iter().find_map(|s| {
                let held = view.held.get(&s.container)?;
                let own = held.iter().filter(|h| h.var == var);
                own.flat_map(|o| held.iter().filter(move |h| h.var != var && o.meets(h))).next()
            })?;
            Some(format!("{name} shares bits with {}", view.var(other.var)))
        }
        ContainerDemand::Kind(kind) => {
            let bad = slices.iter().find(|s| view.info(s.container).is_none_or(|info| info.kind != *kind))?;
            Some(format!(
                "{name} is in {}, which is no {} container",
                view.name(bad.container),
                kind_name(*kind)
            ))
        }
    }
}
