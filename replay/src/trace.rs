//! Traces: the interpreter's steps of each pass, with cycles, and the queues between passes.
//!
//! A [`StepTracer`] collects the steps of one pass inside the executor. When the switch reports the pass, the steps
//! become a piece of the trace. Pieces have times, so that traces of several switches can be joined. With a [`TraceFilter`],
//! [`select`] keeps the pieces of the packets for which the filter's condition holds, at all switches.

mod condition;
mod filter;

pub use condition::FilterError;
pub use filter::{TraceFilter, filter_names};

use crate::comment::packet;
use filter::Facts;
use sluice_asic::units::Time;
use sluice_exec::reference::{Event, TextTracer, Tracer};
use sluice_fabric::network::LinkDrop;
use sluice_ir::Program;
use sluice_switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Collects the steps of the pass that an executor runs. Clones share the steps.
#[derive(Clone, Default)]
pub struct StepTracer(Arc<Mutex<Steps>>);

/// Steps of a pass, as text and as far as a filter asks for them.
#[derive(Default)]
struct Steps {
    text: TextTracer,
    filter: Option<FilterAt>,
    facts: Facts,
}

/// A filter, and the number of the switch.
#[derive(Clone)]
struct FilterAt {
    filter: Arc<TraceFilter>,
    switch: usize,
}

impl Tracer for StepTracer {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        let mut steps = self.lock();
        let Steps { text, filter, facts } = &mut *steps;
        text.event(program, event);
        if let Some(FilterAt { filter, switch }) = filter {
            filter.step(*switch, program, event, facts);
        }
    }
}

impl StepTracer {
    fn lock(&self) -> MutexGuard<'_, Steps> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the steps since the last call.
    fn take(&self) -> (String, Facts) {
        let mut steps = self.lock();
        (std::mem::take(&mut steps.text.text), std::mem::take(&mut steps.facts))
    }
}

/// The trace of one switch.
#[derive(Default)]
pub struct Trace {
    steps: StepTracer,
    text: String,
    pieces: Vec<Piece>,
    /// Counter that numbers the pieces over all switches, in a network in functional mode.
    numbers: Option<Arc<AtomicU64>>,
    filter: Option<FilterAt>,
    /// Facts of each packet, for the filter.
    facts: BTreeMap<u64, Facts>,
    matched: Option<Matched>,
}

/// A piece of a trace.
#[derive(Clone, Copy)]
struct Piece {
    time: Time,
    number: u64,
    /// Place in the text at which it begins.
    start: usize,
    /// The packet; `None`: it is about no packet.
    tag: Option<u64>,
}

/// Packets that a filter selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matched {
    /// Packets for which the condition holds.
    pub packets: usize,
    /// Packets in the whole trace.
    pub of: usize,
}

/// Keeps in the traces of a run's switches the packets for which the filter's condition holds at one of them. Traces without a
/// filter stay as they are.
pub(crate) fn select(traces: &mut [&mut Trace]) {
    if traces.iter().all(|trace| trace.filter.is_none()) {
        return;
    }
    let all: BTreeSet<u64> = traces.iter().flat_map(|trace| trace.facts.keys().copied()).collect();
    let kept: BTreeSet<u64> = traces.iter().flat_map(|trace| trace.matching()).collect();
    let matched = Matched { packets: kept.len(), of: all.len() };
    for trace in traces {
        trace.keep(&kept);
        trace.matched = Some(matched);
    }
}

/// Joins the traces of a network's switches in order of time; each piece starts with the name of its switch. In
/// functional mode, pieces are in the order of their numbers.
pub(crate) fn joined(traces: &[(&str, &Trace)]) -> String {
    let mut pieces: Vec<((Time, u64, usize), &str, &str)> = Vec::new();
    for (switch, (name, trace)) in traces.iter().enumerate() {
        pieces.extend(
            trace.numbered_pieces().map(|(time, number, text)| ((time, number, switch), *name, text)),
        );
    }
    // The sort is stable: pieces of one switch at one time keep their order.
    pieces.sort_by_key(|(key, ..)| *key);
    let mut out = String::new();
    for (_, name, text) in pieces {
        // Writing into a String cannot fail.
        let _ = write!(out, "{name}: {text}");
    }
    out
}

impl Trace {
    /// Returns the whole text: a piece for each event, in the order in which the switch reported them.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the pieces with their times, in the order in which the switch reported them. A piece has one line or more.
    pub fn pieces(&self) -> impl Iterator<Item = (Time, &str)> {
        self.numbered_pieces().map(|(time, _, text)| (time, text))
    }

    fn numbered_pieces(&self) -> impl Iterator<Item = (Time, u64, &str)> {
        let ends = self.pieces.iter().skip(1).map(|piece| piece.start).chain([self.text.len()]);
        self.pieces.iter().zip(ends).map(|(piece, end)| {
            (piece.time, piece.number, self.text.get(piece.start..end).unwrap_or_default())
        })
    }

    /// Returns the number of packets that the filter selected; `None` without a filter.
    #[must_use]
    pub fn matched(&self) -> Option<Matched> {
        self.matched
    }

    /// Returns the trace that notes what a filter asks for; `switch` is the number of its switch.
    pub(crate) fn filtered(mut self, filter: Option<&Arc<TraceFilter>>, switch: usize) -> Trace {
        self.filter = filter.map(|filter| FilterAt { filter: Arc::clone(filter), switch });
        self.steps.lock().filter.clone_from(&self.filter);
        self
    }

    /// Returns the packets for which the condition holds at this switch.
    fn matching(&self) -> impl Iterator<Item = u64> {
        let holds = |(tag, facts): (&u64, &Facts)| {
            let at = self.filter.as_ref()?;
            at.filter.holds(at.switch, *tag, facts).then_some(*tag)
        };
        self.facts.iter().filter_map(holds)
    }

    /// Keeps the pieces of these packets.
    fn keep(&mut self, packets: &BTreeSet<u64>) {
        let (mut text, mut pieces) = (String::new(), Vec::new());
        for (piece, (.., words)) in self.pieces.iter().zip(self.numbered_pieces()) {
            if piece.tag.is_some_and(|tag| packets.contains(&tag)) {
                pieces.push(Piece { start: text.len(), ..*piece });
                text.push_str(words);
            }
        }
        (self.text, self.pieces) = (text, pieces);
        self.facts.clear();
    }

    /// Notes facts of a packet, if a filter asks for them.
    fn note(&mut self, tag: u64, of: impl FnOnce(&TraceFilter, &mut Facts)) {
        if let Some(at) = &self.filter {
            of(&at.filter, self.facts.entry(tag).or_default());
        }
    }

    /// Returns the tracer for the switch's executor.
    pub(crate) fn tracer(&self) -> StepTracer {
        self.steps.clone()
    }

    /// Numbers the pieces with a counter that all switches share.
    pub(crate) fn numbered(self, numbers: Arc<AtomicU64>) -> Trace {
        Trace { numbers: Some(numbers), ..self }
    }

    /// Starts a piece.
    fn piece(&mut self, time: Time, tag: Option<u64>) {
        let number = self.numbers.as_ref().map_or(0, |n| n.fetch_add(1, Ordering::Relaxed));
        self.pieces.push(Piece { time, number, start: self.text.len(), tag });
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// Adds a pass, whose steps are in the tracer.
    pub(crate) fn pass(&mut self, e: &PassEvent) {
        let (steps, facts) = self.steps.take();
        self.note(e.tag, |_, known| known.add(facts));
        self.piece(e.entered, Some(e.tag));
        self.line(format_args!(
            "packet {}: {} of pipe {} entered at {} (cycle {}, waited {})",
            packet(e.tag),
            e.gress,
            e.pipe,
            e.entered.since_origin(),
            e.cycle.get(),
            e.waited.get()
        ));
        for step in steps.lines() {
            self.line(format_args!("  {step}"));
        }
        self.line(format_args!(
            "  cycles: parser {}, stages {}, deparser {}; left at {}",
            e.parser_cycles,
            e.mau_cycles,
            e.deparser_cycles,
            e.left.since_origin()
        ));
    }

    /// Adds an update of the ghost thread, whose steps are in the tracer.
    pub(crate) fn ghost(&mut self, e: &GhostEvent) {
        let (steps, _) = self.steps.take();
        let (at, cycle) = (e.entered.since_origin(), e.cycle.get());
        self.piece(e.entered, None);
        self.line(format_args!("ghost update of pipe {} entered at {at} (cycle {cycle})", e.pipe));
        for step in steps.lines() {
            self.line(format_args!("  {step}"));
        }
    }

    pub(crate) fn queue(&mut self, what: &str, depth: &str, e: &QueueEvent) {
        self.piece(e.time, Some(e.tag));
        self.line(format_args!(
            "packet {}: {what} at {}, port dev {} queue {}, {depth} {}",
            packet(e.tag),
            e.time.since_origin(),
            e.port,
            e.qid,
            e.depth
        ));
    }

    pub(crate) fn idle(&mut self, table: &str, e: &IdleEntry) {
        self.piece(e.time, None);
        self.line(format_args!("table {table}: entry {} idle at {}", e.entry, e.time.since_origin()));
    }

    pub(crate) fn sent(&mut self, p: &Left) {
        self.note(p.tag, |_, facts| facts.sent(p.egress_port));
        self.piece(p.first_bit, Some(p.tag));
        self.line(format_args!(
            "packet {}: sent by port dev {} from {} to {}, {} bytes, {} after it came in",
            packet(p.tag),
            p.egress_port,
            p.first_bit.since_origin(),
            p.last_bit.since_origin(),
            p.bytes,
            p.first_bit.saturating_since(p.received)
        ));
    }

    /// Adds the loss of a frame on a link.
    pub(crate) fn lost_on_link(&mut self, p: &Left, drop: LinkDrop) {
        self.note(p.tag, |filter, facts| filter.lost(false, drop.name(), facts));
        self.piece(p.first_bit, Some(p.tag));
        self.line(format_args!("packet {}: dropped on its link: {}", packet(p.tag), drop.name()));
    }

    pub(crate) fn lost(&mut self, p: &Lost, reason: &str) {
        self.note(p.tag, |filter, facts| filter.lost(p.absorbed, reason, facts));
        self.piece(p.time, Some(p.tag));
        let word = if p.absorbed { "absorbed" } else { "dropped" };
        self.line(format_args!("packet {}: {word} at {}: {reason}", packet(p.tag), p.time.since_origin()));
    }
}
