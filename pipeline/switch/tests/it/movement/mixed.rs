//! Everything that acts back on a pipe at once: generated packets, requests to the generator, recirculations,
//! flow-control words of both gresses, ghost updates, deflection, bypasses of egress, and a control plane that
//! changes ports and queues. Results depend neither on executors nor on batches.

use crate::movement::device::{Frame, World, frame};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;
use sluice_asic::pktgen::{AppConfig, Match, Trigger};
use sluice_asic::port::DevPort;
use sluice_asic::salu::State as Element;
use sluice_asic::tm::{AfcMode, AfcWord};
use sluice_asic::units::{Cells, Duration, Time};
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::Register;
use sluice_ir::entity::Entity;
use sluice_switch::QueueSetup;

const MIXED: &str = r#"program mixed;
header h : ingress { bit<8> kind; bit<8> port; bit<32> word; bit<32> left; }
header made : ingress { bit<48> about; bit<8> key; }
header key : ingress { bit<8> kind; }
header e : egress { bit<8> kind; bit<8> port; bit<32> word; bit<32> left; }
metadata : ingress { bit<32> m.left; }
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; bit<7> ig_tm.qid; bit<32> dprsr.adv_flow_ctl;
    bit<1> dprsr.pktgen; bit<14> dprsr.pktgen_address; bit<10> dprsr.pktgen_length;
    bit<1> ig_tm.bypass_egress; bit<1> ig_tm.deflect_on_drop;
    bit<18> ghost.qlength; bit<11> ghost.qid;
}
intrinsic : egress { bit<32> dprsr.adv_flow_ctl; bit<32> eg.deq_timedelta; }
register depth : ingress { element = "32"; size = 2048; }
register_action keep (depth) { @lo = phv(cast(ghost.qlength, 32)); }
register_action look (depth) { @out0 = @lo; }
action update : ingress () { execute(keep, ghost.qid); }
action deep : ingress () { m.left = execute(look, 11w0x180); }
action tell : ingress () { h.left = m.left; ig_tm.deflect_on_drop = 1w1; }
action to : ingress () { ig_tm.ucast_egress_port = cast(h.port, 9); }
action second : ingress () { ig_tm.qid = 7w1; }
action around : ingress () { ig_tm.ucast_egress_port = 9w7; h.kind = 8w0; }
action send : ingress () { dprsr.adv_flow_ctl = h.word; }
action ask : ingress () {
    key.kind = h.kind;
    dprsr.pktgen = 1w1;
    dprsr.pktgen_address = 14w16;
    dprsr.pktgen_length = 10w40;
}
action past : ingress () { ig_tm.bypass_egress = 1w1; }
action answer : ingress () { ig_tm.ucast_egress_port = 9w24; }
action late : egress () { dprsr.adv_flow_ctl = e.word; }
action stamp : egress () { e.word = eg.deq_timedelta; }
parser ingress {
    start = s;
    state s { select (ig.ingress_port) { (6) : parse_made; default : parse_h; } }
    state parse_made { extract(made); transition accept; }
    state parse_h { extract(h); transition accept; }
}
parser egress { start = s; state s { extract(e); transition accept; } }
control ingress {
    if (valid(made)) {
        call answer;
    } else {
        call to;
        call deep;
        call tell;
        if (m.left != 32w0) { call second; }
        if (h.kind == 8w1) { call send; }
        else if (h.kind == 8w2) { call around; }
        else if (h.kind == 8w3) { call ask; }
        else if (h.kind == 8w4) { call past; }
    }
}
control egress { if (e.kind == 8w5) { call late; } else { call stamp; } }
control ghost { call update; }
deparser ingress { pktgen(1, key); emit(made); emit(h); }
deparser egress { emit(e); }
"#;

fn app(number: u8, trigger: Trigger) -> [ControlOp; 2] {
    let gap = Duration::from_nanos(13);
    let config =
        AppConfig { packets: 3, packet_gap: gap, packet_jitter: gap, ..AppConfig::new(trigger, 60, 6) };
    [
        ControlOp::Device(DeviceOp::SetPktgenApp { pipe: 0, app: number, config: Box::new(config) }),
        enable(number, true),
    ]
}

fn enable(app: u8, enabled: bool) -> ControlOp {
    ControlOp::Device(DeviceOp::EnablePktgenApp { pipe: 0, app, enabled })
}

fn world() -> World {
    let mut all = Match::default();
    all.mask[0] = 0x80;
    let mut w = World::new(&ChipSpec::tofino2(), MIXED);
    let triggers = [
        (0, Trigger::Periodic { period: Duration::from_nanos(650) }),
        (1, Trigger::Request(all)),
        (2, Trigger::Recirculation(all)),
        (3, Trigger::PortDown { ports: u128::MAX }),
    ];
    for (number, trigger) in triggers {
        for op in app(number, trigger) {
            w = w.with(op);
        }
    }
    let modes = [(0, AfcMode::Xoff), (1, AfcMode::Credit)];
    for (queue, mode) in modes {
        w = w.with(ControlOp::Device(DeviceOp::SetFlowControl { port: 24, queue, mode: Some(mode) }));
    }
    let w = w.with(ControlOp::Device(DeviceOp::SetDeflection { pipe: 0, to: Some((32, 2)) }));
    let mut w =
        w.with(ControlOp::Device(DeviceOp::WritePktgenBuffer { pipe: 0, offset: 0, bytes: vec![7; 80] }));
    w.config.queues = QueueSetup { limit: Cells(6), ..QueueSetup::default() };
    w.config.port_speeds = vec![(24, "100G".parse().unwrap())];
    w.later = (0..4).map(|app| (Time::from_nanos(5_500), enable(app, false))).collect();
    w.lasts = Time::from_nanos(9_000);
    w
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let chip = ChipSpec::tofino2();
    let word = move |queue: u8, credit: u16| {
        AfcWord::for_queue(&chip, DevPort::new(24).unwrap(), queue, credit).map_or(0, AfcWord::encode)
    };
    let one = (0..6u8, 0..3usize, 0..3usize, 0..90u64, 0..2u8, 0..5u16, 60..700usize);
    prop::collection::vec(one, 1..90).prop_map(move |list| {
        let mut now = 0;
        let frame_of =
            |(kind, from, to, gap, queue, credit, len): (u8, usize, usize, u64, u8, u16, usize)| {
                now += gap;
                let mut bytes = vec![kind, [24, 24, 16][to]];
                bytes.extend(word(queue, credit).to_be_bytes());
                bytes.resize(len, 0x11);
                frame([8, 40, 136][from], now, &bytes)
            };
        list.into_iter().map(frame_of).collect()
    })
}

fn operations() -> impl Strategy<Value = Vec<(Time, ControlOp)>> {
    let op = prop_oneof![
        (0..2u8, any::<bool>()).prop_map(|(queue, paused)| DeviceOp::PauseQueue { port: 24, queue, paused }),
        any::<bool>().prop_map(|up| DeviceOp::SetPort { port: 40, up }),
        any::<bool>().prop_map(|up| DeviceOp::SetPort { port: 16, up }),
        (0..4u8, any::<bool>()).prop_map(|(app, enabled)| DeviceOp::EnablePktgenApp {
            pipe: 0,
            app,
            enabled
        }),
    ];
    // The depths that the ghost thread keeps are cleared at once, and one is written in one pipe.
    let depth = Register::new(0);
    let op = prop_oneof![
        6 => op.prop_map(ControlOp::Device),
        1 => (any::<u16>(), prop::option::of(0..2u8)).prop_map(move |(busy, pipe)| {
            ControlOp::FastClear { register: depth, busy: busy.into() }.in_pipe(pipe)
        }),
        1 => (0..4u8, any::<u16>()).prop_map(move |(pipe, depth_now)| {
            let value = Some(Element::single(depth_now.into()));
            ControlOp::WriteRegister { register: depth, index: Some(0x180), value }.in_pipe(Some(pipe))
        }),
    ];
    let at = (0..5_000u64, op).prop_map(|(t, op)| (Time::from_nanos(t), op));
    prop::collection::vec(at, 0..8)
}

#[test]
fn everything_happens() {
    let chip = ChipSpec::tofino2();
    let word = |queue, credit| {
        AfcWord::for_queue(&chip, DevPort::new(24).unwrap(), queue, credit).unwrap().encode().to_be_bytes()
    };
    // The first pauses queue 0 of port 24; then come long packets for it, and one of each kind for port 16.
    let mut frames = vec![frame(8, 0, &[[1, 16].as_slice(), &word(0, 1), &[0; 70]].concat())];
    for i in 0..12u8 {
        frames.push(frame(40, 400 + 30 * u64::from(i), &[[0, 24].as_slice(), &[0; 500]].concat()));
        frames.push(frame(
            136,
            400 + 30 * u64::from(i),
            &[[i % 6, 16].as_slice(), &word(1, 2), &[0; 70]].concat(),
        ));
    }
    frames.push(frame(8, 3_000, &[[5, 16].as_slice(), &word(0, 0), &[0; 70]].concat()));
    let mut w = world();
    w.later.push((Time::from_nanos(4_000), ControlOp::Device(DeviceOp::SetPort { port: 40, up: false })));
    let story = w.run(&frames);
    let t = &story.totals;
    assert_eq!(t.recirculated, 2);
    // Periodic packets, two requests, two recirculations that do not match, a port that went down.
    assert!(t.made.pktgen >= 3 * (8 + 2 + 1), "{t:?}");
    let deflected = story.sent.iter().filter(|(l, _)| (l.egress_port, l.qid) == (32, 2)).count();
    assert!(deflected > 2, "{deflected}");
    let second = story.sent.iter().filter(|(l, _)| (l.egress_port, l.qid) == (24, 1)).count();
    assert!(second > 0, "the ghost thread told of a deep queue");
    assert!(t.ghost_updates > 100);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn stories_agree_and_add_up(frames in frames(), operations in operations()) {
        let mut w = world();
        w.later.extend(operations);
        let story = w.run_as(sluice_switch::Mode::Timed, &frames, Time::from_nanos(30_000));
        let t = &story.totals;
        prop_assert_eq!(t.received, frames.len() as u64);
        prop_assert_eq!(t.received + t.made.pktgen, t.sent + t.dropped + t.absorbed + story.held);
        prop_assert!(t.made.pktgen > 0 && t.ghost_updates > 0);
    }
}
