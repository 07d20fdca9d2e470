//! DRILL: depths from the ghost control, samples, memory, failure.

use crate::flowlet::device::{run_with, world};
use crate::flowlet::world::{Draws, Fate, Packet, World, by_port, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::DevPort;
use sluice_asic::salu::State as Element;
use sluice_asic::tm::AfcWord;
use sluice_control::{ControlOp, DeviceOp, Then};
use sluice_exec::pass::{Executor, GhostUpdate};
use sluice_exec::reference::Reference;
use sluice_ir::{ActionCall, KeyValue};
use sluice_switch::SwitchConfig;

/// An event: a queue changes its depth, or a packet arrives.
#[derive(Clone, Debug)]
enum Step {
    Depth(u16, u32),
    /// Group 1 remembers this member of the first generation, with this depth.
    Remember(u64, u64),
    Packet(Packet),
}

fn update(world: &World, front: u16, cells: u32) -> GhostUpdate {
    let port = DevPort::new(world.dev_port(front)).unwrap();
    let word = AfcWord::for_queue(&ChipSpec::tofino2(), port, 0, 0).unwrap();
    let qid = u16::from(word.mac) << 7 | u16::from(word.queue);
    GhostUpdate { ping_pong: false, qlength: cells, qid, pipe: word.pipe }
}

fn steps(world: &World, executor: &mut dyn Executor, steps: &[Step]) -> Vec<Fate> {
    let mut fates = Vec::new();
    for step in steps {
        match step {
            Step::Depth(front, cells) => executor.ghost(&update(world, *front, *cells)),
            Step::Remember(member, cells) => {
                let register = world.program.register_named("memory").unwrap();
                *executor.state_mut().registers[register].get_mut(1).unwrap() =
                    Element::pair(*cells, 1 << 16 | *member);
            }
            Step::Packet(p) => fates.extend(world.run(executor, std::slice::from_ref(p), 1)),
        }
    }
    fates
}

/// Runs on both engines: ports and state must be equal.
fn agreed(world: &World, list: &[Step]) -> Vec<Fate> {
    let mut reference = Reference::new(&world.program, &world.control, Default::default());
    let wanted = steps(world, &mut reference, list);
    let mut engine = world.engine();
    assert_eq!(steps(world, &mut engine, list), wanted);
    assert_eq!(engine.state(), reference.state());
    wanted
}

fn packet(n: u32) -> Step {
    Step::Packet(Packet { ns: 1_000 + u64::from(n) * 10, bytes: frame(n, 7, 100) })
}

#[test]
fn scenario_27_the_shortest_of_two_samples_and_the_remembered_one() {
    // 10 KB are 59 cells of 176 bytes.
    let mut first = [0u64; 4];
    let world = World::new("drill", &["weights=1,1,1,1"]);
    for draw in 0..160u32 {
        // Packets to another destination first, which advance the random generators.
        let skip: Vec<Step> = (0..draw).map(packet).map(elsewhere).collect();
        let list =
            [skip, vec![Step::Remember(0, 0), Step::Depth(8, 59)], (0..40).map(packet).collect()].concat();
        let mut engine = world.engine();
        let fates = steps(&world, &mut engine, &list);
        let ports: Vec<u16> = fates[draw as usize..].iter().map(|f| *f.as_ref().unwrap()).collect();
        first[usize::from(ports[0]) - 8] += 1;
        // Once an empty queue is remembered, others that are empty do not replace it.
        let change = ports.iter().position(|p| *p != 8).unwrap();
        assert!(ports[change..].iter().all(|p| *p == ports[change]), "{ports:?}");
    }
    // Both samples were the long queue in one of 16 packets, 10 of 160; then the memory is no better.
    assert!((2..=20).contains(&first[0]), "{first:?}");
    assert!(first[1..].iter().all(|n| (30..=70).contains(n)), "{first:?}");
}

/// The same packet to a host of this leaf: it makes its draws and uses none of them.
fn elsewhere(step: Step) -> Step {
    match step {
        Step::Packet(p) => Step::Packet(Packet { bytes: frame(1, 1, 20), ..p }),
        other => other,
    }
}

#[test]
fn scenario_27_equal_queues_keep_the_memory() {
    let world = World::new("drill", &["weights=1,1,1,1"]);
    for member in 0..4 {
        for cells in [0, 7] {
            let depths = (8..12).map(|front| Step::Depth(front, cells));
            let memory = [Step::Remember(member, cells.into())];
            let list: Vec<Step> = memory.into_iter().chain(depths).chain((0..100).map(packet)).collect();
            let fates = agreed(&world, &list);
            assert!(fates.iter().all(|f| *f == Ok(8 + member as u16)), "{member} {cells}");
        }
    }
}

#[test]
fn without_memory_the_samples_decide() {
    let world = World::new("drill", &["weights=1,1,1,1", "remember=false"]);
    let list: Vec<Step> =
        [8, 9].map(|front| Step::Depth(front, 20)).into_iter().chain((0..8_000).map(packet)).collect();
    let counts = by_port(&agreed(&world, &list), 4);
    // In a quarter of the packets both samples are of the two long queues.
    let long = (counts[0] + counts[1]) as f64 / 8_000.0;
    assert!((long - 0.25).abs() < 0.02 && counts[2].abs_diff(counts[3]) < 400, "{counts:?}");
}

#[test]
fn one_sample_without_memory_is_spray() {
    let world = World::new("drill", &["weights=1,1,1,1", "remember=false", "samples=1"]);
    let list: Vec<Step> = std::iter::once(Step::Depth(8, 90)).chain((0..8_000).map(packet)).collect();
    let counts = by_port(&agreed(&world, &list), 4);
    assert!(counts.iter().all(|n| n.abs_diff(2_000) < 150), "{counts:?}");
}

#[test]
fn engines_agree_and_no_packet_leaves_its_group_whatever_depths_do() {
    for params in [&["samples=3", "banks=2"][..], &["samples=4", "weights=2,1,1"], &[]] {
        let world = World::new("drill", params);
        let uplinks = if params.len() == 2 && params[0] == "samples=4" { 3 } else { 8 };
        let mut draws = Draws(5);
        let mut list = Vec::new();
        let mut networks = Vec::new();
        for n in 0..800u32 {
            if draws.bits().is_multiple_of(3) {
                list.push(Step::Depth(8 + (draws.bits() % uplinks) as u16, (draws.bits() % 40) as u32));
            }
            let network = [2, 7][(draws.bits() % 2) as usize];
            networks.push(network);
            list.push(Step::Packet(Packet { ns: u64::from(n) * 40, bytes: frame(n % 50, network, 60) }));
        }
        for (fate, network) in agreed(&world, &list).iter().zip(networks) {
            let port = *fate.as_ref().unwrap();
            let reachable = if network == 2 { 8..=9 } else { 8..=(7 + uplinks as u16) };
            assert!(reachable.contains(&port), "{params:?}: 10.{network} by {port}");
        }
    }
}

/// Returns the longest and the mean time of packets in the device, in ns. Arrivals load the uplinks to four fifths.
fn waits(name: &str, uplinks: &str, gap: u64) -> (u64, f64) {
    let world = world(&ChipSpec::tofino2(), name, &[]);
    let port_speeds = (8..16).map(|front| (world.dev_port(front), uplinks.parse().unwrap())).collect();
    let config = SwitchConfig { port_speeds, ..SwitchConfig::default() };
    let frames: Vec<(u64, Vec<u8>)> =
        (0..4_000).map(|n| (1_000 + n * gap, frame(n as u32, 7, 1_446))).collect();
    let story = run_with(&world, config, &frames, &[], 2_000_000);
    assert_eq!(story.sent.len(), frames.len());
    let wait = |(tag, _, left): &(u64, u16, u64)| left - (1_000 + tag * gap);
    let (sum, most) = story.sent.iter().map(wait).fold((0, 0), |(sum, most), w| (sum + w, most.max(w)));
    (most, sum as f64 / frames.len() as f64)
}

#[test]
fn queues_stay_shorter_than_with_spray_where_packets_take_longer_than_the_news() {
    // 1500 B take 1.2 us at 10G, and a depth is known about 0.3 us after the choice that changed it.
    let (spray, drill) = (waits("spray", "10G", 190), waits("drill", "10G", 190));
    assert!(drill.0 * 3 < spray.0 * 2, "longest {drill:?} {spray:?}");
    assert!(drill.1 + 300.0 < spray.1, "mean {drill:?} {spray:?}");
}

#[test]
fn a_shared_memory_is_a_herd_where_news_take_longer_than_packets() {
    // 0.24 us at 50G: all packets of that time follow the memory into one queue. Samples without memory spread.
    let (spray, drill) = (waits("spray", "50G", 38), waits("drill", "50G", 38));
    assert!(drill.1 > spray.1, "mean {drill:?} {spray:?}");
}

#[test]
fn a_dead_uplink_is_forgotten_and_comes_back() {
    let world = world(&ChipSpec::tofino2(), "drill", &["weights=1,1,1"]);
    let dead = world.dev_port(8);
    let set = |up| ControlOp::Device(DeviceOp::SetPort { port: dead, up });
    let active = |name: &str, active| {
        let profile = world.program.profile_named(name).unwrap();
        ControlOp::SetMemberActive { profile, group: 1, member: 0, active }
    };
    let table = world.program.table_named("generation").unwrap();
    let action = world.program.action_named("set_generation").unwrap();
    let then = Then::Call(ActionCall { action, args: vec![2 << 16] });
    let raise = ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(1)], priority: 0, then };
    let (down, up) = (1_000_000, 2_000_000);
    let later = [
        (down, active("uplinks", false)),
        (down, active("sample_uplinks", false)),
        (down, raise),
        (down, set(false)),
        (up, set(true)),
        (up, active("uplinks", true)),
        (up, active("sample_uplinks", true)),
    ];
    let frames: Vec<(u64, Vec<u8>)> = (0..6_000).map(|n| (505 * n + 7, frame(n as u32, 7, 1_400))).collect();
    let port_speeds = (8..11).map(|front| (world.dev_port(front), "10G".parse().unwrap())).collect();
    let config = SwitchConfig { port_speeds, ..SwitchConfig::default() };
    let story = run_with(&world, config, &frames, &later, 5_000_000);
    let at = |tag: u64| 505 * tag + 7;
    let by_dead = |from: u64, to: u64| {
        story.sent.iter().filter(|(tag, port, _)| *port == 8 && (from..to).contains(&at(*tag))).count()
    };
    assert!(by_dead(0, down) > 200);
    assert_eq!(by_dead(down + 1_000, up - 1_000), 0);
    // Its queue has been empty for a millisecond: it is chosen as soon as it is drawn.
    assert!(by_dead(up, 4_000_000) > 200);
    // Packets in its queue when it went down are lost, and no others.
    assert!(
        story.lost.len() < 10 && story.lost.iter().all(|(_, why)| why == "port_down"),
        "{:?}",
        story.lost
    );
}
