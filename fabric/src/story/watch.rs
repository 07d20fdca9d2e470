//! Records the events of one flow at one switch.

use super::{Message, Narrator, RoceFlow};
use crate::network::{Entered, LinkDrop, LinkFrame, LinkId, Observer, SwitchId, Way};
use sluice_asic::units::Time;
use sluice_catalogue::story::QueueUse;
use sluice_ir::Program;
use sluice_switch::{FlowControlEvent, Left, Lost, QueueEvent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Most other flows to remember, for the error if the flow is not found.
const OTHERS: usize = 8;

/// Kind of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A packet arrived from its host.
    In,
    /// A packet was sent on a link: the time of its first bit at the far end, or the reason of its drop.
    Hop(LinkId, Way, Result<Time, LinkDrop>),
    /// A packet was sent to its host.
    Out,
    /// A packet enters a reorder queue.
    Waits(u8),
    /// A packet enters the queue of the recirculation port.
    Lap,
    /// A packet was dropped or consumed.
    Ends {
        /// Name of the reason.
        reason: String,
        /// The reason for readers.
        words: String,
        /// True if the program consumed the packet on purpose.
        absorbed: bool,
    },
}

/// An event of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time: Time,
    pub(super) tag: u64,
    /// The packet's message as it arrived or, for a hop, as it was sent.
    pub(super) message: Option<Message>,
    pub(super) what: What,
}

/// A flow-control word that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) time: Time,
    pub(super) port: u16,
    pub(super) qid: u8,
    pub(super) pauses: bool,
}

/// Observer of one switch that records the events of one flow.
#[derive(Clone, Debug)]
pub struct Watcher {
    flow: RoceFlow,
    pub(super) narrator: Arc<dyn Narrator>,
    /// The switch's program, for the names of drop reasons.
    program: Program,
    /// Messages of the flow's packets as they arrived, by tag.
    known: BTreeMap<u64, Message>,
    pub(super) events: Vec<Event>,
    pub(super) words: Vec<Word>,
    /// Queues that the flow waits in: port and queue.
    pub(super) waits_at: BTreeSet<(u16, u8)>,
    /// Other flows that entered from hosts.
    pub(super) others: BTreeSet<RoceFlow>,
}

impl Watcher {
    /// Returns a watcher of a switch that runs `program`. All watchers of a network have the same narrator.
    #[must_use]
    pub fn new(flow: RoceFlow, program: &Program, narrator: Arc<dyn Narrator>) -> Watcher {
        let (known, events, words) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (waits_at, others) = (BTreeSet::new(), BTreeSet::new());
        Watcher { flow, narrator, program: program.clone(), known, events, words, waits_at, others }
    }

    /// Returns the message in a frame, if the frame belongs to the flow.
    fn message(&self, head: &[u8], tail: &[u8]) -> Option<Message> {
        let reach = self.narrator.reach();
        let (of, message) = match head.len() < reach && !tail.is_empty() {
            true => {
                let bytes: Vec<u8> = head.iter().chain(tail).take(reach).copied().collect();
                self.narrator.read(&bytes)?
            }
            false => self.narrator.read(head)?,
        };
        (of == self.flow).then_some(message)
    }

    fn add(&mut self, time: Time, tag: u64, message: Option<Message>, what: What) {
        self.events.push(Event { time, tag, message, what });
    }
}

impl Observer for Watcher {
    fn entered(&mut self, _: SwitchId, frame: &Entered, bytes: &[u8]) {
        let outside = frame.link.is_none();
        let Some(message) = self.message(bytes, &[]) else {
            if outside && self.others.len() < OTHERS {
                self.others.extend(self.narrator.read(bytes).map(|(flow, _)| flow));
            }
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
            let words = lost.reason.words(&self.program);
            let what = What::Ends { reason, words, absorbed: lost.absorbed };
            self.add(lost.time, lost.tag, Some(message), what);
        }
    }

    fn enqueued(&mut self, _: SwitchId, event: &QueueEvent) {
        let Some(message) = self.known.get(&event.tag).copied() else { return };
        match self.narrator.queue_use(event.port, event.qid) {
            QueueUse::Transit => {}
            QueueUse::Recirculation => self.add(event.time, event.tag, Some(message), What::Lap),
            QueueUse::Reorder => {
                self.waits_at.insert((event.port, event.qid));
                self.add(event.time, event.tag, Some(message), What::Waits(event.qid));
            }
        }
    }

    fn flow_control(&mut self, _: SwitchId, event: &FlowControlEvent) {
        let &FlowControlEvent { port, qid, time, credit } = event;
        self.words.push(Word { time, port, qid, pauses: credit != 0 });
    }
}
