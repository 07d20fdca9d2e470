//! Charts of results, by the code that draws those of the command line.

use crate::error::wrong;
use pyo3::prelude::*;
use sluice_charts::{Colour, Edge, Graph, LineChart, Node, Style};

/// Name, points and style (`line`, `dashed`, `marked`, `points` or `steps`) of a series.
type Line = (String, Vec<(f64, f64)>, String);

fn style(py: Python<'_>, word: &str) -> PyResult<Style> {
    Ok(match word {
        "line" => Style::Line,
        "dashed" => Style::Dashed,
        "marked" => Style::Marked,
        "points" => Style::Points,
        "steps" => Style::Steps,
        _ => {
            let text =
                format!("there is no style `{word}`; there are line, dashed, marked, points and steps");
            return Err(wrong(py, text));
        }
    })
}

/// Returns a chart of lines as SVG text. `title` and the names of the axes are texts; `top` is the upper end of the vertical axis.
#[pyfunction]
#[pyo3(signature = (title, x, y, series, log_x = false, top = None))]
pub(crate) fn line_chart(
    py: Python<'_>,
    title: &str,
    x: &str,
    y: &str,
    series: Vec<Line>,
    log_x: bool,
    top: Option<f64>,
) -> PyResult<String> {
    let mut chart = LineChart { log_x, top, ..LineChart::new(title, x, y) };
    for (name, points, word) in series {
        chart.add(&name, points, style(py, &word)?);
    }
    chart.svg().map_err(|e| wrong(py, e))
}

/// Returns a graph in columns as SVG text: boxes with their column, text and tooltip; curves with two boxes and a tooltip.
#[pyfunction]
pub(crate) fn graph_chart(
    heading: String,
    nodes: Vec<(usize, String, String)>,
    edges: Vec<(usize, usize, String)>,
) -> String {
    let node =
        |(column, text, tooltip)| Node { column, text, fill: Colour::LIGHT_BLUE, dashed: false, tooltip };
    let edge =
        |(from, to, tooltip)| Edge { from, to, colour: Colour::SLATE, dashed: false, strong: false, tooltip };
    let (nodes, edges) = (nodes.into_iter().map(node).collect(), edges.into_iter().map(edge).collect());
    Graph { heading, nodes, edges }.svg()
}
