//! Directives.

use super::lex::Mistake;
use super::{Flags, Preprocessor, Token, TokenKind};
use crate::diagnostic::{Class, Diagnostic};
use crate::names::Symbol;
use crate::source::{IncludeKind, Span};
use sluice_asic::names::did_you_mean;
use sluice_entity::Entity;

/// The directives that authors write.
const DIRECTIVES: [&str; 13] = [
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning",
    "pragma", "line",
];

impl Preprocessor<'_> {
    /// Obeys the directive after a `#` at the beginning of a line of the innermost file, and reads its line.
    pub(super) fn directive(&mut self, hash: Span) {
        let word = self.directive_token();
        let at = hash.to(word.span);
        match word.kind {
            TokenKind::Newline => return,
            TokenKind::Number => return self.line_marker(word),
            TokenKind::Word => {}
            _ => return self.no_directive(at),
        }
        let text = self.names.text(word.symbol).to_owned();
        match text.as_str() {
            "define" => self.define(at),
            "undef" => self.undefine(at),
            "include" | "import" => self.include_directive(at),
            "if" => self.begin_if(at),
            "ifdef" => self.begin_ifdef(at, true),
            "ifndef" => self.begin_ifdef(at, false),
            "elif" | "elifdef" | "elifndef" | "else" => self.alternative(at, &text),
            "endif" => self.end_if(at),
            "error" => {
                let (text, _) = self.text_of_directive();
                self.stop(Diagnostic::error(Class::Preprocessor, at, format!("#error {text}")));
            }
            "warning" => {
                let (text, _) = self.text_of_directive();
                self.diagnostics.push(Diagnostic::warning(
                    Class::Preprocessor,
                    at,
                    format!("#warning {text}"),
                ));
            }
            "line" => {
                let number = self.directive_token();
                self.line_marker(number);
            }
            "pragma" => self.pragma(),
            "ident" | "sccs" => self.skip_directive(),
            _ => self.unknown(at, &text),
        }
    }

    /// Skips a line that begins with `##`, or with `#` and no word. p4c ignores such lines, and authors disable directives with them.
    pub(super) fn no_directive(&mut self, at: Span) {
        self.skip_directive();
        let warning =
            Diagnostic::warning(Class::Preprocessor, at, "this line has no directive and is ignored")
                .help("write `#` before a directive's name, or `//` for a comment");
        self.diagnostics.push(warning);
    }

    /// Skips a line that begins with `#` and a word that names no directive, as p4c does.
    fn unknown(&mut self, at: Span, word: &str) {
        self.skip_directive();
        let near = did_you_mean(word, DIRECTIVES);
        let message = format!("`#{word}` is no directive, and its line is ignored{near}");
        let help = format!("known are #{}", DIRECTIVES.join(", #"));
        self.diagnostics.push(Diagnostic::warning(Class::Preprocessor, at, message).help(help));
    }

    /// Returns the next token of a directive; at the end of its line a [`TokenKind::Newline`].
    pub(super) fn directive_token(&mut self) -> Token {
        loop {
            let Some(reading) = self.files.last_mut() else { return Self::newline(Span::NONE) };
            match reading.lexer.token(self.names, true) {
                Ok(token) => return token,
                Err(mistake) => self.mistake(mistake),
            }
        }
    }

    fn newline(span: Span) -> Token {
        Token { kind: TokenKind::Newline, flags: Flags::default(), symbol: Symbol::new(0), span }
    }

    /// Returns the remaining tokens of a directive.
    pub(super) fn rest_of_directive(&mut self) -> Vec<Token> {
        let mut tokens = Vec::new();
        loop {
            let token = self.directive_token();
            if token.kind == TokenKind::Newline {
                return tokens;
            }
            tokens.push(token);
        }
    }

    pub(super) fn skip_directive(&mut self) {
        let result = self.files.last_mut().map_or(Ok(()), |reading| reading.lexer.skip_line());
        if let Err(mistake) = result {
            self.mistake(mistake);
        }
    }

    fn text_of_directive(&mut self) -> (String, Span) {
        self.files
            .last_mut()
            .map_or_else(|| (String::new(), Span::NONE), |reading| reading.lexer.rest_of_line())
    }

    /// Reads the end of a directive's line, which should have no more tokens.
    pub(super) fn end_of_directive(&mut self, directive: &str) {
        let token = self.directive_token();
        if token.kind != TokenKind::Newline {
            let message = format!("`{}` after `{directive}` has no meaning", self.spelling(token));
            let warning = Diagnostic::warning(Class::Preprocessor, token.span, message)
                .help("remove it, or write it as a comment");
            self.diagnostics.push(warning);
            self.skip_directive();
        }
    }

    /// `#include "name"`, `#include <name>`, or a macro that expands to one of them.
    fn include_directive(&mut self, at: Span) {
        let angled = self.files.last_mut().map_or(Ok(None), |reading| reading.lexer.angled_name());
        let found: Result<Option<(String, Span)>, Mistake> = angled;
        if let Ok(Some((name, span))) = found {
            self.end_of_directive("#include");
            return self.include(&name, IncludeKind::Angled, at.to(span));
        }
        let line = self.rest_of_directive();
        let line = match line.first() {
            Some(token) if token.kind != TokenKind::Text => self.expand_list(line),
            _ => line,
        };
        match line.as_slice() {
            [name, ..] if name.kind == TokenKind::Text => {
                let text = self.names.text(name.symbol).to_owned();
                self.include(&text, IncludeKind::Quoted, at.to(name.span));
            }
            [open, name @ .., close] if open.is(super::Punct::Lt) && close.is(super::Punct::Gt) => {
                let text: String = name.iter().map(|&token| self.spelling(token)).collect();
                self.include(&text, IncludeKind::Angled, at.to(close.span));
            }
            _ => {
                self.error(
                    at,
                    "`#include` has no file name",
                    "write `#include \"file.p4\"` or `#include <file.p4>`",
                );
            }
        }
    }

    /// `# N "file"` or `#line N "file"`: the next line is line N of a file.
    fn line_marker(&mut self, number: Token) {
        let line = self.rest_of_directive();
        let Ok(first) = self.names.text(number.symbol).parse::<u32>() else {
            return self.error(
                number.span,
                "a line marker has no line number",
                "write `#line 12 \"file.p4\"`",
            );
        };
        let Some(reading) = self.files.last() else { return };
        let (file, offset) = (reading.file, reading.lexer.offset());
        let name = match line.first() {
            Some(name) if name.kind == TokenKind::Text => self.names.text(name.symbol).to_owned(),
            _ => self.sources.line(file, offset).0.to_owned(),
        };
        self.sources.add_marker(file, offset, first, &name);
    }

    /// `#pragma once`; other pragmas have no meaning.
    fn pragma(&mut self) {
        let word = self.directive_token();
        if word.kind == TokenKind::Newline {
            return;
        }
        if word.kind == TokenKind::Word
            && self.names.text(word.symbol) == "once"
            && let Some(reading) = self.files.last()
        {
            self.once.insert(self.sources.name(reading.file).to_owned());
        }
        self.skip_directive();
    }

    /// Returns a token as it is written in the program.
    pub(super) fn spelling(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Other => {
                self.names.text(token.symbol).to_owned()
            }
            TokenKind::Text => format!("\"{}\"", self.names.text(token.symbol)),
            TokenKind::Punct(punct) => punct.text().to_owned(),
            TokenKind::Newline | TokenKind::End => String::new(),
        }
    }
}
