//! Drawings against the timeout. What may not live here: where the points come from.

use super::Report;
use crate::fail::Failure;
use plotters::prelude::*;
use sluice_fabric::flowlets::census;

const COLOURS: [RGBColor; 8] = [
    RGBColor(43, 108, 176),
    RGBColor(183, 96, 43),
    RGBColor(47, 133, 90),
    RGBColor(128, 52, 140),
    RGBColor(176, 42, 55),
    RGBColor(27, 31, 36),
    RGBColor(23, 150, 160),
    RGBColor(127, 127, 127),
];

type Curve = (String, Vec<(f64, f64)>);

fn micros(ps: u64) -> f64 {
    ps as f64 / 1e6
}

/// Flowlets, and packets of a flowlet, both in powers of ten.
pub(super) fn census(c: &census::Report) -> Result<String, Failure> {
    let curve = |name: &str, of: fn(&census::Row) -> f64| -> Curve {
        (name.to_owned(), c.rows.iter().map(|r| (micros(r.timeout_ps), of(r).max(1.0))).collect())
    };
    let curves = [
        curve("flowlets", |r| r.flowlets as f64),
        curve("packets of one, mean", |r| r.packets.mean),
        curve("packets of one, 99 %", |r| r.packets.p99 as f64),
    ];
    drawn("Flowlets by timeout", "count", &curves, true)
}

/// Reordered packets in percent by program; one without timeout is the same at all of them.
pub(super) fn trials(report: &Report<'_>) -> Result<String, Failure> {
    let ends: Vec<f64> = report.args.timeouts.0.iter().map(|t| micros(t.as_ps())).collect();
    let mut curves: Vec<Curve> = Vec::new();
    for t in &report.trials {
        let r = t.outcome.reordering;
        let percent = 100.0 * r.reordered as f64 / r.packets.max(1) as f64;
        match (t.timeout, curves.last_mut()) {
            (Some(timeout), Some((name, points))) if *name == t.program => {
                points.push((micros(timeout.as_ps()), percent));
            }
            (Some(timeout), _) => curves.push((t.program.clone(), vec![(micros(timeout.as_ps()), percent)])),
            (None, _) => curves.push((t.program.clone(), ends.iter().map(|x| (*x, percent)).collect())),
        }
    }
    drawn("Reordered packets by timeout", "percent", &curves, false)
}

/// Flows on each path, found and expected.
pub(super) fn settled(report: &Report<'_>) -> Result<String, Failure> {
    let mut curves: Vec<Curve> = Vec::new();
    for (path, rate) in report.args.elastic.iter().enumerate() {
        let found = report.settled.iter().map(|(t, s)| (micros(t.as_ps()), s.flows[path]));
        curves.push((format!("path {path}, {rate}"), found.collect()));
        let expected =
            report.settled.iter().filter_map(|(t, s)| Some((micros(t.as_ps()), s.expected.as_ref()?[path])));
        curves.push((format!("path {path}, fixed point"), expected.collect()));
    }
    drawn("Flows by path and timeout", "flows", &curves, false)
}

/// Curves over timeouts in µs, which are drawn in powers of ten; so are the values if `powers`.
fn drawn(title: &str, unit: &str, curves: &[Curve], powers: bool) -> Result<String, Failure> {
    let mut out = String::new();
    draw(&mut out, title, unit, curves, powers)
        .map_err(|e| Failure::Inconsistent(format!("cannot draw: {e}")))?;
    Ok(out)
}

macro_rules! chart {
    ($area:ident, $title:ident, $unit:ident, $curves:ident, $x:expr, $y:expr) => {{
        let mut chart = ChartBuilder::on(&$area)
            .caption($title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d($x, $y)?;
        let mesh = &mut chart.configure_mesh();
        mesh.x_desc("timeout, us").y_desc($unit).x_label_formatter(&|v| format!("{v}")).draw()?;
        for ((name, points), colour) in $curves.iter().zip(COLOURS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))?
                .label(name.clone())
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart.configure_series_labels().background_style(WHITE.mix(0.9)).border_style(BLACK).draw()?;
    }};
}

fn draw(
    out: &mut String,
    title: &str,
    unit: &str,
    curves: &[Curve],
    powers: bool,
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|(_, points)| points.iter().copied());
    let first = points().map(|p| p.0).fold(f64::INFINITY, f64::min).min(1e9);
    let last = points().map(|p| p.0).fold(first * 1.01, f64::max);
    let most = points().map(|p| p.1).fold(1.0, f64::max) * 1.05;
    let area = SVGBackend::with_string(out, (900, 480)).into_drawing_area();
    area.fill(&WHITE)?;
    let x = (first..last).log_scale();
    if powers {
        chart!(area, title, unit, curves, x, (1.0..most).log_scale());
    } else {
        chart!(area, title, unit, curves, x, 0.0..most);
    }
    area.present()?;
    Ok(())
}
