//! Parts of a text that every format has, as ranges of bytes.

use std::ops::Range;

/// Returns the contents of quoted texts, and words that are no numbers.
pub(super) fn names(text: &str) -> Vec<Range<usize>> {
    let (mut list, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let end = match c {
            '"' => quoted(text, at),
            _ if is_of_word(c) => word(text, at),
            _ => at + c.len_utf8(),
        };
        if c == '"' && end > at + 1 {
            list.push(at + 1..end - 1);
        } else if is_of_word(c) && !c.is_ascii_digit() {
            list.push(at..end);
        }
        at = end;
    }
    list
}

/// Returns the digits with which words begin. Letters of a unit after the digits are left out.
pub(super) fn numbers(text: &str) -> Vec<Range<usize>> {
    let (mut list, mut at) = (Vec::new(), 0);
    while let Some(c) = text[at..].chars().next() {
        let mut end = if is_of_word(c) { word(text, at) } else { at + c.len_utf8() };
        if c.is_ascii_digit() {
            let digits = text[at..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |n| at + n);
            list.push(at..digits);
            end = digits.max(at + 1);
        }
        at = end;
    }
    list
}

/// Returns the brackets of all kinds with their contents. Brackets that have no partner are left out.
pub(super) fn brackets(text: &str) -> Vec<Range<usize>> {
    let (mut list, mut open) = (Vec::new(), Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => open.push((at, ')')),
            '[' => open.push((at, ']')),
            '{' => open.push((at, '}')),
            ')' | ']' | '}' if open.last().is_some_and(|(_, close)| *close == c) => {
                list.extend(open.pop().map(|(start, _)| start..at + 1));
            }
            _ => {}
        }
    }
    list
}

/// Returns the lines with their ends.
pub(super) fn lines(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|line| {
            at += line.len();
            at - line.len()..at
        })
        .collect()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Returns the end of the word that begins at `at`.
fn word(text: &str, at: usize) -> usize {
    text[at..].find(|c: char| !is_of_word(c)).map_or(text.len(), |n| at + n)
}

/// Returns the end of the quoted text that begins at `at`, behind its second quote; without one, the place after the first.
fn quoted(text: &str, at: usize) -> usize {
    let line = text[at + 1..].split('\n').next().unwrap_or_default();
    line.find('"').map_or(at + 1, |n| at + n + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, parts: impl Fn(&str) -> Vec<Range<usize>>) -> Vec<&str> {
        parts(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn parts_are_found_in_any_format() {
        let text = "rate = \"10 G\" # é\nx-y,7us,(1.5 [2])\n\"";
        assert_eq!(texts(text, names), ["rate", "10 G", "é", "x-y"]);
        assert_eq!(texts(text, numbers), ["10", "7", "1", "2"]);
        assert_eq!(texts(text, brackets), ["[2]", "(1.5 [2])"]);
        assert_eq!(texts(text, lines), ["rate = \"10 G\" # é\n", "x-y,7us,(1.5 [2])\n", "\""]);
        assert_eq!(texts("(]{)", brackets), Vec::<&str>::new());
    }
}
