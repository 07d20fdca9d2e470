//! Expressions: operators and primary expressions.

use super::operator::{SUM, infix, prefix};
use super::{Parsed, Parser};
use crate::names::Symbol;
use crate::preprocess::{Punct, TokenKind};
use crate::syntax::ast::{ExprId, ExprKind, Name, TypeKind};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parsed<ExprId> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            if !parser.accept(Punct::Question) {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(Punct::Colon, "and the other value of `? :`")?;
            let otherwise = parser.expression()?;
            let span = parser.ast.exprs[condition].span.to(parser.ast.exprs[otherwise].span);
            parser.expr(span, ExprKind::Ternary { condition, then, otherwise })
        })
    }

    /// Parses an expression without operators that bind less tightly than `+`.
    pub(super) fn sum(&mut self) -> Parsed<ExprId> {
        self.deeper(|parser| parser.binary(SUM))
    }

    /// Parses operators of at least this precedence; all are left-associative.
    fn binary(&mut self, least: u8) -> Parsed<ExprId> {
        let mut left = self.unary()?;
        while let Some((op, precedence)) = infix(self.peek()).filter(|&(_, precedence)| precedence >= least) {
            // `+:` is not an operator.
            if self.peek().is(Punct::Plus) && self.peek_at(1).is(Punct::Colon) {
                break;
            }
            self.advance();
            let right = self.deeper(|parser| parser.binary(precedence + 1))?;
            let span = self.ast.exprs[left].span.to(self.ast.exprs[right].span);
            left = self.expr(span, ExprKind::Binary { op, left, right })?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        let token = self.peek();
        if let Some(op) = prefix(token) {
            self.advance();
            let operand = self.deeper(Self::unary)?;
            let span = token.span.to(self.ast.exprs[operand].span);
            return self.expr(span, ExprKind::Unary { op, operand });
        }
        if token.is(Punct::LParen) && self.begins_cast() {
            self.advance();
            let to = self.type_ref()?;
            self.expect(Punct::RParen, "after the type of a cast")?;
            let operand = self.deeper(Self::unary)?;
            let span = token.span.to(self.ast.exprs[operand].span);
            return self.expr(span, ExprKind::Cast { to, operand });
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    /// Returns true if a type and `)` follow the parenthesis, so that it begins a cast.
    fn begins_cast(&self) -> bool {
        if !self.begins_type(1) {
            return false;
        }
        let name = if self.peek_at(1).is(Punct::Dot) { 2 } else { 1 };
        let after = match self.peek_at(name + 1).kind {
            TokenKind::Punct(Punct::Lt) => match self.type_args_ahead(name + 1) {
                Some(after) => after,
                // A width is no type argument: `(bit<8>)`.
                None => return Self::keyword_of(self.peek_at(name)).is_some_and(|word| !word.may_be_name()),
            },
            _ => name + 1,
        };
        !matches!(self.peek_at(after).kind, TokenKind::Punct(Punct::Dot | Punct::LParen))
    }

    fn primary(&mut self) -> Parsed<ExprId> {
        let token = self.peek();
        let span = token.span;
        match token.kind {
            TokenKind::Number => {
                let literal = self.number()?;
                self.expr(span, ExprKind::Int(literal))
            }
            TokenKind::Text => {
                self.advance();
                let text = self.unescape(token.symbol);
                self.expr(span, ExprKind::Text(text))
            }
            TokenKind::Punct(Punct::LParen) => {
                self.advance();
                let inner = self.expression()?;
                self.expect(Punct::RParen, "after the expression in parentheses")?;
                Ok(inner)
            }
            TokenKind::Punct(Punct::LBrace) => self.braces(),
            TokenKind::Punct(Punct::Dot) => {
                self.advance();
                let name = self.name("a name after `.`")?;
                self.expr(span.to(name.span), ExprKind::Name { name, global: true })
            }
            TokenKind::Punct(Punct::HashBraces | Punct::Dots) => {
                let text = if token.is(Punct::Dots) { "`...`" } else { "`{#}`" };
                self.unsupported(
                    span,
                    &format!("{text} as a value"),
                    "write out the value; make headers invalid with setInvalid()",
                );
                self.advance();
                if token.is(Punct::HashBraces) {
                    self.accept(Punct::RBrace);
                }
                self.expr(span, ExprKind::Error)
            }
            TokenKind::Word => self.word(),
            _ => Err(self.expected("an expression", "")),
        }
    }

    /// Parses an expression that begins with a word.
    fn word(&mut self) -> Parsed<ExprId> {
        let token = self.peek();
        let span = token.span;
        let kind = match Self::keyword_of(token) {
            Some(Keyword::True) => ExprKind::Bool(true),
            Some(Keyword::False) => ExprKind::Bool(false),
            Some(Keyword::This) => ExprKind::This,
            Some(Keyword::Underscore) => ExprKind::Any,
            Some(Keyword::Default) => ExprKind::Default,
            Some(Keyword::Error) => {
                self.advance();
                let of = self.type_use(span, TypeKind::Error);
                return self.expr(span, ExprKind::Type(of));
            }
            _ if self.is_type_name(token) => return self.type_in_expression(),
            _ if Self::is_name(token) => {
                ExprKind::Name { name: Name { symbol: token.symbol, span }, global: false }
            }
            _ => return Err(self.expected("an expression", "")),
        };
        self.advance();
        self.expr(span, kind)
    }

    /// Parses a type that an instance without a name, or a member of the type, follows.
    fn type_in_expression(&mut self) -> Parsed<ExprId> {
        let token = self.advance();
        let name = Name { symbol: token.symbol, span: token.span };
        let of = if self.type_args_ahead(0).is_some() {
            self.named_type(token.span, name, false)?
        } else {
            self.type_use(token.span, TypeKind::Named { name, global: false, args: Vec::new() })
        };
        let start = self.ast.types[of].span;
        if self.at(Punct::LParen) {
            let (args, end) = self.arguments()?;
            return self.expr(start.to(end), ExprKind::Construct { of, args });
        }
        self.expr(start, ExprKind::Type(of))
    }

    /// Parses `{a, b}` or `{k = a, l = b}`.
    fn braces(&mut self) -> Parsed<ExprId> {
        let open = self.advance().span;
        let is_record = Self::is_name(self.peek()) && self.peek_at(1).is(Punct::Assign);
        let (mut list, mut fields) = (Vec::new(), Vec::new());
        while !self.at(Punct::RBrace) {
            if is_record {
                let name = self.name("the name of a field")?;
                self.expect(Punct::Assign, "after the name of a field")?;
                fields.push((name, self.expression()?));
            } else {
                list.push(self.expression()?);
            }
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        let close = self.expect(Punct::RBrace, "or `,` after an element of the list")?;
        let kind = if is_record { ExprKind::Record(fields) } else { ExprKind::List(list) };
        self.expr(open.to(close.span), kind)
    }

    /// Returns the text of a string with its escape sequences replaced.
    pub(super) fn unescape(&mut self, text: Symbol) -> Symbol {
        let written = self.ast.names.text(text);
        if !written.contains('\\') {
            return text;
        }
        let mut plain = String::with_capacity(written.len());
        let mut chars = written.chars();
        while let Some(c) = chars.next() {
            let c = if c == '\\' { chars.next().unwrap_or('\\') } else { c };
            plain.push(c);
        }
        self.ast.names.intern(&plain)
    }
}
