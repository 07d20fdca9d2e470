//! All expressions of a piece of code.

use crate::syntax::ast::{Ast, DeclId, DeclKind, ExprId, Stmt, StmtKind, Transition};

/// Collects the expressions of code, in source order.
pub(super) struct Code<'a> {
    ast: &'a Ast,
    /// The expressions that were found.
    pub(super) exprs: Vec<ExprId>,
}

impl<'a> Code<'a> {
    /// Makes an empty collection.
    pub(super) fn new(ast: &'a Ast) -> Self {
        Code { ast, exprs: Vec::new() }
    }

    /// Adds the expressions of a declaration.
    pub(super) fn decl(&mut self, decl: DeclId) {
        let ast = self.ast;
        match &ast.decls[decl].kind {
            DeclKind::State(state) => {
                state.statements.iter().for_each(|statement| self.stmt(statement));
                if let Some(Transition::Select(select)) = &state.transition {
                    select.keys.iter().for_each(|&key| self.expr(key));
                }
            }
            DeclKind::Action(action) => {
                action.body.statements.iter().for_each(|statement| self.stmt(statement))
            }
            DeclKind::Function(function) => {
                function
                    .body
                    .iter()
                    .flat_map(|body| &body.statements)
                    .for_each(|statement| self.stmt(statement));
            }
            DeclKind::Instance(instance) => {
                instance.initializer.iter().flatten().for_each(|&method| self.decl(method));
            }
            DeclKind::Table(table) => {
                let elements = table.key.iter().flat_map(|key| &key.elements);
                elements.for_each(|element| self.expr(element.value));
            }
            DeclKind::Variable { value: Some(value), .. } => self.expr(*value),
            _ => {}
        }
    }

    /// Adds the expressions of a statement.
    pub(super) fn stmt(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Block(block) => block.statements.iter().for_each(|statement| self.stmt(statement)),
            StmtKind::Decl(decl) => self.decl(*decl),
            StmtKind::Assign { target, value } => {
                self.expr(*target);
                self.expr(*value);
            }
            StmtKind::Call(call) => self.expr(*call),
            StmtKind::If { condition, then, otherwise } => {
                self.expr(*condition);
                self.stmt(then);
                otherwise.iter().for_each(|otherwise| self.stmt(otherwise));
            }
            StmtKind::Switch { value, cases } => {
                self.expr(*value);
                let bodies = cases.iter().filter_map(|case| case.body.as_ref());
                bodies.flat_map(|body| &body.statements).for_each(|statement| self.stmt(statement));
            }
            StmtKind::Return(Some(value)) => self.expr(*value),
            StmtKind::Empty | StmtKind::Return(None) | StmtKind::Exit => {}
        }
    }

    fn expr(&mut self, expr: ExprId) {
        self.exprs.push(expr);
        let ast = self.ast;
        ast.exprs[expr].kind.parts().for_each(|part| self.expr(part));
    }
}
