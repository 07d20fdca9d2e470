//! Parsers: states, transitions and value sets.

use super::scope::Meaning;
use super::{Parsed, Parser, Reported};
use crate::preprocess::{Punct, TokenKind};
use crate::syntax::ast::{
    Annotation, DeclId, DeclKind, ExprId, ExprKind, ParserDecl, Select, SelectCase, StateDecl, Transition,
};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `parser name<T>(...);` or `parser name(...)(...) { ... }`.
    pub(super) fn parser(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the parser")?;
        self.scope.declare(name.symbol, Meaning::Type);
        let decl = self.reserve(name);
        let data = self.inside(decl, |parser| {
            let type_params = parser.type_params()?;
            let params = parser.params()?;
            let constructor_params = if parser.at(Punct::LParen) { parser.params()? } else { Vec::new() };
            let has_body = parser.at(Punct::LBrace);
            let (locals, states) = (Vec::new(), Vec::new());
            let mut data = ParserDecl { type_params, params, constructor_params, has_body, locals, states };
            if has_body {
                parser.parser_body(&mut data)?;
            }
            Ok(data)
        })?;
        let has_body = data.has_body;
        self.complete(decl, start, annotations, DeclKind::Parser(data));
        if !has_body {
            self.semicolon("or `{` after the parameters of the parser")?;
        }
        Ok(decl)
    }

    fn parser_body(&mut self, data: &mut ParserDecl) -> Parsed<()> {
        self.advance();
        while !self.at_block_end() {
            let before = self.next;
            if self.parser_element(data).is_err() {
                self.recover_in_block(before);
            }
        }
        self.expect(Punct::RBrace, "after the states of the parser").map(|_| ())
    }

    fn parser_element(&mut self, data: &mut ParserDecl) -> Parsed<()> {
        if self.accept(Punct::Semicolon) {
            return Ok(());
        }
        let annotations = self.annotations()?;
        match Self::keyword_of(self.peek()) {
            Some(Keyword::State) if Self::is_name(self.peek_at(1)) && self.peek_at(2).is(Punct::LBrace) => {
                data.states.push(self.state(annotations)?);
            }
            Some(Keyword::Const) => data.locals.push(self.constant(annotations)?),
            Some(Keyword::ValueSet) => data.locals.push(self.value_set(annotations)?),
            Some(Keyword::Action | Keyword::Table) => {
                return Err(self.expected(
                    "a state or a declaration of the parser",
                    "actions and tables are declared in controls",
                ));
            }
            _ if self.begins_type(0) || Self::is_name(self.peek()) => {
                data.locals.push(self.object(annotations)?)
            }
            _ => {
                return Err(
                    self.expected("a state or a declaration of the parser", "write `state NAME { ... }`")
                );
            }
        }
        Ok(())
    }

    /// Parses `value_set<type>(size) name;`.
    fn value_set(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        self.expect(Punct::Lt, "and the type of the value set's elements")?;
        let of = self.type_ref()?;
        self.close_angle("after the type of the value set's elements")?;
        self.expect(Punct::LParen, "and the size of the value set")?;
        let size = self.expression()?;
        self.expect(Punct::RParen, "after the size of the value set")?;
        let name = self.name("the name of the value set")?;
        self.scope.declare(name.symbol, Meaning::Value);
        let decl = self.declare(name, start, annotations, DeclKind::ValueSet { of, size });
        self.semicolon("after the value set")?;
        Ok(decl)
    }

    fn state(&mut self, annotations: Vec<Annotation>) -> Parsed<DeclId> {
        let start = self.advance().span;
        let name = self.name("the name of the state")?;
        let decl = self.reserve(name);
        let state = self.inside(decl, Self::state_body)?;
        Ok(self.complete(decl, start, annotations, DeclKind::State(state)))
    }

    fn state_body(&mut self) -> Parsed<StateDecl> {
        self.expect(Punct::LBrace, "and the statements of the state")?;
        let mut state = StateDecl { statements: Vec::new(), transition: None };
        while !self.at_block_end() {
            let before = self.next;
            if self.state_element(&mut state).is_err() {
                self.recover_in_block(before);
            }
        }
        self.expect(Punct::RBrace, "after the state")?;
        Ok(state)
    }

    fn state_element(&mut self, state: &mut StateDecl) -> Parsed<()> {
        if state.transition.is_some() {
            return Err(
                self.expected("`}` after the transition of the state", "a state ends with its transition")
            );
        }
        if !self.at_keyword(Keyword::Transition) {
            state.statements.push(self.statement()?);
            return Ok(());
        }
        self.advance();
        if self.at_keyword(Keyword::Select) {
            state.transition = Some(Transition::Select(self.select()?));
            self.accept(Punct::Semicolon);
            return Ok(());
        }
        let next = self.name("the next state, or `select`")?;
        state.transition = Some(Transition::Direct(next));
        self.semicolon("after the next state")
    }

    fn select(&mut self) -> Parsed<Select> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "and the keys of the select")?;
        let mut keys = vec![self.expression()?];
        while self.accept(Punct::Comma) {
            keys.push(self.expression()?);
        }
        self.expect(Punct::RParen, "or `,` after a key of the select")?;
        self.expect(Punct::LBrace, "and the cases of the select")?;
        let mut cases = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match self.select_case() {
                Ok(case) => cases.push(case),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        let close = self.expect(Punct::RBrace, "after the cases of the select")?;
        Ok(Select { span: start.to(close.span), keys, cases })
    }

    fn select_case(&mut self) -> Parsed<SelectCase> {
        let start = self.peek().span;
        let keys = self.keyset()?;
        self.expect(Punct::Colon, "and the next state")?;
        let next = self.name("the next state")?;
        let case = SelectCase { span: start.to(next.span), keys, next };
        self.semicolon("after the next state")?;
        Ok(case)
    }

    /// Parses the values of a case or an entry: one, or several in parentheses.
    pub(super) fn keyset(&mut self) -> Parsed<Vec<ExprId>> {
        if !self.begins_keyset_tuple() {
            return Ok(vec![self.key_value()?]);
        }
        self.advance();
        let mut keys = vec![self.key_value()?];
        while self.accept(Punct::Comma) {
            keys.push(self.key_value()?);
        }
        self.expect(Punct::RParen, "or `,` after a value of the key")?;
        Ok(keys)
    }

    /// Returns true if the next parenthesis is closed right before a `:`, so that it is around the values of several keys.
    fn begins_keyset_tuple(&self) -> bool {
        if !self.at(Punct::LParen) {
            return false;
        }
        let mut depth = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(self.next) {
            match token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
                TokenKind::Punct(Punct::Semicolon) | TokenKind::End => return false,
                _ => {}
            }
            if depth == 0 {
                return self.tokens.get(index + 1).is_some_and(|next| next.is(Punct::Colon));
            }
        }
        false
    }

    /// Parses a value of a key: an expression, `value &&& mask`, `first .. last`, `default` or `_`.
    fn key_value(&mut self) -> Parsed<ExprId> {
        let first = self.expression()?;
        let start = self.ast.exprs[first].span;
        let second = if self.accept(Punct::Mask) {
            let mask = self.expression()?;
            ExprKind::Mask { value: first, mask }
        } else if self.accept(Punct::Range) {
            let last = self.expression()?;
            ExprKind::Range { first, last }
        } else {
            return Ok(first);
        };
        self.expr(start.to(self.previous().span), second)
    }
}
