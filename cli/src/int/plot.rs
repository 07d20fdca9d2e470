//! Charts of latency and queue depth over time, with a line for each node and port.

use super::by_port;
use super::rows::Row;
use sluice_charts::{LineChart, Style};

/// Most lines of a chart; more could not be told apart.
const LINES: usize = 8;

/// Returns file name, description and chart of each quantity that has values.
pub(super) fn charts(rows: &[Row]) -> Vec<(&'static str, &'static str, LineChart)> {
    type Value = fn(&Row) -> Option<u32>;
    let charts: [(&str, &str, &str, &str, Value); 2] = [
        ("latency.svg", "hop latency over time, by node and port", "Hop latency", "ns", |r| r.latency),
        ("queue.svg", "queue depth over time, by node and port", "Queue depth", "cells", |r| r.depth),
    ];
    let drawn = charts.into_iter().filter_map(|(file, what, title, unit, value)| {
        let mut chart = LineChart::new(title, "time in the capture, us", unit);
        for ((node, port), rows) in by_port(rows) {
            let point = |r: &&Row| Some((r.time as f64 / 1_000.0, f64::from(value(r)?)));
            let points: Vec<(f64, f64)> = rows.iter().filter_map(point).collect();
            if !points.is_empty() && chart.series.len() < LINES {
                let unknown = |v: u32| if v == u32::MAX { "?".to_owned() } else { v.to_string() };
                chart.add(&format!("node {}, port {}", unknown(node), unknown(port)), points, Style::Line);
            }
        }
        (!chart.series.is_empty()).then_some((file, what, chart))
    });
    drawn.collect()
}
