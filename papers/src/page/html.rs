//! Results as a page with plots.

use super::{COLUMNS, cells, command, plots, sources};
use crate::experiment::Experiment;
use crate::found::Evidence;
use crate::judge::{Judgement, Verdict, estimate};
use crate::published::Published;
use crate::scale::Scale;
use maud::{Markup, html};
use sluice_charts::{Page, ZOOM};

/// An experiment that was run.
#[derive(Clone, Copy)]
pub struct Reproduced<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Verdicts on its numbers and claims.
    pub judgement: &'a Judgement,
    /// Results of the experiment.
    pub found: &'a Evidence,
    /// Time of the run, as a text.
    pub took: &'a str,
}

/// Returns the page of an experiment, or of several, one after the other.
#[must_use]
pub fn html(all: &[Reproduced<'_>], published: &Published, scale: Scale) -> String {
    if let [one] = all {
        let title = format!("{}: {}", one.experiment.id, one.experiment.title);
        let page = Page::new(&title).script(ZOOM).header(header(one, published, scale));
        return sections(page, one, published, "").html();
    }
    let summary = html! {
        ul { @for one in all {
            li {
                a href=(format!("#{}", address(one.experiment, ""))) { (one.experiment.id) } ": " (one.experiment.title) ". "
                b { (one.judgement.summary()) }
            }
        } }
    };
    let mut page = Page::new("Experiments of papers").script(ZOOM).header(summary);
    for one in all {
        let Experiment { id, title, .. } = one.experiment;
        page = page.section(
            &address(one.experiment, ""),
            &format!("{id}: {title}"),
            &header(one, published, scale),
        );
        page = sections(page, one, published, id);
    }
    page.html()
}

/// Returns the address of a part of an experiment on a page of several.
fn address(experiment: &Experiment, part: &str) -> String {
    let id = experiment.id.replace('/', "-");
    if part.is_empty() { id } else { format!("{id}-{part}") }
}

fn header(one: &Reproduced<'_>, published: &Published, scale: Scale) -> Markup {
    let Reproduced { experiment, judgement, took, .. } = *one;
    let paper = published.paper_of(&experiment.id).map_or("", |paper| paper.title.as_str());
    html! {
        p { (paper) ". " (experiment.figures) "." }
        p.note { code { (command(experiment, scale)) } ", " (took) }
        p.verdict { b { (judgement.summary()) } }
        @for error in &judgement.errors { p.verdict { b { "Wrong: " } (error) } }
    }
}

/// Adds the sections of an experiment; `of` is its id on a page of several.
fn sections(page: Page, one: &Reproduced<'_>, published: &Published, of: &str) -> Page {
    let Reproduced { experiment, judgement, found, .. } = *one;
    let id = |part: &str| if of.is_empty() { part.to_owned() } else { address(experiment, part) };
    let title = |text: &str| if of.is_empty() { text.to_owned() } else { format!("{text}: {of}") };
    let plots = plots::plots(experiment, found, published);
    let doubts = judgement.causes();
    let causes = || html! { ul { @for (what, cause) in &doubts { li { b { (what) } " " (cause) } } } };
    let deviations = html! { ul { @for deviation in &experiment.deviations { li { (deviation) } } } };
    let sources = html! { ul { @for source in sources(judgement) { li { (source) } } } };
    page.section_if(!judgement.rows.is_empty(), &id("numbers"), &title("Numbers"), || rows(judgement))
        .section_if(!judgement.claims.is_empty(), &id("claims"), &title("Claims"), || claims(judgement))
        .section_if(
            !plots.is_empty(),
            &id("plots"),
            &title("Plots"),
            || html! { div.plots { @for plot in &plots { (plot) } } },
        )
        .section_if(!judgement.rivals.is_empty(), &id("rivals"), &title("Rivals"), || rivals(judgement))
        .section_if(
            !doubts.is_empty(),
            &id("causes"),
            &title("Why numbers disagree or are undecided"),
            causes,
        )
        .section(&id("deviations"), &title("Deviations from the paper's set-up"), &deviations)
        .section(&id("sources"), &title("Published values"), &sources)
}

/// Returns the class of a row's element: coloured if it does not agree, soft if there is nothing to compare.
const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Disagrees | Verdict::Undecided => "missing",
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
