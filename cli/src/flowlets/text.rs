//! The report as text.

use super::{FlowletsArgs, OnPath, Report, Trial, on_paths};
use crate::console::table::{Columns, of_columns, table};
use sluice_asic::units::Duration;
use sluice_fabric::flowlets::census::Row;
use std::fmt::Write;

pub(super) fn text(args: &FlowletsArgs, report: &Report<'_>) -> String {
    let mut out = String::new();
    if let Some(c) = &report.census {
        let span = Duration::from_ps(c.span_ps);
        let _ = writeln!(out, "{} flows, {} frames, {} B in {span}", c.flows, c.frames, c.bytes);
        if c.skipped > 0 {
            let _ = writeln!(out, "  {} frames without IPv4 or IPv6 left out", c.skipped);
        }
        let _ = writeln!(out, "\n{}", of_columns(table, CENSUS, &c.rows));
    }
    if !report.order.trials.is_empty() {
        let _ = writeln!(
            out,
            "\nOrder of arrival, each uplink {} slower than the one before it:\n{}",
            args.skew,
            of_columns(table, ORDER, &report.order.trials)
        );
    }
    if !report.elastic.settled.is_empty() {
        let rates: Vec<String> = args.elastic.iter().map(ToString::to_string).collect();
        let _ = writeln!(
            out,
            "\n{} flows on paths of {}; Poisson packets, rates shared equally and at once:\n{}",
            args.flows,
            rates.join(", "),
            of_columns(table, ELASTIC, &on_paths(&report.elastic.settled))
        );
    }
    out
}

const CENSUS: &Columns<Row> = &[
    ("TIMEOUT", |r| Duration::from_ps(r.timeout_ps).to_string()),
    ("FLOWLETS", |r| r.flowlets.to_string()),
    ("PKTS MEAN", |r| format!("{:.2}", r.packets.mean)),
    ("P50", |r| r.packets.median.to_string()),
    ("P99", |r| r.packets.p99.to_string()),
    ("MAX", |r| r.packets.max.to_string()),
    ("BYTES MEAN", |r| format!("{:.0}", r.bytes.mean)),
    // To the nanosecond.
    ("DURATION", |r| Duration::from_nanos((r.duration_ps / 1e3).round() as u64).to_string()),
    ("ALIVE", |r| format!("{:.1}", r.alive)),
];

const ORDER: &Columns<Trial> = &[
    ("PROGRAM", |t| t.program.clone()),
    ("TIMEOUT", |t| t.timeout_ps.map_or_else(String::new, |ps| Duration::from_ps(ps).to_string())),
    ("PACKETS", |t| t.outcome.reordering.packets.to_string()),
    ("LOST", |t| t.outcome.lost.to_string()),
    ("REORDERED", |t| t.outcome.reordering.reordered.to_string()),
    ("%", |t| format!("{:.2}", t.percent())),
    ("BY THREE", |t| t.outcome.reordering.by_three.to_string()),
    ("EXTENT", |t| t.outcome.reordering.extent.to_string()),
    ("LATE", |t| Duration::from_nanos(t.outcome.reordering.late_ps.div_ceil(1_000)).to_string()),
];

const ELASTIC: &Columns<OnPath> = &[
    ("TIMEOUT", |p| Duration::from_ps(p.timeout_ps).to_string()),
    ("PATH", |p| p.path.to_string()),
    ("FLOWS", |p| format!("{:.2}", p.flows)),
    ("+-", |p| format!("{:.2}", p.deviation)),
    ("EXPECTED", |p| p.expected.map_or_else(String::new, |flows| format!("{flows:.2}"))),
    ("TRAFFIC %", |p| format!("{:.1}", 100.0 * p.traffic)),
    ("FLOWLETS %", |p| format!("{:.1}", 100.0 * p.flowlets)),
    ("PKTS PER FLOWLET", |p| format!("{:.1}", p.packets)),
];
