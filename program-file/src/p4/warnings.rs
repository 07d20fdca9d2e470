//! Warnings of a P4 program by kind: a large program has hundreds of a few kinds.

use std::fmt::Write;

/// The most places that are listed of a kind.
const PLACES: usize = 8;

/// A warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// File, as messages name it; empty if the warning has no place.
    pub file: String,
    /// Line from 1; 0 if the warning has no place.
    pub line: u32,
    /// The warning in one sentence.
    pub message: String,
    /// The warning as it is printed, with its source lines.
    pub text: String,
}

impl Warning {
    /// Returns the sentence without the names and numbers in it: warnings of one kind have it in common.
    fn kind(&self) -> String {
        let mut kind = String::new();
        for (position, part) in self.message.split('`').enumerate() {
            match position % 2 {
                0 => kind.extend(part.chars().filter(|c| !c.is_ascii_digit())),
                _ => kind.push('`'),
            }
        }
        kind
    }
}

/// Returns warnings as text: the first of each kind in full, and the places of the others of its kind.
#[must_use]
pub fn by_kind(warnings: &[Warning]) -> String {
    let mut kinds: Vec<(String, Vec<&Warning>)> = Vec::new();
    for warning in warnings {
        let kind = warning.kind();
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, all)) => all.push(warning),
            None => kinds.push((kind, vec![warning])),
        }
    }
    let mut text = String::new();
    for (_, all) in &kinds {
        let [first, others @ ..] = all.as_slice() else { continue };
        let _ = writeln!(text, "{}", first.text.trim_end());
        if !others.is_empty() {
            let _ = writeln!(text, "  = and {} more of this kind: {}", others.len(), places(others));
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

/// Returns the places of warnings: `a.p4:3, 7, 12, b.p4:4, ..`.
fn places(warnings: &[&Warning]) -> String {
    let mut list = Vec::new();
    let mut file = "";
    for warning in warnings.iter().take(PLACES) {
        list.push(if warning.file == file {
            warning.line.to_string()
        } else {
            format!("{}:{}", warning.file, warning.line)
        });
        file = &warning.file;
    }
    if warnings.len() > PLACES {
        list.push("..".to_owned());
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_shown_once_and_counted() {
        let warning = |file: &str, line, message: &str| {
            let (file, message) = (file.to_owned(), message.to_owned());
            Warning { text: format!("warning: {message}\n"), file, line, message }
        };
        let mut all = vec![
            warning("a.p4", 3, "field `m.a` is never read"),
            warning("a.p4", 4, "`h` of 12 bits is cut"),
            warning("a.p4", 7, "field `m.b` is never read"),
            warning("b.p4", 1, "field `m.c` is never read"),
            warning("b.p4", 9, "`k` of 8 bits is cut"),
        ];
        let expected = "warning: field `m.a` is never read
  = and 2 more of this kind: a.p4:7, b.p4:1

warning: `h` of 12 bits is cut
  = and 1 more of this kind: b.p4:9";
        assert_eq!(by_kind(&all), expected);
        all.extend((20..40).map(|line| warning("b.p4", line, "field `m.d` is never read")));
        assert!(by_kind(&all).contains("22 more of this kind: a.p4:7, b.p4:1, 20, 21, 22, 23, 24, 25, ..\n"));
    }
}
