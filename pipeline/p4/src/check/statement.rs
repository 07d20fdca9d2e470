//! Statements.

use super::conversion::Role;
use super::suggestion::nearest;
use super::tables::Resolution;
use super::ty::{Ty, TyKind};
use super::{Checker, Context};
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind, SwitchCase, SwitchLabel,
};

impl Checker<'_> {
    /// Checks a block in a scope of its own.
    pub(super) fn statements(&mut self, block: &Block) {
        self.scopes.enter();
        for statement in &block.statements {
            self.statement(statement);
        }
        self.scopes.leave();
    }

    pub(super) fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Empty => {}
            StmtKind::Block(block) => self.statements(block),
            StmtKind::Decl(decl) => self.declare(*decl),
            StmtKind::Assign { target, value } => {
                let ty = self.value(*target);
                self.value(*value);
                self.writable(*target, "assigned");
                self.require(*value, ty, Role::Assigned(*target));
            }
            StmtKind::Call(call) => {
                self.expr(*call);
            }
            StmtKind::If { condition, then, otherwise } => {
                self.value(*condition);
                self.require(*condition, Ty::BOOL, Role::Condition);
                self.branch(then);
                if let Some(otherwise) = otherwise {
                    self.branch(otherwise);
                }
            }
            StmtKind::Switch { value, cases } => self.switch(*value, cases),
            StmtKind::Return(value) => self.returned(*value, statement.span),
            StmtKind::Exit => {
                if self.context == Context::Parser {
                    self.report(
                        Diagnostic::error(Class::Type, statement.span, "a parser has an `exit`")
                            .help("go to the state `reject`"),
                    );
                }
            }
        }
    }

    fn branch(&mut self, statement: &Stmt) {
        self.scopes.enter();
        self.statement(statement);
        self.scopes.leave();
    }

    fn returned(&mut self, value: Option<ExprId>, at: Span) {
        let wanted = self.result.unwrap_or(Ty::VOID);
        match value {
            Some(value) => {
                self.value(value);
                if wanted == Ty::VOID {
                    let at = self.ast.exprs[value].span;
                    self.report(
                        Diagnostic::error(Class::Type, at, "a value is returned where none is expected")
                            .help("write `return;`"),
                    );
                } else {
                    self.require(value, wanted, Role::Returned);
                }
            }
            None if wanted != Ty::VOID => {
                let message = format!("a value of type `{}` is expected after `return`", self.show(wanted));
                self.error(Class::Type, at, message);
            }
            None => {}
        }
    }

    fn switch(&mut self, value: ExprId, cases: &[SwitchCase]) {
        let ty = self.value(value);
        let table = match self.out.types.kind(ty) {
            TyKind::ActionRun(table) => Some(*table),
            // The parser has refused a `switch` on anything else.
            _ => None,
        };
        let mut seen: Vec<DeclId> = Vec::new();
        for case in cases {
            if let (SwitchLabel::Value(label), Some(table)) = (&case.label, table) {
                self.switch_label(*label, table, &mut seen);
            }
            if let Some(body) = &case.body {
                self.statements(body);
            }
        }
    }

    fn switch_label(&mut self, label: ExprId, table: DeclId, seen: &mut Vec<DeclId>) {
        let at = self.ast.exprs[label].span;
        let ExprKind::Name { name, .. } = self.ast.exprs[label].kind else {
            self.report(
                Diagnostic::error(Class::Type, at, "a case of this `switch` is no action")
                    .help("name one of the table's actions, or `default`"),
            );
            return;
        };
        let actions = self.table_actions(table);
        let found = actions.iter().copied().find(|&action| self.ast.decls[action].name.symbol == name.symbol);
        let Some(action) = found else {
            let text = self.ast.text(name);
            let near = nearest(text, actions.iter().map(|&action| self.name(action)));
            let message = format!("table `{}` has no action `{text}`", self.name(table));
            let place = self.ast.decls[table].name.span;
            self.report(Diagnostic::error(Class::Name, at, message).also(place, "the table").help(
                match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "add the action to the table, or remove the case".to_owned(),
                },
            ));
            return;
        };
        self.out.resolutions[label] = Some(Resolution::Decl(action));
        self.out.expr_types[label] = self.out.decl_types[action];
        if seen.contains(&action) {
            let message = format!("action `{}` has two cases", self.name(action));
            self.report(Diagnostic::error(Class::Name, at, message).help("remove one of the two"));
        }
        seen.push(action);
    }

    /// Returns the actions of a table that has been checked.
    pub(super) fn table_actions(&self, table: DeclId) -> Vec<DeclId> {
        let DeclKind::Table(decl) = &self.ast.decls[table].kind else { return Vec::new() };
        let list = decl.actions.iter().flat_map(|actions| &actions.list);
        list.filter_map(|(action, _)| self.action_of(*action)).collect()
    }

    /// Returns the action that a name or call in a table means.
    pub(super) fn action_of(&self, expr: ExprId) -> Option<DeclId> {
        match &self.ast.exprs[expr].kind {
            ExprKind::Call { callee, .. } => self.out.decl_of(*callee),
            _ => self.out.decl_of(expr),
        }
    }

    /// Reports a table that is applied where no table can be.
    pub(super) fn table_applied(&mut self, at: Span) {
        let place = match self.context {
            Context::Control | Context::Top => return,
            Context::Action => "an action",
            Context::Parser => "a parser",
            Context::Method => "a method",
        };
        self.report(
            Diagnostic::error(Class::Type, at, format!("a table is applied in {place}"))
                .help("apply tables in the `apply` block of a control"),
        );
    }
}
