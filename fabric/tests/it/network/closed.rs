//! Hosts in closed loop, outside the network: they send in response to arrivals. They are at the far ends of cables,
//! and the delay of the cables limits how far the network may run ahead of them.

use crate::network::support::{chain, dev, frame};
use sluice_asic::port::DevPort;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::network::{Network, Observer, SwitchId};
use sluice_switch::{Left, RxFrame};

/// Delay of the hosts' cables.
const CABLE: Duration = Duration::from_nanos(400);
/// A host's port, at either end of the chain.
const HOST: u16 = 9;

/// Frames that a switch sends to its host: tag and last bit out.
#[derive(Clone, Debug, Default)]
struct Host {
    got: Vec<(u64, Time)>,
    all: Vec<(u64, Time)>,
}

impl Observer for Host {
    fn delivered(&mut self, _: SwitchId, frame: &Left, _: &[u8], _: &[u8]) {
        self.got.push((frame.tag, frame.last_bit));
        self.all.push((frame.tag, frame.last_bit));
    }
}

/// Runs two hosts that return each frame when it arrives, with `window` frames in flight. Returns the frames that each
/// got, with times.
fn ping_pong(threads: usize, window: u64, returns: u64) -> Vec<Host> {
    let mut network = Network::new(chain(3, Duration::from_nanos(900)), &Catalogue::new()).unwrap();
    let ends = [(SwitchId(0), frame(&[1, 1, HOST], 200)), (SwitchId(2), frame(&[0, 0, HOST], 200))];
    let port = DevPort::new(dev(HOST)).unwrap();
    let mut hosts = vec![Host::default(); 3];
    let mut sent = 0;
    let mut free = [Time::ORIGIN; 2];
    let mut send = |network: &mut Network, end: usize, at: Time, tag: u64| {
        // The host's line takes time too: 224 bytes at 400 Gb/s.
        let at = at.max(free[end]);
        free[end] = at + Duration::from_ps(224 * 20);
        let bytes = &ends[end].1;
        network.inject(ends[end].0, port, at, RxFrame { bytes, orig_len: 200, tag }).unwrap();
    };
    for tag in 0..window {
        send(&mut network, 0, Time::ORIGIN, tag);
    }
    while network.is_busy() {
        // No frame is sent before the next event, and a reply to it arrives at least twice the cable's delay later.
        let next = network.next_time().unwrap();
        network.advance_parallel(next + CABLE + CABLE, threads, &mut hosts).unwrap();
        for (end, switch) in [(0, 0), (1, 2)] {
            for (tag, last_bit) in std::mem::take(&mut hosts[switch].got) {
                if sent < returns {
                    sent += 1;
                    send(&mut network, end, last_bit + CABLE + CABLE, tag);
                }
            }
        }
    }
    assert!(network.totals().is_conserved());
    assert_eq!(network.totals().delivered, window + returns);
    hosts
}

#[test]
fn hosts_that_answer_go_on_for_as_long_as_they_like_on_any_number_of_threads() {
    let one = ping_pong(1, 8, 400);
    let two = ping_pong(2, 8, 400);
    for (a, b) in one.iter().zip(&two) {
        assert_eq!(a.all, b.all);
    }
    assert!(one[1].all.is_empty());
    assert_eq!(one[0].all.len() + one[2].all.len(), 408);
    // Round trips of one frame: each way passes three switches, two links and two cables.
    let alone = ping_pong(1, 1, 8);
    let times: Vec<u64> = alone[2].all.iter().map(|(_, t)| t.as_ps()).collect();
    let trips: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    let least = 2 * (2 * 900_000 + 2 * 400_000);
    assert!(trips.iter().all(|t| *t > least && t.abs_diff(trips[0]) <= 4_000), "{trips:?}");
}
