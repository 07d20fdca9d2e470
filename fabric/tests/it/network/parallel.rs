//! Runs on one thread and on several give the same events, byte for byte.

use crate::network::support::{Into, Recorder, frame, inject, switches};
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{End, LinkSetup, Network, NetworkSetup, SwitchId};

/// Eight leaves and eight spines: port `s` of leaf `l` is linked to port `l` of spine `s`.
fn leaf_spine() -> NetworkSetup {
    let mut setup = switches(16);
    for leaf in 0..8u32 {
        for spine in 0..8u32 {
            // The cables have different lengths.
            let delay = Duration::from_nanos(400 + u64::from(leaf * 37 + spine * 11));
            let ends = [End::new(SwitchId(leaf), spine as u16), End::new(SwitchId(8 + spine), leaf as u16)];
            setup.link(LinkSetup::new(ends[0], ends[1], delay));
        }
    }
    setup
}

/// Bursts from every leaf's hosts to other leaves' hosts, which meet in queues.
fn traffic(frames: u64) -> Vec<Into> {
    let into = |n: u64| {
        let (from, to) = ((n % 8) as u32, (n * 5 / 8 % 8) as u16);
        let (spine, host) = ((n / 64 % 8) as u16, (8 + n % 3) as u16);
        let bytes = frame(&[spine, to, host], 64 + (n * 97 % 1400) as usize);
        Into { switch: from, front: 12 + (n / 8 % 4) as u16, ps: n / 8 * 900, bytes }
    };
    (0..frames).map(into).collect()
}

fn run(threads: usize, steps: u64) -> (Vec<Recorder>, Network) {
    let mut network = Network::new(leaf_spine(), &Catalogue::new()).unwrap();
    inject(&mut network, &traffic(6000));
    let mut each = vec![Recorder::default(); network.len()];
    for step in 1..=steps {
        let until = Time::from_ps(step * 300_000);
        network.advance_parallel(until, threads, &mut each).unwrap();
    }
    network.drain_parallel(Time::MAX, threads, &mut each).unwrap();
    (each, network)
}

#[test]
fn a_leaf_spine_of_sixteen_is_the_same_on_one_two_and_three_threads() {
    let (one, network) = run(1, 2);
    let totals = network.totals();
    assert!(totals.is_conserved() && !network.is_busy());
    assert_eq!((totals.entered, totals.held), (6000, 0));
    assert!(totals.delivered > 4000 && totals.hops > 10_000, "{totals:?}");
    for threads in [2, 3] {
        let (several, other) = run(threads, 2);
        for (id, (a, b)) in one.iter().zip(&several).enumerate() {
            assert!(a == b, "switch {id} differs on {threads} threads");
        }
        assert_eq!(other.totals(), totals);
        for id in network.ids() {
            let [a, b] = [&network, &other].map(|n| n.switch(id).unwrap());
            assert_eq!(a.totals(), b.totals());
            assert_eq!(a.state(), b.state());
        }
    }
}

/// A single observer gets for each switch the same events as a separate observer.
#[test]
fn one_observer_sees_what_many_do() {
    let (each, _) = run(2, 0);
    let mut network = Network::new(leaf_spine(), &Catalogue::new()).unwrap();
    inject(&mut network, &traffic(6000));
    let mut all = Recorder::default();
    network.drain(Time::MAX, &mut all).unwrap();
    for (id, own) in network.ids().zip(&each) {
        assert!(all.of(id) == *own, "{id:?}");
    }
}

#[test]
fn observers_are_as_many_as_switches() {
    let mut network = Network::new(switches(2), &Catalogue::new()).unwrap();
    let error = network.advance_parallel(Time::ORIGIN, 2, &mut [()]).unwrap_err();
    assert_eq!(error.to_string(), "1 observers for 2 switches; pass one observer for each switch");
}
