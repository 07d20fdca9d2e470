//! Graphs in columns: tables by stage, parser states by depth.

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_place::report::Report;
use sluice_place::report::StateReport;
use std::collections::BTreeMap;

const BOX: (i32, i32) = (116, 22);
const STEP: (i32, i32) = (164, 30);
const MARGIN: i32 = 24;

/// A box: column, text, class, and tooltip.
struct Item {
    column: usize,
    text: String,
    class: String,
    title: String,
}

/// A line between two boxes: class and tooltip.
struct Line {
    from: usize,
    to: usize,
    class: String,
    title: String,
}

/// Draws boxes in columns from left to right; within a column, from top to bottom in the order of the list.
fn draw(items: &[Item], lines: &[Line], heading: impl Fn(usize) -> String) -> Markup {
    let mut filled: BTreeMap<usize, i32> = BTreeMap::new();
    let at: Vec<(i32, i32)> = items
        .iter()
        .map(|item| {
            let row = filled.entry(item.column).or_insert(0);
            *row += 1;
            (MARGIN + STEP.0 * item.column as i32, MARGIN + STEP.1 * (*row - 1))
        })
        .collect();
    let columns = filled.keys().max().map_or(1, |c| c + 1) as i32;
    let rows = filled.values().max().copied().unwrap_or(1);
    let (width, height) = (2 * MARGIN + STEP.0 * columns, 2 * MARGIN + STEP.1 * rows);
    html! {
        svg viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img" {
            @for column in 0..columns as usize {
                text.soft x=(MARGIN + STEP.0 * column as i32) y="14" { (heading(column)) }
            }
            @for line in lines {
                path class=(line.class) d=(curve(at[line.from], at[line.to])) { title { (line.title) } }
            }
            @for (item, (x, y)) in items.iter().zip(&at) {
                g {
                    title { (item.title) }
                    rect class=(format!("box {}", item.class)) x=(x) y=(y) width=(BOX.0) height=(BOX.1) rx="3" {}
                    text x=(x + 5) y=(y + 15) { (short(&item.text)) }
                }
            }
        }
    }
}

/// Returns the path from the right side of one box to the left side of another; within a column, around the
/// right.
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

/// Shortens a text to the width of a box.
fn short(text: &str) -> String {
    if text.chars().count() <= 18 { text.to_owned() } else { text.chars().take(17).chain(['…']).collect() }
}

/// Draws tables, actions and conditions by stage with their dependencies.
pub(super) fn dependencies(report: &Report) -> Markup {
    let items: Vec<Item> = report
        .tables
        .iter()
        .map(|t| {
            let stage = t.parts.first().map_or(0, |p| p.stage);
            let kind = if t.kind == "condition" { " cond" } else { "" };
            Item {
                column: usize::from(stage),
                text: t.name.clone(),
                class: format!("{}{kind}", t.gress),
                title: format!("{} ({}, {}): {}", t.name, t.gress, t.kind, t.why),
            }
        })
        .collect();
    // Control dependencies within a stage follow the order of the list; their lines would hide the others.
    let seen = |e: &&sluice_place::report::EdgeReport| {
        e.distance == Some(1)
            || e.critical
            || items[e.from].column != items[e.to].column && e.kind == "control"
    };
    let lines: Vec<Line> = report
        .detail
        .dependencies
        .iter()
        .filter(seen)
        .map(|e| {
            let through = e.through.as_ref().map_or_else(String::new, |v| format!(" through {v}"));
            let critical = if e.critical { " critical" } else { "" };
            Line {
                from: e.from,
                to: e.to,
                class: format!("{}{critical}", e.kind),
                title: format!(
                    "{} → {}: {}{through}",
                    report.tables[e.from].name, report.tables[e.to].name, e.kind
                ),
            }
        })
        .collect();
    html! {
        p.legend {
            span { i style="background:#2b6cb0" {} "match" } span { i style="background:#2f855a" {} "action" }
            span { i style="background:#b7602b" {} "output" } span { i style="background:#8893a4" {} "control (dashed)" }
            span { i style="background:#b02a37" {} "longest chain" }
            span { i style="background:#e6effa" {} "ingress" } span { i style="background:#fbeee3" {} "egress" }
        }
        (draw(&items, &lines, |stage| format!("stage {stage}")))
        @for gress in Gress::ALL {
            @let g = &report.gresses[gress.index()];
            @if !g.critical_path.is_empty() {
                p { b { "Longest chain, " (gress) ", " (g.critical_length) " stages: " } (g.critical_path.join(" → ")) }
            }
        }
    }
}

/// Returns the depth of every state: the longest path from the start. A state of a loop keeps the depth of
/// its first visit.
fn depths(states: &[StateReport]) -> Vec<usize> {
    let mut depth = vec![0; states.len()];
    for _ in 0..states.len() {
        for (from, state) in states.iter().enumerate() {
            for to in state.next.iter().filter_map(|(_, to)| *to).filter(|to| *to > from) {
                depth[to] = depth[to].max(depth[from] + 1);
            }
        }
    }
    depth
}

fn parser(gress: Gress, states: &[StateReport]) -> Markup {
    let depth = depths(states);
    let items: Vec<Item> = states
        .iter()
        .zip(&depth)
        .map(|(s, &column)| Item {
            column,
            text: s.name.clone(),
            class: gress.name().to_owned(),
            title: format!("{}: {} cycles, extracts {}", s.name, s.cycles, list(&s.extracts)),
        })
        .collect();
    let lines: Vec<Line> = states
        .iter()
        .enumerate()
        .flat_map(|(from, s)| {
            s.next.iter().filter_map(move |(when, to)| {
                Some(Line { from, to: (*to)?, class: String::new(), title: when.clone() })
            })
        })
        .collect();
    draw(&items, &lines, |depth| format!("step {depth}"))
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Draws both parsers as graphs, with the headers and select keys of each state.
pub(super) fn parsers(report: &Report) -> Markup {
    html! {
        @for gress in Gress::ALL {
            @let states = &report.detail.parsers[gress.index()];
            h3 { (gress) ": " (report.gresses[gress.index()].parser_rows) " of " (report.parser_rows_available) " rows" }
            @if !states.is_empty() {
                (parser(gress, states))
                details {
                    summary { "States and paths" }
                    table {
                        tr { th.l { "State" } th { "Cycles" } th.l { "Extracts" } th.l { "Goes to" } }
                        @for s in states {
                            tr {
                                td.l { (s.name) } td { (s.cycles) } td.l { (list(&s.extracts)) }
                                td.l { (s.next.iter().map(|(when, to)| {
                                    let end = to.map_or("end", |t| states[t].name.as_str());
                                    if when.is_empty() { end.to_owned() } else { format!("{when}: {end}") }
                                }).collect::<Vec<_>>().join("; ")) }
                            }
                        }
                    }
                    table {
                        tr { th.l { "Path" } th { "Bytes" } th { "Cycles" } }
                        @for p in &report.gresses[gress.index()].paths {
                            tr { td.l { (p.path) } td { (p.bytes) } td { (p.cycles) } }
                        }
                    }
                }
            }
        }
    }
}
