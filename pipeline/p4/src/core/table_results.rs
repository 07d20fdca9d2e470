//! Hit and miss of a table as values: `bool known = near.apply().hit;`, `if (x && near.apply().hit)`.
//!
//! The chip knows the result of a table where the table is applied, and nowhere else. So an `if` that asks the table alone sets a variable,
//! which stands for the result. What runs before and after it stays in the order of P4: the right side of `&&` and `||`, and the branches
//! of `?:`, run only if the left side asks for them.

use super::Core;
use super::make::joined;
use super::walk;
use crate::check::{Builtin, Resolution, Ty};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind, UnaryOp};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    walk::statements(core, &mut statement);
}

fn statement(core: &mut Core<'_>, around: DeclId, mut stmt: Stmt, out: &mut Vec<Stmt>) {
    let at = stmt.span;
    match &mut stmt.kind {
        &mut StmtKind::Decl(decl) => {
            if let Some(initial) = core.take_initial(decl) {
                out.push(stmt);
                let target = core.name_of(decl, at);
                return core.set(around, target, initial, at, out);
            }
        }
        StmtKind::Assign { target, value } if core.asks(*value) => {
            let (target, value) = (*target, *value);
            return core.set(around, target, value, at, out);
        }
        StmtKind::If { condition, .. } if core.asks(*condition) && !core.asks_alone(*condition) => {
            *condition = core.lift(around, *condition, out);
        }
        StmtKind::Call(call) => *call = core.lift(around, *call, out),
        _ => {}
    }
    out.push(stmt);
}

impl Core<'_> {
    /// Returns true if an expression is the result of a table, or the opposite of it.
    fn asks_alone(&self, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => self.asks_alone(*operand),
            _ => {
                matches!(
                    self.checked.resolutions[id],
                    Some(Resolution::Builtin(Builtin::Hit | Builtin::Miss))
                )
            }
        }
    }

    /// Returns true if an expression asks a table for its result.
    fn asks(&self, id: ExprId) -> bool {
        self.asks_alone(id) || self.ast.exprs[id].kind.parts().any(|part| self.asks(part))
    }

    /// Takes the initial value of a variable, if it asks a table.
    fn take_initial(&mut self, decl: DeclId) -> Option<ExprId> {
        let DeclKind::Variable { value, .. } = self.ast.decls[decl].kind else { return None };
        let initial = value.filter(|value| self.asks(*value))?;
        if let DeclKind::Variable { value, .. } = &mut self.ast.decls[decl].kind {
            *value = None;
        }
        Some(initial)
    }

    /// Adds an assignment of a value that asks a table.
    fn set(&mut self, around: DeclId, target: ExprId, value: ExprId, at: Span, out: &mut Vec<Stmt>) {
        if !self.asks_alone(value) {
            let value = self.lift(around, value, out);
            out.push(self.assign(target, value, at));
            return;
        }
        let other = self.copy(target);
        let (yes, no) = (self.truth(true, at), self.truth(false, at));
        let (yes, no) = (self.assign(target, yes, at), self.assign(other, no, at));
        out.push(branch(value, vec![yes], vec![no], at));
    }

    /// Returns an expression that asks no table and has the value of `id`, after statements that ask.
    fn lift(&mut self, around: DeclId, id: ExprId, out: &mut Vec<Stmt>) -> ExprId {
        if !self.asks(id) {
            return id;
        }
        let at = self.ast.exprs[id].span;
        if self.asks_alone(id) {
            return self.chosen(around, id, Ty::BOOL, [None, None], at, out);
        }
        match self.ast.exprs[id].kind {
            ExprKind::Binary { op: op @ (BinaryOp::And | BinaryOp::Or), left, right } if self.asks(right) => {
                let condition = self.lift(around, left, out);
                let branches = if op == BinaryOp::And { [Some(right), None] } else { [None, Some(right)] };
                self.chosen(around, condition, Ty::BOOL, branches, at, out)
            }
            ExprKind::Ternary { condition, then, otherwise } if self.asks(then) || self.asks(otherwise) => {
                let condition = self.lift(around, condition, out);
                let ty = self.checked.expr_types[id];
                self.chosen(around, condition, ty, [Some(then), Some(otherwise)], at, out)
            }
            _ => {
                self.lift_parts(around, id, out);
                id
            }
        }
    }

    /// Adds an `if` that sets a new variable, and returns its use. A branch without a value sets `true` or `false`.
    fn chosen(
        &mut self,
        around: DeclId,
        condition: ExprId,
        ty: Ty,
        values: [Option<ExprId>; 2],
        at: Span,
        out: &mut Vec<Stmt>,
    ) -> ExprId {
        let (variable, declared) = self.variable(around, "asked", ty, None, at);
        out.push(declared);
        let [yes, no] = [true, false].map(|answer| {
            let mut inner = Vec::new();
            let value = values[usize::from(!answer)].unwrap_or_else(|| self.truth(answer, at));
            let target = self.name_of(variable, at);
            if self.asks(value) {
                self.set(around, target, value, at, &mut inner);
            } else {
                inner.push(self.assign(target, value, at));
            }
            inner
        });
        out.push(branch(condition, yes, no, at));
        self.name_of(variable, at)
    }

    /// Replaces the parts of an expression that ask. What is read before them keeps the value that it has there.
    fn lift_parts(&mut self, around: DeclId, id: ExprId, out: &mut Vec<Stmt>) {
        let parts: Vec<ExprId> = self.ast.exprs[id].kind.parts().collect();
        let last = parts.iter().rposition(|part| self.asks(*part)).unwrap_or(0);
        let places = self.places_in(id);
        let mut lifted = Vec::with_capacity(parts.len());
        for (position, &part) in parts.iter().enumerate() {
            let mut new = self.lift(around, part, out);
            if position < last && !places.contains(&part) {
                new = self.kept(around, new, out);
            }
            lifted.push((part, new));
        }
        self.replace_parts(id, &lifted);
    }

    /// Returns the parts of an expression that name a place or a callee, and are no values.
    fn places_in(&self, id: ExprId) -> Vec<ExprId> {
        let callee = match self.ast.exprs[id].kind {
            ExprKind::Call { callee, .. } => Some(callee),
            _ => None,
        };
        let tree = self.tree();
        let given = tree.given(id).into_iter();
        given.filter(|(_, param)| tree.is_written(*param)).map(|(arg, _)| arg).chain(callee).collect()
    }

    /// Returns an expression with the value that `id` has here.
    fn kept(&mut self, around: DeclId, id: ExprId, out: &mut Vec<Stmt>) -> ExprId {
        let (ty, at) = (self.checked.expr_types[id], self.ast.exprs[id].span);
        if self.checked.values.contains_key(&id) {
            return id;
        }
        if let ExprKind::List(_) | ExprKind::Record(_) = self.ast.exprs[id].kind {
            let parts: Vec<ExprId> = self.ast.exprs[id].kind.parts().collect();
            let kept: Vec<_> = parts.into_iter().map(|part| (part, self.kept(around, part, out))).collect();
            self.replace_parts(id, &kept);
            return id;
        }
        let (variable, declared) = self.variable(around, "before", ty, Some(id), at);
        out.push(declared);
        self.name_of(variable, at)
    }
}

fn branch(condition: ExprId, yes: Vec<Stmt>, no: Vec<Stmt>, at: Span) -> Stmt {
    let (then, otherwise) = (Box::new(joined(yes, at)), Some(Box::new(joined(no, at))));
    Stmt { span: at, kind: StmtKind::If { condition, then, otherwise } }
}
