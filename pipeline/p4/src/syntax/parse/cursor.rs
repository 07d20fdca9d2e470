//! The next tokens, and messages about them.

use super::scope::Meaning;
use super::{Parsed, Parser, Reported};
use crate::diagnostic::{Class, Diagnostic};
use crate::preprocess::{Punct, Token, TokenKind};
use crate::source::Span;
use crate::syntax::ast::Name;
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Returns the next token.
    pub(super) fn peek(&self) -> Token {
        self.tokens[self.next]
    }

    /// Returns the token `ahead` tokens after the next one, or the end.
    pub(super) fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.next + ahead).min(self.tokens.len() - 1)]
    }

    /// Returns the token before the next one.
    pub(super) fn previous(&self) -> Token {
        self.tokens[self.next.saturating_sub(1)]
    }

    /// Reads the next token. The end is never passed.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.next += 1;
        }
        token
    }

    pub(super) fn keyword_of(token: Token) -> Option<Keyword> {
        if token.kind == TokenKind::Word { Keyword::of(token.symbol) } else { None }
    }

    pub(super) fn at(&self, punct: Punct) -> bool {
        self.peek().is(punct)
    }

    pub(super) fn at_keyword(&self, keyword: Keyword) -> bool {
        Self::keyword_of(self.peek()) == Some(keyword)
    }

    pub(super) fn accept(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn accept_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, punct: Punct, context: &str) -> Parsed<Token> {
        if self.at(punct) {
            return Ok(self.advance());
        }
        Err(self.expected(&format!("`{}` {context}", punct.text()), ""))
    }

    /// Reads the `;` at the end of a construct. A missing one is reported after the last token.
    pub(super) fn semicolon(&mut self, context: &str) -> Parsed<()> {
        if self.accept(Punct::Semicolon) {
            return Ok(());
        }
        let found = self.peek();
        if !(found.flags.line_start || found.is(Punct::RBrace) || found.kind == TokenKind::End) {
            return Err(self.expected(&format!("`;` {context}"), ""));
        }
        self.report(self.previous().span.at_end(), format!("expected `;` {context}"), "add `;` here");
        // What follows is probably the next construct.
        self.reported_at = None;
        Ok(())
    }

    /// Reads a `>` that closes type arguments. Of `>>`, only the first character is read.
    pub(super) fn close_angle(&mut self, context: &str) -> Parsed<Token> {
        let token = self.peek();
        if token.is(Punct::Shr) {
            let (first, rest) = match token.span.end - token.span.start {
                2 => (Span::new(token.span.start, token.span.start + 1), token.span.start + 1),
                _ => (token.span, token.span.start),
            };
            let rest =
                Token { kind: TokenKind::Punct(Punct::Gt), span: Span::new(rest, token.span.end), ..token };
            self.tokens[self.next] = rest;
            return Ok(Token { kind: TokenKind::Punct(Punct::Gt), span: first, ..token });
        }
        self.expect(Punct::Gt, context)
    }

    /// Returns true for a word that can be a name.
    pub(super) fn is_name(token: Token) -> bool {
        token.kind == TokenKind::Word && Self::keyword_of(token).is_none_or(Keyword::may_be_name)
    }

    /// Returns true for a word that a declaration before it made a type.
    pub(super) fn is_type_name(&self, token: Token) -> bool {
        Self::is_name(token) && self.scope.meaning(token.symbol) == Meaning::Type
    }

    /// Reads a name.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if Self::is_name(token) {
            self.advance();
            return Ok(Name { symbol: token.symbol, span: token.span });
        }
        let help = match Self::keyword_of(token) {
            Some(keyword) => format!("`{}` is a word of the language; choose another name", keyword.text()),
            None => String::new(),
        };
        Err(self.expected(what, &help))
    }

    /// Reports that something else was expected instead of the next token.
    pub(super) fn expected(&mut self, expected: &str, help: &str) -> Reported {
        let token = self.peek();
        let message = format!("expected {expected}, found {}", self.describe(token));
        self.report(token.span, message, help)
    }

    /// Reports a mistake in syntax, unless one was reported at the next token already.
    pub(super) fn report(&mut self, at: Span, message: String, help: &str) -> Reported {
        if self.reported_at != Some(self.next) {
            let diagnostic = if self.peek().kind == TokenKind::Other {
                self.stray_character(self.peek())
            } else {
                Diagnostic::error(Class::Syntax, at, message).help(help)
            };
            self.diagnostics.push(diagnostic);
            self.reported_at = Some(self.next);
        }
        Reported
    }

    pub(super) fn stray_character(&self, token: Token) -> Diagnostic {
        let message = format!("the character {:?} begins no token", self.ast.names.text(token.symbol));
        Diagnostic::error(Class::Token, token.span, message).help("remove it")
    }

    /// Returns a token as messages name it.
    pub(super) fn describe(&self, token: Token) -> String {
        let text = self.ast.names.text(token.symbol);
        match token.kind {
            TokenKind::Word | TokenKind::Number | TokenKind::Other => format!("`{text}`"),
            TokenKind::Text => format!("the string \"{text}\""),
            TokenKind::Punct(punct) => format!("`{}`", punct.text()),
            TokenKind::Newline | TokenKind::End => "the end of the program".to_owned(),
        }
    }
}
