//! Plots of a page that the reader can zoom: lines, steps and marks over one axis.
//!
//! A plot is a complete drawing without a script. With [`ZOOM`] in its page, dragging or the wheel selects a part of the
//! horizontal axis, the vertical axis follows, and the least and the greatest value in the part are written below, with their
//! places. The script reads the same points from the page; nothing is fetched.

mod scale;
mod thin;

pub use thin::{cumulative, thinned};

use crate::FONT;
use crate::palette::Colour;
use maud::{Markup, PreEscaped, Render, html};
use scale::Scale;
use std::fmt::Write;

/// The script of pages with plots, for [`Page::script`](crate::Page::script).
pub const ZOOM: &str = include_str!("zoom.js");

/// Pixels of a drawing, and of its margins: left, right, top, bottom. `zoom.js` has the same numbers.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 38.0;

/// How the points of a line are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlotStyle {
    /// Straight from point to point.
    #[default]
    Line,
    /// A level from each point to the next one.
    Steps,
    /// Straight from point to point, with a mark on each point.
    Marked,
    /// A hollow mark on each point, without a line: values that others gave.
    Dots,
}

/// A line with its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotLine {
    /// The line's entry in the legend.
    pub name: String,
    /// Points in order of x. Points that an axis cannot show are left out.
    pub points: Vec<(f64, f64)>,
    /// Ends of a vertical bar through each point, such as a confidence interval; empty: no bars.
    pub bars: Vec<(f64, f64)>,
    /// Style.
    pub style: PlotStyle,
}

/// A plot. The vertical axis starts at 0 unless it is logarithmic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Name and unit of the horizontal axis.
    pub x: String,
    /// Name and unit of the vertical axis.
    pub y: String,
    /// True if the horizontal axis is logarithmic.
    pub log_x: bool,
    /// The lines, drawn in this order.
    pub lines: Vec<PlotLine>,
}

impl Plot {
    /// Returns a plot without lines.
    #[must_use]
    pub fn new(title: &str, x: &str, y: &str) -> Plot {
        Plot { title: title.to_owned(), x: x.to_owned(), y: y.to_owned(), ..Plot::default() }
    }

    /// Returns true if no line has a point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.points.is_empty())
    }

    /// Returns true if a point can be drawn.
    fn shows(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && !(self.log_x && x <= 0.0)
    }

    /// Returns the axes that show all points and bars.
    fn scales(&self) -> (Scale, Scale) {
        let points =
            || self.lines.iter().flat_map(|line| line.points.iter().copied()).filter(|p| self.shows(*p));
        let tops = self
            .lines
            .iter()
            .flat_map(|line| line.bars.iter().map(|bar| bar.1))
            .filter(|top| top.is_finite());
        let least = points().map(|p| p.0).fold(f64::INFINITY, f64::min);
        let most = points().map(|p| p.0).fold(f64::NEG_INFINITY, f64::max);
        let high = points().map(|p| p.1).chain(tops).fold(0.0, f64::max);
        let low = points().map(|p| p.1).fold(0.0, f64::min);
        let x = Scale::new((least, most), (LEFT, WIDTH - RIGHT), self.log_x);
        (x, Scale::new((low, high * 1.05), (HEIGHT - BOTTOM, TOP), false))
    }

    fn colour(number: usize) -> Colour {
        Colour::LINES[number % Colour::LINES.len()]
    }

    /// Returns the lines as JSON for the script. Numbers have at most seven significant digits.
    fn data(&self) -> String {
        let text = |text: &str| format!("\"{}\"", escaped(text));
        let list = |numbers: Vec<f64>| numbers.into_iter().map(short).collect::<Vec<_>>().join(",");
        let line = |line: &PlotLine| {
            let shown: Vec<usize> = (0..line.points.len()).filter(|n| self.shows(line.points[*n])).collect();
            let column = |get: &dyn Fn(usize) -> f64| list(shown.iter().map(|n| get(*n)).collect());
            let mut json = format!(
                "{{\"n\":{},\"s\":{},\"x\":[{}],\"y\":[{}]",
                text(&line.name),
                line.style as u8,
                column(&|n| line.points[n].0),
                column(&|n| line.points[n].1)
            );
            if line.bars.len() == line.points.len() && !line.bars.is_empty() {
                // Writing into a String cannot fail.
                let _ = write!(
                    json,
                    ",\"a\":[{}],\"b\":[{}]",
                    column(&|n| line.bars[n].0),
                    column(&|n| line.bars[n].1)
                );
            }
            json + "}"
        };
        let lines: Vec<String> = self.lines.iter().map(line).collect();
        format!("{{\"lx\":{},\"lines\":[{}]}}", u8::from(self.log_x), lines.join(","))
    }
}

/// Returns a text as it may stand in a string of JSON inside a script of a page.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '<' | '>' | '&' => _ = write!(out, "\\u{:04x}", c as u32),
            c if c < ' ' => _ = write!(out, "\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

/// Returns a number with at most seven significant digits, without needless zeros.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let whole = value.abs().log10().floor() as i32 + 1;
    let decimals = (7 - whole).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns the path of points in pixels.
fn path(pixels: &[(f64, f64)], style: PlotStyle) -> String {
    let mut d = String::new();
    for (number, (x, y)) in pixels.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = match (number, style) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, PlotStyle::Steps) => write!(d, "H{x:.1}V{y:.1}"),
            _ => write!(d, "L{x:.1} {y:.1}"),
        };
    }
    d
}

impl Render for Plot {
    fn render(&self) -> Markup {
        let (x, y) = self.scales();
        let pixels = |line: &PlotLine| -> Vec<(f64, f64)> {
            let shown = line.points.iter().filter(|p| self.shows(**p));
            shown.map(|(at, value)| (x.pixel(*at), y.pixel(*value))).collect()
        };
        let px = |value: f64| format!("{value:.1}");
        html! {
            figure.plot {
                figcaption { (self.title) }
                p.legend {
                    @for (number, line) in self.lines.iter().enumerate() {
                        span data-line=(number) { i style=(format!("background:{}", Self::colour(number))) {} (line.name) } " "
                    }
                }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) font-family=(FONT) font-size="11"
                    role="img" aria-label=(self.title) {
                    g.ticks {
                        @for (value, name) in x.ticks() {
                            @let at = px(x.pixel(value));
                            line x1=(at) x2=(at) y1=(TOP) y2=(HEIGHT - BOTTOM) stroke=(Colour::GRID) {}
                            text x=(at) y=(HEIGHT - BOTTOM + 14.0) text-anchor="middle" fill=(Colour::SOFT) { (name) }
                        }
                        @for (value, name) in y.ticks() {
                            @let at = px(y.pixel(value));
                            line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(at) y2=(at) stroke=(Colour::GRID) {}
                            text x=(LEFT - 6.0) y=(px(y.pixel(value) + 4.0)) text-anchor="end" fill=(Colour::SOFT) { (name) }
                        }
                    }
                    // A drawing in the drawing, which ends at the axes.
                    svg x=(LEFT - 4.0) y=(TOP - 4.0) width=(WIDTH - LEFT - RIGHT + 8.0) height=(HEIGHT - TOP - BOTTOM + 8.0)
                        viewBox=(format!("{} {} {} {}", LEFT - 4.0, TOP - 4.0, WIDTH - LEFT - RIGHT + 8.0, HEIGHT - TOP - BOTTOM + 8.0)) {
                    @for (number, line) in self.lines.iter().enumerate() {
                        @let colour = Self::colour(number);
                        g data-line=(number) fill="none" stroke=(colour) stroke-width="1.5" {
                            @if line.style != PlotStyle::Dots { path d=(path(&pixels(line), line.style)) {} }
                            @for ((at, _), (low, high)) in line.points.iter().zip(&line.bars).filter(|(p, _)| self.shows(**p)) {
                                path d=(format!("M{0:.1} {1:.1}V{2:.1}", x.pixel(*at), y.pixel(*low), y.pixel(*high))) {}
                            }
                            @if line.style == PlotStyle::Marked {
                                @for (cx, cy) in pixels(line) { circle cx=(px(cx)) cy=(px(cy)) r="3" fill=(colour) {} }
                            }
                            @if line.style == PlotStyle::Dots {
                                @for (cx, cy) in pixels(line) { circle cx=(px(cx)) cy=(px(cy)) r="4.5" stroke-width="2" {} }
                            }
                        }
                    }
                    }
                    text.x x=(px((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 6.0) text-anchor="middle" { (self.x) }
                    text.y x="12" y=(px((TOP + HEIGHT - BOTTOM) / 2.0)) text-anchor="middle"
                        transform=(format!("rotate(-90 12 {:.1})", (TOP + HEIGHT - BOTTOM) / 2.0)) { (self.y) }
                }
                p.read {}
                script type="application/json" { (PreEscaped(self.data())) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot() -> Plot {
        let mut plot = Plot::new("Loss </script>", "time, us", "cells");
        let line = |name: &str, style| PlotLine {
            name: name.to_owned(),
            points: vec![(0.0, 0.0), (50.0, 100.0), (100.0, 20.0)],
            bars: Vec::new(),
            style,
        };
        plot.lines = vec![line("a < b", PlotStyle::Steps), line("c", PlotStyle::Marked)];
        plot.lines[1].bars = vec![(0.0, 0.0), (90.0, 200.0), (20.0, 20.0)];
        plot
    }

    #[test]
    fn a_plot_is_drawn_to_scale_without_its_script() {
        let html = plot().render().into_string();
        // The bars end at 200, so the axis ends at 210: 100 is at 282 - 272 * 100 / 210 = 152.5. 50 is at 70 + 776 / 2 = 458.
        assert!(html.contains("M70.0 282.0H458.0V152.5H846.0V256.1"), "{html}");
        assert!(html.contains("M70.0 282.0L458.0 152.5L846.0 256.1"), "{html}");
        assert!(html.contains("M458.0 165.4V23.0"), "{html}");
        assert_eq!(html.matches("<circle").count(), 3);
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(html.contains("{\"n\":\"a \\u003c b\",\"s\":1,\"x\":[0,50,100],\"y\":[0,100,20]}"), "{html}");
        assert!(html.contains("\"a\":[0,90,20],\"b\":[0,200,20]"), "{html}");
    }

    #[test]
    fn dots_have_no_line() {
        let mut plot = plot();
        plot.lines.truncate(1);
        plot.lines[0].style = PlotStyle::Dots;
        let html = plot.render().into_string();
        assert_eq!(html.matches("<circle").count(), 3);
        assert!(!html.contains("<path"), "{html}");
    }

    #[test]
    fn points_that_an_axis_cannot_show_are_left_out() {
        let mut plot = Plot { log_x: true, ..plot() };
        plot.lines[0].points.push((f64::NAN, 1.0));
        let html = plot.render().into_string();
        assert!(html.contains("\"s\":1,\"x\":[50,100],\"y\":[100,20]"), "{html}");
        assert!(!html.contains("NaN") && Plot::new("", "", "").is_empty());
        assert!(!Plot::new("", "", "").render().into_string().contains("NaN"));
    }

    #[test]
    fn numbers_are_short_and_exact_enough() {
        for (value, text) in
            [(0.0, "0"), (1.5, "1.5"), (123_456_789.0, "123456789"), (0.1 + 0.2, "0.3"), (-2.25, "-2.25")]
        {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1.0 / 3.0), "0.3333333");
    }
}
