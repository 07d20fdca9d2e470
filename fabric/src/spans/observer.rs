//! Records the spans of one switch of a network.

use super::{Span, SpanRequest, Spans};
use crate::network::{Entered, LinkFrame, Observer, Placed, SwitchId};
use sluice_switch::{Left, Lost, PassEvent, QueueEvent};
use std::sync::Arc;

/// Observer of one switch that records spans of packets, and of the frames that its hosts send.
#[derive(Clone, Debug)]
pub struct SpanObserver {
    placed: Arc<Placed>,
    spans: Spans,
}

impl SpanObserver {
    /// Creates an observer of a switch with this program.
    #[must_use]
    pub fn new(request: SpanRequest, placed: &Arc<Placed>) -> SpanObserver {
        SpanObserver { placed: Arc::clone(placed), spans: Spans::new(request) }
    }

    /// Ends the observation.
    #[must_use]
    pub fn into_spans(self) -> Spans {
        self.spans
    }
}

impl Observer for SpanObserver {
    fn entered(&mut self, _: SwitchId, frame: &Entered, _: &[u8]) {
        let &Entered { tag, port, time, bytes, .. } = frame;
        if frame.link.is_none() {
            self.spans.add(tag, || Span::FromHost { tag, port, from: time.as_ps(), bytes });
        }
    }

    fn on_link(&mut self, _: SwitchId, frame: &LinkFrame, _: &[u8], _: &[u8]) {
        if !frame.mac {
            self.spans.sent(&frame.left);
            self.spans.on_link(frame);
        }
    }

    fn delivered(&mut self, _: SwitchId, frame: &Left, _: &[u8], _: &[u8]) {
        self.spans.sent(frame);
    }

    /// Frames that a MAC generated belong to no packet.
    fn mac_sent(&mut self, _: SwitchId, _: &Left, _: &[u8]) {}

    fn lost(&mut self, _: SwitchId, packet: &Lost, _: &[u8], _: &[u8]) {
        let reason = packet.reason.name(&self.placed.program);
        self.spans.lost(packet, reason);
    }

    fn pass(&mut self, _: SwitchId, event: &PassEvent) {
        self.spans.pass(&self.placed.placement, event);
    }

    fn enqueued(&mut self, _: SwitchId, event: &QueueEvent) {
        self.spans.enqueued(event);
    }

    fn dequeued(&mut self, _: SwitchId, event: &QueueEvent) {
        self.spans.dequeued(event);
    }
}
