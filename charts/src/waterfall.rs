//! Waterfalls: bars one below the other, each where the steps before it have ended.

use crate::FONT;
use crate::palette::Colour;
use maud::{Markup, Render, html};

/// Pixels: left of the axis, of the axis, right of the axis, of a row.
const LEFT: f64 = 90.0;
const AXIS: f64 = 900.0;
const RIGHT: f64 = 90.0;
const ROW: usize = 16;

/// A bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Name to the left of the axis.
    pub label: String,
    /// Start of the bar, in the unit of the axis.
    pub from: u64,
    /// Length of the bar, in the unit of the axis.
    pub length: u64,
    /// Colour of the bar.
    pub colour: Colour,
    /// The text that a pointer shows after name and length.
    pub note: String,
}

/// Bars on an axis from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waterfall {
    /// Unit of the axis, in the plural.
    pub unit: String,
    /// Bars from top to bottom.
    pub bars: Vec<Bar>,
}

impl Waterfall {
    /// Draws the bars.
    #[must_use]
    pub fn svg(&self) -> String {
        crate::file(&self.drawing())
    }

    fn drawing(&self) -> Markup {
        let total = self.bars.iter().map(|b| b.from + b.length).max().unwrap_or(1).max(1);
        let scale = AXIS / total as f64;
        let (width, height) = (LEFT + AXIS + RIGHT, ROW * self.bars.len() + 40);
        let px = |pixels: f64| format!("{pixels:.1}");
        html! {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height)
                font-family=(FONT) font-size="11" role="img" {
                @for tick in (0..=total).step_by(every(total) as usize) {
                    @let x = px(LEFT + tick as f64 * scale);
                    line x1=(x) x2=(x) y1="0" y2=(height - 32) stroke=(Colour::GRID) {}
                    text x=(x) y=(height - 20) text-anchor="middle" fill=(Colour::SOFT) { (tick) }
                }
                text x=(LEFT + AXIS / 2.0) y=(height - 4) text-anchor="middle" { (self.unit) }
                @for (row, bar) in self.bars.iter().enumerate() {
                    @let (x, width) = (LEFT + bar.from as f64 * scale, bar.length as f64 * scale);
                    g {
                        title { (bar.label) ": " (bar.length) " " (self.unit) ". " (bar.note) }
                        text x=(LEFT - 6.0) y=(ROW * row + 12) text-anchor="end" { (bar.label) }
                        rect x=(px(x)) y=(ROW * row + 2) width=(px(width.max(0.5))) height="12" fill=(bar.colour) {}
                        text x=(px(x + width + 4.0)) y=(ROW * row + 12) fill=(Colour::SOFT) { (bar.length) }
                    }
                }
            }
        }
    }
}

/// Returns the distance between numbers of the axis: at most 30 of them.
fn every(total: u64) -> u64 {
    let mut every = 50;
    while total / every > 30 {
        every *= 2;
    }
    every
}

impl Render for Waterfall {
    fn render(&self) -> Markup {
        html! { div.wide { (self.drawing()) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_to_scale() {
        let bar = |from, length| Bar {
            label: "stage".to_owned(),
            from,
            length,
            colour: Colour::BLUE,
            note: "match-dependent".to_owned(),
        };
        let svg = Waterfall { unit: "cycles".to_owned(), bars: vec![bar(0, 100), bar(100, 200)] }.svg();
        assert!(svg.contains("x=\"390.0\" y=\"18\" width=\"600.0\""), "{svg}");
        assert!(svg.contains("stage: 200 cycles. match-dependent"), "{svg}");
        assert!(svg.contains(">cycles</text>"), "the axis names its unit: {svg}");
        assert!(Waterfall::default().svg().contains("<svg"));
    }
}
