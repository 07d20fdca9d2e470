//! Results as a page with plots.

use super::{COLUMNS, cells, command, plots, sources};
use crate::experiment::Experiment;
use crate::found::Found;
use crate::judge::{Judgement, Verdict, estimate};
use crate::published::Published;
use crate::scale::Scale;
use maud::{Markup, html};
use sluice_charts::{Page, ZOOM};

/// Returns the page of an experiment. `took` is the time of the run, as a text.
#[must_use]
pub fn html(
    experiment: &Experiment,
    judgement: &Judgement,
    found: &Found,
    published: &Published,
    scale: Scale,
    took: &str,
) -> String {
    let paper = published.paper_of(&experiment.id).map_or("", |paper| paper.title.as_str());
    let header = html! {
        p { (paper) ". " (experiment.figures) "." }
        p.note { code { (command(experiment, scale)) } ", " (took) }
        p.verdict { b { (judgement.summary()) } }
        @for error in &judgement.errors { p.verdict { b { "Wrong: " } (error) } }
    };
    let mut page = Page::new(&format!("{}: {}", experiment.id, experiment.title)).script(ZOOM).header(header);
    if !judgement.rows.is_empty() {
        page = page.section("numbers", "Numbers", &rows(judgement));
    }
    if !judgement.claims.is_empty() {
        page = page.section("claims", "Claims", &claims(judgement));
    }
    let plots = plots::plots(experiment, found, published);
    if !plots.is_empty() {
        page = page.section("plots", "Plots", &html! { div.plots { @for plot in &plots { (plot) } } });
    }
    if !judgement.rivals.is_empty() {
        page = page.section("rivals", "Rivals", &rivals(judgement));
    }
    let disagreements = judgement.disagreements();
    if !disagreements.is_empty() {
        let body = html! { ul { @for (what, because) in disagreements {
            li { b { (what) } ": " (if because.is_empty() { "the cause is not found" } else { because }) }
        } } };
        page = page.section("causes", "Why numbers disagree", &body);
    }
    let deviations = html! { ul { @for deviation in &experiment.deviations { li { (deviation) } } } };
    page = page.section("deviations", "Deviations from the paper's set-up", &deviations);
    let sources = html! { ul { @for source in sources(judgement) { li { (source) } } } };
    page.section("sources", "Published values", &sources).html()
}

/// Returns the class of a row's element: coloured if it disagrees, soft if there is nothing to compare.
const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Disagrees => "missing",
        Verdict::NoNumber => "muted",
        Verdict::Agrees => "",
    }
}

fn rows(judgement: &Judgement) -> Markup {
    html! {
        div.wide { table {
            thead { tr { @for (number, name) in COLUMNS.iter().enumerate() { th.l[number == 0] { (name) } } } }
            tbody { @for result in &judgement.rows {
                tr class=(class(result.verdict)) {
                    @for (number, cell) in cells(result).iter().enumerate() { td.l[number == 0] { (cell) } }
                }
            } }
        } }
    }
}

fn claims(judgement: &Judgement) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th.l { "claim" } th.l { "where" } th.l { "verdict" } th.l { "numbers" } } }
            tbody { @for claim in &judgement.claims {
                tr class=(class(claim.verdict)) {
                    td.l { (claim.what) ": " code { (claim.expect) } }
                    td.l { (claim.source) }
                    td.l { (claim.verdict.words()) }
                    td.l { @for text in &claim.numbers { div { (text) } } }
                }
            } }
        } }
    }
}

fn rivals(judgement: &Judgement) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th.l { "number" } th { "here" } th.l { "rivals" } } }
            tbody { @for rival in &judgement.rivals {
                tr {
                    td.l { (rival.what) }
                    td { (estimate(rival.here)) " " (rival.unit) }
                    td.l { @for (label, found) in &rival.rivals { div { (label) " " (estimate(*found)) " " (rival.unit) } } }
                }
            } }
        } }
    }
}
