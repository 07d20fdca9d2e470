//! PFC between switches: back-pressure over two hops.

use crate::network::support::{Into, Recorder, chain, dev, frame, inject};
use sluice_asic::tm::buffer::BufferFile;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{LinkChange, LinkId, Network, NetworkSetup, SwitchId, Way};
use sluice_switch::BufferSetup;

const DELAY: Duration = Duration::from_micros(1);

/// Tofino 2's profile with these sizes of the pool that lossless packets share.
fn buffer(shared: &str) -> BufferSetup {
    let text = BufferFile::text_of("tofino2").unwrap();
    let text = text.replace("size = \"43067728B\"", &format!("size = \"{shared}\""));
    BufferSetup { file: BufferFile::parse("test", &text).unwrap(), seed: 1 }
}

/// Three switches in a row; port 9 of the last one runs at a quarter of the speed. Only the first switch has a large
/// pool.
fn row() -> NetworkSetup {
    let mut setup = chain(3, DELAY);
    for (switch, shared) in setup.switches.iter_mut().zip(["43067728B", "1760000B", "1760000B"]) {
        switch.config.buffer = Some(buffer(shared));
    }
    setup.switches[2].config.port_speeds.push((dev(9), BitRate::from_gbps(100)));
    setup
}

/// Sends 3,000 packets of 2,000 bytes at line rate, IPv4 with this DSCP.
fn run(setup: NetworkSetup, dscp: u8) -> (Recorder, Network) {
    let mut bytes = frame(&[1, 1, 9], 2000);
    bytes[12..16].copy_from_slice(&[0x08, 0x00, 0x45, dscp << 2]);
    let frames: Vec<Into> =
        (0..3000).map(|n| Into { switch: 0, front: 4, ps: n * 2024 * 20, bytes: bytes.clone() }).collect();
    let mut network = Network::new(setup, &Catalogue::new()).unwrap();
    inject(&mut network, &frames);
    let mut seen = Recorder::default();
    network.drain(Time::from_nanos(5_000_000), &mut seen).unwrap();
    assert!(network.totals().is_conserved() && !network.is_busy());
    (seen, network)
}

/// Returns the times of PFC frames that a link carried from its second end to its first.
fn pauses(seen: &Recorder, link: u32) -> Vec<Time> {
    let of = |f: &&sluice_fabric::network::LinkFrame| f.mac && f.link == LinkId(link) && f.way == Way::Back;
    seen.on_links().map(|(_, f)| f).filter(of).map(|f| f.left.first_bit).collect()
}

#[test]
fn pauses_travel_back_over_two_hops_and_nothing_lossless_is_lost() {
    let (seen, network) = run(row(), 3);
    let (near, far) = (pauses(&seen, 1), pauses(&seen, 0));
    assert!(!near.is_empty() && !far.is_empty(), "{} {}", near.len(), far.len());
    assert!(near[0] < far[0], "the last link is paused first");
    assert_eq!(
        seen.delivered().filter(|(at, l, _)| *at == SwitchId(2) && l.egress_port == dev(9)).count(),
        3000
    );
    assert_eq!(network.totals().dropped, 0);
    let received = |switch: u32, port: u16| {
        let switch = network.switch(SwitchId(switch)).unwrap();
        let view = switch.flow(switch.time()).unwrap();
        let own = view.ports.iter().find(|p| p.dev_port == dev(port)).unwrap();
        (own.received[3].pauses, own.received[3].resumes, own.received[3].paused)
    };
    for (switch, link) in [(1, &near), (0, &far)] {
        let (paused, resumed, time) = received(switch, 1);
        assert!(paused > 0 && resumed > 0 && paused <= link.len() as u64, "{switch}: {paused} {resumed}");
        assert!(time > Duration::from_micros(20), "{switch}: {time}");
    }
}

/// If the link loses the PFC frames, packets are lost: the pauses prevented the loss.
#[test]
fn without_the_pauses_packets_are_lost() {
    let mut setup = row();
    let link = setup.links[1].clone();
    setup.links[1] = link.one_way(Way::Back, Time::ORIGIN, LinkChange::Down);
    let (seen, network) = run(setup, 3);
    assert!(!pauses(&seen, 1).is_empty() && pauses(&seen, 0).is_empty());
    assert!(network.totals().dropped > 500, "{:?}", network.totals());
    assert!(seen.lost().all(|(at, _)| at == SwitchId(2)));
}

/// Lossy packets are never paused.
#[test]
fn lossy_packets_are_lost_instead() {
    let (seen, network) = run(row(), 0);
    assert!(pauses(&seen, 0).is_empty() && pauses(&seen, 1).is_empty());
    assert!(network.totals().dropped > 0);
}
