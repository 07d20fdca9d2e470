//! The properties of DstToR: they hold for the program, and fail for programs with a mistake.

use crate::conweave::destination::{old, request, rerouted, tail};
use crate::conweave::wire::{Cw, Flow, data, with_ecn};
use crate::conweave::world::{TICK, UPLINK};
use crate::lossless::bench::Bench;
use crate::switch::world::Frame;
use sluice_asic::chip::ChipSpec;

/// The program with these changes of its text.
fn program(changes: &[(&str, &str)]) -> Bench {
    Bench::broken("conweave", &["resume_default=30", "patience=9"], &ChipSpec::tofino2(), changes)
}

/// Returns the properties that fail in a run, each with its text.
fn failures(program: &Bench, frames: &[Frame]) -> Vec<(String, String)> {
    program.violations("conweave", frames, 5_000_000_000)
}

/// A packet for host 1 at a tick: on the old path by port 4, on the new one by port 5.
fn at(tick: u64, psn: u32, cw: Cw) -> Frame {
    let flow = Flow { src: [10, 0, 2, 1].into(), dst: [10, 0, 1, 1].into(), src_port: 49_152 };
    Frame::new(UPLINK + u16::from(cw.phase), tick * TICK * 1_000, cw.put(&data(flow, psn)))
}

/// An epoch whose new path is faster than its old one.
fn overtaking() -> Vec<Frame> {
    vec![
        at(0, 0, request(1, 100)),
        at(20, 10, rerouted(1, 121, 120)),
        at(22, 11, rerouted(1, 122, 120)),
        at(24, 1, old(1, 110)),
        at(28, 2, tail(1, 120)),
        at(40, 12, rerouted(1, 130, 120)),
        at(200, 20, request(2, 300)),
    ]
}

/// Packets of the new path, without any of the old one: they wait for 30 ticks.
fn alone() -> Vec<Frame> {
    vec![at(0, 10, rerouted(1, 121, 120)), at(4, 11, rerouted(1, 122, 120)), at(200, 20, request(2, 300))]
}

/// An RTT_REQUEST, and DATA and TAIL that met congestion.
fn congested() -> Vec<Frame> {
    let marked = |mut frame: Frame| {
        frame.bytes = with_ecn(frame.bytes, 3);
        frame
    };
    vec![at(0, 0, request(1, 100)), marked(at(5, 1, old(1, 105))), marked(at(10, 2, tail(1, 110)))]
}

/// An RTT_REPLY of an epoch that the flow is not in.
fn late_reply() -> Frame {
    at(0, 0, Cw { path: 1, opcode: 2, epoch: 3, ..Cw::default() })
}

#[test]
fn the_program_holds() {
    let late = vec![late_reply()];
    let program = program(&[]);
    for frames in [overtaking(), alone(), congested(), late] {
        assert_eq!(failures(&program, &frames), []);
    }
}

/// Asserts that a property fails in a run of the program with a changed text.
fn fails(property: &str, change: (&str, &str), runs: &[&[Frame]]) {
    let program = program(&[change]);
    for frames in runs {
        let found = failures(&program, frames);
        assert!(found.iter().any(|(name, _)| *name == property), "{change:?}: {found:?}");
    }
}

/// The copy that becomes an answer, by mirror session and kind.
fn copy(session: &str, kind: u8) -> String {
    format!("m.session = 10w{session};\n    copy.kind = 8w{kind};")
}

#[test]
fn answers_of_another_kind_are_noticed() {
    // RTT_REPLY, CLEAR and NOTIFY of DATA become NOTIFY, NOTIFY and CLEAR.
    for (kind, other) in [(2, 3), (1, 3), (3, 1)] {
        let change = (&*copy("0xdc", kind), &*copy("0xdc", other));
        fails("answers_as_modelled", change, &[&congested()]);
    }
    // CLEAR of a timer packet takes a mirror session that is not there.
    fails("answers_as_modelled", (&copy("0xdd", 1), &copy("0xdf", 1)), &[&overtaking()]);
}

#[test]
fn packets_that_wait_for_too_long_or_not_long_enough_are_noticed() {
    for ticks in ["0x40", "0x8"] {
        let change = ("d.resume = add(m.now, 32w0x1e);", &*format!("d.resume = add(m.now, 32w{ticks});"));
        fails("waits_as_modelled", change, &[&alone()]);
    }
}

#[test]
fn a_timer_packet_that_does_not_see_the_queue_drain_is_noticed() {
    let change = ("t.drained = execute(queued_compare, m.row);", "t.drained = 1w0;");
    // Without the packet that opens another epoch.
    let (alone, overtaking) = (alone(), overtaking());
    fails("waits_as_modelled", change, &[&alone[..alone.len() - 1], &overtaking[..overtaking.len() - 1]]);
}

#[test]
fn a_reply_that_goes_on_is_noticed() {
    fails("as_modelled", ("    drop(reply_late);\n", ""), &[&[late_reply()]]);
}
