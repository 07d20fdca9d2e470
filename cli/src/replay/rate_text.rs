//! Result of `--find-ndr`, as text: the rate, then the trials in order.

use crate::console::table::table;
use sluice_asic::units::BitRate;
use sluice_replay::RateSearch;
use std::fmt::Write;

/// Returns the text of a rate search.
pub(super) fn text(found: &RateSearch) -> String {
    let mut out = String::new();
    let rate = |bps: u64| BitRate::from_bps(bps).to_string();
    // Writing into a String cannot fail.
    let _ = match &found.best {
        None => writeln!(out, "no rate without loss was found"),
        Some(t) => writeln!(
            out,
            "highest rate without loss: {} on the wire of each of {} port(s), {:.2} % of the line, {} packets/s{}",
            rate(t.rate),
            found.ports,
            100.0 * t.rate as f64 / found.line.max(1) as f64,
            t.pps,
            found.failed.map_or(String::new(), |f| format!("; loss from {} on", rate(f))),
        ),
    };
    let rows = found.trials.iter().zip(1..).map(|(t, n)| {
        let words = [n, t.rate, t.pps, t.packets, t.lost, t.fullest_cells];
        words.iter().map(u64::to_string).collect()
    });
    let head = ["TRIAL", "BPS PER PORT", "PPS", "PACKETS", "LOST", "FULLEST QUEUE"];
    let _ = writeln!(out, "\n{}\n", table(&head, rows.collect()));
    out
}
