//! What leaves the switch: counted, timed, written. What may not live here: formats.

use super::Plan;
use super::checked::Checked;
use super::comment;
use super::network::Told;
use super::output::{Death, Outputs};
use super::trace::TraceText;
use hdrhistogram::Histogram;
use sluice_pipeline::switch::{
    DeviceDrop, Digest, GENERATED, GhostEvent, IdleEntry, Left, Lost, Mode, PassEvent, QueueEvent, Reason,
    Sink,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Latencies from first bit in to first bit out.
pub(crate) struct Latency {
    histogram: Option<Histogram<u64>>,
    pub(crate) min: u64,
    pub(crate) max: u64,
    pub(crate) count: u64,
}

impl Latency {
    pub(crate) fn new() -> Latency {
        // Three significant digits; minimum and maximum are kept exactly beside it.
        Latency { histogram: Histogram::new(3).ok(), min: u64::MAX, max: 0, count: 0 }
    }

    pub(crate) fn record(&mut self, ps: u64) {
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

/// Where a packet came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Number of the input.
    pub(crate) input: u32,
    /// Record in its file, from 1, and where that begins.
    pub(crate) record: u64,
    pub(crate) offset: u64,
}

/// Origins of the packets sent last: enough for those that die at the parser, in bounded memory.
#[derive(Debug)]
pub(crate) struct Origins {
    ring: Vec<(u64, Origin)>,
}

impl Origins {
    const SIZE: usize = 1024;

    /// Room for so many, or some more: the place of a packet is then found without a division.
    pub(crate) fn new(size: usize) -> Origins {
        Origins { ring: vec![(u64::MAX, Origin::default()); size.next_power_of_two()] }
    }

    #[inline]
    pub(crate) fn note(&mut self, tag: u64, origin: Origin) {
        let slot = tag as usize & (self.ring.len() - 1);
        self.ring[slot] = (tag, origin);
    }

    pub(crate) fn find(&self, tag: u64) -> Option<Origin> {
        let (of, origin) = self.ring[tag as usize & (self.ring.len() - 1)];
        (of == tag && tag != GENERATED).then_some(origin)
    }
}

/// Packets that the parser could not read, and where the first of them came from.
#[derive(Clone, Debug)]
pub(crate) struct Unparsed {
    pub(crate) reason: DeviceDrop,
    /// With the name of the input.
    pub(crate) first: Option<(String, Origin)>,
    pub(crate) bytes: u32,
}

/// The sink of a replay.
pub(crate) struct Collector<'a> {
    plan: &'a Plan<'a>,
    /// Names of the inputs.
    names: Vec<&'a str>,
    pub(crate) outputs: Outputs,
    pub(crate) trace: Option<TraceText>,
    pub(crate) latency: Latency,
    pub(crate) origins: Origins,
    /// In place of these: those of all switches of a network.
    pub(crate) shared: Option<Arc<Mutex<Origins>>>,
    /// The first packet of each kind that the parser could not read.
    pub(crate) unparsed: Vec<Unparsed>,
    /// Asks properties, with `--check`.
    pub(crate) checked: Option<Checked>,
    /// What a control plane is to hear, with `--hot-flows`.
    pub(crate) told: Option<Told>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        plan: &'a Plan<'a>,
        names: Vec<&'a str>,
        outputs: Outputs,
        trace: Option<TraceText>,
    ) -> Self {
        let (latency, origins) = (Latency::new(), Origins::new(Origins::SIZE));
        let checked = Checked::of(plan);
        let (shared, unparsed, told) = (None, Vec::new(), None);
        Collector { plan, names, outputs, trace, latency, origins, shared, unparsed, checked, told }
    }

    /// What it collects for.
    pub(crate) const fn plan(&self) -> &'a Plan<'a> {
        self.plan
    }

    /// Where a packet came from: the input's name and the place in it.
    pub(crate) fn origin(&self, tag: u64) -> Option<(&'a str, Origin)> {
        let origin = match &self.shared {
            Some(shared) => shared.lock().unwrap_or_else(PoisonError::into_inner).find(tag),
            None => self.origins.find(tag),
        };
        origin.and_then(|o| Some((*self.names.get(o.input as usize)?, o)))
    }

    #[cold]
    fn note_unparsed(&mut self, p: &Lost) {
        let Reason::Device(reason @ (DeviceDrop::ParserPartialHeader | DeviceDrop::ParserNoMatch)) = p.reason
        else {
            return;
        };
        if self.unparsed.iter().all(|u| u.reason != reason) {
            let first = self.origin(p.tag).map(|(name, origin)| (name.to_owned(), origin));
            self.unparsed.push(Unparsed { reason, first, bytes: p.bytes });
        }
    }
}

impl Sink for Collector<'_> {
    fn sent(&mut self, p: &Left, head: &[u8], tail: &[u8]) {
        if self.plan.config.mode == Mode::Timed && p.tag != GENERATED {
            self.latency.record(p.first_bit.saturating_since(p.received).as_ps());
        }
        if let Some(trace) = &mut self.trace {
            trace.sent(p);
        }
        if let Some(checked) = &mut self.checked {
            checked.monitor.left(p, head, tail);
        }
        if self.outputs.wants_sent() {
            let comment = self.plan.args.comments.then(|| comment::sent(self.plan, p, head));
            self.outputs.sent(p, comment, head, tail);
        }
    }

    /// A frame of a MAC has no latency: it never was in the switch.
    fn mac_sent(&mut self, p: &Left, frame: &[u8]) {
        if self.outputs.wants_sent() {
            let comment = self.plan.args.comments.then(|| "made by the port's MAC".to_owned());
            self.outputs.sent(p, comment, frame, &[]);
        }
    }

    fn lost(&mut self, p: &Lost, head: &[u8], tail: &[u8]) {
        let reason = p.reason.name(&self.plan.program);
        if let Some(trace) = &mut self.trace {
            trace.lost(p, reason);
        }
        if let Some(checked) = &mut self.checked {
            checked.monitor.ended(p, head, tail);
        }
        self.note_unparsed(p);
        if self.outputs.wants_lost() {
            let comment = comment::lost(self.plan, p, reason, self.origin(p.tag), head);
            let death = Death { time: p.time, absorbed: p.absorbed, bytes: p.bytes };
            self.outputs.lost(&death, comment, head, tail);
        }
    }

    fn watches(&self) -> bool {
        self.trace.is_some()
    }

    fn pass(&mut self, event: &PassEvent) {
        if let Some(trace) = &mut self.trace {
            trace.pass(event);
        }
    }

    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        if let Some(told) = &mut self.told {
            told.digest(digest, data);
        }
    }

    fn idle(&mut self, entry: &IdleEntry) {
        if let Some(told) = &mut self.told {
            told.idle(entry);
        }
        if let Some(trace) = &mut self.trace {
            let state = &self.plan.program.tables[entry.table];
            trace.idle(&state.name, entry);
        }
    }

    fn ghost(&mut self, event: &GhostEvent) {
        if let Some(trace) = &mut self.trace {
            trace.ghost(event);
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
