//! Functional mode: packets take the same paths as in timed mode, and loops end.

use crate::network::support::{Into, Recorder, chain, frame, inject, switches};
use proptest::prelude::*;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{End, LinkChange, LinkDrop, LinkSetup, Network, NetworkSetup, SwitchId};
use sluice_switch::Mode;

fn without_time(mut setup: NetworkSetup) -> NetworkSetup {
    for switch in &mut setup.switches {
        switch.config.mode = Mode::Functional;
    }
    setup
}

/// A frame that left the network: switch, port, tag, bytes.
type Out = (SwitchId, u16, u64, Vec<u8>);

fn delivered(setup: NetworkSetup, frames: &[Into]) -> (Vec<Out>, Network) {
    let (mut network, mut seen) = (Network::new(setup, &Catalogue::new()).unwrap(), Recorder::default());
    inject(&mut network, frames);
    network.drain(Time::from_nanos(100_000_000), &mut seen).unwrap();
    assert!(network.totals().is_conserved());
    let left = seen.delivered().map(|(at, left, bytes)| (at, left.egress_port, left.tag, bytes.to_vec()));
    (left.collect(), network)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn packets_end_where_they_end_with_time(
        ways in prop::collection::vec((0..3u32, prop::collection::vec(0..3u16, 1..5)), 1..40),
    ) {
        let mut frames = Vec::new();
        for (n, (switch, hops)) in (0..).zip(&ways) {
            let path: Vec<u16> = hops.iter().copied().chain([9]).collect();
            frames.push(Into { switch: *switch, front: 4, ps: n * 1_000_000, bytes: frame(&path, 100) });
        }
        let (mut timed, with) = delivered(chain(3, Duration::from_nanos(300)), &frames);
        let (mut timeless, without) = delivered(without_time(chain(3, Duration::from_nanos(300))), &frames);
        // A packet makes all its hops before the next one enters.
        prop_assert!(timeless.windows(2).all(|w| w[0].2 <= w[1].2));
        timed.sort();
        timeless.sort();
        prop_assert_eq!(timed, timeless);
        prop_assert_eq!(with.totals(), without.totals());
    }
}

#[test]
fn a_frame_that_goes_round_ends_on_its_65th_link() {
    let mut setup = switches(3);
    for n in 0..3 {
        let ends = [End::new(SwitchId(n), 1), End::new(SwitchId((n + 1) % 3), 2)];
        setup.link(LinkSetup::new(ends[0], ends[1], Duration::from_nanos(200)));
    }
    // One frame in an endless loop over port 1, and one that leaves after two links.
    let one = |ps, hops: &[u16]| Into { switch: 0, front: 4, ps, bytes: frame(hops, 100) };
    let frames = [one(0, &[1; 6]), one(10, &[1, 1, 9]), one(10, &[1; 6])];
    let (left, network) = delivered(without_time(setup), &frames);
    assert_eq!(left.iter().map(|(at, _, tag, _)| (*at, *tag)).collect::<Vec<_>>(), [(SwitchId(2), 1)]);
    let totals = network.totals();
    assert_eq!(totals.link_drops[LinkDrop::TooManyHops as usize], 2);
    assert_eq!(totals.hops, 2 * 65 + 2);
    assert_eq!(network.time(), Time::from_ps(10));
}

#[test]
fn scripts_hold_at_the_time_at_which_a_packet_came_in() {
    let mut setup = without_time(chain(2, Duration::from_nanos(500)));
    let slow = LinkChange::ExtraDelay(Duration::from_nanos(50_000));
    let changes = [(0, slow), (20, LinkChange::Down), (40, LinkChange::Up)];
    for (us, change) in changes {
        setup.links[0] = setup.links[0].clone().at(Time::from_nanos(us * 1000), change);
    }
    let frames: Vec<Into> = (0..60)
        .map(|n| Into { switch: 0, front: 4, ps: n * 1_000_000, bytes: frame(&[1, 9], 100) })
        .collect();
    let (left, network) = delivered(setup, &frames);
    let tags: Vec<u64> = left.iter().map(|(_, _, tag, _)| *tag).collect();
    assert_eq!(tags, (0..20).chain(40..60).collect::<Vec<_>>());
    assert_eq!(network.totals().link_drops[LinkDrop::Down as usize], 20);
}

#[test]
fn time_is_everywhere_or_nowhere() {
    let mut setup = chain(2, Duration::from_nanos(500));
    setup.switches[1].config.mode = Mode::Functional;
    let error = Network::new(setup, &Catalogue::new()).err().unwrap().to_string();
    assert_eq!(
        error,
        "switch `s1` is in functional mode and others are not; set the same mode for all switches"
    );
}
