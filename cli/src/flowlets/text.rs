//! The report as text.

use super::{Report, Trial};
use crate::console::table::table;
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::census;
use sluice_fabric::flowlets::elastic::Settled;
use std::fmt::Write;

pub(super) fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    if let Some(c) = &report.census {
        let span = Duration::from_ps(c.span_ps);
        let _ = writeln!(out, "{} flows, {} frames, {} B in {span}", c.flows, c.frames, c.bytes);
        if c.skipped > 0 {
            let _ = writeln!(out, "  {} frames without IPv4 or IPv6 left out", c.skipped);
        }
        let _ = writeln!(out, "\n{}", table(&CENSUS, c.rows.iter().map(row).collect()));
    }
    if !report.trials.is_empty() {
        let _ = writeln!(
            out,
            "\nOrder of arrival, each uplink {} slower than the one before it:\n{}",
            report.args.skew,
            table(&ORDER, report.trials.iter().map(trial).collect())
        );
    }
    if !report.settled.is_empty() {
        let rates: Vec<String> = report.args.elastic.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "\n{} flows on paths of {}; Poisson packets, rates shared equally and at once:\n{}",
            report.args.flows,
            rates.join(", "),
            table(&ELASTIC, report.settled.iter().flat_map(paths).collect())
        );
    }
    out
}

const CENSUS: [&str; 9] =
    ["TIMEOUT", "FLOWLETS", "PKTS MEAN", "P50", "P99", "MAX", "BYTES MEAN", "DURATION", "ALIVE"];

fn row(r: &census::Row) -> Vec<String> {
    vec![
        Duration::from_ps(r.timeout_ps).to_string(),
        r.flowlets.to_string(),
        format!("{:.2}", r.packets.mean),
        r.packets.median.to_string(),
        r.packets.p99.to_string(),
        r.packets.max.to_string(),
        format!("{:.0}", r.bytes.mean),
        // To the nanosecond.
        Duration::from_nanos((r.duration_ps / 1e3).round() as u64).to_string(),
        format!("{:.1}", r.alive),
    ]
}

const ORDER: [&str; 9] =
    ["PROGRAM", "TIMEOUT", "PACKETS", "LOST", "REORDERED", "%", "BY THREE", "EXTENT", "LATE"];

fn trial(t: &Trial) -> Vec<String> {
    let r = t.outcome.reordering;
    vec![
        t.program.clone(),
        t.timeout.map_or_else(String::new, |t| t.to_string()),
        r.packets.to_string(),
        t.outcome.lost.to_string(),
        r.reordered.to_string(),
        format!("{:.2}", 100.0 * r.reordered as f64 / r.packets.max(1) as f64),
        r.by_three.to_string(),
        r.extent.to_string(),
        Duration::from_nanos(r.late_ps.div_ceil(1_000)).to_string(),
    ]
}

const ELASTIC: [&str; 8] =
    ["TIMEOUT", "PATH", "FLOWS", "+-", "EXPECTED", "TRAFFIC %", "FLOWLETS %", "PKTS PER FLOWLET"];

fn paths((timeout, s): &(Duration, Settled)) -> Vec<Vec<String>> {
    let path = |p: usize| {
        vec![
            timeout.to_string(),
            p.to_string(),
            format!("{:.2}", s.flows[p]),
            format!("{:.2}", s.deviation[p]),
            s.expected.as_ref().map_or_else(String::new, |e| format!("{:.2}", e[p])),
            format!("{:.1}", 100.0 * s.traffic[p]),
            format!("{:.1}", 100.0 * s.flowlets[p]),
            format!("{:.1}", s.sizes[p]),
        ]
    };
    (0..s.flows.len()).map(path).collect()
}
