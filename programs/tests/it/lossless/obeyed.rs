//! The property `pauses_obeyed`: it holds for the program, and fails for programs with a mistake.

use crate::lossless::bench::{Bench, in_order, packet, pfc, train};
use crate::switch::world::Frame;
use sluice_asic::chip::ChipSpec;

const US: u64 = 1_000_000;
const TIMES: [&str; 2] = ["detection_time=200", "restoration_time=300"];
/// `TIMES` in ticks of 1.024 us, as the text form has them: 195 and 292.
const DETECTION: &str = "serial(sub(m.tick, @lo) > 0xc3)";
const RESTORATION: &str = "serial(sub(m.tick, @lo) > 0x124)";

/// Returns the texts with which properties fail in a run of the program with these changes of its text.
fn failures(changes: &[(&str, &str)], frames: Vec<Frame>) -> Vec<String> {
    failures_of(&Bench::broken("pfc", &TIMES, &ChipSpec::tofino2(), changes), frames)
}

fn failures_of(bench: &Bench, frames: Vec<Frame>) -> Vec<String> {
    let found = bench.violations("pfc", &in_order(frames), 5_000 * US);
    assert!(found.iter().all(|(property, _)| *property == "pauses_obeyed"), "{found:?}");
    found.into_iter().map(|(_, text)| text).collect()
}

/// Packets for queue 3 of port 16, one in 4 us for 1.2 ms.
fn packets() -> Vec<Frame> {
    train(0, 0, 4 * US, 300, &packet([172, 16, 0, 1], 3, 0, 0, 500))
}

/// Pauses of port 16 of 64 us at 400G (50,000 quanta) and of 7.68 us, one that a frame ends, and one of both priorities.
fn pauses() -> Vec<Frame> {
    let pause = |at: u64, bits, quanta| Frame::new(16, at * US + 5, pfc(bits, quanta));
    let list =
        [(50, 0x08, 50_000), (200, 0x08, 6_000), (300, 0x08, 50_000), (320, 0x08, 0), (400, 0x18, 30_000)];
    list.map(|(at, bits, quanta)| pause(at, bits, quanta)).into_iter().chain(packets()).collect()
}

/// Pauses every 16 us for 300 us: a storm 200 us after the first, over 300 us after the last.
fn storm() -> Vec<Frame> {
    let pause = |at: u64| Frame::new(16, at * US + 5, pfc(0x08, 62_500));
    (100..400).step_by(16).map(pause).chain(packets()).collect()
}

#[test]
fn the_program_obeys() {
    let bench = Bench::new("pfc", &TIMES, &ChipSpec::tofino2());
    assert_eq!(failures_of(&bench, pauses()), [""; 0]);
    assert_eq!(failures_of(&bench, storm()), [""; 0]);
}

#[test]
fn a_pause_of_another_length_is_noticed() {
    // A quantum is 1.28 ns at 400G; here it is 2 ns, and then 1.25 ns.
    for (from, to) in [
        ("m.until = add(m.until, m.quarter);", "m.until = add(m.until, m.base);"),
        ("m.quarter = add(m.quarter, m.part);", "m.quarter = m.quarter;"),
    ] {
        let found = failures(&[(from, to)], pauses());
        assert!(found[0].contains("port 264, priority 3 ended"), "{to}: {found:?}");
    }
}

#[test]
fn a_queue_that_does_not_pause_is_noticed() {
    let pause = ("dprsr.adv_flow_ctl = or(m.word, 32w1);", "dprsr.adv_flow_ctl = m.word;");
    let found = failures(&[pause], pauses());
    assert!(found[0].contains("left queue 3 of port 264") && found[0].ends_with("in a pause"), "{found:?}");
}

#[test]
fn a_storm_that_begins_or_ends_at_another_time_is_noticed() {
    for (from, to) in
        [(DETECTION, "0xa0"), (DETECTION, "0x190"), (RESTORATION, "0x100"), (RESTORATION, "0x150")]
    {
        let other = format!("serial(sub(m.tick, @lo) > {to})");
        let found = failures(&[(from, &other)], storm());
        assert_eq!(found.len(), 1, "{from} is {to}");
    }
}

#[test]
fn a_storm_that_drops_nothing_is_noticed() {
    let set = (
        "register_action set_dropping (dropping) {\n    @lo = 1;",
        "register_action set_dropping (dropping) {\n    @lo = 0;",
    );
    let found = failures(&[set], storm());
    assert!(found[0].ends_with("in a storm"), "{found:?}");
}
