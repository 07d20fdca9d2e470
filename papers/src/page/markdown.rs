//! Results as Markdown.

use super::{COLUMNS, cells, command, sources};
use crate::experiment::Experiment;
use crate::judge::{Judgement, estimate};
use crate::published::Paper;
use crate::scale::Scale;
use std::fmt::Write as _;

/// Returns the results of one experiment. `took` is the time of the run, as a text.
#[must_use]
pub fn markdown(experiment: &Experiment, judgement: &Judgement, scale: Scale, took: &str) -> String {
    let mut out = String::new();
    let mut line = |text: &str| _ = writeln!(out, "{text}");
    line(&format!("### {}: {}\n", experiment.id, experiment.title));
    line(&format!("{}. `{}`, {took}.\n", experiment.figures, command(experiment, scale)));
    if !judgement.rows.is_empty() {
        line(&row(COLUMNS));
        line("|---|---|---|---|---|---|---|");
        judgement.rows.iter().for_each(|result| line(&row(cells(result))));
        line("");
    }
    if !judgement.claims.is_empty() {
        line("| claim | where | verdict | numbers |");
        line("|---|---|---|---|");
        for claim in &judgement.claims {
            let what = format!("{}: `{}`", claim.what, claim.expect);
            line(&row([
                what,
                claim.source.clone(),
                claim.verdict.words().to_owned(),
                claim.numbers.join("; "),
            ]));
        }
        line("");
    }
    if !judgement.rivals.is_empty() {
        line("| number | here | rivals |");
        line("|---|---|---|");
        for rival in &judgement.rivals {
            let unit = if rival.unit.is_empty() { String::new() } else { format!(" {}", rival.unit) };
            let own: Vec<String> = rival
                .rivals
                .iter()
                .map(|(label, found)| format!("{label} {}{unit}", estimate(*found)))
                .collect();
            line(&row([rival.what.clone(), format!("{}{unit}", estimate(rival.here)), own.join(", ")]));
        }
        line("");
    }
    for (what, cause) in judgement.causes() {
        line(&format!("*{what}* {cause}\n"));
    }
    judgement.errors.iter().for_each(|error| line(&format!("**Wrong**: {error}\n")));
    if !experiment.deviations.is_empty() {
        line("Deviations from the paper's set-up:\n");
        experiment.deviations.iter().for_each(|deviation| line(&format!("- {deviation}")));
        line("");
    }
    let sources = sources(judgement);
    if !sources.is_empty() {
        line(&format!("Published values: {}.\n", sources.join("; ")));
    }
    out
}

/// Returns the heading of a paper's experiments.
#[must_use]
pub fn chapter(paper: &Paper) -> String {
    let note = if paper.note.is_empty() { String::new() } else { format!("{}\n\n", paper.note) };
    format!("## {}\n\n{note}", paper.title)
}

/// Returns a table of experiments with their verdicts. `took` are the times of the runs, as texts.
#[must_use]
pub fn overview<'a>(all: impl Iterator<Item = (&'a Experiment, &'a Judgement, &'a str)>) -> String {
    let mut out = String::from("| experiment | what | verdict | time |\n|---|---|---|---|\n");
    for (experiment, judgement, took) in all {
        let words = judgement.summary();
        // Writing into a String cannot fail.
        let _ = writeln!(
            out,
            "{}",
            row([experiment.id.clone(), experiment.title.clone(), words, took.to_owned()])
        );
    }
    out.push('\n');
    out
}

/// Returns a row of a table.
fn row<const N: usize, T: AsRef<str>>(cells: [T; N]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| markdown_text(cell.as_ref())).collect();
    format!("| {} |", cells.join(" | "))
}

/// Returns a text that Markdown shows as it is, also in a cell of a table: on one line, without columns, tags and links of its own.
/// Code between backquotes stays code.
#[must_use]
pub fn markdown_text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut before, mut code) = (' ', false);
    for (at, c) in text.char_indices() {
        // A backquote without a second one begins nothing.
        code ^= c == '`' && (code || text[at + 1..].contains('`'));
        match c {
            '|' => shown.extend(['\\', c]),
            '<' if !code => shown.extend(['\\', c]),
            '(' if before == ']' && !code => shown.extend(['\\', c]),
            c if c.is_control() => shown.push(' '),
            c => shown.push(c),
        }
        before = c;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::markdown_text;

    #[test]
    fn markup_of_inputs_is_text_and_code_stays() {
        assert_eq!(markdown_text("`a < b` <b>|\n[x](y)"), "`a < b` \\<b>\\| [x]\\(y)");
        assert_eq!(markdown_text("` <script>"), "` \\<script>");
    }
}
