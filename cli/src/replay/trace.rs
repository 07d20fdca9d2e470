//! `--trace`: the interpreter's steps of each pass, with cycles and queues between them.

use super::comment::packet;
use sluice_pipeline::ir::Program;
use sluice_pipeline::reference::{Event, TextTracer, Tracer};
use sluice_pipeline::switch::{GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent};
use std::fmt::Write;
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
}

/// A tracer for the interpreter and where its text comes out.
pub(crate) fn tracer() -> (Shared, TraceText) {
    let steps = Arc::new(Mutex::new(TextTracer::default()));
    (Shared(Arc::clone(&steps)), TraceText { steps, written: String::new() })
}

impl TraceText {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.written, "{text}");
    }

    /// A pass was run: its steps are waiting.
    pub(crate) fn pass(&mut self, e: &PassEvent) {
        let steps = std::mem::take(&mut lock(&self.steps).text);
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
        self.line(format_args!("ghost update of pipe {} entered at {at} (cycle {cycle})", e.pipe));
        for step in steps.lines() {
            self.line(format_args!("  {step}"));
        }
    }

    pub(crate) fn queue(&mut self, what: &str, depth: &str, e: &QueueEvent) {
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
        self.line(format_args!("table {table}: entry {} idle at {}", e.entry, e.time.since_origin()));
    }

    pub(crate) fn sent(&mut self, p: &Left) {
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

    pub(crate) fn lost(&mut self, p: &Lost, reason: &str) {
        let word = if p.absorbed { "absorbed" } else { "dropped" };
        self.line(format_args!("packet {}: {word} at {}: {reason}", packet(p.tag), p.time.since_origin()));
    }
}
