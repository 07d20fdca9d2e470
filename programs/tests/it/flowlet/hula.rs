//! HULA: probes of ToRs and through spines, best hops, keepalive, failure.

use crate::flowlet::device::{Story, run_from, world};
use crate::flowlet::world::{Fate, Packet, World, colliding, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::salu::State as Element;
use sluice_control::{ControlOp, DeviceOp, Then};
use sluice_exec::pass::Executor;
use sluice_ir::{ActionCall, KeyValue};
use sluice_switch::SwitchConfig;

const TOFINO2: fn() -> ChipSpec = ChipSpec::tofino2;

/// Returns a probe of a ToR with this utilisation.
fn probe(tor: u16, util: u32) -> Vec<u8> {
    let mut bytes = [&[2; 12][..], &[0x88, 0xb6], &tor.to_be_bytes(), &[0, 0], &util.to_be_bytes()].concat();
    bytes.resize(60, 0);
    bytes
}

/// Returns ToR and utilisation of a frame that is a probe.
fn read(bytes: &[u8]) -> Option<(u16, u32)> {
    let word = |at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    (word(12) == 0x88b6).then(|| (word(14), u32::from(word(18)) << 16 | u32::from(word(20))))
}

/// Returns one packet of each of `n` new flows to ToR 1, from 1 us after `at` on.
fn heads(at: u64, from: u32) -> Vec<(u64, u16, Vec<u8>)> {
    (0..40).map(|n| (at + 1_000 + u64::from(n) * 100, 0, frame(from + n, 7, 60))).collect()
}

fn run(
    world: &World,
    mut frames: Vec<(u64, u16, Vec<u8>)>,
    later: &[(u64, ControlOp)],
) -> (Story, Vec<Vec<u8>>) {
    frames.sort_by_key(|(ns, ..)| *ns);
    let until = frames.last().map_or(0, |(ns, ..)| *ns) + 50_000;
    let story = run_from(world, SwitchConfig::default(), &frames, later, until);
    (story, frames.into_iter().map(|(_, _, bytes)| bytes).collect())
}

/// Returns the ports that the first packets of flows `from` and up took.
fn taken(story: &Story, frames: &[Vec<u8>], from: u32) -> Vec<u16> {
    let ours: Vec<&Vec<u8>> =
        frames.iter().filter(|f| (from..from + 40).any(|n| **f == frame(n, 7, 60))).collect();
    let of = |tag: &u64| frames.get(*tag as usize).is_some_and(|f| ours.contains(&f));
    story.sent.iter().filter(|(tag, ..)| of(tag)).map(|(_, port, _)| *port).collect()
}

#[test]
fn scenario_26_the_least_used_path_and_a_silent_one() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        for params in [&[][..], &["refresh=false"]] {
            let world = world(&chip, "hula", params);
            let mut frames = vec![(1_000, 4, probe(1, 40)), (20_000, 5, probe(1, 30))];
            frames.extend(heads(10_000, 0));
            frames.extend(heads(30_000, 100));
            // B's probes are overdue: random choice, until A sends one.
            frames.extend(heads(640_000, 200));
            frames.push((660_000, 4, probe(1, 80)));
            frames.extend(heads(670_000, 300));
            let (story, frames) = run(&world, frames, &[]);
            assert!(taken(&story, &frames, 0).iter().all(|p| *p == 4));
            assert!(taken(&story, &frames, 100).iter().all(|p| *p == 5));
            let silent = taken(&story, &frames, 200);
            assert!((4..=7).all(|port| silent.contains(&port)), "{silent:?}");
            let after = taken(&story, &frames, 300);
            assert!(after.len() == 40 && after.iter().all(|p| *p == 4), "{params:?} {after:?}");
        }
    }
}

#[test]
fn a_best_path_that_gets_worse_is_known_by_its_next_probe_or_behind_the_keepalive() {
    for (params, port) in [(&[][..], 4), (&["refresh=false"], 5)] {
        let world = world(&TOFINO2(), "hula", params);
        let mut frames = vec![(1_000, 5, probe(1, 30)), (5_000, 5, probe(1, 100)), (10_000, 4, probe(1, 80))];
        frames.extend(heads(20_000, 0));
        let (story, frames) = run(&world, frames, &[]);
        assert!(taken(&story, &frames, 0).iter().all(|p| *p == port), "{params:?}");
    }
}

#[test]
fn a_tor_tells_of_itself_by_every_uplink() {
    for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
        let world = world(&chip, "hula", &["period=20us", "keepalive=60us"]);
        let story = run_from(&world, SwitchConfig::default(), &[], &[], 205_000);
        let told: Vec<(u16, u32)> = story.bytes.iter().filter_map(|(_, b)| read(b)).collect();
        assert!((36..=44).contains(&told.len()) && told.iter().all(|t| *t == (3, 0)), "{told:?}");
        for port in 4..=7 {
            let by = story.sent.iter().filter(|(_, p, _)| *p == port).count();
            assert!((9..=11).contains(&by), "{port}: {by}");
        }
    }
}

#[test]
fn a_colliding_flow_never_leaves_its_group_whatever_probes_said() {
    let world = World::new("hula", &["flowlets=256", "timeout=10us"]);
    let [two, any] = colliding(256, [2, 7]);
    let mut packets = Vec::new();
    for n in 0..300u64 {
        let ns = 1_000_000_000 + n * 4_000 + (n / 10) * 30_000;
        packets.push(Packet { ns, bytes: if n % 3 == 0 { two.clone() } else { any.clone() } });
    }
    let stays = |taken: &[Fate]| {
        for (n, fate) in taken.iter().enumerate() {
            let port = *fate.as_ref().unwrap();
            assert!(
                if n % 3 == 0 { (4..=5).contains(&port) } else { (4..=7).contains(&port) },
                "{n}: {port}"
            );
        }
    };
    // Both engines, with random choice only.
    stays(&world.agreed(&packets));
    // A best hop of group 2 that is not a member of group 2, as if its probe had just arrived.
    let mut engine = world.engine();
    let register = |name| world.program.register_named(name).unwrap();
    *engine.state_mut().registers[register("best_hop")].get_mut(2).unwrap() = Element::single(3);
    *engine.state_mut().registers[register("best_path")].get_mut(2).unwrap() =
        Element::pair(9, 1_000_000_000 / 256);
    stays(&world.run(&mut engine, &packets, 1));
}

/// Returns ports and contents of the sent probes, in order.
fn told(story: &Story) -> Vec<(u16, u32, u16)> {
    // Sent packets are sorted, their bytes are not: tag and port of the copy identify them.
    let mut list: Vec<(u16, u32, u16)> = Vec::new();
    let mut of_tag = std::collections::BTreeMap::<u64, Vec<(u16, u32)>>::new();
    for (tag, bytes) in &story.bytes {
        if let Some(told) = read(bytes) {
            of_tag.entry(*tag).or_default().push(told);
        }
    }
    for (tag, port, _) in &story.sent {
        if let Some((tor, util)) = of_tag.get_mut(tag).and_then(|told| told.pop()) {
            list.push((tor, util, *port));
        }
    }
    list.sort_unstable();
    list
}

#[test]
fn a_spine_passes_on_what_is_news_everywhere_else() {
    let world = world(&TOFINO2(), "hula", &["role=spine", "uplinks=0-3"]);
    let frames = vec![
        (1_000, 0, probe(9, 10)),
        (5_000, 1, probe(9, 20)),  // not better
        (10_000, 2, probe(9, 5)),  // better
        (15_000, 2, probe(9, 60)), // the best hop got worse
        (20_000, 1, probe(9, 50)), // better than the best hop
    ];
    let (story, _) = run(&world, frames, &[]);
    let wanted = [
        (9, 5, 0),
        (9, 5, 1),
        (9, 5, 3), //
        (9, 10, 1),
        (9, 10, 2),
        (9, 10, 3), //
        (9, 50, 0),
        (9, 50, 2),
        (9, 50, 3), //
        (9, 60, 0),
        (9, 60, 1),
        (9, 60, 3),
    ];
    assert_eq!(told(&story), wanted);
    assert_eq!(story.lost.iter().filter(|(_, why)| why == "ended").count(), 1);
}

#[test]
fn a_probe_meets_the_use_of_its_link_the_other_way() {
    // Half of port 1's 400G for ten time constants, then a probe on port 1.
    let world = world(&TOFINO2(), "hula", &["tau=10us", "role=spine", "uplinks=0-3"]);
    let bytes = frame(1, 1, 1_422);
    assert_eq!(bytes.len(), 1_476);
    // 10.1.0.0/24 is at port 0 by the default entries.
    let mut frames: Vec<(u64, u16, Vec<u8>)> =
        (0..1_700).map(|n| (1_000 + n * 60, 3, bytes.clone())).collect();
    frames.push((103_010, 0, probe(9, 10)));
    frames.push((104_000, 1, probe(8, 10)));
    let (story, _) = run(&world, frames, &[]);
    let told = told(&story);
    let util = |tor: u16| told.iter().find(|t| t.0 == tor).unwrap().1;
    // 64 of 128, and the filter's error of a few per cent.
    assert!((60..=68).contains(&util(9)), "{}", util(9));
    assert_eq!(util(8), 10);
}

#[test]
fn probes_of_hosts_are_refused() {
    let world = world(&TOFINO2(), "hula", &[]);
    let (story, _) = run(&world, vec![(1_000, 0, probe(1, 0)), (2_000, 8, probe(1, 0))], &[]);
    let lost: Vec<(u64, &str)> =
        story.lost.iter().filter(|(tag, _)| *tag < 2).map(|(tag, why)| (*tag, why.as_str())).collect();
    assert_eq!(lost, [(0, "stranger"), (1, "stranger")]);
}

#[test]
fn a_dead_uplink_is_left_at_once_and_comes_back_with_its_probes() {
    let world = world(&TOFINO2(), "hula", &["timeout=20us"]);
    let set = |up| ControlOp::Device(DeviceOp::SetPort { port: world.dev_port(4), up });
    let profile = world.program.profile_named("uplinks").unwrap();
    let active = |active| ControlOp::SetMemberActive { profile, group: 1, member: 0, active };
    let entry = |table: &str, action: &str, args: &[u128]| {
        let table = world.program.table_named(table).unwrap();
        let action = world.program.action_named(action).unwrap();
        let then = Then::Call(ActionCall { action, args: args.to_vec() });
        ControlOp::InsertEntry { table, key: vec![KeyValue::Exact(1)], priority: 0, then }
    };
    // The best hop is cleared together with the port: overdue until another hop sends a probe.
    let register = world.program.register_named("best_path").unwrap();
    let forget = ControlOp::WriteRegister { register, index: Some(1), value: None };
    let (down, up) = (300_000, 600_000);
    let later = [
        (down, active(false)),
        (down, entry("generation", "set_generation", &[2 << 16])),
        (down, forget),
        (down, set(false)),
        (up, set(true)),
        (up, active(true)),
    ];
    // A busy flow; probes on both paths, until the first path fails.
    let mut frames: Vec<(u64, u16, Vec<u8>)> =
        (0..900).map(|n| (1_000 * n + 5, 0, frame(1, 7, 200))).collect();
    for n in 0..9u64 {
        frames.push((n * 100_000 + 50, 5, probe(1, 60)));
        if !(3..=6).contains(&n) {
            frames.push((n * 100_000 + 90, 4, probe(1, 20)));
        }
    }
    frames.extend(heads(800_000, 100));
    let (story, frames) = run(&world, frames, &later);
    let data = |tag: &u64| frames.get(*tag as usize).is_some_and(|f| read(f).is_none());
    assert!(story.lost.iter().all(|(tag, _)| !data(tag)), "{:?}", story.lost);
    let by_dead =
        story.sent.iter().filter(|(tag, port, left)| data(tag) && *port == 4 && *left > down && *left < up);
    assert!(by_dead.clone().count() <= 1, "{:?}", by_dead.collect::<Vec<_>>());
    assert!(taken(&story, &frames, 100).iter().all(|p| *p == 4));
}
