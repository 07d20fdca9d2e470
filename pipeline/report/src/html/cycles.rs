//! Waterfall chart of the cycles from wire to wire.

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_place::report::Report;

/// A bar: label, first cycle, number of cycles, colour, note.
struct Bar {
    label: String,
    from: u64,
    cycles: u64,
    colour: &'static str,
    note: String,
}

fn bars(report: &Report, gress: Gress) -> Vec<Bar> {
    let g = &report.gresses[gress.index()];
    let parser = g.paths.iter().map(|p| p.cycles).max().unwrap_or(0);
    let mut list = vec![Bar {
        label: "parser".to_owned(),
        from: 0,
        cycles: parser,
        colour: "#6b7a90",
        note: "longest path".to_owned(),
    }];
    let mut at = parser;
    for (n, stage) in report.detail.stages[gress.index()].iter().enumerate() {
        let (colour, word) = match stage.dependency {
            StageDependency::Match => ("#2b6cb0", "match"),
            StageDependency::Action => ("#2f855a", "action"),
            StageDependency::Concurrent => ("#8893a4", "concurrent"),
        };
        // A match-dependent stage starts at the end of the group before it; other stages run in parallel with
        // it.
        list.push(Bar {
            label: format!("stage {n}"),
            from: at,
            cycles: stage.contribution.0,
            colour,
            note: format!(
                "{word}-dependent, adds {} cycles; the stage itself takes {}, predication after {}",
                stage.contribution.0, stage.length.0, stage.predication.0
            ),
        });
        at += stage.contribution.0;
    }
    // The remainder of the sum is the turn between the halves of the pipe.
    let stages: u64 = report.detail.stages[gress.index()].iter().map(|s| s.contribution.0).sum();
    let turn = u64::from(g.mau_cycles).saturating_sub(stages);
    if turn > 0 {
        let note = "between the halves of the pipe".to_owned();
        list.push(Bar { label: "corner turn".to_owned(), from: at, cycles: turn, colour: "#a0aec0", note });
        at += turn;
    }
    list.push(Bar {
        label: "deparser".to_owned(),
        from: at,
        cycles: u64::from(g.deparser_cycles),
        colour: "#6b7a90",
        note: String::new(),
    });
    list
}

fn waterfall(list: &[Bar]) -> Markup {
    let total = list.iter().map(|b| b.from + b.cycles).max().unwrap_or(1).max(1);
    let scale = 900.0 / total as f64;
    let height = 16 * list.len() + 24;
    html! {
        svg viewBox=(format!("0 0 1080 {height}")) width="1080" height=(height) role="img" {
            @for tick in (0..=total).step_by(50) {
                @let x = 90.0 + tick as f64 * scale;
                line.grid x1=(format!("{x:.1}")) x2=(format!("{x:.1}")) y1="0" y2=(height - 16) {}
                text.soft x=(format!("{x:.1}")) y=(height - 4) text-anchor="middle" { (tick) }
            }
            @for (row, bar) in list.iter().enumerate() {
                @let (x, width) = (90.0 + bar.from as f64 * scale, bar.cycles as f64 * scale);
                g {
                    title { (bar.label) ": " (bar.cycles) " cycles. " (bar.note) }
                    text x="84" y=(16 * row + 12) text-anchor="end" { (bar.label) }
                    rect x=(format!("{x:.1}")) y=(16 * row + 2) width=(format!("{:.1}", width.max(0.5))) height="12" fill=(bar.colour) {}
                    text.soft x=(format!("{:.1}", x + width + 4.0)) y=(16 * row + 12) { (bar.cycles) }
                }
            }
        }
    }
}

/// Draws both gresses, cycle by cycle.
pub(super) fn view(report: &Report) -> Markup {
    html! {
        p { "From wire to wire without queueing, on the longest parser paths: " b { (report.total.as_ps().div_ceil(1000)) " ns" } "." }
        p.legend {
            span { i style="background:#2b6cb0" {} "match-dependent stage: full length" }
            span { i style="background:#2f855a" {} "action-dependent" } span { i style="background:#8893a4" {} "concurrent" }
            span { i style="background:#6b7a90" {} "parser, deparser" }
        }
        @for gress in Gress::ALL {
            @let g = &report.gresses[gress.index()];
            h3 { (gress) ": " (g.mau_cycles) " cycles in the stages" }
            (waterfall(&bars(report, gress)))
        }
    }
}
