//! Random programs with random entries: the engine computes what the reference does, on both chips.

use crate::tables::bench::agree;
use sluice_asic::chip::ChipSpec;
use sluice_control::{ControlOp, ControlState, Then};
use sluice_ir::{ActionCall, KeySource, MatchKind, PrimitiveKind, Program};
use sluice_place::place;
use sluice_random::{Draw, Limits, key_value, numbered};

const PROGRAMS: u64 = 200;

/// Adds up to four entries to each table that takes some; refused ones are left out.
fn entries(program: &Program, d: &mut Draw<'_>) -> ControlState {
    let mut control = ControlState::new(program);
    for (table, data) in program.tables.iter() {
        for n in 0..4 {
            let key = data.keys.iter().map(|k| key_value(d, k, program)).collect();
            let Some(action) = d.pick(&data.actions) else { continue };
            let args = program.actions[action].params.iter().map(|p| d.value(p.width)).collect();
            let ordered = data.keys.iter().any(|k| matches!(k.kind, MatchKind::Ternary | MatchKind::Range));
            let (priority, then) = (if ordered { n } else { 0 }, Then::Call(ActionCall { action, args }));
            let _ = control.apply(program, ControlOp::InsertEntry { table, key, priority, then });
        }
    }
    control
}

#[test]
fn the_engine_computes_what_the_reference_does() {
    let (mut placed, mut slices, mut drops, mut parts) = (0, 0, 0, 0);
    for n in 0..PROGRAMS {
        let program = numbered(n, &Limits { choices: 500, ..Limits::default() });
        // The reference of this bench has no chip, and meters run on a chip's clock.
        if !program.meters.is_empty() {
            continue;
        }
        let mut draw = Draw::endless(7, n);
        let control = entries(&program, &mut draw);
        let byte = |d: &mut Draw<'_>| if d.chance(1, 2) { d.below(4) as u8 } else { d.word() as u8 };
        let frames: Vec<Vec<u8>> = (0..80).map(|_| (0..96).map(|_| byte(&mut draw)).collect()).collect();
        let mut fits = false;
        for chip in [ChipSpec::tofino(), ChipSpec::tofino2()] {
            let Ok(placement) = place(&program, &chip) else { continue };
            fits = true;
            agree(&program, &placement, &control, &frames);
        }
        if fits {
            let body = || program.actions.values().flat_map(|a| &a.body).map(|p| &p.kind);
            placed += 1;
            slices += body().filter(|k| matches!(k, PrimitiveKind::SetSlice(..))).count();
            drops += body().filter(|k| matches!(k, PrimitiveKind::DropCtl(..))).count();
            let keys = program.tables.values().flat_map(|t| &t.keys);
            parts += keys.filter(|k| k.mask.is_some() || !matches!(k.what, KeySource::Field(_))).count();
        }
    }
    let found = (placed, slices, drops, parts);
    assert!(placed > 20 && slices > 20 && drops > 5 && parts > 10, "{found:?}");
}
