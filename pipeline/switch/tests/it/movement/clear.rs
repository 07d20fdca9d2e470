//! Registers that are cleared at once while packets arrive: the values that packets find during and after the clear.

use crate::movement::device::{Frame, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{Cycles, Time};
use sluice_control::{ControlOp, lines};
use sluice_exec::reference::{Options, Reference};
use sluice_switch::{Switch, SwitchConfig};

/// Counts packets; two actions share the array, so that the engine notes accesses and makes them after the stage.
const PROGRAM: &str = "program counting;
    header h : ingress { bit<8> kind; bit<8> tag; bit<32> seen; bit<32> high; }
    intrinsic : ingress { bit<9> ig_tm.ucast_egress_port; }
    register seen : ingress { element = \"64\"; size = 4; initial = 7, 0; }
    register numbers : ingress { element = \"32\"; size = 4; }
    register_action keep (seen) { @out0 = @lo; @out2 = @lo; }
    register_action one (numbers) { @lo = add(@lo, 1); @out0 = @lo; }
    register_action two (numbers) { @lo = add(@lo, 2); @out0 = @lo; }
    action look : ingress () { h.high, h.seen:2 = execute(keep, 2w1); }
    action by_one : ingress () { h.seen = execute(one, 2w2); }
    action by_two : ingress () { h.seen = execute(two, 2w2); }
    action send : ingress () { ig_tm.ucast_egress_port = 9w16; }
    table pick : ingress { key = { h.kind : exact; } actions = { look; by_one; by_two; } default_action = look(); size = 4;
        const entries = { (1) : by_one(); (2) : by_two(); } }
    parser ingress { start = first; state first { extract(h); transition accept; } }
    control ingress { apply pick; call send; }
    deparser ingress { emit(h); }";

fn later(w: &World, text: &str) -> Vec<(Time, ControlOp)> {
    let script = lines::parse_changes(&w.program, text, "later").unwrap_or_else(|e| panic!("{e:#?}"));
    script.ops.into_iter().map(|s| (Time::ORIGIN + s.at, s.op)).collect()
}

fn packet(kind: u8, tag: u8, nanos: u64) -> Frame {
    frame(8, nanos, &[&[kind, tag][..], &[0; 66]].concat())
}

#[test]
fn packets_find_a_word_until_all_is_cleared() {
    let chip = ChipSpec::tofino2();
    let takes = chip.mau.clock.span(Cycles(u64::from(chip.salu.fast_clear_cycles)));
    assert!((600_000..800_000).contains(&takes.as_ps()), "{takes}");
    let mut w = World::new(&chip, PROGRAM);
    // The second clear of `numbers` begins before the first has ended; the third is in pipe 1 alone.
    w.later = later(
        &w,
        "@2us register_fast_clear numbers 0xbeef
         @2us register_fast_clear seen 5
         @2400ns register_fast_clear numbers 0xcafe
         @6us in_pipe 1 register_fast_clear numbers 1",
    );
    let times = [100, 400, 1500, 2100, 2200, 2500, 2900, 3000, 3300, 3400, 6100];
    let kinds = [1, 2, 1, 1, 2, 1, 2, 0, 1, 2, 1];
    let frames: Vec<Frame> =
        (0..).zip(times).zip(kinds).map(|((tag, at), kind)| packet(kind, tag, at)).collect();
    let told = w.run(&frames);
    let mut found: Vec<(u8, u32)> =
        told.sent.iter().map(|(_, b)| (b[1], u32::from_be_bytes([b[2], b[3], b[4], b[5]]))).collect();
    found.sort_unstable();
    let seen: Vec<u32> = found.into_iter().map(|(_, seen)| seen).collect();
    assert_eq!(seen, [1, 3, 4, 0xbeef, 0xbeef, 0xcafe, 0xcafe, 0, 1, 3, 4]);
}

#[test]
fn without_time_all_is_cleared_at_once() {
    let mut w = World::new(&ChipSpec::tofino2(), PROGRAM);
    w.later = later(&w, "@2us register_fast_clear numbers 0xbeef");
    let told = w.run_functional(&[packet(1, 0, 100), packet(2, 1, 1000), packet(2, 2, 2500)]);
    let seen: Vec<u8> = told.sent.iter().map(|(_, b)| b[5]).collect();
    assert_eq!(seen, [1, 3, 2]);
}

#[test]
fn tofino_writes_elements_instead() {
    let w = World::new(
        &ChipSpec::tofino(),
        &PROGRAM
            .replace("\"64\"", "\"32\"")
            .replace("@out2 = @lo;", "")
            .replace("h.high, h.seen:2", "h.high"),
    );
    let control = sluice_control::ControlState::new(&w.program);
    let reference = Reference::new(&w.program, &control, Options::default());
    let mut switch = Switch::new(
        &w.program,
        &w.placement,
        &w.ports,
        control,
        Box::new(reference),
        SwitchConfig::default(),
    )
    .unwrap();
    let (_, op) = later(&w, "@1us register_fast_clear numbers").remove(0);
    assert_eq!(
        switch.apply(op).unwrap_err().to_string(),
        "register `numbers` cannot be cleared in the background, because tofino has no fast clear; use register_clear, which writes the elements"
    );
}
