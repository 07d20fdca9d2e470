//! Declarations of the top level, and instances, variables and actions.

use super::externs::Body;
use super::scope::Meaning;
use super::{Parsed, Parser};
use crate::diagnostic::{Class, Diagnostic};
use crate::preprocess::{Punct, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{ActionDecl, Annotation, DeclId, DeclKind, Instance, TypeId};
use crate::syntax::keyword::Keyword;

/// Words that begin declarations of P4_14.
const P4_14: [&str; 8] = [
    "header_type",
    "field_list",
    "field_list_calculation",
    "calculated_field",
    "metadata",
    "primitive_action",
    "blackbox",
    "action_profile",
];

impl Parser<'_> {
    /// Parses a declaration of the top level; `None` for a semicolon.
    pub(super) fn declaration(&mut self) -> Parsed<Option<DeclId>> {
        if self.accept(Punct::Semicolon) {
            return Ok(None);
        }
        self.refuse_p4_14()?;
        let annotations = self.annotations()?;
        let decl = match Self::keyword_of(self.peek()) {
            Some(Keyword::Const) => self.constant(annotations),
            Some(Keyword::Typedef) => self.type_alias(annotations),
            Some(Keyword::Type) if !self.peek_at(1).is(Punct::Dot) => self.type_alias(annotations),
            Some(Keyword::Enum) => self.enumeration(annotations),
            Some(Keyword::Error) if self.peek_at(1).is(Punct::LBrace) => self.word_list(annotations),
            Some(Keyword::MatchKind) if self.peek_at(1).is(Punct::LBrace) => self.word_list(annotations),
            Some(Keyword::Header | Keyword::Struct | Keyword::HeaderUnion) => self.record(annotations),
            Some(Keyword::Extern) => self.external(annotations),
            Some(Keyword::Parser) => self.parser(annotations),
            Some(Keyword::Control) => self.control(annotations),
            Some(Keyword::Package) => self.package(annotations),
            Some(Keyword::Action) => self.action(annotations),
            Some(Keyword::Table) => {
                Err(self
                    .expected("a declaration", "a table is declared in a control, before its apply block"))
            }
            Some(Keyword::ValueSet) => {
                Err(self.expected("a declaration", "a value set is declared in a parser"))
            }
            _ if self.at_type() => self.top_level_object(annotations),
            _ => {
                let help = "declarations are const, typedef, type, enum, error, header, struct, extern, parser, control, action, \
                            package, and instances `Type(...) name;`";
                Err(self.expected("a declaration", help))
            }
        };
        decl.map(Some)
    }

    fn at_type(&self) -> bool {
        self.begins_type(0) || Self::is_name(self.peek()) || self.at(Punct::Dot)
    }

    /// Refuses a program of P4_14 and ends parsing.
    fn refuse_p4_14(&mut self) -> Parsed<()> {
        let token = self.peek();
        let text = self.ast.names.text(token.symbol);
        if token.kind != TokenKind::Word || !P4_14.contains(&text) || self.peek_at(1).kind != TokenKind::Word
        {
            return Ok(());
        }
        let message = format!("`{text}` is P4_14, and Sluice reads P4_16 for the architectures TNA and T2NA");
        let help = "translate the program to P4_16 with `p4test --std p4-14 --pp out.p4`, then write its blocks for tna.p4";
        self.diagnostics.push(Diagnostic::error(Class::Unsupported, token.span, message).help(help));
        self.next = self.tokens.len() - 1;
        self.reported_at = Some(self.next);
        Err(super::Reported)
    }

    /// Parses an instance. A function of the program is refused.
    fn top_level_object(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.peek().span;
        let of = self.type_ref()?;
        if self.at(Punct::LParen) {
            return self.instance(of, start, annotations);
        }
        let name = self.name("the name of the instance, or its arguments in parentheses")?;
        if matches!(self.peek().kind, TokenKind::Punct(Punct::LParen | Punct::Lt)) {
            let help = "write an action, or the statements where the function is called";
            self.unsupported(name.span, "functions of the program", help);
            return self.function_after_name(name, of, start, annotations, Body::Here);
        }
        let message = format!("`{}` is a variable outside of a parser or control", self.ast.text(name));
        Err(self.report(
            name.span,
            message,
            "declare it in the parser or control that uses it, or write `const` before it",
        ))
    }

    /// Parses an instance after its type: `(args) name;` or `(args) name = { ... };`.
    pub(super) fn instance(
        &mut self,
        of: TypeId,
        start: Span,
        annotations: Vec<Annotation>,
    ) -> Parsed<DeclId> {
        let (args, _) = self.arguments()?;
        let name = self.name("the name of the instance")?;
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.reserve(name);
        let initializer =
            if self.accept(Punct::Assign) { Some(self.inside(decl, Self::initializer)?) } else { None };
        let kind = DeclKind::Instance(Instance { of, args, initializer });
        self.complete(decl, start, annotations, kind);
        self.semicolon("after the instance")?;
        Ok(decl)
    }

    /// Parses a variable or an instance inside a parser, control, state or block.
    pub(super) fn object(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.peek().span;
        let of = self.type_ref()?;
        if self.at(Punct::LParen) {
            return self.instance(of, start, annotations);
        }
        let name = self.name("the name of the variable, or the arguments of an instance")?;
        // p4c takes the sizes of a stack after the name as well.
        let of = self.stack_suffix(of)?;
        let value = if self.accept(Punct::Assign) { Some(self.expression()?) } else { None };
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.declare(name, start, annotations, DeclKind::Variable { of, value });
        self.semicolon("after the variable")?;
        Ok(decl)
    }

    /// Parses `action name(...) { ... }`.
    pub(super) fn action(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the action")?;
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.reserve(name);
        let action = self.inside(decl, |parser| {
            let params = parser.params()?;
            let body = parser.block(Vec::new())?;
            Ok(ActionDecl { params, body })
        })?;
        Ok(self.complete(decl, start, annotations, DeclKind::Action(action)))
    }
}
