//! `--trace`: the interpreter's steps of each pass, with cycles and queues between them.

use super::comment::packet;
use sluice_asic::units::Time;
use sluice_fabric::network::LinkDrop;
use sluice_pipeline::ir::Program;
use sluice_pipeline::reference::{Event, TextTracer, Tracer};
use sluice_pipeline::switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A tracer whose text somebody else takes.
pub(crate) struct Shared(Arc<Mutex<TextTracer>>);

impl Tracer for Shared {
    fn event(&mut self, program: &Program, event: &Event<'_>) {
        lock(&self.0).event(program, event);
    }
}

fn lock(steps: &Mutex<TextTracer>) -> MutexGuard<'_, TextTracer> {
    steps.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The trace so far.
pub(crate) struct TraceText {
    steps: Arc<Mutex<TextTracer>>,
    pub(crate) written: String,
    /// When each piece of it happened, its number, and where it begins.
    pieces: Vec<(Time, u64, usize)>,
    /// Numbers pieces, over all switches of a network without time.
    numbers: Option<Arc<AtomicU64>>,
}

/// A tracer for the interpreter and where its text comes out.
pub(crate) fn tracer() -> (Shared, TraceText) {
    let steps = Arc::new(Mutex::new(TextTracer::default()));
    let (written, pieces, numbers) = (String::new(), Vec::new(), None);
    (Shared(Arc::clone(&steps)), TraceText { steps, written, pieces, numbers })
}

/// The traces of a network's switches as one, in order of time; each piece begins with its switch. Where there is no
/// time they were numbered as they happened.
pub(crate) fn joined(traces: &[(&str, TraceText)]) -> String {
    let mut pieces: Vec<((Time, u64, usize), &str, &str)> = Vec::new();
    for (switch, (name, trace)) in traces.iter().enumerate() {
        let ends = trace.pieces.iter().skip(1).map(|(.., at)| *at).chain([trace.written.len()]);
        for ((time, number, start), end) in trace.pieces.iter().zip(ends) {
            let text = trace.written.get(*start..end).unwrap_or_default();
            pieces.push(((*time, *number, switch), name, text));
        }
    }
    // Stable: pieces of one switch at one time stay as they were told.
    pieces.sort_by_key(|(key, ..)| *key);
    let mut out = String::new();
    for (_, name, text) in pieces {
        // Writing into a String cannot fail.
        let _ = write!(out, "{name}: {text}");
    }
    out
}

impl TraceText {
    /// The same, with pieces numbered over all switches.
    pub(crate) fn numbered(self, numbers: Arc<AtomicU64>) -> TraceText {
        TraceText { numbers: Some(numbers), ..self }
    }

    /// A piece begins.
    fn piece(&mut self, time: Time) {
        let number = self.numbers.as_ref().map_or(0, |n| n.fetch_add(1, Ordering::Relaxed));
        self.pieces.push((time, number, self.written.len()));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.written, "{text}");
    }

    /// A pass was run: its steps are waiting.
    pub(crate) fn pass(&mut self, e: &PassEvent) {
        let steps = std::mem::take(&mut lock(&self.steps).text);
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

    /// The ghost control was run: its steps are waiting.
    pub(crate) fn ghost(&mut self, e: &GhostEvent) {
        let steps = std::mem::take(&mut lock(&self.steps).text);
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

    /// A link lost what left.
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
