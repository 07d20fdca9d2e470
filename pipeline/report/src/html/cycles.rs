//! Waterfall chart of the cycles from wire to wire.

use maud::{Markup, html};
use sluice_asic::gress::Gress;
use sluice_asic::latency::StageDependency;
use sluice_charts::{Bar, Colour, Table, Waterfall, legend};
use sluice_place::report::Report;

/// Colour of parser and deparser.
const ENDS: Colour = Colour::STEEL;

/// Colour of a stage by its dependency on the stages before it.
const fn colour(dependency: StageDependency) -> Colour {
    match dependency {
        StageDependency::Match => Colour::BLUE,
        StageDependency::Action => Colour::GREEN,
        StageDependency::Concurrent => Colour::SLATE,
    }
}

fn bars(report: &Report, gress: Gress) -> Vec<Bar> {
    let g = &report.gresses[gress.index()];
    let parser = g.paths.iter().map(|p| p.cycles).max().unwrap_or(0);
    let mut list = vec![Bar {
        label: "parser".to_owned(),
        from: 0,
        length: parser,
        colour: ENDS,
        note: "longest path".to_owned(),
    }];
    let mut at = parser;
    for (n, stage) in report.detail.stages[gress.index()].iter().enumerate() {
        let word = match stage.dependency {
            StageDependency::Match => "match",
            StageDependency::Action => "action",
            StageDependency::Concurrent => "concurrent",
        };
        // A match-dependent stage starts at the end of the group before it; other stages run in parallel with
        // it.
        list.push(Bar {
            label: format!("stage {n}"),
            from: at,
            length: stage.contribution.0,
            colour: colour(stage.dependency),
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
        list.push(Bar {
            label: "corner turn".to_owned(),
            from: at,
            length: turn,
            colour: Colour::SILVER,
            note,
        });
        at += turn;
    }
    list.push(Bar {
        label: "deparser".to_owned(),
        from: at,
        length: u64::from(g.deparser_cycles),
        colour: ENDS,
        note: String::new(),
    });
    list
}

/// Draws the cycles of both gresses.
pub(super) fn view(report: &Report) -> Markup {
    let colours = [
        (colour(StageDependency::Match), "match-dependent stage: full length"),
        (colour(StageDependency::Action), "action-dependent"),
        (colour(StageDependency::Concurrent), "concurrent"),
        (ENDS, "parser, deparser"),
    ];
    html! {
        p { "From wire to wire without queueing, on the longest parser paths: " b { (report.total.as_ps().div_ceil(1000)) " ns" } "." }
        (legend(&colours))
        @for gress in Gress::ALL {
            @let g = &report.gresses[gress.index()];
            h3 { (gress) ": " (g.mau_cycles) " cycles in the stages" }
            @let bars = bars(report, gress);
            @let row = |b: &Bar| vec![b.label.clone(), b.from.to_string(), b.length.to_string(), b.note.clone()];
            @let rows: Vec<Vec<String>> = bars.iter().map(row).collect();
            (Waterfall { unit: "cycles".to_owned(), bars })
            details { summary { "Cycles as a table" } (Table::new(&["Part", "From", "Cycles", "Meaning"]).rows(rows)) }
        }
    }
}
