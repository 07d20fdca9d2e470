//! Limits: timestamps and counts that wrap, full tables, uplinks that fail and come back.

use crate::flowlet::device::{run, world};
use crate::flowlet::world::{Draws, Fate, Packet, World, frame, numbered, sets};
use sluice_asic::chip::ChipSpec;
use sluice_asic::port::{FrontPort, Pipe, PortMap};
use sluice_asic::salu::State as Element;
use sluice_catalogue::position::{Neighbor, PortUse, Position, Prefix, Route};
use sluice_control::{ControlOp, DeviceOp, Then};
use sluice_exec::pass::Executor;
use sluice_ir::{ActionCall, KeyValue};
use sluice_programs::catalogue;
use std::net::Ipv4Addr;

/// Half a turn of 32-bit timestamps, in ns at `tick=1ns`.
const HALF: u64 = 1 << 31;

/// Makes this uplink the preferred one of every new flowlet, for programs with such a preference.
fn steer(world: &World, executor: &mut dyn Executor, to: u64, ns: u64) {
    match world.program.name.as_str() {
        "flare" => world.write_at(executor, "least", 1, Element::pair(0, to)),
        "hula" => {
            world.write_at(executor, "best_hop", 1, Element::single(to));
            world.write_at(executor, "best_path", 1, Element::pair(0, ns & 0xffff_ffff));
        }
        "conga" => {
            for n in 0..4 {
                let level = if n == to as usize { 8 } else { 15 };
                world.write_at(executor, &numbered("local", n), 0, Element::single(level));
                world.write_at(executor, &numbered("to_leaf", n), 1, Element::pair(8, ns & 0xffff_ffff));
            }
        }
        _ => {}
    }
}

/// Returns one packet of each of 64 flows.
fn heads(ns: u64) -> Vec<Packet> {
    (0..64).map(|n| Packet { ns: ns + u64::from(n), bytes: frame(n, 7, 100) }).collect()
}

/// Returns the share of flows that take another uplink after a pause, when every new flowlet prefers another one.
fn moved(world: &World, start: u64, gap: u64) -> f64 {
    let (before, after) = world.alike(|executor, batch| {
        steer(world, executor, 0, start);
        let before = world.run(executor, &heads(start), batch);
        steer(world, executor, 1, start + gap);
        (before, world.run(executor, &heads(start + gap), batch))
    });
    before.iter().zip(&after).filter(|(before, after)| before != after).count() as f64 / 64.0
}

#[test]
fn scenarios_5_and_6_stamps_wrap_alike_in_every_program_that_has_them() {
    const TIMEOUT: u64 = 50_000;
    let list: [(&str, &[&str]); 5] = [
        ("letflow", &["detect=pair"]),
        ("letflow", &["detect=split"]),
        ("flare", &["weights=1,1"]),
        ("conga", &["age=1ms"]),
        ("hula", &[]),
    ];
    for (name, params) in list {
        let world = World::new(name, &[&["timeout=50us", "tick=1ns"], params].concat());
        // Far from the wrap, over that of 32 bits, and over that of the 48 bits of the clock.
        for start in [1 << 30, (1 << 32) - 20_000, (1 << 48) - (1 << 32) - 100] {
            for (gap, ends) in [
                (TIMEOUT, false),
                (TIMEOUT + 1, true),
                // A stateful ALU compares up to half a turn: longer pauses look like none, until the turn is complete.
                (HALF + TIMEOUT - 1, true),
                (HALF + TIMEOUT, false),
                (2 * HALF + TIMEOUT, false),
                (2 * HALF + TIMEOUT + 1, true),
            ] {
                let share = moved(&world, start, gap);
                let chance = name == "letflow";
                let as_said = if ends { share == 1.0 || chance && share > 0.6 } else { share == 0.0 };
                assert!(as_said, "{name} {params:?} from {start}, {gap} ns: {share}");
            }
        }
    }
}

fn ports(fates: &[Fate]) -> Vec<u16> {
    fates.iter().map(|fate| *fate.as_ref().unwrap()).collect()
}

#[test]
fn hula_counts_a_tor_that_nobody_tells_of_as_fresh_behind_half_a_turn() {
    const KEEPALIVE: u64 = 600_000;
    let world = World::new("hula", &["timeout=50us", "tick=1ns"]);
    for start in [1 << 30, (1 << 32) - 300_000] {
        for (later, fresh) in [
            (KEEPALIVE - 100, true),
            (KEEPALIVE + 1, false),
            (HALF + KEEPALIVE - 100, false),
            (HALF + KEEPALIVE, true),
            (2 * HALF + KEEPALIVE - 100, true),
            (2 * HALF + KEEPALIVE + 1, false),
        ] {
            let taken = ports(&world.alike(|executor, batch| {
                steer(&world, executor, 2, start);
                world.run(executor, &heads(start + later), batch)
            }));
            let best = taken.iter().filter(|port| **port == 6).count();
            assert!(if fresh { best == 64 } else { best < 32 }, "from {start}, {later} ns: {taken:?}");
        }
    }
}

/// Returns a packet of the generator for an element of an array, as it arrives at ingress.
fn visit(ns: u64, element: u16) -> Packet {
    let mut bytes = [&[0; 4][..], &element.to_be_bytes(), &[2, 0, 0, 0, 0, 1, 0x88, 0xb5]].concat();
    bytes.resize(60, 0);
    Packet { ns, bytes }
}

#[test]
fn conga_ages_what_leaves_told_before_its_stamp_wraps() {
    const AGE: u64 = 1_000_000;
    let world = World::new("conga", &["timeout=50us", "tick=1ns", "age=1ms"]);
    let generator = world.ports.generator(Pipe(0)).next().unwrap().dev_port.number();
    let start = 1 << 30;
    // Leaf 1 reported that the first uplink is congested; later a visit, or none, and then flows to leaf 1.
    let avoids = |later: u64, visited: bool| {
        let taken = ports(&world.alike(|executor, batch| {
            for n in 0..4 {
                let level = if n == 0 { 15 } else { 8 };
                world.write_at(executor, &numbered("to_leaf", n), 1, Element::pair(level, start));
            }
            if visited {
                // Elements are counted by leaf and uplink: four for each leaf.
                world.run_from(generator, executor, &[visit(start + AGE + 20_000, 4)], 1);
            }
            world.run(executor, &heads(start + later), batch)
        }));
        !taken.contains(&4)
    };
    assert!(avoids(AGE - 100, false) && !avoids(AGE + 1, false) && !avoids(HALF + AGE - 100, false));
    // By the timestamp alone the report would look recent: the generator's visits age it for good.
    assert!(avoids(HALF + AGE, false) && !avoids(HALF + AGE, true) && !avoids(2 * HALF, true));
}

#[test]
fn presto_goes_on_in_turn_over_the_end_of_its_count() {
    let world = World::new("presto", &["cell=1000", "weights=1,1,1,1"]);
    let packets: Vec<Packet> = (0..12).map(|n| Packet { ns: n * 1_000, bytes: frame(9, 7, 900) }).collect();
    let taken = ports(&world.alike(|executor, batch| {
        world.write(executor, "cells", std::iter::repeat(Element::single(15_115)));
        world.run(executor, &packets, batch)
    }));
    assert!(taken.windows(2).all(|pair| (pair[0] - 8 + 1) % 4 == pair[1] - 8), "{taken:?}");
}

#[test]
fn flare_goes_by_chance_until_its_group_is_visited() {
    let world = World::new("flare", &["weights=1,1,1,1", "timeout=50us"]);
    let taken = ports(&world.alike(|executor, batch| world.run(executor, &heads(1_000), batch)));
    assert!((8..12).all(|port| taken.iter().filter(|p| **p == port).count() > 6), "{taken:?}");
}

#[test]
fn flare_survives_charges_that_wrap() {
    // A path so far ahead that its charge wraps counts as the least charged; every packet still has an uplink.
    let world = world(&ChipSpec::tofino2(), "flare", &["timeout=2us", "weights=1,1"]);
    let register = world.program.register_named("sent").unwrap();
    let ahead =
        ControlOp::WriteRegister { register, index: Some(1), value: Some(Element::single(0xffff_f000)) };
    // A flow that never pauses, on the first path, and from 40 us on a sequence of new flowlets.
    let mut frames: Vec<(u64, Vec<u8>)> = (0..400).map(|n| (20_000 + 1_000 * n, frame(0, 7, 100))).collect();
    frames.extend((0..300).map(|n| (40_500 + 1_000 * n, frame(1 + n as u32, 7, 1_000))));
    frames.sort();
    let story = run(&world, &frames, &[(30_000, ahead)], 1_000_000);
    assert_eq!(story.sent.len(), 700);
    let busy = |tag: &u64| frames[*tag as usize].1 == frame(0, 7, 100);
    assert!(story.sent.iter().filter(|(tag, ..)| busy(tag)).all(|(_, port, _)| *port == 8));
    let first = story.sent.iter().filter(|(tag, port, _)| !busy(tag) && *port == 8).count();
    assert!((1..300).contains(&first), "{first}");
}

/// Returns packets on the first of three uplinks while it is down, and its share of those after its return; no losses.
fn failing(name: &str, down: &[ControlOp], up: &[ControlOp], until: u64) -> (usize, f64) {
    let world = world(&ChipSpec::tofino2(), name, &["weights=1,1,1"]);
    let set = |up| ControlOp::Device(DeviceOp::SetPort { port: world.dev_port(8), up });
    let profile = world.program.profile_named("uplinks").unwrap();
    let active = |active| ControlOp::SetMemberActive { profile, group: 1, member: 0, active };
    let (at_down, at_up) = (400_000, 800_000);
    let mut later = vec![(at_down, active(false))];
    later.extend(down.iter().map(|op| (at_down, op.clone())));
    later.extend([(at_down, set(false)), (at_up, set(true))]);
    later.extend(up.iter().map(|op| (at_up, op.clone())));
    later.push((at_up, active(true)));
    // So many flows that each has paused when its next packet comes.
    let frames: Vec<(u64, Vec<u8>)> =
        (0..until / 500).map(|n| (40_000 + 500 * n, frame(n as u32 % 300, 7, 400))).collect();
    let story = run(&world, &frames, &later, until + 200_000);
    let lost: Vec<_> = story.lost.iter().filter(|(tag, _)| *tag != u64::MAX).collect();
    assert_eq!((story.sent.len(), lost), (frames.len(), vec![]), "{name}");
    let at = |tag: u64| 40_000 + 500 * tag;
    let count = |from, to, dead: bool| {
        let within = |tag: u64, port| (from..to).contains(&at(tag)) && (!dead || port == 8);
        story.sent.iter().filter(|(tag, port, _)| within(*tag, *port)).count()
    };
    let dead = count(at_down, at_up, true);
    (dead, count(at_up, u64::MAX, true) as f64 / count(at_up, u64::MAX, false) as f64)
}

#[test]
fn programs_without_flowlets_leave_a_dead_uplink_and_take_it_back() {
    for name in ["spray", "drb", "presto"] {
        let (dead, share) = failing(name, &[], &[], 1_400_000);
        assert!(dead == 0 && (share - 1.0 / 3.0).abs() < 0.05, "{name}: {dead} {share}");
    }
}

#[test]
fn flare_leaves_a_dead_uplink_and_lets_it_catch_up_or_not() {
    let world = World::new("flare", &["weights=1,1,1"]);
    let table = |name: &str| world.program.table_named(name).unwrap();
    let insert = |name: &str, key: &[u128], action: &str, args: &[u128]| {
        let action = world.program.action_named(action).unwrap();
        let key = key.iter().map(|k| KeyValue::Exact(*k)).collect();
        let then = Then::Call(ActionCall { action, args: args.to_vec() });
        ControlOp::InsertEntry { table: table(name), key, priority: 0, then }
    };
    let key = [KeyValue::Exact(1), KeyValue::Exact(0)];
    let entry = world.control.tables[table("path_up")].entries().find(|(_, e)| e.key == key).unwrap().0;
    let down = [
        insert("generation", &[1], "set_generation", &[2 << 16]),
        ControlOp::DeleteEntry { table: table("path_up"), entry },
    ];
    let back = insert("path_up", &[1, 0], "prefer", &[]);
    let clear = (0..3).map(|n| {
        let register = world.program.register_named(&numbered("sent", n)).unwrap();
        ControlOp::WriteRegister { register, index: None, value: None }
    });
    let afresh: Vec<ControlOp> = std::iter::once(back.clone()).chain(clear).collect();
    // It first catches up on 400 us without traffic; with all charges cleared it begins as the others do.
    let (dead, share) = failing("flare", &down, &[back], 1_200_000);
    assert!(dead == 0 && share > 0.55, "{dead} {share}");
    let (dead, share) = failing("flare", &down, &afresh, 1_200_000);
    assert!(dead == 0 && (share - 1.0 / 3.0).abs() < 0.08, "{dead} {share}");
}

/// A switch with two hosts' ports and four to others, and these routes.
fn position(number: u32, routes: Vec<Route>, far: u32) -> Position {
    let port = |front: u16, neighbor| PortUse {
        port: FrontPort(front),
        dev_port: PortMap::default_for(&ChipSpec::tofino2())
            .unwrap()
            .front(FrontPort(front))
            .unwrap()
            .dev_port
            .number(),
        speed: "400G".parse().unwrap(),
        neighbor,
    };
    let hosts = (0..2).map(|n| port(n, Neighbor::Host(Ipv4Addr::new(10, 0, number as u8, n as u8 + 1))));
    let others = (4..8).map(|n| {
        port(n, Neighbor::Switch { number: 100 + u32::from(n), stage: 2, port: FrontPort(number as u16) })
    });
    let subnets = vec![(number, subnet(number)), (far, subnet(far))];
    Position {
        number,
        name: format!("leaf{number}"),
        stage: 1,
        block: 0,
        ports: hosts.chain(others).collect(),
        routes,
        subnets,
        hosts: Vec::new(),
    }
}

fn subnet(switch: u32) -> Prefix {
    Prefix { address: Ipv4Addr::new(10, 0, switch as u8, 0), len: 24 }
}

fn by(to: u32, ports: &[u16]) -> Route {
    Route { to: subnet(to), ports: ports.iter().map(|p| (FrontPort(*p), 1)).collect(), hops: 2 }
}

#[test]
fn what_a_table_has_no_room_for_is_refused_when_the_setup_is_made() {
    let refused = |name: &str, params: &[&str], at: &Position| {
        let catalogue = catalogue();
        let shipped = catalogue.get(name).unwrap();
        let program = shipped.build(&sets(params)).unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        shipped.setup_at(&program, &ports, at).unwrap().err().map_or(String::new(), |e| e.to_string())
    };
    let far = |far: u32| position(0, vec![by(far, &[4, 5])], far);
    assert_eq!(refused("conga", &["leaves=16"], &far(14)), "");
    let found = refused("conga", &["leaves=16"], &far(15));
    assert_eq!(found, "program `conga` cannot run here: leaf 16 is beyond leaves=16; raise it");
    assert_eq!(refused("hula", &["tors=4"], &far(2)), "");
    let found = refused("hula", &["tors=4"], &far(3));
    assert_eq!(found, "program `hula` cannot run here: ToR 4 is beyond tors=4; raise it");
    // Three groups, each with an uplink in common with each other one.
    let rings = position(0, vec![by(1, &[4, 5]), by(2, &[5, 6]), by(3, &[6, 4])], 1);
    assert_eq!(refused("drill", &["banks=3"], &rings), "");
    assert_eq!(refused("drill", &["remember=false"], &rings), "");
    let found = refused("drill", &["banks=2"], &rings);
    assert_eq!(
        found,
        "program `drill` cannot run here: group 3 has uplinks in common with groups of all 2 banks of memories; \
         raise `banks`, or set remember=false"
    );
}

#[test]
fn more_flows_than_entries_share_them_and_every_packet_has_an_uplink() {
    for (name, params) in [
        ("letflow", &["flowlets=16", "timeout=10us"][..]),
        ("flare", &["flowlets=16", "timeout=10us"]),
        ("drb", &["turns=flow", "flows=16"]),
        ("presto", &["flows=16", "cell=1000"]),
        ("conga", &["flowlets=16", "timeout=10us"]),
        ("hula", &["flowlets=16", "timeout=10us"]),
    ] {
        let world = World::new(name, params);
        let mut draws = Draws(41);
        let packets: Vec<Packet> = (0..2_000u64)
            .map(|n| Packet { ns: 1_000_000 + n * 900, bytes: frame(draws.bits() as u32 % 500, 7, 300) })
            .collect();
        let taken = ports(&world.alike(|executor, batch| world.run(executor, &packets, batch)));
        let mut used = taken.clone();
        used.sort_unstable();
        used.dedup();
        assert!(used.len() >= 4, "{name}: {used:?}");
    }
}
