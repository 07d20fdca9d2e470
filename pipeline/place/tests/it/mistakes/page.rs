//! `docs/mistakes.md`: the mistakes as a page.

use super::{BASE, FILE, Found, Mistake, mistakes, outcome};
use expect_test::expect_file;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mistakes.md");

const HEAD: &str = "# Mistakes and their messages

What Sluice says about the mistakes that authors of P4 programs for Tofino make most often, and a change that mends each
one. Find your message or your symptom, and compare. Numbers in messages are those of the chip: another chip, or a chip file
with other numbers, gives other messages.

Each entry is a change of one small program, `router.sluice`, which is at the [end](#the-program) of this page. It shows the
lines that make the mistake (`-` the line before, `+` the line in its place, with line numbers), the message, and the change
that mends it. The chip is Tofino 2 unless the entry names another one. A test makes every change, compares the message, and
checks that the mended program fits without any message.

`sluice report FILE.sluice --why-not` looks for a change on its own. [report.md](report.md) explains it.

This page is generated: `UPDATE_EXPECT=1 cargo test -p sluice-place --test it mistakes`.
";

/// Most lines of a run that are shown at its beginning and end; a longer run is cut in the middle.
const SHOWN: usize = 4;

/// Line of one of two texts that the other one lacks: `-` and its number in the old text, or `+` and its number in the new one.
struct Changed<'t> {
    sign: char,
    number: usize,
    line: &'t str,
}

/// Returns the lines in which two texts differ, in order; the old ones of a place come first.
fn changes<'t>(old: &'t str, new: &'t str) -> Vec<Changed<'t>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // common[i][j]: lines in common of the texts from their lines i and j on.
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = match old[i] == new[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut list) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        let both = i < old.len() && j < new.len();
        if both && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || both && common[i + 1][j] >= common[i][j + 1] {
            list.push(Changed { sign: '-', number: i + 1, line: old[i] });
            i += 1;
        } else {
            list.push(Changed { sign: '+', number: j + 1, line: new[j] });
            j += 1;
        }
    }
    list
}

/// Returns the differing lines as a block of the page.
fn diff(old: &str, new: &str) -> String {
    let mut out = String::from("```diff\n");
    let list = changes(old, new);
    for run in list.chunk_by(|a, b| a.sign == b.sign && a.number + 1 == b.number) {
        let cut = run.len() > 2 * SHOWN + 1;
        for (i, Changed { sign, number, line }) in run.iter().enumerate() {
            if !cut || i < SHOWN || i >= run.len() - SHOWN {
                // A line with very many parameters says no more than its beginning.
                let line: String = if line.len() > 110 {
                    line.chars().take(100).chain(" ...".chars()).collect()
                } else {
                    (*line).to_owned()
                };
                _ = writeln!(out, "{sign}{number:4} {line}");
            } else if i == SHOWN {
                _ = writeln!(out, "{sign}     ... {} more lines like these", run.len() - 2 * SHOWN);
            }
        }
    }
    out + "```\n"
}

/// Returns the name under which a heading is linked to.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-');
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn entry(mistake: &Mistake, found: Found) -> String {
    let chip = match mistake.chip.split_once(", ") {
        None if mistake.chip == "tofino2" => String::new(),
        None => format!(" on {}", mistake.chip),
        Some((base, values)) => format!(" on a chip file with `base = \"{base}\"` and `{values}`"),
    };
    let Mistake { title, messages, remedy, .. } = mistake;
    format!(
        "\n## {title}\n\nFound by {}{chip}.\n\n{}\n```text\n{}\n```\n\n{remedy}\n\n{}",
        found.by(),
        diff(BASE, &mistake.wrong()),
        messages.trim(),
        diff(&mistake.wrong(), &mistake.mended())
    )
}

#[test]
fn the_page_is_up_to_date() {
    let mut page = HEAD.to_owned();
    let list: Vec<(Mistake, Found)> = mistakes()
        .into_iter()
        .map(|mistake| {
            let found = outcome(&mistake.wrong(), &mistake.chip()).0;
            (mistake, found)
        })
        .collect();
    page += "\n| mistake | found by |\n|---|---|\n";
    for (mistake, found) in &list {
        _ = writeln!(page, "| [{}](#{}) | {} |", mistake.title, anchor(&mistake.title), found.by());
    }
    list.iter().for_each(|(mistake, found)| page += &entry(mistake, *found));
    _ = write!(page, "\n## The program\n\n`{FILE}`:\n\n```text\n{BASE}```\n");
    expect_file![PAGE].assert_eq(&page);
}

/// The page keeps what it promises: many mistakes, and many of them that only a chip or a placement shows.
#[test]
fn mistakes_of_every_kind_are_on_the_page() {
    let found: Vec<Found> = mistakes().iter().map(|m| outcome(&m.wrong(), &m.chip()).0).collect();
    let of = |kinds: &[Found]| found.iter().filter(|f| kinds.contains(f)).count();
    assert!(found.len() >= 40, "{}", found.len());
    assert!(of(&[Found::ChipRules]) >= 10, "{}", of(&[Found::ChipRules]));
    assert!(of(&[Found::Placement]) >= 15, "{}", of(&[Found::Placement]));
}

#[test]
fn differing_lines_have_their_numbers_and_long_runs_are_cut() {
    let old = "a\nb\nc\nd\n";
    assert_eq!(diff(old, "a\nx\ny\nc\n"), "```diff\n-   2 b\n+   2 x\n+   3 y\n-   4 d\n```\n");
    let many: String = (0..10).map(|n| format!("{n}\n")).collect();
    let made = diff("", &many);
    let lines: Vec<&str> = made.lines().collect();
    assert_eq!(lines[5], "+     ... 2 more lines like these");
    assert_eq!((lines[4], lines[6], lines.len()), ("+   4 3", "+   7 6", 11));
}
