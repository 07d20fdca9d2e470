//! The watchdog in the data plane.

use crate::lossless::bench::{Bench, in_order, packet, pfc};
use crate::switch::world::Frame;
use sluice_asic::chip::ChipSpec;

const US: u64 = 1_000_000;

/// Pauses of queue 3 of port 16 every 20 us from 100 us until `until`, each of 80 us; a packet to it every 10 us,
/// and one to another queue.
fn storm(sets: &[&str], pauses: impl Fn(u64) -> bool, run: u64) -> (Bench, Vec<Frame>) {
    let times = ["detection_time=200", "restoration_time=300"];
    let bench = Bench::new("pfc", &[&times[..], sets].concat(), &ChipSpec::tofino2());
    let mut frames = Vec::new();
    for at in (100..run).step_by(20).filter(|at| pauses(*at)) {
        frames.push(Frame::new(16, at * US, pfc(0x08, 62_500)));
    }
    for at in (0..run).step_by(10) {
        frames.push(Frame::new(0, at * US + 7, packet([172, 16, 0, 1], 3, 0, 0, 500)));
        frames.push(Frame::new(1, at * US + 7, packet([172, 16, 0, 1], 0, 0, 0, 500)));
    }
    (bench, in_order(frames))
}

/// A storm is detected 200 us after its first pause frame, and its queue drops until 300 us after its last one
/// (model: buffer §8.4 rows 38, 40, 43, with the program's times).
#[test]
fn a_storm_is_seen_dropped_and_over() {
    let (bench, frames) = storm(&[], |at| at < 600, 1_500);
    let (mut switch, mut seen) = bench.run(&frames, 0);
    bench.drain(&mut switch, &mut seen);
    assert_eq!(bench.count(&switch, "storms"), 1);
    let dropped: Vec<u64> = seen
        .lost()
        .filter(|l| l.reason.name(&bench.world.program) == "pfc_storm")
        .map(|l| l.time.as_ps() / US)
        .collect();
    // Packets that waited since 100 us are dropped when the storm begins, at 300 us; the last frame is that of 580 us.
    let (first, last) = (dropped[0], dropped[dropped.len() - 1]);
    assert!((300..305).contains(&first), "{first}");
    assert!((870..895).contains(&last), "{last}");
    assert!((75..=80).contains(&dropped.len()), "{}", dropped.len());
    // The other queue has lost no packet, and this queue none before and after the storm.
    let sent = bench.sent(&seen, 16).len();
    assert_eq!(sent, 2 * 150 - dropped.len());
    let after = bench.dequeued(&seen, 16, 3).into_iter().filter(|t| *t > 1_000 * US).count();
    assert_eq!(after, 50);
}

/// Row 41: forward; the queue drains in spite of pauses.
#[test]
fn forwarding_lets_the_queue_drain() {
    let (bench, frames) = storm(&["storm_drop=false"], |at| at < 600, 1_500);
    let (mut switch, mut seen) = bench.run(&frames, 0);
    bench.drain(&mut switch, &mut seen);
    assert_eq!(bench.count(&switch, "storms"), 1);
    assert_eq!(bench.sent(&seen, 16).len(), 300);
    let during =
        bench.dequeued(&seen, 16, 3).into_iter().filter(|t| (310 * US..580 * US).contains(t)).count();
    assert_eq!(during, 27);
}

/// Rows 39, 44 and 48: a short storm is none, a frame during restoration restarts it, a slow receiver is no storm.
#[test]
fn what_is_no_storm() {
    let count = |pauses: &dyn Fn(u64) -> bool| {
        let (bench, frames) = storm(&[], pauses, 1_500);
        let (mut switch, mut seen) = bench.run(&frames, 0);
        bench.drain(&mut switch, &mut seen);
        (bench.count(&switch, "storms"), bench.losses(&seen).get("pfc_storm").copied().unwrap_or(0))
    };
    assert_eq!(count(&|at| at < 200), (0, 0));
    // Paused for 100 us, free for 40 us, repeatedly: the pauses expire.
    assert_eq!(count(&|at| at % 140 < 20), (0, 0));
    // A frame at 860 us keeps the storm of the first test until 1,160 us.
    let (once, twice) = (count(&|at| at < 600), count(&|at| at < 600 || at == 860));
    assert_eq!((once.0, twice.0), (1, 1));
    assert!((27..=29).contains(&(twice.1 - once.1)), "{once:?} {twice:?}");
}

/// Row 45: two queues have storms at once, independently.
#[test]
fn two_storms_at_once() {
    let (bench, mut frames) = storm(&[], |at| at < 600, 1_500);
    let second: Vec<Frame> =
        frames.iter().filter(|f| f.front == 16).map(|f| Frame::new(17, f.ps, pfc(0x10, 62_500))).collect();
    frames.extend(second);
    let frames = in_order(frames);
    let (mut switch, mut seen) = bench.run(&frames, 0);
    bench.drain(&mut switch, &mut seen);
    assert_eq!(bench.count(&switch, "storms"), 2);
    assert!(bench.losses(&seen)["pfc_storm"] <= 80);
}
