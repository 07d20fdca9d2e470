//! Traces: the interpreter's steps of each pass, with cycles, and the queues between passes.
//!
//! A [`StepTracer`] collects the steps of one pass inside the executor. When the switch reports the pass, the steps
//! become a piece of the trace. Pieces have times, so that traces of several switches can be joined.

use crate::comment::packet;
use sluice_asic::units::Time;
use sluice_exec::reference::{Event, TextTracer, Tracer};
use sluice_fabric::network::LinkDrop;
use sluice_ir::Program;
use sluice_switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Collects the steps of the pass that an executor runs. Clones share the steps.
#[derive(Clone, Default)]
pub struct StepTracer(Arc<Mutex<TextTracer>>);

impl Tracer for StepTracer {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        self.lock().event(program, event);
    }
}

impl StepTracer {
    fn lock(&self) -> MutexGuard<'_, TextTracer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the steps since the last call.
    fn take(&self) -> String {
        std::mem::take(&mut self.lock().text)
    }
}

/// The trace of one switch.
#[derive(Default)]
pub struct Trace {
    steps: StepTracer,
    text: String,
    /// For each piece: its time, its number, and where it begins in the text.
    pieces: Vec<(Time, u64, usize)>,
    /// Counter that numbers the pieces over all switches, in a network in functional mode.
    numbers: Option<Arc<AtomicU64>>,
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
        let ends = self.pieces.iter().skip(1).map(|(.., at)| *at).chain([self.text.len()]);
        self.pieces.iter().zip(ends).map(|(&(time, number, start), end)| {
            (time, number, self.text.get(start..end).unwrap_or_default())
        })
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
    fn piece(&mut self, time: Time) {
        let number = self.numbers.as_ref().map_or(0, |n| n.fetch_add(1, Ordering::Relaxed));
        self.pieces.push((time, number, self.text.len()));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// Adds a pass, whose steps are in the tracer.
    pub(crate) fn pass(&mut self, e: &PassEvent) {
        let steps = self.steps.take();
        self.piece(e.entered);
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
        let steps = self.steps.take();
        let (at, cycle) = (e.entered.since_origin(), e.cycle.get());
        self.piece(e.entered);
        self.line(format_args!("ghost update of pipe {} entered at {at} (cycle {cycle})", e.pipe));
        for step in steps.lines() {
            self.line(format_args!("  {step}"));
        }
    }

    pub(crate) fn queue(&mut self, what: &str, depth: &str, e: &QueueEvent) {
        self.piece(e.time);
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
        self.piece(e.time);
        self.line(format_args!("table {table}: entry {} idle at {}", e.entry, e.time.since_origin()));
    }

    pub(crate) fn sent(&mut self, p: &Left) {
        self.piece(p.first_bit);
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
        self.piece(p.first_bit);
        self.line(format_args!("packet {}: dropped on its link: {}", packet(p.tag), drop.name()));
    }

    pub(crate) fn lost(&mut self, p: &Lost, reason: &str) {
        self.piece(p.time);
        let word = if p.absorbed { "absorbed" } else { "dropped" };
        self.line(format_args!("packet {}: {word} at {}: {reason}", packet(p.tag), p.time.since_origin()));
    }
}
