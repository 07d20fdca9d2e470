//! Rule 6: instruction words and the action data bus.

use super::Check;
use super::paths::is_classifier;
use crate::data::{Owner, Part};
use crate::purpose::Purpose;
use sluice_asic::chip::Column;
use sluice_asic::phv::Container;
use sluice_ir::cfg::Var;
use sluice_ir::{Action, Expr, Intrinsic, MeterAccess, PrimitiveKind, RegisterAccess};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(check: &mut Check<'_>) {
    for (owner, part) in check.parts() {
        // A classifier finds a partition; the table's own actions run where its partitions are.
        if check.table(owner).is_some_and(|t| is_classifier(check, owner, part, t)) {
            continue;
        }
        words(check, owner, part);
        outputs(check, owner, part);
    }
    rows(check);
}

fn written(check: &Check<'_>, action: Action) -> BTreeSet<Container> {
    let data = &check.program.actions[action];
    let drop = || check.program.intrinsic(data.gress, Intrinsic::DropCtl).map(Var::Field);
    let mut containers = sliced(check, action, |_| true);
    containers.extend(hashed_into(check, action));
    let vars: Vec<Var> = data
        .body
        .iter()
        .flat_map(|p| match &p.kind {
            PrimitiveKind::SetSlice(..) | PrimitiveKind::HashInto(..) => Vec::new(),
            PrimitiveKind::Set(f, _)
            | PrimitiveKind::DropCtl(f, ..)
            | PrimitiveKind::Hash(f, _)
            | PrimitiveKind::SetMasked(f, ..)
            | PrimitiveKind::HashSlice(f, ..) => {
                vec![Var::Field(*f)]
            }
            PrimitiveKind::SetValid(h, _) | PrimitiveKind::CopyValid(h, _) => vec![Var::Valid(*h)],
            PrimitiveKind::Register(access) => taken(access),
            PrimitiveKind::Drop(_) => drop().into_iter().collect(),
            PrimitiveKind::Count(..) | PrimitiveKind::CountDirect(_) => Vec::new(),
            PrimitiveKind::Meter(MeterAccess { to, .. }) | PrimitiveKind::Random(to, _) => {
                vec![Var::Field(*to)]
            }
        })
        .collect();
    containers.extend(check.view.containers(&vars));
    containers
}

/// Returns the containers of the slices to which an action writes such a value.
fn sliced(check: &Check<'_>, action: Action, such: impl Fn(&Expr) -> bool) -> BTreeSet<Container> {
    let body = &check.program.actions[action].body;
    let of = |kind: &PrimitiveKind| match kind {
        PrimitiveKind::SetSlice(f, hi, lo, value) if such(value) => check
            .view
            .bytes_of_bits(Var::Field(*f), *lo, hi - lo + 1)
            .into_keys()
            .map(|b| b.container)
            .collect(),
        _ => BTreeSet::new(),
    };
    body.iter().flat_map(|p| of(&p.kind)).collect()
}

/// Returns the containers of the slices to which an action writes bits of a hash.
fn hashed_into(check: &Check<'_>, action: Action) -> BTreeSet<Container> {
    let mut found = BTreeSet::new();
    for p in &check.program.actions[action].body {
        if let PrimitiveKind::HashInto(f, hi, lo, ..) = p.kind {
            let bytes = check.view.bytes_of_bits(Var::Field(f), lo, hi - lo + 1);
            found.extend(bytes.into_keys().map(|b| b.container));
        }
    }
    found
}

fn words(check: &mut Check<'_>, owner: Owner, part: Part) {
    for action in check.cfg(owner.gress).actions(check.program, owner.node) {
        let name = format!("action {}", check.program.actions[action].name);
        let found = check.count(owner, part.stage, Column::Vliw, |p| *p == Purpose::Instruction(action));
        if found == 0 && !written(check, action).is_empty() {
            check.report(owner, format!("{name} has no instruction word in stage {}", part.stage));
        }
    }
}

/// Checks that the words of one row are of one gress and write different containers.
fn rows(check: &mut Check<'_>) {
    let mut rows: BTreeMap<(u8, u16), Vec<(Owner, Action)>> = BTreeMap::new();
    for used in check.placement.units.iter().filter(|u| u.unit.column == Column::Vliw) {
        let own = check.cfg(used.owner.gress).actions(check.program, used.owner.node);
        match used.purpose {
            Purpose::Instruction(action) if own.contains(&action) => {
                rows.entry((used.unit.stage, used.unit.row)).or_default().push((used.owner, action));
            }
            _ => {
                let text = used.purpose.text(check.program, &check.view);
                check.report(used.owner, format!("instruction word `{text}` is none of its actions"));
            }
        }
    }
    for ((stage, row), words) in rows {
        for (i, (a, first)) in words.iter().enumerate() {
            for (b, second) in &words[i + 1..] {
                if a.gress != b.gress || !written(check, *first).is_disjoint(&written(check, *second)) {
                    check.report(*b, format!("shares instruction row {row} of stage {stage} with `{}`, which writes the same containers or is of the other gress", check.name(*a)));
                }
            }
        }
    }
}

fn outputs(check: &mut Check<'_>, owner: Owner, part: Part) {
    let stage = part.stage;
    let bytes: BTreeSet<u16> =
        check.units(owner, stage, Column::ActionBusBytes).map(|u| u.unit.row).collect();
    for (column, size) in [(Column::Slots8, 1), (Column::Slots16, 2), (Column::Slots32, 4)] {
        let slots: Vec<u16> = check.units(owner, stage, column).map(|u| u.unit.row).collect();
        for slot in &slots {
            if (slot * size..(slot + 1) * size).any(|b| !bytes.contains(&b)) {
                check.report(owner, format!("{column} {slot} of stage {stage} does not own its bus bytes"));
            }
        }
        let actions = check.cfg(owner.gress).actions(check.program, owner.node);
        // A set under a mask takes an output for the value and one for the mask.
        let fed = |a: &Action| {
            let (fed, pairs) = (fed(check, *a), pairs(check, *a));
            fed.iter().chain(&pairs).filter(|&&c| check.view.width(c) == size * 8).count()
        };
        let needed = actions.iter().map(fed).max().unwrap_or(0);
        check.at_least(owner, stage, column.id(), slots.len() as u64, needed as u64);
    }
}

/// Returns the fields that take a register's output words.
fn taken(access: &RegisterAccess) -> Vec<Var> {
    access.outputs.iter().map(|(_, f)| Var::Field(*f)).collect()
}

/// Returns the containers that take a parameter, or a result of a hash, a meter ALU or a random number generator.
fn fed(check: &Check<'_>, action: Action) -> BTreeSet<Container> {
    let body = &check.program.actions[action].body;
    let vars: Vec<Var> = body
        .iter()
        .flat_map(|p| match &p.kind {
            PrimitiveKind::Set(f, value) | PrimitiveKind::DropCtl(f, value, _) if has_param(value) => {
                vec![Var::Field(*f)]
            }
            PrimitiveKind::Hash(f, _) | PrimitiveKind::HashSlice(f, ..) => vec![Var::Field(*f)],
            PrimitiveKind::Register(access) => taken(access),
            PrimitiveKind::SetMasked(f, ..) => vec![Var::Field(*f)],
            PrimitiveKind::Meter(MeterAccess { to, .. }) | PrimitiveKind::Random(to, _) => {
                vec![Var::Field(*to)]
            }
            _ => Vec::new(),
        })
        .collect();
    let mut containers = sliced(check, action, has_param);
    containers.extend(hashed_into(check, action));
    containers.extend(check.view.containers(&vars));
    containers
}

/// Returns the containers that are set under a mask.
fn pairs(check: &Check<'_>, action: Action) -> BTreeSet<Container> {
    let masked = |kind: &PrimitiveKind| match kind {
        PrimitiveKind::SetMasked(f, ..) => Some(Var::Field(*f)),
        _ => None,
    };
    let body = check.program.actions[action].body.iter();
    check.view.containers(&body.filter_map(|p| masked(&p.kind)).collect::<Vec<_>>())
}

fn has_param(value: &Expr) -> bool {
    match value {
        Expr::Param(..) => true,
        Expr::Const(..) | Expr::Field(_) => false,
        Expr::Slice(e, ..) | Expr::Cast(e, _) => has_param(e),
        Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => has_param(a) || has_param(b),
    }
}
