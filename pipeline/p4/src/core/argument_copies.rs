//! Arguments that a parameter cannot stand for: `swap(hdr.ipv4.src[7:0], m.low)`, `both(m.sum, m.sum)`, `c.apply(hdr, hdr.ipv4)`.
//!
//! A parameter stands for a whole place, unless the callee also reaches the place by another name and that makes a difference. For other
//! arguments a variable takes the value before the call and gives it back after it. In an `apply` block, copies and a call of an action
//! are one action of their own, whose instructions run at once.

use super::Core;
use super::arguments::is_overwritten;
use super::tree::Given;
use super::uses::Bodies;
use super::walk;
use crate::check::{Callee, Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::{ActionDecl, Block, DeclId, DeclKind, Direction, ExprId, Stmt, StmtKind};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    let bodies = Bodies::new(core.ast, core.checked);
    walk::statements(core, &mut |core, around, stmt, out| {
        let StmtKind::Call(call) = stmt.kind else { return out.push(stmt) };
        let copied = bodies.copied(core.ast, core.checked, call);
        if copied.is_empty() {
            return out.push(stmt);
        }
        let is_control = matches!(core.ast.decls[around].kind, DeclKind::Control(_));
        let of_action =
            matches!(core.checked.calls.get(&call).map(|call| call.callee), Some(Callee::Action(_)));
        if is_control && of_action {
            return out.push(core.in_action(around, call, &copied, stmt.span));
        }
        let statements = core.copied(around, call, &copied, stmt.span);
        let block = Block { span: stmt.span, annotations: Vec::new(), statements };
        out.push(Stmt { span: stmt.span, kind: StmtKind::Block(block) });
    });
}

impl Core<'_> {
    /// Returns the copies before a call, the call, and the copies after it.
    fn copied(&mut self, around: DeclId, call: ExprId, copied: &[Given], at: Span) -> Vec<Stmt> {
        let (mut before, mut after, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
        for &(arg, param) in copied {
            let direction = self.ast.direction(param);
            let overwritten = is_overwritten(&self.tree(), call, arg, copied);
            let ty = self.checked.expr_types[arg];
            let initial = (direction != Direction::Out).then(|| self.copy(arg));
            let (variable, declared) = self.variable(around, "copy", ty, initial, at);
            before.push(declared);
            if direction != Direction::In && !overwritten {
                let value = self.name_of(variable, at);
                after.push(self.assign(arg, value, at));
            }
            replaced.push((arg, self.name_of(variable, at)));
        }
        self.replace_parts(call, &replaced);
        before.push(Stmt { span: at, kind: StmtKind::Call(call) });
        before.append(&mut after);
        before
    }

    /// Makes an action of the copies and the call, and returns its call.
    fn in_action(&mut self, control: DeclId, call: ExprId, copied: &[Given], at: Span) -> Stmt {
        let body = Block { span: at, annotations: Vec::new(), statements: Vec::new() };
        let kind = DeclKind::Action(ActionDecl { params: Vec::new(), body });
        let action = self.decl(control, "copied", kind, Ty::UNKNOWN, at);
        self.checked.decl_types[action] = self.checked.types.make(TyKind::Action(action));
        let statements = self.copied(action, call, copied, at);
        if let DeclKind::Action(made) = &mut self.ast.decls[action].kind {
            made.body.statements = statements;
        }
        if let DeclKind::Control(control) = &mut self.ast.decls[control].kind {
            control.locals.push(action);
        }
        let callee = self.name_of(action, at);
        self.call_of(callee, Callee::Action(action), at)
    }
}
