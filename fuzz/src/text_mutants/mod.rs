//! Mutants of texts: files of any format in which names, numbers, nestings, rows or characters became hostile.
//!
//! A change knows no format. It acts on words, numbers, quoted texts, brackets and lines, which all formats have, and takes the
//! new parts from lists of what has broken readers before: names that lead out of a folder, numbers at the edges of integers,
//! characters that a terminal obeys. [`KINDS`] are the kinds of changes.

mod hostile;
mod parts;

use hostile::{CHARACTERS, MARKS, NAMES, NUMBERS, name};
use parts::{brackets, lines, names, numbers};
use std::ops::Range;

/// A kind of change. It returns the changed text, or `None` if the text has nothing that it could change.
type Change = fn(&str, &str, &mut dyn FnMut() -> u32) -> Option<String>;

/// All kinds of changes by their names.
const KINDS: [(&str, Change); 12] = [
    ("name", rename),
    ("number", renumber),
    ("character", insert),
    ("mark", mark),
    ("ends of lines", line_ends),
    ("nesting", nest),
    ("doubling", double),
    ("long row", lengthen),
    ("lost line", lose),
    ("repeated line", repeat),
    ("line of another text", graft),
    ("cut", cut),
];

/// Most bytes of a mutant: above the limits of rows and nestings, below those of whole files.
const MOST: usize = 1 << 17;

/// Numbers of changes, which are drawn with equal chances.
const CHANGES: [u32; 8] = [1, 1, 1, 1, 1, 2, 2, 3];

/// Returns a text with one to three changes, most often one, which `draws` decides. `other` is a text from which lines are taken.
#[must_use]
pub fn text_mutant(text: &str, other: &str, draws: &mut dyn FnMut() -> u32) -> String {
    let mut mutant = text.to_owned();
    for _ in 0..CHANGES[draws() as usize % CHANGES.len()] {
        let (_, change) = KINDS[draws() as usize % KINDS.len()];
        mutant = change(&mutant, other, draws).filter(|new| new.len() <= MOST).unwrap_or(mutant);
    }
    mutant
}

/// Picks one of a list.
fn one<T>(list: &[T], draw: u32) -> Option<&T> {
    list.get(draw as usize % list.len().max(1))
}

/// Returns the text with `new` in place of a range.
fn with(text: &str, range: &Range<usize>, new: &str) -> String {
    [&text[..range.start], new, &text[range.end..]].concat()
}

/// Returns a place between characters, or an end.
fn place(text: &str, draw: u32) -> usize {
    let at = draw as usize % (text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Replaces a name, or the contents of a quoted text.
fn rename(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all = names(text);
    let (at, new) = (one(&all, draws())?, name(one(&NAMES, draws())?));
    Some(with(text, at, &new))
}

fn renumber(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all = numbers(text);
    Some(with(text, one(&all, draws())?, one(&NUMBERS, draws())?))
}

/// Puts characters that terminals or readers obey somewhere, half of the time into a name.
fn insert(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let new = one(&CHARACTERS, draws())?;
    let at = match one(&names(text), draws()).filter(|_| draws().is_multiple_of(2)) {
        Some(name) => name.end,
        None => place(text, draws()),
    };
    Some(with(text, &(at..at), new))
}

/// Puts a byte-order mark or its like in front.
fn mark(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    Some([one(&MARKS, draws())?, text].concat())
}

/// Ends the lines otherwise, or the last one not at all.
fn line_ends(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    Some(match draws() % 4 {
        0 => text.replace('\n', "\r\n"),
        1 => text.replace('\n', "\r"),
        2 => text.replacen('\n', "\r\n", 1),
        _ => text.trim_end_matches('\n').to_owned(),
    })
}

/// Puts brackets around a part: many times, because readers may recurse.
fn nest(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all: Vec<Range<usize>> = brackets(text).into_iter().chain(numbers(text)).collect();
    let at = one(&all, draws())?;
    let (open, close) =
        one(&[("(", ")"), ("[", "]"), ("{", "}"), ("{ a = ", " }"), ("-", ""), ("(1 + ", ")")], draws())?;
    let times = *one(&[1, 2, 20, 200, 5_000], draws())?;
    Some(with(text, at, &[&open.repeat(times), &text[at.clone()], &close.repeat(times)].concat()))
}

/// Puts a part twice in place of what is inside its brackets, several times over: each time doubles its contents.
fn double(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all = brackets(text);
    let at = one(&all, draws())?;
    let (whole, mut inside) = (&text[at.clone()], text[at.start + 1..at.end - 1].to_owned());
    let (open, close) = (&whole[..1], &whole[whole.len() - 1..]);
    let between = *one(&[", ", " ", "\n", ""], draws())?;
    for _ in 0..1 + draws() % 10 {
        let part = [open, &inside, close].concat();
        inside = [&part, between, &part].concat();
        if inside.len() > MOST {
            return None;
        }
    }
    Some(with(text, at, &[open, &inside, close].concat()))
}

/// Repeats the last item of a row, up to the length of a large file's rows.
fn lengthen(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all = lines(text);
    let line = one(&all, draws())?;
    let row = text[line.clone()].trim_end();
    let begin = row.rfind(',').or_else(|| row.rfind([' ', '|', ';', '\t'])).unwrap_or(0);
    let item = row[begin..].trim_end_matches([']', '}', ')', '"']);
    let times = *one(&[2, 10, 100, 2_000, 20_000], draws())?;
    let end = line.start + begin + item.len();
    (item.len() * times <= MOST).then(|| with(text, &(end..end), &item.repeat(times)))
}

fn lose(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    Some(with(text, one(&lines(text), draws())?, ""))
}

/// Repeats a line and those after it.
fn repeat(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let all = lines(text);
    let first = draws() as usize % all.len().max(1);
    let last = (first + draws() as usize % 4).min(all.len().checked_sub(1)?);
    let (start, end) = (all[first].start, all[last].end);
    let times = *one(&[1, 1, 1, 10, 300], draws())?;
    ((end - start) * times <= MOST).then(|| with(text, &(end..end), &text[start..end].repeat(times)))
}

/// Adds a line of another text, or replaces one by it.
fn graft(text: &str, other: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    let (here, there) = (lines(text), lines(other));
    let (at, from) = (one(&here, draws())?, one(&there, draws())?);
    let range = if draws().is_multiple_of(2) { at.clone() } else { at.end..at.end };
    Some(with(text, &range, &other[from.clone()]))
}

/// Ends the text early.
fn cut(text: &str, _: &str, draws: &mut dyn FnMut() -> u32) -> Option<String> {
    Some(text[..place(text, draws())].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns draws that are given, then zeros.
    fn given(list: &[u32]) -> impl FnMut() -> u32 {
        let mut list = list.iter().copied();
        move || list.next().unwrap_or(0)
    }

    /// Does a change of this name.
    fn changed(kind: &str, text: &str, draws: &[u32]) -> Option<String> {
        let (_, change) = KINDS.iter().find(|(name, _)| *name == kind).unwrap();
        change(text, "other 1\n", &mut given(draws))
    }

    #[test]
    fn each_kind_changes_the_part_that_it_is_for() {
        let text = "name = \"a b\"\nlist = [1, 22]\n";
        for (kind, draws, expected) in [
            ("name", &[1, 0][..], "name = \"../../evil\"\nlist = [1, 22]\n"),
            ("number", &[1, 3], "name = \"a b\"\nlist = [1, 4294967295]\n"),
            ("character", &[1, 1, 0], "name = \"a b\u{1b}[2J\"\nlist = [1, 22]\n"),
            ("mark", &[0], "\u{feff}name = \"a b\"\nlist = [1, 22]\n"),
            ("ends of lines", &[0], "name = \"a b\"\r\nlist = [1, 22]\r\n"),
            ("ends of lines", &[3], "name = \"a b\"\nlist = [1, 22]"),
            ("nesting", &[0, 1, 1], "name = \"a b\"\nlist = [[[1, 22]]]\n"),
            ("doubling", &[0, 0, 0], "name = \"a b\"\nlist = [[1, 22], [1, 22]]\n"),
            ("long row", &[1, 0], "name = \"a b\"\nlist = [1, 22, 22, 22]\n"),
            ("lost line", &[0], "list = [1, 22]\n"),
            ("repeated line", &[1, 0, 0], "name = \"a b\"\nlist = [1, 22]\nlist = [1, 22]\n"),
            ("line of another text", &[0, 0, 0], "other 1\nlist = [1, 22]\n"),
            ("cut", &[4], "name"),
        ] {
            assert_eq!(changed(kind, text, draws).as_deref(), Some(expected), "{kind} {draws:?}");
        }
        for kind in ["name", "number", "nesting", "doubling", "long row", "lost line", "repeated line"] {
            assert_eq!(changed(kind, "", &[]), None, "{kind}");
        }
    }

    #[test]
    fn mutants_are_bounded_and_most_differ() {
        let text = "name = \"a b\"\nlist = [1, 22, { x = 3 }]\n";
        let mut words = sluice_random::words(1);
        let mut draws = || words.next().unwrap_or(0);
        let mut differ = 0;
        for _ in 0..2_000 {
            let mut mutant = text.to_owned();
            for _ in 0..3 {
                mutant = text_mutant(&mutant, text, &mut draws);
                assert!(mutant.len() <= MOST, "{} bytes", mutant.len());
            }
            differ += u32::from(mutant != text);
        }
        assert!(differ > 1_900, "{differ} of 2000 mutants have changes");
    }
}
