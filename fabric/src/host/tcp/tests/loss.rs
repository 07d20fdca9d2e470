//! Losses: fast retransmit with and without SACK, timeouts, and that everything is delivered whatever is lost.

use super::pipe::Seen;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn with(sack: bool) -> TcpConfig {
    TcpConfig { sack, ..eager() }
}

/// Loses the n-th data segments of a host, counted from 0, when they are sent first.
fn firsts(lost: &'static [u64]) -> impl FnMut(usize, u64, &Segment) -> bool {
    let mut number = 0;
    let mut highest = None;
    move |_, _, segment: &Segment| {
        if segment.payload == 0
            || highest.is_some_and(|highest| segment.sequence.wrapping_sub(highest) as i32 <= 0)
        {
            return false;
        }
        highest = Some(segment.sequence);
        number += 1;
        lost.contains(&(number - 1))
    }
}

/// Numbers of the data segments that were sent more than once, with their times.
fn again(pipe: &Pipe<'_>) -> Vec<(u32, Time)> {
    let data = pipe.sent(0, is_data);
    let (isn, mut known) = (pipe.seen[0].segment.sequence, BTreeSet::new());
    let of = |seen: &Seen| seen.segment.sequence.wrapping_sub(isn.wrapping_add(1)) / FULL as u32;
    data.iter().filter(|seen| !known.insert(of(seen))).map(|seen| (of(seen), seen.at)).collect()
}

#[test]
fn one_loss_is_repaired_in_a_round_trip_and_halves_the_window() {
    for sack in [true, false] {
        let mut windows = Vec::new();
        let pipe =
            Pipe::new(&with(sack), MS(1), vec![message(1, Time::ORIGIN, 60 * FULL)]).lose(firsts(&[12]));
        let pipe = pipe.run_with(end(), |_, host| windows.extend(host.flow(1).map(|flow| flow.window)));
        let counters = pipe.hosts[0].counters();
        assert_eq!((counters.fast_retransmits, counters.resent, counters.timeouts), (1, 1, 0));
        assert_eq!(again(&pipe).iter().map(|(n, _)| *n).collect::<Vec<_>>(), [12]);
        // 10 acknowledgements make a window of 20; segments 10 and 11 make it 22. The first duplicate finds 22 segments
        // unacknowledged: half of them is 11.
        let least = windows.iter().flatten().skip_while(|window| **window < 22 * FULL).min();
        assert_eq!(least, Some(&(11 * FULL)), "{sack}");
        assert_eq!(pipe.hosts[0].completions()[0].cuts, 1);
    }
}

/// Three losses of one window: with SACK they are repaired in one round trip, without it in one round trip each
/// (RFC 6582 §1).
#[test]
fn newreno_repairs_one_loss_per_round_trip_and_sack_all() {
    let repaired = |sack| {
        let pipe = Pipe::new(&with(sack), MS(1), vec![message(1, Time::ORIGIN, 60 * FULL)]);
        let pipe = pipe.lose(firsts(&[12, 15, 18])).run(end());
        let counters = pipe.hosts[0].counters();
        assert_eq!((counters.fast_retransmits, counters.resent, counters.timeouts), (1, 3, 0), "{sack}");
        let again = again(&pipe);
        assert_eq!(again.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [12, 15, 18]);
        again[2].1.saturating_since(again[0].1)
    };
    let (selective, newreno) = (repaired(true), repaired(false));
    assert!(selective < MS(2), "{selective}");
    assert!(newreno >= MS(4) && newreno < MS(5), "{newreno}");
}

/// A lost last segment: no duplicate reports it. The timer was restarted by the acknowledgement of the segment before, and
/// expires after the least RTO, because four variances are less (RFC 6298).
#[test]
fn a_lost_tail_waits_for_the_timeout_exactly() {
    for (min, sack) in [(10, true), (200, false)] {
        let rto = RtoConfig { min: MS(min), ..RtoConfig::default() };
        let config = TcpConfig { rto, ..with(sack) };
        let pipe =
            Pipe::new(&config, DELAY, vec![message(1, Time::ORIGIN, 5 * FULL)]).lose(firsts(&[4])).run(end());
        let counters = pipe.hosts[0].counters();
        assert_eq!((counters.timeouts, counters.resent, counters.fast_retransmits), (1, 1, 0));
        // The handshake; then four segments and the last one's acknowledgement.
        let opened = DELAY * 2 + store(74) * 2 + line(66);
        let restarted = opened + line(FRAME) * 3 + store(FRAME) + store(66) + DELAY * 2;
        let preamble = Duration::from_ps(640);
        assert_eq!(again(&pipe), [(4, Time::ORIGIN + restarted + MS(min) + preamble)]);
    }
}

#[test]
fn a_lost_syn_is_sent_again_and_the_connection_begins_slowly() {
    let pipe = Pipe::new(&eager(), DELAY, vec![message(1, Time::ORIGIN, 20 * FULL)])
        .lose(|from, n, _| from == 0 && n < 2)
        .run(end());
    let syns = pipe.sent(0, |segment| segment.flags == SYN);
    let seconds: Vec<u64> = syns.iter().map(|seen| seen.at.as_nanos() / 1_000_000_000).collect();
    assert_eq!(seconds, [0, 1, 3], "1 s, then 2 s");
    let data: Vec<Time> = pipe.sent(0, is_data).iter().map(|seen| seen.at).collect();
    let rounds = data.chunk_by(|a, b| b.saturating_since(*a) < DELAY);
    assert_eq!(rounds.map(<[Time]>::len).collect::<Vec<_>>(), [1, 2, 4, 8, 5], "RFC 5681 §3.1: one segment");
}

/// Timeouts of the same segment double the timer and halve ssthresh once (RFC 5681 §3.1).
#[test]
fn repeated_timeouts_back_off() {
    let rto = RtoConfig { min: MS(10), ..RtoConfig::default() };
    let config = TcpConfig { rto, ..eager() };
    // The first segment is lost four times.
    let (mut first, mut lost) = (None, 0);
    let pipe = Pipe::new(&config, DELAY, vec![message(1, Time::ORIGIN, FULL)]).lose(|_, _, segment| {
        let same = segment.payload > 0 && *first.get_or_insert(segment.sequence) == segment.sequence;
        lost += u64::from(same);
        same && lost <= 4
    });
    let pipe = pipe.run(end());
    let times: Vec<Time> = pipe.sent(0, is_data).iter().map(|seen| seen.at).collect();
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1].saturating_since(pair[0])).collect();
    assert_eq!(gaps, [MS(10), MS(20), MS(40), MS(80)]);
    assert_eq!(pipe.hosts[0].completions()[0].cuts, 4);
}

/// The acknowledgement of a whole message is lost: the retransmission is a duplicate, and D-SACK reports it (RFC 2883).
#[test]
fn a_needless_retransmission_is_reported() {
    for sack in [true, false] {
        let config = TcpConfig { reuse: Reuse::Idle, ..with(sack) };
        let pipe = Pipe::new(&config, DELAY, vec![message(1, Time::ORIGIN, FULL)]);
        let pipe = pipe.lose(|from, n, _| from == 1 && n == 1).run(end());
        let (sender, receiver) = (pipe.hosts[0].counters(), pipe.hosts[1].counters());
        assert_eq!((sender.timeouts, sender.resent, receiver.duplicates), (1, 1, 1));
        assert_eq!(sender.spurious, u64::from(sack));
    }
}

fn congestion() -> impl Strategy<Value = CongestionConfig> {
    prop_oneof![
        Just(CongestionConfig::NewReno),
        Just(CongestionConfig::Cubic(CubicConfig::default())),
        Just(CongestionConfig::Dctcp(DctcpConfig::default())),
    ]
}

proptest! {
    #[test]
    fn everything_is_delivered_whatever_is_lost(
        congestion in congestion(),
        (sack, ecn, limited_transmit, timestamps) in any::<(bool, bool, bool, bool)>(),
        (every, tso, reuse) in (1u32..4, 1u32..9, 0u32..3),
        (paced, mtu) in (any::<bool>(), 576u32..3_000),
        bytes in prop::collection::vec(1u64..200_000, 1..4),
        lose in prop::collection::btree_set((0usize..2, 0u64..300), 0..60),
        receive_buffer in 20_000u64..400_000,
    ) {
        let config = TcpConfig {
            congestion, sack, ecn, limited_transmit, tso, mtu, receive_buffer,
            timestamps: timestamps.then_some(MS(1)),
            delayed_ack: DelayedAck { every, ..DelayedAck::default() },
            rto: RtoConfig { min: MS(5), initial: MS(20), ..RtoConfig::default() },
            pacing: paced.then(Pacing::default),
            reuse: [Reuse::Never, Reuse::Idle, Reuse::Always][reuse as usize],
            ..TcpConfig::default()
        };
        let start = |n: u64| Time::ORIGIN + Duration::from_micros(30 * n);
        let messages = (1..).zip(&bytes).map(|(n, bytes)| message(n, start(n.into()), *bytes)).collect();
        let pipe = Pipe::new(&config, DELAY, messages).lose(|from, n, _| lose.contains(&(from, n)));
        let pipe = pipe.run(Time::ORIGIN + Duration::from_secs(3_000));
        prop_assert_eq!(pipe.hosts[0].completions().len(), bytes.len());
        let (sender, receiver) = (pipe.hosts[0].counters(), pipe.hosts[1].counters());
        // Every data segment that was not lost arrives, and every byte is new once.
        let data = pipe.sent(0, is_data);
        let arrived = data.iter().filter(|seen| !seen.lost).count() as u64;
        prop_assert_eq!(sender.sent, data.len() as u64);
        // Late copies find the connection closed, and so can acknowledgements of the server's FIN.
        prop_assert!((receiver.received..=receiver.received + receiver.stray).contains(&arrived));
        let new: u64 = data.iter().map(|seen| u64::from(seen.segment.payload)).sum();
        prop_assert!(new >= bytes.iter().sum());
        if lose.is_empty() {
            prop_assert_eq!((sender.resent, sender.timeouts, receiver.stray), (0, 0, 0));
        }
    }
}
