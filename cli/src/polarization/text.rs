//! The report as text.

use super::draws::{Draws, quantile};
use super::{Outcome, Report};
use crate::console::table::Layout;
use sluice_fabric::polarization::Results;
use std::fmt::Write;

/// Returns the report; `table` lays out its tables.
pub(super) fn text(report: &Report<'_>, table: Layout) -> String {
    let mut out = String::new();
    let flows = report.outcomes.iter().find_map(|o| o.results.as_ref().ok()).map_or(0, |r| r.flows);
    let _ = writeln!(out, "{}\n  {flows} flows", report.network.name);
    if let Some(captured) = &report.captured {
        let _ = writeln!(out, "  from {} frames; {} without IP left out", captured.frames, captured.skipped);
    }
    let _ = writeln!(out, "\n{}", table(&SCHEMES, report.outcomes.iter().map(scheme).collect()));
    for draws in Draws::of(report) {
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
        let rows = report.sizes.iter().map(|(q, cv)| vec![q.to_string(), format!("{cv:.4}")]).collect();
        let _ = writeln!(out, "\nCoprime sizes, noise taken off:\n{}", table(&["SIZE", "CV"], rows));
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
    let mut rows = Vec::new();
    for outcome in &report.outcomes {
        match &outcome.packets {
            Some(Ok(c)) => rows.push(
                [
                    &outcome.name as &dyn std::fmt::Display,
                    &c.packets,
                    &c.left_out,
                    &c.hops,
                    &c.expired,
                    &c.differing,
                ]
                .map(ToString::to_string)
                .to_vec(),
            ),
            Some(Err(why)) => {
                let _ = writeln!(out, "\n{}: no packets: {why}", outcome.name);
            }
            None => {}
        }
    }
    if !rows.is_empty() {
        let _ = writeln!(
            out,
            "\nPackets through {program}. LEFT OUT: frames that are not IPv4 without options right after Ethernet. EXPIRED:\n\
             hops after the TTL ran out. DIFFER: hops at which the switch took another link than the walk of the flow.\n{}",
            table(&["SCHEME", "PACKETS", "LEFT OUT", "HOPS", "EXPIRED", "DIFFER"], rows)
        );
    }
}

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

const SCHEMES: [&str; 7] = ["SCHEME", "VERDICT", "WORST CV", "EMPTY", "IDLE", "FAILED", "ENTRIES"];

fn scheme(o: &Outcome) -> Vec<String> {
    let Ok(r) = &o.results else {
        return [o.name.as_str(), "no plan", "", "", "", "", ""].map(str::to_owned).to_vec();
    };
    let sum = |of: fn(&sluice_fabric::polarization::PointStats) -> u32| r.points.iter().map(of).sum::<u32>();
    vec![
        o.name.clone(),
        r.verdict.name().to_owned(),
        format!("{:.3}", r.worst()),
        sum(|p| p.empty).to_string(),
        sum(|p| p.idle_links).to_string(),
        sum(|p| p.failed).to_string(),
        r.entries.to_string(),
    ]
}

fn detail(out: &mut String, name: &str, r: &Results, table: Layout) {
    const POINTS: [&str; 10] =
        ["POINT", "GROUPS", "EMPTY", "IDLE LINKS", "CV P50", "CV P99", "CV MAX", "BYTES", "NOISE", "MAX/MIN"];
    let row = |p: &sluice_fabric::polarization::PointStats| {
        let [p50, p99, max] = p.cv.map(|cv| format!("{cv:.3}"));
        vec![
            p.name.clone(),
            p.groups.to_string(),
            p.empty.to_string(),
            p.idle_links.to_string(),
            p50,
            p99,
            max,
            format!("{:.3}", p.cv_bytes),
            format!("{:.3}", p.noise),
            p.max_min.map_or("idle".to_owned(), |ratio| format!("{ratio:.2}")),
        ]
    };
    let _ = writeln!(out, "\n{name}\n{}", table(&POINTS, r.points.iter().map(row).collect()));
    for note in &r.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}
