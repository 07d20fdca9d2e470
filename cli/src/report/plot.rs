//! Drawings of a sweep.

use sluice_asic::chip::Column;
use sluice_charts::{LineChart, Style};
use sluice_place::report::Report;
use sluice_report::{Sweep, SweepPoint};

/// Returns the shares of the chip's units in use, in percent.
fn shares(points: &[SweepPoint], of: impl Fn(&Report) -> (u32, u32)) -> Vec<(f64, f64)> {
    let fit = points.iter().filter_map(|p| p.result.as_ref().ok().map(|r| (p.value, of(r))));
    fit.map(|(value, (used, all))| (value as f64, 100.0 * f64::from(used) / f64::from(all.max(1)))).collect()
}

/// Draws stages, SRAM, TCAM and map RAM in percent over the parameter (logarithmic), with a mark at the first value
/// that does not fit.
pub(super) fn sweep(title: &str, sweep: &Sweep) -> LineChart {
    let Sweep { key, points, .. } = sweep;
    let mut chart =
        LineChart { log_x: true, top: Some(105.0), ..LineChart::new(title, key, "percent of the chip") };
    let column =
        |c: Column| move |r: &Report| (r.totals[c.index()], r.available[c.index()] * r.stages.len() as u32);
    chart.add("stages", shares(points, |r| (r.stages_used(), r.stages.len() as u32)), Style::Line);
    chart.add("SRAM", shares(points, column(Column::Sram)), Style::Line);
    chart.add("TCAM", shares(points, column(Column::Tcam)), Style::Line);
    chart.add("map RAM", shares(points, column(Column::MapRam)), Style::Line);
    let fails = points.iter().find(|p| p.result.is_err());
    chart.mark = fails.map(|p| (p.value as f64, "does not fit".to_owned()));
    chart
}
