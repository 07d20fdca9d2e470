//! PFC deadlocks are reported for a cycle of pauses, and not if the cycle is cut.

use crate::network::support::{Into, Recorder, dev, frame, inject, switches};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{End, LinkSetup, Network, NetworkSetup, SwitchId};
use sluice_switch::BufferSetup;

/// Three switches in a ring, port 1 of each linked to port 2 of the next; small shared pools.
fn ring() -> NetworkSetup {
    let mut setup = switches(3);
    for n in 0..3 {
        let ends = (End::new(SwitchId(n), 1), End::new(SwitchId((n + 1) % 3), 2));
        setup.link(LinkSetup::new(ends.0, ends.1, Duration::from_nanos(200)));
    }
    let text = BufferFile::text_of("tofino2").unwrap();
    let text = text.replace("size = \"43067728B\"", "size = \"880000B\"");
    for switch in &mut setup.switches {
        let file = BufferFile::parse("test", &text).unwrap();
        switch.config.buffer = Some(BufferSetup { file, seed: 1 });
    }
    setup
}

/// Runs 2,000 packets of 2,000 bytes into every switch at line rate; they pass `hops` links of the ring.
fn run(hops: usize, dscp: u8) -> Network {
    let path: Vec<u16> = std::iter::repeat_n(1, hops).chain([9]).collect();
    let mut bytes = frame(&path, 2000);
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, dscp << 2]);
    let one = |n: u64, switch| Into { switch, front: 4, ps: n * 2024 * 20, bytes: bytes.clone() };
    let frames: Vec<Into> =
        (0..2000).flat_map(|n| (0..3).map(move |switch| (n, switch))).map(|(n, s)| one(n, s)).collect();
    let mut network = Network::new(ring(), &Catalogue::new()).unwrap();
    inject(&mut network, &frames);
    network.drain(Time::from_nanos(2_000_000), &mut Recorder::default()).unwrap();
    assert!(network.totals().is_conserved());
    network
}

#[test]
fn a_circle_of_pauses_is_a_deadlock_and_is_seen() {
    let network = run(2, 3);
    let circles = network.deadlocks();
    assert_eq!(circles.len(), 1, "{circles:?}");
    let places: Vec<(u32, u16, u8)> = circles[0].iter().map(|w| (w.switch.0, w.dev_port, w.queue)).collect();
    assert_eq!(places, [(0, dev(1), 3), (1, dev(1), 3), (2, dev(1), 3)]);
    assert!(network.totals().held > 100, "{:?}", network.totals());
}

#[test]
fn lossy_packets_and_short_ways_make_none() {
    for (hops, dscp) in [(2, 0), (1, 3)] {
        let network = run(hops, dscp);
        assert_eq!((network.deadlocks(), network.totals().held), (vec![], 0), "{hops} hops, DSCP {dscp}");
    }
}
