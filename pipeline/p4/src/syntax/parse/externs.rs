//! Externs, functions and packages.

use super::scope::Meaning;
use super::{Parsed, Parser, Reported};
use crate::preprocess::{Punct, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{Annotation, DeclId, DeclKind, ExternDecl, FunctionDecl, Name, PackageDecl, TypeId};
use crate::syntax::keyword::Keyword;

/// Where the body of a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    /// The architecture has it.
    None,
    /// Instances of the extern have it.
    Abstract,
    /// After the parameters.
    Here,
}

impl Parser<'_> {
    /// Parses `extern name { ... }` or `extern result function(...);`.
    pub(super) fn external(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        if !self.begins_extern_object() {
            let function = self.function(start, annotations, Body::None)?;
            self.semicolon("after the extern function")?;
            return Ok(function);
        }
        let name = self.name("the name of the extern")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let object = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let mut object = ExternDecl { type_params, constructors: Vec::new(), methods: Vec::new() };
            if !parser.accept(Punct::Semicolon) {
                parser.extern_body(name, &mut object)?;
            }
            Ok(object)
        })?;
        Ok(self.complete(decl, start, annotations, DeclKind::Extern(object)))
    }

    /// Returns true if `{` or `;` follows the name and its type parameters; a function has a result before its name.
    fn begins_extern_object(&self) -> bool {
        let mut after = 1;
        if self.peek_at(after).is(Punct::Lt) {
            while matches!(
                self.peek_at(after).kind,
                TokenKind::Word | TokenKind::Punct(Punct::Lt | Punct::Comma)
            ) {
                after += 1;
            }
            after += 1;
        }
        Self::is_name(self.peek())
            && matches!(self.peek_at(after).kind, TokenKind::Punct(Punct::LBrace | Punct::Semicolon))
    }

    fn extern_body(&mut self, name: Name, object: &mut ExternDecl) -> Parsed<()> {
        self.expect(Punct::LBrace, "and the methods of the extern")?;
        while !self.at_block_end() {
            let before = self.next;
            if self.method(name, object).is_err() {
                self.recover_in_block(before);
            }
        }
        self.expect(Punct::RBrace, "after the methods")?;
        self.accept(Punct::Semicolon);
        Ok(())
    }

    fn method(&mut self, name: Name, object: &mut ExternDecl) -> Parsed<()> {
        let annotations = self.annotations()?;
        let start = self.peek();
        if start.kind == TokenKind::Word && start.symbol == name.symbol && self.peek_at(1).is(Punct::LParen) {
            self.advance();
            let constructor = self.reserve(Name { symbol: start.symbol, span: start.span });
            let params = self.inside(constructor, Self::params)?;
            self.complete(constructor, start.span, annotations, DeclKind::Constructor { params });
            object.constructors.push(constructor);
            return self.semicolon("after the constructor");
        }
        let body = if self.accept_keyword(Keyword::Abstract) { Body::Abstract } else { Body::None };
        let method = self.function(start.span, annotations, body)?;
        object.methods.push(method);
        self.semicolon("after the method")
    }

    /// Parses `result name<T>(...)`, without a body.
    fn function(&mut self, start: Span, annotations: Vec<Annotation>, body: Body) -> Parsed<DeclId> {
        let result = self.type_ref()?;
        let name = self.name("the name of the function")?;
        self.function_after_name(name, result, start, annotations, body)
    }

    /// Parses a function after its result and name: `<T>(...)`, and the body if it has one.
    pub(super) fn function_after_name(
        &mut self,
        name: Name,
        result: TypeId,
        start: Span,
        annotations: Vec<Annotation>,
        body: Body,
    ) -> Parsed<DeclId> {
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.reserve(name);
        let function = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let params = parser.params()?;
            let is_abstract = body == Body::Abstract;
            let body = if body == Body::Here { Some(parser.block(Vec::new())?) } else { None };
            Ok(FunctionDecl { result, type_params, params, is_abstract, body })
        })?;
        Ok(self.complete(decl, start, annotations, DeclKind::Function(function)))
    }

    /// Parses `{ ... }` after an instance: implementations of abstract methods, and instances.
    pub(super) fn initializer(&mut self) -> Parsed<Vec<DeclId>> {
        self.expect(Punct::LBrace, "and the implementation of the abstract methods")?;
        let mut list = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match self.implementation() {
                Ok(decl) => list.push(decl),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        self.expect(Punct::RBrace, "after the implementation")?;
        Ok(list)
    }

    fn implementation(&mut self) -> Parsed<DeclId> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let of = self.type_ref()?;
        if self.at(Punct::LParen) {
            return self.instance(of, start, annotations);
        }
        let name = self.name("the name of the method")?;
        self.function_after_name(name, of, start, annotations, Body::Here)
    }

    /// Parses `package name<T>(...);`.
    pub(super) fn package(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the package")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let package = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let params = parser.params()?;
            Ok(PackageDecl { type_params, params })
        })?;
        self.complete(decl, start, annotations, DeclKind::Package(package));
        self.semicolon("after the package")?;
        Ok(decl)
    }
}
