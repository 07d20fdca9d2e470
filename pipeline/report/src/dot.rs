//! The graphs of a report in the language of Graphviz: tables by stage with their dependencies, and the states of the parsers.

use sluice_asic::gress::Gress;
use sluice_place::report::Report;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Returns the graphs as one `digraph`: a cluster for each stage of each gress, and one for each parser. An edge between tables
/// has the kind of the dependency; edges of the longest chain are bold. An edge between states has the values of the
/// transition.
#[must_use]
pub fn dot(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write(report, &mut out);
    out
}

fn write(report: &Report, out: &mut String) -> std::fmt::Result {
    writeln!(out, "digraph {} {{", quoted(&report.program))?;
    writeln!(
        out,
        "  rankdir=LR;\n  newrank=true;\n  node [fontname=\"sans-serif\", shape=box];\n  edge [fontname=\"sans-serif\", fontsize=10];"
    )?;
    for gress in Gress::ALL {
        parser(report, gress, out)?;
        for stage in 0..report.stages.len() {
            cluster(report, gress, stage as u8, out)?;
        }
    }
    for ((from, to), (kinds, critical)) in dependencies(report) {
        let style = match (critical, kinds.iter().all(|kind| ["control", "anti"].contains(kind))) {
            (true, _) => ", style=bold",
            (false, true) => ", style=dashed",
            (false, false) => "",
        };
        let kinds: Vec<&str> = kinds.into_iter().collect();
        writeln!(out, "  t{from} -> t{to} [label={}{style}];", quoted(&kinds.join(", ")))?;
    }
    writeln!(out, "}}")
}

/// Returns the dependencies that separate stages, those of the longest chain, and control from stage to stage: by their two
/// tables, the kinds and whether the dependency is on the longest chain.
fn dependencies(report: &Report) -> Pairs<'_> {
    let stage = |table: usize| report.tables[table].parts.first().map_or(0, |part| part.stage);
    let mut pairs = BTreeMap::new();
    for edge in &report.detail.dependencies {
        let leads_on = edge.kind == "control" && stage(edge.from) != stage(edge.to);
        if edge.distance == Some(1) || edge.critical || leads_on {
            let pair: &mut (BTreeSet<&str>, bool) = pairs.entry((edge.from, edge.to)).or_default();
            pair.0.insert(edge.kind);
            pair.1 |= edge.critical;
        }
    }
    without_shortcuts(pairs)
}

type Pairs<'r> = BTreeMap<(usize, usize), (BTreeSet<&'r str>, bool)>;

/// Leaves out control that follows from other dependencies: a path leads from the first table to the second without it.
/// Graphviz does not lay out thousands of edges in reasonable time.
fn without_shortcuts(pairs: Pairs<'_>) -> Pairs<'_> {
    let mut next: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (from, to) in pairs.keys() {
        next.entry(*from).or_default().push(*to);
    }
    let follows = |from: usize, to: usize| {
        let direct = next.get(&from).into_iter().flatten().copied().filter(|other| *other != to);
        let (mut open, mut seen): (Vec<usize>, BTreeSet<usize>) = (direct.collect(), BTreeSet::new());
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                open.extend(next.get(&at).into_iter().flatten());
            }
        }
        false
    };
    let is_control = |kinds: &BTreeSet<&str>| kinds.iter().all(|kind| *kind == "control");
    let shortcut = |((from, to), (kinds, critical)): &((usize, usize), (BTreeSet<&str>, bool))| {
        !critical && is_control(kinds) && follows(*from, *to)
    };
    pairs.into_iter().filter(|pair| !shortcut(pair)).collect()
}

/// Writes the tables that begin in a stage.
fn cluster(report: &Report, gress: Gress, stage: u8, out: &mut String) -> std::fmt::Result {
    let own = |table: &&(usize, &sluice_place::report::TableReport)| {
        table.1.gress == gress && table.1.parts.first().map_or(0, |part| part.stage) == stage
    };
    let tables: Vec<_> = report.tables.iter().enumerate().collect();
    let mut tables = tables.iter().filter(own).peekable();
    if tables.peek().is_none() {
        return Ok(());
    }
    writeln!(out, "  subgraph cluster_{gress}_{stage} {{\n    label=\"{gress}, stage {stage}\";")?;
    for (number, table) in tables {
        let shape = if table.kind == "condition" { ", shape=diamond" } else { "" };
        let tooltip = quoted(&format!("{}: {}", table.kind, table.why));
        writeln!(out, "    t{number} [label={}, tooltip={tooltip}{shape}];", quoted(&table.name))?;
    }
    writeln!(out, "  }}")
}

/// Writes the states of a gress's parser.
fn parser(report: &Report, gress: Gress, out: &mut String) -> std::fmt::Result {
    let states = &report.detail.parsers[gress.index()];
    if states.is_empty() {
        return Ok(());
    }
    writeln!(out, "  subgraph cluster_{gress}_parser {{\n    label=\"{gress} parser\";")?;
    for (number, state) in states.iter().enumerate() {
        let extracts = quoted(&state.extracts.join(", "));
        writeln!(
            out,
            "    {gress}{number} [label={}, tooltip={extracts}, shape=ellipse];",
            quoted(&state.name)
        )?;
    }
    writeln!(out, "    {gress}_end [label=\"accept\", shape=doublecircle];\n  }}")?;
    for (number, state) in states.iter().enumerate() {
        for (value, to) in &state.next {
            let to = to.map_or_else(|| format!("{gress}_end"), |to| format!("{gress}{to}"));
            writeln!(out, "  {gress}{number} -> {to} [label={}];", quoted(value))?;
        }
    }
    Ok(())
}

/// Returns a text as Graphviz takes it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quoted("a \"b\"\\"), "\"a \\\"b\\\"\\\\\"");
    }
}
