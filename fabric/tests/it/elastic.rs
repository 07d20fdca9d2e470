//! Flows on paths of different rates, moved by the program `letflow`: scenarios 16 to 18 of model: flowlets §9 with
//! Poisson hosts, and the law of §3.2.

use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::flowlets::elastic::{Paths, Settled, fixed_point, settle};
use sluice_fabric::flowlets::through::Candidate;
use sluice_programs::catalogue;
use sluice_programs::letflow::LetFlow;

fn paths(rates: &[u64], coin: &[u32], flows: u32) -> Paths {
    let rates = rates.iter().map(|g| BitRate::from_gbps(*g)).collect();
    Paths { rates, coin: coin.to_vec(), flows, packet: Bytes(1_500) }
}

fn run(paths: &Paths, micros: u64, packets: u64) -> Settled {
    seeded(7, paths, micros, packets)
}

fn seeded(seed: u64, paths: &Paths, micros: u64, packets: u64) -> Settled {
    let (catalogue, chip) = (catalogue(), ChipSpec::tofino2());
    let candidate = Candidate { catalogue: &catalogue, stage: &LetFlow, chip: &chip, seed };
    settle(paths, &candidate, Duration::from_micros(micros), packets).unwrap()
}

#[test]
fn the_fixed_point_is_that_of_the_tables() {
    let two = paths(&[40, 20], &[1, 1], 100);
    for (micros, wanted) in [(20, 49.34), (50, 60.01), (100, 63.45), (250, 65.41), (500, 66.04)] {
        let found = fixed_point(&two, Duration::from_micros(micros)).unwrap();
        assert!((found[0] - wanted).abs() < 0.01, "{micros}: {found:?}");
        assert!((found[0] + found[1] - 100.0).abs() < 1e-6);
    }
    let four = fixed_point(&paths(&[40, 40, 20, 10], &[1; 4], 120), Duration::from_micros(100)).unwrap();
    for (found, wanted) in four.iter().zip([42.09, 42.09, 23.06, 12.76]) {
        assert!((found - wanted).abs() < 0.01, "{four:?}");
    }
    for (coin, wanted) in [([1, 9], 52.24), ([1, 3], 57.93), ([3, 1], 68.42), ([9, 1], 72.64)] {
        let found = fixed_point(&paths(&[40, 20], &coin, 100), Duration::from_micros(100)).unwrap();
        assert!((found[0] - wanted).abs() < 0.01, "{coin:?}: {found:?}");
    }
}

#[test]
fn scenario_17_flows_settle_by_the_rates_of_their_paths() {
    let two = paths(&[40, 20], &[1, 1], 100);
    let short = run(&two, 1, 30_000);
    assert!((short.flows[0] - 5.57).abs() < 1.0, "packets by chance pile flows on the slow path: {short:?}");
    let middle = run(&two, 20, 60_000);
    assert!((middle.flows[0] - 49.3).abs() < 1.5, "{middle:?}");
    assert!(
        (middle.traffic[0] - 2.0 / 3.0).abs() < 0.02 && (middle.flowlets[0] - 0.5).abs() < 0.02,
        "{middle:?}"
    );
}

#[test]
fn scenario_16_a_wrong_coin_moves_flowlets_and_not_traffic() {
    let wrong = run(&paths(&[40, 20], &[1, 9], 100), 20, 60_000);
    assert!((wrong.flowlets[0] - 0.1).abs() < 0.01, "{wrong:?}");
    assert!((wrong.traffic[0] - 2.0 / 3.0).abs() < 0.03, "{wrong:?}");
    // Conservation of flowlets: their sizes have the ratio of rate / weight of the paths.
    let ratio = wrong.sizes[0] / wrong.sizes[1];
    assert!((ratio / (2.0 * 9.0) - 1.0).abs() < 0.1, "{ratio}");
}

#[test]
fn scenario_18_with_a_long_timeout_nothing_moves() {
    let stuck = run(&paths(&[10, 10], &[1, 1], 20), 1_000, 20_000);
    assert_eq!(stuck.deviation, [0.0, 0.0], "{stuck:?}");
    assert_eq!(stuck.flows[0] + stuck.flows[1], 20.0);
}

#[test]
fn the_same_seed_settles_the_same() {
    let two = paths(&[40, 20], &[1, 1], 10);
    assert_eq!(run(&two, 5, 3_000), run(&two, 5, 3_000));
    let other = seeded(8, &two, 5, 3_000);
    assert_ne!(run(&two, 5, 3_000), other);
}
