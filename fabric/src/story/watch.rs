//! What one switch does with one flow.

use super::Flow;
use crate::network::{Entered, LinkDrop, LinkFrame, LinkId, Observer, SwitchId, Way};
use sluice_asic::units::Time;
use sluice_ir::Program;
use sluice_pcaps::conweave::{Frame, REACH, opcode, read};
use sluice_switch::{FlowControlEvent, Left, Lost, QueueEvent};
use std::collections::{BTreeMap, BTreeSet};

/// Number within its pipe of the port that control packets and timers go round by.
const RECIRCULATION: u16 = 6;
/// Bits of a dev_port that count within the pipe.
const LOCAL: u16 = 0x7f;
/// First queue that packets may wait in to be put in order.
const FIRST_REORDER_QUEUE: u8 = 2;
/// Other flows that are remembered, to be named when the flow is not there.
const OTHERS: usize = 8;

/// What a packet is for ConWeave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// DATA as its host sends and gets it.
    Host,
    /// DATA that asks for an RTT_REPLY.
    Request,
    /// DATA.
    Data,
    /// The last packet on the old path.
    Tail,
    /// DATA behind TAIL on another path.
    Rerouted,
    /// Answer to an RTT_REQUEST.
    Reply,
    /// All packets are in order again.
    Clear,
    /// A path is congested.
    Notify,
}

impl Kind {
    /// The paper's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Host | Kind::Data => "DATA",
            Kind::Request => "RTT_REQUEST",
            Kind::Tail => "TAIL",
            Kind::Rerouted => "REROUTED",
            Kind::Reply => "RTT_REPLY",
            Kind::Clear => "CLEAR",
            Kind::Notify => "NOTIFY",
        }
    }

    /// Whether it goes back to the sender's ToR.
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Kind::Reply | Kind::Clear | Kind::Notify)
    }

    /// Whether one is like the other.
    pub(super) const fn is_plain(self) -> bool {
        matches!(self, Kind::Host | Kind::Data | Kind::Rerouted)
    }
}

/// A packet of the flow, or about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Packet sequence number; of an answer that of the packet answered.
    pub psn: u32,
    /// Epoch modulo 4.
    pub epoch: u8,
    /// PathID.
    pub path: u8,
}

impl Message {
    fn of(frame: &Frame) -> Message {
        let h = frame.header;
        let kind = match (h.opcode, h.phase, h.ask_reply, h.tail) {
            (opcode::DATA, _, _, true) => Kind::Tail,
            (opcode::DATA, _, true, _) => Kind::Request,
            (opcode::DATA, 1, ..) => Kind::Rerouted,
            (opcode::DATA, ..) => Kind::Data,
            (opcode::REPLY, 1, ..) => Kind::Clear,
            (opcode::REPLY, ..) => Kind::Reply,
            (opcode::NOTIFY, ..) => Kind::Notify,
            _ => Kind::Host,
        };
        Message { kind, psn: frame.psn, epoch: h.epoch, path: h.path }
    }
}

/// Something that a switch did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A packet came from its host.
    In,
    /// A packet went on a link; when its first bit is at the far end, or how it ends on the way.
    Hop(LinkId, Way, Result<Time, LinkDrop>),
    /// A packet went to its host.
    Out,
    /// A packet waits in a reorder queue.
    Waits(u8),
    /// A copy goes round by the recirculation port.
    Lap,
    /// A packet ended here.
    Ends {
        /// Why.
        reason: String,
        /// On purpose.
        absorbed: bool,
    },
}

/// What happened to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time: Time,
    pub(super) tag: u64,
    /// What it was when it came, or, on a link, when it left.
    pub(super) message: Option<Message>,
    pub(super) what: What,
}

/// A flow-control word that acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) time: Time,
    pub(super) port: u16,
    pub(super) qid: u8,
    pub(super) pauses: bool,
}

/// Watches one switch.
#[derive(Clone, Debug)]
pub struct Watcher {
    flow: Flow,
    /// For the names of labels.
    program: Program,
    /// Packets of the flow by their names, as they came.
    known: BTreeMap<u64, Message>,
    pub(super) events: Vec<Event>,
    pub(super) words: Vec<Word>,
    /// Ports that the flow waits at.
    pub(super) waits_at: BTreeSet<(u16, u8)>,
    /// Other flows that came from hosts.
    pub(super) others: BTreeSet<Flow>,
}

impl Watcher {
    /// A watcher of a switch that runs `program`.
    #[must_use]
    pub fn new(flow: Flow, program: &Program) -> Watcher {
        let (known, events, words) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (waits_at, others) = (BTreeSet::new(), BTreeSet::new());
        Watcher { flow, program: program.clone(), known, events, words, waits_at, others }
    }

    /// The flow's message in a frame.
    fn message(&self, head: &[u8], tail: &[u8]) -> Option<Message> {
        let mut bytes = [0; REACH];
        let there = head.iter().chain(tail).take(REACH);
        let length = bytes.iter_mut().zip(there).map(|(to, from)| *to = *from).count();
        let frame = read(bytes.get(..length)?)?;
        (Flow::of(&frame) == self.flow).then(|| Message::of(&frame))
    }

    fn add(&mut self, time: Time, tag: u64, message: Option<Message>, what: What) {
        self.events.push(Event { time, tag, message, what });
    }
}

impl Observer for Watcher {
    fn entered(&mut self, _: SwitchId, frame: &Entered, bytes: &[u8]) {
        let outside = frame.link.is_none();
        let Some(message) = self.message(bytes, &[]) else {
            let other = if outside && self.others.len() < OTHERS { read(bytes) } else { None };
            self.others.extend(other.map(|frame| Flow::of(&frame)));
            return;
        };
        self.known.insert(frame.tag, message);
        if outside {
            self.add(frame.time, frame.tag, Some(message), What::In);
        }
    }

    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        let left = &frame.left;
        if let Some(message) = self.message(head, tail).filter(|_| !frame.mac) {
            self.add(left.first_bit, left.tag, Some(message), What::Hop(frame.link, frame.way, frame.fate));
        }
    }

    fn delivered(&mut self, _: SwitchId, left: &Left, head: &[u8], tail: &[u8]) {
        if self.message(head, tail).is_some() {
            self.add(left.first_bit, left.tag, self.known.get(&left.tag).copied(), What::Out);
        }
    }

    fn lost(&mut self, _: SwitchId, lost: &Lost, _: &[u8], _: &[u8]) {
        if let Some(message) = self.known.get(&lost.tag).copied() {
            let reason = lost.reason.name(&self.program).to_owned();
            self.add(lost.time, lost.tag, Some(message), What::Ends { reason, absorbed: lost.absorbed });
        }
    }

    fn enqueued(&mut self, _: SwitchId, event: &QueueEvent) {
        let Some(message) = self.known.get(&event.tag).copied() else { return };
        if event.port & LOCAL == RECIRCULATION {
            self.add(event.time, event.tag, Some(message), What::Lap);
        } else if event.qid >= FIRST_REORDER_QUEUE {
            self.waits_at.insert((event.port, event.qid));
            self.add(event.time, event.tag, Some(message), What::Waits(event.qid));
        }
    }

    fn flow_control(&mut self, _: SwitchId, event: &FlowControlEvent) {
        let &FlowControlEvent { port, qid, time, credit } = event;
        self.words.push(Word { time, port, qid, pauses: credit != 0 });
    }
}
