//! Hosts in a trace: frames on their wires, messages, and numbers of a sender over time.

use super::super::{Span, SpanRequest, Spans};
use super::builder::{Builder, Track};
use serde_json::json;
use sluice_asic::mac::FCS;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// A host of a trace.
#[derive(Clone, Debug)]
pub struct HostProcess {
    /// Name of the host.
    pub name: String,
    /// Place of the host's switch among the switches of the run.
    pub switch: usize,
    /// dev_port of the switch.
    pub port: u16,
    /// Delay of the cable between them.
    pub delay: Duration,
    /// Rate of the host's link.
    pub rate: BitRate,
    /// The message, at its sender.
    pub message: Option<MessageSpan>,
    /// Numbers over time.
    pub counters: Vec<Counter>,
}

/// A message from its start to its last acknowledgement.
#[derive(Clone, Debug)]
pub struct MessageSpan {
    /// Its name.
    pub name: String,
    /// Start.
    pub from: Time,
    /// Last acknowledgement, or the end of the run.
    pub to: Time,
    /// False if the run ended before the last acknowledgement.
    pub acknowledged: bool,
}

/// A number over time.
#[derive(Clone, Debug)]
pub struct Counter {
    /// Name with the unit.
    pub name: String,
    /// Values from their times on.
    pub points: Vec<(Time, f64)>,
}

impl HostProcess {
    /// Returns the events of the host; `spans` are those of its switch.
    pub(super) fn events(&self, request: SpanRequest, spans: Option<&Spans>, run: &str) -> Builder {
        let mut builder = Builder::new(request);
        if let Some(message) = &self.message {
            let end = if message.acknowledged { "acknowledged" } else { "not acknowledged" };
            let event = json!({ "name": message.name, "cat": "message", "args": { "end": end } });
            let times = (message.from.as_ps(), message.to.as_ps());
            builder.pair(&format!("m{run}.{}", self.name), times, None, &event);
        }
        for counter in &self.counters {
            for (time, value) in &counter.points {
                let args = json!({ "value": value });
                let event = json!({ "name": counter.name, "cat": "sender", "ph": "C", "args": args });
                builder.add(time.as_ps(), None, event);
            }
        }
        let mut frames: Vec<_> =
            spans.into_iter().flat_map(|spans| &spans.list).filter_map(|span| self.frame(span)).collect();
        frames.sort_by_key(|frame| (frame.2, frame.1));
        for (tag, track, from, to, bytes) in frames {
            let args = json!({ "packet": request.key(tag), "bytes": bytes });
            let event = json!({ "name": request.name(tag), "cat": "host", "args": args });
            builder.slice(tag, track, (from, to), event, &[]);
        }
        builder
    }

    /// Returns a frame on the host's wire: tag, direction, times at the host, bytes.
    fn frame(&self, span: &Span) -> Option<(u64, Track, u64, u64, u32)> {
        let delay = self.delay.as_ps();
        match span {
            Span::FromHost { tag, port, from, bytes } if *port == self.port => {
                let from = from.saturating_sub(delay);
                let time = self.rate.time_for(Bytes(u64::from(*bytes)) + FCS).as_ps();
                Some((*tag, Track::Sends, from, from + time, *bytes))
            }
            Span::Line { tag, port, from, to, bytes } if *port == self.port => {
                Some((*tag, Track::Receives, from + delay, to + delay, *bytes))
            }
            _ => None,
        }
    }
}
