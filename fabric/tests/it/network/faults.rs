//! Outages, loss, corruption and extra delay of links.

use crate::network::support::{Into, Recorder, chain, frame, inject};
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{
    LinkChange, LinkDrop, LinkId, Network, NetworkSetup, Probability, SwitchId, Way,
};

const DELAY: Duration = Duration::from_micros(1);

fn at(us: u64) -> Time {
    Time::from_nanos(us * 1000)
}

/// Time of a frame's first bit out, and its fate.
type Judged = (Time, Result<Time, LinkDrop>);

/// Sends a packet every 100 ns for 100 us over one link. Returns the times of the frames on the link, and their fates.
fn run(setup: NetworkSetup) -> (Vec<Judged>, Network) {
    let mut network = Network::new(setup, &Catalogue::new()).unwrap();
    let frames: Vec<Into> = (0..1000)
        .map(|n| Into { switch: 0, front: 4, ps: n * 100_000, bytes: frame(&[1, 9], 100) })
        .collect();
    inject(&mut network, &frames);
    let mut seen = Recorder::default();
    network.drain(at(1000), &mut seen).unwrap();
    assert!(network.totals().is_conserved());
    assert_eq!(seen.delivered().count() as u64, network.totals().delivered);
    (seen.on_links().map(|(_, f)| (f.left.first_bit, f.fate)).collect(), network)
}

#[test]
fn a_link_that_fails_loses_frames_until_it_is_restored() {
    let mut setup = chain(2, DELAY);
    setup.links[0] = setup.links[0].clone().at(at(20), LinkChange::Down).at(at(50), LinkChange::Up);
    let (frames, network) = run(setup);
    // The last bit follows the first one after 104 bytes at 20 ps each.
    let wire = Duration::from_ps(104 * 20);
    for (first, fate) in &frames {
        let dead = *first + DELAY + wire >= at(20) && *first < at(50);
        assert_eq!(*fate, if dead { Err(LinkDrop::Down) } else { Ok(*first + DELAY) });
    }
    let totals = network.totals();
    assert!((300..320).contains(&totals.link_drops[LinkDrop::Down as usize]), "{totals:?}");
    assert_eq!(totals.delivered + totals.lost_on_links(), 1000);
}

#[test]
fn one_direction_may_fail_alone() {
    let mut setup = chain(2, DELAY);
    setup.links[0] = setup.links[0].clone().one_way(Way::Back, at(0), LinkChange::Down);
    let (frames, network) = run(setup);
    assert!(frames.iter().all(|(_, fate)| fate.is_ok()));
    assert_eq!(network.totals().delivered, 1000);
}

#[test]
fn loss_and_corruption_are_drawn_from_the_seed() {
    let lossy = |seed| {
        let mut setup = chain(2, DELAY);
        let tenth = Probability::from_ppb(100_000_000);
        setup.links[0] = setup.links[0].clone().loss(tenth).corruption(tenth);
        setup.seed = seed;
        run(setup)
    };
    let (first, network) = lossy(1);
    let drops = network.totals().link_drops;
    // Four standard deviations of 1000 draws at 0.1 are 38.
    assert_eq!(drops[LinkDrop::Down as usize], 0);
    assert!(drops[1].abs_diff(100) < 38 && drops[2].abs_diff(90) < 38, "{drops:?}");
    assert_eq!(lossy(1).0, first);
    assert_ne!(lossy(2).0, first);
    assert_eq!(network.way(LinkId(0), Way::Forth).unwrap().dropped, drops);
}

#[test]
fn extra_delay_holds_frames_up_and_keeps_their_order() {
    let mut setup = chain(2, DELAY);
    let slow = LinkChange::ExtraDelay(Duration::from_micros(5));
    let link = setup.links[0].clone().at(at(20), slow).at(at(50), LinkChange::ExtraDelay(Duration::ZERO));
    setup.links[0] = link;
    let (frames, _) = run(setup);
    let mut before = Time::ORIGIN;
    for (first, fate) in &frames {
        let arrival = fate.unwrap();
        assert!(arrival > before);
        before = arrival;
        let extra = arrival.saturating_since(*first + DELAY);
        match first.as_ps() / 1_000_000 {
            0..20 => assert_eq!(extra, Duration::ZERO),
            20..50 => assert_eq!(extra, Duration::from_micros(5)),
            // Frames after the last slow one catch up.
            _ => assert!(extra < Duration::from_micros(5)),
        }
    }
    assert_eq!(frames.last().unwrap().1, Ok(frames.last().unwrap().0 + DELAY));
}

#[test]
fn a_frame_from_a_short_link_does_not_wait_for_one_from_a_long_link() {
    // Frames go 0 to 1 to 2 all the time; one frame goes back. It takes the same time if the frames forth are on their way for long.
    let back = |slow: Option<LinkChange>| {
        let mut setup = chain(3, DELAY);
        if let Some(change) = slow {
            setup.links[0] = setup.links[0].clone().one_way(Way::Forth, at(0), change);
        }
        let mut network = Network::new(setup, &Catalogue::new()).unwrap();
        let mut frames: Vec<Into> = (0..60)
            .map(|n| Into { switch: 0, front: 4, ps: n * 500_000, bytes: frame(&[1, 1, 9], 100) })
            .collect();
        frames.insert(7, Into { switch: 2, front: 4, ps: 3_300_000, bytes: frame(&[0, 0, 9], 100) });
        inject(&mut network, &frames);
        let mut seen = Recorder::default();
        network.drain(at(1000), &mut seen).unwrap();
        let at_0 = seen.of(SwitchId(0));
        at_0.delivered().map(|(_, left, _)| left.first_bit).collect::<Vec<Time>>()
    };
    let alone = back(None);
    assert_eq!(alone.len(), 1);
    assert_eq!(back(Some(LinkChange::ExtraDelay(Duration::from_micros(20)))), alone);
}
