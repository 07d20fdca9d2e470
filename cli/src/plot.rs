//! Line charts as SVG, the same look for every command.

use crate::fail::Failure;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Colours of lines, in order.
const COLOURS: [RGBColor; 8] = [
    RGBColor(43, 108, 176),
    RGBColor(183, 96, 43),
    RGBColor(47, 133, 90),
    RGBColor(176, 42, 55),
    RGBColor(110, 74, 158),
    RGBColor(27, 31, 36),
    RGBColor(24, 137, 150),
    RGBColor(120, 120, 120),
];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// From point to point.
    #[default]
    Line,
    /// With a mark on every point.
    Marked,
}

/// Where the names of lines stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Key {
    /// On the right.
    #[default]
    Right,
    /// In the upper left, where all lines rise to the right.
    UpperLeft,
}

/// Points by a name.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) style: Style,
}

/// A chart of several lines over one axis. The vertical axis begins at 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: String,
    pub(crate) y: String,
    /// Horizontal axis in powers; all `x` must then be above 0.
    pub(crate) log_x: bool,
    /// Upper end of the vertical axis; what the points need if `None`.
    pub(crate) top: Option<f64>,
    pub(crate) series: Vec<Series>,
    /// A vertical line and its name.
    pub(crate) mark: Option<(f64, String)>,
    /// Where the names stand.
    pub(crate) key: Key,
}

impl Chart {
    /// A chart without lines.
    pub(crate) fn new(title: &str, x: &str, y: &str) -> Chart {
        Chart { title: title.to_owned(), x: x.to_owned(), y: y.to_owned(), ..Chart::default() }
    }

    /// Adds a line.
    pub(crate) fn line(&mut self, name: &str, points: Vec<(f64, f64)>, style: Style) {
        self.series.push(Series { name: name.to_owned(), points, style });
    }

    /// The drawing, 900 × 480.
    pub(crate) fn svg(&self) -> Result<String, Failure> {
        let mut out = String::new();
        self.draw(&mut out).map_err(|e| Failure::Inconsistent(format!("cannot draw: {e}")))?;
        Ok(out)
    }

    fn ends(&self) -> ((f64, f64), f64) {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let marked = self.mark.iter().map(|m| m.0);
        let xs = || points().map(|p| p.0).chain(marked.clone());
        let last = xs().fold(f64::MIN, f64::max);
        let first = if self.log_x { xs().fold(f64::MAX, f64::min) } else { xs().fold(0.0, f64::min) };
        let (first, last) = if first <= last { (first, last) } else { (0.0, 1.0) };
        let last = if last > first { last } else { first + first.abs().max(1.0) * 0.01 };
        let most = points().map(|p| p.1).fold(0.0, f64::max);
        ((first, last), self.top.unwrap_or(if most > 0.0 { most * 1.05 } else { 1.0 }))
    }

    fn draw(&self, out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
        let area = SVGBackend::with_string(out, (900, 480)).into_drawing_area();
        area.fill(&WHITE)?;
        let ((first, last), top) = self.ends();
        if self.log_x {
            self.on(&area, (first..last).log_scale(), top)?;
        } else {
            self.on(&area, first..last, top)?;
        }
        area.present()?;
        Ok(())
    }

    fn on<'a, X>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
        x: X,
        top: f64,
    ) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64>,
        DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>: 'static,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(60)
            .build_cartesian_2d(x, 0.0..top)?;
        let number = |v: &f64| short(*v);
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .x_label_formatter(&number)
            .y_label_formatter(&number)
            .max_light_lines(1)
            .bold_line_style(BLACK.mix(0.12))
            .draw()?;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(series.points.iter().copied(), colour.stroke_width(2)))?
                .label(&series.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            if series.style == Style::Marked {
                chart.draw_series(series.points.iter().map(|p| Circle::new(*p, 3, colour.filled())))?;
            }
        }
        if let Some((at, name)) = &self.mark {
            let colour = COLOURS[3];
            chart
                .draw_series(LineSeries::new([(*at, 0.0), (*at, top)], colour.stroke_width(1)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(1)));
        }
        let place = match self.key {
            Key::Right => SeriesLabelPosition::MiddleRight,
            Key::UpperLeft => SeriesLabelPosition::UpperLeft,
        };
        chart
            .configure_series_labels()
            .position(place)
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK)
            .draw()?;
        Ok(())
    }
}

/// A number without needless zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_has_its_words_and_lines() {
        let mut chart = Chart::new("Loss", "flows", "drops");
        chart.line("td2", vec![(1.0, 0.0), (10.0, 5.0)], Style::Marked);
        chart.line("th", vec![(1.0, 1.0), (10.0, 2.0)], Style::Line);
        chart.mark = Some((4.0, "does not fit".to_owned()));
        for log_x in [false, true] {
            chart.log_x = log_x;
            let svg = chart.svg().unwrap_or_default();
            for word in ["Loss", "flows", "drops", "td2", "th", "does not fit"] {
                assert!(svg.contains(word), "{word}");
            }
            assert_eq!(svg.matches("<circle").count(), 2);
        }
    }

    #[test]
    fn a_chart_without_points_is_drawn_all_the_same() {
        for log_x in [false, true] {
            let chart = Chart { log_x, ..Chart::new("nothing", "x", "y") };
            assert!(chart.svg().is_ok_and(|s| s.contains("nothing")));
        }
    }
}
