//! Parameters and type parameters.

use super::scope::Meaning;
use super::{Parsed, Parser};
use crate::preprocess::{Punct, TokenKind};
use crate::syntax::ast::{DeclId, DeclKind, Direction, ParamDecl};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `<T, U>`, if it is there, and declares the names as types.
    pub(super) fn type_params(&mut self) -> Parsed<Vec<DeclId>> {
        let mut list = Vec::new();
        if !self.accept(Punct::Lt) {
            return Ok(list);
        }
        loop {
            let name = self.name("the name of a type parameter")?;
            self.scope.declare(name.symbol, Meaning::Type);
            list.push(self.declare(name, name.span, Vec::new(), DeclKind::TypeParam));
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.close_angle("or `,` after a type parameter")?;
        Ok(list)
    }

    /// Parses parameters in parentheses and declares their names.
    pub(super) fn params(&mut self) -> Parsed<Vec<DeclId>> {
        self.expect(Punct::LParen, "and parameters")?;
        let mut list = Vec::new();
        while !self.at(Punct::RParen) {
            list.push(self.param()?);
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RParen, "or `,` after a parameter")?;
        Ok(list)
    }

    fn param(&mut self) -> Parsed<DeclId> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let direction = match Self::keyword_of(self.peek()) {
            Some(Keyword::In) => Direction::In,
            Some(Keyword::Out) => Direction::Out,
            Some(Keyword::InOut) => Direction::InOut,
            _ => Direction::None,
        };
        if direction != Direction::None {
            self.advance();
        }
        let of = self.type_ref()?;
        if matches!(self.peek().kind, TokenKind::Punct(Punct::Comma | Punct::RParen)) {
            return Err(self.expected("the name of a parameter after its type", "write `bit<8> value`"));
        }
        let name = self.name("the name of a parameter")?;
        self.scope.declare(name.symbol, Meaning::Value);
        let default = if self.accept(Punct::Assign) { Some(self.expression()?) } else { None };
        let kind = DeclKind::Param(ParamDecl { direction, of, default });
        Ok(self.declare(name, start, annotations, kind))
    }
}
