//! Plots of a page that the reader can zoom: lines, steps and marks over one axis.
//!
//! A plot is a complete drawing without a script. With [`ZOOM`] in its page, dragging, the wheel or the keyboard select a
//! part of the horizontal axis, the vertical axis follows, and the least and the greatest value in the part are written
//! below, with their places. The script reads the same points from the page, and lists them as a table if asked to; nothing
//! is fetched.

mod data;
mod scale;
mod thin;

pub use thin::{cumulative, thinned};

use crate::FONT;
use crate::palette::Colour;
use maud::{Markup, PreEscaped, Render, html};
use scale::Scale;
use std::fmt::Write;

/// Dashes of the lines, in order, so that lines differ without colours.
const DASHES: [&str; 8] = ["", "8 3", "2 2.5", "9 3 2 3", "", "5 2", "1.5 2", "9 3 2 3 2 3"];
/// Dashes of limits.
const LIMIT: &str = "4 4";
/// A limit is drawn at first only if it is at most this multiple of the highest point: a limit far above would flatten the
/// lines.
const NEAR: f64 = 3.0;

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
    /// A thin dashed level from each point to the next one: a limit of other lines. One far above all lines is hidden at
    /// first, and no limit counts as the greatest or least value.
    Limit,
}

/// Shaded stretches of the horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shade {
    /// The shade's entry in the legend: a word for what holds there.
    pub name: String,
    /// Beginning and end of each stretch, in order.
    pub spans: Vec<(f64, f64)>,
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
    /// Shaded stretches; empty: none.
    pub shade: Shade,
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
        let points = || {
            let lines = self.lines.iter().filter(|line| !self.is_far(line));
            lines.flat_map(|line| line.points.iter().copied()).filter(|p| self.shows(*p))
        };
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

    /// Returns true if a line is a limit far above all lines that are none.
    fn is_far(&self, line: &PlotLine) -> bool {
        let lines = self.lines.iter().filter(|line| line.style != PlotStyle::Limit);
        let most = lines.flat_map(|line| &line.points).map(|p| p.1).fold(0.0, f64::max);
        let least = line.points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
        line.style == PlotStyle::Limit && least > NEAR * most
    }

    /// Returns the colour and the dashes of a line.
    fn pen(&self, number: usize) -> (Colour, &'static str) {
        match self.lines.get(number).map(|line| line.style) {
            Some(PlotStyle::Limit) => (Colour::GREY, LIMIT),
            _ => (Colour::LINES[number % Colour::LINES.len()], DASHES[number % DASHES.len()]),
        }
    }

    fn legend(&self) -> Markup {
        html! {
            p.legend {
                @for (number, line) in self.lines.iter().enumerate() {
                    @let (colour, dashes) = self.pen(number);
                    @let far = self.is_far(line);
                    button.key.off[far] type="button" data-line=(number) aria-pressed=(!far) title="Click to hide or show" {
                        svg viewBox="0 0 30 10" aria-hidden="true" {
                            @if line.style == PlotStyle::Dots {
                                circle cx="15" cy="5" r="4" fill="none" stroke=(colour) stroke-width="2" {}
                            } @else {
                                line x1="0" x2="30" y1="5" y2="5" stroke=(colour) stroke-width="2" stroke-dasharray=(dashes) {}
                            }
                        }
                        (line.name)
                    }
                }
                @if !self.shade.spans.is_empty() {
                    span { i style=(format!("background:{}", Colour::LIGHT_RED)) {} (self.shade.name) }
                }
            }
        }
    }
}

/// Returns the path of points in pixels.
fn path(pixels: &[(f64, f64)], style: PlotStyle) -> String {
    let mut d = String::new();
    for (number, (x, y)) in pixels.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = match (number, style) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, PlotStyle::Steps | PlotStyle::Limit) => write!(d, "H{x:.1}V{y:.1}"),
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
                (self.legend())
                div.wide {
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) font-family=(FONT) font-size="14"
                    role="img" tabindex="0" aria-label=(format!("{}: {} over {}", self.title, self.y, self.x)) {
                    g.ticks {
                        @for (value, name) in x.ticks() {
                            @let at = px(x.pixel(value));
                            line x1=(at) x2=(at) y1=(TOP) y2=(HEIGHT - BOTTOM) stroke=(Colour::GRID) {}
                            text x=(at) y=(HEIGHT - BOTTOM + 15.0) text-anchor="middle" fill=(Colour::SOFT) { (name) }
                        }
                        @for (value, name) in y.ticks() {
                            @let at = px(y.pixel(value));
                            line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(at) y2=(at) stroke=(Colour::GRID) {}
                            text x=(LEFT - 6.0) y=(px(y.pixel(value) + 5.0)) text-anchor="end" fill=(Colour::SOFT) { (name) }
                        }
                    }
                    // A drawing in the drawing, which ends at the axes.
                    svg x=(LEFT - 4.0) y=(TOP - 4.0) width=(WIDTH - LEFT - RIGHT + 8.0) height=(HEIGHT - TOP - BOTTOM + 8.0)
                        viewBox=(format!("{} {} {} {}", LEFT - 4.0, TOP - 4.0, WIDTH - LEFT - RIGHT + 8.0, HEIGHT - TOP - BOTTOM + 8.0)) {
                    g.shade {
                        @for (from, to) in &self.shade.spans {
                            @let (from, to) = (x.pixel(*from), x.pixel(*to));
                            rect x=(px(from)) y=(TOP) width=(px((to - from).max(0.5))) height=(HEIGHT - TOP - BOTTOM)
                                fill=(Colour::LIGHT_RED) {}
                        }
                    }
                    @for (number, line) in self.lines.iter().enumerate().filter(|(_, line)| !self.is_far(line)) {
                        @let (colour, dashes) = self.pen(number);
                        g data-line=(number) fill="none" stroke=(colour) stroke-width="1.5" stroke-dasharray=(dashes) {
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
                    text.x x=(px((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 5.0) text-anchor="middle" { (self.x) }
                    text.y x="12" y=(px((TOP + HEIGHT - BOTTOM) / 2.0)) text-anchor="middle"
                        transform=(format!("rotate(-90 12 {:.1})", (TOP + HEIGHT - BOTTOM) / 2.0)) { (self.y) }
                }
                }
                p.read role="status" {}
                details.data { summary { "Numbers" } div.wide {} }
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
        assert_eq!(html.matches("<circle").count(), 4, "three points and a sample");
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
    fn limits_and_shades_are_drawn_but_a_far_limit_is_not() {
        let limit = |name: &str, at: f64| PlotLine {
            name: name.to_owned(),
            points: vec![(0.0, at), (100.0, at)],
            style: PlotStyle::Limit,
            ..PlotLine::default()
        };
        let mut plot = plot();
        plot.lines.truncate(1);
        plot.lines.extend([limit("near", 200.0), limit("far", 301.0)]);
        plot.shade = Shade { name: "paused".to_owned(), spans: vec![(50.0, 75.0)] };
        let html = plot.render().into_string();
        // The axis ends at 210, the near limit; 75 is at 70 + 776 * 0.75 = 652.
        assert!(
            html.contains("M70.0 23.0H846.0V23.0") && html.contains("stroke-dasharray=\"4 4\""),
            "{html}"
        );
        assert!(html.contains("<rect x=\"458.0\" y=\"10\" width=\"194.0\""), "{html}");
        assert!(
            html.contains("class=\"key off\" type=\"button\" data-line=\"2\" aria-pressed=\"false\""),
            "{html}"
        );
        assert!(!html.contains("<g data-line=\"2\""), "{html}");
        assert!(html.contains("\"h\":[[50,75]]"), "{html}");
    }
}
