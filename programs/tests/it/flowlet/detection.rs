//! The end of a flowlet: scenarios 1 to 11 of model: flowlets §9, except those of ages, and the closed forms of §3.1.

use crate::flowlet::world::{Draws, Packet, World, by_port, colliding, flow, frame};
use proptest::prelude::*;
use sluice_asic::chip::ChipSpec;

/// Returns whether the second of two packets with this gap begins a flowlet, by the program's own counter.
fn ends(params: &[&str], first: u64, gap: u64) -> bool {
    let world = World::new("letflow", &[&["detect=split", "tick=1ns"], params].concat());
    let mut engine = world.engine();
    // The first packet finds timestamp 0, the second one that of the first.
    world.run(&mut engine, &flow(1, [first]), 1);
    let before = world.counted(&engine, "flowlets", 1);
    world.run(&mut engine, &flow(1, [first + gap]), 1);
    world.counted(&engine, "flowlets", 1) > before
}

#[test]
fn scenario_1_a_gap_of_the_timeout_and_one_tick_more() {
    let timeout = "timeout=50us";
    for (compare, at, beyond) in [("compare=gt", false, true), ("compare=ge", true, true)] {
        assert_eq!(ends(&[timeout, compare], 1 << 30, 50_000), at, "{compare}");
        assert_eq!(ends(&[timeout, compare], 1 << 30, 50_001), beyond, "{compare}");
        assert!(!ends(&[timeout, compare], 1 << 30, 49_999), "{compare}");
    }
}

#[test]
fn scenario_2_back_to_back_packets_are_one_flowlet() {
    for params in [&["timeout=50us"][..], &["timeout=50us", "detect=split"]] {
        let world = World::new("letflow", params);
        let fates = world.agreed(&flow(3, (0..1_000).map(|n| 1_000_000 + n * 49_000)));
        assert!(fates.iter().all(|f| *f == fates[0] && f.is_ok()), "{params:?}");
    }
}

#[test]
fn scenario_3_every_packet_a_head_spreads_evenly() {
    let world = World::new("letflow", &["timeout=10us", "tick=1ns", "weights=1,1,1,1"]);
    let packets = flow(3, (0..40_000).map(|n| 1_000_000 + n * 10_001));
    let counts = by_port(&world.run(&mut world.engine(), &packets, 64), 4);
    let off = |n: &u64| n.abs_diff(10_000);
    assert!(counts.iter().all(|n| off(n) <= 300), "{counts:?}");
    let chi_square: f64 = counts.iter().map(|n| (off(n) as f64).powi(2) / 10_000.0).sum();
    assert!(chi_square < 16.27, "{counts:?}: {chi_square}");
}

#[test]
fn scenario_4_the_first_packets_after_boot_are_heads() {
    for detect in ["detect=pair", "detect=split", "detect=age"] {
        let world = World::new("letflow", &["timeout=500us", detect, "flowlets=4096"]);
        let packets: Vec<Packet> = (0..300).flat_map(|n| flow(n, [u64::from(n)])).collect();
        let counts = by_port(&world.agreed(&packets), 8);
        assert!(counts.iter().all(|n| *n > 15), "{detect}: {counts:?}");
    }
}

#[test]
fn scenario_5_stamps_wrap() {
    assert!(!ends(&["timeout=768ns"], 0xffff_ff00, 0x200));
    assert!(ends(&["timeout=256ns"], 0xffff_ff00, 0x200));
    // The wrap of all 48 bits is also a wrap of the 32 bits.
    assert!(!ends(&["timeout=768ns"], 0xffff_ffff_ff00, 0x200));
}

#[test]
fn scenario_6_whole_turns_of_the_clock_alias() {
    let turn = 1 << 32;
    assert!(!ends(&["timeout=50us"], 1 << 30, turn));
    assert!(!ends(&["timeout=50us"], 1 << 30, turn + 50_000));
    assert!(ends(&["timeout=50us"], 1 << 30, turn + 50_001));
    // A stateful ALU compares gaps up to half a turn: after a longer pause, up to a whole turn, the member is kept.
    assert!(ends(&["timeout=50us"], 1 << 30, turn / 2 + 40_000));
    assert!(!ends(&["timeout=50us"], 1 << 30, turn / 2 + 60_000));
}

#[test]
fn scenario_8_poisson_heads_and_sizes() {
    // L = 0.01 packets per us, D = 100 us: heads e^-1, mean size e.
    let world = World::new("letflow", &["detect=split", "timeout=100us", "tick=1ns"]);
    let mut draws = Draws(8);
    let mut now = 1_000_000_000;
    let times = (0..100_000).map(|_| {
        now += draws.gap(100_000.0);
        now
    });
    let mut engine = world.engine();
    world.run(&mut engine, &flow(5, times), 64);
    let heads = world.counted(&engine, "flowlets", 1) as f64;
    assert!((heads / 1e5 - (-1f64).exp()).abs() < 0.005, "{heads}");
    assert!((1e5 / heads / 1f64.exp() - 1.0).abs() < 0.02, "{heads}");
}

#[test]
fn scenario_10_flows_on_one_entry_share_flowlets() {
    // Each L with LD = 1: the merged stream's heads are e^-2, and both flows are on one uplink at all times.
    let world = World::new("letflow", &["detect=split", "timeout=100us", "tick=1ns"]);
    let frames = colliding(32_768, [7, 7]);
    let mut draws = Draws(10);
    let mut now = 1_000_000_000;
    let mut packets = Vec::new();
    for _ in 0..60_000 {
        now += draws.gap(50_000.0);
        packets.push(Packet { ns: now, bytes: frames[(draws.bits() & 1) as usize].clone() });
    }
    let mut engine = world.engine();
    let fates = world.run(&mut engine, &packets, 64);
    let heads = world.counted(&engine, "flowlets", 1) as f64;
    assert!((heads / 6e4 - (-2f64).exp()).abs() < 0.005, "{heads}");
    for (pair, fates) in packets.windows(2).zip(fates.windows(2)) {
        assert!(pair[1].ns - pair[0].ns > 100_000 || fates[0] == fates[1]);
    }
}

#[test]
fn scenario_11_colliding_flows_stay_within_their_groups() {
    // Only ports 8 and 9 lead to 10.2/16, all eight uplinks to 10.7/16; all flows share two entries.
    for detect in ["detect=pair", "detect=split", "detect=age"] {
        let world = World::new("letflow", &["flowlets=2", "timeout=20us", detect]);
        let mut draws = Draws(11);
        let mut now = 1_000_000;
        let mut networks = Vec::new();
        let mut packets = Vec::new();
        for _ in 0..3_000 {
            now += draws.gap(9_000.0);
            networks.push(if draws.bits() & 1 == 0 { 2 } else { 7 });
            let flow = draws.bits() as u32 % 50;
            packets.push(Packet { ns: now, bytes: frame(flow, networks[networks.len() - 1], 100) });
        }
        let fates = world.agreed(&packets);
        let mut wide = [false; 8];
        for (network, fate) in networks.iter().zip(&fates) {
            let port = *fate.as_ref().unwrap();
            assert!(*network == 7 && (8..16).contains(&port) || (8..10).contains(&port), "{network} {port}");
            wide[usize::from(port) - 8] = true;
        }
        // No generator ages the entries here, so with ages the first draws last.
        assert!(wide == [true; 8] || detect == "detect=age", "{detect}: {wide:?}");
    }
}

#[test]
fn colliding_flows_of_unequal_groups_keep_their_ways() {
    // The flow with all uplinks begins, mostly on an uplink that the other flow's group lacks.
    for (name, params) in [
        ("letflow", &["timeout=20us", "detect=pair"][..]),
        ("letflow", &["timeout=20us", "detect=split"]),
        ("flare", &["timeout=20us"]),
        ("hula", &["timeout=20us"]),
    ] {
        let entries = 32_768;
        let world = World::new(name, params);
        let [two, any] = colliding(entries, [2, 7]);
        let mut packets = Vec::new();
        for n in 0..40 * 10u64 {
            let bytes = if n % 2 == 0 { any.clone() } else { two.clone() };
            packets.push(Packet { ns: 1_000_000 + n * 1_000 + n / 10 * 50_000, bytes });
        }
        let fates = world.agreed(&packets);
        let mut foreign = 0;
        for round in fates.chunks(10) {
            assert!(round.iter().enumerate().all(|(n, fate)| *fate == round[n % 2]), "{name}: {round:?}");
            foreign += usize::from(round[0] != round[1]);
        }
        assert!(foreign > 10, "{name} {params:?}: {foreign} of 40 flowlets began with a foreign member");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Scenario 9: one array or two make no difference for the same draws; neither do engines, batches and chips.
    #[test]
    fn scenario_9_one_array_or_two_choose_alike(
        steps in prop::collection::vec((0..12_u32, 0..60_000_u64, prop::sample::select(vec![2_u8, 7])), 1..120),
        origin in prop::sample::select(vec![0_u64, 0xffff_0000, 0xffff_ffff_0000]),
        flowlets in prop::sample::select(vec!["flowlets=2", "flowlets=32768"]),
    ) {
        let mut now = origin;
        let packets: Vec<Packet> = steps.iter().map(|(flow, gap, network)| {
            now += gap;
            Packet { ns: now & 0xffff_ffff_ffff, bytes: frame(*flow, *network, 100) }
        }).collect();
        let mut seen = Vec::new();
        for chip in [ChipSpec::tofino2(), ChipSpec::tofino()] {
            for detect in ["detect=pair", "detect=split"] {
                let world = World::on(&chip, "letflow", &["timeout=20us", "tick=1ns", detect, flowlets]);
                seen.push(world.agreed(&packets));
            }
        }
        prop_assert!(seen.iter().all(|s| *s == seen[0]));
    }
}
