//! Results of contests as tables, with their expectations.

use super::Finished;
use super::amount::{count, range, times};
use crate::console::table::table;
use sluice_papers::markdown_text;
use sluice_scenario::contest::{Contest, Figure, Judged, Results, Series, SizeBin, Verdict, WorkloadSetting};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the report, as Markdown or as plain text.
pub(super) fn report(finished: &Finished, markdown: bool) -> String {
    let Finished { contest, axes, results, verdicts, .. } = finished;
    let mut text = if markdown {
        format!("# {}\n", markdown_text(&contest.name))
    } else {
        format!("{}\n", contest.name)
    };
    let mut say = |part: String| {
        text.push('\n');
        text.push_str(&part);
    };
    say(setting(contest, &results.seeds));
    if !axes.is_empty() {
        let pairs: Vec<String> = axes.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        say(format!("{}\n", pairs.join(", ")));
    }
    let figures: Vec<Figures> = results.series.iter().map(Series::figures).collect();
    let rows = || results.series.iter().map(|series| series.label.as_str()).zip(&figures);
    for (header, columns) in TABLES {
        let row = |(label, figures): (&str, &Figures)| -> Vec<String> {
            [label.to_owned()].into_iter().chain(cells(columns, figures)).collect()
        };
        say(show(header, rows().map(row).collect(), markdown));
    }
    for (header, columns) in measured(contest) {
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |(label, figures): (&str, &Figures)| -> Vec<String> {
            let cell =
                |(name, write): &(String, Written)| figures.get(name).map_or_else(|| "-".to_owned(), write);
            [label.to_owned()].into_iter().chain(columns.iter().map(cell)).collect()
        };
        say(show(&header, rows().map(row).collect(), markdown));
    }
    for (series, figures) in results.series.iter().zip(&figures) {
        if let Some(line) = losses(&series.label, figures) {
            say(line);
        }
        if let Some(lines) = unfinished(series, results) {
            say(lines);
        }
        if let Some(lines) = deadlocks(series, results) {
            say(lines);
        }
        for warning in series.warnings() {
            say(wrapped(&format!("{}: warning: {warning}", series.label)));
        }
    }
    let mut checks: String = all_checked(finished);
    if let Some(error) = &verdicts.error {
        // Writing to a string cannot fail.
        let _ = writeln!(checks, "FAILS  {error}");
    }
    if !checks.is_empty() {
        say(if markdown { format!("```text\n{checks}```\n") } else { checks });
    }
    text
}

/// Returns the setting, the slowdowns and the expectations.
pub(super) fn brief(finished: &Finished) -> String {
    let Finished { contest, results, .. } = finished;
    let (header, columns) = TABLES[0];
    let row = |series: &Series| -> Vec<String> {
        [series.label.clone()].into_iter().chain(cells(columns, &series.figures())).collect()
    };
    let slowdowns = show(header, results.series.iter().map(row).collect(), false);
    format!("{}\n{}\n{slowdowns}\n{}", contest.name, setting(contest, &results.seeds), all_checked(finished))
}

/// Returns the lines about the expectations.
fn all_checked(finished: &Finished) -> String {
    finished.verdicts.list.iter().map(|verdict| checked(verdict, &finished.results.seeds)).collect()
}

/// Returns the lines about the network, the workload and the seeds.
pub(super) fn setting(contest: &Contest, seeds: &[u64]) -> String {
    let seeds = match seeds {
        [one] => format!("seed {one}; one seed: no interval"),
        _ => format!("seeds {}; mean over seeds ± half of the 95 % interval", list_of(seeds)),
    };
    let line = |workload: &WorkloadSetting| {
        let begin =
            if workload.begin.is_zero() { String::new() } else { format!(" from {} on", workload.begin) };
        let (sent, time, warm_up) = (workload.traffic.text(), workload.time, workload.warm_up);
        format!("{sent} for {time}{begin}; messages that begin after {warm_up} count\n")
    };
    let sent: String = match contest.workload.list.as_slice() {
        [one] => format!("{}, {}", contest.topology, line(one)),
        several => {
            let named = |one: &WorkloadSetting| format!("  {}: {}", one.name, line(one));
            format!("{}\n{}", contest.topology, several.iter().map(named).collect::<String>())
        }
    };
    format!("{sent}{seeds}\n")
}

/// Returns `1 to 5` for consecutive seeds, otherwise all of them.
fn list_of(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.len() > 2 && seeds.iter().copied().eq(*first..=*last) => {
            format!("{first} to {last}")
        }
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// Returns the line about an expectation.
pub(super) fn checked(verdict: &Verdict, seeds: &[u64]) -> String {
    let word = if verdict.holds { "holds" } else { "FAILS" };
    let judged = match &verdict.judged {
        Judged::Interval(figure) => format!("difference {}", range(figure)),
        Judged::EachSeed(_) if verdict.holds => "each seed".to_owned(),
        Judged::EachSeed(figure) => {
            let failing =
                seeds.iter().zip(&figure.0).filter(|(_, value)| **value == 0).map(|(seed, _)| *seed);
            let failing: Vec<u64> = failing.collect();
            let word = if failing.len() == 1 { "seed" } else { "seeds" };
            format!("not with {word} {}", list_of(&failing))
        }
    };
    let names = verdict.names.iter().map(|(name, figure)| format!("{name} {}", count(figure)));
    format!("{word}  {}  ({judged}: {})\n", verdict.what, names.collect::<Vec<_>>().join(", "))
}

/// Most characters of a line of words.
const LINE: usize = 120;

/// Returns a sentence in lines, the first of which is not indented.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let word_length = word.chars().count();
        if length > 0 && length + 1 + word_length > LINE {
            lines += "\n  ";
            length = 2;
        } else if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines += word;
        length += word_length;
    }
    lines + "\n"
}

fn show(header: &[&str], rows: Vec<Vec<String>>, markdown: bool) -> String {
    if !markdown {
        return format!("{}\n", table(header, rows));
    }
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header.to_vec());
    text.push_str(&line(header.iter().map(|_| "---").collect()));
    for row in &rows {
        let row: Vec<String> = row.iter().map(|cell| markdown_text(cell)).collect();
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

/// The figures of a program, by name.
type Figures = BTreeMap<String, Figure>;
/// Number of a column, and how it is written.
type Column = (&'static str, fn(&Figure) -> String);

/// Tables: headings, and the number of each column after the first.
const TABLES: [(&[&str], &[Column]); 4] = [
    (
        &["SLOWDOWN", "MESSAGES", "AVG", "50 %", "95 %", "99 %", "99.9 %"],
        &[
            ("messages", count),
            ("avg", times),
            ("p50", times),
            ("p95", times),
            ("p99", times),
            ("p999", times),
        ],
    ),
    (
        &[
            "SLOWDOWN",
            "SMALL AVG",
            "SMALL 99 %",
            "LARGE 99 %",
            "OWN AVG",
            "OWN 99 %",
            "FASTEST AVG",
            "FASTEST 99 %",
        ],
        &[
            ("small_avg", times),
            ("small_p99", times),
            ("large_p99", times),
            ("own_avg", times),
            ("own_p99", times),
            ("fastest_avg", times),
            ("fastest_p99", times),
        ],
    ),
    (
        &["PROGRAM", "ALONE NS", "DATA", "MARKED", "CNPS", "PFC FRAMES"],
        &[
            ("alone_ns", count),
            ("sent", count),
            ("marked", count),
            ("notifications", count),
            ("pauses", count),
        ],
    ),
    (
        &["PROGRAM", "RESENT", "EARLY", "NACKS", "TIMEOUTS", "DROPPED", "UNFINISHED"],
        &[
            ("resent", count),
            ("early", count),
            ("nacks", count),
            ("timeouts", count),
            ("dropped", count),
            ("unfinished", count),
        ],
    ),
];

/// How a figure is written.
type Written = fn(&Figure) -> String;
/// A table of measured numbers: headings, and names of the columns after the first.
type Measured = (Vec<String>, Vec<(String, Written)>);

/// Returns the tables that `[metrics]` asks for.
fn measured(contest: &Contest) -> Vec<Measured> {
    let bins = contest.metrics.bins();
    let mut tables = Vec::new();
    let by_size: [(&str, &str, Written); 3] =
        [("SLOWDOWN AVG", "avg", times), ("SLOWDOWN 99 %", "p99", times), ("MESSAGES", "messages", count)];
    for (heading, number, write) in by_size.into_iter().filter(|_| !bins.is_empty()) {
        let titles = (0..bins.len()).map(|index| SizeBin::title(&bins, index));
        let columns = bins.iter().map(|bin| (format!("{}.{number}", bin.name), write));
        tables.push(([heading.to_owned()].into_iter().chain(titles).collect(), columns.collect()));
    }
    let all: [(bool, &[(&str, &str)]); 3] = [
        (
            true,
            &[
                ("GOODPUT MBPS", "goodput_mbps"),
                ("QUEUE MAX B", "queue_max_bytes"),
                ("BUFFER MAX B", "buffer_max_bytes"),
                ("HEADROOM MAX B", "headroom_max_bytes"),
                ("REORDER MAX B", "reorder_queue_max_bytes"),
            ],
        ),
        (
            true,
            &[
                ("PAUSED NS", "switch_paused_ns"),
                ("PAUSED PORTS", "paused_ports"),
                ("PAUSED HOSTS", "paused_hosts"),
                ("PAUSING", "pausing_switches"),
                ("SWITCH MARKED", "switch_marked"),
            ],
        ),
        (
            contest.metrics.sample.is_some(),
            &[
                ("LINKS AVG", "link_share_avg"),
                ("LINKS MAX", "link_share_max"),
                ("IMBALANCE AVG", "imbalance_avg"),
                ("IMBALANCE 99 %", "imbalance_p99"),
                ("BUFFER AVG B", "buffer_avg_bytes"),
                ("REORDER QUEUES", "reorder_queues_max"),
            ],
        ),
    ];
    let asked = contest.metrics != Default::default();
    for (_, columns) in all.into_iter().filter(|(wanted, _)| asked && *wanted) {
        let header = ["PROGRAM"].into_iter().chain(columns.iter().map(|(heading, _)| *heading));
        let columns = columns.iter().map(|(_, name)| ((*name).to_owned(), count as Written));
        tables.push((header.map(str::to_owned).collect(), columns.collect()));
    }
    tables
}

/// Returns the cycles of paused queues at the end of the runs; `None` if there are none.
fn deadlocks(series: &Series, results: &Results) -> Option<String> {
    let mut text = String::new();
    for (seed, run) in results.seeds.iter().zip(&series.runs) {
        for cycle in &run.deadlocks {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}: DEADLOCK, seed {seed}: {cycle} wait for each other", series.label);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Returns the cells of a row. A number that the program lacks is `-`.
fn cells<'a>(columns: &'a [Column], figures: &'a Figures) -> impl Iterator<Item = String> + 'a {
    columns.iter().map(|(name, write)| figures.get(*name).map_or_else(|| "-".to_owned(), write))
}

/// Returns the drop reasons with their counts, and the program's counters; `None` if all are 0.
fn losses(label: &str, figures: &Figures) -> Option<String> {
    let under = |prefix: &'static str| {
        let seen = figures.iter().filter(|(_, figure)| figure.constant() != Some(0));
        seen.filter_map(move |(name, figure)| Some((name.strip_prefix(prefix)?, count(figure))))
    };
    let lost = under("drop.").map(|(reason, n)| format!("{n} {reason}"));
    let counted = under("counter.").map(|(name, n)| format!("{name} = {n}"));
    let parts: Vec<String> = lost.chain(counted).collect();
    (!parts.is_empty()).then(|| format!("{label}: {}\n", parts.join(", ")))
}

/// Returns the messages that were not acknowledged at the end of their runs, at most ten; `None` if there are none.
fn unfinished(series: &Series, results: &Results) -> Option<String> {
    /// Number of messages that are listed.
    const LISTED: usize = 10;
    let runs = results.seeds.iter().zip(&series.runs);
    let all: Vec<_> =
        runs.flat_map(|(seed, run)| run.unfinished.iter().map(move |one| (seed, one))).collect();
    if all.is_empty() {
        return None;
    }
    let mut text = format!("{}: UNFINISHED {}\n", series.label, all.len());
    for (seed, one) in all.iter().take(LISTED) {
        let message = &one.left.message;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "    seed {seed}: {} to {}, {} bytes from {} on, {} packets acknowledged",
            one.from,
            message.to,
            message.bytes,
            message.start.since_origin(),
            one.left.acknowledged
        );
    }
    if all.len() > LISTED {
        let _ = writeln!(text, "    and {} more; contest.json has all", all.len() - LISTED);
    }
    Some(text)
}
