//! Source locations of the program's parts, with what the author wrote there.

use super::Lower;
use crate::source::Span;
use sluice_ir::{Loc, MOST_TEXT, SourceText};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

impl Lower<'_> {
    /// Returns the location of a span: of text from a macro, that of the outermost use.
    pub(super) fn loc(&self, at: Span) -> Loc {
        let Some(place) = self.texts.place(at) else { return Loc::default() };
        let (name, line, col) = self.texts.line(place.region.file, place.region.bytes.start);
        let text = self.texts.text(place.region.file).get(place.region.bytes).unwrap_or_default();
        Loc { file: interned(name), line, col, text: SourceText::new(interned(&head(text))) }
    }

    /// Returns the name of an action of statements from a line: a step of a declared action has that action's name in front,
    /// statements of a control have the gress.
    pub(super) fn unnamed_action(&self, line: u32) -> String {
        let declared = self.pipe.actions.values().any(|action| self.short(&action.name) == self.owner);
        if declared { format!("{}_l{line}", self.owner) } else { format!("{}_l{line}", self.gress) }
    }
}

/// Returns the head of a statement in one line: it ends at the block or the semicolon, and long text is cut.
fn head(text: &str) -> String {
    let (mut head, mut depth) = (String::new(), 0_i32);
    for word in text.split_whitespace() {
        if !head.is_empty() {
            head.push(' ');
        }
        for c in word.chars() {
            depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
            if depth <= 0 && matches!(c, '{' | ';') {
                return head.trim_end().to_owned();
            }
            head.push(c);
        }
        if head.chars().count() > MOST_TEXT {
            let kept: String = head.chars().take(MOST_TEXT - 3).collect();
            return format!("{} ..", kept.trim_end());
        }
    }
    head
}

/// Returns a text that lives as long as the process. Equal texts are kept once, because a watched program is lowered often.
fn interned(text: &str) -> &'static &'static str {
    static TEXTS: OnceLock<Mutex<BTreeMap<&'static str, &'static &'static str>>> = OnceLock::new();
    let mut texts = TEXTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    let kept: &'static &'static str = Box::leak(Box::new(text));
    texts.insert(text, kept);
    kept
}

#[cfg(test)]
mod tests {
    use super::{MOST_TEXT, head};

    #[test]
    fn a_statement_is_shown_by_its_head() {
        assert_eq!(head("if (a.b == 1\n    && c) { d = 1; }"), "if (a.b == 1 && c)");
        assert_eq!(head("x = h.get({ a, b });"), "x = h.get({ a, b })");
        let long = head(&format!("x = {};", "a + ".repeat(40)));
        assert!(long.ends_with("+ a .."), "{long}");
        assert!(long.chars().count() <= MOST_TEXT, "{long}");
    }
}
