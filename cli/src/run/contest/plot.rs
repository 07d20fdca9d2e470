//! Charts of contests: each program's messages with all seeds together.

use super::Finished;
use crate::run::sizes::groups;
use sluice_charts::{LineChart, Style};
use sluice_scenario::contest::{Series, Slowdowns};

/// Most points of a line.
const POINTS: usize = 400;

fn times(thousandths: u64) -> f64 {
    thousandths as f64 / 1000.0
}

/// Draws the distribution of slowdowns: for each slowdown, the share of messages that are no slower.
pub(super) fn slowdowns(finished: &Finished) -> LineChart {
    let mut chart = LineChart::new(&finished.contest.name, "slowdown", "messages that are no slower, %");
    chart.log_x = true;
    chart.top = Some(100.0);
    for series in &finished.results.series {
        let mut all: Vec<u64> = slowdowns_of(series).map(|(_, slowdown)| slowdown).collect();
        all.sort_unstable();
        let step = (all.len() / POINTS).max(1);
        let count = all.len() as f64;
        let points = all.iter().enumerate().filter(|(n, _)| n % step == 0 || n + 1 == all.len());
        let points = points.map(|(n, s)| (times(*s), 100.0 * (n + 1) as f64 / count)).collect();
        chart.add(&series.label, points, Style::Line);
    }
    chart
}

/// Draws the 99th percentile of the slowdown over the size of messages.
pub(super) fn sizes(finished: &Finished) -> LineChart {
    let mut chart = LineChart::new(&finished.contest.name, "bytes of a message", "slowdown at 99 %");
    chart.log_x = true;
    for series in &finished.results.series {
        chart.add(&series.label, buckets(series), Style::Marked);
    }
    chart
}

/// Returns size and slowdown of each message, of all seeds.
pub(super) fn slowdowns_of(series: &Series) -> impl Iterator<Item = (u64, u64)> + '_ {
    series
        .runs
        .iter()
        .flat_map(|run| run.sent.iter().map(|s| (s.completion.message.bytes, s.slowdown(run.slowdown))))
}

/// Returns the middle size and the 99th percentile of the slowdown of each class of sizes.
pub(super) fn buckets(series: &Series) -> Vec<(f64, f64)> {
    let point = |bucket: Vec<(u64, u64)>| {
        let middle = bucket[bucket.len() / 2].0;
        (middle as f64, times(Slowdowns::of(bucket.iter().map(|(_, s)| *s).collect()).p99))
    };
    groups(slowdowns_of(series).collect()).into_iter().map(point).collect()
}
