//! UDP as a transport of a host: messages sent at a rate, whatever the network does (model: tcp §8).
//!
//! A message is a train of datagrams at a constant rate, or on and off in turns. Nothing is acknowledged or sent again: for its
//! sender a message is complete when its last datagram is sent, and for its receiver when all have arrived. Datagrams carry the
//! message's number and their own, by which the receiver counts the missing ones.

mod datagram;

use super::counters::HostCounters;
use super::message::{Completion, FlowState, Left, Message, MessageEvent};
use super::nic::{Outgoing, Port, Protocol};
use super::ports::FIRST_PORT;
use super::rdma::TrafficClass;
use super::tag::FrameTag;
use crate::network::HostFrame;
use datagram::{Datagram, MARKER};
use sluice_asic::units::{BitRate, Duration, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::Ipv4Addr;

/// Settings of a UDP transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpConfig {
    /// Payload bytes of a datagram, 8 to 9172.
    pub payload: u32,
    /// Rate of a message while it sends: bits on the line, preamble and gap included, above 0.
    pub rate: BitRate,
    /// Times of sending and of silence, in turns from the start of a message on; `None`: a message sends all the time.
    pub on_off: Option<OnOff>,
    /// Traffic class of the datagrams.
    pub data: TrafficClass,
    /// True if datagrams are ECN-capable. Their sender does not react to marks.
    pub ecn: bool,
}

/// Times of sending and of silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnOff {
    /// Time of sending, above 0.
    pub on: Duration,
    /// Time of silence.
    pub off: Duration,
}

impl OnOff {
    /// Returns the time from a message's start at which it has been sending for `sending`.
    fn after(self, sending: Duration) -> Duration {
        let (on, off) = (self.on.as_ps().max(1), self.off.as_ps());
        let turns = sending.as_ps() / on;
        Duration::from_ps(sending.as_ps().saturating_add(turns.saturating_mul(off)))
    }
}

/// A message under way.
#[derive(Clone, Copy, Debug)]
struct Sending {
    message: Message,
    /// Bytes that are sent, and datagrams.
    sent: u64,
    number: u32,
    /// Time of sending before the next datagram, without silence.
    sending: Duration,
}

/// A message that arrives.
#[derive(Clone, Copy, Debug, Default)]
struct Receiving {
    /// Number after the highest one that has arrived, and the number of datagrams that have arrived.
    next: u64,
    arrived: u64,
    /// Datagrams of the message, once the last one has arrived.
    count: Option<u64>,
}

/// UDP messages of a host.
#[derive(Debug)]
pub(super) struct Udp {
    config: UdpConfig,
    address: Ipv4Addr,
    server_port: u16,
    sending: BTreeMap<u32, Sending>,
    receiving: BTreeMap<u32, Receiving>,
    /// Messages whose next datagram is due, in order of their turns, and the times of the others.
    ready: VecDeque<u32>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    counters: HostCounters,
}

impl Udp {
    /// Creates transport `number` of the host with this address.
    pub(super) fn new(config: UdpConfig, address: Ipv4Addr, number: u8) -> Udp {
        Udp {
            config,
            address,
            server_port: FIRST_PORT + u16::from(number),
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
            counters: HostCounters::default(),
        }
    }

    /// Sends the next datagram of a message.
    fn send_datagram(&mut self, pair: u32, out: &mut Outgoing<'_, '_>) -> bool {
        let Some(sending) = self.sending.get_mut(&pair) else { return false };
        let message = sending.message;
        let rest = message.bytes - sending.sent;
        let bytes = rest.min(self.config.payload.into());
        let last = bytes == rest;
        let datagram = Datagram {
            from: self.address,
            to: message.to,
            ports: [message.port, self.server_port],
            dscp: self.config.data.dscp,
            ecn: self.config.ecn,
            // A datagram has room for the numbers, even if the message ends before.
            payload: (bytes as u32).max(MARKER),
            pair,
            number: sending.number,
            last,
        };
        let (head, orig_len) = datagram.store();
        sending.sent += bytes;
        sending.number += 1;
        sending.sending += self.config.rate.time_for(out.port.line_bytes(orig_len));
        let wait = self.config.on_off.map_or(sending.sending, |turns| turns.after(sending.sending));
        self.counters.sent += 1;
        if last {
            self.sending.remove(&pair);
            out.events.push(MessageEvent::Completed(Completion { message, end: out.now, cuts: 0 }));
        } else {
            self.paced.push(Reverse((message.start + wait, pair)));
        }
        out.put(&head, orig_len, FrameTag::data(pair));
        true
    }

    /// Counts a datagram. Returns true if its message is complete with it.
    fn arrived(&mut self, datagram: &Datagram) -> bool {
        let flow = self.receiving.entry(datagram.pair).or_default();
        let number = u64::from(datagram.number);
        self.counters.received += 1;
        if number >= flow.next {
            self.counters.missing += number - flow.next;
            self.counters.early += u64::from(number > flow.next);
            flow.next = number + 1;
        } else {
            self.counters.missing = self.counters.missing.saturating_sub(1);
        }
        flow.arrived += 1;
        if datagram.last {
            flow.count = Some(number + 1);
        }
        let complete = flow.count == Some(flow.arrived);
        if complete {
            self.receiving.remove(&datagram.pair);
        }
        complete
    }
}

impl Protocol for Udp {
    fn start(&mut self, _now: Time, message: Message) {
        let sending = Sending { message, sent: 0, number: 0, sending: Duration::ZERO };
        self.sending.insert(message.pair, sending);
        self.ready.push_back(message.pair);
    }

    fn receive(&mut self, at: Time, frame: HostFrame<'_>, events: &mut Vec<MessageEvent>) -> bool {
        let Some((datagram, marked)) = Datagram::read(self.address, self.server_port, frame.bytes) else {
            return false;
        };
        self.counters.marked += u64::from(marked);
        if self.arrived(&datagram) {
            events.push(MessageEvent::Received { pair: datagram.pair, at });
        }
        true
    }

    fn next_timer(&self) -> Option<Time> {
        None
    }

    fn next_frame(&self, port: &Port) -> Option<Time> {
        if port.is_paused(self.config.data.priority) {
            return None;
        }
        let free = port.free_at();
        if !self.ready.is_empty() {
            return Some(free);
        }
        self.paced.peek().map(|Reverse((due, _))| (*due).max(free))
    }

    fn advance(&mut self, now: Time) {
        while let Some(&Reverse((_, pair))) = self.paced.peek().filter(|Reverse((due, _))| *due <= now) {
            self.paced.pop();
            self.ready.push_back(pair);
        }
    }

    fn send_control(&mut self, _out: &mut Outgoing<'_, '_>) -> bool {
        false
    }

    fn send_data(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        while !out.port.is_paused(self.config.data.priority)
            && let Some(pair) = self.ready.pop_front()
        {
            if self.send_datagram(pair, out) {
                return true;
            }
        }
        false
    }

    fn is_busy(&self) -> bool {
        !self.sending.is_empty()
    }

    fn unfinished(&self, into: &mut Vec<Left>) {
        let all = self.sending.values();
        into.extend(
            all.map(|sending| Left { message: sending.message, acknowledged: sending.number.into() }),
        );
    }

    fn counters(&self) -> HostCounters {
        self.counters
    }

    fn flow(&self, pair: u32) -> Option<FlowState> {
        self.sending.get(&pair)?;
        let rate = self.config.rate.as_bps();
        Some(FlowState { rate, ..FlowState::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_added_after_every_turn() {
        let us = Duration::from_micros;
        let turns = OnOff { on: us(10), off: us(30) };
        let times = [0, 9, 10, 19, 20, 25].map(|sending| turns.after(us(sending)));
        assert_eq!(times, [0, 9, 40, 49, 80, 85].map(us));
    }

    #[test]
    fn missing_datagrams_are_counted_and_late_ones_are_not() {
        let data = TrafficClass { dscp: 0, priority: 0 };
        let rate = BitRate::from_gbps(1);
        let mut udp = Udp::new(
            UdpConfig { payload: 100, rate, on_off: None, data, ecn: false },
            Ipv4Addr::LOCALHOST,
            0,
        );
        let datagram = |number, last| Datagram {
            from: Ipv4Addr::LOCALHOST,
            to: Ipv4Addr::LOCALHOST,
            ports: [1, FIRST_PORT],
            dscp: 0,
            ecn: false,
            payload: 100,
            pair: 3,
            number,
            last,
        };
        let mut missing = Vec::new();
        for number in [0, 3, 1, 5] {
            assert!(!udp.arrived(&datagram(number, number == 5)));
            missing.push(udp.counters.missing);
        }
        assert_eq!((missing, udp.counters.early), (vec![0, 2, 1, 2], 2));
        assert!(!udp.arrived(&datagram(2, false)));
        assert!(udp.arrived(&datagram(4, false)), "all have arrived");
        assert_eq!(udp.counters.missing, 0);
    }
}
