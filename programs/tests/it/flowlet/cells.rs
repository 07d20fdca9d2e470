//! Programs that draw for every packet or cell: scenarios 13 to 16, 19, 21, 22, 28 (switches) of model: flowlets §9.

use crate::flowlet::world::{Draws, Packet, World, by_port, flow, frame};
use sluice_asic::chip::ChipSpec;
use sluice_asic::select::{GroupShape, Selector, SelectorMode};
use sluice_exec::pass::Executor;
use sluice_hashing::scheme::Setting;

fn chips() -> [ChipSpec; 2] {
    [ChipSpec::tofino2(), ChipSpec::tofino()]
}

#[test]
fn scenario_13_one_way_out_remembers_nothing() {
    let world = World::new("letflow", &["flowlets=64"]);
    let fresh = world.engine().state().clone();
    let mut engine = world.engine();
    let packets: Vec<Packet> =
        (0..100).map(|n| Packet { ns: u64::from(n) * 1_000_000, bytes: frame(n, 1, 100) }).collect();
    assert!(world.run(&mut engine, &packets, 64).iter().all(|f| *f == Ok(0)));
    assert_eq!(engine.state().registers, fresh.registers);
}

#[test]
fn scenario_14_three_members_of_a_fair_selector() {
    let shape = GroupShape::balanced(3).unwrap();
    let mut counts = [0u32; 3];
    for draw in 0..1u128 << 16 {
        counts[Selector::new(SelectorMode::Fair).pick(draw, &shape).unwrap() as usize] += 1;
    }
    for n in counts {
        assert!((f64::from(n) / 65_536.0 - 1.0 / 3.0).abs() < 1e-4, "{counts:?}");
    }
}

#[test]
fn scenario_15_weights_2_to_1() {
    let world = World::new("spray", &["weights=2,1"]);
    let packets: Vec<Packet> = (0..30_000).flat_map(|n| flow(n, [u64::from(n)])).collect();
    let counts = by_port(&world.run(&mut world.engine(), &packets, 64), 2);
    assert!((counts[0] as f64 / 30_000.0 - 2.0 / 3.0).abs() < 0.009, "{counts:?}");
}

#[test]
fn scenario_16_flowlets_follow_the_coin_whatever_it_is() {
    // The part of scenario 16 that needs no reaction of hosts: the share of flowlets is the coin's.
    let world = World::new("letflow", &["weights=1,9", "timeout=1us"]);
    let packets: Vec<Packet> = (0..20_000).flat_map(|n| flow(n % 64, [u64::from(n) * 1_000_000])).collect();
    let counts = by_port(&world.run(&mut world.engine(), &packets, 64), 2);
    assert!((counts[0] as f64 / 20_000.0 - 0.1).abs() < 0.008, "{counts:?}");
}

#[test]
fn scenario_21_drb_takes_turns() {
    for chip in chips() {
        let world = World::on(&chip, "drb", &["weights=1,1,1,1", "start=2"]);
        let packets: Vec<Packet> = (0..8).flat_map(|n| flow(n, [u64::from(n)])).collect();
        let ports: Vec<u16> = world.agreed(&packets).into_iter().map(|f| f.unwrap() - 8).collect();
        assert_eq!(ports, [2, 3, 0, 1, 2, 3, 0, 1], "{}", chip.name);
    }
}

#[test]
fn drb_by_flow_turns_for_each_flow_and_rounds_join() {
    let world = World::new("drb", &["weights=1,2,1", "turns=flow", "start=15116"]);
    let packets: Vec<Packet> = (0..16).flat_map(|n| flow(n % 2, [u64::from(n)])).collect();
    let ports: Vec<u16> = world.agreed(&packets).into_iter().map(|f| f.unwrap() - 8).collect();
    // 15116 is 0 modulo 4; the order of weights 1,2,1 is a, b, c, b, over the end of the count too.
    assert_eq!(ports, [0, 0, 1, 1, 2, 2, 1, 1, 0, 0, 1, 1, 2, 2, 1, 1]);
}

/// Uplinks of 1460-byte packets of one flow, as runs of equal ones.
fn runs(world: &World, packets: usize, payload: usize) -> Vec<(u16, usize)> {
    let packets: Vec<Packet> =
        (0..packets as u64).map(|n| Packet { ns: n * 1_000, bytes: frame(9, 7, payload) }).collect();
    let mut runs: Vec<(u16, usize)> = Vec::new();
    for fate in world.agreed(&packets) {
        let port = fate.unwrap() - 8;
        match runs.last_mut() {
            Some((last, n)) if *last == port => *n += 1,
            _ => runs.push((port, 1)),
        }
    }
    runs
}

#[test]
fn scenario_22_presto_cells_of_44_packets_in_the_order_of_the_weights() {
    for chip in chips() {
        let world = World::on(&chip, "presto", &["weights=1,2,1"]);
        let runs = runs(&world, 44 * 9, 1_460);
        assert!(runs.iter().all(|(_, n)| *n == 44), "{runs:?}");
        let order: Vec<u16> = runs.iter().map(|(port, _)| *port).collect();
        // The order is a, b, c, b, from any start.
        let round = [0, 1, 2, 1];
        let begin = (0..4).find(|b| (0..4).all(|n| order[n] == round[(b + n) % 4])).unwrap();
        assert!((0..9).all(|n| order[n] == round[(begin + n) % 4]), "{order:?}");
    }
}

#[test]
fn presto_cells_hold_what_fits_exactly() {
    let world = World::new("presto", &["cell=1000", "weights=1,1,1"]);
    assert!(runs(&world, 30, 500).iter().all(|(_, n)| *n == 2));
    assert!(runs(&world, 30, 501).iter().all(|(_, n)| *n == 1));
    assert!(runs(&world, 30, 1_400).iter().all(|(_, n)| *n == 1), "a packet larger than a cell is one");
}

#[test]
fn scenario_19_four_flows_by_hash_over_four_links() {
    // The reference for all of these: balls in bins, by the hash of the packet path over drawn five-tuples.
    let setting = Setting::of("crc_32".parse().unwrap());
    let mut draws = Draws(19);
    let (mut apart, mut used) = (0u32, 0u32);
    for _ in 0..100_000 {
        let mut links = [false; 4];
        for _ in 0..4 {
            let [a, b] = [draws.bits(), draws.bits()].map(u64::to_be_bytes);
            let mut key = [0; 14];
            key[..8].copy_from_slice(&a);
            key[9..13].copy_from_slice(&b[..4]);
            key[8] = 6;
            links[usize::from(setting.hash(&key) as u8 & 3)] = true;
        }
        let count = links.iter().filter(|link| **link).count() as u32;
        used += count;
        apart += u32::from(count == 4);
    }
    assert!((f64::from(apart) / 1e5 - 0.09375).abs() < 0.003, "{apart}");
    assert!((f64::from(used) / 1e5 - 2.734).abs() < 0.01, "{used}");
}

#[test]
fn scenario_28_a_value_in_the_hash_moves_a_flow() {
    // FlowBender needs this of switches: a hashed field that the sender changes, here the source port, changes the
    // path in (k-1)/k of all changes. The sender decides when to change the field.
    for scheme in ["scheme=plain", "scheme=per-stage"] {
        let world = World::new("ecmp", &[scheme]);
        let packets: Vec<Packet> =
            (0..4_000).map(|n| Packet { ns: u64::from(n), bytes: frame(n, 7, 100) }).collect();
        let taken: Vec<u16> = world.agreed(&packets).into_iter().map(Result::unwrap).collect();
        let mut paths = taken.clone();
        paths.sort_unstable();
        paths.dedup();
        // Flows 2n and 2n + 1 differ by one in their source ports, as V and V + 1 do.
        let moved = taken.chunks(2).filter(|pair| pair[0] != pair[1]).count() as f64 / 2_000.0;
        let wanted = 1.0 - 1.0 / paths.len() as f64;
        assert!(paths.len() > 1 && moved > wanted - 0.1, "{scheme}: {moved} of {}", paths.len());
    }
}
