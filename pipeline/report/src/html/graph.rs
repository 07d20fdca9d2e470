//! Graphs: tables by stage, and parser states by depth.

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_charts::{Colour, Edge, Graph, Node, legend};
use sluice_place::report::Report;
use sluice_place::report::StateReport;

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
    let nodes: Vec<Node> = report
        .tables
        .iter()
        .map(|t| {
            let stage = t.parts.first().map_or(0, |p| p.stage);
            Node {
                column: usize::from(stage),
                text: t.name.clone(),
                fill: fill(t.gress),
                dashed: t.kind == "condition",
                tooltip: format!("{} ({}, {}): {}", t.name, t.gress, t.kind, t.why),
            }
        })
        .collect();
    // Control dependencies within a stage follow the order of the list; their lines would hide the others.
    let seen = |e: &&sluice_place::report::EdgeReport| {
        e.distance == Some(1)
            || e.critical
            || nodes[e.from].column != nodes[e.to].column && e.kind == "control"
    };
    let edges = report.detail.dependencies.iter().filter(seen).map(|e| {
        let through = e.through.as_ref().map_or_else(String::new, |v| format!(" through {v}"));
        let (from, to) = (&report.tables[e.from].name, &report.tables[e.to].name);
        Edge {
            from: e.from,
            to: e.to,
            colour: if e.critical { Colour::RED } else { colour(e.kind) },
            dashed: matches!(e.kind, "control" | "anti"),
            strong: e.critical,
            tooltip: format!("{from} → {to}: {}{through}", e.kind),
        }
    });
    let edges = edges.collect();
    let colours = [
        (Colour::BLUE, "match"),
        (Colour::GREEN, "action"),
        (Colour::ORANGE, "output"),
        (Colour::SLATE, "control (dashed)"),
        (Colour::RED, "longest chain"),
        (fill(Gress::Ingress), "ingress"),
        (fill(Gress::Egress), "egress"),
    ];
    html! {
        (legend(&colours))
        (Graph { heading: "stage".to_owned(), nodes, edges })
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
