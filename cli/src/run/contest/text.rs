//! Results of contests as tables, with their expectations.

use super::Finished;
use super::amount::{count, range, times};
use crate::table::table;
use sluice_scenario::contest::{Contest, Figure, Judged, Results, Series, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns the report, as Markdown or as plain text.
pub(super) fn report(finished: &Finished, markdown: bool) -> String {
    let Finished { contest, results, verdicts } = finished;
    let mut text = if markdown { format!("# {}\n", contest.name) } else { format!("{}\n", contest.name) };
    let mut say = |part: String| {
        text.push('\n');
        text.push_str(&part);
    };
    say(setting(contest, &results.seeds));
    let figures: Vec<Figures> = results.series.iter().map(Series::figures).collect();
    let rows = || results.series.iter().map(|series| series.label.as_str()).zip(&figures);
    for (header, columns) in TABLES {
        let row = |(label, figures): (&str, &Figures)| -> Vec<String> {
            [label.to_owned()].into_iter().chain(cells(columns, figures)).collect()
        };
        say(show(header, rows().map(row).collect(), markdown));
    }
    for (series, figures) in results.series.iter().zip(&figures) {
        if let Some(line) = losses(&series.label, figures) {
            say(line);
        }
        if let Some(lines) = unfinished(series, results) {
            say(lines);
        }
    }
    let mut checks = String::new();
    for verdict in &verdicts.list {
        checks.push_str(&checked(verdict, &results.seeds));
    }
    if let Some(error) = &verdicts.error {
        // Writing to a string cannot fail.
        let _ = writeln!(checks, "FAILS  {error}");
    }
    if !checks.is_empty() {
        say(if markdown { format!("```text\n{checks}```\n") } else { checks });
    }
    text
}

/// Returns the lines about the network, the workload and the seeds.
fn setting(contest: &Contest, seeds: &[u64]) -> String {
    let workload = &contest.workload;
    let seeds = match seeds {
        [one] => format!("seed {one}; one seed: no interval"),
        _ => format!("seeds {}; mean over seeds ± half of the 95 % interval", list_of(seeds)),
    };
    let sent = match (&workload.flows, &workload.sizes, workload.load) {
        (Some(flows), ..) => format!("flows of {flows}"),
        (None, sizes, load) => {
            let sizes = sizes.as_deref().unwrap_or_default();
            format!("{sizes} at {} % of the hosts' lines", load.unwrap_or_default())
        }
    };
    format!(
        "{}, {sent} for {}; messages that begin after {} count\n{seeds}\n",
        contest.topology, workload.time, workload.warm_up
    )
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
fn checked(verdict: &Verdict, seeds: &[u64]) -> String {
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

fn show(header: &[&str], rows: Vec<Vec<String>>, markdown: bool) -> String {
    if !markdown {
        return format!("{}\n", table(header, rows));
    }
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header.to_vec());
    text.push_str(&line(header.iter().map(|_| "---").collect()));
    for row in &rows {
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
