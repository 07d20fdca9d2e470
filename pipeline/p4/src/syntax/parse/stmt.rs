//! Statements.

use super::operator::compound_assignment;
use super::{Parsed, Parser, Reported};
use crate::preprocess::{Punct, TokenKind};
use crate::source::Span;
use crate::syntax::ast::{Annotation, Block, ExprId, ExprKind, Stmt, StmtKind, SwitchCase, SwitchLabel};
use crate::syntax::keyword::Keyword;

impl Parser<'_> {
    /// Parses `{ ... }`.
    pub(super) fn block(&mut self, annotations: Vec<Annotation>) -> Parsed<Block> {
        let open = self.expect(Punct::LBrace, "and statements")?;
        self.scope.enter();
        let mut statements = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        self.scope.leave();
        let close = self.expect(Punct::RBrace, "after the statements")?;
        Ok(Block { span: open.span.to(close.span), annotations, statements })
    }

    /// Parses a statement, or a declaration between statements.
    pub(super) fn statement(&mut self) -> Parsed<Stmt> {
        self.deeper(|parser| {
            let start = parser.peek().span;
            let kind = parser.statement_kind()?;
            Ok(Stmt { span: start.to(parser.previous().span), kind })
        })
    }

    fn statement_kind(&mut self) -> Parsed<StmtKind> {
        let annotations = self.annotations()?;
        match self.peek().kind {
            TokenKind::Punct(Punct::LBrace) => return Ok(StmtKind::Block(self.block(annotations)?)),
            TokenKind::Punct(Punct::Semicolon) => {
                self.advance();
                return Ok(StmtKind::Empty);
            }
            _ => {}
        }
        match Self::keyword_of(self.peek()) {
            Some(Keyword::If) => self.conditional(),
            Some(Keyword::Switch) => self.switch(),
            Some(Keyword::Const) => Ok(StmtKind::Decl(self.constant(annotations)?)),
            Some(Keyword::Exit) => {
                self.advance();
                self.semicolon("after `exit`")?;
                Ok(StmtKind::Exit)
            }
            Some(Keyword::Return) => {
                self.advance();
                let value = if self.at(Punct::Semicolon) { None } else { Some(self.expression()?) };
                self.semicolon("after `return`")?;
                Ok(StmtKind::Return(value))
            }
            Some(Keyword::For) if self.peek_at(1).is(Punct::LParen) => self.refuse_for(),
            Some(Keyword::Break | Keyword::Continue) if self.peek_at(1).is(Punct::Semicolon) => {
                self.unsupported(
                    self.peek().span,
                    "`break` and `continue`",
                    "write the statements without loops",
                );
                self.advance();
                self.advance();
                Ok(StmtKind::Empty)
            }
            Some(Keyword::Transition) => Err(self.expected(
                "a statement",
                "a transition is the last part of a parser state, outside of blocks",
            )),
            Some(Keyword::Action | Keyword::Table) => Err(self.expected(
                "a statement",
                "actions and tables are declared in a control, before its apply block",
            )),
            _ if self.begins_object() => Ok(StmtKind::Decl(self.object(annotations)?)),
            _ => self.assignment_or_call(),
        }
    }

    /// Returns true if the next tokens are a type and the name of a variable, or an instance.
    fn begins_object(&self) -> bool {
        if self.is_undeclared_type() {
            return true;
        }
        if !self.begins_type(0) {
            return false;
        }
        let name = if self.at(Punct::Dot) { 1 } else { 0 };
        if Self::keyword_of(self.peek_at(name)).is_some_and(|word| !word.may_be_name()) {
            return !self.peek_at(name + 1).is(Punct::Dot);
        }
        let after = self.type_args_ahead(name + 1).unwrap_or(name + 1);
        match self.peek_at(after).kind {
            TokenKind::Word | TokenKind::Punct(Punct::LBracket) => true,
            TokenKind::Punct(Punct::LParen) => self.name_after_parentheses(after),
            _ => false,
        }
    }

    /// Returns true if a name follows the parentheses that begin `ahead` tokens from here.
    fn name_after_parentheses(&self, ahead: usize) -> bool {
        let mut depth = 0_usize;
        for (index, token) in self.tokens.iter().enumerate().skip(self.next + ahead) {
            match token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth = depth.saturating_sub(1),
                TokenKind::Punct(Punct::Semicolon) | TokenKind::End => return false,
                _ => {}
            }
            if depth == 0 {
                return self.tokens.get(index + 1).is_some_and(|&next| Self::is_name(next));
            }
        }
        false
    }

    fn assignment_or_call(&mut self) -> Parsed<StmtKind> {
        let before = self.next;
        let target = self.expression()?;
        if self.accept(Punct::Assign) {
            let value = self.expression()?;
            self.semicolon("after the assignment")?;
            return Ok(StmtKind::Assign { target, value });
        }
        if let Some(text) = compound_assignment(self.peek()) {
            let help = format!("write out the operation: a = a {} b", text.trim_end_matches('='));
            self.unsupported(self.peek().span, &format!("the assignment `{text}`"), &help);
            self.advance();
            let value = self.expression()?;
            self.semicolon("after the assignment")?;
            return Ok(StmtKind::Assign { target, value });
        }
        if self.is_call(target) {
            self.semicolon("after the call")?;
            return Ok(StmtKind::Call(target));
        }
        let span = self.ast.exprs[target].span;
        if self.at(Punct::Semicolon) {
            let message = "the statement has no effect: it is neither an assignment nor a call".to_owned();
            self.report(span, message, "write `name = value;` or `object.method(...);`");
            self.reported_at = None;
            self.advance();
            return Ok(StmtKind::Empty);
        }
        if Self::is_name(self.peek()) && self.next == before + 1 {
            return Err(self.expected(
                "`=`, `.` or `(`",
                "is the type before the name declared, and is its file included?",
            ));
        }
        Err(self.expected("`=` or `(` after the start of the statement", ""))
    }

    fn is_call(&self, expr: ExprId) -> bool {
        matches!(self.ast.exprs[expr].kind, ExprKind::Call { .. })
    }

    fn conditional(&mut self) -> Parsed<StmtKind> {
        self.advance();
        if !self.at(Punct::LParen) {
            return Err(self.expected("`(` and the condition of `if`", "write `if (condition) { ... }`"));
        }
        self.advance();
        let condition = self.expression()?;
        self.expect(Punct::RParen, "after the condition of `if`")?;
        let then = Box::new(self.branch()?);
        let otherwise =
            if self.accept_keyword(Keyword::Else) { Some(Box::new(self.branch()?)) } else { None };
        Ok(StmtKind::If { condition, then, otherwise })
    }

    /// Parses the statement after a condition or `else`.
    fn branch(&mut self) -> Parsed<Stmt> {
        let statement = self.statement()?;
        if let StmtKind::Decl(_) = statement.kind {
            let message = "a declaration is the only statement of `if` or `else`".to_owned();
            return Err(self.report(
                statement.span,
                message,
                "write it in a block with the statements that use it",
            ));
        }
        Ok(statement)
    }

    fn switch(&mut self) -> Parsed<StmtKind> {
        let start = self.advance().span;
        self.expect(Punct::LParen, "and the value of `switch`")?;
        let value = self.expression()?;
        self.expect(Punct::RParen, "after the value of `switch`")?;
        self.check_switch_value(value, start);
        self.expect(Punct::LBrace, "and the cases of `switch`")?;
        let mut cases = Vec::new();
        while !self.at_block_end() {
            let before = self.next;
            match self.switch_case() {
                Ok(case) => cases.push(case),
                Err(Reported) => self.recover_in_block(before),
            }
        }
        self.expect(Punct::RBrace, "after the cases of `switch`")?;
        Ok(StmtKind::Switch { value, cases })
    }

    /// Refuses a `switch` on anything but the action that a table ran.
    fn check_switch_value(&mut self, value: ExprId, start: Span) {
        let is_action_run = match &self.ast.exprs[value].kind {
            ExprKind::Member { member, .. } => self.ast.text(*member) == "action_run",
            _ => false,
        };
        if !is_action_run {
            let at = start.to(self.ast.exprs[value].span);
            self.unsupported(
                at,
                "`switch` on a value",
                "write `if` and `else if`, or a table with constant entries",
            );
        }
    }

    fn switch_case(&mut self) -> Parsed<SwitchCase> {
        let start = self.peek().span;
        let label = if self.accept_keyword(Keyword::Default) {
            SwitchLabel::Default(start)
        } else {
            SwitchLabel::Value(self.expression()?)
        };
        self.expect(Punct::Colon, "after the label of the case")?;
        let body = if self.at(Punct::LBrace) || self.at(Punct::At) {
            let annotations = self.annotations()?;
            Some(self.block(annotations)?)
        } else {
            None
        };
        Ok(SwitchCase { span: start.to(self.previous().span), label, body })
    }

    fn refuse_for(&mut self) -> Parsed<StmtKind> {
        self.unsupported(self.peek().span, "`for` loops", "write the statements once for each round");
        self.advance();
        self.skip_parentheses();
        self.statement()?;
        Ok(StmtKind::Empty)
    }

    /// Skips tokens from `(` to its `)`.
    fn skip_parentheses(&mut self) {
        let mut depth = 0_usize;
        loop {
            let token = self.advance();
            match token.kind {
                TokenKind::Punct(Punct::LParen) => depth += 1,
                TokenKind::Punct(Punct::RParen) => depth -= 1,
                TokenKind::Punct(Punct::LBrace | Punct::RBrace) | TokenKind::End => return,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }
}
