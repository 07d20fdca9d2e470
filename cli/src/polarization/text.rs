//! The report for people. What may not live here: figures of its own.

use super::{Outcome, Report};
use crate::table::table;
use sluice_fabric::experiment::Results;
use std::fmt::Write;

pub(super) fn text(report: &Report<'_>) -> String {
    let mut out = String::new();
    let flows = report.outcomes.iter().find_map(|o| o.results.as_ref().ok()).map_or(0, |r| r.flows);
    let _ = writeln!(out, "{}\n  {flows} flows", report.network.name);
    if let Some(captured) = &report.captured {
        let _ =
            writeln!(out, "  from {} frames; {} without IPv4 left out", captured.frames, captured.skipped);
    }
    let _ = writeln!(out, "\n{}", table(&SCHEMES, report.outcomes.iter().map(scheme).collect()));
    for o in &report.outcomes {
        match &o.results {
            Ok(results) => detail(&mut out, &o.name, results),
            Err(why) => {
                let _ = writeln!(out, "\n{}: no plan: {why}", o.name);
            }
        }
    }
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

const SCHEMES: [&str; 7] = ["SCHEME", "VERDICT", "WORST CV", "EMPTY", "IDLE", "FAILED", "ENTRIES"];

fn scheme(o: &Outcome) -> Vec<String> {
    let Ok(r) = &o.results else {
        return [o.name.as_str(), "no plan", "", "", "", "", ""].map(str::to_owned).to_vec();
    };
    let sum = |of: fn(&sluice_fabric::experiment::PointStats) -> u32| r.points.iter().map(of).sum::<u32>();
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

fn detail(out: &mut String, name: &str, r: &Results) {
    const POINTS: [&str; 10] =
        ["POINT", "GROUPS", "EMPTY", "IDLE LINKS", "CV P50", "CV P99", "CV MAX", "BYTES", "NOISE", "MAX/MIN"];
    let row = |p: &sluice_fabric::experiment::PointStats| {
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
