//! Recirculation and resubmit.

use crate::movement::device::{Frame, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::units::{BitRate, Bytes, Cycles, Duration, Time};
use sluice_switch::{FUNCTIONAL_RECIRCULATIONS, Mode};

/// Kind 1 is resubmitted, kind 2 recirculates `laps` times on the port in `hop`; all are sent on dev_port 16.
const LAPS: &str = r#"program laps;
header again : ingress { bit<8> mark; bit<8> turn; }
header h : ingress { bit<8> kind; bit<8> value; bit<8> laps; bit<8> hop; }
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<1> ig.resubmit_flag; bit<9> ig_tm.ucast_egress_port; bit<3> dprsr.resubmit_type;
}
counter passes : ingress { kind = packets_and_bytes; size = 4; }
action first : ingress () {
    again.mark = h.value;
    again.turn = 8w0x77;
    h.value = 8w0xee;
    dprsr.resubmit_type = 3w1;
    ig_tm.ucast_egress_port = 9w8;
    count(passes, 2w1);
}
action second : ingress () {
    h.laps = again.mark;
    h.hop = again.turn;
    dprsr.resubmit_type = 3w1;
    ig_tm.ucast_egress_port = 9w16;
    count(passes, 2w2);
}
action around : ingress () { h.laps = sub(h.laps, 8w1); count(passes, 2w3); }
action by_6 : ingress () { ig_tm.ucast_egress_port = 9wRECIRC; }
action by_7 : ingress () { ig_tm.ucast_egress_port = 9wOTHER; }
action leave : ingress () { ig_tm.ucast_egress_port = 9w16; count(passes, 2w0); }
action pass : ingress () { ig_tm.ucast_egress_port = 9w16; }
parser ingress {
    start = first_state;
    state first_state { select (ig.resubmit_flag) { (1) : parse_again; default : parse_h; } }
    state parse_again { extract(again); transition parse_h; }
    state parse_h { extract(h); transition accept; }
}
control ingress {
    if (valid(again)) {
        call second;
    } else if (h.kind == 8w1) {
        call first;
    } else if (h.kind == 8w2) {
        if (h.laps == 8w0) {
            call leave;
        } else {
            call around;
            if (h.hop == 8w0) { call by_6; } else { call by_7; }
        }
    } else {
        call pass;
    }
}
deparser ingress {
    resubmit(1, again);
    emit(h);
}
"#;

pub(crate) fn world(chip: &ChipSpec) -> World {
    let ports = if chip.name == "tofino" { ("68", "69") } else { ("6", "7") };
    World::new(chip, &LAPS.replace("RECIRC", ports.0).replace("OTHER", ports.1))
}

fn bytes(kind: u8, value: u8, laps: u8, hop: u8, len: usize) -> Vec<u8> {
    let mut list = vec![kind, value, laps, hop];
    list.extend((4..len).map(|i| i as u8));
    list
}

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

#[test]
fn a_resubmitted_packet_keeps_its_bytes_and_brings_its_data() {
    for chip in chips() {
        let story = world(&chip).run(&[frame(8, 0, &bytes(1, 0x21, 3, 4, 100))]);
        // `value` is as it arrived; `laps` and `hop` come from the resubmit header; the header itself is gone.
        assert_eq!(story.out(), [(16, &*bytes(1, 0x21, 0x21, 0x77, 100))], "{}", chip.name);
        assert_eq!((story.totals.resubmitted, story.totals.created, story.totals.recirculated), (1, 0, 0));
        // The second pass sees the two bytes in front as well.
        let counted: Vec<(u64, u64)> = story.counters[0].iter().map(|c| (c.packets, c.bytes)).collect();
        assert_eq!(counted, [(0, 0), (1, 100), (1, 102), (0, 0)]);
        let passes = story.passes(Gress::Ingress);
        let [one, two] = passes.as_slice() else { panic!("{passes:?}") };
        let clock = chip.mau.clock;
        let way = u64::from(chip.latency.resubmit);
        let left = clock.first_edge_at_or_after(one.left).get();
        assert_eq!(two.cycle, Cycles(left + way), "{}", chip.name);
        assert_eq!((story.held, story.totals.sent), (0, 1));
    }
}

#[test]
fn a_lap_takes_egress_the_line_and_the_way_back() {
    for chip in chips() {
        for len in [60usize, 1500] {
            let story = world(&chip).run(&[frame(8, 0, &bytes(2, 0, 3, 0, len))]);
            assert_eq!(story.out(), [(16, &*bytes(2, 0, 0, 0, len))], "{}", chip.name);
            assert_eq!((story.totals.recirculated, story.totals.created, story.totals.sent), (3, 0, 1));
            let (ingress, egress) = (story.passes(Gress::Ingress), story.passes(Gress::Egress));
            assert_eq!((ingress.len(), egress.len()), (4, 4));
            let rate = chip.ports.recirculation_rate;
            let speeds = &chip.ports.speeds;
            let hold = speeds.iter().find(|s| s.speed == rate).unwrap().ingress_hold_cycles;
            let hold = chip.mau.clock.span(Cycles(hold.into()));
            for lap in 0..3 {
                // Preamble; then the whole frame or its head; then the constant.
                let body = rate.time_for(Bytes(len as u64 + 4)).min(hold);
                let at = egress[lap].left + rate.time_for(Bytes(8)) + body + chip.latency.recirculation;
                let edge = chip.mau.clock.first_edge_at_or_after(at);
                assert_eq!(ingress[lap + 1].cycle, edge, "{} lap {lap}", chip.name);
                assert_eq!(ingress[lap + 1].waited, Cycles(0));
            }
        }
    }
}

#[test]
fn recirculation_ports_of_a_pipe_share_one_line() {
    let chip = ChipSpec::tofino2();
    // Eight long packets at once from four front ports, half of them on each recirculation port.
    let frames: Vec<Frame> = (0..8u16)
        .map(|i| frame(8 + 8 * (i % 4), u64::from(i / 4) * 40, &bytes(2, i as u8, 1, (i % 2) as u8, 1500)))
        .collect();
    let story = world(&chip).run(&frames);
    assert_eq!((story.totals.recirculated, story.totals.sent), (8, 8));
    let line = BitRate::from_gbps(400).time_for(Bytes(1524));
    let mut second: Vec<Time> = story.passes(Gress::Ingress)[8..].iter().map(|p| p.entered).collect();
    second.sort_unstable();
    let apart = second[7].saturating_since(second[0]);
    // Within a clock of seven line times, not three.
    assert!(
        apart + Duration::from_nanos(1) >= line * 7 && apart <= line * 7 + Duration::from_nanos(1),
        "{apart}"
    );
    let counters = |p: u16| story.totals.ports.iter().find(|q| q.dev_port == p).unwrap();
    assert_eq!((counters(6).rx_packets, counters(7).tx_packets), (4, 4));
    assert_eq!(counters(6).name, "recirc:6");
}

#[test]
fn a_packet_behind_a_lap_comes_after_it_however_late_it_is_given() {
    // All five are passed in before the switch runs: the recirculation of the first is between it and the others.
    let w = world(&ChipSpec::tofino2());
    let frames: Vec<Frame> = (0..5u8)
        .map(|i| frame(8, 50_000 * u64::from(i), &bytes(if i == 0 { 2 } else { 0 }, i, 1, 0, 60)))
        .collect();
    let story = w.run(&frames);
    let tags: Vec<u64> = story.passes(Gress::Ingress).iter().map(|p| p.tag).collect();
    assert_eq!(tags, [0, 0, 1, 2, 3, 4]);
    assert!(story.passes(Gress::Ingress).iter().all(|p| p.waited == Cycles(0)));
}

#[test]
fn without_time_the_same_bytes_leave_and_loops_end() {
    let w = world(&ChipSpec::tofino2());
    let frames = [
        frame(8, 0, &bytes(1, 0x21, 3, 4, 100)),
        frame(8, 10, &bytes(2, 0, 40, 1, 700)),
        frame(16, 20, &bytes(0, 9, 9, 9, 64)),
        frame(8, 30, &bytes(2, 0, 200, 0, 64)),
    ];
    let story = w.run_functional(&frames);
    let expected = [bytes(1, 0x21, 0x21, 0x77, 100), bytes(2, 0, 0, 1, 700), bytes(0, 9, 9, 9, 64)];
    assert_eq!(story.out(), expected.each_ref().map(|b| (16, &**b)));
    assert_eq!(story.lost.len(), 1);
    assert_eq!(story.lost[0].0.reason.name(&w.program), "too_many_laps");
    assert_eq!(story.totals.recirculated, 40 + u64::from(FUNCTIONAL_RECIRCULATIONS) + 1);
    assert_eq!(story.totals.resubmitted, 1);
}

#[test]
fn many_packets_on_their_ways_do_not_depend_on_batches() {
    for chip in chips() {
        let w = world(&chip);
        let frames: Vec<Frame> = (0..120u64)
            .map(|i| {
                let (kind, laps) = ((i % 3) as u8, (i * 7 % 5) as u8);
                let port = if chip.name == "tofino" { [0, 4, 128] } else { [8, 24, 136] }[(i % 3) as usize];
                let b = bytes(kind, i as u8, laps, (i % 2) as u8, 60 + (i as usize * 37) % 900);
                frame(port, i * 9, &b)
            })
            .collect();
        let story = w.run(&frames);
        assert_eq!(story.totals.received, 120);
        assert!(story.totals.sent + story.totals.dropped == 120 && story.held == 0, "{:?}", story.totals);
        assert!(story.totals.recirculated > 60 && story.totals.resubmitted == 40);
    }
}

#[test]
fn a_run_ends_at_its_end_with_what_still_goes_around() {
    let endless =
        LAPS.replace("sub(h.laps, 8w1)", "sub(h.laps, 8w0)").replace("RECIRC", "6").replace("OTHER", "7");
    let w = World::new(&ChipSpec::tofino2(), &endless);
    let story = w.run_as(Mode::Timed, &[frame(8, 0, &bytes(2, 0, 1, 0, 60))], Time::from_nanos(20_000));
    // The packet came from outside: the run waits for it.
    assert!(story.busy);
    assert_eq!((story.held, story.totals.sent), (1, 0));
    assert!(story.totals.recirculated >= 20, "{}", story.totals.recirculated);
}
