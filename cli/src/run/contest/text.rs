//! Results of contests as tables, with their expectations.

use super::Finished;
use crate::table::table;
use sluice_scenario::contest::{Performance, Sizes, Slowdowns};
use std::fmt::Write;

/// Returns the report, as Markdown or as plain text.
pub(super) fn report(finished: &Finished, markdown: bool) -> String {
    let Finished { contest, performances, outcome } = finished;
    let mut text = if markdown { format!("# {}\n", contest.name) } else { format!("{}\n", contest.name) };
    let mut say = |part: String| {
        text.push('\n');
        text.push_str(&part);
    };
    let workload = &contest.workload;
    let sent = match (&workload.flows, &workload.sizes, workload.load) {
        (Some(flows), ..) => format!("flows of {flows}"),
        (None, sizes, load) => {
            let sizes = sizes.as_deref().unwrap_or_default();
            format!("{sizes} at {} % of the hosts' lines", load.unwrap_or_default())
        }
    };
    say(format!(
        "{}, {sent} for {}, seed {}; messages that begin after {} count\n",
        contest.topology,
        workload.time,
        contest.seed(),
        workload.warm_up
    ));
    say(show(&SLOWDOWNS, performances.iter().map(slowdowns).collect(), markdown));
    say(show(&COSTS, performances.iter().map(costs).collect(), markdown));
    for performance in performances {
        if let Some(line) = losses(performance) {
            say(line);
        }
        if let Some(lines) = unfinished(performance) {
            say(lines);
        }
    }
    let mut checks = String::new();
    for check in &outcome.checks {
        let word = if check.passed { "holds" } else { "FAILS" };
        // Writing to a string cannot fail.
        let _ = writeln!(checks, "{word}  {}  ({})", check.what, check.actual);
    }
    if let Some(error) = &outcome.error {
        let _ = writeln!(checks, "FAILS  {error}");
    }
    if !checks.is_empty() {
        say(if markdown { format!("```text\n{checks}```\n") } else { checks });
    }
    text
}

fn show<const N: usize>(header: &[&str; N], rows: Vec<[String; N]>, markdown: bool) -> String {
    if !markdown {
        return format!("{}\n", table(header, rows.into_iter().map(Vec::from).collect()));
    }
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header.to_vec());
    text.push_str(&line(header.iter().map(|_| "---").collect()));
    for row in &rows {
        text.push_str(&line(row.iter().map(String::as_str).collect()));
    }
    text
}

const SLOWDOWNS: [&str; 10] = [
    "SLOWDOWN",
    "MESSAGES",
    "AVG",
    "50 %",
    "95 %",
    "99 %",
    "99.9 %",
    "SMALL AVG",
    "SMALL 99 %",
    "LARGE 99 %",
];

fn slowdowns(performance: &Performance) -> [String; SLOWDOWNS.len()] {
    let of = |sizes| performance.slowdowns(sizes);
    let times = |thousandths: u64| format!("{}.{:02}", thousandths / 1000, thousandths % 1000 / 10);
    let Slowdowns { count, avg, p50, p95, p99, p999 } = of(Sizes::All);
    let (small, large) = (of(Sizes::Small), of(Sizes::Large));
    let [avg, p50, p95, p99, p999] = [avg, p50, p95, p99, p999].map(times);
    // With fewer messages, fewer than ten would be above p99.9.
    let p999 = if count < 10_000 { "-".to_owned() } else { p999 };
    let [small_avg, small_p99, large_p99] = [small.avg, small.p99, large.p99].map(times);
    let count = count.to_string();
    [performance.label.clone(), count, avg, p50, p95, p99, p999, small_avg, small_p99, large_p99]
}

const COSTS: [&str; 12] = [
    "PROGRAM",
    "ALONE NS",
    "DATA",
    "RESENT",
    "EARLY",
    "NACKS",
    "MARKED",
    "CNPS",
    "TIMEOUTS",
    "DROPPED",
    "PFC FRAMES",
    "UNFINISHED",
];

fn costs(performance: &Performance) -> [String; COSTS.len()] {
    let h = &performance.hosts;
    let [alone, sent, resent, early, nacks, marked, notifications, timeouts, dropped, pauses, unfinished] = [
        performance.alone.as_nanos(),
        h.sent,
        h.resent,
        h.early,
        h.nacks,
        h.marked,
        h.notifications,
        h.timeouts,
        performance.dropped(),
        performance.pauses,
        performance.unfinished.len() as u64,
    ]
    .map(|number| number.to_string());
    let label = performance.label.clone();
    [label, alone, sent, resent, early, nacks, marked, notifications, timeouts, dropped, pauses, unfinished]
}

/// Returns the drop reasons with their counts, and the program's counters; `None` if all are 0.
fn losses(performance: &Performance) -> Option<String> {
    let counted = performance.counters.iter().filter(|(_, n)| **n > 0);
    let lost = performance.drops.iter().map(|(reason, n)| format!("{n} {reason}"));
    let parts: Vec<String> = lost.chain(counted.map(|(name, n)| format!("{name} = {n}"))).collect();
    (!parts.is_empty()).then(|| format!("{}: {}\n", performance.label, parts.join(", ")))
}

/// Returns the messages that were not acknowledged at the end of the run, at most ten; `None` if there are none.
fn unfinished(performance: &Performance) -> Option<String> {
    /// Number of messages that are listed.
    const LISTED: usize = 10;
    let all = &performance.unfinished;
    if all.is_empty() {
        return None;
    }
    let mut text = format!("{}: UNFINISHED {}\n", performance.label, all.len());
    for one in all.iter().take(LISTED) {
        let message = &one.left.message;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "    {} to {}, {} bytes from {} on, {} packets acknowledged",
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
