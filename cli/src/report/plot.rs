//! Drawings of a sweep. What may not live here: where the points come from.

use super::sweep::Point;
use crate::fail::Failure;
use plotters::prelude::*;
use sluice_asic::chip::Column;
use sluice_pipeline::report::Report;

/// Share of what the chip has, in percent.
fn shares(points: &[Point], of: impl Fn(&Report) -> (u32, u32)) -> Vec<(f64, f64)> {
    let fit = points.iter().filter_map(|p| p.result.as_ref().ok().map(|r| (p.value, of(r))));
    fit.map(|(value, (used, all))| (value as f64, 100.0 * f64::from(used) / f64::from(all.max(1)))).collect()
}

/// Stages, SRAM and TCAM in percent against the parameter, which is drawn in powers; a line where it stops
/// fitting.
pub(super) fn sweep(title: &str, key: &str, points: &[Point]) -> Result<String, Failure> {
    let mut out = String::new();
    draw(&mut out, title, key, points).map_err(|e| Failure::Inconsistent(format!("cannot draw: {e}")))?;
    Ok(out)
}

fn draw(
    out: &mut String,
    title: &str,
    key: &str,
    points: &[Point],
) -> Result<(), Box<dyn std::error::Error>> {
    let first = points.first().map_or(1, |p| p.value) as f64;
    let last = points.last().map_or(2, |p| p.value) as f64;
    let area = SVGBackend::with_string(out, (900, 480)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d((first..last.max(first * 1.01)).log_scale(), 0.0..105.0)?;
    chart
        .configure_mesh()
        .x_desc(key)
        .y_desc("percent of the chip")
        .x_label_formatter(&|v| format!("{v:.0}"))
        .draw()?;
    let column =
        |c: Column| move |r: &Report| (r.totals[c.index()], r.available[c.index()] * r.stages.len() as u32);
    let stages = |r: &Report| (r.stages_used(), r.stages.len() as u32);
    let lines = [
        ("stages", shares(points, stages), RGBColor(27, 31, 36)),
        ("SRAM", shares(points, column(Column::Sram)), RGBColor(43, 108, 176)),
        ("TCAM", shares(points, column(Column::Tcam)), RGBColor(183, 96, 43)),
        ("map RAM", shares(points, column(Column::MapRam)), RGBColor(47, 133, 90)),
    ];
    for (name, line, colour) in lines {
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    if let Some(fails) = points.iter().find(|p| p.result.is_err()) {
        let at = fails.value as f64;
        let colour = RGBColor(176, 42, 55);
        chart
            .draw_series(LineSeries::new([(at, 0.0), (at, 105.0)], colour.stroke_width(1)))?
            .label("does not fit")
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(1)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.9)).border_style(BLACK).draw()?;
    area.present()?;
    Ok(())
}
