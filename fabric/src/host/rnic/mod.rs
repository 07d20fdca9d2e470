//! A host with an RDMA NIC: RoCEv2 queue pairs that send messages at DCQCN rates and answer received packets (model:
//! conweave §4.3; buffer §4).
//!
//! Every message has a separate queue pair. Pairs that may send take turns packet by packet, and each keeps its rate by
//! the time between its packets. Acknowledgements and CNPs are sent before data. PFC frames pause the priorities that
//! they name.

mod frames;
mod pair;

pub use pair::Completion;

use super::dcqcn::{Coalescing, NotificationPoint, ReactionPoint};
use super::recovery::{Answer, Receiver, Recovery};
use crate::network::{Host, HostFrame, ToSwitch};
use frames::{Address, Arrived, read, unwrap};
use pair::{Receiving, Sending};
use sluice_asic::mac::WireOverhead;
use sluice_asic::tm::pfc::{PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::Ipv4Addr;

/// Traffic class of packets: the DSCP that they carry, and the PFC priority that stops them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficClass {
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// PFC priority, 0 to 7.
    pub priority: u8,
}

/// Form of a receiver's notification of congestion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// A packet of its own, a CNP, before the acknowledgement.
    #[default]
    Packet,
    /// BECN in the BTH of the acknowledgement or NACK, as in the simulators of HPCC and ConWeave. A packet that is not
    /// answered notifies of nothing.
    Acknowledgement,
}

/// Settings of a NIC.
#[derive(Clone, Debug)]
pub struct RnicConfig {
    /// Link rate.
    pub rate: BitRate,
    /// Payload bytes of a full packet.
    pub mtu: u32,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Initial reaction point of every queue pair; `None`: pairs always send at the link rate, and packets are not
    /// ECN-capable.
    pub reaction: Option<ReactionPoint>,
    /// True if a rate cut delays the packet that waits for its time; false if its time stays, and only packets after it
    /// have the new rate, as in the simulators of HPCC and ConWeave.
    pub repaces: bool,
    /// Marked packets that the NIC answers with a CNP.
    pub coalescing: Coalescing,
    /// Form of the notifications.
    pub carrier: Carrier,
    /// True if a CNP is sent with a NACK too, as RNICs do (model: conweave §4.3).
    pub notify_missing: bool,
    /// Traffic class of data.
    pub data: TrafficClass,
    /// Traffic class of acknowledgements and CNPs.
    pub control: TrafficClass,
    /// Reaction to PFC frames; `None`: PFC is ignored.
    pub pfc: Option<PfcConfig>,
    /// Bytes of line time that a frame takes in addition to its own.
    pub wire: WireOverhead,
}

/// A message to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of its queue pair: 24 bits, not 0, unique in the network.
    pub pair: u32,
    /// Time at which the message is ready to be sent.
    pub start: Time,
    /// The receiver.
    pub to: Ipv4Addr,
    /// UDP source port.
    pub port: u16,
    /// Bytes, at least 1.
    pub bytes: u64,
}

/// A message that is not completely acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The message.
    pub message: Message,
    /// Number of its packets that are acknowledged.
    pub acknowledged: u64,
}

/// Counters of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RnicCounters {
    /// Data packets sent.
    pub sent: u64,
    /// Retransmitted data packets.
    pub resent: u64,
    /// Data packets received.
    pub received: u64,
    /// Data packets that arrived before a packet with a lower number.
    pub early: u64,
    /// Data packets received with CE.
    pub marked: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// NACKs sent.
    pub nacks: u64,
    /// CNPs sent.
    pub notifications: u64,
    /// CNPs received.
    pub notified: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Received frames of unknown kind, or for a queue pair that no longer exists.
    pub stray: u64,
    /// Number of pauses, over all priorities.
    pub pauses: u64,
    /// Sum of the pauses' lengths, over all priorities.
    pub paused: Duration,
}

impl std::ops::AddAssign for RnicCounters {
    fn add_assign(&mut self, other: RnicCounters) {
        let RnicCounters { sent, resent, received, early, marked, acks, nacks, .. } = other;
        let RnicCounters { notifications, notified, timeouts, stray, pauses, paused, .. } = other;
        for (sum, more) in [
            (&mut self.sent, sent),
            (&mut self.resent, resent),
            (&mut self.received, received),
            (&mut self.early, early),
            (&mut self.marked, marked),
            (&mut self.acks, acks),
            (&mut self.nacks, nacks),
            (&mut self.notifications, notifications),
            (&mut self.notified, notified),
            (&mut self.timeouts, timeouts),
            (&mut self.stray, stray),
            (&mut self.pauses, pauses),
        ] {
            *sum += more;
        }
        self.paused += paused;
    }
}

/// A host with an RDMA NIC.
#[derive(Debug)]
pub struct Rnic {
    config: RnicConfig,
    address: Ipv4Addr,
    source: PfcSource,
    now: Time,
    /// Messages that have not started, in order of start.
    messages: VecDeque<Message>,
    sending: BTreeMap<u32, Sending>,
    receiving: BTreeMap<u32, Receiving>,
    /// Frames to be sent before data: acknowledgements, NACKs, CNPs.
    answers: VecDeque<Vec<u8>>,
    /// Pairs that may send, in order of their turns; and pairs whose rate lets them send at a later time.
    ready: VecDeque<u32>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    completions: Vec<Completion>,
    counters: RnicCounters,
}

impl Rnic {
    /// Creates a host with this address that sends these messages.
    #[must_use]
    pub fn new(config: RnicConfig, address: Ipv4Addr, mut messages: Vec<Message>) -> Rnic {
        messages.sort_by_key(|message| (message.start, message.pair));
        let honoured = if config.pfc.is_some() { u8::MAX } else { 0 };
        let pfc = config.pfc.unwrap_or_default();
        Rnic {
            source: PfcSource::new(config.rate, Length::from_metres(0), &pfc, honoured).overhead(config.wire),
            config,
            address,
            now: Time::ORIGIN,
            messages: messages.into(),
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
            timers: BinaryHeap::new(),
            completions: Vec::new(),
            counters: RnicCounters::default(),
        }
    }

    /// Returns the completely acknowledged messages, in order of completion.
    #[must_use]
    pub fn completions(&self) -> &[Completion] {
        &self.completions
    }

    /// Returns the messages that are not completely acknowledged: those under way, then those that have not started.
    pub fn unfinished(&self) -> impl Iterator<Item = Left> + '_ {
        let under_way = self.sending.values();
        let under_way = under_way.map(|s| Left { message: s.message, acknowledged: s.acknowledged });
        under_way.chain(self.messages.iter().map(|message| Left { message: *message, acknowledged: 0 }))
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> RnicCounters {
        let stats = self.source.stats(self.now);
        let pauses = stats.iter().map(|p| p.pauses).sum();
        let paused = stats.iter().fold(Duration::ZERO, |sum, p| sum + p.paused);
        RnicCounters { pauses, paused, ..self.counters }
    }

    const fn is_paused(&self, class: TrafficClass) -> bool {
        self.source.paused() >> class.priority & 1 != 0
    }

    /// Starts messages, ends pauses, runs timeouts, and makes pairs ready whose time has come.
    fn wake(&mut self) {
        let now = self.now;
        self.source.advance(now);
        while let Some(message) = self.messages.front().copied().filter(|message| message.start <= now) {
            self.messages.pop_front();
            let mut sending = Sending::new(&self.config, self.address, message);
            sending.queued = true;
            self.ready.push_back(message.pair);
            self.sending.insert(message.pair, sending);
        }
        while let Some(&Reverse((_, pair))) = self.timers.peek().filter(|Reverse((due, _))| *due <= now) {
            self.timers.pop();
            let Some(sending) = self.sending.get_mut(&pair) else { continue };
            sending.armed = false;
            if sending.sender.timeout().is_some_and(|out| out <= now) {
                self.counters.timeouts += 1;
                sending.sender.advance(now);
                self.queue(pair);
            }
            self.arm(pair);
        }
        while let Some(&Reverse((_, pair))) = self.paced.peek().filter(|Reverse((due, _))| *due <= now) {
            self.paced.pop();
            self.ready.push_back(pair);
        }
    }

    /// Makes a pair ready, unless it is ready or paced.
    fn queue(&mut self, pair: u32) {
        if let Some(sending) = self.sending.get_mut(&pair)
            && !std::mem::replace(&mut sending.queued, true)
        {
            self.ready.push_back(pair);
        }
    }

    /// Starts the timer of a pair that waits for an acknowledgement, unless it runs.
    fn arm(&mut self, pair: u32) {
        if let Some(sending) = self.sending.get_mut(&pair)
            && let (false, Some(out)) = (sending.armed, sending.sender.timeout())
        {
            sending.armed = true;
            self.timers.push(Reverse((out, pair)));
        }
    }

    /// Sends the next frame; the line must be free.
    fn transmit(&mut self, send: &mut ToSwitch<'_>) {
        if !self.is_paused(self.config.control)
            && let Some(frame) = self.answers.pop_front()
        {
            let len = frame.len() as u32;
            return self.put(&frame, len, 0, send);
        }
        while !self.is_paused(self.config.data)
            && let Some(pair) = self.ready.pop_front()
        {
            if self.transmit_data(pair, send) {
                return;
            }
        }
    }

    /// Sends a pair's next packet, if there is one and the pair's rate still allows it. Returns true if a packet was
    /// sent.
    fn transmit_data(&mut self, pair: u32, send: &mut ToSwitch<'_>) -> bool {
        let now = self.now;
        let Some(sending) = self.sending.get_mut(&pair) else { return false };
        // The rate may have been cut since the pair became ready.
        let due = sending.due(now);
        if due > now && self.config.repaces {
            self.paced.push(Reverse((due, pair)));
            return false;
        }
        let Some((psn, again)) = sending.send(now) else {
            sending.queued = false;
            return false;
        };
        let (head, len) = sending.data.packet(psn);
        sending.sent(now, len, self.config.wire.wire_bytes(Bytes(len.into())));
        let due = sending.due(now);
        self.counters.sent += 1;
        self.counters.resent += u64::from(again);
        self.paced.push(Reverse((due, pair)));
        self.arm(pair);
        self.put(&head, len, u64::from(pair), send);
        true
    }

    fn put(&mut self, bytes: &[u8], orig_len: u32, tag: u64, send: &mut ToSwitch<'_>) {
        let first_bit = self.source.send(self.now, Bytes(orig_len.into())).first_bit;
        send(first_bit, HostFrame { bytes, orig_len, tag });
    }

    /// Handles a data packet; `back` is the address of answers.
    fn data(&mut self, at: Time, back: Address, psn: u32, marked: bool) {
        let config = &self.config;
        let pair = self.receiving.entry(back.pair).or_insert_with(|| Receiving {
            receiver: Receiver::new(config.recovery),
            notification: NotificationPoint::new(config.coalescing),
            back,
        });
        let expected = pair.receiver.expected();
        let psn = unwrap(expected, psn);
        let answer = pair.receiver.packet(at, psn);
        self.counters.received += 1;
        self.counters.early += u64::from(psn > expected);
        self.counters.marked += u64::from(marked);
        let missing = matches!(answer, Some(Answer::Nack { .. }));
        let congested = config.reaction.is_some() && (marked || missing && config.notify_missing);
        let separate = config.carrier == Carrier::Packet;
        let notify = congested && (separate || answer.is_some()) && pair.notification.marked(at);
        self.counters.notifications += u64::from(notify);
        if notify && separate {
            self.answers.push_back(pair.back.notification());
        }
        if let Some(answer) = answer {
            self.counters.acks += u64::from(!missing);
            self.counters.nacks += u64::from(missing);
            self.answers.push_back(pair.back.answer(answer, notify && !separate));
        }
    }

    /// Handles an acknowledgement of all packets before `expected`, or a NACK if `received` is a packet.
    fn answered(&mut self, at: Time, pair: u32, expected: u32, received: Option<u32>) {
        let Some(sending) = self.sending.get_mut(&pair) else {
            self.counters.stray += 1;
            return;
        };
        let expected = unwrap(sending.acknowledged, expected);
        sending.acknowledged = sending.acknowledged.max(expected);
        let answer = match received {
            None => Answer::Ack(expected),
            Some(received) => Answer::Nack { expected, received: unwrap(expected, received) },
        };
        sending.sender.answered(at, answer);
        if sending.sender.done() {
            let cuts = sending.reaction.as_ref().map_or(0, |r| r.state().cuts);
            self.completions.push(Completion { message: sending.message, end: at, cuts });
            self.sending.remove(&pair);
            return;
        }
        self.queue(pair);
        self.arm(pair);
    }

    /// Handles a notification of congestion.
    fn notified(&mut self, at: Time, pair: u32) {
        self.counters.notified += 1;
        if let Some(reaction) = self.sending.get_mut(&pair).and_then(|s| s.reaction.as_mut()) {
            reaction.notified(at);
        }
    }

    fn pause(&mut self, at: Time, times: PfcTimes) {
        if self.source.obeys() {
            self.source.heard(at, times);
        }
    }
}

impl Host for Rnic {
    fn receive(&mut self, at: Time, frame: HostFrame<'_>) {
        self.now = self.now.max(at);
        match read(self.address, frame.bytes) {
            Some(Arrived::Data { from, port, pair, psn, marked }) => {
                let dscp = self.config.control.dscp;
                let back = Address { from: self.address, to: from, port, pair, dscp, capable: false };
                self.data(at, back, psn, marked);
            }
            Some(Arrived::Answer { pair, expected, received, notifies }) => {
                self.answered(at, pair, expected, received);
                if notifies {
                    self.notified(at, pair);
                }
            }
            Some(Arrived::Notification { pair }) => self.notified(at, pair),
            Some(Arrived::Pause(times)) => self.pause(at, times),
            None => self.counters.stray += 1,
        }
    }

    fn next_time(&self) -> Option<Time> {
        let free = self.source.free_at();
        let answer = !self.answers.is_empty() && !self.is_paused(self.config.control);
        let data = !self.is_paused(self.config.data);
        let turn = answer || data && !self.ready.is_empty();
        let paced = self.paced.peek().filter(|_| data).map(|Reverse((due, _))| (*due).max(free));
        let times = [
            self.messages.front().map(|message| message.start),
            self.timers.peek().map(|Reverse((due, _))| *due),
            self.source.next_time(),
            turn.then_some(free),
            paced,
        ];
        times.into_iter().flatten().min().map(|time| time.max(self.now))
    }

    fn advance(&mut self, until: Time, send: &mut ToSwitch<'_>) {
        while let Some(next) = self.next_time().filter(|next| *next <= until) {
            self.now = next;
            self.wake();
            if self.source.free_at() <= next {
                self.transmit(send);
            }
        }
        self.now = self.now.max(until);
    }

    fn is_busy(&self) -> bool {
        !self.messages.is_empty() || !self.sending.is_empty() || !self.answers.is_empty()
    }
}

#[cfg(test)]
mod tests;
