//! Declarations of data types: headers, structs, enumerations, errors and match kinds.

use super::scope::Meaning;
use super::{Parsed, Parser, Reported};
use crate::preprocess::Punct;
use crate::source::Span;
use crate::syntax::ast::{Annotation, DeclId, DeclKind, EnumDecl, FieldsDecl, Name};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `header name { ... }`, `struct name { ... }` or `header_union name { ... }`.
    pub(super) fn record(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let token = self.advance();
        let keyword = Self::keyword_of(token);
        let (what, field) = match keyword {
            Some(Keyword::Header) => ("the name of the header", "a field of the header"),
            Some(Keyword::Struct) => ("the name of the struct", "a field of the struct"),
            _ => {
                let help = "put the headers into a struct; a parser state extracts the one that is there";
                self.unsupported(token.span, "`header_union`", help);
                ("the name of the header_union", "a field of the header_union")
            }
        };
        let name = self.name(what)?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let fields = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let fields = parser.fields(field)?;
            Ok(FieldsDecl { type_params, fields })
        })?;
        let kind = match keyword {
            Some(Keyword::Header) => DeclKind::Header(fields),
            Some(Keyword::Struct) => DeclKind::Struct(fields),
            _ => DeclKind::Invalid,
        };
        Ok(self.complete(decl, token.span, annotations, kind))
    }

    fn fields(&mut self, what: &str) -> Parsed<Vec<DeclId>> {
        self.expect(Punct::LBrace, "and fields")?;
        let mut fields = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match self.field(what) {
                Ok(field) => fields.push(field),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        self.expect(Punct::RBrace, "after the fields")?;
        // A semicolon after the block has no meaning, and authors of C write one.
        self.accept(Punct::Semicolon);
        Ok(fields)
    }

    fn field(&mut self, what: &str) -> Parsed<DeclId> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let of = self.type_ref()?;
        let name = self.name(what)?;
        let field = self.declare(name, start, annotations, DeclKind::Field { of });
        self.semicolon("after the field")?;
        Ok(field)
    }

    /// Parses `enum name { ... }` or `enum bit<8> name { ... }`.
    pub(super) fn enumeration(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let is_plain = Self::is_name(self.peek()) && self.peek_at(1).is(Punct::LBrace);
        let of = if is_plain { None } else { Some(self.type_ref()?) };
        let name = self.name("the name of the enumeration")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let members = self.inside(decl, Self::members)?;
        Ok(self.complete(decl, start, annotations, DeclKind::Enum(EnumDecl { of, members })))
    }

    /// Parses `error { ... }` or `match_kind { ... }`.
    pub(super) fn word_list(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let token = self.advance();
        let decl = self.reserve(Name { symbol: token.symbol, span: token.span });
        let members = self.inside(decl, Self::members)?;
        let kind = match Self::keyword_of(token) {
            Some(Keyword::Error) => DeclKind::Error { members },
            _ => DeclKind::MatchKind { members },
        };
        Ok(self.complete(decl, token.span, annotations, kind))
    }

    /// Parses `{ a, b = 1 }`.
    fn members(&mut self) -> Parsed<Vec<DeclId>> {
        self.expect(Punct::LBrace, "and members")?;
        let mut members = Vec::new();
        while !self.at_block_end() {
            let annotations = self.annotations()?;
            let name = self.name("the name of a member")?;
            let value = if self.accept(Punct::Assign) { Some(self.expression()?) } else { None };
            members.push(self.declare(name, name.span, annotations, DeclKind::Member { value }));
            if !self.accept(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::RBrace, "or `,` after a member")?;
        self.accept(Punct::Semicolon);
        Ok(members)
    }

    /// Parses `typedef type name;` or `type type name;`.
    pub(super) fn type_alias(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let token = self.advance();
        let of = self.type_ref()?;
        let name = self.name("the name of the new type")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let is_typedef = Self::keyword_of(token) == Some(Keyword::Typedef);
        let kind = if is_typedef { DeclKind::Typedef { of } } else { DeclKind::Newtype { of } };
        let decl = self.declare(name, token.span, annotations, kind);
        self.semicolon("after the type")?;
        Ok(decl)
    }

    /// Parses `const type name = value;`.
    pub(super) fn constant(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start: Span = self.advance().span;
        let of = self.type_ref()?;
        let name = self.name("the name of the constant")?;
        self.expect(Punct::Assign, "and the value of the constant")?;
        let value = self.expression()?;
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.declare(name, start, annotations, DeclKind::Const { of, value });
        self.semicolon("after the constant")?;
        Ok(decl)
    }

    /// Returns true at the `}` of a block, at the end of the program, and before a declaration that belongs to the top level, so
    /// that a missing `}` is reported near its place.
    pub(super) fn at_block_end(&self) -> bool {
        let token = self.peek();
        token.is(Punct::RBrace)
            || token.kind == crate::preprocess::TokenKind::End
            || (token.flags.line_start && self.begins_top_level())
    }
}
