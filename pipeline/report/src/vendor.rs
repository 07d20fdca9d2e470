//! Placement report in the columns of the vendor compiler's logs, for readers and scripts that know these
//! logs.
//!
//! Columns, order and rounding are those of `mau.resources.log` (three tables) and `table_summary.log`
//! (model: chip §1.4). The boxes at their heads say that this is not the vendor's tool.

use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_place::Part;
use sluice_place::report::{Report, TableReport, Usage, hundredths};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns a table with centred cells between bars. A row `None` is a line.
fn boxed(heading: &[Vec<String>], rows: &[Option<Vec<String>>]) -> String {
    let all = || heading.iter().chain(rows.iter().flatten());
    let columns = all().map(Vec::len).max().unwrap_or(0);
    let width = |c: usize| all().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = "-".repeat(widths.iter().map(|w| w + 3).sum::<usize>() + 1);
    let print = |row: &Vec<String>| {
        let cells = widths.iter().enumerate().map(|(c, width)| {
            let cell = row.get(c).map_or("", String::as_str);
            format!(" {cell:^width$} ")
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let mut out = format!("{line}\n");
    heading.iter().for_each(|row| out += &print(row));
    let _ = writeln!(out, "{line}");
    for row in rows {
        match row {
            Some(row) => out += &print(row),
            None => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    let _ = writeln!(out, "{line}");
    out
}

fn head(file: &str, report: &Report) -> String {
    let lines = [
        format!("Log file: {file}"),
        format!("Layout of the vendor compiler; made by Sluice {}", env!("CARGO_PKG_VERSION")),
        format!("Program: {}", report.program),
        format!("Chip: {}", report.chip),
    ];
    let bar = format!("+{}+\n", "-".repeat(69));
    let body: String = lines.iter().map(|l| format!("|  {l:<67}|\n")).collect();
    format!("{bar}{body}{bar}\n")
}

/// Returns the text of `mau.resources.log`: units per stage, percent per stage, units per table.
#[must_use]
pub fn resources_log(report: &Report) -> String {
    let heading: Vec<String> = ["Stage Number".to_owned()]
        .into_iter()
        .chain(Column::ALL.iter().map(|c| c.vendor_name().to_owned()))
        .collect();
    let blank = vec![String::new(); heading.len()];
    let heading = [heading];
    let row = |name: String, cells: Vec<String>| Some([name].into_iter().chain(cells).collect::<Vec<_>>());
    let counts = |used: &Usage| used.map(|n| n.to_string()).to_vec();
    let percents = |used: &Usage, of: u32| -> Vec<String> {
        used.iter().zip(report.available).map(|(&u, a)| percent(u, a * of)).collect()
    };
    let stages = report.stages.len() as u32;
    let mut absolute: Vec<_> =
        report.stages.iter().map(|s| row(s.stage.to_string(), counts(&s.used))).collect();
    absolute.extend([Some(blank.clone()), row("Totals".to_owned(), counts(&report.totals))]);
    let mut relative: Vec<_> =
        report.stages.iter().map(|s| row(s.stage.to_string(), percents(&s.used, 1))).collect();
    relative.extend([Some(blank), row("Average".to_owned(), percents(&report.totals, stages))]);
    format!(
        "{}\n{}\n{}\nAllocated Resource Usage\n{}",
        head("mau.resources.log", report),
        boxed(&heading, &absolute),
        boxed(&heading, &relative),
        by_table(report)
    )
}

fn percent(used: u32, available: u32) -> String {
    let hundredths = hundredths(used, available);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

/// Columns of the third table: the heading's lines, and the units that are counted.
const BY_TABLE: [(&str, &[Column]); 11] = [
    ("Crossbar/Bytes", &[Column::ExactXbar, Column::TernaryXbar]),
    ("Hash/Bits", &[Column::HashBit]),
    ("Gateways", &[Column::Gateway]),
    ("RAMs", &[Column::Sram]),
    ("TCAMs", &[Column::Tcam]),
    ("Map/RAMs", &[Column::MapRam]),
    ("Action/Data/Bus/Bytes", &[Column::ActionBusBytes]),
    ("VLIW/Slots", &[Column::Vliw]),
    ("Exm/Search/Bus", &[Column::ExactSearchBus]),
    ("Exm/Result/Bus", &[Column::ExactResultBus]),
    ("Tind/Result/Bus", &[Column::TindResultBus]),
];

/// Returns the units of each node in each stage, by stage, then name.
fn by_table(report: &Report) -> String {
    let mut used: BTreeMap<(u8, &str, usize), [u32; 11]> = BTreeMap::new();
    for unit in &report.detail.units {
        let name = report.tables[unit.table].name.as_str();
        let cells = used.entry((unit.stage, name, unit.table)).or_default();
        for (cell, (_, columns)) in cells.iter_mut().zip(BY_TABLE) {
            *cell += u32::from(columns.contains(&unit.column));
        }
    }
    let titles: Vec<Vec<&str>> = ["Table/Name", "Stage/Number"]
        .into_iter()
        .chain(BY_TABLE.map(|(title, _)| title))
        .map(|t| t.split('/').collect())
        .collect();
    let heading: Vec<Vec<String>> = (0..4)
        .map(|line| titles.iter().map(|t| t.get(line).copied().unwrap_or("").to_owned()).collect())
        .collect();
    let rows: Vec<_> = used
        .into_iter()
        .map(|((stage, name, _), cells)| {
            let cells = cells.map(|n| n.to_string());
            Some([name.to_owned(), stage.to_string()].into_iter().chain(cells).collect())
        })
        .collect();
    boxed(&heading, &rows)
}

/// Returns the text of `table_summary.log`: every part of every node in the order of stage and logical id,
/// then the detailed form.
#[must_use]
pub fn table_summary(report: &Report) -> String {
    let mut parts: Vec<(Part, usize, &TableReport)> = Vec::new();
    for (n, table) in report.tables.iter().enumerate() {
        parts.extend(table.parts.iter().map(|p| (*p, n, table)));
    }
    parts.sort_by_key(|(p, n, _)| (p.stage, p.logical_id, *n));
    let mut out = head("table_summary.log", report);
    for gress in Gress::ALL {
        let g = &report.gresses[gress.index()];
        let _ = writeln!(
            out,
            "Number of stages in {gress}: {}; critical path length: {}",
            g.stages_used, g.critical_length
        );
    }
    let _ = writeln!(out, "Number of stages in table allocation: {}", report.stages_used());
    let _ = writeln!(out, "Number of tables allocated: {}\n", parts.len());
    out + &plain(report, &parts) + "\n" + &detailed(report, &parts) + NOTES
}

const NOTES: &str = "
NOTES:  - A '*' after the stage range marks a table in a later stage than its dependencies alone require
 - Entries required are those of the program; entries allocated are those that the RAMs of the part hold
";

fn units_of(report: &Report, table: usize, stage: u8, column: Column) -> u32 {
    let own =
        |u: &&sluice_place::report::UnitReport| u.table == table && u.stage == stage && u.column == column;
    report.detail.units.iter().filter(own).count() as u32
}

fn plain(report: &Report, parts: &[(Part, usize, &TableReport)]) -> String {
    let heading =
        ["Stage", "Logical ID", "Gress", "Name", "Ixbar Bytes", "Match Bits", "Gateway", "Action Data Bytes"];
    let mut rows: Vec<Option<Vec<String>>> = Vec::new();
    let mut before = None;
    for (part, n, table) in parts {
        if before.is_some_and(|stage| stage != part.stage) {
            rows.push(None);
        }
        before = Some(part.stage);
        let units = |column| units_of(report, *n, part.stage, column);
        rows.push(Some(vec![
            part.stage.to_string(),
            // The compiler numbers logical tables over all stages.
            (16 * u32::from(part.stage) + u32::from(part.logical_id)).to_string(),
            if table.gress == Gress::Ingress { "I" } else { "E" }.to_owned(),
            table.name.clone(),
            (units(Column::ExactXbar) + units(Column::TernaryXbar)).to_string(),
            table.key_bits.to_string(),
            if table.kind == "condition" { "Y" } else { "N" }.to_owned(),
            table.action_bits.div_ceil(8).to_string(),
        ]));
    }
    boxed(&[heading.map(str::to_owned).to_vec()], &rows)
}

fn detailed(report: &Report, parts: &[(Part, usize, &TableReport)]) -> String {
    let heading = [
        "Stage",
        "Min / Max Stage",
        "Table Name",
        "Gateway",
        "Key Size",
        "Entries Allocated",
        "Entries Required",
        "SRAMs",
        "TCAMs",
        "MapRAMs",
    ];
    let dash = |n: u32| if n == 0 { "-".to_owned() } else { n.to_string() };
    let stages = report.stages.len() as u32;
    let rows: Vec<_> = parts
        .iter()
        .map(|(part, n, table)| {
            let units = |column| units_of(report, *n, part.stage, column);
            let star = if part.stage > table.min_stage { "*" } else { " " };
            Some(vec![
                part.stage.to_string(),
                format!("[ {}, {} ]{star}", table.min_stage, stages - 1 - table.tail.min(stages - 1)),
                table.name.clone(),
                if table.kind == "condition" { "Y" } else { "N" }.to_owned(),
                dash(table.key_bits),
                dash(part.entries),
                dash(table.required),
                dash(units(Column::Sram)),
                dash(units(Column::Tcam)),
                dash(units(Column::MapRam)),
            ])
        })
        .collect();
    boxed(&[heading.map(str::to_owned).to_vec()], &rows)
}
