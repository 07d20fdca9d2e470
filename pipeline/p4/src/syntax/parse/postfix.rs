//! What follows a primary expression: members, indices, slices and calls. And arguments.

use super::{Parsed, Parser};
use crate::preprocess::Punct;
use crate::source::Span;
use crate::syntax::ast::{Arg, ExprId, ExprKind, Name};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    pub(super) fn postfix(&mut self, base: ExprId) -> Parsed<ExprId> {
        let mut base = base;
        loop {
            let start = self.ast.exprs[base].span;
            if self.accept(Punct::Dot) {
                let member = self.member()?;
                base = self.expr(start.to(member.span), ExprKind::Member { base, member })?;
            } else if self.at(Punct::LBracket) {
                base = self.index_or_slice(base, start)?;
            } else if self.at(Punct::LParen) {
                let (args, end) = self.arguments()?;
                let kind = ExprKind::Call { callee: base, type_args: Vec::new(), args };
                base = self.expr(start.to(end), kind)?;
            } else if self.type_args_ahead(0).is_some_and(|after| self.peek_at(after).is(Punct::LParen)) {
                let (type_args, _) = self.type_args()?;
                let (args, end) = self.arguments()?;
                base = self.expr(start.to(end), ExprKind::Call { callee: base, type_args, args })?;
            } else {
                return Ok(base);
            }
        }
    }

    /// Reads the name after a dot. `error` is a possible name there.
    fn member(&mut self) -> Parsed<Name> {
        let token = self.peek();
        if Self::keyword_of(token) == Some(Keyword::Error) {
            self.advance();
            return Ok(Name { symbol: token.symbol, span: token.span });
        }
        self.name("the name of a field or method after `.`")
    }

    fn index_or_slice(&mut self, base: ExprId, start: Span) -> Parsed<ExprId> {
        self.advance();
        let first = self.expression()?;
        if self.at(Punct::RBracket) {
            let close = self.advance();
            return self.expr(start.to(close.span), ExprKind::Index { base, index: first });
        }
        if self.at(Punct::Plus) && self.peek_at(1).is(Punct::Colon) {
            self.unsupported(self.peek().span, "slices with `+:`", "write [HI:LO]");
            self.advance();
        }
        self.expect(Punct::Colon, "or `]` after the index")?;
        let lo = self.expression()?;
        let close = self.expect(Punct::RBracket, "after the slice")?;
        self.expr(start.to(close.span), ExprKind::Slice { base, hi: first, lo })
    }

    /// Parses arguments in parentheses, and returns the place of the last one with them.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Arg>, Span)> {
        self.expect(Punct::LParen, "and arguments")?;
        let mut args = Vec::new();
        while !self.at(Punct::RParen) {
            let start = self.peek().span;
            let name = if Self::is_name(self.peek()) && self.peek_at(1).is(Punct::Assign) {
                let name = self.name("the name of a parameter")?;
                self.advance();
                Some(name)
            } else {
                None
            };
            let value = self.expression()?;
            args.push(Arg { span: start.to(self.previous().span), name, value });
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        let close = self.expect(Punct::RParen, "or `,` after an argument")?;
        Ok((args, close.span))
    }
}
