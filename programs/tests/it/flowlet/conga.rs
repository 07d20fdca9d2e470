//! CONGA: feedback between leaves, the choice, ties, ageing, failure; and the congestion that spines add.

use crate::flowlet::device::{Story, run_with, world};
use crate::flowlet::world::{Draws, Fate, Packet, World, colliding, flow, frame, numbered};
use sluice_asic::chip::ChipSpec;
use sluice_asic::clock::Clock;
use sluice_asic::meter::{Lpf, LpfConfig, LpfMode};
use sluice_asic::salu::State as Element;
use sluice_asic::units::{Cycles, Duration, Time};
use sluice_control::{ControlOp, DeviceOp, Then};
use sluice_exec::pass::Executor;
use sluice_ir::{ActionCall, KeyValue};
use sluice_switch::{Switch, SwitchConfig};

/// Nanoseconds of a tick, and the time at which tests begin: 10 ms are 39,062 ticks.
const TICK: u64 = 256;
const START: u64 = 100_000_000;

/// Congestion to leaf 1 over each uplink, as feedback has reported it at the start.
#[derive(Clone, Debug)]
struct Knows {
    local: Vec<u64>,
    to_leaf: Vec<u64>,
}

fn teach(world: &World, executor: &mut dyn Executor, knows: &Knows) {
    for (n, level) in knows.local.iter().enumerate() {
        world.write_at(executor, &numbered("local", n), 0, Element::single(8 + level));
    }
    for (n, level) in knows.to_leaf.iter().enumerate() {
        world.write_at(executor, &numbered("to_leaf", n), 1, Element::pair(8 + level, START / TICK));
    }
}

/// Runs on the reference and on the engine in batches: ports, bytes and all state must agree.
fn agreed(world: &World, knows: &Knows, packets: &[Packet]) -> Vec<Fate> {
    world.alike(|executor, batch| {
        teach(world, executor, knows);
        world.run(executor, packets, batch)
    })
}

/// Returns one packet of each of `n` flows to leaf 1.
fn heads(flows: u32, at: u64) -> Vec<Packet> {
    (0..flows).map(|n| Packet { ns: at + u64::from(n), bytes: frame(n, 7, 100) }).collect()
}

fn ports(fates: &[Fate]) -> Vec<u16> {
    fates.iter().map(|f| *f.as_ref().unwrap()).collect()
}

#[test]
fn scenario_24_the_least_of_what_is_worse() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let world = World::on(&chip, "conga", &["uplinks=4-6"]);
        let knows = Knows { local: vec![0, 1, 3], to_leaf: vec![5, 2, 2] };
        let taken = ports(&agreed(&world, &knows, &heads(60, START + 1_000)));
        assert!(taken.iter().all(|port| *port == 5), "{taken:?}");
        // 10 ms later no feedback counts: {0, 1, 3} remain.
        let later = heads(60, START + 10_000_000 + 2 * TICK);
        let taken = ports(&agreed(&world, &knows, &later));
        assert!(taken.iter().all(|port| *port == 4), "{taken:?}");
        // One tick earlier it counts.
        let taken = ports(&agreed(&world, &knows, &heads(60, START + 39_062 * TICK)));
        assert!(taken.iter().all(|port| *port == 5), "{taken:?}");
    }
}

#[test]
fn scenario_24_a_tie_keeps_the_uplink_that_a_flow_had() {
    let world = World::new("conga", &["uplinks=4-6", "timeout=10us"]);
    let even = Knows { local: vec![0; 3], to_leaf: vec![0; 3] };
    let tied = Knows { local: vec![0, 1, 2], to_leaf: vec![5, 2, 2] };
    let mut engine = world.engine();
    teach(&world, &mut engine, &even);
    let before = ports(&world.run(&mut engine, &heads(600, START), 1));
    let share = |taken: &[u16], port| taken.iter().filter(|p| **p == port).count();
    assert!((4..=6).all(|port| share(&before, port).abs_diff(200) < 60), "{before:?}");
    // After a pause uplinks 5 and 6 are tied: a flow on one of them keeps it, a flow on 4 draws one of both.
    teach(&world, &mut engine, &tied);
    let after = ports(&world.run(&mut engine, &heads(600, START + 50_000), 1));
    let mut moved = [0, 0];
    for (was, is) in before.iter().zip(&after) {
        match was {
            4 => moved[usize::from(*is) - 5] += 1,
            _ => assert_eq!(was, is),
        }
    }
    assert!(moved.iter().all(|n| *n > 60), "{moved:?}");
    // Without a pause no flow moves, whatever the congestion.
    teach(&world, &mut engine, &Knows { local: vec![0, 7, 7], to_leaf: vec![0; 3] });
    let busy = ports(&world.run(&mut engine, &heads(600, START + 55_000), 1));
    assert_eq!(busy, after);
}

#[test]
fn a_new_flowlet_takes_one_of_the_least_congested_and_keeps_its_own_if_it_is_one() {
    let mut draws = Draws(24);
    for uplinks in 2usize..=8 {
        let world = World::new("conga", &[&format!("uplinks=4-{}", 3 + uplinks), "timeout=10us"]);
        let mut engine = world.engine();
        let mut was: Option<u16> = None;
        for round in 0..400u64 {
            let mut some = || (0..uplinks).map(|_| draws.bits() % 3).collect::<Vec<u64>>();
            let knows = Knows { local: some(), to_leaf: some() };
            teach(&world, &mut engine, &knows);
            let worse: Vec<u64> = knows.local.iter().zip(&knows.to_leaf).map(|(a, b)| *a.max(b)).collect();
            let least = worse.iter().min().unwrap();
            let is = ports(&world.run(&mut engine, &flow(9, [START + round * 20_000]), 1))[0];
            let level = |port: u16| worse[usize::from(port) - 4];
            assert_eq!(level(is), *least, "{knows:?}");
            if was.is_some_and(|port| level(port) == *least) {
                assert_eq!(Some(is), was, "{knows:?}");
            }
            was = Some(is);
        }
    }
}

#[test]
fn a_colliding_flow_never_leaves_its_group() {
    // Only the first two uplinks lead to 10.2.0.0/16; both flows share one entry, and one influences the other.
    let world = World::new("conga", &["flowlets=256", "timeout=10us"]);
    let [two, any] = colliding(256, [2, 7]);
    let knows = Knows { local: vec![3, 3, 0, 0], to_leaf: vec![0; 4] };
    let mut packets = Vec::new();
    for n in 0..600u64 {
        // Occasional pauses before packets of either flow.
        let at = START + n * 4_000 + (n / 10) * 30_000;
        packets.push(Packet { ns: at, bytes: if n % 3 == 0 { two.clone() } else { any.clone() } });
    }
    let taken = ports(&agreed(&world, &knows, &packets));
    for (n, port) in taken.iter().enumerate() {
        assert!(if n % 3 == 0 { (4..=5).contains(port) } else { (4..=7).contains(port) }, "{n}: {port}");
    }
    assert!(taken.iter().any(|port| *port >= 6));
}

#[test]
fn first_packets_and_stamps_that_wrap() {
    let world = World::new("conga", &["tick=1ns", "timeout=10us", "age=1ms"]);
    let even = Knows { local: vec![0; 4], to_leaf: vec![0; 4] };
    // Right after the clock's zero, and over the wrap of 32 bits of nanoseconds: gaps of 5 us are none.
    for start in [0u64, (1 << 32) - 50_000, (1 << 33) - 7_500] {
        let taken = ports(&agreed(&world, &even, &flow(3, (0..30).map(|n| start + n * 5_000))));
        assert!(taken.iter().all(|port| *port == taken[0]), "{start}: {taken:?}");
    }
}

/// Returns an encapsulated frame from a leaf to the leaf of the default entries, number 3.
pub(super) fn wrapped(from: u8, tags: u8, ce: u8, feedback: u8, inner: &[u8]) -> Vec<u8> {
    wrapped_to(3, from, [tags, ce, feedback], inner)
}

fn wrapped_to(to: u8, from: u8, [tags, ce, feedback]: [u8; 3], inner: &[u8]) -> Vec<u8> {
    let length = (inner.len() + 36) as u16;
    let mut ip = vec![
        0x45,
        0,
        (length >> 8) as u8,
        length as u8,
        0,
        0,
        0,
        0,
        64,
        17,
        0,
        0,
        10,
        255,
        0,
        from,
        10,
        255,
        0,
        to,
    ];
    let sum = ip.chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum::<u32>();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let udp = [&[0xc0, 1, 0x12, 0xb5][..], &(length - 20).to_be_bytes(), &[0, 0]].concat();
    let ethernet = [&[2; 12][..], &[8, 0]].concat();
    [&ethernet[..], &ip, &udp, &[8, tags, ce, feedback, 0, 0, 1, 0], inner].concat()
}

/// Returns the bytes sent on each front-panel port, with their arrival times.
pub(super) fn device(world: &World, frames: &[(u64, Vec<u8>)]) -> Vec<(u64, u16, Vec<u8>)> {
    let story = run_with(world, SwitchConfig::default(), frames, &[], frames[frames.len() - 1].0 + 300_000);
    let of = |tag: u64| story.bytes.iter().find(|(t, _)| *t == tag).map(|(_, b)| b.clone()).unwrap();
    story.sent.iter().map(|(tag, port, _)| (*tag, *port, of(*tag))).collect()
}

#[test]
fn leaves_wrap_unwrap_and_tell_each_other() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let world = world(&chip, "conga", &[]);
        let home = frame(5, 1, 60);
        // Leaf 1 saw congestion 5 over its uplink 2, and reports congestion 4 over our uplink 1.
        let frames = vec![
            (1_000, wrapped(1, 0x21, 8 + 5, 8 + 4, &home)),
            (20_000, frame(1, 7, 60)),
            (22_000, frame(1, 7, 60)),
            (24_000, frame(1, 7, 60)),
            (26_000, frame(1, 7, 60)),
            (28_000, frame(1, 1, 60)),
        ];
        let out = device(&world, &frames);
        assert_eq!(out.len(), 6);
        // Decapsulated, with the TTL decremented once, to the host of 10.1.1.0/24.
        let (_, port, bytes) = &out[0];
        assert_eq!((*port, bytes.len(), &bytes[..22], bytes[22] + 1), (0, home.len(), &home[..22], home[22]));
        // Feedback takes turns over four uplinks of leaf 1: the congestion of the third is known.
        let fed: Vec<(u8, u8)> = out[1..5].iter().map(|(_, _, b)| (b[43] & 3, b[45])).collect();
        assert_eq!(fed, [(0, 0), (1, 0), (2, 13), (3, 0)]);
        for (_, port, bytes) in &out[1..5] {
            assert!((4..=7).contains(port) && *port != 5, "uplink 1 met 4: {port}");
            assert_eq!(bytes[43] >> 4, (*port - 4) as u8, "the tag is the uplink's");
            assert_eq!(bytes.len(), frame(1, 7, 60).len() + 50);
            let ip = &bytes[14..34];
            let sum = ip.chunks(2).map(|c| u32::from(c[0]) << 8 | u32::from(c[1])).sum::<u32>();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "checksum");
            assert_eq!(ip[12..20], [10, 255, 0, 3, 10, 255, 0, 1]);
            assert_eq!(usize::from(u16::from_be_bytes([ip[2], ip[3]])), bytes.len() - 14);
            assert_eq!(usize::from(u16::from_be_bytes([bytes[38], bytes[39]])), bytes.len() - 34);
            assert_eq!((bytes[36], bytes[37], bytes[42], bytes[44]), (0x12, 0xb5, 8, 8));
        }
        // Between hosts of one leaf no packet is encapsulated.
        assert_eq!((out[5].1, out[5].2.len()), (0, frame(1, 1, 60).len()));
    }
}

/// Returns a frame with another type of service in the IPv4 header that begins at this byte, and its checksum.
fn with_tos(mut frame: Vec<u8>, ip: usize, tos: u8) -> Vec<u8> {
    frame[ip + 1] = tos;
    frame[ip + 10..ip + 12].fill(0);
    let sum = sluice_pcaps::wire::Checksum::new().with(&frame[ip..ip + 20]).finish();
    frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
    frame
}

#[test]
fn the_overlay_has_the_class_of_its_packet_and_its_marks_are_the_packet_s() {
    let world = world(&ChipSpec::tofino2(), "conga", &[]);
    // DSCP 3; ECT(0), CE and not ECN-capable.
    const CLASS: u8 = 3 << 2;
    let (ect, ce, deaf) = (CLASS | 2, CLASS | 3, CLASS);
    let out_of = |tos| with_tos(frame(1, 7, 60), 14, tos);
    let home = |outer, inner| with_tos(wrapped(1, 0, 8, 0, &with_tos(frame(5, 1, 60), 14, inner)), 14, outer);
    let frames = vec![
        (1_000, out_of(ect)),
        (3_000, out_of(ce)),
        (5_000, out_of(deaf)),
        (7_000, home(ect, ect)),
        (9_000, home(ce, ect)),
        (11_000, home(ce, deaf)),
        (13_000, home(ect, ce)),
    ];
    let out = device(&world, &frames);
    let tos: Vec<u8> = out.iter().map(|(_, _, bytes)| bytes[15]).collect();
    assert_eq!(tos, [ect, ce, deaf, ect, ce, deaf, ce]);
    for (_, _, bytes) in &out {
        assert_eq!(sluice_pcaps::wire::Checksum::new().with(&bytes[14..34]).finish(), 0);
    }
}

/// External packets that were lost; generated ones have no number.
fn outside(story: &Story) -> Vec<(u64, String)> {
    story.lost.iter().filter(|(tag, _)| *tag != u64::MAX).cloned().collect()
}

#[test]
fn what_is_not_for_this_leaf_is_dropped_with_its_reason() {
    let world = world(&ChipSpec::tofino2(), "conga", &[]);
    let mut spoilt = wrapped(1, 0, 8, 0, &frame(5, 1, 60));
    spoilt[24] ^= 1;
    let mut other = wrapped(1, 0, 8, 0, &frame(5, 1, 60));
    other[37] ^= 1;
    let frames = vec![(1_000, wrapped(1, 0, 8, 0, &frame(5, 7, 60))), (2_000, spoilt), (3_000, other)];
    let story = run_with(&world, SwitchConfig::default(), &frames, &[], 100_000);
    let wanted =
        [(0, "stray"), (1, "bad_overlay"), (2, "bad_overlay")].map(|(tag, why)| (tag, why.to_owned()));
    assert_eq!(outside(&story), wanted);
}

#[test]
fn the_own_uplinks_are_measured_and_left_when_they_are_busy() {
    // One flow without pauses loads a 400G uplink to about 0.9; new flows then avoid that uplink.
    let world = world(&ChipSpec::tofino2(), "conga", &["tau=20us", "period=5us", "timeout=50us"]);
    let busy = frame(1, 7, 1_392);
    let mut frames: Vec<(u64, Vec<u8>)> = (0..3_000).map(|n| (10_000 + n * 35, busy.clone())).collect();
    frames.extend((0..200).map(|n| (70_017 + n * 170, frame(100 + n as u32, 7, 20))));
    frames.sort();
    let story = run_with(&world, SwitchConfig::default(), &frames, &[], 400_000);
    assert_eq!(story.sent.len(), frames.len());
    let is_busy = |tag: &u64| frames[*tag as usize].1.len() == busy.len();
    let taken = story.sent.iter().find(|(tag, ..)| is_busy(tag)).unwrap().1;
    assert!(story.sent.iter().filter(|(tag, ..)| is_busy(tag)).all(|(_, port, _)| *port == taken));
    let others: Vec<u16> = story.sent.iter().filter(|(tag, ..)| !is_busy(tag)).map(|s| s.1).collect();
    assert!(others.iter().all(|port| *port != taken), "{taken}: {others:?}");
}

/// Returns the third byte of VXLAN of each packet that a spine sent; the load is in hundredths of 400G.
fn met(load: u64, ce: &[u8]) -> Vec<u8> {
    let world = world(&ChipSpec::tofino2(), "conga", &["role=spine", "tau=20us"]);
    // 1476 bytes and 24 around them take 30 ns.
    let inner = frame(1, 7, 1_476 - 50 - 54);
    let frames: Vec<(u64, Vec<u8>)> = (0..4_000u64)
        .map(|n| (1_000 + n * 3_000 / load, wrapped_to(2, 1, [0, ce[n as usize % ce.len()], 0], &inner)))
        .collect();
    let story = run_with(&world, SwitchConfig::default(), &frames, &[], 5_000_000);
    assert_eq!(story.sent.len(), 4_000, "{:?}", outside(&story));
    assert!(story.sent.iter().all(|(_, port, _)| *port == 1), "leaf 2 is at port 1");
    story.bytes.iter().filter(|(tag, _)| *tag >= 3_900).map(|(_, b)| b[44]).collect()
}

#[test]
fn scenario_25_a_spine_raises_what_was_met_to_its_link() {
    // 0.69 of the link are five eighths and a half.
    let found = met(69, &[8 + 3, 8 + 6]);
    let (low, high): (Vec<u8>, Vec<u8>) =
        (found.iter().step_by(2).copied().collect(), found.iter().skip(1).step_by(2).copied().collect());
    assert!(low.iter().all(|ce| *ce == 8 + 5), "{low:?}");
    assert!(high.iter().all(|ce| *ce == 8 + 6), "{high:?}");
    // An idle link adds nothing, and a full link no more than seven.
    assert!(met(3, &[8]).iter().all(|ce| *ce == 8));
    assert!(met(100, &[8 + 2]).iter().all(|ce| *ce == 8 + 7));
}

/// The exact estimator: charged by packets, and decayed by a fifth every 30 us.
struct Exact {
    x: f64,
    next: u64,
}

impl Exact {
    fn send(&mut self, ns: u64, bytes: u32) {
        while ns >= self.next {
            self.x *= 0.8;
            self.next += 30_000;
        }
        self.x += f64::from(bytes);
    }
}

#[test]
fn scenario_23_the_filter_beside_the_exact_estimator() {
    let clock = ChipSpec::tofino2().mau.clock;
    let cycles = |clock: Clock, ns: u64| Cycles(clock.first_edge_at_or_after(Time::from_nanos(ns)).get());
    let filter =
        |clock| Lpf::new(LpfConfig::new(LpfMode::Rate, Duration::from_micros(150), 0, clock).unwrap());
    // 5 Gb/s for 3 ms: 93,750 bytes before a decay and 75,000 after it; the filter stays close to the former value.
    let (mut exact, mut lpf) = (Exact { x: 0.0, next: 30_000 }, filter(clock));
    let (mut before, mut seen) = (0.0, Vec::new());
    for n in 0..1_250u64 {
        let ns = n * 2_400;
        if ns >= exact.next {
            before = exact.x;
        }
        exact.send(ns, 1_500);
        seen.push((ns, f64::from(lpf.execute(cycles(clock, ns), 1_500))));
    }
    assert!((before - 93_750.0).abs() < 1_600.0, "{before}");
    let settled: Vec<f64> = seen.iter().filter(|(ns, _)| *ns > 1_500_000).map(|(_, x)| *x).collect();
    let (least, most) = settled.iter().fold((f64::MAX, 0.0f64), |(l, m), x| (l.min(*x), m.max(*x)));
    assert!(least > 93_750.0 * 0.97 && most < 93_750.0 * 1.03, "{least} {most}");
    // After five periods the exact estimator has 1 - 0.8^5 = 0.672 of the load, the filter 1 - 1/e = 0.632.
    let risen = seen.iter().find(|(ns, _)| *ns >= 150_000).unwrap().1 / 93_750.0;
    assert!((risen - 0.632).abs() < 0.04, "{risen}");
    // Loads from a tenth to all of 10G: eighths of the settled filter are those of the load, one off at the edges.
    for tenths in 1..=10u64 {
        let mut lpf = filter(clock);
        let gap = 12_000 / tenths;
        let last = (0..2_000_000 / gap).map(|n| lpf.execute(cycles(clock, n * gap), 1_500)).last().unwrap();
        let (found, wanted) = (f64::from(last) / 187_500.0 * 8.0, tenths as f64 * 0.8);
        assert!((found - wanted).abs() < 0.03 * wanted + 0.1, "{tenths}: {found} {wanted}");
    }
}

#[test]
fn a_dead_uplink_is_left_at_once_and_comes_back() {
    let world = world(&ChipSpec::tofino2(), "conga", &["timeout=20us"]);
    let set = |up| ControlOp::Device(DeviceOp::SetPort { port: world.dev_port(4), up });
    let profile = world.program.profile_named("uplinks").unwrap();
    let active = |active| ControlOp::SetMemberActive { profile, group: 1, member: 0, active };
    let table_entry = |table: &str, action: &str, args: &[u128]| {
        let table = world.program.table_named(table).unwrap();
        let action = world.program.action_named(action).unwrap();
        let then = Then::Call(ActionCall { action, args: args.to_vec() });
        ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(1)], priority: 0, then }
    };
    let (down, up) = (1_000_000, 2_000_000);
    let mut later = vec![
        (down, table_entry("reach", "set_reach", &[31, 0, 0, 0])),
        (down, active(false)),
        (down, table_entry("generation", "set_generation", &[2 << 16])),
        (down, set(false)),
        (up, set(true)),
        (up, active(true)),
    ];
    let (mut twin, table) = (World::new("conga", &[]), world.program.table_named("reach").unwrap());
    twin.apply(table_entry("reach", "set_reach", &[31, 0, 0, 0]));
    let key = [KeyValue::Exact(1)];
    let entry = twin.control.tables[table].entries().find(|(_, e)| e.key == key).unwrap().0;
    later.push((up, ControlOp::DeleteEntry { table, entry }));
    // A hundred flows, of which ten never pause, a packet every 400 ns. When the uplink is back there are new flows,
    // because the old ones have no reason to move.
    let bytes: Vec<Vec<u8>> = (0..200).map(|n| frame(n, 7, 200)).collect();
    let flow_of = |n: usize| {
        let new = if n > 5_000 { 100 } else { 0 };
        new + if n.is_multiple_of(2) { n / 2 % 10 } else { 10 + n / 2 % 90 }
    };
    let frames: Vec<(u64, Vec<u8>)> =
        (0..7_500usize).map(|n| (400 * n as u64 + 5, bytes[flow_of(n)].clone())).collect();
    let story = run_with(&world, SwitchConfig::default(), &frames, &later, 3_500_000);
    assert_eq!((story.sent.len(), outside(&story)), (frames.len(), Vec::new()));
    let by_dead = |from: u64, to: u64| {
        let in_time = |tag: u64| (from..to).contains(&(tag * 400 + 5));
        story.sent.iter().filter(|(tag, port, _)| *port == 4 && in_time(*tag)).count()
    };
    assert!(by_dead(0, down) > 300, "{}", by_dead(0, down));
    assert_eq!(by_dead(down, up), 0);
    assert!(by_dead(up + 100_000, 3_000_000) > 100, "{}", by_dead(up + 100_000, 3_000_000));
}

#[test]
fn uplinks_of_another_pipe_are_refused() {
    // Ports 0 to 7 of a Tofino 2 are of one pipe.
    for name in ["conga", "hula"] {
        let world = World::new(name, &["uplinks=8-11"]);
        let (control, engine, config) = (world.control.clone(), world.engine(), SwitchConfig::default());
        let refused =
            Switch::new(&world.program, &world.placement, &world.ports, control, Box::new(engine), config);
        let why = refused.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains("pipe"), "{name}: {why}");
    }
}
