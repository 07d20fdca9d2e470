//! The parser: recursive descent over the preprocessor's tokens.
//!
//! A name is a type or not by the declarations before it ([`Scope`](scope::Scope)), because `a < b > (c)` depends on it.
//! After a mistake, the parser skips to the next `;` or `}` (module `recover`), so that one run finds several mistakes.

mod annotation;
mod control;
mod cursor;
mod decl;
mod expr;
mod externs;
mod fields;
mod number;
mod operator;
mod params;
mod parser;
mod postfix;
mod recover;
mod scope;
mod stmt;
mod table;
mod types;
mod unsupported;

use super::ast::MAX_DEPTH;
use super::ast::{
    Annotation, Ast, Decl, DeclId, DeclKind, Expr, ExprId, ExprKind, Name, Type, TypeId, TypeKind,
};
use crate::diagnostic::{Class, Diagnostic, Diagnostics};
use crate::names::Names;
use crate::preprocess::{Token, TokenKind};
use crate::source::Span;
use scope::Scope;
use sluice_entity::EntityMap;

/// A mistake that is among the diagnostics.
pub(super) struct Reported;

/// The result of parsing a construct.
pub(super) type Parsed<T> = Result<T, Reported>;

/// Returns the tree of a program's tokens.
pub(crate) fn parse_tokens(tokens: Vec<Token>, names: Names, diagnostics: &mut Diagnostics) -> Ast {
    let mut parser = Parser {
        tokens,
        next: 0,
        ast: Ast { names, ..Ast::default() },
        heights: EntityMap::new(),
        diagnostics,
        scope: Scope::default(),
        parents: Vec::new(),
        depth: 0,
        reported_at: None,
    };
    parser.finish_tokens();
    parser.program();
    parser.ast
}

struct Parser<'d> {
    tokens: Vec<Token>,
    /// The index of the next token.
    next: usize,
    ast: Ast,
    /// The number of levels of each expression.
    heights: EntityMap<ExprId, u16>,
    diagnostics: &'d mut Diagnostics,
    scope: Scope,
    /// The declarations around the next token, the innermost last.
    parents: Vec<DeclId>,
    /// The number of declarations, statements, types and expressions around the next token.
    depth: usize,
    /// The token at which the last mistake was reported.
    reported_at: Option<usize>,
}

impl Parser<'_> {
    /// Adds the end of the program as the last token.
    fn finish_tokens(&mut self) {
        let span = self.tokens.last().map_or(Span::NONE, |token| token.span.at_end());
        let symbol = self.ast.names.intern("");
        self.tokens.push(Token { kind: TokenKind::End, flags: Default::default(), symbol, span });
    }

    /// Parses all declarations.
    fn program(&mut self) {
        while self.peek().kind != TokenKind::End && !self.diagnostics.is_full() {
            let (before, first) = (self.next, self.ast.decls.next_key());
            match self.declaration() {
                Ok(Some(decl)) => self.ast.top.push(decl),
                Ok(None) => {}
                Err(Reported) => {
                    // A declaration whose name is known stays declared.
                    if self.ast.decls.get(first).is_some_and(|decl| decl.parent.is_none()) {
                        self.ast.top.push(first);
                    }
                    self.recover_declaration(before);
                }
            }
        }
    }

    /// Parses something that is one level deeper.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    /// Reports a program that is nested too deeply, and ends parsing.
    fn too_deep(&mut self) -> Reported {
        let span = self.peek().span;
        if self.next + 1 < self.tokens.len() {
            let message = format!(
                "more than {MAX_DEPTH} parentheses, operators, blocks or types are inside each other"
            );
            let help = "split the expression or the block; name parts of it";
            self.diagnostics.push(Diagnostic::error(Class::Limit, span, message).help(help));
        }
        self.next = self.tokens.len() - 1;
        self.reported_at = Some(self.next);
        Reported
    }

    /// Adds an expression to the tree.
    fn expr(&mut self, span: Span, kind: ExprKind) -> Parsed<ExprId> {
        let below = kind.parts().map(|part| self.heights[part]).max().unwrap_or(0);
        if usize::from(below) >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        self.heights.push(below + 1);
        Ok(self.ast.exprs.push(Expr { span, kind }))
    }

    fn type_use(&mut self, span: Span, kind: TypeKind) -> TypeId {
        self.ast.types.push(Type { span, kind })
    }

    /// Reserves a declaration, whose parts are declared before it is complete.
    fn reserve(&mut self, name: Name) -> DeclId {
        let parent = self.parents.last().copied();
        let span = name.span;
        self.ast.decls.push(Decl { span, name, parent, annotations: Vec::new(), kind: DeclKind::Invalid })
    }

    /// Parses the parts of a declaration: declarations in `parse` have it as their parent.
    fn inside<T>(&mut self, decl: DeclId, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.parents.push(decl);
        self.scope.enter();
        let result = self.deeper(parse);
        self.scope.leave();
        self.parents.pop();
        result
    }

    /// Completes a declaration that begins at `start` and ends with the last token.
    fn complete(
        &mut self,
        decl: DeclId,
        start: Span,
        annotations: Vec<Annotation>,
        kind: DeclKind,
    ) -> DeclId {
        let span = start.to(self.previous().span);
        let data = &mut self.ast.decls[decl];
        (data.span, data.annotations, data.kind) = (span, annotations, kind);
        decl
    }

    /// Adds a declaration that has no declarations inside.
    fn declare(&mut self, name: Name, start: Span, annotations: Vec<Annotation>, kind: DeclKind) -> DeclId {
        let decl = self.reserve(name);
        self.complete(decl, start, annotations, kind)
    }
}
