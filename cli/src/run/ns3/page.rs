//! `--html FILE` of configs of ns-3 simulators: counts, slowdowns, the slowest flows, and pauses over time.

use crate::run::sizes::groups;
use maud::{Markup, html};
use sluice_charts::{Page, Plot, PlotLine, PlotStyle, Table, ZOOM, cumulative, thinned};
use sluice_scenario::ns3::{Experiment, Outcome};
use std::collections::BTreeMap;

/// Most points of a line.
const POINTS: usize = 1_500;
/// Slowest flows that are listed.
const SLOWEST: usize = 20;

/// A run of a config with its text on the terminal.
pub(super) struct Run {
    pub(super) experiment: Experiment,
    pub(super) outcome: Outcome,
    pub(super) text: String,
}

/// A complete flow.
struct CompleteFlow {
    /// The row of the flow file.
    row: String,
    bytes: u64,
    start_us: f64,
    time_us: f64,
    slowdown: f64,
}

/// Returns the page.
pub(super) fn page(runs: &[Run], command: &str) -> String {
    let header = html! { p.note { code { (command) } } };
    let mut page = Page::new("Configs of ns-3 simulators").script(ZOOM).header(header);
    for (number, run) in (1..).zip(runs) {
        let title = run.experiment.config.origin.clone();
        page = page.section(&format!("run-{number}"), &title, &content(run));
    }
    page.html()
}

fn content(run: &Run) -> Markup {
    let flows = flows(&run.outcome.fct);
    let first = flows.iter().map(|flow| flow.start_us).fold(f64::INFINITY, f64::min);
    let first = if first.is_finite() { first } else { 0.0 };
    let plots = [slowdowns(&flows), sizes(&flows), pauses(&run.outcome.pfc, first)];
    html! {
        pre { (run.text) }
        ul { @for note in &run.experiment.notes { li { (note) } } }
        div.plots { @for plot in plots.iter().filter(|plot| !plot.is_empty()) { (plot) } }
        @if !flows.is_empty() { h3 { "Slowest flows" } (slowest(flows)) }
    }
}

/// Reads the rows of complete flows: ends, ports, bytes, start and time in ns, time of a lone flow in ns.
fn flows(text: &str) -> Vec<CompleteFlow> {
    let flow = |row: &str| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<f64>().ok());
        let (start, time, alone) = (number(5)?, number(6)?, number(7)?);
        let bytes = words.get(4)?.parse().ok()?;
        let (start_us, time_us) = (start / 1e3, time / 1e3);
        Some(CompleteFlow { row: row.to_owned(), bytes, start_us, time_us, slowdown: time / alone.max(1.0) })
    };
    text.lines().filter_map(flow).collect()
}

/// Returns the share of flows that are no slower, over the slowdown.
fn slowdowns(flows: &[CompleteFlow]) -> Plot {
    let mut all: Vec<f64> = flows.iter().map(|flow| flow.slowdown).collect();
    all.sort_by(f64::total_cmp);
    let mut plot = Plot::new("Slowdown against a lone flow", "slowdown", "flows that are no slower, %");
    plot.log_x = true;
    plot.lines.push(line("flows", cumulative(&all), PlotStyle::Steps));
    plot
}

/// Returns quantiles of the slowdown over the size of flows.
fn sizes(flows: &[CompleteFlow]) -> Plot {
    let groups = groups(flows.iter().map(|flow| (flow.bytes, flow.slowdown)).collect());
    let mut plot = Plot::new("Slowdown by size", "bytes of a flow", "slowdown");
    plot.log_x = true;
    for (name, share) in [("50 %", 0.5), ("95 %", 0.95), ("99 %", 0.99)] {
        let point = |of: &Vec<(u64, f64)>| {
            let mut slow: Vec<f64> = of.iter().map(|(_, slowdown)| *slowdown).collect();
            slow.sort_by(f64::total_cmp);
            let rank = ((share * slow.len() as f64).ceil() as usize).clamp(1, slow.len());
            (of[of.len() / 2].0 as f64, slow[rank - 1])
        };
        plot.lines.push(line(name, groups.iter().map(point).collect(), PlotStyle::Marked));
    }
    plot
}

/// Returns the number of ports that are paused, at hosts and at switches, over the time since the first flow starts.
fn pauses(text: &str, first_us: f64) -> Plot {
    let mut plot = Plot::new("Paused ports", "time since the first flow, us", "ports");
    for (kind, name) in [("0", "hosts"), ("1", "switches")] {
        let mut paused: BTreeMap<(&str, &str), bool> = BTreeMap::new();
        let mut points = Vec::new();
        for row in text.lines() {
            let words: Vec<&str> = row.split_whitespace().collect();
            let [time, node, of, interface, pauses] = words[..] else { continue };
            let Ok(time) = time.parse::<f64>() else { continue };
            if of == kind {
                paused.insert((node, interface), pauses == "1");
                points
                    .push((time / 1e3 - first_us, paused.values().filter(|paused| **paused).count() as f64));
            }
        }
        if !points.is_empty() {
            plot.lines.push(line(name, thinned(&points, POINTS), PlotStyle::Steps));
        }
    }
    plot
}

fn line(name: &str, points: Vec<(f64, f64)>, style: PlotStyle) -> PlotLine {
    PlotLine { name: name.to_owned(), points, style, ..PlotLine::default() }
}

fn slowest(mut flows: Vec<CompleteFlow>) -> Table {
    flows.sort_by(|a, b| b.slowdown.total_cmp(&a.slowdown).then_with(|| a.row.cmp(&b.row)));
    let header = ["source", "destination", "ports", "bytes", "start us", "time us", "slowdown"];
    Table::new(&header).rows(flows.into_iter().take(SLOWEST).map(|flow| {
        let words: Vec<&str> = flow.row.split_whitespace().take(4).collect();
        let [source, destination, from, to] = words[..] else { return Vec::new() };
        vec![
            source.to_owned(),
            destination.to_owned(),
            format!("{from} {to}"),
            flow.bytes.to_string(),
            format!("{:.3}", flow.start_us),
            format!("{:.3}", flow.time_us),
            format!("{:.2}", flow.slowdown),
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_slowdowns_and_pauses() {
        let flows = flows(
            "0b000001 0b000101 10000 100 1000 2000000000 5000 2500\n1 2 3 4 9000 2000000100 8000 8000\n",
        );
        assert_eq!(flows.iter().map(|f| f.slowdown).collect::<Vec<_>>(), [2.0, 1.0]);
        assert_eq!(slowdowns(&flows).lines[0].points, [(1.0, 50.0), (2.0, 100.0)]);
        let plot = pauses("1000 3 0 1 1\n2000 4 0 1 1\n3000 3 0 1 0\n3500 9 1 2 1\n", 0.5);
        assert_eq!(plot.lines[0].points, [(0.5, 1.0), (1.5, 2.0), (2.5, 1.0)]);
        assert_eq!((plot.lines.len(), plot.lines[1].points.as_slice()), (2, &[(3.0, 1.0)][..]));
    }
}
