//! The results of experiments as Markdown and as a page.

mod html;
mod markdown;
mod plots;

pub use html::{Reproduced, html};
pub use markdown::{chapter, markdown, markdown_text, overview};

use crate::experiment::Experiment;
use crate::judge::{Judgement, RowResult, Verdict, estimate, significant};
use crate::published::PublishedValue;
use crate::scale::Scale;

/// Columns of the table of rows.
const COLUMNS: [&str; 7] =
    ["number", "published", "reference simulator", "closed form", "here", "ratio", "verdict"];

/// Returns a published value with its unit; `-` if there is none.
fn value_text(published: Option<&PublishedValue>) -> String {
    match published {
        None => "-".to_owned(),
        Some(PublishedValue { value: None, .. }) => "none published".to_owned(),
        Some(PublishedValue { value: Some(value), unit, .. }) => {
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            format!("{}{unit}", significant(*value))
        }
    }
}

/// Returns the cells of a row, for the columns number, published, reference simulator, closed form, here, ratio and verdict.
#[must_use]
pub fn row_cells(result: &RowResult) -> [String; 7] {
    let [paper, reference, theory] = &result.values;
    let unit = if result.row.unit.is_empty() { String::new() } else { format!(" {}", result.row.unit) };
    [
        result.row.what.clone(),
        value_text(paper.as_ref()),
        value_text(reference.as_ref()),
        value_text(theory.as_ref()),
        format!("{}{unit}", estimate(result.here)),
        result.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}")),
        result.verdict.words().to_owned(),
    ]
}

/// Returns the cells of a row of a page, which states the percentage within which a number agrees.
fn cells(result: &RowResult) -> [String; 7] {
    let mut cells = row_cells(result);
    if result.verdict != Verdict::NoNumber {
        cells[6] += &format!(" (within {} %)", significant(result.row.within));
    }
    cells
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
fn command(experiment: &Experiment, scale: Scale) -> String {
    match scale {
        Scale::Quick => format!("sluice reproduce {}", experiment.id),
        scale => format!("sluice reproduce {} --scale {scale}", experiment.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::found::{Evidence, FoundPoint};
    use crate::judge::judge;
    use crate::published::Published;
    use sluice_scenario::contest::{Figure, FigureTable};
    use std::collections::BTreeMap;

    const PUBLISHED: &str = r#"
[[paper]]
id = "p"
title = "A & B, A Paper, 2020"
[[value]]
id = "p/f/a"
value = 2.0
x = 30
precision = 0.5
read = "digitised"
side = "paper"
source = "Figure 1"
"#;

    const EXPERIMENT: &str = r#"
id = "p/x"
title = "t"
figures = "Figure 1"
deviations = ["Half of the hosts."]
[[contest]]
file = "c"
[[row]]
what = "a | b"
at = { load = 30 }
here = "a.avg"
per = 1000
published = "p/f/a"
because = "chance."
[[claim]]
what = "a is small"
source = "§1"
expect = "a.avg < 9000"
[[plot]]
title = "over load"
over = { key = "load" }
x = "load"
y = "average"
number = "avg"
per = 1000
published = ["p/f"]
"#;

    #[test]
    fn a_page_has_numbers_claims_causes_and_published_points() {
        let experiment = Experiment::parse("p/x", EXPERIMENT).unwrap();
        let published = Published::parse(PUBLISHED).unwrap();
        let mut found = Evidence::default();
        for (load, value) in [("30", 3000), ("50", 4000)] {
            let figures = BTreeMap::from([("avg".to_owned(), Figure(vec![value, value]))]);
            let figures = FigureTable::new([("a".to_owned(), figures)].into(), 2);
            let axes = vec![("load".to_owned(), load.to_owned())];
            found.add("", FoundPoint { axes, figures, ..FoundPoint::default() });
        }
        let judgement = judge(&experiment, &found, &published, &[]).unwrap();
        // 3 is not within 10 % and 0.5 of 2; the claim holds.
        assert_eq!(judgement.summary(), "1 of 2 agree");
        let text = markdown(&experiment, &judgement, Scale::Full, "3 s");
        for part in [
            "`sluice reproduce p/x --scale full`, 3 s",
            "| a \\| b | 2 | - | - | 3 | 1.50 | disagrees (within 10 %) |",
            "| a is small: `a.avg < 9000` | §1 | agrees | load = 30: a.avg 3000; load = 50: a.avg 4000 |",
            "*a | b* disagrees because: chance.",
            "- Half of the hosts.",
            "Figure 1 (digitised)",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        let one = Reproduced { experiment: &experiment, judgement: &judgement, found: &found, took: "3 s" };
        let page = html(&[one], &published, Scale::Quick);
        let both = html(&[one, one], &published, Scale::Quick);
        assert!(
            both.contains("Experiments of papers") && both.matches("Deviations from").count() > 2,
            "{both}"
        );
        // Two points of the line, and a hollow one of the paper with its precision. The script that zooms draws such points, too.
        let page = page.split("\"use strict\"").next().unwrap();
        assert_eq!(page.matches("r=\"3\"").count(), 2);
        assert_eq!(page.matches("r=\"4.5\"").count(), 1);
        assert!(page.contains("A &amp; B, A Paper") && page.contains("\"a\":[1.5],\"b\":[2.5]"), "{page}");
    }
}
