//! CONGA with five to eight uplinks: every set of least congested uplinks, draws, generations, and the LBTags on the wire.

use crate::flowlet::conga::{device, wrapped};
use crate::flowlet::device;
use crate::flowlet::world::{Packet, World, flow, frame, numbered, sets};
use crate::placed::place;
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::State as Element;
use sluice_control::{ControlOp, Then};
use sluice_exec::pass::Executor;
use sluice_ir::{ActionCall, KeyValue};
use sluice_programs::catalogue;

/// Nanoseconds of a tick, and the time at which tests begin.
const TICK: u64 = 256;
const START: u64 = 100_000_000;
/// Front-panel port of the first uplink.
const FIRST: u16 = 4;

/// Tells the leaf of no congestion to leaf 1 over the uplinks in `set`, and of three eighths over the others.
fn teach(world: &World, executor: &mut dyn Executor, set: u32, uplinks: usize, ns: u64) {
    for n in 0..uplinks {
        let level = if set >> n & 1 == 1 { 8 } else { 8 + 3 };
        world.write_at(executor, &numbered("to_leaf", n), 1, Element::pair(level, ns / TICK));
        world.write_at(executor, &numbered("local", n), 0, Element::single(8));
    }
}

fn eight(params: &[&str]) -> World {
    World::new("conga", &[&["uplinks=4-11", "timeout=10us"], params].concat())
}

/// Runs one packet of a flow to leaf 1 and returns its uplink.
fn uplink(world: &World, executor: &mut dyn Executor, n: u32, ns: u64) -> u32 {
    let fate = world.run(executor, &flow(n, [ns]), 1);
    u32::from(*fate[0].as_ref().unwrap() - FIRST)
}

#[test]
fn every_set_of_eight_keeps_its_members_and_moves_the_others_into_it() {
    let world = eight(&[]);
    let mut engine = world.engine();
    let mut now = START;
    for set in 1u32..256 {
        for own in 0..8 {
            // The flow begins a flowlet on its own uplink, then another one with the set.
            teach(&world, &mut engine, 1 << own, 8, now);
            now += 20_000;
            assert_eq!(uplink(&world, &mut engine, own, now), own, "{set:#010b}");
        }
        teach(&world, &mut engine, set, 8, now);
        now += 20_000;
        for own in 0..8 {
            let taken = uplink(&world, &mut engine, own, now);
            if set >> own & 1 == 1 {
                assert_eq!(taken, own, "{set:#010b}: a tie keeps the uplink");
            } else {
                assert_eq!(set >> taken & 1, 1, "{set:#010b}: from {own} to {taken}");
            }
        }
        // No flowlet moves while it lasts, whatever the congestion.
        let held: Vec<u32> = (0..8).map(|own| uplink(&world, &mut engine, own, now + 1_000)).collect();
        teach(&world, &mut engine, 1, 8, now);
        let still: Vec<u32> = (0..8).map(|own| uplink(&world, &mut engine, own, now + 2_000)).collect();
        assert_eq!(held, still, "{set:#010b}");
    }
}

#[test]
fn new_flows_spread_evenly_over_ties_of_any_size() {
    for (uplinks, set) in [(8usize, 0xffu32), (8, 0x2d), (8, 0xf2), (7, 0x7f), (5, 0x15)] {
        let world = World::new("conga", &[&format!("uplinks=4-{}", 3 + uplinks)]);
        let size = set.count_ones();
        let packets: Vec<Packet> =
            (0..200 * size).map(|n| Packet { ns: START + u64::from(n), bytes: frame(n, 7, 60) }).collect();
        let fates = world.alike(|executor, batch| {
            teach(&world, executor, set, uplinks, START);
            world.run(executor, &packets, batch)
        });
        let mut share = [0u32; 8];
        for fate in fates {
            share[usize::from(fate.unwrap() - FIRST)] += 1;
        }
        for (n, share) in (0..).zip(share) {
            // 200 of each member; four deviations of a binomial are at most 56.
            let wanted = if set >> n & 1 == 1 { 200 } else { 0 };
            assert!(share.abs_diff(wanted) <= if wanted == 0 { 0 } else { 56 }, "{set:#b}: {n}: {share}");
        }
    }
}

#[test]
fn a_flowlet_of_an_older_generation_moves_at_once() {
    let mut world = eight(&[]);
    let insert = |world: &World, table: &str, action: &str, args: Vec<u128>| {
        let table = world.program.table_named(table).unwrap();
        let action = world.program.action_named(action).unwrap();
        let then = Then::Call(ActionCall { action, args });
        ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(1)], priority: 0, then }
    };
    // Uplink 6 is down, and the group has generation 2.
    let down = insert(&world, "reach", "set_reach", (0..8).map(|n| if n == 6 { 31 } else { 0 }).collect());
    let generation = insert(&world, "generation", "set_generation", vec![2 << 16]);
    world.apply(down);
    world.apply(generation);
    let mut after = world.engine();
    teach(&world, &mut after, 0xff, 8, START);
    // Every flow is on uplink 6, as a packet of generation 1 left it: four copies of the number.
    world.write(&mut after, "flowlet_member", std::iter::repeat(Element::single(0x1_6666)));
    world.write(&mut after, "last_seen", std::iter::repeat(Element::single(START / TICK)));
    let is: Vec<u32> = (0..40).map(|n| uplink(&world, &mut after, n, START + 1_000)).collect();
    assert!(is.iter().all(|n| *n != 6), "{is:?}");
    // Each stays where it went.
    let again: Vec<u32> = (0..40).map(|n| uplink(&world, &mut after, n, START + 2_000)).collect();
    assert_eq!(is, again);
}

#[test]
fn a_group_of_two_uplinks_takes_only_these() {
    // Only the first two uplinks lead to 10.2.0.0/16.
    let world = eight(&[]);
    let packets: Vec<Packet> =
        (0..200).map(|n| Packet { ns: START + u64::from(n), bytes: frame(n, 2, 60) }).collect();
    let fates = world.agreed(&packets);
    let on = |n: u16| fates.iter().filter(|fate| **fate == Ok(FIRST + n)).count();
    assert_eq!(on(0) + on(1), 200);
    assert!(on(0).abs_diff(100) < 30, "{}", on(0));
}

#[test]
fn lbtags_of_seven_uplinks_are_in_the_overlay() {
    // A pipe of Tofino 2 has eight ports of 400G: one host and seven uplinks.
    let params = ["hosts=0-0", "uplinks=1-7"];
    let world = device::world(&ChipSpec::tofino2(), "conga", &params);
    let mut frames = vec![
        // Leaf 1 used its uplink 6, met 5, and reports 4 over our uplink 5.
        (1_000, wrapped(1, 0x65, 8 + 5, 8 + 4, &frame(5, 1, 60))),
    ];
    frames.extend((0..7).map(|n| (20_000 + 2_000 * n, frame(1, 7, 60))));
    let out = device(&world, &frames);
    // Feedback takes turns over the seven uplinks of leaf 1.
    let fed: Vec<(u8, u8)> = out[1..].iter().map(|(_, _, b)| (b[43] & 15, b[45])).collect();
    assert_eq!(fed, [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 13)]);
    for (_, port, bytes) in &out[1..] {
        assert!((1..=7).contains(port) && *port != 6, "uplink 5 met 4: {port}");
        assert_eq!(bytes[43] >> 4, (*port - 1) as u8, "the tag is the uplink's");
    }
}

#[test]
fn the_comparators_of_tofino_are_too_few() {
    let program = catalogue().get("conga").unwrap().build(&sets(&["uplinks=4-8"])).unwrap();
    let why = place(&program, &ChipSpec::tofino()).unwrap_err().to_string();
    assert!(why.contains("compares under a mask; this chip's comparators have none"), "{why}");
    let beyond = catalogue().get("conga").unwrap().build(&sets(&["uplinks=4-12"])).unwrap_err().to_string();
    assert!(beyond.contains("give a leaf 1 to 8 uplinks"), "{beyond}");
}
