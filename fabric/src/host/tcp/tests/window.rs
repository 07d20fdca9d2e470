//! Windows over time at a bottleneck: NewReno's sawtooth, CUBIC's curve, DCTCP's queue, and windows after a pause.

use super::pipe::Bottleneck;
use super::*;

const RATE: BitRate = BitRate::from_gbps(10);

/// Line time of a full segment at the bottleneck.
fn slot() -> Duration {
    RATE.time_for(sluice_asic::units::Bytes(FRAME + 24))
}

/// Samples of a connection's window in segments, at every event, from `from` on.
fn windows(
    config: &TcpConfig,
    bottleneck: Bottleneck,
    delay: Duration,
    [from, to]: [u64; 2],
) -> Vec<(Time, u64)> {
    let at = |ms| Time::ORIGIN + Duration::from_millis(ms);
    let bytes = 1 << 40;
    let pipe = Pipe::new(config, delay, vec![message(1, Time::ORIGIN, bytes)]).bottleneck(bottleneck);
    let mut samples: Vec<(Time, u64)> = Vec::new();
    pipe.run_with(at(to), |now, host| {
        let window = host.flow(1).and_then(|flow| flow.window).filter(|_| now >= at(from));
        if let Some(window) = window.filter(|window| samples.last().is_none_or(|last| last.1 != *window)) {
            samples.push((now, window));
        }
    });
    samples
}

/// A tail-drop queue of B packets before a line that sends C packets in a round trip: the window grows by one segment per round
/// trip to W = C + B + 1, when a packet is dropped, and falls to half of it. RFC 5681 makes ssthresh half of the flight.
#[test]
fn newreno_makes_a_sawtooth_between_half_and_full() {
    let delay = Duration::from_micros(50);
    let config = TcpConfig { receive_buffer: 1 << 30, initial_ssthresh: 100 * FULL, ..eager() };
    let most = 100;
    // The round trip without a queue, in slots of the bottleneck.
    let trip = delay * 2 + store(FRAME) + store(66) + slot();
    let pipe = trip.as_ps() as f64 / slot().as_ps() as f64;
    let samples = windows(&config, Bottleneck { rate: RATE, most, mark: usize::MAX }, delay, [10, 80]);
    let mss = FULL as f64;
    let cuts: Vec<(Time, u64, u64)> =
        samples.windows(2).filter(|w| w[1].1 < w[0].1).map(|w| (w[1].0, w[0].1, w[1].1)).collect();
    assert!(cuts.len() > 3, "{}", cuts.len());
    for (_, before, after) in &cuts {
        // The queue is full at pipe - 1 + most packets in flight.
        let full = pipe - 1.0 + most as f64;
        assert!((*before as f64 / mss - full).abs() < 2.5, "{} {full}", *before as f64 / mss);
        assert!((*after as f64 / *before as f64 - 0.5).abs() < 0.02, "{before} {after}");
    }
    // The period: W/2 round trips, whose length grows from that of an empty queue with the window.
    let full = pipe - 1.0 + most as f64;
    let trips: f64 = (0..(full / 2.0) as u32).map(|n| (full / 2.0 + f64::from(n)).max(pipe)).sum();
    let expected = trips * slot().as_ps() as f64;
    for pair in cuts.windows(2) {
        let period = pair[1].0.saturating_since(pair[0].0).as_ps() as f64;
        assert!((period / expected - 1.0).abs() < 0.06, "{period} {expected}");
    }
    // The mean over time lies between W/2 and W, near 3/4 W: more, because round trips are longer at the top.
    let area: f64 = samples
        .windows(2)
        .map(|w| w[1].0.saturating_since(w[0].0).as_ps() as f64 * w[0].1 as f64 / mss)
        .sum();
    let time = samples.last().unwrap().0.saturating_since(samples[0].0).as_ps() as f64;
    let mean = area / time / full;
    assert!((0.74..0.80).contains(&mean), "{mean}");
}

/// RFC 9438: after a loss at W the window falls to 0.7 W, and at most reaches W again after K or, Reno-friendly, sooner.
#[test]
fn cubic_falls_to_seven_tenths() {
    let delay = Duration::from_micros(50);
    let congestion = CongestionConfig::Cubic(CubicConfig::default());
    let initial_ssthresh = 100 * FULL;
    let config = TcpConfig { receive_buffer: 1 << 30, congestion, initial_ssthresh, ..eager() };
    let samples = windows(&config, Bottleneck { rate: RATE, most: 100, mark: usize::MAX }, delay, [10, 90]);
    let cuts: Vec<&[(Time, u64)]> = samples.windows(2).filter(|w| w[1].1 < w[0].1).collect();
    assert!(cuts.len() > 3, "{cuts:?}");
    for cut in &cuts {
        assert!((cut[1].1 as f64 / cut[0].1 as f64 - 0.7).abs() < 0.02, "{cut:?}");
    }
    // K would be 5 s. Reno-friendly, the window rises by 9/17 segments per round trip, 0.3 W in 0.3 W * 17 / 9 of them, which
    // take as long as the window has segments: 0.85 W slots in the mean.
    let full = 1.0 / slot().as_ps() as f64 * (delay * 2 + store(FRAME) + store(66)).as_ps() as f64 + 100.0;
    let expected = 0.3 * full * 17.0 / 9.0 * 0.85 * full * slot().as_ps() as f64;
    for pair in cuts.windows(2) {
        let period = pair[1][1].0.saturating_since(pair[0][1].0).as_ps() as f64;
        assert!((period / expected - 1.0).abs() < 0.1, "{period} {expected}");
    }
}

/// DCTCP's queue with one flow (model: tcp §3): its maximum is K + 1 packets after the slot in which the window passes C + K,
/// and the amplitude is sqrt(2 (C + K)) / 2 packets.
#[test]
fn dctcp_keeps_the_queue_near_the_threshold() {
    let delay = Duration::from_micros(50);
    let congestion = CongestionConfig::Dctcp(DctcpConfig::default());
    let config = TcpConfig { receive_buffer: 1 << 30, congestion, ..eager() };
    let at = |ms| Time::ORIGIN + Duration::from_millis(ms);
    let mark = 65;
    let pipe = Pipe::new(&config, delay, vec![message(1, Time::ORIGIN, 1 << 40)]);
    let pipe = pipe.bottleneck(Bottleneck { rate: RATE, most: 10_000, mark }).run(at(30));
    let late: Vec<usize> =
        pipe.depths.iter().filter(|(time, _)| *time > at(15)).map(|(_, depth)| *depth).collect();
    let (least, most) = (*late.iter().min().unwrap(), *late.iter().max().unwrap());
    let trip = (delay * 2 + store(FRAME) + store(66) + slot()).as_ps() as f64 / slot().as_ps() as f64;
    let amplitude = 0.5 * (2.0 * (trip + mark as f64)).sqrt();
    assert!((mark..=mark + 4).contains(&most), "{most}");
    assert!(((most - least) as f64 - amplitude).abs() < 4.0, "{least} to {most}, expected {amplitude}");
    assert_eq!(pipe.hosts[0].counters().resent, 0);
}

#[test]
fn a_pause_reduces_the_window() {
    let later = |ms| Time::ORIGIN + Duration::from_millis(ms);
    let window = |idle, ms| {
        let rto = RtoConfig { min: Duration::from_millis(10), ..RtoConfig::default() };
        let config = TcpConfig { idle, rto, reuse: Reuse::Always, ..eager() };
        let messages = vec![message(1, Time::ORIGIN, 200 * FULL), message(2, later(ms), 200 * FULL)];
        let mut first = None;
        let pipe = Pipe::new(&config, Duration::from_micros(500), messages);
        pipe.run_with(end(), |_, host| {
            if let Some(flow) = host.flow(2).filter(|flow| flow.in_flight > 0) {
                first.get_or_insert(flow.window.unwrap() / FULL);
            }
        });
        first.unwrap()
    };
    // Rounds of 10, 20, 40, 80 and 50 segments. Acknowledgement k of the fourth round finds a window of 79 + k and 131 - k
    // segments unacknowledged, because the message ends after 50 more. The window grows while twice these are not less:
    // up to k = 61.
    let kept = window(IdleRestart::Keep, 50);
    assert_eq!(kept, 80 + 61);
    assert_eq!(window(IdleRestart::Initial, 50), 10);
    assert_eq!(window(IdleRestart::Initial, 12), kept, "less than a timeout");
    // The first message takes some 6 ms; 25 ms later are two timeouts.
    assert_eq!(window(IdleRestart::Halve, 31), kept / 4);
    assert_eq!(window(IdleRestart::Halve, 500), 10);
}

/// Paced segments keep a distance in which twice the window would be sent in a round trip (slow start: 200 %).
#[test]
fn pacing_spreads_the_window_over_the_round_trip() {
    let delay = Duration::from_millis(1);
    let config = TcpConfig { pacing: Some(Pacing::default()), ..eager() };
    let pipe = Pipe::new(&config, delay, vec![message(1, Time::ORIGIN, 10 * FULL)]).run(end());
    let starts: Vec<Time> = pipe.sent(0, is_data).iter().map(|seen| seen.at).collect();
    let trip = delay * 2 + store(74) * 2;
    // 1538 bytes of line time at the rate of twice ten segments of payload in a round trip.
    let gap = trip.as_ps() * (FRAME + 24) / (2 * 10 * FULL);
    for pair in starts.windows(2) {
        assert_eq!(pair[1].saturating_since(pair[0]).as_ps(), gap);
    }
    assert_eq!(starts.len(), 10);
}
