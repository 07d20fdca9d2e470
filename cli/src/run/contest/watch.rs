//! `--watch-flow`: one message over time with each program, as a table and as a page.

use super::{Opened, Source, failure, with_setup};
use crate::console::fail::Failure;
use crate::console::interrupt::interrupt_flag;
use crate::console::terminal;
use crate::output::files::Folder;
use crate::output::rows::CsvText;
use crate::output::trace_out::{TraceOutArgs, direction};
use maud::html;
use sluice_asic::units::Duration;
use sluice_charts::{Page, Plot, PlotLine, PlotStyle, ZOOM, thinned};
use sluice_fabric::host::message::FlowState;
use sluice_fabric::network::SwitchSetup;
use sluice_fabric::spans::{Process, Spans, TraceFacts, TraceRun};
use sluice_scenario::contest::{FlowSample, TracedMessage, WatchFlow, Watched, watch_flow};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

/// Most points of a line.
const POINTS: usize = 1_500;

/// Runs each program with the first seed until the message is acknowledged, and writes `flow.csv` and `flow.html`.
pub(super) fn run(
    source: &Source,
    opened: &Opened,
    (flow, every): (WatchFlow, Duration),
    traces: &TraceOutArgs,
    threads: usize,
    dir: &Path,
) -> Result<(), Failure> {
    let mut folder = Folder::open("run --watch-flow", dir, ["flow.csv", "flow.html"])?;
    let contest = &source.point.contest;
    let seed = contest.seeds().first().copied().unwrap_or(1);
    let stop = interrupt_flag();
    let stopped = || stop.load(Ordering::Relaxed);
    let mut all = Vec::new();
    for program in 0..contest.program.len() {
        all.push(with_setup(source, opened, (threads, &()), |setup| {
            watch_flow(contest, setup, (program, seed), (flow, every, traces.request(None)), &stopped)
                .map_err(|e| failure(contest, e))
        })?);
    }
    folder.text("flow.csv", "text/csv", "a message over time, with each program", &csv(&all)?)?;
    folder.text("flow.html", "text/html", "the same as a page", &page(&contest.name, &all))?;
    folder.finish()?;
    write_trace(traces, &contest.name, &all)?;
    let mut out = terminal::results(false);
    for watched in &all {
        writeln!(out, "{}", line(watched))?;
    }
    Ok(())
}

/// Writes the trace of `--trace-out`: the message with each program.
fn write_trace(traces: &TraceOutArgs, contest: &str, all: &[Watched]) -> Result<(), Failure> {
    let traced: Vec<(&str, &TracedMessage)> =
        all.iter().filter_map(|watched| Some((watched.label.as_str(), watched.traced.as_ref()?))).collect();
    let alone = all.len() == 1;
    let runs = traced.iter().map(|(label, traced)| TraceRun {
        label: if alone { String::new() } else { (*label).to_owned() },
        switches: traced.switches.iter().map(process).collect(),
        link: Box::new(|id, way| {
            let name = traced.links.iter().find(|(link, _)| *link == id).map(|(_, name)| name.as_str());
            direction(name.unwrap_or_default(), way)
        }),
        hosts: traced.hosts.clone(),
    });
    let runs: Vec<TraceRun<'_>> = runs.collect();
    let facts = TraceFacts {
        program: contest.to_owned(),
        packets: traced.iter().map(|(_, traced)| traced.frames).sum(),
        traced: traced.iter().map(|(_, traced)| traced.traced).sum(),
    };
    traces.write(&runs, &facts)
}

fn process((setup, spans): &(SwitchSetup, Spans)) -> Process<'_> {
    Process { name: setup.name.clone(), spans, port: Box::new(|dev_port| setup.port_name(dev_port)) }
}

/// Returns a sentence about a message.
fn line(watched: &Watched) -> String {
    let Watched { label, seed, from, message, end, queues, samples, .. } = watched;
    let time = match end {
        Some(end) => format!("acknowledged after {}", end.saturating_since(message.start)),
        None => "not acknowledged at the end of the run".to_owned(),
    };
    format!(
        "{label}, seed {seed}: message {} of {} bytes from {from} to {}, begun at {}, {time}; {} samples, {} queues",
        message.pair,
        message.bytes,
        message.to,
        message.start.since_origin(),
        samples.len(),
        queues.len()
    )
}

/// Numbers of a message at its sender: name in tables, heading and unit, factor of the drawn value.
type Number = (&'static str, &'static str, f64, fn(&FlowState) -> Option<u64>);

const NUMBERS: [Number; 5] = [
    ("rate_bps", "Rate, Gb/s", 1e-9, |state| Some(state.rate)),
    ("window_bytes", "Window, bytes", 1.0, |state| state.window),
    ("in_flight_bytes", "Bytes in flight", 1.0, |state| Some(state.in_flight)),
    ("rtt_ps", "Round trip, us", 1e-6, |state| state.rtt.map(Duration::as_ps)),
    ("notified", "Notifications of congestion", 1.0, |state| Some(state.notified)),
];

/// Returns a row for each number of each sample: time, program, name, value.
fn csv(all: &[Watched]) -> Result<String, Failure> {
    let mut table = CsvText::new(&["time_ps", "program", "seed", "name", "value"])?;
    for watched in all {
        for FlowSample { time, state, queues } in &watched.samples {
            let mut row = |name: &str, value: u64| {
                table.row(&[&time.as_ps(), &watched.label, &watched.seed, &name, &value])
            };
            for (name, _, _, get) in NUMBERS {
                state.as_ref().and_then(get).map_or(Ok(()), |value| row(name, value))?;
            }
            for (name, (depth, found)) in watched.queues.iter().zip(queues) {
                row(&format!("{name}, bytes"), *depth)?;
                found.map_or(Ok(()), |found| row(&format!("{name}, found bytes"), found))?;
            }
        }
    }
    table.finish()
}

fn page(title: &str, all: &[Watched]) -> String {
    let header = html! { @for watched in all { p.note { (line(watched)) } } };
    let mut page = Page::new(&format!("One message: {title}")).script(ZOOM).header(header);
    let us = |time: Duration| time.as_ps() as f64 / 1e6;
    let mut plots = Vec::new();
    for (_, heading, factor, get) in NUMBERS {
        let mut plot = Plot::new(heading, "time, us", heading);
        for watched in all {
            let point = |s: &FlowSample| Some((us(s.time), s.state.as_ref().and_then(get)? as f64 * factor));
            let points: Vec<(f64, f64)> = watched.samples.iter().filter_map(point).collect();
            let points = thinned(&points, POINTS);
            plot.lines.push(PlotLine {
                name: watched.label.clone(),
                points,
                style: PlotStyle::Steps,
                ..PlotLine::default()
            });
        }
        if !plot.is_empty() {
            plots.push(plot);
        }
    }
    page = page.section("sender", "At the sender", &html! { div.plots { @for plot in &plots { (plot) } } });
    let queues = all.iter().map(|watched| {
        let mut plot = Plot::new(&format!("Queues on the path with {}", watched.label), "time, us", "bytes");
        for (place, name) in watched.queues.iter().enumerate() {
            let point = |s: &FlowSample| {
                let (depth, found) = s.queues.get(place)?;
                Some((us(s.time), found.unwrap_or(0).max(*depth) as f64))
            };
            let points: Vec<(f64, f64)> = watched.samples.iter().filter_map(point).collect();
            let points = thinned(&points, POINTS);
            plot.lines.push(PlotLine {
                name: name.clone(),
                points,
                style: PlotStyle::Steps,
                ..PlotLine::default()
            });
        }
        plot
    });
    let queues: Vec<Plot> = queues.filter(|plot| !plot.is_empty()).collect();
    let note = "A value is the larger one of the depth at its time and the depths that packets of the message found since the last value.";
    page.section(
        "queues",
        "Queues",
        &html! { p.note { (note) } div.plots { @for plot in &queues { (plot) } } },
    )
    .html()
}
