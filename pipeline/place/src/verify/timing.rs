//! Rule 9: stage dependencies, derived from containers, and cycles, derived from stage dependencies.

use super::Check;
use crate::data::Owner;
use crate::purpose::ArrayRef;
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::{StageDependency, StageFeatures, StageUse, egress_latency, gress_latency};
use sluice_asic::phv::Container;
use sluice_ir::cfg::Node;
use sluice_ir::entity::EntityMap;
use sluice_ir::{Algorithmic, PrimitiveKind};
use std::collections::BTreeSet;

pub(super) fn check(check: &mut Check<'_>) {
    for gress in Gress::ALL {
        let placed = check.placement.gress(gress);
        let first = Owner { gress, node: sluice_ir::entity::Entity::new(0) };
        let found = if placed.dependencies.len() as u32 != check.mau.stages {
            Some(format!(
                "{gress} has {} stage dependencies; the chip has {} stages",
                placed.dependencies.len(),
                check.mau.stages
            ))
        } else {
            weak_stage(check, gress).or_else(|| wrong_cycles(check, gress))
        };
        if let Some(text) = found {
            if placed.nodes.is_empty() {
                check.diags.push(sluice_ir::verify::Diag::error(sluice_ir::Loc::default(), text));
            } else {
                check.report(first, text);
            }
        }
    }
}

/// Returns a finding if the nodes of a stage need a stronger dependency than the stage has.
fn weak_stage(check: &Check<'_>, gress: Gress) -> Option<String> {
    let placed = check.placement.gress(gress);
    let cfg = &placed.cfg;
    let touched: EntityMap<Node, [BTreeSet<Container>; 3]> = cfg
        .nodes
        .keys()
        .map(|n| {
            let e = cfg.effects(check.program, n);
            [&e.match_reads, &e.action_reads, &e.writes].map(|vars| check.view.containers(vars))
        })
        .collect();
    let in_stage = |stage: usize| {
        cfg.nodes.keys().filter(move |&n| placed.nodes[n].parts.iter().any(|p| usize::from(p.stage) == stage))
    };
    for stage in 1..placed.dependencies.len() {
        let mut needed = StageDependency::Concurrent;
        let head = (0..stage).rev().find(|&s| placed.dependencies[s] == StageDependency::Match).unwrap_or(0);
        for earlier in head..stage {
            for a in in_stage(earlier) {
                let [.., written] = &touched[a];
                for b in in_stage(stage).filter(|&b| a != b && !cfg.exclusive(a, b)) {
                    let [matched, computed, overwritten] = &touched[b];
                    let touches = |set: &BTreeSet<Container>| !set.is_disjoint(written);
                    if touches(matched) {
                        needed = StageDependency::Match;
                    } else if touches(computed) || touches(overwritten) {
                        needed = needed.max(StageDependency::Action);
                    }
                }
            }
        }
        if in_stage(stage).any(|n| addressed(check, gress, n, stage)) {
            needed = StageDependency::Match;
        }
        if placed.dependencies[stage] < needed {
            let found = placed.dependencies[stage];
            return Some(format!("stage {stage} of {gress} has a {found:?} dependency; {needed:?} needed"));
        }
    }
    None
}

/// Returns true if the node's partitions begin in this stage; an earlier stage computes their address.
fn addressed(check: &Check<'_>, gress: Gress, node: Node, stage: usize) -> bool {
    let table = check.table(Owner { gress, node });
    let alpm =
        table.is_some_and(|t| matches!(check.program.tables[t].algorithmic, Some(Algorithmic::Alpm { .. })));
    alpm && check.placement.gress(gress).nodes[node]
        .parts
        .get(1)
        .is_some_and(|p| usize::from(p.stage) == stage)
}

fn wrong_cycles(check: &Check<'_>, gress: Gress) -> Option<String> {
    let (placement, chip) = (check.placement, &check.placement.chip);
    let placed = placement.gress(gress);
    let owns = |stage: usize, column: Column| {
        let mut of_stage = placement.units.iter().filter(|u| usize::from(u.unit.stage) == stage);
        of_stage.any(|u| u.unit.column == column && u.owner.gress == gress)
    };
    let meter_alu = |stage: usize, wanted: &dyn Fn(ArrayRef) -> bool| {
        let mut of_stage = placement.units.iter().filter(|u| usize::from(u.unit.stage) == stage);
        of_stage.any(|u| {
            u.unit.column == Column::MeterAlu
                && u.owner.gress == gress
                && u.purpose.array().is_some_and(wanted)
        })
    };
    let samples = |array| matches!(array, ArrayRef::Meter(m) if !check.program.meters[m].kind.is_coloured());
    let divides = |stage: usize| {
        let here = |n: &Node| placed.nodes[*n].parts.iter().any(|p| usize::from(p.stage) == stage);
        let actions = placed.cfg.nodes.keys().filter(here).flat_map(|n| placed.cfg.actions(check.program, n));
        actions.flat_map(|a| &check.program.actions[a].body).any(|p| match &p.kind {
            PrimitiveKind::Register(access) => check.program.register_actions[access.action].divides(),
            _ => false,
        })
    };
    let wide = |stage: usize| {
        let selectors = placement.units.iter().filter(|u| {
            usize::from(u.unit.stage) == stage && u.unit.column == Column::MeterAlu && u.owner.gress == gress
        });
        selectors.map(|u| u.owner).any(|o| {
            let profile = check.table(o).and_then(|t| check.program.tables[t].profile);
            let selector = profile.and_then(|p| check.program.profiles[p].selector.as_ref());
            selector.is_some_and(|s| s.max_group_size > chip.hash.selector_members_per_word)
        })
    };
    let stages: Vec<StageUse> = (0..placed.dependencies.len())
        .map(|s| StageUse {
            dependency: placed.dependencies[s],
            features: StageFeatures {
                tcam: owns(s, Column::Tcam),
                selector: meter_alu(s, &|array| matches!(array, ArrayRef::Selector(_))),
                stateful: meter_alu(s, &|array| matches!(array, ArrayRef::Register(_))),
                divide: divides(s),
                lpf_wred: meter_alu(s, &samples),
                wide_selector: wide(s),
            },
        })
        .collect();
    let latency = if gress == Gress::Ingress { gress_latency } else { egress_latency };
    let cycles = latency(&chip.latency, &stages).total.0;
    (cycles != u64::from(placed.mau_cycles))
        .then(|| format!("{gress} says {} cycles; its stages take {cycles}", placed.mau_cycles))
}
