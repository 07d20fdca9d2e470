//! Rules of a sender that a pipe does not show one by one.

use super::super::config::TcpConfig;
use super::*;
use std::net::Ipv4Addr;

const MSS: u64 = 1_000;

fn agreed(sack: bool) -> Agreed {
    Agreed { mss: MSS as u32, sack, ecn: true, window: 1 << 30, rtt: Some(Duration::from_micros(100)) }
}

fn sender(config: &TcpConfig, sack: bool, segments: u64) -> Sender {
    let mut sender = Sender::new(config, agreed(sack));
    let to = Ipv4Addr::LOCALHOST;
    sender.append(Message {
        pair: 1,
        transport: 0,
        workload: 0,
        start: Time::ORIGIN,
        to,
        port: 1,
        bytes: segments * MSS,
    });
    sender
}

fn at(us: u64) -> Time {
    Time::ORIGIN + Duration::from_micros(us)
}

/// Sends all that may be sent, and returns the segments' numbers.
fn sent(sender: &mut Sender, config: &TcpConfig, us: u64) -> Vec<u64> {
    std::iter::from_fn(|| sender.send(config, at(us)).map(|out| out.start / MSS)).collect()
}

fn ack(
    sender: &mut Sender,
    config: &TcpConfig,
    us: u64,
    segment: u64,
    ece: bool,
    blocks: &[(u64, u64)],
) -> Effect {
    let position = |segment: u64| 1 + segment * MSS;
    let blocks: Vec<_> = blocks.iter().map(|(from, to)| (position(*from), position(*to))).collect();
    let ack = Ack { number: position(segment), window: 1 << 30, ece, echo: None, blocks: &blocks };
    sender.acknowledged(config, at(us), ack)
}

/// RFC 3042: the first two duplicates let one new segment each be sent, and FlightSize does not count them (RFC 5681 §3.2).
#[test]
fn limited_transmit_sends_one_segment_per_duplicate() {
    for (limited_transmit, sack) in [(true, false), (true, true), (false, false), (false, true)] {
        let config = TcpConfig { limited_transmit, ..TcpConfig::default() };
        let mut sender = sender(&config, sack, 100);
        assert_eq!(sent(&mut sender, &config, 0), (0..10).collect::<Vec<_>>());
        let mut duplicate = |n: u64| {
            let effect = ack(&mut sender, &config, 100 + n, 0, false, &[(1, 2 + n)]);
            (effect.fast_retransmit, sent(&mut sender, &config, 100 + n))
        };
        let new = |n| if limited_transmit { vec![n] } else { vec![] };
        assert_eq!([duplicate(0), duplicate(1)], [(false, new(10)), (false, new(11))]);
        let (fast, then) = duplicate(2);
        assert!(fast && then[0] == 0, "{then:?}");
        // Half of ten segments, and three for the duplicates if the window is inflated.
        let cwnd = if sack { 5 } else { 8 };
        assert_eq!((sender.window().cwnd, sender.window().ssthresh), (cwnd * MSS, 5 * MSS));
    }
}

/// RFC 6582 §3.2 steps 3 to 5, by hand: ten segments, the first and the fourth are lost.
#[test]
fn partial_acknowledgements_deflate_the_window() {
    let config = TcpConfig { limited_transmit: false, ..TcpConfig::default() };
    let mut sender = sender(&config, false, 100);
    sent(&mut sender, &config, 0);
    (0..3).for_each(|n| _ = ack(&mut sender, &config, 100 + n, 0, false, &[]));
    assert_eq!(sent(&mut sender, &config, 103), [0], "the window of 8 has no room");
    // Five more duplicates: 8 + 5 = 13 segments, and 10 are unacknowledged.
    (0..5).for_each(|n| _ = ack(&mut sender, &config, 110 + n, 0, false, &[]));
    assert_eq!((sender.window().cwnd, sent(&mut sender, &config, 115)), (13 * MSS, vec![10, 11, 12]));
    // A partial acknowledgement of three segments: 13 - 3 + 1 = 11; segment 3 again, and one new one.
    let timer = sender.timer();
    ack(&mut sender, &config, 200, 3, false, &[]);
    assert_eq!(sender.window().cwnd, 11 * MSS);
    assert!(sender.timer() > timer, "the first partial acknowledgement restarts the timer");
    assert_eq!(sent(&mut sender, &config, 200), [3, 13]);
    // A full acknowledgement of the ten: min(5, max(4, 1) + 1) = 5.
    ack(&mut sender, &config, 300, 10, false, &[]);
    assert_eq!((sender.state, sender.window().cwnd), (State::Open, 5 * MSS));
}

/// RFC 6675 §5, by hand: ten segments, 0 and 5 are lost; pipe counts what is in the network.
#[test]
fn recovery_with_sack_keeps_the_pipe_full() {
    let config = TcpConfig { limited_transmit: true, ..TcpConfig::default() };
    let mut sender = sender(&config, true, 100);
    sent(&mut sender, &config, 0);
    let duplicate = |sender: &mut Sender, n: u64, blocks: &[(u64, u64)]| {
        ack(sender, &config, 100 + n, 0, false, blocks);
        sent(sender, &config, 100 + n)
    };
    assert_eq!(duplicate(&mut sender, 1, &[(1, 2)]), [10]);
    assert_eq!(duplicate(&mut sender, 2, &[(1, 3)]), [11]);
    // Segment 0 is lost: cwnd 5; in the network are 4 to 11, 8 segments, so only segment 0 is sent.
    assert_eq!(duplicate(&mut sender, 3, &[(1, 4)]), [0]);
    assert_eq!((sender.window().cwnd, sender.in_flight()), (5 * MSS, 9 * MSS));
    assert_eq!(duplicate(&mut sender, 4, &[(1, 5)]), [0; 0]);
    assert_eq!(duplicate(&mut sender, 6, &[(6, 7), (1, 5)]), [0; 0]);
    assert_eq!(duplicate(&mut sender, 7, &[(6, 8), (1, 5)]), [0; 0]);
    assert_eq!(sender.in_flight(), 6 * MSS, "0, 5, 8, 9, 10, 11");
    // Three segments above segment 5: it is lost and sent at once, because 0, 9, 10, 11 are in the network.
    assert_eq!(duplicate(&mut sender, 8, &[(6, 9), (1, 5)]), [5]);
    assert_eq!(duplicate(&mut sender, 9, &[(6, 10), (1, 5)]), [12]);
    ack(&mut sender, &config, 220, 12, false, &[]);
    assert_eq!((sender.state, sender.window().cwnd, sender.in_flight()), (State::Open, 5 * MSS, MSS));
}

/// RFC 3168 §6.1.2: one reduction per window, and CWR in the next new segment.
#[test]
fn an_echo_reduces_once_per_window() {
    let config = TcpConfig { ecn: true, ..TcpConfig::default() };
    let mut sender = sender(&config, true, 100);
    sent(&mut sender, &config, 0);
    let mut windows = Vec::new();
    for segment in 1..=10 {
        ack(&mut sender, &config, 100, segment, true, &[]);
        windows.push(sender.window().cwnd / MSS);
    }
    assert_eq!(windows, [5; 10]);
    let out = sender.send(&config, at(200)).unwrap();
    assert!(out.cwr && !out.again);
    assert!(sender.send(&config, at(200)).is_some_and(|next| !next.cwr));
    ack(&mut sender, &config, 300, 11, true, &[]);
    assert_eq!((sender.window().cwnd, sender.notified()), (2 * MSS + MSS / 2, 11), "a new window");
}

/// The rule of Linux: a burst of `tso` segments, or a third of the window, or the end of the message.
#[test]
fn tso_waits_for_a_burst() {
    let config = TcpConfig { tso: 4, initial_window: 16, ..TcpConfig::default() };
    let mut sender = sender(&config, true, 100);
    sender.window.ssthresh = 16 * MSS;
    assert_eq!(sent(&mut sender, &config, 0).len(), 16);
    let mut after = |segment| {
        ack(&mut sender, &config, 100, segment, false, &[]);
        sent(&mut sender, &config, 100)
    };
    assert_eq!([after(1), after(2), after(3)], [const { Vec::<u64>::new() }; 3]);
    assert_eq!(after(4), [16, 17, 18, 19]);
}

#[test]
fn a_receiver_with_a_small_window_gets_small_segments() {
    let config = TcpConfig::default();
    let mut sender = Sender::new(&config, Agreed { window: 300, ..agreed(true) });
    let to = Ipv4Addr::LOCALHOST;
    sender.append(Message {
        pair: 1,
        transport: 0,
        workload: 0,
        start: Time::ORIGIN,
        to,
        port: 1,
        bytes: 1_000,
    });
    let out = sender.send(&config, at(0)).unwrap();
    assert_eq!((out.end - out.start, sender.send(&config, at(0))), (300, None));
}

#[test]
fn acknowledgements_of_what_was_not_sent_are_ignored() {
    let config = TcpConfig::default();
    let mut sender = sender(&config, true, 100);
    sent(&mut sender, &config, 0);
    ack(&mut sender, &config, 50, 11, false, &[(12, 20)]);
    ack(&mut sender, &config, 50, 0, false, &[(12, 20), (8, 5), (30, 40)]);
    assert_eq!((sender.una, sender.in_flight(), sender.state), (1, 10 * MSS, State::Open));
}
