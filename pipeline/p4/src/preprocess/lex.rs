//! Lexer of files: bytes to tokens, without comments.

use super::token::{Flags, Punct, Token, TokenKind};
use crate::names::{Names, Symbol};
use crate::source::Span;
use sluice_entity::Entity;
use std::sync::Arc;

/// A position in a file's text.
#[derive(Clone, Debug)]
pub(super) struct Lexer {
    text: Arc<str>,
    /// The source map's position of the first byte.
    base: u32,
    offset: usize,
    line_start: bool,
}

/// A mistake in a file's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// A comment that does not end; the span of `/*`.
    Comment(Span),
    /// A string that does not end on its line; the span of the rest of the line.
    Text(Span),
}

impl Lexer {
    pub(super) fn new(text: Arc<str>, base: u32) -> Lexer {
        // A byte order mark is no token.
        let offset = if text.starts_with('\u{feff}') { 3 } else { 0 };
        Lexer { text, base, offset, line_start: true }
    }

    /// Returns the offset of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the position after the last byte that was read.
    pub(super) fn position(&self) -> u32 {
        self.base + self.offset as u32
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.offset + ahead).copied()
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(self.base + start as u32, self.base + self.offset as u32)
    }

    /// Returns the next token. In a directive, the end of the line is a token.
    ///
    /// # Errors
    /// Returns a mistake after having read past it.
    pub(super) fn token(&mut self, names: &mut Names, directive: bool) -> Result<Token, Mistake> {
        let blank_before = match self.skip_blank(directive)? {
            Blank::Line(span) => return Ok(self.plain(TokenKind::Newline, span)),
            Blank::Some(blank) => blank,
        };
        let flags = Flags { line_start: self.line_start, blank_before, painted: false };
        self.line_start = false;
        let start = self.offset;
        let (kind, symbol) = match self.byte(0) {
            None => (TokenKind::End, Symbol::new(0)),
            Some(first) if is_word(first) => {
                let kind = if first.is_ascii_digit() { TokenKind::Number } else { TokenKind::Word };
                (kind, self.word(names))
            }
            Some(b'"') => (TokenKind::Text, self.string(names)?),
            Some(_) => {
                if let Some(punct) = Punct::at(&self.text.as_bytes()[start..]) {
                    self.offset += punct.text().len();
                    (TokenKind::Punct(punct), Symbol::new(0))
                } else {
                    let length = self.text[start..].chars().next().map_or(1, char::len_utf8);
                    self.offset += length;
                    (TokenKind::Other, names.intern(&self.text[start..start + length]))
                }
            }
        };
        Ok(Token { kind, flags, symbol, span: self.span_from(start) })
    }

    fn plain(&self, kind: TokenKind, span: Span) -> Token {
        Token { kind, flags: Flags::default(), symbol: Symbol::new(0), span }
    }

    /// Returns the length of a backslash and the end of its line, if they are `ahead` bytes from here.
    fn splice(&self, ahead: usize) -> Option<usize> {
        if self.byte(ahead) != Some(b'\\') {
            return None;
        }
        let mut length = 1;
        while matches!(self.byte(ahead + length), Some(b' ' | b'\t' | b'\r')) {
            length += 1;
        }
        (self.byte(ahead + length) == Some(b'\n')).then_some(length + 1)
    }

    /// Skips blanks, comments, ends of lines (not in a directive) and joined lines.
    fn skip_blank(&mut self, directive: bool) -> Result<Blank, Mistake> {
        let mut blank = false;
        loop {
            match self.byte(0) {
                Some(b'\n') => {
                    self.offset += 1;
                    self.line_start = true;
                    if directive {
                        return Ok(Blank::Line(self.span_from(self.offset - 1)));
                    }
                }
                Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => self.offset += 1,
                Some(b'/') if self.byte(1) == Some(b'/') => self.skip_line_comment(),
                Some(b'/') if self.byte(1) == Some(b'*') => self.skip_block_comment()?,
                Some(b'\\') => match self.splice(0) {
                    Some(length) => self.offset += length,
                    None => return Ok(Blank::Some(blank)),
                },
                None if directive => return Ok(Blank::Line(self.span_from(self.offset))),
                _ => return Ok(Blank::Some(blank)),
            }
            blank = true;
        }
    }

    /// Skips a comment up to the end of its line, which stays. A backslash at the end continues the comment.
    fn skip_line_comment(&mut self) {
        loop {
            let rest = &self.text.as_bytes()[self.offset..];
            let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            let line = rest[..length].trim_ascii_end();
            let continued = line.last() == Some(&b'\\') && length < rest.len();
            self.offset += length;
            if !continued {
                return;
            }
            self.offset += 1;
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Mistake> {
        let start = self.offset;
        match self.text[start + 2..].find("*/") {
            Some(length) => {
                self.offset = start + length + 4;
                Ok(())
            }
            None => {
                self.offset = start + 2;
                let span = self.span_from(start);
                self.offset = self.text.len();
                Err(Mistake::Comment(span))
            }
        }
    }

    /// Reads a word or number.
    fn word(&mut self, names: &mut Names) -> Symbol {
        let start = self.offset;
        while self.byte(0).is_some_and(is_word) {
            self.offset += 1;
        }
        let joined = |lexer: &Lexer| {
            let length = lexer.splice(0)?;
            lexer.byte(length).is_some_and(is_word).then_some(length)
        };
        if joined(self).is_none() {
            return names.intern(&self.text[start..self.offset]);
        }
        let mut text = self.text[start..self.offset].to_owned();
        while let Some(length) = joined(self) {
            self.offset += length;
            let start = self.offset;
            while self.byte(0).is_some_and(is_word) {
                self.offset += 1;
            }
            text.push_str(&self.text[start..self.offset]);
        }
        names.intern(&text)
    }

    /// Reads a string; the symbol has the text between the quotation marks, with escape sequences as they are written.
    fn string(&mut self, names: &mut Names) -> Result<Symbol, Mistake> {
        let start = self.offset;
        self.offset += 1;
        loop {
            match self.byte(0) {
                Some(b'"') => {
                    self.offset += 1;
                    return Ok(names.intern(&self.text[start + 1..self.offset - 1]));
                }
                Some(b'\\') if self.byte(1).is_some() => {
                    let length = self.text[self.offset + 1..].chars().next().map_or(1, char::len_utf8);
                    self.offset += 1 + length;
                }
                Some(b'\n') | None => return Err(Mistake::Text(self.span_from(start))),
                Some(_) => self.offset += 1,
            }
        }
    }

    /// Skips lines up to the next line that begins with `#`, and the `#`. Returns false at the end of the file.
    ///
    /// # Errors
    /// Returns a comment that does not end.
    pub(super) fn skip_to_directive(&mut self) -> Result<bool, Mistake> {
        loop {
            match self.skip_blank(false)? {
                _ if self.byte(0).is_none() => return Ok(false),
                _ if self.line_start && self.byte(0) == Some(b'#') => {
                    self.offset += 1;
                    self.line_start = false;
                    return Ok(true);
                }
                _ => self.skip_text(),
            }
        }
    }

    /// Skips the rest of a line that is not compiled, up to a comment.
    fn skip_text(&mut self) {
        self.line_start = false;
        let rest = &self.text.as_bytes()[self.offset..];
        let mut at = 0;
        while at < rest.len() {
            match rest[at] {
                b'\n' => break,
                b'/' if matches!(rest.get(at + 1), Some(b'/' | b'*')) => break,
                b'\\' if self.splice(at).is_some() => break,
                // A comment does not begin in a string. A quotation mark without a partner is only text.
                b'"' => at += closing_quote(&rest[at..]).unwrap_or(0) + 1,
                _ => at += 1,
            }
        }
        self.offset += at.max(1).min(rest.len());
    }

    /// Skips the rest of the line.
    ///
    /// # Errors
    /// Returns a comment that does not end.
    pub(super) fn skip_line(&mut self) -> Result<(), Mistake> {
        loop {
            if let Blank::Line(_) = self.skip_blank(true)? {
                return Ok(());
            }
            self.skip_text();
        }
    }

    /// Returns the text of the rest of the line without comments at its end, and its span; the line is read.
    pub(super) fn rest_of_line(&mut self) -> (String, Span) {
        let rest = &self.text[self.offset..];
        let line = rest.split('\n').next().unwrap_or_default();
        let text = line.trim();
        let start = self.offset + (line.len() - line.trim_start().len());
        let span = Span::new(self.base + start as u32, self.base + (start + text.len()) as u32);
        let text = text.to_owned();
        self.offset += line.len();
        (text, span)
    }

    /// Reads `<name>` of an `#include`, if the next character is `<`.
    pub(super) fn angled_name(&mut self) -> Result<Option<(String, Span)>, Mistake> {
        while matches!(self.byte(0), Some(b' ' | b'\t')) {
            self.offset += 1;
        }
        if self.byte(0) != Some(b'<') {
            return Ok(None);
        }
        let start = self.offset;
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let Some(length) = line.find('>') else { return Ok(None) };
        let name = line[1..length].to_owned();
        self.offset += length + 1;
        Ok(Some((name, self.span_from(start))))
    }
}

/// What was skipped before a token.
enum Blank {
    /// True if there was anything.
    Some(bool),
    /// The end of a directive's line.
    Line(Span),
}

/// Returns true for letters, digits, underscores and dollar signs.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Returns the offset of the quotation mark that ends the string at the beginning of `text`, if it is on the same line.
fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return Some(at),
            b'\n' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    None
}
