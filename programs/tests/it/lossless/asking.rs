//! Frames that request a pause of the other end: their bytes, when they are sent, and when they end the pause.

use crate::lossless::bench::{Bench, chips, in_order, packet, train};
use sluice_asic::chip::ChipSpec;

fn bench(chip: &ChipSpec, sets: &[&str]) -> Bench {
    let obey = format!("obey={}", chip.name == "tofino2");
    Bench::new("pfc", &[&[obey.as_str()][..], sets].concat(), chip)
}

/// Frames byte for byte, on both chips: a burst to the host at 25G fills its queue 3 beyond 50,000 bytes; its sender at
/// port 0 is paused, and resumes when less than 30,000 are left (model: buffer §8.3 rows 26, 27).
#[test]
fn a_queue_that_grows_pauses_its_sender_once_and_lets_it_go_on() {
    for chip in chips() {
        let bench = bench(&chip, &[]);
        let (mut switch, mut seen) =
            bench.run(&train(0, 0, 100_000, 100, &packet([10, 9, 9, 9], 3, 0, 0, 1_000)), 0);
        bench.drain(&mut switch, &mut seen);
        let frames = bench.sent(&seen, 0);
        assert_eq!(frames.len(), 2, "{}", chip.name);
        let own = bench.port(0).number();
        let mut wanted = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, (own >> 8) as u8, own as u8];
        wanted.extend([0x88, 0x08, 0x01, 0x01, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        wanted.resize(60, 0);
        assert_eq!(frames[0].1, wanted, "{}", chip.name);
        wanted[24..26].copy_from_slice(&[0, 0]);
        assert_eq!(frames[1].1, wanted, "{}", chip.name);
        // No other port gets a frame, and the only generated packets are copies.
        assert_eq!(seen.sent().count(), 100 + 2);
        assert_eq!((switch.totals().created, switch.totals().made.mirror), (2, 2));
        // By the depth: 94 packets of 3 x 10^-7 s on a line of 25G are left when half of the packets have been sent.
        assert!(frames[0].0 < frames[1].0);
    }
}

/// The pause is requested again while it must last, and not more often than `refresh` says.
#[test]
fn a_long_pause_is_refreshed() {
    let bench = bench(&ChipSpec::tofino2(), &["refresh=20000"]);
    // 5,000 bytes per 400 ns against 25G: full for 16 us of burst and about 100 us of draining.
    let burst = train(0, 0, 40_000, 400, &packet([10, 9, 9, 9], 4, 0, 0, 1_000));
    let (mut switch, mut seen) = bench.run(&burst, 0);
    bench.drain(&mut switch, &mut seen);
    let frames = bench.sent(&seen, 0);
    let pauses: Vec<u64> =
        frames.iter().filter(|(_, b)| b[26..28] == [0xff, 0xff]).map(|(t, _)| *t).collect();
    let (count, resumes) = (pauses.len(), frames.len() - pauses.len());
    assert!((4..=6).contains(&count) && resumes == 1, "{count} {resumes}");
    assert!(pauses.windows(2).all(|w| (20_000_000..21_000_000).contains(&(w[1] - w[0]))), "{pauses:?}");
    assert!(frames.iter().all(|(_, b)| b[17] == 0x10));
}

/// Row 23: priorities and senders do not mix; lossy queues request no pause.
#[test]
fn every_sender_is_asked_for_its_own_priority() {
    let bench = bench(&ChipSpec::tofino2(), &[]);
    let mut frames = train(0, 0, 100_000, 100, &packet([10, 9, 9, 9], 3, 0, 0, 1_000));
    frames.extend(train(5, 0, 100_000, 100, &packet([10, 9, 9, 9], 4, 0, 0, 1_000)));
    frames.extend(train(6, 0, 100_000, 100, &packet([10, 9, 9, 9], 0, 0, 0, 1_000)));
    let (mut switch, mut seen) = bench.run(&in_order(frames), 0);
    bench.drain(&mut switch, &mut seen);
    let vectors = |front| bench.sent(&seen, front).iter().map(|(_, b)| b[17]).collect::<Vec<u8>>();
    let (three, four) = (vectors(0), vectors(5));
    assert!(three.iter().all(|v| *v == 0x08) && three.len() >= 2, "{three:?}");
    assert!(four.iter().all(|v| *v == 0x10) && four.len() >= 2, "{four:?}");
    assert!(vectors(6).is_empty());
}

/// A depth that stays between the two thresholds causes no request: there is a hysteresis.
#[test]
fn between_the_thresholds_nothing_is_said() {
    let bench = bench(&ChipSpec::tofino2(), &["xoff=60000", "xon=6000"]);
    // Up to 40 packets, never above xoff.
    let (mut switch, mut seen) =
        bench.run(&train(0, 0, 25_000, 45, &packet([10, 9, 9, 9], 3, 0, 0, 1_000)), 0);
    bench.drain(&mut switch, &mut seen);
    assert!(bench.sent(&seen, 0).is_empty());
}
