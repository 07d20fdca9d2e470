//! Parsers and controls.

use super::suggestion::nearest;
use super::ty::{Ty, TyKind};
use super::{Checker, Context};
use crate::diagnostic::{Class, Diagnostic};
use crate::syntax::ast::{ControlDecl, DeclId, DeclKind, Name, ParserDecl, StateDecl, Transition};

impl Checker<'_> {
    /// Checks a parser or control, or the declaration of the type of one.
    pub(super) fn block(&mut self, id: DeclId) -> Ty {
        self.blocks.push(id);
        self.scopes.enter();
        let ty = match &self.ast.decls[id].kind {
            DeclKind::Parser(parser) => {
                self.block_head(&parser.type_params, &parser.params, &parser.constructor_params);
                if parser.has_body {
                    self.parser_body(id, parser);
                }
                TyKind::Parser(id, self.own_args(id))
            }
            DeclKind::Control(control) => {
                self.block_head(&control.type_params, &control.params, &control.constructor_params);
                self.control_body(control);
                TyKind::Control(id, self.own_args(id))
            }
            _ => TyKind::Unknown,
        };
        self.scopes.leave();
        self.blocks.pop();
        self.out.types.make(ty)
    }

    fn block_head(&mut self, type_params: &[DeclId], params: &[DeclId], constructor_params: &[DeclId]) {
        self.type_params(type_params);
        self.params(params);
        self.params(constructor_params);
        self.static_params.extend(constructor_params);
        // Objects such as `packet_in` are known when the program is compiled.
        for &param in params {
            if matches!(self.out.types.kind(self.out.decl_types[param]), TyKind::Extern(..)) {
                self.static_params.insert(param);
            }
        }
    }

    fn control_body(&mut self, control: &ControlDecl) {
        let Some(apply) = &control.apply else { return };
        self.scopes.enter();
        self.context = Context::Control;
        for &local in &control.locals {
            self.declare(local);
        }
        self.statements(apply);
        self.context = Context::Top;
        self.scopes.leave();
    }

    fn parser_body(&mut self, id: DeclId, parser: &ParserDecl) {
        self.scopes.enter();
        self.context = Context::Parser;
        for &local in &parser.locals {
            self.declare(local);
        }
        for &state in &parser.states {
            let name = self.ast.decls[state].name;
            if let Some(first) = self.out.states.insert((id, name.symbol), state) {
                self.declared_twice(state, first);
            } else if matches!(self.ast.text(name), "accept" | "reject") {
                let message = format!("state `{}` is declared; every parser has it", self.ast.text(name));
                self.report(Diagnostic::error(Class::Name, name.span, message).help("rename the state"));
            }
        }
        for &state in &parser.states {
            if let DeclKind::State(decl) = &self.ast.decls[state].kind {
                self.annotations(state);
                self.state(id, decl);
            }
        }
        if !parser.states.iter().any(|&state| self.name(state) == "start") {
            let name = self.ast.decls[id].name;
            let message = format!("parser `{}` has no state `start`", self.ast.text(name));
            self.report(
                Diagnostic::error(Class::Name, name.span, message).help("name the first state `start`"),
            );
        }
        self.context = Context::Top;
        self.scopes.leave();
    }

    fn state(&mut self, parser: DeclId, state: &StateDecl) {
        self.scopes.enter();
        for statement in &state.statements {
            self.statement(statement);
        }
        match &state.transition {
            Some(Transition::Direct(next)) => self.next_state(parser, *next),
            Some(Transition::Select(select)) => {
                self.select(select);
                for case in &select.cases {
                    self.next_state(parser, case.next);
                }
            }
            None => {}
        }
        self.scopes.leave();
    }

    fn next_state(&mut self, parser: DeclId, next: Name) {
        let text = self.ast.text(next);
        if matches!(text, "accept" | "reject") || self.out.states.contains_key(&(parser, next.symbol)) {
            return;
        }
        let DeclKind::Parser(decl) = &self.ast.decls[parser].kind else { return };
        let names = decl.states.iter().map(|&state| self.name(state)).chain(["accept", "reject"]);
        let near = nearest(text, names);
        let message = format!("parser `{}` has no state `{text}`", self.name(parser));
        self.report(Diagnostic::error(Class::Name, next.span, message).help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "declare the state, or go to `accept` or `reject`".to_owned(),
        }));
    }
}
