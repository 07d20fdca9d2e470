//! Heat map of stages and resources, with the owners of every cell.

use maud::{Markup, html};
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_charts::{HeatCell, HeatMap, HeatRow};
use sluice_place::report::{Report, hundredths};
use std::collections::BTreeMap;

/// Returns the owners of a column's units in a stage with their counts, the largest first.
fn owners_of(report: &Report, stage: u8, column: Column) -> Vec<(usize, usize)> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for unit in report.detail.units.iter().filter(|u| u.stage == stage && u.column == column) {
        *counts.entry(unit.table).or_default() += 1;
    }
    let mut list: Vec<(usize, usize)> = counts.into_iter().collect();
    list.sort_by_key(|(table, count)| (std::cmp::Reverse(*count), *table));
    list
}

fn percent(used: u32, available: u32) -> String {
    let hundredths = hundredths(used, available);
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

fn cell(report: &Report, stage: u8, column: Column) -> HeatCell {
    let (used, available) =
        (report.stages[usize::from(stage)].used[column.index()], report.available[column.index()]);
    if used == 0 {
        return HeatCell::default();
    }
    let mut details = vec![
        format!("{}, stage {stage}", column.vendor_name()),
        format!("{used} of {available} ({})", percent(used, available)),
    ];
    let owners = owners_of(report, stage, column);
    details
        .extend(owners.into_iter().map(|(table, count)| format!("{}: {count}", report.tables[table].name)));
    HeatCell { text: used.to_string(), share: hundredths(used, available) as f64 / 10_000.0, details }
}

/// Draws the heat map.
pub(super) fn view(report: &Report) -> Markup {
    let letter = |d: StageDependency| match d {
        StageDependency::Match => "M",
        StageDependency::Action => "A",
        StageDependency::Concurrent => "C",
    };
    let stages = report.stages.len() as u32;
    let mut rows: Vec<HeatRow> = report
        .stages
        .iter()
        .map(|stage| HeatRow {
            head: stage.stage.to_string(),
            remark: Gress::ALL.map(|gress| letter(stage.dependencies[gress.index()])).join("/"),
            cells: Column::ALL.iter().map(|column| cell(report, stage.stage, *column)).collect(),
            sum: false,
        })
        .collect();
    let mut sum = |head: &str, text: &dyn Fn(u32, u32) -> String| {
        let cells = Column::ALL.iter().map(|column| {
            let (used, available) =
                (report.totals[column.index()], report.available[column.index()] * stages);
            HeatCell::from(text(used, available))
        });
        rows.push(HeatRow {
            head: head.to_owned(),
            remark: String::new(),
            cells: cells.collect(),
            sum: true,
        });
    };
    sum("Total", &|used, _| used.to_string());
    sum("Of", &|_, available| available.to_string());
    sum("Share", &percent);
    let columns = Column::ALL.iter().map(|column| column.vendor_name().to_owned()).collect();
    html! {
        p.note { "Point at a cell, or step to it by Tab, for its owners. Dep: how the stage depends on those before it, ingress/egress (Match, Action, Concurrent)." }
        (HeatMap { corner: ["Stage".to_owned(), "Dep".to_owned()], columns, rows })
    }
}

/// Lists every unit of every stage by owner, for print and for search.
pub(super) fn owners(report: &Report) -> Markup {
    html! {
        @for stage in report.stages.iter().filter(|s| s.used.iter().any(|n| *n > 0)) {
            details {
                summary { "Stage " (stage.stage) }
                div.wide { table {
                    tr { th.l { "Resource" } th { "Row" } th { "Column" } th.l { "Owner" } th.l { "For" } }
                    @for unit in report.detail.units.iter().filter(|u| u.stage == stage.stage) {
                        tr {
                            td.l { (unit.column.vendor_name()) } td { (unit.row) } td { (unit.col) }
                            td.l { (report.tables[unit.table].name) } td.l { (unit.purpose) }
                        }
                    }
                } }
            }
        }
    }
}
