//! Heat map of stages and resources, with the owners of every cell.

use maud::{Markup, html};
use sluice_asic::chip::Column;
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
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

fn cell(report: &Report, stage: u8, column: Column) -> Markup {
    let (used, available) =
        (report.stages[usize::from(stage)].used[column.index()], report.available[column.index()]);
    if used == 0 {
        return html! { td style="--v:0" {} };
    }
    let share = hundredths(used, available);
    html! {
        td.dark[share > 8500] tabindex="0" style=(format!("--v:{}.{:04}", share / 10_000, share % 10_000)) {
            (used)
            div.pop {
                b { (column.vendor_name()) ", stage " (stage) } br;
                (used) " of " (available) " (" (percent(used, available)) ")"
                @for (table, count) in owners_of(report, stage, column) {
                    br; (report.tables[table].name) ": " (count)
                }
            }
        }
    }
}

/// Draws the heat map.
pub(super) fn view(report: &Report) -> Markup {
    let letter = |d: StageDependency| match d {
        StageDependency::Match => "M",
        StageDependency::Action => "A",
        StageDependency::Concurrent => "C",
    };
    let stages = report.stages.len() as u32;
    html! {
        p.note { "Point at a cell, or step to it by Tab, for its owners. Dep: how the stage depends on those before it, ingress/egress (Match, Action, Concurrent)." }
        table.heat {
            thead { tr {
                th { "Stage" } th { "Dep" }
                @for column in Column::ALL { th { span { (column.vendor_name()) } } }
            } }
            tbody {
                @for stage in &report.stages {
                    tr {
                        th { (stage.stage) }
                        td style="--v:0" { (letter(stage.dependencies[Gress::Ingress.index()])) "/" (letter(stage.dependencies[Gress::Egress.index()])) }
                        @for column in Column::ALL { (cell(report, stage.stage, column)) }
                    }
                }
                tr.sum {
                    th { "Total" } td style="--v:0" {}
                    @for column in Column::ALL { td style="--v:0" { (report.totals[column.index()]) } }
                }
                tr.sum {
                    th { "Of" } td style="--v:0" {}
                    @for column in Column::ALL { td style="--v:0" { (report.available[column.index()] * stages) } }
                }
                tr.sum {
                    th { "Share" } td style="--v:0" {}
                    @for column in Column::ALL {
                        td style="--v:0" { (percent(report.totals[column.index()], report.available[column.index()] * stages)) }
                    }
                }
            }
        }
    }
}

/// Lists every unit of every stage by owner, for print and for search.
pub(super) fn owners(report: &Report) -> Markup {
    html! {
        @for stage in report.stages.iter().filter(|s| s.used.iter().any(|n| *n > 0)) {
            details {
                summary { "Stage " (stage.stage) }
                table {
                    tr { th.l { "Resource" } th { "Row" } th { "Column" } th.l { "Owner" } th.l { "For" } }
                    @for unit in report.detail.units.iter().filter(|u| u.stage == stage.stage) {
                        tr {
                            td.l { (unit.column.vendor_name()) } td { (unit.row) } td { (unit.col) }
                            td.l { (report.tables[unit.table].name) } td.l { (unit.purpose) }
                        }
                    }
                }
            }
        }
    }
}
