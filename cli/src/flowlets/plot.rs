//! Charts over the timeout.

use super::{SettledAt, Trial};
use sluice_asic::units::{BitRate, Duration};
use sluice_charts::{LineChart, Style};
use sluice_fabric::flowlets::census;

/// Returns an empty chart over timeouts.
fn chart(title: &str, y: &str) -> LineChart {
    LineChart { log_x: true, ..LineChart::new(title, "timeout, us", y) }
}

fn micros(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Draws the packets of a flowlet.
pub(super) fn census(c: &census::Report) -> LineChart {
    let mut chart = chart("Flowlets by timeout", "packets of a flowlet");
    let curve = |of: fn(&census::Row) -> f64| c.rows.iter().map(|r| (micros(r.timeout_ps), of(r))).collect();
    chart.add("mean", curve(|r| r.packets.mean), Style::Marked);
    chart.add("median", curve(|r| r.packets.median as f64), Style::Marked);
    chart.add("99 %", curve(|r| r.packets.p99 as f64), Style::Marked);
    chart
}

/// Draws the reordered packets in percent, by program; a program without a timeout has a constant line.
pub(super) fn trials(timeouts: &[Duration], trials: &[Trial]) -> LineChart {
    let mut chart = chart("Reordered packets by timeout", "percent of the packets");
    for of_one in trials.chunk_by(|a, b| a.program == b.program) {
        let points = match of_one {
            [only] if only.timeout_ps.is_none() => {
                timeouts.iter().map(|t| (micros(t.as_ps()), only.percent())).collect()
            }
            all => all.iter().filter_map(|t| Some((micros(t.timeout_ps?), t.percent()))).collect(),
        };
        chart.add(of_one.first().map_or("", |t| &t.program), points, Style::Marked);
    }
    chart
}

/// Draws the flows on each path, found and expected.
pub(super) fn settled(rates: &[BitRate], settled: &[SettledAt]) -> LineChart {
    let mut chart = chart("Flows by path and timeout", "flows");
    for (path, rate) in rates.iter().enumerate() {
        let found = settled.iter().map(|s| (micros(s.timeout_ps), s.settled.flows[path])).collect();
        chart.add(&format!("path {path}, {rate}"), found, Style::Marked);
        let expected =
            settled.iter().filter_map(|s| Some((micros(s.timeout_ps), s.settled.expected.as_ref()?[path])));
        chart.add(&format!("path {path}, fixed point"), expected.collect(), Style::Dashed);
    }
    chart
}
