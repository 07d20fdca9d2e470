//! Spans of packets: passes, waits in queues, frames on lines, links and hosts, each with its begin and end, for viewers of
//! traces.
//!
//! A [`SpanRequest`] bounds the number of packets, so the memory does not grow with the length of a run. The events of one
//! switch come in an order that does not depend on threads, so two equal runs have equal spans.

mod chrome;
mod observer;
mod request;

pub use chrome::{Counter, HostProcess, MessageSpan, Process, TraceFacts, TraceRun, write_chrome_trace};
pub use observer::SpanObserver;
pub use request::SpanRequest;

use crate::network::{LinkFrame, LinkId, Way};
use sluice_asic::gress::Gress;
use sluice_asic::units::Cycles;
use sluice_place::Placement;
use sluice_switch::{Left, Lost, PassEvent, QueueEvent};
use std::collections::{BTreeMap, VecDeque};

/// A span, or an event at one time. Times are in ps since the first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    /// From the first bit in to the first bit out, or to the end inside.
    Packet { tag: u64, from: u64, to: u64, end: End },
    /// From the parser to the end of the deparser.
    Pass { tag: u64, pipe: u8, gress: Gress, times: PassTimes },
    /// From the entry of a queue to the departure, with cells of the queue before the first and after the second.
    Queue { tag: u64, port: u16, queue: u8, from: u64, to: u64, bytes: u64, cells: [u32; 2] },
    /// A frame on the wire of a port, from its first bit to the end of its FCS.
    Line { tag: u64, port: u16, from: u64, to: u64, bytes: u32 },
    /// A frame of a host, from its first bit at the switch.
    FromHost { tag: u64, port: u16, from: u64, bytes: u32 },
    /// The same frame as an event of the link that the port leads to.
    Link { tag: u64, link: LinkId, way: Way, from: u64, to: u64, arrival: Result<u64, &'static str> },
}

/// End of a packet at a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It was sent on a port.
    Sent(u16),
    /// It was dropped or absorbed for this reason.
    Inside { reason: String, absorbed: bool },
}

/// Times of a pass, in ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassTimes {
    /// The parser begins.
    pub(crate) parser: u64,
    /// The parser is done; the packet waits for a slot.
    pub(crate) parsed: u64,
    /// The packet enters the first stage.
    pub(crate) entered: u64,
    /// The packet leaves the last stage.
    pub(crate) stages: u64,
    /// The packet leaves the deparser.
    pub(crate) left: u64,
}

/// Entry of a packet into a queue: time in ps, cells before, bytes.
type Entry = (u64, u32, u64);

/// Spans of one switch, in the order of their ends.
#[derive(Clone, Debug)]
pub struct Spans {
    pub(crate) request: SpanRequest,
    pub(crate) list: Vec<Span>,
    /// Packets in queues, by packet, port and queue.
    waiting: BTreeMap<(u64, u16, u8), VecDeque<Entry>>,
}

impl Spans {
    /// Creates spans of the packets that `request` names.
    #[must_use]
    pub fn new(request: SpanRequest) -> Spans {
        Spans { request, list: Vec::new(), waiting: BTreeMap::new() }
    }

    /// Returns the number of packets that are still in a queue at the end of the run, and so have no span of it.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    fn add(&mut self, tag: u64, span: impl FnOnce() -> Span) {
        if self.request.takes(tag) {
            self.list.push(span());
        }
    }

    /// Records a packet that was sent on a port.
    pub fn sent(&mut self, p: &Left) {
        let (from, to, last) = (p.received.as_ps(), p.first_bit.as_ps(), p.last_bit.as_ps());
        let (tag, port) = (p.tag, p.egress_port);
        self.add(tag, || Span::Packet { tag, from, to, end: End::Sent(port) });
        self.add(tag, || Span::Line { tag, port, from: to, to: last, bytes: p.bytes });
    }

    /// Records a frame that a switch put on a link.
    pub fn on_link(&mut self, frame: &LinkFrame) {
        let LinkFrame { link, way, left, fate, .. } = frame;
        let (tag, from, to) = (left.tag, left.first_bit.as_ps(), left.last_bit.as_ps());
        let arrival = fate.map(|time| time.as_ps()).map_err(|drop| drop.name());
        self.add(tag, || Span::Link { tag, link: *link, way: *way, from, to, arrival });
    }

    /// Records a packet that was dropped or absorbed for this reason.
    pub fn lost(&mut self, p: &Lost, reason: &str) {
        let end = || End::Inside { reason: reason.to_owned(), absorbed: p.absorbed };
        let (from, to) = (p.received.as_ps(), p.time.as_ps());
        self.add(p.tag, || Span::Packet { tag: p.tag, from, to, end: end() });
    }

    /// Records a pass with the times of this placement.
    pub fn pass(&mut self, placement: &Placement, e: &PassEvent) {
        let at = |cycle: u64| placement.chip.mau.clock.time_of(Cycles(cycle)).as_ps();
        let (entered, parsed) = (e.cycle.get(), e.cycle.get().saturating_sub(e.waited.get()));
        let times = PassTimes {
            parser: at(parsed.saturating_sub(e.parser_cycles)),
            parsed: at(parsed),
            entered: at(entered),
            stages: at(entered + e.mau_cycles),
            left: at(entered + e.mau_cycles + e.deparser_cycles),
        };
        self.add(e.tag, || Span::Pass { tag: e.tag, pipe: e.pipe, gress: e.gress, times });
    }

    /// Records the entry of a packet into a queue.
    pub fn enqueued(&mut self, e: &QueueEvent) {
        if self.request.takes(e.tag) {
            let entry = (e.time.as_ps(), e.depth.get(), e.bytes.get());
            self.waiting.entry((e.tag, e.port, e.qid)).or_default().push_back(entry);
        }
    }

    /// Records the departure of a packet from a queue.
    pub fn dequeued(&mut self, e: &QueueEvent) {
        let key = (e.tag, e.port, e.qid);
        let Some(entries) = self.waiting.get_mut(&key) else { return };
        let entry = entries.pop_front();
        if entries.is_empty() {
            self.waiting.remove(&key);
        }
        let Some((from, before, bytes)) = entry else { return };
        let (tag, port, queue) = key;
        let cells = [before, e.depth.get()];
        self.list.push(Span::Queue { tag, port, queue, from, to: e.time.as_ps(), bytes, cells });
    }
}
