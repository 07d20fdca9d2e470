//! Through the switch, with time: ages swept by the packet generator, uplinks that fail and come back, order.

use crate::flowlet::world::{Draws, World, frame, sets};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::Time;
use sluice_catalogue::SetupError;
use sluice_control::{ControlOp, ControlState, DeviceOp, Then};
use sluice_exec::engine::Engine;
use sluice_ir::{ActionCall, KeyValue};
use sluice_programs::catalogue;
use sluice_switch::{Left, Lost, RxFrame, Sink, Switch, SwitchConfig, Totals};

/// Results of a run.
#[derive(Default)]
pub(crate) struct Story {
    /// Tag, front-panel port, and time of the first bit in ns, of sent packets.
    pub(crate) sent: Vec<(u64, u16, u64)>,
    pub(crate) lost: Vec<(u64, String)>,
    /// Tag and bytes of sent packets, in that order.
    pub(crate) bytes: Vec<(u64, Vec<u8>)>,
    pub(crate) totals: Option<Totals>,
    /// Counter `flowlets`: packets that continued a flowlet, and packets that began one.
    flowlets: [u64; 2],
}

struct Collect<'w> {
    world: &'w World,
    story: Story,
}

impl Sink for Collect<'_> {
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]) {
        self.story.bytes.push((packet.tag, [head, tail].concat()));
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

/// The program with the generators of all pipes but that of port 0 off, because no frame enters the others.
pub(crate) fn world(chip: &ChipSpec, name: &str, params: &[&str]) -> World {
    let mut world = World::on(chip, name, params);
    let setup = catalogue().get(name).unwrap().default_setup(&world.program, &world.ports).unwrap();
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

/// Runs frames (ns, bytes) into port 0, in order of time, with operations in between.
pub(crate) fn run(world: &World, frames: &[(u64, Vec<u8>)], later: &[(u64, ControlOp)], until: u64) -> Story {
    run_with(world, SwitchConfig::default(), frames, later, until)
}

/// Runs the same on a device with this configuration.
pub(crate) fn run_with(
    world: &World,
    config: SwitchConfig,
    frames: &[(u64, Vec<u8>)],
    later: &[(u64, ControlOp)],
    until: u64,
) -> Story {
    let frames: Vec<(u64, u16, Vec<u8>)> = frames.iter().map(|(ns, bytes)| (*ns, 0, bytes.clone())).collect();
    run_from(world, config, &frames, later, until)
}

/// Runs frames (ns, front-panel port, bytes) into any ports.
pub(crate) fn run_from(
    world: &World,
    config: SwitchConfig,
    frames: &[(u64, u16, Vec<u8>)],
    later: &[(u64, ControlOp)],
    until: u64,
) -> Story {
    let engine = Engine::new(&world.program, &world.placement, &world.control).unwrap();
    let control = world.control.clone();
    let mut switch =
        Switch::new(&world.program, &world.placement, &world.ports, control, Box::new(engine), config)
            .unwrap();
    for (ns, op) in later {
        switch.control(Time::from_nanos(*ns), op.clone()).unwrap();
    }
    let mut collect = Collect { world, story: Story::default() };
    for (tag, (ns, port, bytes)) in (0..).zip(frames) {
        let port = world.ports.front(FrontPort(*port)).unwrap().dev_port;
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

/// Returns the share of second packets, this many ns later, that begin a flowlet, over many phases of the sweep.
fn second_heads(chip: &ChipSpec, gap: u64, rounds: u64) -> f64 {
    const ENTRIES: u64 = 256;
    let world = world(chip, "letflow", &["detect=age", "timeout=100us", "flowlets=256"]);
    // One flow for each entry, whose sweeps are spread over the period; rounds begin at phases evenly apart.
    let flows = one_flow_for_each_entry(ENTRIES as usize);
    let mut frames = Vec::new();
    for round in 0..rounds {
        for (at, bytes) in (0..).zip(&flows) {
            let first = 400_000 + round * 500_000 + round * 100_000 / rounds + at * 130;
            frames.push((first, bytes.clone()));
            frames.push((first + gap, bytes.clone()));
        }
    }
    frames.sort();
    let until = frames[frames.len() - 1].0 + 10_000;
    let story = run(&world, &frames, &[], until);
    assert_eq!(story.sent.len(), frames.len());
    let firsts = ENTRIES * rounds;
    (story.flowlets[1] - firsts) as f64 / firsts as f64
}

/// Returns flows that each have a separate entry in a table of `n`, found by their hash.
fn one_flow_for_each_entry(entries: usize) -> Vec<Vec<u8>> {
    let mut flows: Vec<Option<Vec<u8>>> = vec![None; entries];
    let mut n = 0;
    while flows.iter().any(Option::is_none) {
        let bytes = frame(n, 7, 20);
        let slot = crate::flowlet::world::slot(&bytes, entries as u32) as usize;
        flows[slot].get_or_insert(bytes);
        n += 1;
    }
    flows.into_iter().flatten().collect()
}

#[test]
fn scenario_7_ages_end_flowlets_between_one_timeout_and_two() {
    // Ten thousand phases on one chip, fewer on the other, whose generator counts its gaps differently.
    for (chip, rounds, most) in [(ChipSpec::tofino2(), 40, 0.015), (ChipSpec::tofino(), 5, 0.045)] {
        assert_eq!(second_heads(&chip, 99_000, 4), 0.0, "{}", chip.name);
        let half = second_heads(&chip, 150_000, rounds);
        assert!((half - 0.5).abs() < most, "{}: {half}", chip.name);
        // The batch is done before its period is over, so every entry is seen once in each window of that length.
        assert_eq!(second_heads(&chip, 200_000, 4), 1.0, "{}", chip.name);
    }
}

#[test]
fn scenario_8_poisson_heads_by_ages() {
    // L = 0.01 packets per us and flow, D = 100 us: 0.23254 of the packets begin a flowlet.
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
    // Nine complete periods, and the first packets of the tenth.
    assert!((9 * 1_024..=9 * 1_024 + 100).contains(&t.made.pktgen), "{}", t.made.pktgen);
    assert!(t.absorbed + 16 >= t.made.pktgen);
    assert_eq!(t.dropped, 0);
}

#[test]
fn a_table_that_the_generator_does_not_get_round_is_refused_with_the_sums() {
    let refused = |chip: &ChipSpec, params: &[&str]| -> SetupError {
        let program = catalogue().get("letflow").unwrap().build(&sets(params)).unwrap();
        let ports = PortMap::default_for(chip).unwrap();
        catalogue().get("letflow").unwrap().default_setup(&program, &ports).unwrap_err()
    };
    let text = refused(&ChipSpec::tofino(), &["detect=age", "flowlets=16384"]).to_string();
    assert_eq!(
        text,
        "the packet generator cannot visit 16384 elements every 100us: a packet takes 6.72ns of its line at 100Gbps, \
         16384 of them 110.10048us; at most 14880 elements, or a period of at least that"
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

/// Returns the ports of a flow, a packet every 10 us, whose uplink fails at 1 ms and is back at 3 ms, and the drop
/// reasons.
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
        // One new draw, which the flow keeps: restoration ends no flowlet.
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
    // As a sender's timeout would cause: a draw finds another uplink seven times of eight.
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

/// Returns the shares of the uplinks in the bytes of flows with very unequal flowlets.
fn shares(name: &str, params: &[&str], uplinks: usize) -> Vec<f64> {
    let world = world(&ChipSpec::tofino2(), name, &[&["timeout=20us"], params].concat());
    let mut draws = Draws(27);
    let mut frames = Vec::new();
    for n in 0..400u64 {
        // One flowlet of each flow: mostly short, some long.
        let packets = if draws.bits().is_multiple_of(10) { 40 } else { 2 };
        let start = 50_000 + n * 5_000 + draws.bits() % 3_000;
        frames.extend((0..packets).map(|p| (start + p * 900, frame(n as u32, 7, 1_400))));
    }
    frames.sort();
    let until = frames[frames.len() - 1].0 + 100_000;
    let story = run(&world, &frames, &[], until);
    assert_eq!(story.sent.len(), frames.len());
    let mut counts = vec![0.0; uplinks];
    for (_, port, _) in &story.sent {
        counts[usize::from(*port) - 8] += 1.0 / frames.len() as f64;
    }
    counts
}

#[test]
fn flare_meets_its_targets_where_chance_does_not() {
    for chip_params in [&["weights=1,1,1,1"][..], &["weights=2,1,1"]] {
        let targets: &[f64] = if chip_params[0] == "weights=2,1,1" { &[0.5, 0.25, 0.25] } else { &[0.25; 4] };
        let off = |shares: &[f64]| -> f64 {
            shares.iter().zip(targets).map(|(share, target)| (share - target).abs()).fold(0.0, f64::max)
        };
        let steered = off(&shares("flare", chip_params, targets.len()));
        let random = off(&shares("letflow", chip_params, targets.len()));
        assert!(steered < 0.02, "{chip_params:?}: {steered}");
        assert!(random > 1.5 * steered, "{chip_params:?}: {random} {steered}");
    }
}

#[test]
fn flare_visits_by_resubmit_and_absorbs_what_it_made() {
    let world = world(&ChipSpec::tofino2(), "flare", &["period=10us", "visited=4"]);
    let story = run(&world, &[], &[], 1_000_000);
    let t = story.totals.unwrap();
    assert!((99 * 4..=100 * 4).contains(&t.made.pktgen), "{}", t.made.pktgen);
    assert!(t.resubmitted + 4 >= t.made.pktgen && t.absorbed + 8 >= t.made.pktgen && t.dropped == 0);
}

#[test]
fn flare_keeps_a_flowlet_together() {
    let world = world(&ChipSpec::tofino2(), "flare", &["timeout=20us"]);
    let frames: Vec<(u64, Vec<u8>)> = (0..200).map(|n| (40_000 + 10_000 * n, frame(3, 7, 1_400))).collect();
    let story = run(&world, &frames, &[], 4_000_000);
    assert_eq!(story.sent.len(), 200);
    assert!(story.sent.iter().all(|(_, port, _)| *port == story.sent[0].1));
}

#[test]
fn flare_leaves_a_dead_uplink() {
    // The failed path is not preferred and the generation is raised: a random live uplink until the path is back.
    let mut world = world(&ChipSpec::tofino2(), "flare", &["timeout=20us", "weights=1,1,1"]);
    let profile = world.program.profile_named("uplinks").unwrap();
    world.apply(ControlOp::SetMemberActive { profile, group: 1, member: 0, active: false });
    let table = world.program.table_named("path_up").unwrap();
    let key = [KeyValue::Exact(1), KeyValue::Exact(0)];
    let entries = &world.control.tables[table];
    let entry = entries.entries().find(|(_, e)| e.key == key).unwrap().0;
    world.apply(ControlOp::DeleteEntry { table, entry });
    let frames: Vec<(u64, Vec<u8>)> =
        (0..300).map(|n| (40_000 + 2_000 * n, frame(n as u32 % 40, 7, 400))).collect();
    let story = run(&world, &frames, &[], 2_000_000);
    assert_eq!(story.sent.len(), 300);
    assert!(story.sent.iter().all(|(_, port, _)| *port != 8));
}
