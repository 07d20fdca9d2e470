//! Rounds of packet generators that change nothing are skipped, and nothing shows it but the time that a run takes.

use crate::movement::device::{Frame, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::pktgen::{AppConfig, AppCounters, Trigger};
use sluice_asic::units::{Duration, Time};
use sluice_build::net::PktgenTimer;
use sluice_build::*;
use sluice_control::{ControlOp, DeviceOp};
use sluice_exec::pass::State;
use sluice_ir::{CounterKind, Program};
use sluice_switch::{Held, Left, Lost, RxFrame, Sink, Totals};

#[derive(params::Params, Default)]
struct NoParams {}

/// What a generated packet does in addition to its tick.
#[derive(Clone, Copy, Debug, Default)]
struct Does {
    reads_clock: bool,
    draws: bool,
    counts: bool,
    resubmits: bool,
    leaves: bool,
}

/// What hosts send
#[derive(Header)]
struct Flow {
    slot: Bits<8>,
    /// Replaced by a random number
    value: Bits<8>,
}

/// Per-packet metadata
#[derive(Header)]
struct Aged {
    before: Bits<8>,
    low: Bits<8>,
}

/// Resubmit header
#[derive(Header)]
#[allow(dead_code, reason = "fields that no statement names")]
struct Again {
    before: Bits<8>,
    pad: Bits<56>,
}

/// Each packet of a flow makes the flow's slot live for three more ticks; generated packets tick all slots.
#[stage_program]
fn ageing(ig: &GressBuilder<'_>, generator: u64, does: Does) {
    let (flow, made, again) = (ig.header::<Flow>(), ig.header::<PktgenTimer>(), ig.header::<Again>());
    let know = ig.intrinsic::<tna::Ingress>();
    let (tm, stamp) = (ig.intrinsic::<tna::ForTm>(), ig.intrinsic::<tna::FromParser>().global_tstamp);
    let (flag, resubmit) = (ig.intrinsic::<tna::Resubmitted>(), ig.intrinsic::<tna::ForResubmit>());
    let m = ig.metadata::<Aged>();
    let quiet = ig.consume_label("Tick");
    let coin = ig.random::<8>();
    /// Packets of flows, and ticks if they count
    let ticks = ig.counter(16, CounterKind::Packets);
    /// Ticks left
    let ttl = ig.register::<8>(16);
    let refresh = ig.register_action(ttl, |r| {
        r.value = 3;
    });
    let tick = ig.register_action(ttl, |r| {
        r.out = r.value;
        if r.value != 0 {
            r.value -= 1;
        }
    });
    let start = ig.state().select(flag.resubmit_flag);
    let parse_again = ig.state().extract(again);
    let parse_first = ig.state().select(know.ingress_port);
    let parse_flow = ig.state().extract(flow);
    let parse_made = ig.state().extract(made);
    start.on(1, parse_again).otherwise(parse_first);
    parse_again.otherwise(parse_made);
    parse_first.on(generator, parse_made).otherwise(parse_flow);
    ig.start(start);
    ig.control(|c| {
        tm.ucast_egress_port = 16;
        if made.is_valid() {
            if again.is_valid() {
                drop(quiet);
            } else {
                m.before = tick.execute(made.packet.slice::<3, 0, 4>());
                if does.reads_clock {
                    m.low = stamp.slice::<7, 0, 8>();
                }
                if does.draws {
                    m.low = coin.get();
                }
                if does.counts {
                    ticks.count(made.packet.slice::<3, 0, 4>());
                }
                if does.resubmits {
                    again.before = m.before;
                    resubmit.resubmit_type = 1;
                } else if !does.leaves {
                    drop(quiet);
                }
            }
        } else {
            ticks.count(flow.slot.slice::<3, 0, 4>());
            flow.value = coin.get();
            refresh.execute(flow.slot.slice::<3, 0, 4>());
        }
    });
    ig.deparser().emit(made).emit(flow).resubmit(1, again);
}

fn program(generator: u16, does: Does) -> Program {
    let b = Builder::new("ageing", "Forgets flows that say nothing");
    ageing(&b.ingress(), generator.into(), does);
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

/// Notes what leaves; counts the packets that end inside.
struct Notes {
    needs_every_round: bool,
    sent: Vec<(Left, Vec<u8>)>,
    ended: u64,
}

impl Sink for Notes {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.sent.push((*packet, [head, tail].concat()));
    }

    fn lost(&mut self, _: &Lost, _: &[u8], _: &[u8]) {
        self.ended += 1;
    }

    fn watches(&self) -> bool {
        false
    }

    fn needs_every_round(&self) -> bool {
        self.needs_every_round
    }
}

/// Everything that shows at the end of a run.
#[derive(Debug, PartialEq)]
struct End {
    sent: Vec<(Left, Vec<u8>)>,
    totals: Totals,
    held: Held,
    states: Vec<State>,
    generator: Option<AppCounters>,
    next: Option<Time>,
}

/// Runs frames, and then up to `until`; returns the end, and the packets that ended inside as the sink saw them.
fn run(world: &World, frames: &[Frame], until: Time, needs_every_round: bool) -> (End, u64) {
    let mut switch = world.switch();
    for (at, op) in &world.later {
        switch.control(*at, op.clone()).unwrap();
    }
    let mut notes = Notes { needs_every_round, sent: Vec::new(), ended: 0 };
    for (tag, f) in (0..).zip(frames) {
        let rx = RxFrame { bytes: &f.bytes, orig_len: f.bytes.len() as u32, tag };
        switch.rx(sluice_asic::port::DevPort::new(f.port).unwrap(), f.time, rx).unwrap();
        // Some frames are given ahead, as a replay does.
        if tag % 3 == 2 {
            switch.advance(f.time, &mut notes).unwrap();
        }
    }
    switch.advance(until, &mut notes).unwrap();
    assert!(switch.is_conserved());
    let end = End {
        sent: notes.sent,
        totals: switch.totals().clone(),
        held: switch.held(),
        states: (0..4).filter_map(|pipe| switch.state_of(pipe).cloned()).collect(),
        generator: switch.pktgen_counters(0, 1),
        next: switch.next_time(),
    };
    (end, notes.ended)
}

fn chips() -> [(ChipSpec, u16, [u16; 2]); 2] {
    [(ChipSpec::tofino2(), 6, [8, 24]), (ChipSpec::tofino(), 68, [0, 4])]
}

fn world(chip: &ChipSpec, port: u16, period: Duration, packets: u32, does: Does) -> World {
    let config = AppConfig {
        packets,
        packet_gap: Duration::from_nanos(20),
        ..AppConfig::new(Trigger::Periodic { period }, 58, port.into())
    };
    let set = ControlOp::Device(DeviceOp::SetPktgenApp { pipe: 0, app: 1, config: Box::new(config) });
    let on = ControlOp::Device(DeviceOp::EnablePktgenApp { pipe: 0, app: 1, enabled: true });
    World::of(chip, program(port, does)).with(set).with(on)
}

/// Frames with gaps of some 100 us to some ms, which no round fits into evenly.
fn frames(ports: [u16; 2]) -> Vec<Frame> {
    let at = [0, 700, 1_003_777, 1_004_000, 1_250_431, 2_999_999, 3_000_001];
    let frames = at.iter().zip(0u8..);
    frames.map(|(ns, n)| frame(ports[usize::from(n % 2)], *ns, &[n, 0xee])).collect()
}

#[test]
fn runs_with_skipped_rounds_are_equal_in_everything_but_the_calls_for_generated_packets() {
    for (chip, port, ports) in chips() {
        for resubmits in [false, true] {
            // Periods in ns: whole cycles, parts of cycles, and one that is longer than the shortest round.
            for (period, packets) in [(1_000, 8), (333, 2), (2_750, 16)] {
                let does = Does { resubmits, ..Does::default() };
                let w = world(&chip, port, Duration::from_nanos(period), packets, does);
                let until = Time::from_nanos(3_500_123);
                let (all, seen) = run(&w, &frames(ports), until, true);
                let (skipped, seen_by_skipping) = run(&w, &frames(ports), until, false);
                assert_eq!(all, skipped, "{} {period} ns", chip.name);
                assert_eq!(seen, all.totals.absorbed);
                // Each round is one packet per slot: what a day or 3.5 ms of it would have been.
                let rounds = 3_500_123 / period;
                assert!(
                    all.totals.made.pktgen.abs_diff(rounds * u64::from(packets)) <= 32,
                    "{:?}",
                    all.totals
                );
                // On Tofino, 50 periods of 333 ns are the first whole number of cycles: the short gaps are not worth it.
                assert!(
                    seen_by_skipping * 3 < seen * 2,
                    "{seen_by_skipping} of {seen}, {} {period}",
                    chip.name
                );
            }
        }
    }
}

#[test]
fn rounds_that_read_a_clock_or_a_number_count_or_leave_are_not_skipped() {
    let none = Does::default();
    let all = [
        Does { reads_clock: true, ..none },
        Does { draws: true, ..none },
        Does { counts: true, ..none },
        Does { leaves: true, ..none },
    ];
    for (chip, port, ports) in chips() {
        for does in all {
            let w = world(&chip, port, Duration::from_micros(5), 4, does);
            let until = Time::from_nanos(3_500_123);
            let (all, _) = run(&w, &frames(ports), until, true);
            let (other, seen) = run(&w, &frames(ports), until, false);
            assert_eq!(all, other, "{} {does:?}", chip.name);
            assert_eq!(seen, other.totals.absorbed, "{} {does:?}", chip.name);
        }
    }
}

#[test]
fn an_operation_during_a_gap_ends_what_was_skipped() {
    for (chip, port, ports) in chips() {
        let mut w = world(&chip, port, Duration::from_micros(1), 4, Does::default());
        let enable = |enabled| ControlOp::Device(DeviceOp::EnablePktgenApp { pipe: 0, app: 1, enabled });
        w.later =
            vec![(Time::from_nanos(400_100), enable(false)), (Time::from_nanos(2_000_500), enable(true))];
        let until = Time::from_nanos(3_500_123);
        let (all, seen) = run(&w, &frames(ports), until, true);
        let (skipped, less) = run(&w, &frames(ports), until, false);
        assert_eq!(all, skipped, "{}", chip.name);
        // 400 rounds before, 1499 after the pause.
        assert!(all.totals.made.pktgen.abs_diff(4 * 1_899) <= 8, "{:?}", all.totals);
        assert!(less * 3 < seen, "{less} of {seen}");
    }
}

#[test]
fn a_day_of_empty_rounds_takes_as_many_passes_as_some_of_them() {
    for (chip, port, ports) in chips() {
        let w = world(&chip, port, Duration::from_micros(1), 4, Does { resubmits: true, ..Does::default() });
        let day = Time::from_ps(86_400_000_000_000_000);
        let (end, seen) = run(&w, &frames(ports), day, false);
        // The first batch comes after one period, and packets of the last one are still inside.
        assert!(end.totals.made.pktgen.abs_diff(86_400 * 4_000_000) <= 4, "{:?}", end.totals);
        assert!(seen < 10_000, "{seen}");
    }
}
