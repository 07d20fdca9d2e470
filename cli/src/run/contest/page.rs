//! One HTML page about a contest: verdicts, programs with their intervals, slowdowns, time lines and links.

use super::Finished;
use super::amount::{count, times};
use super::compared;
use super::plot::{buckets, slowdowns_of};
use super::text::{checked, setting};
use maud::{Markup, html};
use sluice_charts::{HeatCell, HeatMap, HeatRow, Page, Plot, PlotLine, PlotStyle, ZOOM, cumulative, thinned};
use sluice_scenario::contest::{Figure, LinkSamples, Performance, Samples, Series, SwitchSamples};
use std::collections::{BTreeMap, BTreeSet};

/// Most points of all lines of a plot together.
const POINTS: usize = 4_000;
/// Most links, and stretches of time, of a heat map over time.
const LINKS: usize = 32;
const STRETCHES: usize = 48;
/// Most switches of a heat map from switch to switch.
const SWITCHES: usize = 48;

/// Returns the page of a contest.
pub(super) fn page(finished: &Finished) -> String {
    let page = Page::new(&finished.contest.name).script(ZOOM).header(header(finished));
    sections(page, finished, None).html()
}

/// Returns one page about several contests, one after the other.
pub(super) fn pages(all: &[Finished]) -> String {
    let failed = all.iter().filter(|finished| !finished.verdicts.hold()).count();
    let summary = html! {
        p.verdict { (all.len()) " contests; expectations fail in " b { (failed) } }
        ol { @for (number, finished) in all.iter().enumerate() {
            li { a href=(format!("#{number}-contest")) { (finished.contest.name) } " " (holds(finished)) }
        } }
    };
    let mut page = Page::new("Contests").script(ZOOM).header(summary);
    for (number, finished) in all.iter().enumerate() {
        let name = &finished.contest.name;
        page = page.section(&format!("{number}-contest"), name, &header(finished));
        page = sections(page, finished, Some(number));
    }
    page.html()
}

/// Returns the word on the expectations of a contest; nothing if it has none.
fn holds(finished: &Finished) -> Markup {
    match (finished.verdicts.hold(), finished.verdicts.list.is_empty()) {
        (false, _) => html! { span.tag.fail { "FAILS" } },
        (true, false) => html! { span.tag.pass { "holds" } },
        (true, true) => html! {},
    }
}

fn header(finished: &Finished) -> Markup {
    html! {
        @for line in setting(&finished.contest, &finished.results.seeds).lines() { p.note { (line) } }
        @if !finished.axes.is_empty() {
            p { @for (key, value) in &finished.axes { code { (key) " = " (value) } " " } }
        }
    }
}

/// Adds the sections of a contest. `number` tells the contests of a page apart.
fn sections(page: Page, finished: &Finished, number: Option<usize>) -> Page {
    let series = &finished.results.series;
    let address = |id: &str| number.map_or_else(|| id.to_owned(), |number| format!("{number}-{id}"));
    let title =
        |text: &str| number.map_or_else(|| text.to_owned(), |_| format!("{text}: {}", finished.contest.name));
    let has_verdicts = !finished.verdicts.list.is_empty() || finished.verdicts.error.is_some();
    let mut page = page
        .section_if(has_verdicts, &address("expectations"), &title("Expectations"), || verdicts(finished))
        .section(&address("programs"), &title("Programs"), &programs(series))
        .section_if(compared::is_shown(series), &address("compared"), &title("Programs compared"), || {
            compared::view(series)
        })
        .section(
            &address("slowdown"),
            &title("Slowdown"),
            &html! { div.plots { (distribution(finished)) (by_size(finished)) } },
        );
    let sampled: Vec<(&Series, &Samples)> =
        series.iter().filter_map(|series| Some((series, series.runs.first()?.samples.as_ref()?))).collect();
    if !sampled.is_empty() {
        let seed = finished.results.seeds.first().copied().unwrap_or(0);
        let lines = html! {
            p.note { "Samples of the runs with seed " (seed) "." }
            div.plots { @for plot in time_lines(&sampled) { (plot) } }
        };
        page = page.section(&address("time"), &title("Over time"), &lines);
        let links = html! {
            @for (series, samples) in &sampled {
                h3 { (series.label) }
                (between_switches(samples))
                (over_time(samples))
            }
        };
        page = page.section(&address("links"), &title("Use of links"), &links);
    }
    page.section(&address("numbers"), &title("All numbers"), &numbers(series))
}

fn verdicts(finished: &Finished) -> Markup {
    html! {
        @for verdict in &finished.verdicts.list {
            @let text = checked(verdict, &finished.results.seeds);
            p.verdict {
                span.tag.pass[verdict.holds].fail[!verdict.holds] { (if verdict.holds { "holds" } else { "FAILS" }) } " "
                code { (text.trim_start_matches("holds").trim_start_matches("FAILS").trim()) }
            }
        }
        @if let Some(error) = &finished.verdicts.error { p.verdict { span.tag.fail { "FAILS" } " " code { (error) } } }
    }
}

/// Name of a number, heading of its column, and how it is written.
type Column = (&'static str, &'static str, fn(&Figure) -> String);

/// Columns of the table of programs.
pub(super) const COLUMNS: [Column; 14] = [
    ("messages", "messages", count),
    ("avg", "slowdown", times),
    ("p50", "50 %", times),
    ("p95", "95 %", times),
    ("p99", "99 %", times),
    ("p999", "99.9 %", times),
    ("small_p99", "small 99 %", times),
    ("large_p99", "large 99 %", times),
    ("fct_avg_ns", "FCT, ns", count),
    ("goodput_mbps", "goodput, Mb/s", count),
    ("marked", "marked", count),
    ("pauses", "PFC frames", count),
    ("resent", "resent", count),
    ("dropped", "dropped", count),
];

fn programs(all: &[Series]) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th.l { "program" } @for (_, heading, _) in COLUMNS { th { (heading) } } th { "unfinished" } } }
            tbody {
                @for series in all {
                    @let figures = series.figures();
                    @let unfinished: usize = series.runs.iter().map(|run| run.unfinished.len()).sum();
                    tr {
                        th.l { (series.label) }
                        @for (name, _, write) in COLUMNS { td { (figures.get(name).map_or_else(|| "-".to_owned(), write)) } }
                        td { (unfinished) }
                    }
                }
            }
        } }
        p.note { "Mean over the seeds ± half of the 95 % interval of Student's distribution; unfinished: the sum." }
    }
}

/// Draws the distribution of slowdowns, of all seeds together.
fn distribution(finished: &Finished) -> Plot {
    let mut plot = Plot::new("Distribution of slowdowns", "slowdown", "messages that are no slower, %");
    plot.log_x = true;
    for series in &finished.results.series {
        let mut all: Vec<u64> = slowdowns_of(series).map(|(_, slowdown)| slowdown).collect();
        all.sort_unstable();
        let sorted: Vec<f64> = all.iter().map(|slowdown| *slowdown as f64 / 1000.0).collect();
        let points = cumulative(&sorted);
        plot.lines.push(PlotLine {
            name: series.label.clone(),
            points,
            bars: Vec::new(),
            style: PlotStyle::Steps,
        });
    }
    plot
}

fn by_size(finished: &Finished) -> Plot {
    let mut plot = Plot::new(
        "Slowdown by size: at most 20 classes of similar size",
        "bytes of a message",
        "slowdown at 99 %",
    );
    plot.log_x = true;
    for series in &finished.results.series {
        let (name, points) = (series.label.clone(), buckets(series));
        plot.lines.push(PlotLine { name, points, bars: Vec::new(), style: PlotStyle::Marked });
    }
    plot
}

/// A number of all switches in one interval.
type OverTime = (&'static str, &'static str, fn(&Samples, usize) -> f64);

fn most(samples: &Samples, n: usize, get: fn(&SwitchSamples) -> &Vec<u32>, in_bytes: bool) -> f64 {
    let of = |s: &SwitchSamples| {
        let unit = if in_bytes { s.cell } else { 1 };
        u64::from(get(s).get(n).copied().unwrap_or(0)) * unit
    };
    samples.switches.iter().map(of).max().unwrap_or(0) as f64
}

/// Heading, unit and value of the time lines.
const TIME_LINES: [OverTime; 7] = [
    ("Delivered to hosts", "Gb/s", |s, n| {
        s.delivered[n] as f64 * 8_000.0 / (s.every.as_ps() as f64).max(1.0)
    }),
    ("Fullest buffer of a switch", "bytes", |s, n| most(s, n, |s| &s.buffer, true)),
    ("Deepest queue", "bytes", |s, n| most(s, n, |s| &s.deepest, true)),
    ("Paused ports", "ports", |s, n| {
        s.switches.iter().map(|s| f64::from(s.paused.get(n).copied().unwrap_or(0))).sum()
    }),
    ("Busiest link", "% of its rate", |s, n| {
        s.links.iter().map(|l| l.share.get(n).copied().unwrap_or(0)).max().unwrap_or(0) as f64 / 10.0
    }),
    ("Imbalance of uplinks: (most - least) / mean, the mean of switches", "ratio", |s, n| {
        let all = s.imbalances(n..n + 1);
        all.iter().sum::<u64>() as f64 / 1000.0 / (all.len() as f64).max(1.0)
    }),
    ("Reorder queues in use at a port", "queues", |s, n| most(s, n, |s| &s.reordering, false)),
];

/// Draws what was sampled over time, with a line for each program. What is 0 everywhere is not drawn.
fn time_lines(sampled: &[(&Series, &Samples)]) -> Vec<Plot> {
    let each = POINTS / sampled.len().max(1);
    let draw = |(title, unit, value): OverTime| {
        let mut plot = Plot::new(title, "time, us", unit);
        for (series, samples) in sampled {
            let every = samples.every.as_ps() as f64 / 1e6;
            let points: Vec<(f64, f64)> =
                (0..samples.len()).map(|n| ((n + 1) as f64 * every, value(samples, n))).collect();
            let line = PlotLine {
                name: series.label.clone(),
                points: thinned(&points, each),
                ..PlotLine::default()
            };
            plot.lines.push(line);
        }
        plot
    };
    let plots = TIME_LINES.into_iter().map(draw);
    plots.filter(|plot| plot.lines.iter().any(|line| line.points.iter().any(|p| p.1 > 0.0))).collect()
}

fn mean(shares: &[u32]) -> f64 {
    shares.iter().map(|share| f64::from(*share)).sum::<f64>() / (shares.len() as f64).max(1.0) / 1000.0
}

/// Draws the mean use of the links from each switch to each other one.
fn between_switches(samples: &Samples) -> Markup {
    let names: BTreeSet<&str> = samples.links.iter().flat_map(|l| [l.from.as_str(), l.to.as_str()]).collect();
    if names.len() > SWITCHES {
        return html! { p.note { (names.len()) " switches: the table from switch to switch is left out." } };
    }
    let mut cells: BTreeMap<(&str, &str), Vec<&LinkSamples>> = BTreeMap::new();
    for link in &samples.links {
        cells.entry((&link.from, &link.to)).or_default().push(link);
    }
    let cell = |from: &str, to: &str| {
        let Some(links) = cells.get(&(from, to)) else { return HeatCell::default() };
        let share = links.iter().map(|link| mean(&link.share)).sum::<f64>() / links.len() as f64;
        let most = |link: &&LinkSamples| link.share.iter().copied().max().unwrap_or(0);
        let line = |link: &&LinkSamples| {
            format!(
                "{}: mean {:.1} %, most {:.1} %",
                link.name,
                100.0 * mean(&link.share),
                f64::from(most(link)) / 10.0
            )
        };
        let details = [format!("{from} to {to}")].into_iter().chain(links.iter().map(line)).collect();
        HeatCell { text: format!("{:.0}", 100.0 * share), share, details }
    };
    let row = |from: &&str| HeatRow {
        head: (*from).to_owned(),
        cells: names.iter().map(|to| cell(from, to)).collect(),
        ..HeatRow::default()
    };
    let map = HeatMap {
        corner: ["from \\ to".to_owned(), String::new()],
        columns: names.iter().map(|name| (*name).to_owned()).collect(),
        rows: names.iter().map(row).collect(),
    };
    html! { p { "Mean use of the links from switch to switch, % of their rate" } (map) }
}

/// Draws the use of the busiest links over time.
fn over_time(samples: &Samples) -> Markup {
    let mut busiest: Vec<&LinkSamples> = samples.links.iter().collect();
    let used = |link: &LinkSamples| link.share.iter().map(|share| u64::from(*share)).sum::<u64>();
    busiest.sort_by_key(|link| (std::cmp::Reverse(used(link)), &link.name));
    busiest.truncate(LINKS);
    let stretch = samples.len().div_ceil(STRETCHES).max(1);
    let row = |link: &&LinkSamples| {
        let cell = |part: &[u32]| HeatCell { share: mean(part), ..HeatCell::default() };
        HeatRow {
            head: link.name.clone(),
            remark: format!("{:.0} %", 100.0 * mean(&link.share)),
            cells: link.share.chunks(stretch).map(cell).collect(),
            ..HeatRow::default()
        }
    };
    let time = |n: usize| format!("{}", samples.every * (n * stretch) as u64);
    let map = HeatMap {
        corner: ["link".to_owned(), "mean".to_owned()],
        columns: (0..samples.len().div_ceil(stretch)).map(time).collect(),
        rows: busiest.iter().map(row).collect(),
    };
    html! { p { "The busiest links over time" } (map) }
}

/// Returns all numbers of all programs, folded.
fn numbers(all: &[Series]) -> Markup {
    let figures: Vec<BTreeMap<String, Figure>> = all.iter().map(Series::figures).collect();
    let names: BTreeSet<&String> = figures.iter().flat_map(BTreeMap::keys).collect();
    html! {
        details {
            summary { (names.len()) " numbers, mean ± half of the 95 % interval" }
            div.wide { table {
                thead { tr { th.l { "number" } th.l { "unit" } @for series in all { th { (series.label) } } } }
                tbody {
                    @for name in names {
                        tr {
                            td.l { code { (name) } }
                            td.l { (Performance::unit(name).unwrap_or("")) }
                            @for of in &figures { td { (of.get(name).map_or_else(|| "-".to_owned(), count)) } }
                        }
                    }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::{Duration, Time};
    use sluice_fabric::host::message::{Completion, Message};
    use sluice_scenario::contest::{Contest, Results, Sent, Verdicts};
    use std::net::Ipv4Addr;

    const CONTEST: &str = "name = \"many\"\ntopology = \"t\"\n[workload]\nsizes = \"solar\"\nload = 1\ntime = \"10ms\"\n[hosts]\ncable = \"1us\"\nrecovery = \"selective\"\n[metrics]\nsample = \"10us\"\n[[program]]\nname = \"ecmp\"\n";

    /// A run with 50,000 messages, 128 links and 1,000 samples.
    fn large(offset: u64) -> Performance {
        let address = Ipv4Addr::new(10, 0, 0, 1);
        let message = |n: u64| {
            let start = Time::from_nanos(n * 200);
            let message = Message {
                pair: n as u32 + 1,
                transport: 0,
                workload: 0,
                start,
                to: address,
                port: 1,
                bytes: 1 + n * 7_919 % 2_000_000,
            };
            let took = Duration::from_nanos(8_000 + (n * n * 31 + offset) % 400_000);
            let own = Duration::from_nanos(8_000);
            Sent {
                from: address,
                completion: Completion { message, end: start + took, cuts: 0 },
                own,
                fastest: own,
            }
        };
        let share = |link: u32| (0..1_000).map(|n| (n * 37 + link * 101) % 1_000).collect::<Vec<u32>>();
        let link = |n: u32| LinkSamples {
            name: format!("leaf{}:{n}-spine{}:{n}", n / 8, n % 8),
            from: format!("leaf{}", n / 8),
            to: format!("spine{}", n % 8),
            up: true,
            share: share(n),
        };
        let switch = |n: u32| SwitchSamples {
            name: format!("leaf{n}"),
            cell: 176,
            buffer: share(n),
            deepest: share(n + 1),
            paused: share(n + 2),
            reordering: share(n + 3),
            reorder_cells: share(n + 4),
        };
        let samples = Samples {
            every: Duration::from_micros(10),
            links: (0..128).map(link).collect(),
            switches: (0..16).map(switch).collect(),
            delivered: (0..1_000).map(|n| n * n % 9_973).collect(),
        };
        Performance {
            sent: (0..50_000).map(message).collect(),
            samples: Some(samples),
            ..Performance::default()
        }
    }

    #[test]
    fn a_page_of_many_messages_is_small_and_keeps_extrema() {
        let series = |n: u64| Series { label: format!("p{n}"), program: "ecmp".into(), runs: vec![large(n)] };
        let results = Results { seeds: vec![1], series: (0..4).map(series).collect() };
        let worst = results.series[0].runs[0]
            .sent
            .iter()
            .map(|sent| sent.slowdown(Default::default()))
            .max()
            .unwrap();
        let contest = Contest::parse("f", CONTEST).unwrap();
        let (axes, verdicts, digests) = (Vec::new(), Verdicts::default(), BTreeMap::new());
        let html = page(&Finished { contest, axes, results, verdicts, digests });
        assert!(html.len() < 2_000_000, "{} bytes", html.len());
        // Nothing is fetched, and the greatest slowdown is in the data of the distribution: the time is 8 us and at most 400.
        assert!(!html.contains("http") && !html.contains("src="), "the page names another file");
        assert!(html.contains(&format!(",{}]", worst as f64 / 1000.0)), "{worst}");
        for id in ["programs", "slowdown", "time", "links", "numbers"] {
            assert!(html.contains(&format!("<section id=\"{id}\">")), "{id}");
        }
        assert_eq!(html.matches("<figure class=\"plot\">").count(), 2 + TIME_LINES.len());
    }
}
