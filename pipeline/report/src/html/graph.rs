//! Graphs: tables by stage, and parser states by depth.

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_charts::{Colour, Edge, Graph, Node, Table, legend};
use sluice_place::report::{EdgeReport, Report, StateReport, TableReport};

/// Colour of a gress's boxes.
pub(super) const fn fill(gress: Gress) -> Colour {
    match gress {
        Gress::Ingress => Colour::LIGHT_BLUE,
        Gress::Egress => Colour::LIGHT_ORANGE,
    }
}

/// Colour of a dependency's kind.
fn colour(kind: &str) -> Colour {
    match kind {
        "match" => Colour::BLUE,
        "action" => Colour::GREEN,
        "output" => Colour::ORANGE,
        _ => Colour::SLATE,
    }
}

/// Draws tables, actions and conditions by stage with their dependencies.
pub(super) fn dependencies(report: &Report) -> Markup {
    let mut nodes: Vec<Node> =
        report.tables.iter().map(|t| node(t, t.parts.first().map_or(0, |p| p.stage))).collect();
    // A table of several stages has a box in each of them; what depends on it follows the last one.
    let mut edges = Vec::new();
    let mut last: Vec<usize> = (0..nodes.len()).collect();
    for (first, table) in report.tables.iter().enumerate() {
        let mut stages: Vec<u8> = table.parts.iter().map(|part| part.stage).collect();
        stages.dedup();
        for stage in stages.into_iter().skip(1) {
            nodes.push(node(table, stage));
            let (from, to) = (last[first], nodes.len() - 1);
            let tooltip = format!("{} continues in stage {stage}", table.name);
            edges.push(Edge { from, to, colour: Colour::STEEL, dashed: false, strong: false, tooltip });
            last[first] = to;
        }
    }
    // Control dependencies within a stage follow the order of the list; their lines would hide the others.
    let seen = |e: &&EdgeReport| {
        e.distance == Some(1)
            || e.critical
            || nodes[e.from].column != nodes[e.to].column && e.kind == "control"
    };
    let drawn = report.detail.dependencies.iter().filter(seen).map(|e| {
        let through = e.through.as_ref().map_or_else(String::new, |v| format!(" through {v}"));
        let (from, to) = (&report.tables[e.from].name, &report.tables[e.to].name);
        Edge {
            from: last[e.from],
            to: e.to,
            colour: if e.critical { Colour::RED } else { colour(e.kind) },
            dashed: matches!(e.kind, "control" | "anti"),
            strong: e.critical,
            tooltip: format!("{from} → {to}: {}{through}", e.kind),
        }
    });
    edges.extend(drawn);
    let colours = [
        (Colour::BLUE, "match"),
        (Colour::GREEN, "action"),
        (Colour::ORANGE, "output"),
        (Colour::SLATE, "control (dashed)"),
        (Colour::RED, "longest chain (thick)"),
        (Colour::STEEL, "the same table in its next stage"),
        (fill(Gress::Ingress), "ingress"),
        (fill(Gress::Egress), "egress"),
    ];
    html! {
        (legend(&colours))
        (Graph { heading: "stage".to_owned(), nodes, edges })
        (edge_table(report))
        @for gress in Gress::ALL {
            @let g = &report.gresses[gress.index()];
            @if !g.critical_path.is_empty() {
                p { b { "Longest chain, " (gress) ", " (g.critical_length) " stages: " } (g.critical_path.join(" → ")) }
            }
        }
    }
}

/// Returns the box of a table, an action or a condition in a stage.
fn node(t: &TableReport, stage: u8) -> Node {
    let condition = if t.condition.is_empty() { String::new() } else { format!(" if ({})", t.condition) };
    Node {
        column: usize::from(stage),
        // A condition that the source names has its text in its name.
        text: match t.at.short() {
            None if !t.condition.is_empty() => format!("{} {}", t.name, t.condition),
            _ => t.name.clone(),
        },
        fill: fill(t.gress),
        dashed: t.kind == "condition",
        tooltip: format!("{}{condition} ({}, {}): {}", t.name, t.gress, t.kind, t.why),
    }
}

/// Lists all dependencies, those that are not drawn included.
fn edge_table(report: &Report) -> Markup {
    let stage = |of: usize| report.tables[of].parts.first().map_or_else(String::new, |p| p.stage.to_string());
    let row = |e: &EdgeReport| {
        let (from, to) = (&report.tables[e.from].name, &report.tables[e.to].name);
        let critical = if e.critical { "yes" } else { "" };
        vec![
            from.clone(),
            stage(e.from),
            to.clone(),
            stage(e.to),
            e.kind.to_owned(),
            e.distance.map_or_else(String::new, |d| d.to_string()),
            e.through.clone().unwrap_or_default(),
            critical.to_owned(),
        ]
    };
    let header = ["From", "In stage", "To", "In stage", "Kind", "Stages between", "Through", "Longest chain"];
    html! {
        details {
            summary { (report.detail.dependencies.len()) " dependencies" }
            (Table::new(&header).rows(report.detail.dependencies.iter().map(row)))
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

fn parser(gress: Gress, states: &[StateReport]) -> Graph {
    let nodes = states.iter().zip(depths(states)).map(|(s, column)| Node {
        column,
        text: s.name.clone(),
        fill: fill(gress),
        dashed: false,
        tooltip: format!("{}: {} cycles, extracts {}", s.name, s.cycles, list(&s.extracts)),
    });
    let edge = |from: usize, when: &str, to: usize| Edge {
        from,
        to,
        colour: Colour::SLATE,
        dashed: false,
        strong: false,
        tooltip: when.to_owned(),
    };
    let edges = states
        .iter()
        .enumerate()
        .flat_map(|(from, s)| s.next.iter().filter_map(move |(when, to)| to.map(|to| edge(from, when, to))));
    Graph { heading: "step".to_owned(), nodes: nodes.collect(), edges: edges.collect() }
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
                    div.wide { table {
                        tr { th.l { "State" } th { "Cycles" } th.l { "Extracts" } th.l { "Goes to" } th.l { "Source" } }
                        @for s in states {
                            tr {
                                td.l { (s.name) } td { (s.cycles) } td.l { (list(&s.extracts)) }
                                td.l { (s.next.iter().map(|(when, to)| {
                                    let end = to.map_or("end", |t| states[t].name.as_str());
                                    if when.is_empty() { end.to_owned() } else { format!("{when}: {end}") }
                                }).collect::<Vec<_>>().join("; ")) }
                                td.l { (super::tables::source(&s.at)) }
                            }
                        }
                    } }
                    div.wide { table {
                        tr { th.l { "Path" } th { "Bytes" } th { "Cycles" } }
                        @for p in &report.gresses[gress.index()].paths {
                            tr { td.l { (p.path) } td { (p.bytes) } td { (p.cycles) } }
                        }
                    } }
                }
            }
        }
    }
}
