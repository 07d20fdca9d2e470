//! Draws line charts with plotters.

use super::{DrawError, LineChart, Style};
use crate::palette::Colour;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels of a drawing: least width and height, and least width left of the legend.
const WIDTH: u32 = 900;
const HEIGHT: u32 = 480;
const PLOT: u32 = 560;
/// Pixels of the legend: above its first entry, an entry's height, its sample of the line, and of a letter.
const LEGEND_TOP: u32 = 48;
const ENTRY: u32 = 19;
const SAMPLE: u32 = 30;
const LETTER: f64 = 6.8;
/// Font of axes and legend.
const LABEL: (&str, i32) = ("sans-serif", 15);

type Failed = Box<dyn std::error::Error>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

impl LineChart {
    /// Draws the chart.
    pub(super) fn drawn(&self) -> Result<String, DrawError> {
        let mut out = String::new();
        self.draw(&mut out).map_err(|e| DrawError(e.to_string()))?;
        Ok(out)
    }

    /// Returns the names, colours and styles of the legend's entries.
    fn entries(&self) -> Vec<(&str, Colour, Style)> {
        let colours = Colour::LINES.into_iter().cycle();
        let series = self.series.iter().zip(colours).map(|(s, colour)| (s.name.as_str(), colour, s.style));
        let mark = self.mark.iter().map(|(_, name)| (name.as_str(), Colour::RED, Style::Dashed));
        series.chain(mark).collect()
    }

    /// Returns true if a point can be drawn.
    fn shows(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && !(self.log_x && x <= 0.0)
    }

    /// Returns the ends of the horizontal axis and the upper end of the vertical one.
    fn ends(&self) -> ((f64, f64), f64) {
        let points = || self.series.iter().flat_map(|s| s.points.iter().copied()).filter(|p| self.shows(*p));
        let marked = self.mark.iter().map(|m| m.0);
        let xs = || points().map(|p| p.0).chain(marked.clone());
        let last = xs().fold(f64::MIN, f64::max);
        let first = if self.log_x { xs().fold(f64::MAX, f64::min) } else { xs().fold(0.0, f64::min) };
        let empty = if self.log_x { (1.0, 10.0) } else { (0.0, 1.0) };
        let (first, last) = if first <= last { (first, last) } else { empty };
        let last = if last > first { last } else { first + first.abs().max(1.0) * 0.01 };
        let most = points().map(|p| p.1).fold(0.0, f64::max);
        ((first, last), self.top.unwrap_or(if most > 0.0 { most * 1.05 } else { 1.0 }))
    }

    fn draw(&self, out: &mut String) -> Result<(), Failed> {
        let entries = self.entries();
        let letters = entries.iter().map(|(name, ..)| name.chars().count()).max();
        let legend = letters.map_or(0, |n| SAMPLE + 24 + (n as f64 * LETTER) as u32);
        let (width, height) =
            (WIDTH.max(PLOT + legend), HEIGHT.max(LEGEND_TOP + ENTRY * (entries.len() as u32 + 1)));
        let area = SVGBackend::with_string(out, (width, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (left, right) = area.split_horizontally(width - legend);
        let ((first, last), top) = self.ends();
        if self.log_x {
            self.axes(&left, (first..last).log_scale(), top)?;
        } else {
            self.axes(&left, first..last, top)?;
        }
        for (row, (name, colour, style)) in (0i32..).zip(&entries) {
            let y = LEGEND_TOP as i32 + ENTRY as i32 * row;
            sample(&right, y, *colour, *style)?;
            let text = LABEL.into_font().color(&rgb(Colour::BLACK)).pos(Pos::new(HPos::Left, VPos::Center));
            right.draw(&Text::new((*name).to_owned(), (SAMPLE as i32 + 6, y), text))?;
        }
        area.present()?;
        Ok(())
    }

    fn axes<'a, X>(&self, area: &Area<'a>, x: X, top: f64) -> Result<(), Failed>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>: 'static,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .margin_right(20)
            .x_label_area_size(44)
            .y_label_area_size(68)
            .build_cartesian_2d(x, 0.0..top)?;
        let number = |v: &f64| short(*v);
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .label_style(LABEL)
            .max_light_lines(1)
            .bold_line_style(BLACK.mix(0.12))
            .draw()?;
        for (series, (_, colour, style)) in self.series.iter().zip(self.entries()) {
            let colour = rgb(colour);
            let points: Vec<(f64, f64)> = series.points.iter().copied().filter(|p| self.shows(*p)).collect();
            let line = colour.stroke_width(2);
            match style {
                Style::Line | Style::Marked => {
                    chart.draw_series(LineSeries::new(points.iter().copied(), line))?;
                }
                Style::Steps => {
                    chart.draw_series(LineSeries::new(corners(&points), line))?;
                }
                Style::Dashed => {
                    let thin = colour.stroke_width(1);
                    chart.draw_series(DashedLineSeries::new(points.iter().copied(), 6, 4, thin))?;
                }
                Style::Points => {}
            }
            if matches!(style, Style::Marked | Style::Points) {
                chart.draw_series(points.iter().map(|p| Circle::new(*p, 3, colour.filled())))?;
            }
        }
        if let Some((at, _)) = &self.mark {
            let line = [(*at, 0.0), (*at, top)];
            chart.draw_series(DashedLineSeries::new(line, 6, 4, rgb(Colour::RED).stroke_width(1)))?;
        }
        Ok(())
    }
}

/// Draws the legend's sample of a series.
fn sample(area: &Area<'_>, y: i32, colour: Colour, style: Style) -> Result<(), Failed> {
    let (colour, end) = (rgb(colour), SAMPLE as i32);
    match style {
        Style::Line | Style::Marked | Style::Steps => {
            area.draw(&PathElement::new([(4, y), (end, y)], colour.stroke_width(2)))?;
        }
        Style::Dashed => {
            for x in (4..end).step_by(10) {
                area.draw(&PathElement::new([(x, y), ((x + 6).min(end), y)], colour.stroke_width(1)))?;
            }
        }
        Style::Points => {}
    }
    if matches!(style, Style::Marked | Style::Points) {
        area.draw(&Circle::new(((4 + end) / 2, y), 3, colour.filled()))?;
    }
    Ok(())
}

/// Returns the corners of the steps through these points.
fn corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners = Vec::with_capacity(2 * points.len());
    for (x, y) in points {
        if let Some((_, level)) = corners.last().copied() {
            corners.push((*x, level));
        }
        corners.push((*x, *y));
    }
    corners
}

fn rgb(colour: Colour) -> RGBColor {
    RGBColor(colour.0, colour.1, colour.2)
}

/// Returns a number without needless zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_names_lines_and_marks() {
        let mut chart = LineChart::new("Loss", "flows", "drops");
        chart.add("td2", vec![(1.0, 0.0), (10.0, 5.0)], Style::Marked);
        chart.add("a < b", vec![(1.0, 1.0), (10.0, 2.0)], Style::Line);
        chart.mark = Some((4.0, "does not fit".to_owned()));
        for log_x in [false, true] {
            chart.log_x = log_x;
            let svg = chart.svg().unwrap();
            for word in ["Loss", "flows", "drops", "td2", "a &lt; b", "does not fit"] {
                assert!(svg.contains(word), "{word}");
            }
            // Two points and the legend's sample.
            assert_eq!(svg.matches("<circle").count(), 3);
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        }
    }

    #[test]
    fn a_chart_without_points_has_axes() {
        for log_x in [false, true] {
            let chart = LineChart { log_x, ..LineChart::new("nothing", "x", "y") };
            assert!(chart.svg().is_ok_and(|s| s.contains("nothing")));
        }
    }

    #[test]
    fn points_that_an_axis_cannot_show_are_left_out() {
        let mut chart = LineChart { log_x: true, ..LineChart::new("", "x", "y") };
        chart.add("s", vec![(0.0, 1e9), (f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 3.0)], Style::Points);
        assert_eq!(chart.ends(), ((2.0, 2.02), 3.0 * 1.05));
        assert_eq!(chart.svg().unwrap().matches("<circle").count(), 2);
    }

    #[test]
    fn steps_keep_a_level_until_the_next_point() {
        let steps = corners(&[(1.0, 4.0), (3.0, 0.0), (5.0, 2.0)]);
        assert_eq!(steps, [(1.0, 4.0), (3.0, 4.0), (3.0, 0.0), (5.0, 0.0), (5.0, 2.0)]);
        assert!(corners(&[]).is_empty());
    }

    #[test]
    fn a_long_legend_makes_the_drawing_larger() {
        let mut chart = LineChart::new("", "x", "y");
        (0..40).for_each(|n| chart.add(&format!("{n} {}", "x".repeat(60)), vec![(1.0, 1.0)], Style::Line));
        let svg = chart.svg().unwrap();
        assert!(svg.starts_with("<svg width=\"1042\" height=\"827\""), "{}", &svg[..80]);
    }
}
