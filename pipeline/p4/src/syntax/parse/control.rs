//! Controls.

use super::scope::Meaning;
use super::{Parsed, Parser};
use crate::preprocess::Punct;
use crate::syntax::ast::{Annotation, ControlDecl, DeclId, DeclKind};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `control name<T>(...);` or `control name(...)(...) { ... }`.
    pub(super) fn control(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the control")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let (data, has_body) = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let params = parser.params()?;
            let constructor_params = if parser.at(Punct::LParen) { parser.params()? } else { Vec::new() };
            let (locals, apply) = (Vec::new(), None);
            let mut data = ControlDecl { type_params, params, constructor_params, locals, apply };
            let has_body = parser.at(Punct::LBrace);
            if has_body {
                parser.control_body(&mut data)?;
            }
            Ok((data, has_body))
        })?;
        self.complete(decl, start, annotations, DeclKind::Control(data));
        if !has_body {
            self.semicolon("or `{` after the parameters of the control")?;
        }
        Ok(decl)
    }

    fn control_body(&mut self, data: &mut ControlDecl) -> Parsed<()> {
        self.advance();
        while !self.at_block_end() {
            let before = self.next;
            if self.control_element(data).is_err() {
                self.recover_in_block(before);
            }
        }
        if data.apply.is_none() {
            let help = "write `apply { ... }` at the end of the control";
            return Err(self.expected("the `apply` block of the control", help));
        }
        self.expect(Punct::RBrace, "after the `apply` block of the control").map(|_| ())
    }

    fn control_element(&mut self, data: &mut ControlDecl) -> Parsed<()> {
        if self.accept(Punct::Semicolon) {
            return Ok(());
        }
        let annotations = self.annotations()?;
        if data.apply.is_some() {
            let help = "declarations come before the `apply` block";
            return Err(self.expected("`}` after the `apply` block of the control", help));
        }
        match Self::keyword_of(self.peek()) {
            Some(Keyword::Apply) if self.peek_at(1).is(Punct::LBrace) => {
                self.advance();
                data.apply = Some(self.block(annotations)?);
            }
            Some(Keyword::Action) => data.locals.push(self.action(annotations)?),
            Some(Keyword::Table) => data.locals.push(self.table(annotations)?),
            Some(Keyword::Const) => data.locals.push(self.constant(annotations)?),
            _ if self.begins_type(0) || Self::is_name(self.peek()) => {
                data.locals.push(self.object(annotations)?)
            }
            _ => {
                let help =
                    "a control has constants, variables, instances, actions, tables and an `apply` block";
                return Err(self.expected("a declaration of the control or `apply`", help));
            }
        }
        Ok(())
    }
}
