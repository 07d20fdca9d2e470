//! The report as text.

use super::draws::{Draws, quantile};
use super::outcome::{Outcome, Report, Size};
use crate::console::table::{Columns, Layout, of_columns};
use sluice_fabric::polarization::{Compared, PointStats, Results};
use std::fmt::Write;

/// Returns the report; `table` lays out its tables.
pub(super) fn text(report: &Report<'_>, table: Layout) -> String {
    let mut out = String::new();
    let flows = report.outcomes.iter().find_map(|o| o.results.as_ref().ok()).map_or(0, |r| r.flows);
    let _ = writeln!(out, "{}\n  {flows} flows", report.network.name);
    if let Some(captured) = &report.capture {
        let _ = writeln!(out, "  from {} frames; {} without IP left out", captured.frames, captured.skipped);
    }
    let _ = writeln!(out, "\n{}", of_columns(table, SCHEMES, &report.outcomes));
    for draws in Draws::of(&report.outcomes) {
        if draws.results.len() > 1 {
            together(&mut out, &draws);
        }
        if let Some(worst) = draws.worst() {
            detail(&mut out, &draws.name, worst, table);
        }
    }
    for (name, why) in report.outcomes.iter().filter_map(|o| Some((&o.name, o.results.as_ref().err()?))) {
        let _ = writeln!(out, "\n{name}: no plan: {why}");
    }
    packets(&mut out, report, table);
    if !report.sizes.is_empty() {
        let sizes = of_columns(table, SIZES, &report.sizes);
        let _ = writeln!(out, "\nCoprime sizes, noise taken off:\n{sizes}");
    }
    let _ = writeln!(
        out,
        "\nCV: standard deviation over mean of a group's links. NOISE is what chance alone shows; a group fails beyond\n\
         its table's precision and four times that, or without traffic. per-stage draws one function per stage (and\n\
         block, without spine) with replacement, and a 32-bit seed. Coprime group sizes are patented (US 11223561,\n\
         US 12088500). `sluice explain hashing` shows how a size is chosen."
    );
    out
}

/// Writes what packets did beside the walks of their flows.
fn packets(out: &mut String, report: &Report<'_>, table: Layout) {
    let Some(program) = report.program else { return };
    let mut sent = Vec::new();
    for outcome in &report.outcomes {
        match &outcome.packets {
            Some(Ok(compared)) => sent.push((outcome.name.clone(), *compared)),
            Some(Err(why)) => {
                let _ = writeln!(out, "\n{}: no packets: {why}", outcome.name);
            }
            None => {}
        }
    }
    if !sent.is_empty() {
        let _ = writeln!(
            out,
            "\nPackets through {program}. LEFT OUT: frames that are not IPv4 without options right after Ethernet. EXPIRED:\n\
             hops after the TTL ran out. DIFFER: hops at which the switch took another link than the walk of the flow.\n{}",
            of_columns(table, PACKETS, &sent)
        );
    }
}

const PACKETS: &Columns<(String, Compared)> = &[
    ("SCHEME", |(name, _)| name.clone()),
    ("PACKETS", |(_, c)| c.packets.to_string()),
    ("LEFT OUT", |(_, c)| c.left_out.to_string()),
    ("HOPS", |(_, c)| c.hops.to_string()),
    ("EXPIRED", |(_, c)| c.expired.to_string()),
    ("DIFFER", |(_, c)| c.differing.to_string()),
];

/// Writes the summary of several draws; the table that follows it shows the worst draw.
fn together(out: &mut String, draws: &Draws<'_>) {
    let cdf = draws.cdf();
    let at = |percent| quantile(&cdf, percent).unwrap_or(0.0);
    let above = |cv| draws.above(cv) * 100 / draws.results.len().max(1);
    let _ = writeln!(
        out,
        "\n{}: CV over the groups of all draws {:.3} at 50 %, {:.3} at 75 %, {:.3} at 90 %, {:.3} at 99 %;\n\
         some group above 0.2 in {} % of the draws, above 0.5 in {} %, above 0.6 in {} %; the worst draw:",
        draws.name,
        at(50),
        at(75),
        at(90),
        at(99),
        above(0.2),
        above(0.5),
        above(0.6),
    );
}

const SIZES: &Columns<Size> =
    &[("SIZE", |size| size.members.to_string()), ("CV", |size| format!("{:.4}", size.cv))];

/// Returns a cell of a scheme; of a scheme without plan, nothing.
fn of_results(outcome: &Outcome, cell: impl Fn(&Results) -> String) -> String {
    outcome.results.as_ref().map_or_else(|_| String::new(), |results| cell(results))
}

/// Returns a sum over the decision points.
fn sum(outcome: &Outcome, of: fn(&PointStats) -> u32) -> String {
    of_results(outcome, |results| results.points.iter().map(of).sum::<u32>().to_string())
}

const SCHEMES: &Columns<Outcome> = &[
    ("SCHEME", |o| o.name.clone()),
    ("VERDICT", |o| o.results.as_ref().map_or("no plan", |r| r.verdict.name()).to_owned()),
    ("WORST CV", |o| of_results(o, |r| format!("{:.3}", r.worst()))),
    ("EMPTY", |o| sum(o, |p| p.empty)),
    ("IDLE", |o| sum(o, |p| p.idle_links)),
    ("FAILED", |o| sum(o, |p| p.failed)),
    ("ENTRIES", |o| of_results(o, |r| r.entries.to_string())),
];

const POINTS: &Columns<PointStats> = &[
    ("POINT", |p| p.name.clone()),
    ("GROUPS", |p| p.groups.to_string()),
    ("EMPTY", |p| p.empty.to_string()),
    ("IDLE LINKS", |p| p.idle_links.to_string()),
    ("CV P50", |p| format!("{:.3}", p.cv[0])),
    ("CV P99", |p| format!("{:.3}", p.cv[1])),
    ("CV MAX", |p| format!("{:.3}", p.cv[2])),
    ("BYTES", |p| format!("{:.3}", p.cv_bytes)),
    ("NOISE", |p| format!("{:.3}", p.noise)),
    ("MAX/MIN", |p| p.max_min.map_or("idle".to_owned(), |ratio| format!("{ratio:.2}"))),
];

fn detail(out: &mut String, name: &str, r: &Results, table: Layout) {
    let _ = writeln!(out, "\n{name}\n{}", of_columns(table, POINTS, &r.points));
    for note in &r.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}
