//! Through the switch, with time: ages swept by the packet generator, uplinks that fail and come back, order.

use crate::world::{Draws, World, frame, sets};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_pipeline::control::{ControlOp, ControlState, DeviceOp, Then};
use sluice_pipeline::engine::Engine;
use sluice_pipeline::ir::{ActionCall, KeyValue};
use sluice_pipeline::switch::{Left, Lost, RxFrame, Sink, Switch, SwitchConfig, Totals};
use sluice_programs::{SetupError, by_name};

/// What a run left.
#[derive(Default)]
struct Story {
    /// Tag, front-panel port, first bit in ns, of packets that left.
    sent: Vec<(u64, u16, u64)>,
    lost: Vec<(u64, String)>,
    totals: Option<Totals>,
    /// Packets of the counter `flowlets`: that went on, that began one.
    flowlets: [u64; 2],
}

struct Collect<'w> {
    world: &'w World,
    story: Story,
}

impl Sink for Collect<'_> {
    fn sent(&mut self, packet: &Left, _: &[u8], _: &[u8]) {
        let front = (0..64)
            .find(|f| {
                self.world
                    .ports
                    .front(FrontPort(*f))
                    .is_some_and(|p| p.dev_port.number() == packet.egress_port)
            })
            .unwrap();
        self.story.sent.push((packet.tag, front, packet.first_bit.as_nanos()));
    }

    fn lost(&mut self, packet: &Lost, _: &[u8], _: &[u8]) {
        self.story.lost.push((packet.tag, packet.reason.name(&self.world.program).to_owned()));
    }
}

/// The program with the generators of all pipes but the one of port 0 off: nobody sends into the others.
fn world(chip: &ChipSpec, name: &str, params: &[&str]) -> World {
    let mut world = World::on(chip, name, params);
    let setup = by_name(name).unwrap().default_setup(&world.program, &world.ports).unwrap();
    world.control = ControlState::new(&world.program);
    for op in setup.ops {
        let elsewhere =
            matches!(&op, ControlOp::Device(DeviceOp::EnablePktgenApp { pipe, .. }) if *pipe != 0);
        if !elsewhere {
            world.apply(op);
        }
    }
    world
}

/// Frames (ns, bytes) into port 0, in order of time, and operations on the way.
fn run(world: &World, frames: &[(u64, Vec<u8>)], later: &[(u64, ControlOp)], until: u64) -> Story {
    let engine = Engine::new(&world.program, &world.placement, &world.control).unwrap();
    let control = world.control.clone();
    let config = SwitchConfig::default();
    let mut switch =
        Switch::new(&world.program, &world.placement, &world.ports, control, engine, config).unwrap();
    for (ns, op) in later {
        switch.control(Time::from_nanos(*ns), op.clone()).unwrap();
    }
    let port = world.ports.front(FrontPort(0)).unwrap().dev_port;
    let mut collect = Collect { world, story: Story::default() };
    for (tag, (ns, bytes)) in (0..).zip(frames) {
        let rx = RxFrame { bytes, orig_len: bytes.len() as u32, tag };
        switch.rx(port, Time::from_nanos(*ns), rx).unwrap();
        switch.advance(Time::from_nanos(ns.saturating_sub(1)), &mut collect).unwrap();
    }
    switch.advance(Time::from_nanos(until), &mut collect).unwrap();
    assert!(switch.is_conserved());
    let mut story = collect.story;
    story.totals = Some(switch.totals().clone());
    if let Some((counter, _)) = world.program.counters.iter().find(|(_, c)| c.name == "flowlets") {
        let cells = &switch.state_of(0).unwrap().counters[counter];
        story.flowlets = [cells[0].packets, cells[1].packets];
    }
    story.sent.sort_unstable();
    story
}

/// Share of second packets so many ns after the first that begin a flowlet, over many phases of the sweep.
fn second_heads(chip: &ChipSpec, gap: u64) -> f64 {
    const ENTRIES: u64 = 256;
    const ROUNDS: u64 = 40;
    let world = world(chip, "letflow", &["detect=age", "timeout=100us", "flowlets=256"]);
    // One flow for each entry: their sweeps are spread over the period, so one round has as many phases.
    let flows = one_flow_for_each_entry(ENTRIES as usize);
    let mut frames = Vec::new();
    for round in 0..ROUNDS {
        for (at, bytes) in (0..).zip(&flows) {
            let first = 400_000 + round * 500_000 + round * 7_013 % 100_000 + at * 130;
            frames.push((first, bytes.clone()));
            frames.push((first + gap, bytes.clone()));
        }
    }
    frames.sort();
    let until = frames[frames.len() - 1].0 + 10_000;
    let story = run(&world, &frames, &[], until);
    assert_eq!(story.sent.len(), frames.len());
    let firsts = ENTRIES * ROUNDS;
    (story.flowlets[1] - firsts) as f64 / firsts as f64
}

/// Flows of which each has an entry of its own in a table of so many, found by their hash.
fn one_flow_for_each_entry(entries: usize) -> Vec<Vec<u8>> {
    let mut flows: Vec<Option<Vec<u8>>> = vec![None; entries];
    let mut n = 0;
    while flows.iter().any(Option::is_none) {
        let bytes = frame(n, 7, 20);
        let slot = crate::world::slot(&bytes, entries as u32) as usize;
        flows[slot].get_or_insert(bytes);
        n += 1;
    }
    flows.into_iter().flatten().collect()
}

#[test]
fn scenario_7_ages_end_flowlets_between_one_timeout_and_two() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        assert_eq!(second_heads(&chip, 99_000), 0.0, "{}", chip.name);
        let half = second_heads(&chip, 150_000);
        assert!((half - 0.5).abs() < 0.015, "{}: {half}", chip.name);
        // The batch is done before its period is over, so every entry is seen once in each window of that length.
        assert_eq!(second_heads(&chip, 200_000), 1.0, "{}", chip.name);
    }
}

#[test]
fn scenario_8_poisson_heads_by_ages() {
    // L = 0.01 packets per us and flow, D = 100 us: 0.23254 of the packets are heads.
    let world = world(&ChipSpec::tofino2(), "letflow", &["detect=age", "timeout=100us", "flowlets=64"]);
    let mut draws = Draws(81);
    let mut frames = Vec::new();
    for bytes in one_flow_for_each_entry(64) {
        let mut now = 500_000;
        for _ in 0..700 {
            now += draws.gap(100_000.0).max(10);
            frames.push((now, bytes.clone()));
        }
    }
    frames.sort();
    let until = frames[frames.len() - 1].0 + 10_000;
    let story = run(&world, &frames, &[], until);
    let heads = (story.flowlets[1] - 64) as f64 / (frames.len() - 64) as f64;
    assert!((heads - 0.23254).abs() < 0.008, "{heads}");
}

#[test]
fn sweeps_take_the_slots_that_they_should() {
    let world = world(&ChipSpec::tofino2(), "letflow", &["detect=age", "timeout=100us", "flowlets=1024"]);
    let story = run(&world, &[], &[], 1_000_000);
    let t = story.totals.unwrap();
    // Nine periods whole, and the first packets of the tenth.
    assert!((9 * 1_024..=9 * 1_024 + 100).contains(&t.made.pktgen), "{}", t.made.pktgen);
    assert_eq!(t.absorbed + 16 >= t.made.pktgen, true);
    assert_eq!(t.dropped, 0);
}

#[test]
fn a_table_that_the_generator_does_not_get_round_is_refused_with_the_sums() {
    let refused = |chip: &ChipSpec, params: &[&str]| -> SetupError {
        let program = by_name("letflow").unwrap().build(&sets(params)).unwrap();
        let ports = PortMap::default_for(chip).unwrap();
        by_name("letflow").unwrap().default_setup(&program, &ports).unwrap_err()
    };
    let text = refused(&ChipSpec::tofino(), &["detect=age", "flowlets=16384"]).to_string();
    assert_eq!(
        text,
        "the packet generator cannot age 16384 entries every 100us: a packet takes 6.72ns of its line at 100Gbps, \
         16384 of them 110.10048us; at most 14880 entries, or a timeout of at least that"
    );
    let text = refused(&ChipSpec::tofino2(), &["detect=age", "flowlets=65536"]).to_string();
    assert!(text.contains("1.68ns of its line at 400Gbps") && text.contains("at most 59523"), "{text}");
}

#[test]
fn frames_from_outside_age_nothing() {
    let world = world(&ChipSpec::tofino2(), "letflow", &["detect=age", "timeout=100us", "flowlets=64"]);
    let mut sweep = frame(1, 7, 20);
    sweep[12..14].copy_from_slice(&[0x88, 0xb5]);
    let story = run(&world, &[(10, sweep.clone()), (500, sweep)], &[], 50_000);
    assert_eq!(story.lost.iter().filter(|(_, why)| why == "not_ip").count(), 2);
}

/// Ports of a flow of a packet every 10 us whose uplink fails at 1 ms and comes back at 3 ms; the reasons of what was
/// lost.
fn failure(detect: &str, live: bool) -> (Vec<(u64, u16)>, Vec<String>, u16) {
    let params = ["timeout=100us", detect, "flowlets=64"];
    let world = world(&ChipSpec::tofino2(), "letflow", &params);
    let frames: Vec<(u64, Vec<u8>)> = (0..500).map(|n| (10_000 * n + 5_000, frame(3, 7, 20))).collect();
    let before = run(&world, &frames[..50], &[], 700_000);
    let dead = before.sent[0].1;
    let dev_port = world.dev_port(dead);
    let mut later = vec![
        (1_000_000, ControlOp::Device(DeviceOp::SetPort { port: dev_port, up: false })),
        (3_000_000, ControlOp::Device(DeviceOp::SetPort { port: dev_port, up: true })),
    ];
    if live {
        let profile = world.program.profile_named("uplinks").unwrap();
        let member = u32::from(dead - 8);
        let active = |active| ControlOp::SetMemberActive { profile, group: 1, member, active };
        let table = world.program.table_named("generation").unwrap();
        let action = world.program.action_named("set_generation").unwrap();
        let then = Then::Call(ActionCall { action, args: vec![2 << 16] });
        let raise = ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(1)], priority: 0, then };
        later.extend([(1_000_000, active(false)), (1_000_000, raise), (3_000_000, active(true))]);
    }
    later.sort_by_key(|(ns, _)| *ns);
    let story = run(&world, &frames, &later, 6_000_000);
    let sent = story.sent.iter().map(|(tag, port, _)| (tag * 10_000 + 5_000, *port)).collect();
    let lost = story.lost.into_iter().filter(|(tag, _)| *tag < 500).map(|(_, why)| why).collect();
    (sent, lost, dead)
}

#[test]
fn scenario_12_a_dead_uplink_is_left_by_the_next_packet() {
    for detect in ["detect=pair", "detect=split", "detect=age"] {
        let (sent, lost, dead) = failure(detect, true);
        assert_eq!((sent.len(), lost.len()), (500, 0), "{detect}");
        let after: Vec<u16> = sent.iter().filter(|(ns, _)| *ns > 1_000_000).map(|(_, port)| *port).collect();
        // One new draw, kept from then on: restoration ends no flowlet.
        assert!(after[0] != dead && after.iter().all(|p| *p == after[0]), "{detect}");
        assert!(sent.iter().filter(|(ns, _)| *ns < 1_000_000).all(|(_, port)| *port == dead));
    }
}

#[test]
fn scenario_12_without_the_control_plane_a_busy_flow_stays_in_the_black_hole() {
    let (sent, lost, dead) = failure("detect=pair", false);
    assert_eq!(lost.len(), 200);
    assert!(lost.iter().all(|why| why == "port_down"), "{lost:?}");
    assert!(sent.iter().all(|(_, port)| *port == dead));
}

#[test]
fn a_pause_gets_a_flow_out_of_the_black_hole() {
    // As a sender's timeout would make it: then chance finds another uplink seven times of eight.
    let world = world(&ChipSpec::tofino2(), "letflow", &["timeout=100us"]);
    let mut frames = Vec::new();
    for n in 0..400u64 {
        frames.push((n * 1_000 + 1, frame(n as u32, 7, 20)));
    }
    for n in 0..400u64 {
        frames.push((5_000_000 + n * 1_000, frame(n as u32, 7, 20)));
    }
    let story = run(&world, &frames, &[], 9_000_000);
    let port = |tag: u64| story.sent.iter().find(|(t, ..)| *t == tag).unwrap().1;
    let moved = (0..400).filter(|n| port(*n) != port(n + 400)).count() as f64 / 400.0;
    assert!((moved - 7.0 / 8.0).abs() < 0.05, "{moved}");
}

#[test]
fn a_group_without_uplinks_says_so() {
    for name in ["letflow", "spray", "drb", "presto"] {
        let mut world = World::new(name, &["weights=1,1"]);
        let profile = world.program.profile_named("uplinks").unwrap();
        for member in 0..2 {
            world.apply(ControlOp::SetMemberActive { profile, group: 1, member, active: false });
        }
        let story = run(&world, &[(100, frame(1, 7, 20))], &[], 100_000);
        assert_eq!(story.lost, [(0, "no_uplink".to_owned())], "{name}");
    }
}
