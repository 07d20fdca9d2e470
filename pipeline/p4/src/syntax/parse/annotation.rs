//! Annotations.

use super::{Parsed, Parser};
use crate::preprocess::{Punct, Token, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{
    Annotation, AnnotationArg, AnnotationBody, AnnotationToken, AnnotationTokenKind, Name,
};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses the annotations before a construct.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut list = Vec::new();
        while self.at(Punct::At) {
            list.push(self.annotation()?);
        }
        Ok(list)
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        let start = self.advance().span;
        let word = self.peek();
        if word.kind != TokenKind::Word {
            return Err(self.expected(
                "the name of an annotation after `@`",
                "write @name(\"text\") or @pragma name text",
            ));
        }
        self.advance();
        if Self::keyword_of(word) == Some(Keyword::Pragma) {
            return self.pragma(start, word);
        }
        let body = match self.peek().kind {
            TokenKind::Punct(Punct::LParen) => self.parenthesised()?,
            TokenKind::Punct(Punct::LBracket) => self.bracketed()?,
            _ => AnnotationBody::None,
        };
        let name = Name { symbol: word.symbol, span: word.span };
        Ok(Annotation { span: start.to(self.previous().span), name, pragma: false, body })
    }

    /// Parses the rest of the line after `@pragma`.
    fn pragma(&mut self, start: Span, pragma: Token) -> Parsed<Annotation> {
        let word = self.peek();
        if word.kind != TokenKind::Word || word.flags.line_start {
            let help = "write @pragma name arguments";
            return Err(self.report(pragma.span, "the `@pragma` has no name".to_owned(), help));
        }
        self.advance();
        let mut args: Vec<AnnotationArg> = Vec::new();
        let mut separated = true;
        while !self.peek().flags.line_start && self.peek().kind != TokenKind::End {
            let token = self.advance();
            separated |= token.flags.blank_before;
            if token.is(Punct::Comma) {
                separated = true;
                continue;
            }
            self.add_annotation_token(&mut args, token, separated);
            separated = false;
        }
        let name = Name { symbol: word.symbol, span: word.span };
        let body = if args.is_empty() { AnnotationBody::None } else { AnnotationBody::Args(args) };
        Ok(Annotation { span: start.to(self.previous().span), name, pragma: true, body })
    }

    /// Parses `(...)`: arguments of any tokens, between commas.
    fn parenthesised(&mut self) -> Parsed<AnnotationBody> {
        let open = self.advance().span;
        let mut args = Vec::new();
        let (mut depth, mut separated) = (0_usize, true);
        loop {
            let token = self.advance();
            match token.kind {
                TokenKind::End => {
                    let message = "the parenthesis of the annotation has no `)`".to_owned();
                    return Err(self.report(open, message, "add the `)`"));
                }
                TokenKind::Punct(Punct::RParen) if depth == 0 => return Ok(AnnotationBody::Args(args)),
                TokenKind::Punct(Punct::Comma) if depth == 0 => {
                    separated = true;
                    continue;
                }
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                _ => {}
            }
            self.add_annotation_token(&mut args, token, separated);
            separated = false;
        }
    }

    fn add_annotation_token(&mut self, args: &mut Vec<AnnotationArg>, token: Token, separated: bool) {
        if token.kind == TokenKind::Other {
            let diagnostic = self.stray_character(token);
            self.diagnostics.push(diagnostic);
        }
        let kind = match token.kind {
            TokenKind::Punct(punct) => AnnotationTokenKind::Punct(punct.text()),
            TokenKind::Text => AnnotationTokenKind::Text(self.unescape(token.symbol)),
            TokenKind::Number => match self.literal(token) {
                Ok(literal) => AnnotationTokenKind::Int(literal),
                Err(_) => AnnotationTokenKind::Word(token.symbol),
            },
            _ => AnnotationTokenKind::Word(token.symbol),
        };
        let token = AnnotationToken { span: token.span, kind };
        match args.last_mut() {
            Some(arg) if !separated => {
                arg.span = arg.span.to(token.span);
                arg.tokens.push(token);
            }
            _ => args.push(AnnotationArg { span: token.span, tokens: vec![token] }),
        }
    }

    /// Parses `[a, b]` or `[k = a, l = b]`.
    fn bracketed(&mut self) -> Parsed<AnnotationBody> {
        self.advance();
        let is_pairs = Self::is_name(self.peek()) && self.peek_at(1).is(Punct::Assign);
        let (mut exprs, mut pairs) = (Vec::new(), Vec::new());
        while !self.at(Punct::RBracket) {
            if is_pairs {
                let name = self.name("a name in the annotation")?;
                self.expect(Punct::Assign, "after a name in the annotation")?;
                pairs.push((name, self.expression()?));
            } else {
                exprs.push(self.expression()?);
            }
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RBracket, "or `,` in the annotation")?;
        Ok(if is_pairs { AnnotationBody::Pairs(pairs) } else { AnnotationBody::Exprs(exprs) })
    }
}
