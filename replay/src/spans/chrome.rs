//! Spans as a trace in the Chrome trace event format, which Perfetto and `chrome://tracing` open.
//!
//! A switch is a process; the links are one more. A pipe's gress, a queue and the wire of a port are threads; passes in
//! flight at the same time are on several threads of a gress. Passes and frames on wires are complete events (`X`), the
//! parts of a pass nested in it. Waits in queues overlap, so they are asynchronous events (`b`, `e`), and so are packets
//! from their first bit in to their first bit out. Depths of queues are counters (`C`). The slices of one packet are joined
//! by flow arrows (`s`, `t`,
//! `f`) in order of time.

use super::{End, PassTimes, Span, Spans};
use serde_json::{Value, json};
use sluice_asic::gress::Gress;
use sluice_fabric::network::{LinkId, Way};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A switch of a trace.
pub struct Process<'a> {
    /// Name of the switch.
    pub name: String,
    /// Its spans.
    pub spans: &'a Spans,
    /// Returns the name of a dev_port.
    pub port: &'a dyn Fn(u16) -> String,
}

/// Facts about a run, for the metadata of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFacts {
    /// The program.
    pub program: String,
    /// Packets of the inputs.
    pub packets: u64,
}

/// Thread of a trace: order, and then lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    Pass(u8, usize),
    Queue(u16, u8),
    Line(u16),
    Link(LinkId, Way),
}

/// Events before the numbers of their threads are known.
struct Draft {
    /// Time in ps, for the order.
    at: u64,
    thread: Option<(Track, usize)>,
    event: Value,
}

/// One process under construction.
#[derive(Default)]
struct Builder {
    drafts: Vec<Draft>,
    /// Ends of the last slices of each lane of a track.
    lanes: BTreeMap<Track, Vec<u64>>,
    /// Slices by packet: begin, track, lane.
    slices: Vec<(u64, u64, (Track, usize))>,
}

/// Returns ps as microseconds.
fn micros(ps: u64) -> Value {
    json!(ps as f64 / 1e6)
}

impl Builder {
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

    fn add(&mut self, at: u64, thread: Option<(Track, usize)>, mut event: Value) {
        event["ts"] = micros(at);
        self.drafts.push(Draft { at, thread, event });
    }

    /// Adds a slice of a packet on a free lane, and its parts.
    fn slice(
        &mut self,
        tag: u64,
        track: Track,
        (from, to): (u64, u64),
        event: Value,
        parts: &[(&str, u64, u64)],
    ) {
        let lane = self.lane(track, from, to);
        self.slices.push((tag, from, (track, lane)));
        self.complete((from, to), (track, lane), event);
        for (name, from, to) in parts.iter().filter(|(_, from, to)| to > from) {
            self.complete(
                (*from, *to),
                (track, lane),
                json!({ "name": name, "cat": "part", "args": { "packet": tag } }),
            );
        }
    }

    fn complete(&mut self, (from, to): (u64, u64), thread: (Track, usize), mut event: Value) {
        event["ph"] = "X".into();
        event["dur"] = micros(to - from);
        self.add(from, Some(thread), event);
    }

    /// Adds an asynchronous event; `id` tells it apart from all others of the trace.
    fn pair(&mut self, id: &str, (from, to): (u64, u64), thread: Option<(Track, usize)>, event: &Value) {
        for (ph, at) in [("b", from), ("e", to)] {
            let mut event = event.clone();
            event["ph"] = ph.into();
            event["id"] = id.into();
            self.add(at, thread, event);
        }
    }

    fn take(&mut self, process: usize, number: usize, span: &Span, port: &dyn Fn(u16) -> String) {
        match span {
            Span::Packet { tag, from, to, end } => {
                let end = match end {
                    End::Sent(on) => json!({ "packet": tag, "sent_on": port(*on) }),
                    End::Inside { reason, absorbed } => {
                        let word = if *absorbed { "absorbed" } else { "dropped" };
                        json!({ "packet": tag, word: reason })
                    }
                };
                let event = json!({ "name": format!("packet {tag}"), "cat": "packet", "args": end });
                self.pair(&format!("p{process}.{number}"), (*from, *to), None, &event);
            }
            Span::Pass { tag, pipe, gress, times } => self.pass(*tag, *pipe, *gress, times),
            Span::Queue { tag, port: of, queue, from, to, bytes, cells } => {
                let track = Track::Queue(*of, *queue);
                self.lanes.entry(track).or_insert_with(|| vec![0]);
                let name = queue_name(port, *of, *queue);
                let args =
                    json!({ "packet": tag, "bytes": bytes, "cells_found": cells[0], "cells_left": cells[1] });
                let event = json!({ "name": name, "cat": "queue", "args": args });
                self.pair(&format!("q{process}.{number}"), (*from, *to), Some((track, 0)), &event);
                for (at, cells) in [(*from, cells[0]), (*to, cells[1])] {
                    let name = format!("{name}, cells");
                    let counter =
                        json!({ "name": name, "cat": "depth", "ph": "C", "args": { "cells": cells } });
                    self.add(at, None, counter);
                }
            }
            Span::Line { tag, port: on, from, to, bytes } => {
                let args = json!({ "packet": tag, "bytes": bytes });
                let event = json!({ "name": format!("packet {tag}"), "cat": "line", "args": args });
                self.slice(*tag, Track::Line(*on), (*from, *to), event, &[]);
            }
            Span::Link { .. } => {}
        }
    }

    fn pass(&mut self, tag: u64, pipe: u8, gress: Gress, t: &PassTimes) {
        let args = json!({ "packet": tag, "gress": gress.to_string() });
        let event = json!({ "name": format!("packet {tag}"), "cat": "pass", "args": args });
        let parts = [
            ("parser", t.parser, t.parsed),
            ("wait for a slot", t.parsed, t.entered),
            ("stages", t.entered, t.stages),
            ("deparser", t.stages, t.left),
        ];
        self.slice(tag, Track::Pass(pipe, gress.index()), (t.parser, t.left), event, &parts);
    }

    fn link(&mut self, span: &Span) {
        let Span::Link { tag, link, way, from, to, arrival } = span else { return };
        let mut args = json!({ "packet": tag });
        match arrival {
            Ok(at) => args["arrives_us"] = micros(*at),
            Err(drop) => args["dropped"] = (*drop).into(),
        }
        let event = json!({ "name": format!("packet {tag}"), "cat": "link", "args": args });
        self.slice(*tag, Track::Link(*link, *way), (*from, *to), event, &[]);
    }

    /// Returns the number of each thread, from 1.
    fn threads(&self) -> BTreeMap<(Track, usize), usize> {
        let lanes = self.lanes.iter().flat_map(|(track, ends)| (0..ends.len()).map(|lane| (*track, lane)));
        lanes.zip(1..).collect()
    }
}

fn queue_name(port: &dyn Fn(u16) -> String, of: u16, queue: u8) -> String {
    format!("port {} queue {queue}", port(of))
}

/// Writes a trace: one JSON document whose metadata say what was left out.
///
/// # Errors
/// If the writer fails.
pub fn write_chrome_trace(
    processes: &[Process<'_>],
    link_name: &dyn Fn(LinkId, Way) -> String,
    facts: &TraceFacts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut links = Builder::default();
    let mut all: Vec<(usize, &str, Builder)> = Vec::new();
    for (number, process) in (1..).zip(processes) {
        let mut builder = Builder::default();
        let mut spans: Vec<&Span> = process.spans.list.iter().collect();
        // Lanes are dealt out in order of time; spans are recorded in order of their ends.
        spans.sort_by_key(|span| begin(span));
        for (at, span) in spans.into_iter().enumerate() {
            builder.take(number, at, span, process.port);
            links.link(span);
        }
        all.push((number, &process.name, builder));
    }
    if !links.drafts.is_empty() {
        all.push((processes.len() + 1, "links", links));
    }
    write!(
        out,
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[",
        metadata(processes, facts)
    )?;
    let mut separator = "\n";
    let mut write = |event: &Value| {
        let written = write!(out, "{separator}{event}");
        separator = ",\n";
        written
    };
    let mut arrows: BTreeMap<u64, Vec<(u64, usize, usize)>> = BTreeMap::new();
    for (pid, name, mut builder) in all {
        let threads = builder.threads();
        write(&json!({ "ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": { "name": name } }))?;
        write(
            &json!({ "ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": { "sort_index": pid } }),
        )?;
        for ((track, lane), tid) in &threads {
            let name = match track {
                Track::Link(link, way) => link_name(*link, *way),
                track => track_name(*track, processes.get(pid - 1).map(|p| p.port)),
            };
            let name = if *lane > 0 { format!("{name} ({})", lane + 1) } else { name };
            write(
                &json!({ "ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": { "name": name } }),
            )?;
            write(
                &json!({ "ph": "M", "name": "thread_sort_index", "pid": pid, "tid": tid, "args": { "sort_index": tid } }),
            )?;
        }
        builder.drafts.sort_by_key(|draft| draft.at);
        for Draft { thread, mut event, .. } in builder.drafts {
            event["pid"] = pid.into();
            event["tid"] = thread.and_then(|thread| threads.get(&thread)).copied().unwrap_or(0).into();
            write(&event)?;
        }
        for (tag, at, thread) in builder.slices {
            let tid = threads.get(&thread).copied().unwrap_or(0);
            arrows.entry(tag).or_default().push((at, pid, tid));
        }
    }
    for (tag, mut slices) in arrows {
        slices.sort_unstable();
        flow(tag, &slices, &mut write)?;
    }
    writeln!(out, "\n]}}")
}

/// Writes the arrows from slice to slice of a packet.
fn flow(
    tag: u64,
    slices: &[(u64, usize, usize)],
    write: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    let last = slices.len() - 1;
    if last == 0 {
        return Ok(());
    }
    for (number, (at, pid, tid)) in slices.iter().enumerate() {
        let ph = match number {
            0 => "s",
            n if n == last => "f",
            _ => "t",
        };
        let mut event =
            json!({ "name": "packet", "cat": "flow", "ph": ph, "id": tag, "pid": pid, "tid": tid });
        event["ts"] = micros(*at);
        if ph != "s" {
            event["bp"] = "e".into();
        }
        write(&event)?;
    }
    Ok(())
}

const fn begin(span: &Span) -> u64 {
    match span {
        Span::Packet { from, .. }
        | Span::Queue { from, .. }
        | Span::Line { from, .. }
        | Span::Link { from, .. } => *from,
        Span::Pass { times, .. } => times.parser,
    }
}

fn track_name(track: Track, port: Option<&dyn Fn(u16) -> String>) -> String {
    let port = |dev: u16| port.map_or_else(|| format!("dev:{dev}"), |name| name(dev));
    match track {
        Track::Pass(pipe, gress) => format!("pipe {pipe} {}", Gress::ALL[gress % 2]),
        Track::Queue(of, queue) => queue_name(&port, of, queue),
        Track::Line(on) => format!("port {} wire", port(on)),
        Track::Link(..) => String::new(),
    }
}

/// Returns what the trace has and what it leaves out.
fn metadata(processes: &[Process<'_>], facts: &TraceFacts) -> Value {
    let request = processes.first().map(|process| process.spans.request);
    let traced = request.map_or(0, |request| request.count(facts.packets));
    let unfinished: usize = processes.iter().map(|process| process.spans.unfinished()).sum();
    json!({
        "schema": "sluice.trace/1",
        "program": facts.program,
        "time": "ts and dur are microseconds of simulated time since the first packet",
        "packets": facts.packets,
        "traced_packets": traced,
        "every": request.map_or(1, |request| request.every),
        "left_out_packets": facts.packets.saturating_sub(traced),
        "in_queues_at_the_end": unfinished,
        "packets_made_by_switches": "left out, except for copies of traced packets",
    })
}
