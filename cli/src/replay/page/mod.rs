//! `--html FILE`: one page about a replay, made from its summary: where packets ended, ports, latency, what queues and
//! pools held over time, counters. The page of a network has its switches and links, too.

mod over_time;
mod tables;

use super::endings::{Ending, endings};
use maud::{Markup, html};
use sluice_charts::{Page, Plot, PlotLine, PlotStyle, Table, ZOOM, share_bar};
use sluice_ir::Program;
use sluice_replay::network::NetworkSummary;
use sluice_replay::{BufferState, Latency, LatencyRow, Levels, Summary};

/// A replay, as its page needs it.
pub(super) struct Run<'a> {
    pub(super) title: String,
    /// The command that made the page.
    pub(super) command: String,
    /// The summary; of a network, of all switches.
    pub(super) summary: &'a Summary,
    /// Switches and links of a network.
    pub(super) network: Option<&'a NetworkSummary>,
    pub(super) programs: Vec<&'a Program>,
    pub(super) latency: &'a Latency,
    /// Bytes of a buffer cell.
    pub(super) cell: u64,
    /// By switch: its name, empty for a single one, and what it held; empty if the run had no time.
    pub(super) levels: Vec<(&'a str, &'a Levels)>,
    /// The life of a flow, as text and as a drawing.
    pub(super) story: Option<(String, String)>,
    /// Hits of the entries of a single switch: table, entry, packets, bytes.
    pub(super) hits: Vec<[String; 4]>,
}

impl Run<'_> {
    /// Returns the shared buffers, each with the name of its switch in a network.
    fn buffers(&self) -> impl Iterator<Item = (Option<&str>, &BufferState)> {
        let own = self.summary.buffer.iter().map(|buffer| (None, buffer));
        let switches = self.network.iter().flat_map(|network| &network.switches);
        own.chain(switches.filter_map(|s| Some((Some(s.name.as_str()), s.summary.buffer.as_ref()?))))
    }
}

/// Returns the page.
pub(super) fn page(run: &Run<'_>) -> String {
    let s = run.summary;
    let mut page = Page::new(&run.title).script(ZOOM).header(header(run)).section(
        "fates",
        "Where packets went",
        &fates(run),
    );
    if let Some(network) = run.network {
        page = page.section("switches", "Switches", &tables::switches(network)).section(
            "links",
            "Links",
            &tables::links(network),
        );
    }
    page = page.section("ports", "Ports", &tables::ports(s));
    if let Some(row) = &s.latency_ns {
        page = page.section("latency", "Latency", &latency(run.latency, row));
    }
    if let Some((text, drawing)) = &run.story {
        page = page.section("story", "Life of a flow", &story(text, drawing));
    }
    page = page.section_if(over_time::is_shown(run), "time", "Buffer over time", || over_time::view(run));
    page.section_if(!s.queues.is_empty(), "queues", "Queues", || tables::queues(run))
        .section_if(tables::has_groups(run), "groups", "Priority groups", || tables::groups(run))
        .section_if(!s.pools.is_empty(), "pools", "Pools", || tables::pools(s, run.cell))
        .section_if(tables::has_pfc(run), "pfc", "PFC", || tables::pfc(run))
        .section_if(!run.hits.is_empty(), "entries", "Entries that packets hit", || hits(run))
        .section_if(tables::has_state(s), "state", "Registers and readings", || tables::state(s))
        .section("inputs", "Inputs and parameters", &tables::inputs(s))
        .html()
}

fn header(run: &Run<'_>) -> Markup {
    let s = run.summary;
    let p = &s.packets;
    html! {
        p.verdict {
            b { (p.entered) } " packets in + " (p.created) " created = " b { (p.out) } " out + "
            b { (p.dropped) } " dropped + " (p.absorbed) " absorbed + " (p.held) " held"
            @if let Some(network) = run.network { "; " (network.hops) " hops over links" }
        }
        p.note { code { (run.command) } }
        @if let Some(line) = s.control_plane.as_ref().and_then(|report| report.line.as_ref()) { p { (line) } }
        @for v in &s.violations {
            p.verdict {
                span.tag.fail { "FAILED" } " " b { (v.property) }
                @if let Some(switch) = &v.switch { " at " (switch) }
                @if let Some(packet) = v.packet { ", packet " (packet) }
                ": " (v.text)
            }
        }
        @for warning in &s.warnings { p.verdict { b { "Warning: " } (warning) } }
    }
}

fn fates(run: &Run<'_>) -> Markup {
    let s = run.summary;
    let entered = s.packets.entered.max(1) as f64;
    let share = |packets: u64| packets as f64 / entered;
    let all = endings(&run.programs, s);
    let help = |e: &Ending| e.help.as_deref().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let held: Vec<String> = s.held.iter().map(|(place, count)| format!("{count} in {place}")).collect();
    let helps = all.iter().any(|e| e.help.is_some());
    html! {
        @if all.is_empty() { p { "No packet ended inside." } } @else {
            div.wide { table {
                thead { tr { th.l { "reason" } th.l { "fate" } th { "packets" } th { "of packets in" } th.l { "" }
                th.l { "meaning" } @if helps { th.l { "try" } } } }
                tbody { @for e in &all {
                    tr {
                        td.l { code { (e.reason) } } td.l { (e.word) } td { (e.packets) }
                        td { (format!("{:.1} %", 100.0 * share(e.packets))) } td.l { (share_bar(share(e.packets))) }
                        td.l.t { (e.meaning) }
                        @if helps { td.l.t { (help(e)) } }
                    }
                } }
            } }
        }
        @if !held.is_empty() { p { "Held at the end: " (held.join(", ")) "." } }
    }
}

/// Shares whose latencies are drawn beyond every quarter of a percent.
const TAIL: [f64; 3] = [0.999, 0.9999, 0.99999];

fn latency(all: &Latency, row: &LatencyRow) -> Markup {
    let mut plot = Plot::new("Distribution of latencies", "latency, ns", "packets that are no slower, %");
    let shares = (0..=400).map(|n| f64::from(n) / 400.0).chain(TAIL);
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let end = |share: f64| match share {
        s if s <= 0.0 => all.min().unwrap_or(0),
        s if s >= 1.0 => all.max().unwrap_or(0),
        s => all.quantile(s),
    };
    let points = shares.iter().map(|share| (end(*share) as f64 / 1000.0, 100.0 * share)).collect();
    plot.lines.push(PlotLine {
        name: "all packets".to_owned(),
        points,
        style: PlotStyle::Steps,
        ..PlotLine::default()
    });
    let ends = [("least", row.min), ("median", row.p50), ("99 %", row.p99), ("most", row.max)];
    let rows = ends.into_iter().map(|(name, ns)| vec![name.to_owned(), format!("{ns:.1}")]);
    html! {
        p.note {
            "From " (row.method) "; shares to three significant digits, ends exactly."
        }
        div.plots { (plot) (Table::new(&["", "ns"]).rows(rows)) }
    }
}

fn story(text: &str, drawing: &str) -> Markup {
    html! {
        div.wide { (maud::PreEscaped(drawing)) }
        details { summary { "The same as text" } pre.code { (text) } }
    }
}

fn hits(run: &Run<'_>) -> Markup {
    let rows = run.hits.iter().map(|row| row.to_vec());
    html! { (Table::new(&["table", "entry", "packets", "bytes"]).rows(rows)) }
}
