//! The ghost thread: queue depths that ingress sees, in the order of its packets.

use crate::movement::device::{Frame, Story, World, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::gress::Gress;
use sluice_asic::units::Time;
use sluice_build::*;
use sluice_control::{ControlOp, DeviceOp};
use sluice_ir::Program;
use sluice_ir::text;
use sluice_ir::verify;
use sluice_place::report::Report;
use sluice_place::{place, verify as verify_placement};
use sluice_switch::{Mode, SwitchConfig};

#[derive(params::Params, Default)]
struct NoParams {}

/// What hosts send
#[derive(Header)]
#[allow(dead_code, reason = "fields that no statement names")]
struct Probe {
    number: Bits<8>,
    /// Depths that ingress saw
    left: Bits<32>,
    right: Bits<32>,
}

/// Per-packet metadata
#[derive(Header)]
struct Meta {
    diff: Bits<32>,
}

/// Packets go to queue 0 or 1 of dev_port 16, whichever is shorter; the ghost control keeps their depths.
#[stage_program]
fn shorter(ig: &GressBuilder<'_>) -> [RegisterRef<32>; 2] {
    let probe = ig.header::<Probe>();
    let m = ig.metadata::<Meta>();
    let tm = ig.intrinsic::<tna::ForTm>();
    /// Cells of queue 0
    let first = ig.register::<32>(1);
    /// Cells of queue 1
    let second = ig.register::<32>(1);
    let read_first = ig.register_action(first, |r| {
        r.out = r.value;
    });
    let read_second = ig.register_action(second, |r| {
        r.out = r.value;
    });

    let start = ig.state().extract(probe);
    ig.start(start);
    ig.control(|c| {
        tm.ucast_egress_port = 16;
        probe.left = read_first.execute(0);
        probe.right = read_second.execute(0);
        m.diff = probe.left.sat_sub(probe.right);
        if m.diff != 0 {
            tm.qid = 1;
        }
    });
    ig.deparser().emit(probe);
    [first, second]
}

#[stage_program]
fn depths(ghost: &GressBuilder<'_>, [first, second]: [RegisterRef<32>; 2]) {
    let update = ghost.intrinsic::<tna::Ghost>();
    let keep_first = ghost.register_action(first, |r| {
        r.value = update.qlength.cast::<32>();
    });
    let keep_second = ghost.register_action(second, |r| {
        r.value = update.qlength.cast::<32>();
    });
    ghost.control(|c| {
        // dev_port 16 is MAC 2 of pipe 0: its queues are 0x100 and 0x101.
        if update.pipe_id == 0 {
            if update.qid == 0x100 {
                keep_first.execute(0);
            } else if update.qid == 0x101 {
                keep_second.execute(0);
            }
        }
    });
}

fn program() -> Program {
    let b = Builder::new("shorter", "Takes the shorter of two queues");
    depths(&b.ghost(), shorter(&b.ingress()));
    b.finish(&NoParams {}).unwrap_or_else(|d| panic!("{d:#?}"))
}

fn world() -> World {
    World::of(&ChipSpec::tofino2(), program())
}

fn pause(queue: u8, paused: bool) -> ControlOp {
    ControlOp::Device(DeviceOp::PauseQueue { port: 16, queue, paused })
}

fn probe(number: u8, len: usize) -> Vec<u8> {
    let mut bytes = vec![number];
    bytes.resize(len, 0);
    bytes
}

/// Returns number, queue, and the depths that the packet saw.
fn seen(story: &Story) -> Vec<(u8, u8, u32, u32)> {
    let word = |b: &[u8]| u32::from_be_bytes(b.try_into().unwrap());
    let mut list: Vec<_> =
        story.sent.iter().map(|(l, b)| (b[0], l.qid, word(&b[1..5]), word(&b[5..9]))).collect();
    list.sort_unstable();
    list
}

#[test]
fn ingress_takes_the_shorter_queue() {
    let mut w = world().with(pause(0, true)).with(pause(1, true));
    w.later = vec![(Time::from_nanos(8_000), pause(0, false)), (Time::from_nanos(9_000), pause(1, false))];
    // The third takes two cells; from 8 us on queue 0 is empty, from 9 us on both.
    let mut frames: Vec<Frame> =
        (0..7u8).map(|n| frame(8, 500 * u64::from(n), &probe(n, if n == 2 { 200 } else { 60 }))).collect();
    frames.push(frame(8, 8_500, &probe(7, 60)));
    frames.push(frame(8, 20_000, &probe(8, 60)));
    let story = w.run(&frames);
    let expected = [
        (0, 0, 0, 0),
        (1, 1, 1, 0),
        (2, 0, 1, 1),
        (3, 1, 3, 1),
        (4, 1, 3, 2),
        (5, 0, 3, 3),
        (6, 1, 4, 3),
        (7, 0, 0, 4),
        (8, 0, 0, 0),
    ];
    assert_eq!(seen(&story), expected);
    // Four pipes are notified: seven times of a packet that joined; of the packets that left at 8 us and at 9 us once
    // each, because they left together; of each of the last two packets once, because they left as soon as they came.
    assert_eq!(story.totals.ghost_updates, 4 * 11);
}

#[test]
fn a_packet_sees_the_updates_that_entered_before_it() {
    let clock = ChipSpec::tofino2().mau.clock;
    let enqueue = clock.span(sluice_asic::units::Cycles(ChipSpec::tofino2().latency.tm_enqueue.into()));
    let mut told = [0, 0];
    for gap in 0..60 {
        let second = Frame { port: 24, time: Time::from_ps(130_000 + 667 * gap), bytes: probe(1, 60) };
        let mut w = world().with(pause(0, true));
        w.later.push((Time::from_nanos(5_000), pause(0, false)));
        let story = w.run(&[frame(8, 0, &probe(0, 60)), second]);
        let passes = story.passes(Gress::Ingress);
        let update = clock.first_edge_at_or_after(passes[0].left + enqueue).get() + 1;
        let saw = seen(&story)[1].2;
        assert_eq!(saw, u32::from(passes[1].cycle.get() > update), "gap {gap}");
        told[saw as usize] += 1;
    }
    assert!(told[0] > 5 && told[1] > 5, "{told:?}");
}

#[test]
fn no_batch_reaches_over_an_update() {
    let mut w = world();
    w.config.port_speeds = vec![(16, "50G".parse().unwrap())];
    // Four ports send faster than the port takes, in bursts with gaps between them.
    let frames: Vec<Frame> = (0..300u64)
        .map(|i| {
            frame(
                [8, 24, 32, 136][i as usize % 4],
                (i / 4) * 9 + i / 80 * 700,
                &probe(i as u8, 60 + (i as usize * 53) % 700),
            )
        })
        .collect();
    let story = w.run(&frames);
    let list = seen(&story);
    assert_eq!((story.totals.sent, story.held), (300, 0));
    let (zero, one) = (list.iter().filter(|s| s.1 == 0).count(), list.iter().filter(|s| s.1 == 1).count());
    assert!(zero > 60 && one > 60, "{zero} {one}");
    // Updates of one queue are gathered while they wait: at most one in four cycles.
    let cycles = story.sent.iter().map(|(l, _)| l.last_bit).max().unwrap().since_origin().as_nanos() * 3 / 2;
    assert!(story.totals.ghost_updates <= 4 * (cycles / 4 + 1), "{} in {cycles}", story.totals.ghost_updates);
    assert!(story.totals.ghost_updates > 4 * 100);
}

#[test]
fn both_share_one_stateful_alu_in_one_stage() {
    let w = world();
    assert_eq!(verify_placement(&w.program, &w.placement), []);
    let report = Report::new(&w.program, &w.placement);
    let ghosts: Vec<_> = report.tables.iter().filter(|t| t.control == "ghost").collect();
    assert!(!ghosts.is_empty());
    let shown = sluice_report::text(&report);
    assert!(shown.lines().any(|l| l.contains(" ghost ")), "{shown}");
    let alus: u32 = report.stages.iter().map(|s| s.used[9]).sum();
    assert_eq!(alus, 2, "one for each register, whoever accesses it");
}

#[test]
fn tofino_and_runs_without_time_refuse_it() {
    let program = program();
    let reason = place(&program, &ChipSpec::tofino()).unwrap_err().reason();
    assert!(reason.contains("the program has a ghost control, which tofino does not run"), "{reason}");
    let mut w = world();
    w.config = SwitchConfig { mode: Mode::Functional, ..SwitchConfig::default() };
    let refused = sluice_switch::Switch::new(
        &w.program,
        &w.placement,
        &w.ports,
        sluice_control::ControlState::new(&w.program),
        Box::new(sluice_exec::reference::Reference::new(
            &w.program,
            &sluice_control::ControlState::new(&w.program),
            Default::default(),
        )),
        w.config.clone(),
    );
    let text = refused.err().unwrap().to_string();
    assert_eq!(
        text,
        "program `shorter` sees queue depths in its ghost control, which needs time; run it without --functional"
    );
}

/// Every rule for the ghost control, broken once.
const WRONG: &str = r#"program wrong;
label gone = drop;
header h : ingress { bit<32> a; }
metadata : ingress { bit<32> m.x; }
intrinsic : ingress {
    bit<9> ig.ingress_port; bit<9> ig_tm.ucast_egress_port; bit<18> ghost.qlength; bit<11> ghost.qid;
    bit<3> dprsr.drop_ctl;
}
counter seen : ingress { kind = packets; size = 4; }
action keep : ingress () { m.x = h.a; h.a = 32w1; drop(gone); count(seen, 2w1); }
action port : ingress () { m.x = cast(ig.ingress_port, 32); set_valid(h); }
action to : ingress () { ig_tm.ucast_egress_port = 9w1; m.x = cast(ghost.qlength, 32); }
parser ingress { start = s; state s { extract(h); transition accept; } }
control ingress { call to; if (ghost.qid == 11w1) { call to; } }
control ghost { call keep; call port; }
deparser ingress { emit(h); }
"#;

#[test]
fn what_a_thread_without_a_packet_may_not_do() {
    let program = text::parse(WRONG).unwrap_or_else(|e| panic!("{e}"));
    let findings: Vec<String> = verify::verify(&program).iter().map(|d| d.text.clone()).collect();
    for wanted in [
        "the ghost control reads `h.a`, but it has no packet and so no headers",
        "the ghost control writes `h.a`, but it has no packet and no deparser",
        "the ghost control drops, but it has no packet",
        "the ghost control counts packets or bytes, but it has no packet",
        "the ghost control reads `ig.ingress_port`, but it has no packet and so no intrinsic metadata of packets",
        "the ghost control writes `h.$valid`, but it has no packet and no deparser",
        "ingress reads `ghost.qlength`, which only the ghost control can read",
        "ingress reads `ghost.qid`, which only the ghost control can read",
        "the ghost control writes no register, so it has no effect",
    ] {
        assert!(findings.iter().any(|f| f == wanted), "{wanted}\n{findings:#?}");
    }
}
