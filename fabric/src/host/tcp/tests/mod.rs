//! Connections between two hosts, over cables that lose, mark and queue.

mod loss;
pub(super) mod pipe;
mod window;

use super::segment::Segment;
use super::*;
use pipe::{Pipe, line, message, store};
use sluice_asic::units::Duration;
use sluice_pcaps::wire::tcp::{ACK, FIN, PSH, SYN};

const DELAY: Duration = Duration::from_micros(20);
/// Payload and frame of a full segment with timestamps.
const FULL: u64 = 1_448;
const FRAME: u64 = 1_514;

fn end() -> Time {
    Time::ORIGIN + Duration::from_secs(20)
}

/// Every segment is acknowledged at once.
fn eager() -> TcpConfig {
    TcpConfig { delayed_ack: DelayedAck { every: 1, ..DelayedAck::default() }, ..TcpConfig::default() }
}

fn is_data(segment: &Segment) -> bool {
    segment.payload > 0
}

#[test]
fn a_connection_opens_sends_and_closes() {
    let pipe = Pipe::new(&eager(), DELAY, vec![message(7, Time::ORIGIN, 2_000)]).run(end());
    let flags: Vec<(usize, u8, u32)> =
        pipe.seen.iter().map(|seen| (seen.from, seen.segment.flags, seen.segment.payload)).collect();
    let expected = [
        (0, SYN, 0),
        (1, SYN | ACK, 0),
        (0, ACK, 0),
        (0, ACK, FULL as u32),
        (0, ACK | PSH | FIN, 552),
        (1, ACK, 0),
        (1, ACK | FIN, 0),
        (0, ACK, 0),
    ];
    assert_eq!(flags, expected);
    // Numbers of the two directions: SYN and FIN count as one.
    let [client, server] = [0, 1].map(|host| pipe.sent(host, |_| true));
    let (isn, irs) = (client[0].segment.sequence, server[0].segment.sequence);
    let numbers = |seen: &[pipe::Seen], isn: u32, irs: u32| -> Vec<(u32, u32)> {
        let of = |s: &Segment| (s.sequence.wrapping_sub(isn), s.acknowledgement.wrapping_sub(irs));
        seen.iter().map(|seen| of(&seen.segment)).collect()
    };
    assert_eq!(numbers(&client[1..], isn, irs), [(1, 1), (1, 1), (1_449, 1), (2_002, 2)]);
    assert_eq!(numbers(&server, irs, isn), [(0, 1), (1, 1_449), (1, 2_002)]);
    // The time: four passes of the cable, and the frames on the line.
    let [done] = pipe.hosts[0].completions() else { panic!("not complete") };
    let expected = DELAY * 4 + store(74) * 2 + line(66) + line(FRAME) + store(66 + 552) + store(66);
    assert_eq!(done.time(), expected);
    assert_eq!((pipe.hosts[0].unfinished().len(), done.message.pair), (0, 7));
}

/// Without loss, IW segments are sent in the first round trip and twice as many in each next one: 10, 20, 40, and the last 30
/// of 100. In the last round the segments are sent in pairs, as the acknowledgements of the round before come.
#[test]
fn slow_start_doubles_the_window_every_round_trip() {
    let pipe =
        Pipe::new(&eager(), Duration::from_millis(1), vec![message(1, Time::ORIGIN, 100 * FULL)]).run(end());
    let times: Vec<Time> = pipe.sent(0, is_data).iter().map(|seen| seen.at).collect();
    let rounds = times.chunk_by(|a, b| b.saturating_since(*a) < Duration::from_micros(500));
    assert_eq!(rounds.map(<[Time]>::len).collect::<Vec<_>>(), [10, 20, 40, 30]);
    // The acknowledgement of segment n of a round comes one round trip after it, and lets two segments be sent. The first
    // segment of a round is sent when the first acknowledgement has come, and all others follow without a gap.
    let trip = Duration::from_millis(2) + store(FRAME) + store(66);
    let handshake = Duration::from_millis(2) + store(74) * 2 + line(66);
    let last_round = line(FRAME) * 29 + store(FRAME) + store(66) + Duration::from_millis(2);
    let [done] = pipe.hosts[0].completions() else { panic!("not complete") };
    assert_eq!(done.time(), handshake + trip * 3 + last_round);
}

#[test]
fn delayed_acknowledgements_are_half_as_many() {
    let pipe =
        Pipe::new(&TcpConfig::default(), DELAY, vec![message(1, Time::ORIGIN, 1_000 * FULL)]).run(end());
    let counters = pipe.hosts[1].counters();
    assert_eq!((counters.received, counters.acks, counters.duplicates), (1_000, 500, 0));
    // An odd segment without PSH would wait for the timer: with PSH ignored, the last one is late by 40 ms.
    let lazy = DelayedAck { push: false, ..DelayedAck::default() };
    let config = TcpConfig { delayed_ack: lazy, reuse: Reuse::Idle, ..TcpConfig::default() };
    let pipe = Pipe::new(&config, DELAY, vec![message(1, Time::ORIGIN, 3 * FULL)]).run(end());
    let [done] = pipe.hosts[0].completions() else { panic!("not complete") };
    let expected = DELAY * 4 + store(74) * 2 + line(66) + line(FRAME) * 2 + store(FRAME) + store(66);
    assert_eq!(done.time(), expected + Duration::from_millis(40));
}

#[test]
fn connections_are_used_again() {
    let later = |us| Time::ORIGIN + Duration::from_micros(us);
    let messages =
        || vec![message(1, later(0), 5_000), message(2, later(10), 5_000), message(3, later(900), 5_000)];
    let syns = |reuse| {
        let config = TcpConfig { reuse, ..eager() };
        let pipe = Pipe::new(&config, DELAY, messages()).run(end());
        let done: Vec<u32> = pipe.hosts[0].completions().iter().map(|done| done.message.pair).collect();
        assert_eq!(done, [1, 2, 3], "{reuse:?}");
        let syns = pipe.sent(0, |segment| segment.flags & SYN != 0);
        let ports: Vec<u16> = syns.iter().map(|seen| seen.segment.path.source_port).collect();
        (ports, pipe.sent(0, |segment| segment.flags & FIN != 0).len())
    };
    // While the first connection exists, the second one takes another port.
    assert_eq!(syns(Reuse::Never), (vec![49_152, 49_153, 49_152], 3));
    assert_eq!(syns(Reuse::Idle), (vec![49_152, 49_153], 0));
    assert_eq!(syns(Reuse::Always), (vec![49_152], 0));
}

#[test]
fn receivers_report_complete_messages_and_transports_share_a_host() {
    let port = crate::host::nic::PortConfig {
        rate: pipe::LINE,
        pfc: None,
        wire: sluice_asic::mac::WireOverhead::ETHERNET,
    };
    let tcp =
        |congestion| crate::host::nic::TransportConfig::Tcp(TcpConfig { congestion, ..TcpConfig::default() });
    let transports = [tcp(CongestionConfig::NewReno), tcp(CongestionConfig::Dctcp(DctcpConfig::default()))];
    let messages =
        [0, 1].map(|n| Message { transport: n, ..message(1 + u32::from(n), Time::ORIGIN, 10_000) });
    let mut pipe = Pipe::new(&TcpConfig::default(), DELAY, Vec::new());
    pipe.hosts = [
        crate::host::nic::Nic::new(port, pipe::OWN, &transports, messages.to_vec()),
        crate::host::nic::Nic::new(port, pipe::PEER, &transports, Vec::new()),
    ];
    let pipe = pipe.run(end());
    assert_eq!((pipe.hosts[0].completions().len(), pipe.hosts[1].counters().stray), (2, 0));
    // Packets of DCTCP are ECN-capable, all of them; those of NewReno are not.
    for seen in &pipe.seen {
        let dctcp = [seen.segment.path.source_port, seen.segment.path.destination_port].contains(&5_002);
        assert_eq!(seen.segment.ecn, if dctcp { 2 } else { 0 });
    }
}
