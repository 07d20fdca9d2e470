//! Spans as a trace in the Chrome trace event format, which Perfetto and `chrome://tracing` open.
//!
//! A switch is a process; the links are one more, and a host is one. A pipe's gress, a queue and the wire of a port are
//! threads; passes in flight at the same time are on several threads of a gress. Passes and frames on wires are complete
//! events (`X`), the parts of a pass nested in it. Waits in queues overlap, so they are asynchronous events (`b`, `e`), and so
//! are packets from their first bit in to their first bit out, and messages. Depths of queues and numbers of a sender are
//! counters (`C`). The slices of one packet are joined by flow arrows (`s`, `t`, `f`) in order of time.
//!
//! | file | content |
//! |---|---|
//! | `builder` | events of one process |
//! | `hosts` | events of hosts |

mod builder;
mod hosts;

pub use hosts::{Counter, HostProcess, MessageSpan};

use super::{Span, Spans};
use crate::network::{LinkId, Way};
use builder::{Builder, Draft, Track, begin, micros, track_name};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A switch of a trace.
pub struct Process<'a> {
    /// Name of the switch.
    pub name: String,
    /// Its spans.
    pub spans: &'a Spans,
    /// Returns the name of a dev_port.
    pub port: Box<dyn Fn(u16) -> String + 'a>,
}

/// The processes of one run of a program.
pub struct TraceRun<'a> {
    /// Name of the run, put before the names of its processes; empty if it is the only one.
    pub label: String,
    /// The switches.
    pub switches: Vec<Process<'a>>,
    /// Returns the name of a direction of a link.
    pub link: Box<dyn Fn(LinkId, Way) -> String + 'a>,
    /// The hosts.
    pub hosts: Vec<HostProcess>,
}

/// Facts about the runs, for the metadata of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFacts {
    /// The program or programs.
    pub program: String,
    /// Packets that could be traced: those of the inputs, or the frames of the message.
    pub packets: u64,
    /// Packets that are traced.
    pub traced: u64,
}

/// Distance of the numbers of packets of two runs, so that the arrows of different runs are not joined.
const RUN: u64 = 1 << 40;

/// Writes a trace: one JSON document whose metadata say what was left out.
///
/// # Errors
/// If the writer fails.
pub fn write_chrome_trace(runs: &[TraceRun<'_>], facts: &TraceFacts, out: &mut dyn Write) -> io::Result<()> {
    let head = metadata(runs, facts);
    write!(out, "{{\"displayTimeUnit\":\"ns\",\"otherData\":{head},\"traceEvents\":[")?;
    let mut separator = "\n";
    let mut write = |event: &Value| {
        let written = write!(out, "{separator}{event}");
        separator = ",\n";
        written
    };
    let (mut pid, mut first) = (1, 0);
    for run in runs {
        let mut arrows = BTreeMap::new();
        for (name, builder, port) in processes(run) {
            let name = if run.label.is_empty() { name } else { format!("{}: {name}", run.label) };
            process((pid, &name), builder, &|track| thread_name(run, track, port), &mut arrows, &mut write)?;
            pid += 1;
        }
        for (key, mut slices) in arrows {
            slices.sort_unstable();
            flow(first + key, &slices, &mut write)?;
        }
        first += RUN;
    }
    writeln!(out, "\n]}}")
}

type PortName<'a> = Option<&'a dyn Fn(u16) -> String>;

/// Returns the processes of a run: switches, links, hosts.
fn processes<'a>(run: &'a TraceRun<'_>) -> Vec<(String, Builder, PortName<'a>)> {
    let Some(request) = run.switches.first().map(|switch| switch.spans.request) else { return Vec::new() };
    let mut links = Builder::new(request);
    let mut all: Vec<(String, Builder, PortName<'a>)> = Vec::new();
    for (number, process) in (1..).zip(&run.switches) {
        let mut builder = Builder::new(request);
        let mut spans: Vec<&Span> = process.spans.list.iter().collect();
        // Lanes are dealt out in order of time; spans are recorded in order of their ends.
        spans.sort_by_key(|span| begin(span));
        let run = if run.label.is_empty() { String::new() } else { format!("{}.", run.label) };
        for (at, span) in spans.into_iter().enumerate() {
            builder.take(&format!("{run}{number}.{at}"), span, &*process.port);
            links.link(span);
        }
        all.push((process.name.clone(), builder, Some(&*process.port)));
    }
    if !links.drafts.is_empty() {
        all.push(("links".to_owned(), links, None));
    }
    for host in &run.hosts {
        let spans = run.switches.get(host.switch).map(|switch| switch.spans);
        all.push((format!("host {}", host.name), host.events(request, spans, &run.label), None));
    }
    all
}

fn thread_name(run: &TraceRun<'_>, track: Track, port: PortName<'_>) -> String {
    match track {
        Track::Link(link, way) => (run.link)(link, way),
        track => track_name(track, port),
    }
}

/// Slices of each packet: begin, process, thread.
type Arrows = BTreeMap<u64, Vec<(u64, usize, usize)>>;

/// Writes the names and the events of a process.
fn process(
    (pid, name): (usize, &str),
    mut builder: Builder,
    thread_name: &dyn Fn(Track) -> String,
    arrows: &mut Arrows,
    write: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    let threads = builder.threads();
    let mut meta = |what: &str, tid: usize, args: Value| {
        write(&json!({ "ph": "M", "name": what, "pid": pid, "tid": tid, "args": args }))
    };
    meta("process_name", 0, json!({ "name": name }))?;
    meta("process_sort_index", 0, json!({ "sort_index": pid }))?;
    for ((track, lane), tid) in &threads {
        let name = thread_name(*track);
        let name = if *lane > 0 { format!("{name} ({})", lane + 1) } else { name };
        meta("thread_name", *tid, json!({ "name": name }))?;
        meta("thread_sort_index", *tid, json!({ "sort_index": tid }))?;
    }
    builder.drafts.sort_by_key(|draft| draft.at);
    let tid = |thread: &(Track, usize)| threads.get(thread).copied().unwrap_or(0);
    for Draft { thread, mut event, .. } in builder.drafts {
        event["pid"] = pid.into();
        event["tid"] = thread.as_ref().map_or(0, tid).into();
        write(&event)?;
    }
    for (key, at, thread) in builder.slices {
        arrows.entry(key).or_default().push((at, pid, tid(&thread)));
    }
    Ok(())
}

/// Writes the arrows from slice to slice of a packet.
fn flow(
    id: u64,
    slices: &[(u64, usize, usize)],
    write: &mut dyn FnMut(&Value) -> io::Result<()>,
) -> io::Result<()> {
    let last = slices.len().saturating_sub(1);
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
            json!({ "name": "packet", "cat": "flow", "ph": ph, "id": id, "pid": pid, "tid": tid });
        event["ts"] = micros(*at);
        if ph != "s" {
            event["bp"] = "e".into();
        }
        write(&event)?;
    }
    Ok(())
}

/// Returns what the trace has and what it leaves out.
fn metadata(runs: &[TraceRun<'_>], facts: &TraceFacts) -> Value {
    let all = || runs.iter().flat_map(|run| &run.switches).map(|switch| switch.spans);
    let request = all().next().map(|spans| spans.request);
    let unfinished: usize = all().map(Spans::unfinished).sum();
    let mut head = json!({
        "schema": "sluice.trace/1",
        "program": facts.program,
        "time": "ts and dur are microseconds of simulated time since the first packet",
        "packets": facts.packets,
        "traced_packets": facts.traced,
        "every": request.map_or(1, |request| request.every),
        "left_out_packets": facts.packets.saturating_sub(facts.traced),
        "in_queues_at_the_end": unfinished,
        "packets_made_by_switches": "left out, except for copies of traced packets",
    });
    if let Some(message) = request.and_then(|request| request.message) {
        head["message"] = message.into();
        head["time"] = "ts and dur are microseconds of simulated time since the start of the run".into();
    }
    head
}
