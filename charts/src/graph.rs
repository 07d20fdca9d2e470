//! Graphs in columns: boxes from left to right, with curves between them.

use crate::FONT;
use crate::palette::Colour;
use maud::{Markup, Render, html};
use std::collections::BTreeMap;

/// Pixels: width and height of a box, distances between boxes, margin around the graph.
const BOX: (i32, i32) = (116, 22);
const STEP: (i32, i32) = (164, 30);
const MARGIN: i32 = 24;
/// Characters that a box holds.
const LETTERS: usize = 18;

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Number of the column, from 0.
    pub column: usize,
    /// The name in the box; a long one is cut.
    pub text: String,
    /// Colour of the box.
    pub fill: Colour,
    /// True if the frame is dashed.
    pub dashed: bool,
    /// The text that a pointer shows.
    pub tooltip: String,
}

/// A curve between two boxes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Number of the box where the curve begins.
    pub from: usize,
    /// Number of the box where the curve ends.
    pub to: usize,
    /// Colour of the curve.
    pub colour: Colour,
    /// True if the curve is dashed.
    pub dashed: bool,
    /// True if the curve is thick.
    pub strong: bool,
    /// The text that a pointer shows.
    pub tooltip: String,
}

/// A graph. Boxes of one column are below each other in the order of the list. An edge without both boxes is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Names of the columns: this word and the column's number.
    pub heading: String,
    /// Boxes.
    pub nodes: Vec<Node>,
    /// Curves.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// Draws the graph.
    #[must_use]
    pub fn svg(&self) -> String {
        crate::file(&self.drawing())
    }

    fn drawing(&self) -> Markup {
        let mut filled: BTreeMap<usize, i32> = BTreeMap::new();
        let place = |node: &Node| {
            let row = filled.entry(node.column).or_insert(0);
            *row += 1;
            (MARGIN + STEP.0 * node.column as i32, MARGIN + STEP.1 * (*row - 1))
        };
        let at: Vec<(i32, i32)> = self.nodes.iter().map(place).collect();
        let columns = filled.keys().max().map_or(1, |c| c + 1) as i32;
        let rows = filled.values().max().copied().unwrap_or(1);
        let (width, height) = (2 * MARGIN + STEP.0 * columns, 2 * MARGIN + STEP.1 * rows);
        let ends = |edge: &Edge| Some((*at.get(edge.from)?, *at.get(edge.to)?));
        html! {
            svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height)
                font-family=(FONT) font-size="11" role="img" {
                @for column in 0..columns {
                    text x=(MARGIN + STEP.0 * column) y="14" fill=(Colour::SOFT) { (self.heading) " " (column) }
                }
                @for (edge, (from, to)) in self.edges.iter().filter_map(|e| Some((e, ends(e)?))) {
                    path d=(curve(from, to)) fill="none" stroke=(edge.colour)
                        stroke-dasharray=[edge.dashed.then_some("4 3")] stroke-width=[edge.strong.then_some("2.2")] {
                        title { (edge.tooltip) }
                    }
                }
                @for (node, (x, y)) in self.nodes.iter().zip(&at) {
                    g {
                        title { (node.tooltip) }
                        rect x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="3" fill=(node.fill) stroke=(Colour::SLATE)
                            stroke-dasharray=[node.dashed.then_some("3 2")] {}
                        text x=(x + 5) y=(y + 15) { (short(&node.text)) }
                    }
                }
            }
        }
    }
}

impl Render for Graph {
    fn render(&self) -> Markup {
        html! { div.wide { (self.drawing()) } }
    }
}

/// Returns a curve from the right side of one box to the left side of the other; within a column, around the right.
fn curve(from: (i32, i32), to: (i32, i32)) -> String {
    let (x0, y0) = (from.0 + BOX.0, from.1 + BOX.1 / 2);
    let y1 = to.1 + BOX.1 / 2;
    if to.0 > from.0 {
        let bend = (to.0 - x0) / 2;
        return format!("M{x0} {y0} C{} {y0} {} {y1} {} {y1}", x0 + bend, to.0 - bend, to.0);
    }
    let (x1, out) = (to.0 + BOX.0, 12 + (y1 - y0).abs() / 6);
    format!("M{x0} {y0} C{} {y0} {} {y1} {x1} {y1}", x0 + out, x1 + out)
}

/// Returns as much of a text as a box holds.
fn short(text: &str) -> String {
    if text.chars().count() <= LETTERS {
        text.to_owned()
    } else {
        text.chars().take(LETTERS - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_in_their_columns_and_edges_without_a_box_are_left_out() {
        let node = |column, text: &str| Node {
            column,
            text: text.to_owned(),
            fill: Colour::WHITE,
            dashed: column == 1,
            tooltip: format!("all of {text}"),
        };
        let edge = |from, to| Edge {
            from,
            to,
            colour: Colour::RED,
            dashed: false,
            strong: true,
            tooltip: "match".to_owned(),
        };
        let graph = Graph {
            heading: "stage".to_owned(),
            nodes: vec![node(0, "a<b"), node(1, "a_name_that_is_too_long_for_a_box"), node(1, "c")],
            edges: vec![edge(0, 1), edge(1, 2), edge(0, 9)],
        };
        let svg = graph.svg();
        assert_eq!((svg.matches("<path").count(), svg.matches("<rect").count()), (2, 3), "{svg}");
        for text in ["stage 1", "a&lt;b", "a_name_that_is_to…", "all of c", "stroke-width=\"2.2\""] {
            assert!(svg.contains(text), "{text} in {svg}");
        }
    }
}
