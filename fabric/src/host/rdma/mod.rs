//! RDMA as a transport of a host: RoCEv2 queue pairs that send messages under congestion control and answer received
//! packets (model: conweave §4.3; buffer §4; int §1.12).
//!
//! Every message has a separate queue pair. Pairs that may send take turns packet by packet, and each keeps its rate by
//! the time between its packets. Acknowledgements and CNPs are control frames, so the NIC sends them before data.

mod answers;
pub(super) mod arrived;
pub(super) mod frames;
mod pair;
mod timing;

use super::congestion::{Acknowledgement, CongestionConfig, WindowConfig};
use super::counters::HostCounters;
use super::dcqcn::{Coalescing, NotificationPoint, NotificationScope};
use super::hpcc::Records;
use super::message::{Completion, FlowState, Left, Message, MessageEvent};
use super::nic::{Outgoing, Port, Protocol};
use super::recovery::{Answer, Receiver, Recovery};
use super::tag::FrameTag;
use crate::network::HostFrame;
use answers::{AnswerBytes, Answers};
use arrived::{AnswerPacket, Arrived, DataPacket, read, unwrap};
use frames::Address;
use pair::{Receiving, Sending};
use sluice_asic::units::{BitRate, Time};
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

/// Settings of a host's queue pairs.
#[derive(Clone, Debug)]
pub struct RdmaConfig {
    /// Payload bytes of a full packet.
    pub mtu: u32,
    /// Loss recovery.
    pub recovery: Recovery,
    /// Congestion control of every queue pair.
    pub congestion: CongestionConfig,
    /// Window in addition to the rate; HPCC has its own.
    pub window: Option<WindowConfig>,
    /// Packets that are sent at once and paced together, at least 1: 1 paces every packet.
    pub burst: u32,
    /// True if a rate cut delays the packet that waits for its time; false if its time stays, and only packets after it
    /// have the new rate, as in the simulators of HPCC and ConWeave.
    pub repaces: bool,
    /// True if pairs send in one queue, in which a pair whose rate does not let it send yet holds up those behind it: the
    /// fault of firmware through which all flows of a NIC had the slowest flow's rate (model: buffer §4.5).
    pub head_of_line: bool,
    /// Marked packets that the NIC answers with a CNP.
    pub coalescing: Coalescing,
    /// Queue pairs that `coalescing` counts together.
    pub scope: NotificationScope,
    /// Form of the notifications.
    pub carrier: Carrier,
    /// True if a CNP is sent with a NACK too, as RNICs do (model: conweave §4.3).
    pub notify_missing: bool,
    /// Traffic class of data.
    pub data: TrafficClass,
    /// Traffic class of acknowledgements and NACKs.
    pub control: TrafficClass,
    /// Traffic class of CNPs.
    pub cnp: TrafficClass,
}

/// A frame to be sent before data, the message that it answers, and its PFC priority.
#[derive(Debug)]
struct AnswerFrame {
    pair: u32,
    bytes: AnswerBytes,
    priority: u8,
}

/// Queue pairs of a host.
#[derive(Debug)]
pub(super) struct Rdma {
    config: RdmaConfig,
    /// Rate of the link, the rate of pairs without congestion control.
    rate: BitRate,
    address: Ipv4Addr,
    sending: BTreeMap<u32, Sending>,
    receiving: BTreeMap<u32, Receiving>,
    /// Notification point of the NIC, if `scope` is the NIC.
    notification: NotificationPoint,
    /// Frames to be sent before data: acknowledgements, NACKs, CNPs.
    answers: VecDeque<AnswerFrame>,
    /// Pairs that may send, in order of their turns; and pairs whose rate lets them send at a later time.
    ready: VecDeque<u32>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    /// With `head_of_line`: time before which the first pair of `ready` may not send, as far as it is known.
    head_due: Time,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    counters: HostCounters,
}

impl Rdma {
    /// Creates queue pairs of the host with this address, at a link of this rate.
    pub(super) fn new(config: RdmaConfig, rate: BitRate, address: Ipv4Addr) -> Rdma {
        Rdma {
            notification: NotificationPoint::new(config.coalescing),
            config,
            rate,
            address,
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
            head_due: Time::ORIGIN,
            timers: BinaryHeap::new(),
            counters: HostCounters::default(),
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

    /// Sends a pair's next packet, if there is one and the pair's rate still allows it. Returns true if a packet was
    /// sent.
    fn send_packet(&mut self, pair: u32, out: &mut Outgoing<'_, '_>) -> bool {
        let now = out.now;
        let Some(sending) = self.sending.get_mut(&pair) else { return false };
        // The rate may have been cut since the pair became ready.
        let due = sending.due(now);
        if due > now && self.config.head_of_line {
            self.ready.push_front(pair);
            self.head_due = due;
            return false;
        }
        if due > now && self.config.repaces {
            self.paced.push(Reverse((due, pair)));
            return false;
        }
        let Some((psn, again)) = sending.send(now, self.config.mtu) else {
            sending.queued = false;
            return false;
        };
        let len = sending.data.len(psn);
        if sending.sent(now, len, out.port.line_bytes(len), self.config.burst) {
            self.ready.push_front(pair);
        } else if self.config.head_of_line {
            self.ready.push_back(pair);
        } else {
            self.paced.push(Reverse((sending.due(now), pair)));
        }
        self.counters.sent += 1;
        self.counters.resent += u64::from(again);
        out.put(sending.data.head(psn), len, FrameTag::data(pair));
        self.arm(pair);
        true
    }

    /// Handles a data packet; `back` is the address of answers, which copy `records`.
    fn data(
        &mut self,
        at: Time,
        back: Address,
        arrived: DataPacket,
        records: &[u8],
        events: &mut Vec<MessageEvent>,
    ) {
        let DataPacket { psn, marked, last } = arrived;
        let config = &self.config;
        let pair = self.receiving.entry(back.pair).or_insert_with(|| Receiving {
            receiver: Receiver::new(config.recovery),
            notification: NotificationPoint::new(config.coalescing),
            answers: Answers::new(back),
            packets: None,
            complete: false,
        });
        let expected = pair.receiver.expected();
        let psn = unwrap(expected, psn);
        let answer = pair.receiver.packet(at, psn);
        if pair.completes(psn, last) {
            events.push(MessageEvent::Received { pair: back.pair, at });
        }
        self.counters.received += 1;
        self.counters.early += u64::from(psn > expected);
        self.counters.marked += u64::from(marked);
        let missing = matches!(answer, Some(Answer::Nack { .. }));
        let congested = config.congestion.reads_marks() && (marked || missing && config.notify_missing);
        let separate = config.carrier == Carrier::Packet;
        let point = match config.scope {
            NotificationScope::Pair => &mut pair.notification,
            NotificationScope::Nic => &mut self.notification,
        };
        let notify = congested && (separate || answer.is_some()) && point.marked(at);
        self.counters.notifications += u64::from(notify);
        if notify && separate {
            let TrafficClass { dscp, priority } = config.cnp;
            let bytes = pair.answers.notification(dscp);
            self.answers.push_back(AnswerFrame { pair: back.pair, bytes, priority });
        }
        if let Some(answer) = answer {
            self.counters.acks += u64::from(!missing);
            self.counters.nacks += u64::from(missing);
            let bytes = pair.answers.answer(answer, notify && !separate, records);
            self.answers.push_back(AnswerFrame { pair: back.pair, bytes, priority: config.control.priority });
        }
    }

    /// Handles an acknowledgement or a NACK, with the records that the answered packet collected.
    fn answered(
        &mut self,
        at: Time,
        pair: u32,
        packet: AnswerPacket,
        records: &[u8],
        events: &mut Vec<MessageEvent>,
    ) {
        let Some(sending) = self.sending.get_mut(&pair) else {
            self.counters.stray += 1;
            return;
        };
        // The first pair may be the one that ends, or whose rate changes.
        self.head_due = Time::ORIGIN;
        let expected = unwrap(sending.acknowledged, packet.expected);
        let new = expected.saturating_sub(sending.acknowledged);
        sending.acknowledged = sending.acknowledged.max(expected);
        let answer = match (packet.missing, self.config.recovery) {
            (true, _) => Answer::Nack { expected, received: unwrap(expected, packet.msn) },
            (false, Recovery::AnyOrder { .. }) => {
                Answer::Placed { expected, count: unwrap(expected, packet.msn) }
            }
            (false, _) => Answer::Ack(expected),
        };
        sending.sender.answered(at, answer);
        if sending.sender.done() {
            let cuts = sending.congestion.cuts();
            let message = sending.message;
            events.push(MessageEvent::Completed(Completion { message, end: at, cuts }));
            self.sending.remove(&pair);
            return;
        }
        let telemetry = self.config.congestion.telemetry();
        let records = telemetry.and_then(|format| Records::read(format, records));
        let recorded = records.is_some_and(|records| !records.hops().is_empty());
        self.counters.unrecorded += u64::from(telemetry.is_some() && !recorded);
        let ack = Acknowledgement {
            now: at,
            acknowledged: expected,
            next: sending.sender.next(),
            bytes: new * u64::from(self.config.mtu),
            marked: packet.notifies,
            rtt: sending.timing.acknowledged(at, expected),
            records: records.as_ref(),
        };
        sending.congestion.acknowledged(&ack);
        self.queue(pair);
        self.arm(pair);
    }

    /// Handles a notification of congestion.
    fn notified(&mut self, at: Time, pair: u32) {
        self.counters.notified += 1;
        if let Some(sending) = self.sending.get_mut(&pair) {
            sending.congestion.notified(at);
        }
    }
}

impl Protocol for Rdma {
    fn start(&mut self, _now: Time, message: Message) {
        let mut sending = Sending::new(&self.config, self.rate, self.address, message);
        sending.queued = true;
        self.ready.push_back(message.pair);
        self.sending.insert(message.pair, sending);
    }

    fn receive(&mut self, at: Time, frame: HostFrame<'_>, events: &mut Vec<MessageEvent>) -> bool {
        let telemetry = self.config.congestion.telemetry();
        match read(self.address, frame.bytes, telemetry) {
            Some(Arrived::Data { from, port, pair, packet, records }) => {
                let (dscp, telemetry) = (self.config.control.dscp, telemetry.copied());
                let back =
                    Address { from: self.address, to: from, port, pair, dscp, capable: false, telemetry };
                self.data(at, back, packet, records, events);
            }
            Some(Arrived::Answer { pair, answer, records }) => {
                self.answered(at, pair, answer, records, events);
                if answer.notifies {
                    self.notified(at, pair);
                }
            }
            Some(Arrived::Notification { pair }) => self.notified(at, pair),
            None => return false,
        }
        true
    }

    fn next_timer(&self) -> Option<Time> {
        self.timers.peek().map(|Reverse((due, _))| *due)
    }

    fn next_frame(&self, port: &Port) -> Option<Time> {
        let free = port.free_at();
        let answer = self.answers.front().is_some_and(|answer| !port.is_paused(answer.priority));
        let data = !port.is_paused(self.config.data.priority);
        if answer {
            return Some(free);
        }
        if data && !self.ready.is_empty() {
            return Some(free.max(self.head_due));
        }
        self.paced.peek().filter(|_| data).map(|Reverse((due, _))| (*due).max(free))
    }

    fn advance(&mut self, now: Time) {
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

    fn send_control(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        let paused = |answer: &AnswerFrame| out.port.is_paused(answer.priority);
        if self.answers.front().is_none_or(paused) {
            return false;
        }
        let Some(answer) = self.answers.pop_front() else { return false };
        out.put(&answer.bytes, answer.bytes.len() as u32, FrameTag::answer(answer.pair));
        true
    }

    fn send_data(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        while !out.port.is_paused(self.config.data.priority)
            && self.head_due <= out.now
            && let Some(pair) = self.ready.pop_front()
        {
            if self.send_packet(pair, out) {
                return true;
            }
        }
        false
    }

    fn is_busy(&self) -> bool {
        !self.sending.is_empty() || !self.answers.is_empty()
    }

    fn unfinished(&self, into: &mut Vec<Left>) {
        let under_way = self.sending.values();
        into.extend(under_way.map(|s| Left { message: s.message, acknowledged: s.acknowledged }));
    }

    fn counters(&self) -> HostCounters {
        self.counters
    }

    fn flow(&self, pair: u32) -> Option<FlowState> {
        let sending = self.sending.get(&pair)?;
        let congestion = &sending.congestion;
        Some(FlowState {
            rate: congestion.rate().as_bps(),
            window: congestion.window(),
            threshold: None,
            smoothed_rtt: None,
            alpha: None,
            in_flight: sending.sender.in_flight() * u64::from(self.config.mtu),
            rtt: sending.timing.last(),
            notified: congestion.notified_times(),
        })
    }
}

#[cfg(test)]
mod tests;
