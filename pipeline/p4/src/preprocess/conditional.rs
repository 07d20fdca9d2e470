//! `#if` and its kin: which lines are compiled.

use super::{MAX_NESTING, Preprocessor, TokenKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;

/// An `#if` whose `#endif` has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conditional {
    /// The `#if`.
    span: Span,
    /// True if a group of it was compiled, so that no further one is.
    taken: bool,
    /// The `#else`, after which no `#elif` or `#else` may come.
    ended_by: Option<Span>,
}

impl Preprocessor<'_> {
    /// `#if condition`
    pub(super) fn begin_if(&mut self, at: Span) {
        let value = self.condition(at);
        self.begin(at, value);
    }

    /// `#ifdef NAME`, or `#ifndef NAME` if `expected` is false.
    pub(super) fn begin_ifdef(&mut self, at: Span, expected: bool) {
        let directive = if expected { "#ifdef" } else { "#ifndef" };
        let value = self.name_is_defined(at, directive) == Some(expected);
        self.begin(at, value);
    }

    /// Reads a name and the end of its line, and returns whether the name is defined.
    fn name_is_defined(&mut self, at: Span, directive: &str) -> Option<bool> {
        let name = self.directive_token();
        if name.kind != TokenKind::Word {
            if name.kind != TokenKind::Newline {
                self.skip_directive();
            }
            self.error(at, format!("`{directive}` has no name"), &format!("write `{directive} NAME`"));
            return None;
        }
        self.end_of_directive(directive);
        Some(self.is_defined(name.symbol))
    }

    fn begin(&mut self, at: Span, value: bool) {
        let Some(reading) = self.files.last_mut() else { return };
        if reading.conditionals.len() >= MAX_NESTING {
            let message = format!("more than {MAX_NESTING} conditions are inside each other");
            return self.stop(Diagnostic::error(Class::Limit, at, message).help("is an #endif missing?"));
        }
        reading.conditionals.push(Conditional { span: at, taken: value, ended_by: None });
        if !value {
            self.skip_group();
        }
    }

    /// `#elif`, `#elifdef`, `#elifndef` or `#else` after a compiled group: skips to the `#endif`.
    pub(super) fn alternative(&mut self, at: Span, directive: &str) {
        self.skip_directive();
        let is_else = directive == "else";
        if self.check_alternative(at, directive, is_else) {
            self.skip_group();
        }
    }

    /// Notes an alternative of the innermost `#if`. Returns false if there is no `#if`.
    fn check_alternative(&mut self, at: Span, directive: &str, is_else: bool) -> bool {
        let Some(conditional) = self.files.last_mut().and_then(|reading| reading.conditionals.last_mut())
        else {
            self.error(at, format!("`#{directive}` without `#if`"), "remove it, or add the `#if`");
            return false;
        };
        let earlier = conditional.ended_by;
        if is_else && earlier.is_none() {
            conditional.ended_by = Some(at);
        }
        if let Some(earlier) = earlier {
            let error = Diagnostic::error(Class::Preprocessor, at, format!("`#{directive}` after `#else`"))
                .also(earlier, "the `#else`")
                .help("is an #endif missing between the two?");
            self.diagnostics.push(error);
        }
        true
    }

    /// `#endif`
    pub(super) fn end_if(&mut self, at: Span) {
        self.end_of_directive("#endif");
        let open = self.files.last_mut().and_then(|reading| reading.conditionals.pop());
        if open.is_none() {
            self.error(at, "`#endif` without `#if`", "remove it, or add the `#if`");
        }
    }

    pub(super) fn unclosed(&mut self, conditional: &Conditional) {
        self.error(conditional.span, "this condition has no `#endif`", "add the `#endif`");
    }

    /// Skips lines that are not compiled, up to the next group of the innermost `#if` that is, or past its `#endif`.
    fn skip_group(&mut self) {
        let mut depth = 0_usize;
        loop {
            let Some(reading) = self.files.last_mut() else { return };
            match reading.lexer.skip_to_directive() {
                Ok(true) => {}
                Ok(false) => return,
                Err(mistake) => {
                    self.mistake(mistake);
                    return;
                }
            }
            let hash = reading.lexer.position() - 1;
            let word = self.directive_token();
            if word.kind == TokenKind::Newline {
                continue;
            }
            let text =
                if word.kind == TokenKind::Word { self.names.text(word.symbol) } else { "" }.to_owned();
            let at = Span::new(hash, word.span.end);
            match text.as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" => return self.end_if(at),
                "elif" | "elifdef" | "elifndef" | "else" if depth == 0 => {
                    if self.begins_group(at, &text) {
                        return;
                    }
                    continue;
                }
                _ => {}
            }
            self.skip_directive();
        }
    }

    /// Reads the line of an alternative after skipped groups. Returns true if the group after it is compiled.
    fn begins_group(&mut self, at: Span, directive: &str) -> bool {
        self.check_alternative(at, directive, directive == "else");
        let current = self.files.last().and_then(|reading| reading.conditionals.last());
        if current.is_none_or(|conditional| conditional.taken) {
            self.skip_directive();
            return false;
        }
        let value = match directive {
            "elif" => self.condition(at),
            "elifdef" => self.name_is_defined(at, "#elifdef") == Some(true),
            "elifndef" => self.name_is_defined(at, "#elifndef") == Some(false),
            _ => {
                self.end_of_directive("#else");
                true
            }
        };
        if let Some(conditional) = self.files.last_mut().and_then(|reading| reading.conditionals.last_mut()) {
            conditional.taken |= value;
        }
        value
    }
}
