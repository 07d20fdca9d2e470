//! The results of experiments as Markdown and as a page.

mod html;
mod markdown;
mod plots;

pub use html::html;
pub use markdown::{chapter, markdown, overview};

use crate::experiment::Experiment;
use crate::judge::{Judgement, RowResult, estimate, significant};
use crate::published::PublishedValue;

/// Columns of the table of rows.
const COLUMNS: [&str; 7] =
    ["number", "published", "reference simulator", "closed form", "here", "ratio", "verdict"];

/// Returns a published value with its unit; `-` if there is none.
#[must_use]
pub fn value_text(published: Option<&PublishedValue>) -> String {
    match published {
        None => "-".to_owned(),
        Some(PublishedValue { value: None, .. }) => "none published".to_owned(),
        Some(PublishedValue { value: Some(value), unit, .. }) => {
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            format!("{}{unit}", significant(*value))
        }
    }
}

/// Returns the cells of a row.
fn cells(result: &RowResult) -> [String; 7] {
    let [paper, reference, theory] = &result.values;
    let unit = if result.row.unit.is_empty() { String::new() } else { format!(" {}", result.row.unit) };
    let mut verdict = result.verdict.words().to_owned();
    if result.verdict != crate::judge::Verdict::NoNumber {
        verdict += &format!(" (within {} %)", significant(result.row.within));
    }
    [
        result.row.what.clone(),
        value_text(paper.as_ref()),
        value_text(reference.as_ref()),
        value_text(theory.as_ref()),
        format!("{}{unit}", estimate(result.here)),
        result.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        verdict,
    ]
}

/// Returns a line for each published value of the rows: how it was read, and where.
fn sources(judgement: &Judgement) -> Vec<String> {
    let values = judgement.rows.iter().flat_map(|row| row.values.iter().flatten());
    let mut lines: Vec<String> = Vec::new();
    for value in values {
        let line = format!("{} ({})", value.source, value.read.word());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the command that runs an experiment.
fn command(experiment: &Experiment, scale: crate::scale::Scale) -> String {
    match scale {
        crate::scale::Scale::Quick => format!("sluice reproduce {}", experiment.id),
        scale => format!("sluice reproduce {} --scale {scale}", experiment.id),
    }
}
