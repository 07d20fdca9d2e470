//! Tables and charts of sweeps: the numbers that each case saved, against the keys that were varied.

use crate::console::fail::Failure;
use crate::output::rows::CsvText;
use sluice_charts::{LineChart, Style};
use sluice_scenario::{Outcome, Point};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

/// Returns the keys and values of a case, such as `speed=25G fan_in=2`.
fn keys(point: &Point) -> Vec<(&str, &str)> {
    point.case.split(' ').filter_map(|pair| pair.split_once('=')).collect()
}

fn saved(points: &[Point]) -> BTreeSet<&str> {
    points.iter().flat_map(|p| p.saved.keys().map(String::as_str)).collect()
}

/// Returns a row for each case: the values of the keys, then the saved numbers.
pub(super) fn csv(outcome: &Outcome) -> Result<String, Failure> {
    let names = saved(&outcome.points);
    let heads = outcome.points.first().map_or_else(Vec::new, keys);
    let heads: Vec<&str> = heads.iter().map(|(key, _)| *key).chain(names.iter().copied()).collect();
    let mut table = CsvText::new(&heads)?;
    for point in &outcome.points {
        let keys = keys(point);
        let values = keys.iter().map(|(_, value)| value as &dyn Display);
        let numbers = names.iter().map(|name| match point.saved.get(*name) {
            Some(number) => number as &dyn Display,
            None => &"",
        });
        table.row(&values.chain(numbers).collect::<Vec<_>>())?;
    }
    table.finish()
}

/// Draws each saved number over the last key, with a line for each combination of the other keys. A key whose values
/// are not numbers has no chart.
pub(super) fn charts(outcome: &Outcome) -> Vec<(String, LineChart)> {
    let mut charts = Vec::new();
    for name in saved(&outcome.points) {
        let mut lines: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
        let mut last = "";
        for point in &outcome.points {
            let mut keys = keys(point);
            let Some((key, value)) = keys.pop() else { continue };
            let (Ok(x), Some(y)) = (value.parse::<f64>(), point.saved.get(name)) else { continue };
            last = key;
            let line = keys.iter().map(|(_, value)| *value).collect::<Vec<_>>().join(" ");
            let line = if line.is_empty() { outcome.profile.clone() } else { line };
            lines.entry(line).or_default().push((x, *y as f64));
        }
        if !lines.is_empty() {
            let mut chart = LineChart::new(&format!("{} on {}", outcome.title, outcome.profile), last, name);
            lines.into_iter().for_each(|(line, points)| chart.add(&line, points, Style::Marked));
            charts.push((name.to_owned(), chart));
        }
    }
    charts
}
