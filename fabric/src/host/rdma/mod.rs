//! RDMA as a transport of a host: RoCEv2 queue pairs that send messages at DCQCN rates and answer received packets (model:
//! conweave §4.3; buffer §4).
//!
//! Every message has a separate queue pair. Pairs that may send take turns packet by packet, and each keeps its rate by
//! the time between its packets. Acknowledgements and CNPs are control frames, so the NIC sends them before data.

pub(super) mod frames;
mod pair;

use super::counters::HostCounters;
use super::dcqcn::{Coalescing, NotificationPoint, ReactionPoint};
use super::message::{Completion, FlowState, Left, Message, MessageEvent};
use super::nic::{Outgoing, Port, Protocol};
use super::recovery::{Answer, Receiver, Recovery};
use crate::network::HostFrame;
use frames::{Address, Arrived, DataPacket, read, unwrap};
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
    /// Frames to be sent before data: acknowledgements, NACKs, CNPs.
    answers: VecDeque<Vec<u8>>,
    /// Pairs that may send, in order of their turns; and pairs whose rate lets them send at a later time.
    ready: VecDeque<u32>,
    paced: BinaryHeap<Reverse<(Time, u32)>>,
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    counters: HostCounters,
}

impl Rdma {
    /// Creates queue pairs of the host with this address, at a link of this rate.
    pub(super) fn new(config: RdmaConfig, rate: BitRate, address: Ipv4Addr) -> Rdma {
        Rdma {
            config,
            rate,
            address,
            sending: BTreeMap::new(),
            receiving: BTreeMap::new(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
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
        if due > now && self.config.repaces {
            self.paced.push(Reverse((due, pair)));
            return false;
        }
        let Some((psn, again)) = sending.send(now) else {
            sending.queued = false;
            return false;
        };
        let (head, len) = sending.data.packet(psn);
        sending.sent(now, len, out.port.line_bytes(len));
        let due = sending.due(now);
        self.counters.sent += 1;
        self.counters.resent += u64::from(again);
        self.paced.push(Reverse((due, pair)));
        self.arm(pair);
        out.put(&head, len, u64::from(pair));
        true
    }

    /// Handles a data packet; `back` is the address of answers, and `last` is true for the last packet of a message.
    fn data(&mut self, at: Time, back: Address, arrived: DataPacket, events: &mut Vec<MessageEvent>) {
        let DataPacket { psn, marked, last } = arrived;
        let config = &self.config;
        let pair = self.receiving.entry(back.pair).or_insert_with(|| Receiving {
            receiver: Receiver::new(config.recovery),
            notification: NotificationPoint::new(config.coalescing),
            back,
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
    fn answered(
        &mut self,
        at: Time,
        pair: u32,
        expected: u32,
        received: Option<u32>,
        events: &mut Vec<MessageEvent>,
    ) {
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
            let message = sending.message;
            events.push(MessageEvent::Completed(Completion { message, end: at, cuts }));
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
}

impl Protocol for Rdma {
    fn start(&mut self, _now: Time, message: Message) {
        let mut sending = Sending::new(&self.config, self.address, message);
        sending.queued = true;
        self.ready.push_back(message.pair);
        self.sending.insert(message.pair, sending);
    }

    fn receive(&mut self, at: Time, frame: HostFrame<'_>, events: &mut Vec<MessageEvent>) -> bool {
        match read(self.address, frame.bytes) {
            Some(Arrived::Data { from, port, pair, packet }) => {
                let dscp = self.config.control.dscp;
                let back = Address { from: self.address, to: from, port, pair, dscp, capable: false };
                self.data(at, back, packet, events);
            }
            Some(Arrived::Answer { pair, expected, received, notifies }) => {
                self.answered(at, pair, expected, received, events);
                if notifies {
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
        let answer = !self.answers.is_empty() && !port.is_paused(self.config.control.priority);
        let data = !port.is_paused(self.config.data.priority);
        if answer || data && !self.ready.is_empty() {
            return Some(free);
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
        if out.port.is_paused(self.config.control.priority) {
            return false;
        }
        let Some(frame) = self.answers.pop_front() else { return false };
        out.put(&frame, frame.len() as u32, 0);
        true
    }

    fn send_data(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        while !out.port.is_paused(self.config.data.priority)
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
        let state = sending.reaction.as_ref().map(ReactionPoint::state);
        Some(FlowState {
            rate: state.map_or(self.rate.as_bps(), |state| state.rate as u64),
            window: None,
            threshold: None,
            smoothed_rtt: None,
            alpha: None,
            in_flight: sending.sender.in_flight() * u64::from(self.config.mtu),
            rtt: None,
            notified: state.map_or(0, |state| state.notified),
        })
    }
}

#[cfg(test)]
mod tests;
