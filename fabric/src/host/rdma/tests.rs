//! Senders that are notified of congestion: when they send next, and what receivers answer.

use super::frames::{Address, Data};
use super::*;
use crate::host::dcqcn::ReactionPoint;
use crate::host::dcqcn::{Mellanox, Published, ReactionConfig};
use crate::host::nic::{Nic, PortConfig, TransportConfig};
use crate::network::Host;
use sluice_asic::mac::WireOverhead;
use sluice_asic::units::Duration;

const LINE: BitRate = BitRate::from_gbps(100);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);

fn nic(repaces: bool, carrier: Carrier, messages: Vec<Message>) -> Nic {
    let port = PortConfig { rate: LINE, pfc: None, wire: WireOverhead::ETHERNET };
    Nic::new(port, OWN, &[TransportConfig::Rdma(config(repaces, carrier))], messages)
}

fn config(repaces: bool, carrier: Carrier) -> RdmaConfig {
    RdmaConfig {
        mtu: 1_000,
        recovery: Recovery::GoBackN { nack_interval: Duration::from_micros(4), timeout: None },
        congestion: CongestionConfig::Dcqcn(Box::new(ReactionPoint::Mellanox(Mellanox::new(
            ReactionConfig::new(LINE),
        )))),
        window: None,
        burst: 1,
        repaces,
        head_of_line: false,
        coalescing: Coalescing::PerPacket,
        scope: NotificationScope::Pair,
        carrier,
        notify_missing: true,
        data: TrafficClass { dscp: 3, priority: 3 },
        control: TrafficClass { dscp: 48, priority: 6 },
        cnp: TrafficClass { dscp: 48, priority: 6 },
    }
}

/// Starts of a sender's packets up to 5 us, ps, if it is notified of congestion at 10 ns.
fn starts(repaces: bool) -> Vec<u64> {
    let start = Time::ORIGIN;
    let message =
        Message { pair: 1, transport: 0, workload: 0, start, to: PEER, port: 49_152, bytes: 1_000_000 };
    let mut host = nic(repaces, Carrier::Packet, vec![message]);
    let mut starts = Vec::new();
    let mut put = |first_bit: Time, _: HostFrame<'_>| starts.push(first_bit.as_ps());
    host.advance(Time::from_nanos(10), &mut put);
    let from =
        Address { from: PEER, to: OWN, port: 49_152, pair: 1, dscp: 48, capable: false, telemetry: None };
    let notification = Answers::new(from).notification(from.dscp);
    let frame = HostFrame { bytes: &notification, orig_len: notification.len() as u32, tag: 0 };
    host.receive(Time::from_nanos(10), frame);
    host.advance(Time::from_nanos(5_000), &mut put);
    starts
}

#[test]
fn a_cut_delays_the_packet_that_waits_or_the_one_after_it() {
    // 1082 bytes of line time at 100 Gb/s, and at the half, to which the monitor cuts the rate 4 us and 1 ns after the
    // notification. Packet 46 starts before that and packet 47 waits.
    const FULL: u64 = 1_082 * 80;
    let gaps = |repaces| starts(repaces).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    let before = (4_011_000 - 640) / FULL;
    assert_eq!(before, 46);
    let expected = |at_full: u64| {
        let full = std::iter::repeat_n(FULL, at_full as usize);
        full.chain(std::iter::repeat(2 * FULL)).take(50).collect::<Vec<_>>()
    };
    assert_eq!(gaps(true)[..50], expected(before));
    assert_eq!(gaps(false)[..50], expected(before + 1));
}

/// Frames with which a receiver answers one marked packet.
fn answers(carrier: Carrier) -> Vec<(u32, Option<AnswerPacket>)> {
    let mut host = nic(true, carrier, Vec::new());
    let from =
        Address { from: PEER, to: OWN, port: 49_152, pair: 7, dscp: 3, capable: true, telemetry: None };
    let mut data = Data::new(&from, 1_000, 1_000);
    let (mut head, len) = (data.head(0).to_vec(), data.len(0));
    head[15] |= 3;
    host.receive(Time::from_nanos(10), HostFrame { bytes: &head, orig_len: len, tag: 0 });
    let mut answers = Vec::new();
    let mut put = |_: Time, frame: HostFrame<'_>| match read(PEER, frame.bytes, None) {
        Some(Arrived::Answer { pair, answer, .. }) => answers.push((pair, Some(answer))),
        Some(Arrived::Notification { pair }) => answers.push((pair, None)),
        other => panic!("{other:?}"),
    };
    host.advance(Time::from_nanos(1_000), &mut put);
    assert_eq!((host.counters().notifications, host.counters().acks), (1, 1));
    answers
}

#[test]
fn a_notification_is_a_packet_or_a_flag_of_the_acknowledgement() {
    let answer = |notifies| Some(AnswerPacket { expected: 1, missing: false, msn: 1, notifies });
    assert_eq!(answers(Carrier::Packet), [(7, None), (7, answer(false))]);
    assert_eq!(answers(Carrier::Acknowledgement), [(7, answer(true))]);
}

/// CNPs that a NIC sends if a packet of each of two pairs is marked, 1 us apart.
fn notifications(scope: NotificationScope) -> u64 {
    let coalescing = Coalescing::Interval(Duration::from_micros(4));
    let limited = RdmaConfig { coalescing, scope, ..config(true, Carrier::Packet) };
    let port = PortConfig { rate: LINE, pfc: None, wire: WireOverhead::ETHERNET };
    let mut host = Nic::new(port, OWN, &[TransportConfig::Rdma(limited)], Vec::new());
    for pair in 1..=2 {
        let from =
            Address { from: PEER, to: OWN, port: 49_152, pair, dscp: 3, capable: true, telemetry: None };
        let mut data = Data::new(&from, 1_000, 1_000);
        let (mut head, len) = (data.head(0).to_vec(), data.len(0));
        head[15] |= 3;
        let at = Time::from_nanos(u64::from(pair) * 1_000);
        host.receive(at, HostFrame { bytes: &head, orig_len: len, tag: 0 });
    }
    host.counters().notifications
}

#[test]
fn a_limit_on_cnps_is_of_each_pair_or_of_the_nic() {
    assert_eq!(notifications(NotificationScope::Pair), 2);
    assert_eq!(notifications(NotificationScope::Nic), 1);
}

#[test]
fn a_burst_is_sent_at_once_and_paced_as_one() {
    let burst = RdmaConfig { burst: 4, ..config(true, Carrier::Packet) };
    let message = Message {
        pair: 1,
        transport: 0,
        workload: 0,
        start: Time::ORIGIN,
        to: PEER,
        port: 49_152,
        bytes: 1_000_000,
    };
    let port = PortConfig { rate: LINE, pfc: None, wire: WireOverhead::ETHERNET };
    let mut host = Nic::new(port, OWN, &[TransportConfig::Rdma(burst)], vec![message]);
    let mut starts = Vec::new();
    let mut put = |first_bit: Time, _: HostFrame<'_>| starts.push(first_bit.as_ps());
    host.advance(Time::from_nanos(10), &mut put);
    let from =
        Address { from: PEER, to: OWN, port: 49_152, pair: 1, dscp: 48, capable: false, telemetry: None };
    let cnp = Answers::new(from).notification(from.dscp);
    host.receive(Time::from_nanos(10), HostFrame { bytes: &cnp, orig_len: cnp.len() as u32, tag: 0 });
    host.advance(Time::from_nanos(9_000), &mut put);
    // At half of the line four packets follow each other, and then the line is idle for as long as they took.
    const FULL: u64 = 1_082 * 80;
    let gaps: Vec<u64> = starts.windows(2).map(|pair| pair[1] - pair[0]).skip(52).take(8).collect();
    let at = gaps.iter().position(|gap| *gap != FULL).unwrap_or(9);
    assert!(at < 4, "{gaps:?}");
    assert_eq!(gaps[at..at + 5], [5 * FULL, FULL, FULL, FULL, 5 * FULL]);
}

/// Packets that each of two pairs starts from 10 to 20 us, of which the first is cut to 12.5 Gb/s at 1 us.
fn beside_a_slow_pair(head_of_line: bool) -> [usize; 2] {
    let point = ReactionPoint::Published(Published::new(ReactionConfig::new(LINE)));
    let congestion = CongestionConfig::Dcqcn(Box::new(point));
    let config = RdmaConfig { head_of_line, congestion, ..config(true, Carrier::Packet) };
    let message = |pair| {
        let (to, start) = (PEER, Time::ORIGIN);
        Message { pair, transport: 0, workload: 0, start, to, port: 49_152, bytes: 1_000_000 }
    };
    let port = PortConfig { rate: LINE, pfc: None, wire: WireOverhead::ETHERNET };
    let mut host = Nic::new(port, OWN, &[TransportConfig::Rdma(config)], vec![message(1), message(2)]);
    let mut starts = Vec::new();
    let mut put = |first_bit: Time, frame: HostFrame<'_>| starts.push((first_bit, frame.tag));
    host.advance(Time::from_nanos(1_000), &mut put);
    let from =
        Address { from: PEER, to: OWN, port: 49_152, pair: 1, dscp: 48, capable: false, telemetry: None };
    let cnp = Answers::new(from).notification(from.dscp);
    for _ in 0..3 {
        host.receive(Time::from_nanos(1_000), HostFrame { bytes: &cnp, orig_len: cnp.len() as u32, tag: 0 });
    }
    host.advance(Time::from_nanos(20_000), &mut put);
    let late = |(at, _): &&(Time, u64)| *at >= Time::from_nanos(10_000);
    [1, 2].map(|pair| starts.iter().filter(late).filter(|(_, tag)| *tag == pair).count())
}

#[test]
fn a_pair_that_waits_holds_up_the_others_or_not() {
    // At 12.5 Gb/s a packet of 1082 bytes takes 692 ns: 14 or 15 of them in 10 us. The line has room for 115.
    let [slow, free] = beside_a_slow_pair(false);
    assert!((14..=15).contains(&slow) && (115..=116).contains(&(slow + free)), "{slow}, {free}");
    let [slow, held] = beside_a_slow_pair(true);
    assert!((14..=15).contains(&slow) && slow.abs_diff(held) <= 1, "{slow}, {held}");
}
