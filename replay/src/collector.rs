//! Collects the events of a switch during a run: latencies, captures, the trace, properties, and messages to a control
//! plane.

use crate::captures::{CaptureOutputs, End};
use crate::comment;
use crate::control_plane::Heard;
use crate::property_check::PropertyCheck;
use crate::trace::Trace;
use crate::view::SwitchView;
use hdrhistogram::Histogram;
use sluice_fabric::spans::Spans;
use sluice_switch::{
    DeviceDrop, Digest, GENERATED, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, Reason, Sink,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Latencies from first bit in to first bit out, in ps.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Option<Histogram<u64>>,
    min: u64,
    max: u64,
    count: u64,
}

impl Latency {
    pub(crate) fn new() -> Latency {
        // Three significant digits; minimum and maximum are kept exactly.
        Latency { histogram: Histogram::new(3).ok(), min: u64::MAX, max: 0, count: 0 }
    }

    #[inline]
    pub(crate) fn record(&mut self, ps: u64) {
        if let Some(h) = &mut self.histogram {
            // An auto-resizing histogram takes every value that fits its counts.
            let _ = h.record(ps);
        }
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
        self.count += 1;
    }

    /// Returns the number of latencies.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the least latency in ps; `None` if there is no latency.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest latency in ps; `None` if there is no latency.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the latency in ps that a share `q`, 0 to 1, of the packets does not exceed, to three significant digits;
    /// 0 if there is no latency.
    #[must_use]
    pub fn quantile(&self, q: f64) -> u64 {
        self.histogram.as_ref().map_or(0, |h| h.value_at_quantile(q).clamp(self.min.min(self.max), self.max))
    }
}

/// Place of a packet in the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Number of the input.
    pub(crate) input: u32,
    /// Record in the input, from 1.
    pub(crate) record: u64,
    /// Byte at which the record begins.
    pub(crate) offset: u64,
}

/// Places of the most recently injected packets, in bounded memory. That is enough for packets that end at the parser.
#[derive(Debug)]
pub(crate) struct Origins {
    ring: Vec<(u64, Origin)>,
}

impl Origins {
    pub(crate) const ONE_SWITCH: usize = 1024;

    /// Returns room for `size` packets, rounded up to a power of two so that a place is found without a division.
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

/// Packets that the parser could not read, by reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unparsed {
    /// The reason.
    pub reason: DeviceDrop,
    /// Place of the first such packet in the inputs; `None` if it is no longer known.
    pub first: Option<PacketPlace>,
    /// Length of the first such packet in bytes.
    pub bytes: u32,
}

/// Place of a packet in the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketPlace {
    /// Name of the input.
    pub input: String,
    /// Record in the input, from 1.
    pub record: u64,
    /// Byte of the (uncompressed) input at which the record begins.
    pub offset: u64,
}

/// Collector of one switch's events.
pub(crate) struct Collector<'a> {
    pub(crate) view: SwitchView<'a>,
    /// Names of the inputs.
    names: Vec<&'a str>,
    pub(crate) captures: CaptureOutputs,
    pub(crate) trace: Option<Trace>,
    /// Spans of packets, if they are recorded.
    pub(crate) spans: Option<Spans>,
    pub(crate) latency: Latency,
    pub(crate) origins: Origins,
    /// The origins of all switches of a network, used in place of `origins`.
    shared: Option<Arc<Mutex<Origins>>>,
    /// The first packet of each kind that the parser could not read.
    pub(crate) unparsed: Vec<Unparsed>,
    pub(crate) check: Option<PropertyCheck>,
    /// Messages for the control plane, if there is one.
    pub(crate) heard: Option<Heard>,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(
        view: SwitchView<'a>,
        names: Vec<&'a str>,
        captures: CaptureOutputs,
        trace: Option<Trace>,
    ) -> Self {
        Collector {
            names,
            captures,
            trace,
            spans: view.options.spans.filter(|_| view.is_timed()).map(Spans::new),
            latency: Latency::new(),
            origins: Origins::new(Origins::ONE_SWITCH),
            shared: None,
            unparsed: Vec::new(),
            check: PropertyCheck::of(&view),
            heard: None,
            view,
        }
    }

    /// Uses the origins of all switches of a network.
    pub(crate) fn sharing(self, origins: Arc<Mutex<Origins>>) -> Self {
        Collector { shared: Some(origins), ..self }
    }

    /// Collects messages for a control plane, if there is one.
    pub(crate) fn for_control_plane(self, is_there: bool) -> Self {
        Collector { heard: is_there.then(Heard::default), ..self }
    }

    /// Returns the place of a packet: the name of the input, and the record in it.
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
            let place = |(name, Origin { record, offset, .. }): (&str, Origin)| PacketPlace {
                input: name.to_owned(),
                record,
                offset,
            };
            let first = self.origin(p.tag).map(place);
            self.unparsed.push(Unparsed { reason, first, bytes: p.bytes });
        }
    }
}

impl Sink for Collector<'_> {
    fn sent(&mut self, p: &Left, head: &[u8], tail: &[u8]) {
        if self.view.is_timed() && p.tag != GENERATED {
            self.latency.record(p.first_bit.saturating_since(p.received).as_ps());
        }
        if let Some(trace) = &mut self.trace {
            trace.sent(p);
        }
        if let Some(spans) = &mut self.spans {
            spans.sent(p);
        }
        if let Some(check) = &mut self.check {
            check.monitor.left(p, head, tail);
        }
        if self.captures.wants_sent() {
            let comment = self.view.options.comments.then(|| comment::sent(&self.view, p, head));
            self.captures.sent(p, comment, head, tail);
        }
    }

    /// A frame that a MAC generated has no latency, because it did not enter the switch.
    fn mac_sent(&mut self, p: &Left, frame: &[u8]) {
        if self.captures.wants_sent() {
            let comment = self.view.options.comments.then(|| "made by the port's MAC".to_owned());
            self.captures.sent(p, comment, frame, &[]);
        }
    }

    fn lost(&mut self, p: &Lost, head: &[u8], tail: &[u8]) {
        let reason = p.reason.name(self.view.program());
        if let Some(trace) = &mut self.trace {
            trace.lost(p, reason);
        }
        if let Some(spans) = &mut self.spans {
            spans.lost(p, reason);
        }
        if let Some(check) = &mut self.check {
            check.monitor.ended(p, head, tail);
        }
        self.note_unparsed(p);
        if self.captures.wants_lost() {
            let comment = comment::lost(&self.view, p, reason, self.origin(p.tag), head);
            let end = End { time: p.time, absorbed: p.absorbed, bytes: p.bytes };
            self.captures.lost(&end, comment, head, tail);
        }
    }

    fn watches(&self) -> bool {
        self.trace.is_some() || self.spans.is_some()
    }

    fn needs_every_round(&self) -> bool {
        self.trace.is_some()
            || self.spans.is_some()
            || self.check.is_some()
            || self.captures.wants_lost()
            || self.view.checks.points.is_some()
    }

    fn pass(&mut self, event: &PassEvent) {
        if let Some(trace) = &mut self.trace {
            trace.pass(event);
        }
        if let Some(spans) = &mut self.spans {
            spans.pass(self.view.placement(), event);
        }
    }

    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        if let Some(heard) = &mut self.heard {
            heard.digest(digest, data);
        }
    }

    fn idle(&mut self, entry: &IdleEntry) {
        if let Some(heard) = &mut self.heard {
            heard.idle(entry);
        }
        if let Some(trace) = &mut self.trace {
            let table = &self.view.program().tables[entry.table];
            trace.idle(&table.name, entry);
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
        if let Some(spans) = &mut self.spans {
            spans.enqueued(event);
        }
    }

    fn dequeued(&mut self, event: &QueueEvent) {
        if let Some(trace) = &mut self.trace {
            trace.queue("dequeued", "left", event);
        }
        if let Some(spans) = &mut self.spans {
            spans.dequeued(event);
        }
    }
}
