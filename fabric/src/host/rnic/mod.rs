//! A host with an RDMA NIC: RoCEv2 queue pairs that send messages at rates that notifications cut, and that answer what
//! they receive (model: conweave §4.3; buffer §4).
//!
//! Every message has a queue pair of its own. Pairs that may send take turns packet by packet; each keeps its rate by
//! the time from one packet to the next. What answers go before data; PFC frames stop the priorities that they name.

mod frames;
mod pair;

pub use pair::Completion;

use super::dcqcn::{Coalescing, NotificationPoint, ReactionPoint};
use super::recovery::{Answer, Receiver, Recovery};
use crate::network::{Host, HostFrame, ToSwitch};
use frames::{Address, Arrived, read, unwrap};
use pair::{Receiving, Sending};
use sluice_asic::tm::pfc::{PfcConfig, PfcTimes};
use sluice_asic::tm::source::PfcSource;
use sluice_asic::units::{BitRate, Bytes, Duration, Length, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::Ipv4Addr;

/// How packets of a kind are marked, and which pauses stop them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrafficClass {
    /// DSCP, 0 to 63.
    pub dscp: u8,
    /// PFC priority, 0 to 7.
    pub priority: u8,
}

/// A host's NIC.
#[derive(Clone, Debug)]
pub struct RnicConfig {
    /// Its line.
    pub rate: BitRate,
    /// Payload bytes of a full packet.
    pub mtu: u32,
    /// What a loss makes it do.
    pub recovery: Recovery,
    /// The rate of a queue pair that has just begun; none: always the line's, and packets are not ECN-capable.
    pub reaction: Option<ReactionPoint>,
    /// Which marked packets it answers with a notification.
    pub coalescing: Coalescing,
    /// Answers a request for a missing packet with a notification, too, as RNICs do (model: conweave §4.3).
    pub notify_missing: bool,
    /// Data.
    pub data: TrafficClass,
    /// Acknowledgements and notifications.
    pub control: TrafficClass,
    /// How it obeys PFC; none: it does not.
    pub pfc: Option<PfcConfig>,
}

/// Something to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// Number of its queue pair, 24 bits, like no other in the network.
    pub pair: u32,
    /// When it is ready to be sent.
    pub start: Time,
    /// The receiver.
    pub to: Ipv4Addr,
    /// UDP source port.
    pub port: u16,
    /// Bytes, 1 at least.
    pub bytes: u64,
}

/// What a host has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RnicCounters {
    /// Data packets sent.
    pub sent: u64,
    /// Of those, packets that had been sent before.
    pub resent: u64,
    /// Data packets that came.
    pub received: u64,
    /// Data packets that came before one with a lower number.
    pub early: u64,
    /// Data packets that came marked.
    pub marked: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Requests for missing packets sent.
    pub nacks: u64,
    /// Notifications sent, and those that came.
    pub notifications: u64,
    /// See `notifications`.
    pub notified: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Frames that came and are of no known kind, or for a pair that is no more.
    pub stray: u64,
    /// Pauses of priorities.
    pub pauses: u64,
    /// How long they lasted, added up.
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

/// An RDMA host.
#[derive(Debug)]
pub struct Rnic {
    config: RnicConfig,
    address: Ipv4Addr,
    source: PfcSource,
    now: Time,
    /// Messages that have not begun, first ones first.
    messages: VecDeque<Message>,
    sending: BTreeMap<u32, Sending>,
    receiving: BTreeMap<u32, Receiving>,
    /// Answers to be sent.
    answers: VecDeque<Vec<u8>>,
    /// Pairs that may send, in turn; and those whose pace lets them send later.
    ready: VecDeque<u32>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    completions: Vec<Completion>,
    counters: RnicCounters,
}

impl Rnic {
    /// A host with this address that will send these messages.
    #[must_use]
    pub fn new(config: RnicConfig, address: Ipv4Addr, mut messages: Vec<Message>) -> Rnic {
        messages.sort_by_key(|message| (message.start, message.pair));
        let honoured = if config.pfc.is_some() { u8::MAX } else { 0 };
        let pfc = config.pfc.unwrap_or_default();
        Rnic {
            source: PfcSource::new(config.rate, Length::from_metres(0), &pfc, honoured),
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

    /// Messages that are sent and acknowledged, in the order in which they were.
    #[must_use]
    pub fn completions(&self) -> &[Completion] {
        &self.completions
    }

    /// Messages that are not.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.messages.len() + self.sending.len()
    }

    /// What it has counted.
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

    /// Begins messages, ends pauses, runs timers, and lets pairs take their turn whose time has come.
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

    /// Gives a pair a turn, unless it has one.
    fn queue(&mut self, pair: u32) {
        if let Some(sending) = self.sending.get_mut(&pair)
            && !std::mem::replace(&mut sending.queued, true)
        {
            self.ready.push_back(pair);
        }
    }

    /// Has a timer run for a pair that waits for answers.
    fn arm(&mut self, pair: u32) {
        if let Some(sending) = self.sending.get_mut(&pair)
            && let (false, Some(out)) = (sending.armed, sending.sender.timeout())
        {
            sending.armed = true;
            self.timers.push(Reverse((out, pair)));
        }
    }

    /// Puts the next frame on the line, which is free.
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

    /// Sends a pair's next packet, if its rate still lets it and there is one.
    fn transmit_data(&mut self, pair: u32, send: &mut ToSwitch<'_>) -> bool {
        let now = self.now;
        let Some(sending) = self.sending.get_mut(&pair) else { return false };
        // Its rate may have been cut since its time was worked out.
        let due = sending.due(now);
        if due > now {
            self.paced.push(Reverse((due, pair)));
            return false;
        }
        let Some((psn, again)) = sending.send(now) else {
            sending.queued = false;
            return false;
        };
        let (head, len) = sending.data.packet(psn);
        sending.sent(now, len);
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

    /// A data packet came.
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
        if congested && pair.notification.marked(at) {
            self.counters.notifications += 1;
            self.answers.push_back(pair.back.notification());
        }
        if let Some(answer) = answer {
            self.counters.acks += u64::from(!missing);
            self.counters.nacks += u64::from(missing);
            self.answers.push_back(pair.back.answer(answer));
        }
    }

    /// An answer came, up to a packet and perhaps for a missing one.
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
            Some(Arrived::Ack { pair, expected }) => self.answered(at, pair, expected, None),
            Some(Arrived::Nack { pair, expected, received }) => {
                self.answered(at, pair, expected, Some(received));
            }
            Some(Arrived::Notification { pair }) => {
                self.counters.notified += 1;
                if let Some(reaction) = self.sending.get_mut(&pair).and_then(|s| s.reaction.as_mut()) {
                    reaction.notified(at);
                }
            }
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
        self.unfinished() > 0 || !self.answers.is_empty()
    }
}
