//! The events of one process of a trace, with lanes for slices that overlap.

use super::super::{End, PassTimes, Span, SpanRequest};
use crate::network::{LinkId, Way};
use serde_json::{Value, json};
use sluice_asic::gress::Gress;
use std::collections::BTreeMap;

/// Thread of a trace: order, and then lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Track {
    Pass(u8, usize),
    Queue(u16, u8),
    Line(u16),
    Link(LinkId, Way),
    /// Frames that a host sends.
    Sends,
    /// Frames that a host receives.
    Receives,
}

/// Events before the numbers of their threads are known.
pub(super) struct Draft {
    /// Time in ps, for the order.
    pub(super) at: u64,
    pub(super) thread: Option<(Track, usize)>,
    pub(super) event: Value,
}

/// One process under construction.
pub(super) struct Builder {
    request: SpanRequest,
    pub(super) drafts: Vec<Draft>,
    /// Ends of the last slices of each lane of a track.
    lanes: BTreeMap<Track, Vec<u64>>,
    /// Slices by packet: begin, track, lane.
    pub(super) slices: Vec<(u64, u64, (Track, usize))>,
}

/// Returns ps as microseconds.
pub(super) fn micros(ps: u64) -> Value {
    json!(ps as f64 / 1e6)
}

impl Builder {
    /// Starts a process of packets that `request` names.
    pub(super) fn new(request: SpanRequest) -> Builder {
        Builder { request, drafts: Vec::new(), lanes: BTreeMap::new(), slices: Vec::new() }
    }

    /// Returns the first lane of a track that is free from `from` on, and takes it until `to`.
    fn lane(&mut self, track: Track, from: u64, to: u64) -> usize {
        let ends = self.lanes.entry(track).or_default();
        let free = ends.iter().position(|end| *end <= from);
        let lane = free.unwrap_or_else(|| {
            ends.push(0);
            ends.len() - 1
        });
        // A slice of no length takes its lane too, so that no other one begins at the same time within it.
        ends[lane] = to.max(from + 1);
        lane
    }

    /// Adds an event without a duration.
    pub(super) fn add(&mut self, at: u64, thread: Option<(Track, usize)>, mut event: Value) {
        event["ts"] = micros(at);
        self.drafts.push(Draft { at, thread, event });
    }

    /// Adds a slice of a packet on a free lane, and its parts.
    pub(super) fn slice(
        &mut self,
        tag: u64,
        track: Track,
        (from, to): (u64, u64),
        event: Value,
        parts: &[(&str, u64, u64)],
    ) {
        let lane = self.lane(track, from, to);
        self.slices.push((self.request.key(tag), from, (track, lane)));
        self.complete((from, to), (track, lane), event);
        for (name, from, to) in parts.iter().filter(|(_, from, to)| to > from) {
            self.complete(
                (*from, *to),
                (track, lane),
                json!({ "name": name, "cat": "part", "args": { "packet": self.request.key(tag) } }),
            );
        }
    }

    fn complete(&mut self, (from, to): (u64, u64), thread: (Track, usize), mut event: Value) {
        event["ph"] = "X".into();
        event["dur"] = micros(to - from);
        self.add(from, Some(thread), event);
    }

    /// Adds an asynchronous event; `id` tells it apart from all others of the trace.
    pub(super) fn pair(
        &mut self,
        id: &str,
        (from, to): (u64, u64),
        thread: Option<(Track, usize)>,
        event: &Value,
    ) {
        for (ph, at) in [("b", from), ("e", to)] {
            let mut event = event.clone();
            event["ph"] = ph.into();
            event["id"] = id.into();
            self.add(at, thread, event);
        }
    }

    /// Adds the events of a span of a switch; `id` tells it apart from all others of the trace.
    pub(super) fn take(&mut self, id: &str, span: &Span, port: &dyn Fn(u16) -> String) {
        match span {
            Span::Packet { tag, from, to, end } => {
                let (key, kind) = (self.request.key(*tag), self.request.kind(*tag));
                let (fate, args) = match end {
                    End::Sent(on) => ("sent".to_owned(), json!({ "packet": key, "sent_on": port(*on) })),
                    End::Inside { reason, absorbed } => {
                        let word = if *absorbed { "absorbed" } else { "dropped" };
                        (format!("{word}: {reason}"), json!({ "packet": key, word: reason }))
                    }
                };
                // Viewers put events of one name on one track, so packets with the same end share a track.
                let event = json!({ "name": format!("{kind} {fate}"), "cat": "packet", "args": args });
                self.pair(&format!("p{id}"), (*from, *to), None, &event);
            }
            Span::Pass { tag, pipe, gress, times } => self.pass(*tag, *pipe, *gress, times),
            Span::Queue { tag, port: of, queue, from, to, bytes, cells } => {
                let track = Track::Queue(*of, *queue);
                self.lanes.entry(track).or_insert_with(|| vec![0]);
                let name = queue_name(port, *of, *queue);
                let args = json!({ "packet": self.request.key(*tag), "bytes": bytes, "cells_found": cells[0], "cells_left": cells[1] });
                let event = json!({ "name": name, "cat": "queue", "args": args });
                self.pair(&format!("q{id}"), (*from, *to), Some((track, 0)), &event);
                for (at, cells) in [(*from, cells[0]), (*to, cells[1])] {
                    let name = format!("{name}, cells");
                    let counter =
                        json!({ "name": name, "cat": "depth", "ph": "C", "args": { "cells": cells } });
                    self.add(at, None, counter);
                }
            }
            Span::Line { tag, port: on, from, to, bytes } => {
                let args = json!({ "packet": self.request.key(*tag), "bytes": bytes });
                let event = json!({ "name": self.request.name(*tag), "cat": "line", "args": args });
                self.slice(*tag, Track::Line(*on), (*from, *to), event, &[]);
            }
            Span::Link { .. } | Span::FromHost { .. } => {}
        }
    }

    fn pass(&mut self, tag: u64, pipe: u8, gress: Gress, t: &PassTimes) {
        let args = json!({ "packet": self.request.key(tag), "gress": gress.to_string() });
        let event = json!({ "name": self.request.name(tag), "cat": "pass", "args": args });
        let parts = [
            ("parser", t.parser, t.parsed),
            ("wait for a slot", t.parsed, t.entered),
            ("stages", t.entered, t.stages),
            ("deparser", t.stages, t.left),
        ];
        self.slice(tag, Track::Pass(pipe, gress.index()), (t.parser, t.left), event, &parts);
    }

    /// Adds the events of a frame on a link.
    pub(super) fn link(&mut self, span: &Span) {
        let Span::Link { tag, link, way, from, to, arrival } = span else { return };
        let mut args = json!({ "packet": self.request.key(*tag) });
        match arrival {
            Ok(at) => args["arrives_us"] = micros(*at),
            Err(drop) => args["dropped"] = (*drop).into(),
        }
        let event = json!({ "name": self.request.name(*tag), "cat": "link", "args": args });
        self.slice(*tag, Track::Link(*link, *way), (*from, *to), event, &[]);
    }

    /// Returns the number of each thread, from 1.
    pub(super) fn threads(&self) -> BTreeMap<(Track, usize), usize> {
        let lanes = self.lanes.iter().flat_map(|(track, ends)| (0..ends.len()).map(|lane| (*track, lane)));
        lanes.zip(1..).collect()
    }
}

fn queue_name(port: &dyn Fn(u16) -> String, of: u16, queue: u8) -> String {
    format!("port {} queue {queue}", port(of))
}

pub(super) const fn begin(span: &Span) -> u64 {
    match span {
        Span::Packet { from, .. }
        | Span::Queue { from, .. }
        | Span::Line { from, .. }
        | Span::FromHost { from, .. }
        | Span::Link { from, .. } => *from,
        Span::Pass { times, .. } => times.parser,
    }
}

pub(super) fn track_name(track: Track, port: Option<&dyn Fn(u16) -> String>) -> String {
    let port = |dev: u16| port.map_or_else(|| format!("dev:{dev}"), |name| name(dev));
    match track {
        Track::Pass(pipe, gress) => format!("pipe {pipe} {}", Gress::ALL[gress % 2]),
        Track::Queue(of, queue) => queue_name(&port, of, queue),
        Track::Line(on) => format!("port {} wire", port(on)),
        Track::Sends => "sends".to_owned(),
        Track::Receives => "receives".to_owned(),
        Track::Link(..) => String::new(),
    }
}
