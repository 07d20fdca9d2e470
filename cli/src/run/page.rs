//! `--html FILE`: one page about scenarios: which assertions hold, what was expected and found, sweeps as plots.

use super::sweep;
use maud::{Markup, html};
use sluice_charts::{LineChart, Page, Plot, PlotLine, PlotStyle, Table, ZOOM};
use sluice_scenario::{Check, Outcome};

/// Returns the page.
pub(super) fn page(outcomes: &[Outcome], command: &str) -> String {
    let count = |wanted: Option<bool>| outcomes.iter().filter(|o| o.passed() == wanted).count();
    let (passed, failed, skipped) = (count(Some(true)), count(Some(false)), count(None));
    let checks: usize = outcomes.iter().map(|o| o.checks.len()).sum();
    let header = html! {
        p.verdict {
            b { (passed) } " passed, " b { (failed) } " failed, " (skipped) " not run; " (checks) " assertions "
            @if failed > 0 { span.tag.fail { "FAIL" } } @else { span.tag.pass { "pass" } }
        }
        p.note { code { (command) } }
    };
    let swept = || outcomes.iter().filter(|o| !o.points.is_empty());
    Page::new("Scenarios")
        .script(ZOOM)
        .header(header)
        .section_if(failed > 0, "failed", "What failed", || failures(outcomes))
        .section("scenarios", "Scenarios", &scenarios(outcomes))
        .section_if(
            swept().next().is_some(),
            "sweeps",
            "Sweeps",
            || html! { @for outcome in swept() { (sweep_of(outcome)) } },
        )
        .section_if(skipped > 0, "not-run", "Not run", || not_run(outcomes))
        .section("assertions", "Every assertion", &assertions(outcomes))
        .html()
}

fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() { text.to_owned() } else { format!("{text} {unit}") }
}

fn tag(passed: bool) -> Markup {
    html! { span.tag.pass[passed].fail[!passed] { (if passed { "pass" } else { "FAIL" }) } }
}

/// Returns the name of a scenario with its profile.
fn name(outcome: &Outcome) -> String {
    if outcome.profile.is_empty() {
        outcome.id.clone()
    } else {
        format!("{} on {}", outcome.id, outcome.profile)
    }
}

fn failures(outcomes: &[Outcome]) -> Markup {
    let failed = |c: &&Check| !c.passed;
    html! {
        @for outcome in outcomes.iter().filter(|o| o.passed() == Some(false)) {
            h3 { (name(outcome)) ": " (outcome.title) }
            @if let Some(error) = &outcome.error { pre.code { (error) } }
            @if outcome.checks.is_empty() && outcome.error.is_none() { p { "Nothing was asserted." } }
            @if outcome.checks.iter().any(|c| !c.passed) { (checks(outcome.checks.iter().filter(failed).map(|c| (outcome, c)))) }
        }
    }
}

fn scenarios(outcomes: &[Outcome]) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th.l { "scenario" } th.l { "profile" } th.l { "result" } th { "assertions" } th.l { "title" } th.l { "what" }
                th.l { "expected" } th.l { "found" } th.l { "source" }
            } }
            tbody { @for outcome in outcomes.iter().filter(|o| o.not_applicable.is_none()) {
                @let main = outcome.main();
                @let of = |text: fn(&Check) -> &String| main.map_or_else(String::new, |c| with_unit(text(c), c.unit));
                tr.missing[outcome.passed() == Some(false)] {
                    th.l { (outcome.id) } td.l { (outcome.profile) } td.l { (tag(outcome.passed() == Some(true))) }
                    td { (outcome.checks.len()) }
                    td.l.t { (outcome.title) } td.l.t { @if let Some(c) = main { code.long { (c.what) } } }
                    td.l { (of(|c| &c.expected)) } td.l { (of(|c| &c.actual)) } td.l { (outcome.source) }
                }
            } }
        } }
        p.note { "Of each scenario the first assertion that fails is shown, otherwise the last one." }
    }
}

fn checks<'o>(list: impl Iterator<Item = (&'o Outcome, &'o Check)>) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th.l { "scenario" } th.l { "case" } th.l { "line" } th.l { "assertion" } th.l { "expected" }
            th.l { "found" } th.l { "result" } } }
            tbody { @for (outcome, c) in list {
                tr.missing[!c.passed] {
                    td.l { (name(outcome)) } td.l { (c.case) } td.l { code { (outcome.origin) ":" (c.line) } }
                    td.l.t { code.long { (c.what) } }
                    td.l { (with_unit(&c.expected, c.unit)) } td.l { (with_unit(&c.actual, c.unit)) } td.l { (tag(c.passed)) }
                }
            } }
        } }
    }
}

fn assertions(outcomes: &[Outcome]) -> Markup {
    let all = || outcomes.iter().flat_map(|outcome| outcome.checks.iter().map(move |c| (outcome, c)));
    html! { details { summary { (all().count()) " assertions" } (checks(all())) } }
}

fn not_run(outcomes: &[Outcome]) -> Markup {
    let row = |o: &Outcome| Some(vec![o.id.clone(), o.title.clone(), o.not_applicable.clone()?]);
    html! { (Table::new(&["scenario", "title", "reason"]).rows(outcomes.iter().filter_map(row))) }
}

/// Draws the saved numbers of a sweep over its last key.
fn sweep_of(outcome: &Outcome) -> Markup {
    let plots: Vec<Plot> =
        sweep::charts(outcome).into_iter().map(|(name, chart)| plot(&name, chart)).collect();
    html! {
        h3 { (name(outcome)) ": " (outcome.title) }
        div.plots { @for plot in &plots { (plot) } }
    }
}

fn plot(name: &str, chart: LineChart) -> Plot {
    let line = |series: sluice_charts::Series| PlotLine {
        name: series.name,
        points: series.points,
        style: PlotStyle::Marked,
        ..PlotLine::default()
    };
    let mut plot = Plot::new(name, &chart.x, &chart.y);
    plot.lines = chart.series.into_iter().map(line).collect();
    plot
}
