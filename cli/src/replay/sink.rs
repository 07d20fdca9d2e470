//! What leaves the switch: counted, timed, written. What may not live here: formats.

use super::Plan;
use super::output::{Outputs, Record};
use super::trace::TraceText;
use hdrhistogram::Histogram;
use sluice_pipeline::switch::{Left, Lost, Mode, PassEvent, QueueEvent, Sink};

/// Latencies from first bit in to first bit out.
pub(crate) struct Latency {
    histogram: Option<Histogram<u64>>,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) count: u64,
}

impl Latency {
    fn new() -> Latency {
        // Three significant digits; minimum and maximum are kept exactly beside it.
        Latency { histogram: Histogram::new(3).ok(), min: u64::MAX, max: 0, count: 0 }
    }

    fn record(&mut self, ps: u64) {
        if let Some(h) = &mut self.histogram {
            // An auto-resizing histogram takes every value that fits its counts.
            let _ = h.record(ps);
        }
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        self.count += 1;
    }

    /// A quantile in ps.
    pub(crate) fn quantile(&self, q: f64) -> u64 {
        self.histogram.as_ref().map_or(0, |h| h.value_at_quantile(q).clamp(self.min.min(self.max), self.max))
    }
}

/// The sink of a replay.
pub(crate) struct Collector<'a> {
    plan: &'a Plan<'a>,
    pub(crate) outputs: Outputs<'a>,
    pub(crate) trace: Option<TraceText>,
    pub(crate) latency: Latency,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(plan: &'a Plan<'a>, outputs: Outputs<'a>, trace: Option<TraceText>) -> Self {
        Collector { plan, outputs, trace, latency: Latency::new() }
    }
}

impl Sink for Collector<'_> {
    fn sent(&mut self, p: &Left, head: &[u8], tail: &[u8]) {
        if self.plan.config.mode == Mode::Timed {
            self.latency.record(p.first_bit.saturating_since(p.received).as_ps());
        }
        if let Some(trace) = &mut self.trace {
            trace.sent(p);
        }
        self.outputs.sent(
            Record { time: p.first_bit, dev_port: p.egress_port, tag: p.tag, bytes: p.bytes },
            head,
            tail,
        );
    }

    fn lost(&mut self, p: &Lost, head: &[u8], tail: &[u8]) {
        let reason = p.reason.name(&self.plan.program);
        if let Some(trace) = &mut self.trace {
            trace.lost(p, reason);
        }
        self.outputs.lost(p, reason, head, tail);
    }

    fn pass(&mut self, event: &PassEvent) {
        if let Some(trace) = &mut self.trace {
            trace.pass(event);
        }
    }

    fn enqueued(&mut self, event: &QueueEvent) {
        if let Some(trace) = &mut self.trace {
            trace.queue("enqueued", "found", event);
        }
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        if let Some(trace) = &mut self.trace {
            trace.queue("dequeued", "left", event);
        }
    }
}
