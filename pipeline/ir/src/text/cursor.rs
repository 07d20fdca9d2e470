//! Position in a token list, and the basic steps of a recursive-descent parser.

use super::ParseError;
use super::lex::{Tok, Token};
use crate::Loc;
use sluice_asic::gress::Gress;
use sluice_asic::names::nearest;

/// Position in a token list. The last token is [`Tok::End`]; the cursor never moves past it.
#[derive(Clone)]
pub(super) struct Cursor<'t> {
    tokens: &'t [Token],
    at: usize,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

const END: Token = Token { tok: Tok::End, line: 0, col: 0, file: "" };

/// Returns the advice to use this name.
pub(super) fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

impl<'t> Cursor<'t> {
    pub(super) fn new(tokens: &'t [Token], at: usize) -> Self {
        Cursor { tokens, at }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn token(&self) -> &'t Token {
        self.tokens.get(self.at).or(self.tokens.last()).unwrap_or(&END)
    }

    pub(super) fn peek(&self) -> &'t Tok {
        &self.token().tok
    }

    pub(super) fn advance(&mut self) -> &'t Tok {
        let tok = self.peek();
        if *tok != Tok::End {
            self.at += 1;
        }
        tok
    }

    pub(super) fn loc(&self) -> Loc {
        let token = self.token();
        Loc { file: token.file, line: token.line, col: token.col, text: crate::SourceText::default() }
    }

    /// Returns an error at the next token.
    pub(super) fn error(&self, expected: impl Into<String>) -> ParseError {
        self.error_with(expected, "")
    }

    pub(super) fn error_with(&self, expected: impl Into<String>, help: impl Into<String>) -> ParseError {
        let t = self.token();
        let found = t.tok.to_string();
        ParseError { line: t.line, col: t.col, found, expected: expected.into(), help: help.into() }
    }

    pub(super) fn at(&self, punct: &str) -> bool {
        matches!(self.peek(), Tok::Punct(p) if *p == punct)
    }

    /// Returns true if the token after the next one is `punct`.
    pub(super) fn then(&self, punct: &str) -> bool {
        matches!(self.tokens.get(self.at + 1), Some(t) if matches!(t.tok, Tok::Punct(p) if p == punct))
    }

    /// Returns the token `n` tokens after the next one.
    pub(super) fn at_distance(&self, n: usize) -> Option<&'t Tok> {
        self.tokens.get(self.at + n).map(|token| &token.tok)
    }

    pub(super) fn eat(&mut self, punct: &str) -> bool {
        let here = self.at(punct);
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { Err(self.error(format!("`{punct}`"))) }
    }

    /// Returns the next token if it is a word of the language.
    pub(super) fn word(&self) -> Option<&'t str> {
        match self.peek() {
            Tok::Name { text, quoted: false } | Tok::Param { text, .. } => Some(text),
            _ => None,
        }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let here = self.word() == Some(word);
        if here {
            self.advance();
        }
        here
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.error(format!("`{word}`"))) }
    }

    /// Parses one of these words and returns its value.
    pub(super) fn one_of<T: Copy>(&mut self, words: &[(&str, T)]) -> Parsed<T> {
        let found = self.word().and_then(|w| words.iter().find(|(name, _)| *name == w));
        let Some((_, value)) = found else {
            return Err(self.unknown_word(words.iter().map(|(name, _)| *name)));
        };
        self.advance();
        Ok(*value)
    }

    /// Returns an error at the next token, in whose place one of these words is expected.
    pub(super) fn unknown_word<'w>(&self, words: impl Iterator<Item = &'w str> + Clone) -> ParseError {
        let names: Vec<String> = words.clone().map(|name| format!("`{name}`")).collect();
        let expected = match names.split_last() {
            Some((last, [.., _])) if names.len() > 2 => {
                format!("{} or {last}", names[..names.len() - 1].join(", "))
            }
            _ => names.join(" or "),
        };
        let help = self.word().and_then(|found| nearest(found, words)).map(did_you_mean);
        self.error_with(expected, help.unwrap_or_default())
    }

    pub(super) fn gress(&mut self) -> Parsed<Gress> {
        self.one_of(&Gress::ALL.map(|g| (g.name(), g)))
    }

    /// Parses a name in a declaration.
    pub(super) fn name(&mut self) -> Parsed<String> {
        let (Tok::Name { text, .. } | Tok::Param { text, .. }) = self.peek() else {
            return Err(self.error("a name"));
        };
        self.advance();
        Ok(text.clone())
    }

    /// Parses a number without a width that fits `T`.
    pub(super) fn number<T: TryFrom<u128>>(&mut self, what: &str) -> Parsed<T> {
        let (Tok::Int { value, width: None } | Tok::Param { value, .. }) = self.peek() else {
            return Err(self.error(what));
        };
        let number = T::try_from(*value)
            .map_err(|_| self.error(format!("{what} of at most {} bits", 8 * std::mem::size_of::<T>())))?;
        self.advance();
        Ok(number)
    }

    pub(super) fn text(&mut self) -> Parsed<String> {
        let Tok::Text(text) = self.peek() else { return Err(self.error("a string in double quotes")) };
        self.advance();
        Ok(text.clone())
    }

    /// Parses `///` lines and joins them.
    pub(super) fn docs(&mut self) -> String {
        let mut lines = Vec::new();
        while let Tok::Doc(line) = self.peek() {
            lines.push(line.as_str());
            self.advance();
        }
        lines.join("\n")
    }

    /// Parses a width, `bit<9>`.
    pub(super) fn width(&mut self) -> Parsed<u16> {
        self.expect_word("bit")?;
        self.expect("<")?;
        let width = self.number("a width in bits")?;
        self.expect(">")?;
        Ok(width)
    }

    /// Parses items separated by commas, up to `end`; a comma after the last item is allowed.
    pub(super) fn list<T>(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.eat(end) {
            list.push(item(self)?);
            if !self.eat(",") {
                self.expect(end).map_err(|_| self.error(format!("`,` or `{end}`")))?;
                break;
            }
        }
        Ok(list)
    }
}
