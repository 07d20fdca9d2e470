//! Stage dependencies and the latency that follows from them.
//!
//! The compiler's rule for stage dependencies (model: cycles §2) is applied to containers; the chip model adds up the
//! cycles.

use super::bits::PhvView;
use super::data::{Owner, PlacedNode, Placement, UnitUse};
use super::purpose::ArrayRef;
use sluice_asic::chip::{ChipSpec, Column};
use sluice_asic::geometry::is_wide_selector;
use sluice_asic::gress::Gress;
use sluice_asic::latency::{
    GressLatency, StageDependency, StageFeatures, StageLatency, StageUse, egress_latency, gress_latency,
};
use sluice_asic::phv::Container;
use sluice_ir::cfg::{Cfg, Node, NodeKind};
use sluice_ir::entity::EntityMap;
use sluice_ir::{Algorithmic, PrimitiveKind, Program};
use std::collections::BTreeSet;

/// Containers that a node reads and writes.
struct Touch {
    node: Node,
    stages: Vec<u8>,
    matched: BTreeSet<Container>,
    computed: BTreeSet<Container>,
    written: BTreeSet<Container>,
    /// Stage of the classifier of an algorithmic table; `None` for other tables.
    classified: Option<u8>,
}

impl Touch {
    /// Returns true if `stage` is the first stage after that of the classifier.
    fn follows(&self, stage: u8) -> bool {
        self.stages.get(1) == Some(&stage)
    }
}

/// Returns dependency and features of every stage of one gress.
pub(crate) fn stages(
    program: &Program,
    chip: &ChipSpec,
    view: &PhvView<'_>,
    (gress, cfg): (Gress, &Cfg),
    nodes: &EntityMap<Node, PlacedNode>,
    units: &[UnitUse],
) -> Vec<StageUse> {
    let touches: Vec<Touch> = cfg
        .nodes
        .keys()
        .map(|node| {
            let e = cfg.effects(program, node);
            let stages: Vec<u8> =
                nodes.get(node).map(|p| p.parts.iter().map(|p| p.stage).collect()).unwrap_or_default();
            let written = view.containers(&e.writes);
            let computed = view.containers(&e.action_reads).union(&written).copied().collect();
            let alpm = matches!(&cfg.nodes[node].kind, NodeKind::Table(t)
                if matches!(program.tables[*t].algorithmic, Some(Algorithmic::Alpm { .. })));
            let classified = stages.first().copied().filter(|_| alpm);
            Touch { node, stages, classified, matched: view.containers(&e.match_reads), computed, written }
        })
        .collect();
    let mut list: Vec<StageUse> = Vec::new();
    for stage in 0..chip.mau.stages {
        let features = features(program, chip, (gress, cfg), units, stage as u8);
        let dependency = dependency(chip, view, cfg, &touches, &list, stage);
        list.push(StageUse { dependency, features });
    }
    list
}

/// Returns the dependency of a stage: the strongest overlap of containers with the stages before it, back to the
/// nearest match-dependent one.
fn dependency(
    chip: &ChipSpec,
    view: &PhvView<'_>,
    cfg: &Cfg,
    touches: &[Touch],
    before: &[StageUse],
    stage: u32,
) -> StageDependency {
    let here = || touches.iter().filter(|t| t.stages.contains(&(stage as u8)));
    let mocha =
        chip.features.mocha_match_dependency && here().any(|t| t.matched.iter().any(|&c| view.is_mocha(c)));
    let forced = stage == 0 || stage == chip.latency.forced_match_stage;
    if mocha || forced {
        return StageDependency::Match;
    }
    let mut worst = StageDependency::Concurrent;
    // The classifier of an algorithmic table computes the address of the partitions in the next part's stage.
    if here().any(|t| t.classified.is_some_and(|first| u32::from(first) < stage && t.follows(stage as u8))) {
        return StageDependency::Match;
    }
    for (earlier, used) in before.iter().enumerate().rev() {
        for a in touches.iter().filter(|t| t.stages.contains(&(earlier as u8))) {
            for b in here().filter(|b| b.node != a.node && !cfg.exclusive(a.node, b.node)) {
                if !a.written.is_disjoint(&b.matched) {
                    return StageDependency::Match;
                }
                if !a.written.is_disjoint(&b.computed) {
                    worst = worst.max(StageDependency::Action);
                }
            }
        }
        if used.dependency == StageDependency::Match {
            break;
        }
    }
    worst
}

fn features(
    program: &Program,
    chip: &ChipSpec,
    (gress, cfg): (Gress, &Cfg),
    units: &[UnitUse],
    stage: u8,
) -> StageFeatures {
    let uses = |column| {
        units
            .iter()
            .filter(move |u| u.unit.stage == stage && u.unit.column == column && u.owner.gress == gress)
            .map(|u| u.owner)
    };
    let alus = |wanted: fn(&Program, ArrayRef) -> bool| {
        let used = units.iter().filter(move |u| u.unit.stage == stage && u.unit.column == Column::MeterAlu);
        let used = used.filter(move |u| u.owner.gress == gress);
        used.filter(move |u| u.purpose.array().is_some_and(|a| wanted(program, a))).map(|u| u.owner)
    };
    let register = |_: &Program, array| matches!(array, ArrayRef::Register(_));
    let selectors: Vec<Owner> = alus(|_, array| matches!(array, ArrayRef::Selector(_))).collect();
    let wide = selectors.iter().any(|o| {
        let NodeKind::Table(table) = &cfg.nodes[o.node].kind else { return false };
        let profile = program.tables[*table].profile;
        let selector = profile.and_then(|p| program.profiles[p].selector.as_ref());
        selector.is_some_and(|s| is_wide_selector(&chip.hash, s.max_group_size))
    });
    StageFeatures {
        tcam: uses(Column::Tcam).next().is_some(),
        wide_selector: wide,
        selector: !selectors.is_empty(),
        stateful: alus(register).next().is_some(),
        divide: alus(register).any(|o| {
            let actions = cfg.actions(program, o.node);
            let mut body = actions.iter().flat_map(|&a| &program.actions[a].body);
            body.any(|p| matches!(&p.kind, PrimitiveKind::Register(x) if program.register_actions[x.action].divides()))
        }),
        lpf_wred: alus(|program, array| {
            matches!(array, ArrayRef::Meter(meter) if !program.meters[meter].kind.is_coloured())
        })
        .next()
        .is_some(),
    }
}

/// Returns the cycles of one gress.
pub(crate) fn latency(chip: &ChipSpec, gress: Gress, stages: &[StageUse]) -> GressLatency {
    match gress {
        Gress::Ingress => gress_latency(&chip.latency, stages),
        Gress::Egress => egress_latency(&chip.latency, stages),
    }
}

/// Returns the cycles of every stage of one gress of a placed program.
#[must_use]
pub fn stage_latencies(program: &Program, placement: &Placement, gress: Gress) -> Vec<StageLatency> {
    let (chip, placed) = (&placement.chip, placement.gress(gress));
    let view = PhvView::new(chip, &placement.phv);
    let stages = stages(program, chip, &view, (gress, &placed.cfg), &placed.nodes, &placement.units);
    latency(chip, gress, &stages).stages
}
