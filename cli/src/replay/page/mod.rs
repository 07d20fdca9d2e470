//! `--html FILE`: one page about a replay, made from its summary: where packets ended, ports, latency, what queues and
//! pools held over time, counters. The page of a network has its switches and links, too.

mod over_time;
mod tables;

use super::endings::{Ending, endings};
use super::text::n;
use maud::{Markup, html};
use serde_json::Value;
use sluice_charts::{Page, Plot, PlotLine, PlotStyle, Table, ZOOM, share_bar};
use sluice_ir::Program;
use sluice_replay::{Latency, Levels};

/// A replay, as its page needs it.
pub(super) struct Run<'a> {
    pub(super) title: String,
    /// The command that made the page.
    pub(super) command: String,
    pub(super) summary: &'a Value,
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

pub(super) fn list<'v>(s: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    s[key].as_array().into_iter().flatten()
}

/// Returns the text of a string, or a number's digits; empty for nothing.
fn words(v: &Value) -> String {
    match v {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the page.
pub(super) fn page(run: &Run<'_>) -> String {
    let s = run.summary;
    let is_network = s["switches"].is_array();
    let mut page = Page::new(&run.title).script(ZOOM).header(header(run)).section(
        "fates",
        "Where packets went",
        &fates(run),
    );
    page = page
        .section_if(is_network, "switches", "Switches", || tables::switches(s))
        .section_if(is_network, "links", "Links", || tables::links(s))
        .section("ports", "Ports", &tables::ports(s))
        .section_if(s["latency_ns"].is_object(), "latency", "Latency", || latency(run));
    if let Some((text, drawing)) = &run.story {
        page = page.section("story", "Life of a flow", &story(text, drawing));
    }
    page = page.section_if(over_time::is_shown(run), "time", "Buffer over time", || over_time::view(run));
    page.section_if(list(s, "queues").next().is_some(), "queues", "Queues", || tables::queues(s, run.cell))
        .section_if(tables::has_groups(s), "groups", "Priority groups", || tables::groups(s))
        .section_if(list(s, "pools").next().is_some(), "pools", "Pools", || tables::pools(s, run.cell))
        .section_if(tables::has_pfc(s), "pfc", "PFC", || tables::pfc(s))
        .section_if(!run.hits.is_empty(), "entries", "Entries that packets hit", || hits(run))
        .section_if(tables::has_state(s), "state", "Registers and readings", || tables::state(s))
        .section("inputs", "Inputs and parameters", &tables::inputs(s))
        .html()
}

fn header(run: &Run<'_>) -> Markup {
    let s = run.summary;
    let p = &s["packets"];
    html! {
        p.verdict {
            b { (n(&p["in"])) } " packets in + " (n(&p["created"])) " created = " b { (n(&p["out"])) } " out + "
            b { (n(&p["dropped"])) } " dropped + " (n(&p["absorbed"])) " absorbed + " (n(&p["held"])) " held"
            @if let Some(hops) = s["hops"].as_u64() { "; " (hops) " hops over links" }
        }
        p.note { code { (run.command) } }
        @if let Some(line) = super::control_plane::text(&s["control_plane"]) { p { (line) } }
        @for v in list(s, "violations") {
            p.verdict {
                span.tag.fail { "FAILED" } " " b { (words(&v["property"])) }
                @if let Some(switch) = v["switch"].as_str() { " at " (switch) }
                @if let Some(packet) = v["packet"].as_u64() { ", packet " (packet) }
                ": " (words(&v["text"]))
            }
        }
        @for warning in list(s, "warnings") { p.verdict { b { "Warning: " } (words(warning)) } }
    }
}

fn fates(run: &Run<'_>) -> Markup {
    let s = run.summary;
    let entered = n(&s["packets"]["in"]).max(1) as f64;
    let share = |packets: u64| packets as f64 / entered;
    let all = endings(&run.programs, s);
    let help = |e: &Ending| e.help.as_deref().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let held =
        s["held"].as_object().into_iter().flatten().map(|(place, count)| format!("{count} in {place}"));
    let held: Vec<String> = held.collect();
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

fn latency(run: &Run<'_>) -> Markup {
    let l = &run.summary["latency_ns"];
    let ns = |key: &str| l[key].as_f64().map_or(String::new(), |ns| format!("{ns:.1}"));
    let mut plot = Plot::new("Distribution of latencies", "latency, ns", "packets that are no slower, %");
    let shares = (0..=400).map(|n| f64::from(n) / 400.0).chain(TAIL);
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_by(f64::total_cmp);
    let end = |share: f64| match share {
        s if s <= 0.0 => run.latency.min().unwrap_or(0),
        s if s >= 1.0 => run.latency.max().unwrap_or(0),
        s => run.latency.quantile(s),
    };
    let points = shares.iter().map(|share| (end(*share) as f64 / 1000.0, 100.0 * share)).collect();
    plot.lines.push(PlotLine {
        name: "all packets".to_owned(),
        points,
        style: PlotStyle::Steps,
        ..PlotLine::default()
    });
    let row = |(name, key): (&str, &str)| vec![name.to_owned(), ns(key)];
    let rows = [("least", "min"), ("median", "p50"), ("99 %", "p99"), ("most", "max")].into_iter().map(row);
    html! {
        p.note {
            "From " (l["method"].as_str().unwrap_or("first bit in to first bit out"))
            "; shares to three significant digits, ends exactly."
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
