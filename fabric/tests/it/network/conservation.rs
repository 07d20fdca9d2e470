//! Every packet is accounted for, on any network, with any faults, on one thread and on several.

use crate::network::support::{Into, Recorder, Seen, frame, inject, switches};
use proptest::prelude::*;
use sluice_asic::units::{Cells, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{
    End, LinkChange, LinkEvent, LinkSetup, Network, NetworkSetup, Probability, SwitchId, Way,
};

/// Random links between free ports, also of the same switch, with random scripts.
fn networks() -> impl Strategy<Value = NetworkSetup> {
    let change = prop_oneof![
        Just(LinkChange::Down),
        Just(LinkChange::Up),
        (0..=1_000_000_000u32).prop_map(|p| LinkChange::Loss(Probability::from_ppb(p))),
        (0..=1_000_000_000u32).prop_map(|p| LinkChange::Corruption(Probability::from_ppb(p))),
        (0..2_000_000u64).prop_map(|ps| LinkChange::ExtraDelay(Duration::from_ps(ps))),
    ];
    let way = prop_oneof![Just(None), Just(Some(Way::Forth)), Just(Some(Way::Back))];
    let event = (0..3_000_000u64, way, change).prop_map(|(ps, way, change)| LinkEvent {
        time: Time::from_ps(ps),
        way,
        change,
    });
    let end = (0..4u32, 0..8u16).prop_map(|(switch, port)| End::new(SwitchId(switch), port));
    let script = prop::collection::vec(event, 0..6);
    let link = (end.clone(), end, 0..1_500_000u64, script);
    (prop::collection::vec(link, 0..12), 1..60u32, any::<u64>()).prop_map(|(links, limit, seed)| {
        let mut setup = switches(4);
        setup.seed = seed;
        setup.switches.iter_mut().for_each(|s| s.config.queues.limit = Cells(limit));
        let mut taken = Vec::new();
        for (a, b, delay, script) in links {
            if a != b && !taken.contains(&a) && !taken.contains(&b) {
                taken.extend([a, b]);
                let link = LinkSetup::new(a, b, Duration::from_ps(delay));
                setup.link(LinkSetup { script, ..link });
            }
        }
        setup
    })
}

fn traffic() -> impl Strategy<Value = Vec<Into>> {
    let hops = prop::collection::vec(0..9u16, 0..6);
    let entry = (0..4u32, 8..12u16, 0..30_000u64, hops, 14..1600usize);
    prop::collection::vec(entry, 1..200).prop_map(|frames| {
        let mut now = 0;
        let into = |(switch, front, gap, hops, len): (u32, u16, u64, Vec<u16>, usize)| {
            now += gap;
            Into { switch, front, ps: now, bytes: frame(&hops, len) }
        };
        frames.into_iter().map(into).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_frame_ends_once(setup in networks(), frames in traffic(), cuts in prop::collection::vec(0..4_000_000u64, 0..5)) {
        let mut network = Network::new(setup.clone(), &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        let mut cuts = cuts;
        cuts.sort_unstable();
        for cut in cuts {
            network.advance(Time::from_ps(cut), &mut seen).unwrap();
            let totals = network.totals();
            prop_assert!(totals.is_conserved(), "{:?}", totals);
        }
        network.drain(Time::MAX, &mut seen).unwrap();
        let totals = network.totals();
        prop_assert!(totals.is_conserved() && !network.is_busy(), "{:?}", totals);
        prop_assert_eq!((totals.entered, totals.created), (frames.len() as u64, 0));
        prop_assert_eq!((totals.held, totals.on_links, totals.waiting), (0, 0, 0));
        // The events add up to the counters, and every frame ended exactly once.
        let dead = seen.on_links().filter(|(_, f)| f.fate.is_err());
        let mut ends: Vec<u64> = seen.delivered().map(|(_, l, _)| l.tag).collect();
        ends.extend(seen.lost().map(|(_, l)| l.tag));
        ends.extend(dead.map(|(_, f)| f.left.tag));
        ends.sort_unstable();
        prop_assert!(ends.iter().copied().eq(0..frames.len() as u64), "{:?}", ends);
        prop_assert_eq!(totals.hops, seen.on_links().count() as u64);
        for link in network.links() {
            for way in Way::ALL {
                let w = network.way(link, way).unwrap();
                prop_assert_eq!(w.frames, w.carried + w.dropped.iter().sum::<u64>());
            }
        }

        // Two threads give the same events at each switch, except for `entered`: the time at which a switch gets a
        // frame that cannot act yet depends on the steps.
        let mut network = Network::new(setup, &Catalogue::new()).unwrap();
        inject(&mut network, &frames);
        let mut each = vec![Recorder::default(); network.len()];
        network.drain_parallel(Time::MAX, 2, &mut each).unwrap();
        prop_assert_eq!(network.totals(), totals);
        seen.seen.retain(|(_, s)| !matches!(s, Seen::Entered(_)));
        for (id, mut own) in network.ids().zip(each) {
            own.seen.retain(|(_, s)| !matches!(s, Seen::Entered(_)));
            prop_assert!(own == seen.of(id), "{:?}", id);
        }
    }
}
