//! The report on one screen: does the program fit, which stages it takes and why, what is fullest, how long packets take.

use super::{headline, notes, percent, placed_how, wrap_to};
use crate::grid::Grid;
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::phv::{ContainerKind, ContainerSize};
use sluice_place::report::{Report, TableReport, hundredths, watts};
use std::fmt::Write;

/// Width of a line without a terminal, in characters.
const LINE: usize = 100;

/// Blanks in front of a chain, which [`wrap_to`] adds to its width.
const INDENT: &str = "    ";

/// Least width of the names of a stage's tables, in characters.
const NAMES: usize = 40;

/// Most tables of a stage that are named.
const TABLES: usize = 4;

/// Returns the short report. On a terminal of `width` columns its table and its chains are no wider, down to a width at which
/// no table has a name.
#[must_use]
pub fn short(report: &Report, width: Option<usize>) -> String {
    // Writing into a String cannot fail.
    let mut out = headline(report) + "\n";
    let how = placed_how(report);
    if !how.is_empty() {
        let _ = writeln!(out, "{how}");
    }
    out.push_str(&stages(report, width));
    let _ = write!(out, "\nwhat is fullest\n{}", fullest(report));
    let _ = write!(
        out,
        "\nwhy it takes so many stages\n{}",
        chains(report, width.map_or(LINE, |width| width.saturating_sub(INDENT.len())))
    );
    let _ = write!(out, "\nlatency and power\n{}", latency(report));
    if !report.notes.is_empty() {
        let _ = write!(out, "\napproximated or ignored\n{}", notes(&report.notes));
    }
    out
}

/// Returns the short report's first line, and its line about latency and power.
#[must_use]
pub fn brief(report: &Report) -> String {
    format!("  {}{}", headline(report), latency(report))
}

/// A row for each used stage: its fullest resources, and its tables.
fn stages(report: &Report, width: Option<usize>) -> String {
    let heading = ["STAGE", "FULLEST", "NEXT", "SRAM", "TCAM", "TABLES"];
    let mut rows: Vec<(u8, [String; 5])> = Vec::new();
    let share = |used: u32, of: u32| format!("{} %", hundredths(used, of) / 100);
    for stage in report.stages.iter().filter(|stage| stage.used.iter().any(|used| *used > 0)) {
        let mut columns: Vec<(u64, Column)> = Column::ALL
            .into_iter()
            .map(|column| (hundredths(stage.used[column.index()], report.available[column.index()]), column))
            .collect();
        columns.sort_by_key(|(share, column)| (std::cmp::Reverse(*share), column.index()));
        let named = |at: usize| {
            let (share, column) = columns[at];
            if share == 0 { String::new() } else { format!("{} {} %", column.vendor_name(), share / 100) }
        };
        let memory = |column: Column| share(stage.used[column.index()], report.available[column.index()]);
        let row = [stage.stage.to_string(), named(0), named(1), memory(Column::Sram), memory(Column::Tcam)];
        rows.push((stage.stage, row));
    }
    // Two blanks follow each column.
    let column = |at: usize| {
        let cells = rows.iter().map(|(_, row)| row[at].chars().count());
        cells.fold(heading[at].len(), usize::max) + 2
    };
    let room = |columns: &[usize]| {
        let before: usize = columns.iter().copied().map(column).sum();
        width.map_or(usize::MAX, |width| width.saturating_sub(before))
    };
    // Names of tables say more than the second resource.
    let columns: &[usize] = if room(&[0, 1, 2, 3, 4]) < NAMES { &[0, 1, 3, 4] } else { &[0, 1, 2, 3, 4] };
    let left: &[usize] = if columns.len() == 4 { &[1, 4] } else { &[1, 2, 5] };
    let mut grid = Grid::new(columns.iter().map(|at| heading[*at]).chain(["TABLES"]), left);
    for (stage, row) in &rows {
        let cells = columns.iter().map(|at| row[*at].clone());
        grid.row(cells.chain([tables(report, *stage, room(columns))]));
    }
    grid.print(false)
}

/// Names the tables with the most entries first, as many as fit into `room` characters; conditions and keyless actions are a
/// number.
fn tables(report: &Report, stage: u8, room: usize) -> String {
    let here = |table: &&TableReport| table.parts.iter().any(|part| part.stage == stage);
    let is_table = |table: &&TableReport| !matches!(table.kind, "condition" | "keyless");
    let mut tables: Vec<&TableReport> = report.tables.iter().filter(here).filter(is_table).collect();
    tables.sort_by_key(|table| std::cmp::Reverse(table.srams + table.tcams));
    let all = report.tables.iter().filter(here).count();
    let named = |count: usize| {
        let mut words: Vec<String> = tables.iter().take(count).map(|table| table.name.clone()).collect();
        match (all - words.len(), words.is_empty()) {
            (0, _) => {}
            (n, true) if tables.is_empty() => words.push(format!("{n} conditions and actions")),
            (n, true) => words.push(format!("{n} in all")),
            (n, false) => words.push(format!("{n} more")),
        }
        words.join(", ")
    };
    let counts = (0..=tables.len().min(TABLES)).rev();
    counts.map(named).find(|text| text.chars().count() <= room).unwrap_or_else(|| format!("{all} in all"))
}

fn fullest(report: &Report) -> String {
    let mut out = String::new();
    for limit in report.limits.iter().take(4) {
        let (name, most) = limit.users.first().map_or(("", 0), |(name, n)| (name.as_str(), *n));
        let others = match limit.users.len().saturating_sub(1) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let _ = writeln!(
            out,
            "  {}: {} of {} ({} %) in stage {}: {name} {most}{others}",
            limit.column.vendor_name(),
            limit.used,
            limit.available,
            percent(limit.used, limit.available),
            limit.stage,
        );
    }
    let sizes = [ContainerSize::B8, ContainerSize::B16, ContainerSize::B32].map(|size| {
        let groups = report.phv.groups.iter();
        let normal = groups.filter(|g| g.size == size && g.kind == ContainerKind::Normal);
        let (used, of) =
            normal.fold((0, 0), |(used, of), g| (used + g.used[0] + g.used[1], of + g.containers));
        format!("{} % of the {}-bit containers", hundredths(used, of) / 100, size.bits())
    });
    let _ = writeln!(out, "  PHV: {}", sizes.join(", "));
    out
}

fn chains(report: &Report, line: usize) -> String {
    let mut out = String::new();
    for gress in Gress::ALL {
        let g = &report.gresses[gress.index()];
        if g.critical_length == 0 {
            continue;
        }
        let (needs, takes) = (g.critical_length, g.stages_used);
        let _ = writeln!(out, "  {gress} takes {takes}; its longest chain of dependencies needs {needs}");
        if g.critical_path.len() > 1 {
            out.push_str(&wrap_to(line, INDENT, &g.critical_path, " -> "));
        }
    }
    if out.is_empty() { "  it has no table, condition or action\n".to_owned() } else { out }
}

fn latency(report: &Report) -> String {
    let cycles = Gress::ALL.map(|gress| {
        let g = &report.gresses[gress.index()];
        let parser = g.paths.iter().map(|p| p.cycles).max().unwrap_or(0);
        format!("{gress} {} cycles", parser + u64::from(g.mau_cycles + g.deparser_cycles))
    });
    format!(
        "  {} ns from wire to wire without queueing ({}); {} of {} W\n",
        report.total.as_ps().div_ceil(1000),
        cycles.join(", "),
        watts(report.power.worst),
        watts(report.power.limit),
    )
}
