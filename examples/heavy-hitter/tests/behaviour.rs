//! Behaviour of the switch with expected values: marks, digests, and the time at which the control plane has an effect.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use heavy_hitter::HeavyHitter;
use sluice::prelude::*;

/// Returns an IPv4 frame of 64 bytes from 10.0.0.`host` to 10.1.0.1, with TTL 64 and DSCP 0.
fn frame(host: u8) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([0x08, 0x00, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17]);
    frame.extend([0x66, 0xba - host, 10, 0, 0, host, 10, 1, 0, 1]);
    frame.resize(64, 0);
    frame
}

fn bench(params: &[(&str, &str)]) -> Bench {
    Bench::new(&sluice::catalogue![HeavyHitter], "heavy-hitter", params, &ChipSpec::tofino2()).unwrap()
}

fn dscp(packet: &SentPacket) -> u8 {
    packet.bytes[15] >> 2
}

/// Ten packets of one flow and three of another: from the fifth packet on the first flow is heavy.
#[test]
fn packets_of_a_heavy_flow_are_marked_and_one_reports_it() {
    let mut bench = bench(&[("threshold", "5"), ("mark", "9")]);
    for n in 0..10 {
        bench.send(Duration::from_micros(n), 0, &frame(1)).unwrap();
        if n < 3 {
            bench.send(Duration::from_micros(n) + Duration::from_nanos(500), 0, &frame(2)).unwrap();
        }
    }
    let run = bench.finish().unwrap();
    let of = |host: u8| run.sent.iter().filter(|p| p.bytes[29] == host).map(dscp).collect::<Vec<_>>();
    assert_eq!(of(1), [0, 0, 0, 0, 9, 9, 9, 9, 9, 9]);
    assert_eq!(of(2), [0, 0, 0]);
    assert_eq!(run.digests.len(), 1);
    assert_eq!(run.digests[0].1, [10, 0, 0, 1, 10, 1, 0, 1]);
    assert!(run.lost.is_empty() && run.violations.is_empty(), "{:?}", run.violations);
    assert!(run.sent.iter().all(|p| matches!(p.front, Some(8 | 9)) && p.bytes[22] == 63));
}

/// A packet every 10 us makes the flow heavy with its fifth packet. The control plane takes 100 us.
#[test]
fn a_heavy_flow_changes_its_queue_one_latency_after_its_digest() {
    let mut bench = bench(&[("threshold", "5")]);
    bench.start_control_plane("queue=3,latency=100us").unwrap();
    for n in 0..40 {
        bench.send(Duration::from_micros(10 * n), 0, &frame(1)).unwrap();
    }
    let run = bench.finish().unwrap();
    let [(reported, _)] = run.digests[..] else { panic!("{:?}", run.digests) };
    // The fifth packet arrives at 40 us and is in the switch for less than 2 us.
    assert!((40_000..42_000).contains(&reported.as_nanos()), "{reported}");
    let queues: Vec<u8> = run.sent.iter().map(|packet| packet.queue).collect();
    // Packets at 0, 10, .., 140 us enter before the entry, which takes effect between 140 and 142 us.
    assert_eq!(queues, [vec![0; 15], vec![3; 25]].concat());
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

/// After 1 ms without a packet, the flow's entry is removed, and its packets take queue 0 again.
#[test]
fn an_idle_flow_loses_its_entry() {
    let mut bench = bench(&[("threshold", "1"), ("idle_ms", "2")]);
    bench.start_control_plane("").unwrap();
    for millis in [0, 1, 20, 21] {
        bench.send(Duration::from_millis(millis), 0, &frame(1)).unwrap();
    }
    let queues: Vec<u8> = bench.finish().unwrap().sent.iter().map(|packet| packet.queue).collect();
    assert_eq!(queues, [0, 3, 0, 0]);
}

#[test]
fn settings_that_the_control_plane_does_not_know_are_refused() {
    let mut bench = bench(&[]);
    let error = bench.start_control_plane("lag=1us").unwrap_err().to_string();
    assert_eq!(error, "unknown parameter `lag`; parameters: queue, latency");
}
