//! Packet generators: their packets enter a real port, take its line and slots, and let a program keep time.

use crate::movement::device::{Frame, Story, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::pktgen::{AppConfig, Match, Trigger};
use sluice_asic::units::{Bytes, Cycles, Duration, Time};
use sluice_build::net::PktgenTimer;
use sluice_build::*;
use sluice_control::{ControlOp, DeviceError, DeviceOp};
use sluice_ir::Program;
use sluice_switch::{GENERATED, Mode, SwitchConfig};

#[derive(params::Params, Default)]
struct NoParams {}

/// What hosts send
#[derive(Header)]
#[allow(dead_code, reason = "fields that no statement names")]
struct Flow {
    /// 0: a packet of the flow; 1: goes around once by the generator's port
    kind: Bits<8>,
    slot: Bits<8>,
    value: Bits<16>,
}

/// Per-packet metadata
#[derive(Header)]
struct Aged {
    before: Bits<8>,
}

/// Flows age: each packet of a flow makes the flow live for three more ticks. Generated packets tick all sixteen slots
/// one after the other, and the tick at which a flow ends is sent on port 16.
#[stage_program]
fn ageing(ig: &GressBuilder<'_>, generator: u64) {
    let (flow, made) = (ig.header::<Flow>(), ig.header::<PktgenTimer>());
    let know = ig.intrinsic::<tna::Ingress>();
    let tm = ig.intrinsic::<tna::ForTm>();
    let m = ig.metadata::<Aged>();
    let quiet = ig.consume_label("Tick that ended no flow");
    /// Ticks left
    let ttl = ig.register::<8>(16);
    let refresh = ig.register_action(ttl, |r| {
        r.value = 3;
    });
    /// One tick; tells what was left before it
    let tick = ig.register_action(ttl, |r| {
        r.out = r.value;
        if r.value != 0 {
            r.value -= 1;
        }
    });

    let start = ig.state().select(know.ingress_port);
    let parse_flow = ig.state().extract(flow);
    let parse_made = ig.state().extract(made);
    start.on(generator, parse_made).otherwise(parse_flow);
    ig.start(start);

    ig.control(|c| {
        tm.ucast_egress_port = 16;
        if made.is_valid() {
            m.before = tick.execute(made.packet.slice::<3, 0, 4>());
            if m.before != 1 {
                drop(quiet);
            }
        } else if flow.kind == 0 {
            refresh.execute(flow.slot.slice::<3, 0, 4>());
        } else {
            flow.kind = 0;
            tm.ucast_egress_port = generator + 1;
        }
    });
    ig.deparser().emit(made).emit(flow);
}

fn program(generator: u16) -> Program {
    let b = Builder::new("ageing", "Forgets flows that say nothing");
    ageing(&b.ingress(), generator.into());
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

/// The generator's port of pipe 0.
fn port(chip: &ChipSpec) -> u16 {
    if chip.name == "tofino" { 68 } else { 6 }
}

fn app(config: AppConfig) -> ControlOp {
    ControlOp::Device(DeviceOp::SetPktgenApp { pipe: 0, app: 1, config: Box::new(config) })
}

fn enable(enabled: bool) -> ControlOp {
    ControlOp::Device(DeviceOp::EnablePktgenApp { pipe: 0, app: 1, enabled })
}

fn buffer(offset: u32, bytes: &[u8]) -> ControlOp {
    ControlOp::Device(DeviceOp::WritePktgenBuffer { pipe: 0, offset, bytes: bytes.to_vec() })
}

/// Returns a world in which application 1 of pipe 0 is enabled from the start.
fn world(chip: &ChipSpec, config: AppConfig) -> World {
    let world = World::of(chip, program(port(chip))).with(app(config)).with(enable(true));
    world.with(buffer(0, &[0x5a; 64]))
}

fn every(micros: u64, packets: u32, port: u16) -> AppConfig {
    let trigger = Trigger::Periodic { period: Duration::from_micros(micros) };
    AppConfig { packets, packet_gap: Duration::from_nanos(20), ..AppConfig::new(trigger, 58, port.into()) }
}

fn made(story: &Story) -> Vec<&[u8]> {
    story.sent.iter().filter(|(l, _)| l.tag == GENERATED).map(|(_, b)| &b[..6]).collect()
}

#[test]
fn flows_that_say_nothing_end_by_generated_ticks() {
    for chip in chips() {
        let mut w = world(&chip, every(10, 16, port(&chip)));
        w.lasts = Time::from_nanos(100_000);
        // Slot 5 once; slot 9 again at 25 us.
        let flows =
            [frame(8, 0, &[0, 5, 0, 1]), frame(8, 10, &[0, 9, 0, 1]), frame(8, 25_000, &[0, 9, 0, 2])];
        let story = w.run(&flows);
        // Ticks at 10, 20, 30 us: slot 5 ends in the third batch; slot 9 lives until 30 + 3 * 10.
        let pipe_0_app_1 = 1;
        assert_eq!(
            made(&story),
            [[pipe_0_app_1, 0, 0, 0, 0, 5], [pipe_0_app_1, 0, 0, 0, 0, 9]],
            "{}",
            chip.name
        );
        let ends: Vec<u64> = story
            .sent
            .iter()
            .filter(|(l, _)| l.tag == GENERATED)
            .map(|(l, _)| l.first_bit.as_nanos() / 10_000)
            .collect();
        assert_eq!(ends, [3, 5]);
        let t = &story.totals;
        // Ten periods, except for packets that are on their way at the end.
        assert_eq!((t.received, t.sent, t.dropped), (3, 5, 0));
        assert!(t.made.pktgen >= 9 * 16 && t.made.pktgen == t.created, "{t:?}");
        assert_eq!(t.absorbed + 2 + story.held, t.made.pktgen);
        assert!(!story.busy, "a run does not wait for generated packets");
        let p = t.ports.iter().find(|p| p.dev_port == port(&chip)).unwrap();
        assert_eq!((p.rx_packets, p.rx_bytes), (t.made.pktgen, 64 * t.made.pktgen));
    }
}

#[test]
fn a_generated_packet_takes_the_line_the_fifo_and_a_slot_of_its_port() {
    for chip in chips() {
        let mut w = world(&chip, every(10, 3, port(&chip)));
        w.lasts = Time::from_nanos(12_000);
        let story = w.run(&[]);
        let rate = chip.ports.recirculation_rate;
        let hold = chip.ports.speeds.iter().find(|s| s.speed == rate).unwrap().ingress_hold_cycles;
        let hold = chip.mau.clock.span(Cycles(hold.into()));
        let passes = story.passes(Gress::Ingress);
        assert_eq!(passes.len(), 3);
        let line = rate.time_for(Bytes(64 + 24));
        let mut start = Time::from_nanos(10_000);
        for pass in passes {
            let parser = start + rate.time_for(Bytes(8)) + rate.time_for(Bytes(68)).min(hold);
            assert_eq!(pass.cycle, chip.mau.clock.first_edge_at_or_after(parser), "{}", chip.name);
            // The gap is from start to start on Tofino, from end to start on Tofino 2, and never less than the line.
            let body = rate.time_for(Bytes(64));
            let next = if chip.name == "tofino" { start } else { start + body } + Duration::from_nanos(20);
            start = next.max(start + line);
        }
    }
}

#[test]
fn recirculated_and_generated_packets_share_one_line() {
    let chip = ChipSpec::tofino2();
    // 1500 bytes take 30.48 ns of the line; two of them get there while the generator wants to send without gaps.
    let config = AppConfig { packet_gap: Duration::ZERO, ..every(1, 300, 6) };
    let mut w = world(&chip, config);
    w.lasts = Time::from_nanos(1_990);
    let mut long = vec![1, 0, 0, 0];
    long.resize(1500, 0);
    let frames: Vec<Frame> = (0..2).map(|i| frame(8, 800 + 40 * i, &long)).collect();
    let story = w.run(&frames);
    let entered: Vec<(Time, bool)> =
        story.passes(Gress::Ingress).iter().map(|p| (p.entered, p.tag == GENERATED)).collect();
    assert_eq!(entered.iter().filter(|(_, made)| *made).count(), 300);
    assert_eq!(story.totals.recirculated, 2);
    let made: Vec<u64> = entered.iter().filter(|(_, made)| *made).map(|(t, _)| t.as_ps()).collect();
    // 300 packets of 88 bytes of line and two of 1524: 300 * 1760 + 2 * 30480 ps, without the last one's own time.
    let span = made.last().unwrap() - made[0];
    assert!(span.abs_diff(299 * 1760 + 2 * 30_480) <= 700, "{span}");
}

#[test]
fn generated_packets_do_not_depend_on_batches_or_on_when_frames_are_given() {
    for chip in chips() {
        let jitter = AppConfig {
            batches: 3,
            batch_gap: Duration::from_nanos(150),
            batch_jitter: Duration::from_nanos(40),
            packet_jitter: Duration::from_nanos(9),
            ..every(1, 7, port(&chip))
        };
        let mut w = world(&chip, jitter);
        w.lasts = Time::from_nanos(9_000);
        w.later.push((Time::from_nanos(5_100), enable(false)));
        w.later.push((Time::from_nanos(6_000), enable(true)));
        // Disabled, so that all packets have ended when the stories are compared.
        w.later.push((Time::from_nanos(7_800), enable(false)));
        let front = if chip.name == "tofino" { [0u16, 4] } else { [8, 24] };
        let frames: Vec<Frame> = (0..90u64)
            .map(|i| frame(front[i as usize % 2], i * 70, &[(i % 3 == 0).into(), i as u8 % 16, 0, i as u8]))
            .collect();
        let story = w.run(&frames);
        assert!(story.totals.made.pktgen > 100 && story.totals.recirculated == 30, "{:?}", story.totals);
        w.config = SwitchConfig { seed: 7, ..w.config };
        assert_ne!(w.run(&frames).passes, story.passes, "another seed, another jitter");
    }
}

#[test]
fn one_shot_port_down_and_recirculated_packets_trigger() {
    for chip in chips() {
        let p = port(&chip);
        let later = |trigger| AppConfig::new(trigger, 58, p.into());
        let mut w = world(&chip, later(Trigger::OneShot { after: Duration::from_nanos(700) }));
        w.lasts = Time::from_nanos(50_000);
        assert_eq!(w.run(&[]).totals.made.pktgen, 1);

        let local = if chip.name == "tofino" { 4 } else { 16 };
        let mut w = world(&chip, later(Trigger::PortDown { ports: 1 << local }));
        w.lasts = Time::from_nanos(50_000);
        let port_state = |up| ControlOp::Device(DeviceOp::SetPort { port: local, up });
        w.later = vec![
            (Time::from_nanos(900), port_state(false)),
            (Time::from_nanos(1_000), port_state(false)),
            (Time::from_nanos(20_000), port_state(true)),
            (Time::from_nanos(30_000), port_state(false)),
        ];
        let flow = [0, 5, 0, 1];
        let story = w.run(&[frame(local, 10_000, &flow), frame(local, 25_000, &flow)]);
        assert_eq!((story.totals.made.pktgen, story.totals.sent, story.totals.dropped), (2, 1, 1));
        assert_eq!(story.lost.iter().filter(|(l, _)| l.reason.name(&w.program) == "port_down").count(), 1);

        // A recirculated packet begins with kind 0, slot 7, whatever its value.
        let mut key = Match::default();
        key.value[1] = 7;
        key.mask[..2].fill(0xff);
        let mut w = world(&chip, later(Trigger::Recirculation(key)));
        w.lasts = Time::from_nanos(50_000);
        let story =
            w.run(&[frame(8, 0, &[1, 7, 0, 1]), frame(8, 50, &[1, 8, 0, 1]), frame(8, 99, &[0, 7, 0, 1])]);
        let t = &story.totals;
        assert_eq!((t.made.pktgen, t.recirculated, t.sent), (1, 2, 3), "{}", chip.name);
    }
}

#[test]
fn pfc_changes_make_packets_on_tofino_2() {
    let chip = ChipSpec::tofino2();
    let pfc = AppConfig::new(Trigger::Pfc { header: [0xab; 16] }, 42, 6);
    let w = world(&chip, pfc);
    let mut switch = w.switch();
    let mut story = Story::default();
    let front = sluice_asic::port::DevPort::new(8).unwrap();
    switch.pfc_changed(front, Time::from_nanos(400)).unwrap();
    switch.advance(Time::from_nanos(40_000), &mut story).unwrap();
    assert_eq!(switch.totals().made.pktgen, 1);
    assert_eq!(story.lost[0].1[..8], [1, 0, 0, 0, 0, 0, 0xab, 0xab]);
    assert_eq!(switch.pktgen_counters(0, 1).unwrap().packets, 1);
}

#[test]
fn what_cannot_be_is_refused_with_its_sums() {
    let chip = ChipSpec::tofino2();
    let w = World::of(&chip, program(6));
    let refused = |op: ControlOp| w.switch().apply(op).unwrap_err().to_string();
    let long = AppConfig { offset: 16_352, ..every(1, 1, 6) };
    assert_eq!(
        refused(app(long)),
        "pipe 0, application 1: packet ends at byte 16410; the buffer has 16384: shorten or move it"
    );
    assert_eq!(
        refused(app(every(1, 1, 8))),
        "pipe 0, application 1: source port 8 is not one of the generator's; this pipe has 1, 2, 6, 7"
    );
    assert_eq!(
        refused(enable(true)),
        "pipe 0, application 1: packet generator application 1 has no configuration: configure it before enabling it"
    );
    assert_eq!(
        refused(buffer(16_380, &[0; 10])),
        "packet generator of pipe 0: 10 bytes at offset 16380 end at 16390, but the buffer has 16384 bytes; shorten or move them"
    );
    let of_pipe_9 = DeviceOp::SetPktgenApp { pipe: 9, app: 0, config: Box::new(every(1, 1, 6)) };
    assert_eq!(
        refused(ControlOp::Device(of_pipe_9)),
        "packet generator of pipe 9, which does not exist; the chip has pipes 0 to 3"
    );
    let tofino = World::of(&ChipSpec::tofino(), program(68));
    let request = AppConfig::new(Trigger::Request(Match::default()), 58, 68);
    let text = tofino.switch().apply(app(request)).unwrap_err().to_string();
    assert!(text.contains("deparser requests: this chip's packet generator has none"), "{text}");
    // A refused operation leaves no trace.
    let mut switch = w.switch();
    switch.apply(app(long)).unwrap_err();
    assert_eq!(switch.control_state().device, w.switch().control_state().device);
    let mut functional = World::of(&chip, program(6)).with(app(every(1, 1, 6)));
    functional.config.mode = Mode::Functional;
    assert_eq!(
        functional.switch().apply(enable(true)).unwrap_err().to_string(),
        DeviceError::Functional.to_string()
    );
}
