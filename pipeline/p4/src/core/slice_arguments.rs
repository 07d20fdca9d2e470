//! Slices that an action writes through a parameter: `swap(hdr.ipv4.src[7:0], m.low)`.
//!
//! A parameter stands for a whole place. So a variable takes the slice's bits before the call and gives them back after it. In an `apply`
//! block, copies and call are one action of their own, whose instructions run at once.

use super::Core;
use super::walk;
use crate::check::{Call, Callee, Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::{ActionDecl, Block, DeclId, DeclKind, Direction, ExprId, ExprKind, Stmt, StmtKind};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    walk::statements(core, &mut |core, around, stmt, out| {
        let StmtKind::Call(call) = stmt.kind else { return out.push(stmt) };
        let slices = core.written_slices(call);
        if slices.is_empty() {
            return out.push(stmt);
        }
        if matches!(core.ast.decls[around].kind, DeclKind::Action(_)) {
            let statements = core.copied(around, call, &slices, stmt.span);
            let block = Block { span: stmt.span, annotations: Vec::new(), statements };
            return out.push(Stmt { span: stmt.span, kind: StmtKind::Block(block) });
        }
        out.push(core.in_action(around, call, &slices, stmt.span));
    });
}

impl Core<'_> {
    /// Returns the slices among the arguments of an action that the action writes, each with its parameter.
    fn written_slices(&self, call: ExprId) -> Vec<(ExprId, DeclId)> {
        let Some(Call { callee: Callee::Action(action), args, .. }) = self.checked.calls.get(&call) else {
            return Vec::new();
        };
        let DeclKind::Action(action) = &self.ast.decls[*action].kind else { return Vec::new() };
        let is_slice = |arg: ExprId| matches!(self.ast.exprs[arg].kind, ExprKind::Slice { .. });
        let pairs = args.iter().zip(&action.params).filter_map(|(arg, param)| Some(((*arg)?, *param)));
        pairs
            .filter(|&(arg, param)| {
                let direction = self.direction(param);
                is_slice(arg) && matches!(direction, Direction::Out | Direction::InOut)
            })
            .collect()
    }

    fn direction(&self, param: DeclId) -> Direction {
        match &self.ast.decls[param].kind {
            DeclKind::Param(of) => of.direction,
            _ => Direction::None,
        }
    }

    /// Returns the copies before a call, the call, and the copies after it.
    fn copied(&mut self, around: DeclId, call: ExprId, slices: &[(ExprId, DeclId)], at: Span) -> Vec<Stmt> {
        let (mut before, mut after, mut replaced) = (Vec::new(), Vec::new(), Vec::new());
        for &(slice, param) in slices {
            let ty = self.checked.expr_types[slice];
            let initial = (self.direction(param) == Direction::InOut).then(|| self.copy(slice));
            let (variable, declared) = self.variable(around, "slice", ty, initial, at);
            before.push(declared);
            let value = self.name_of(variable, at);
            after.push(self.assign(slice, value, at));
            replaced.push((slice, self.name_of(variable, at)));
        }
        self.replace_parts(call, &replaced);
        before.push(Stmt { span: at, kind: StmtKind::Call(call) });
        before.extend(after);
        before
    }

    /// Makes an action of the copies and the call, and returns its call.
    fn in_action(&mut self, control: DeclId, call: ExprId, slices: &[(ExprId, DeclId)], at: Span) -> Stmt {
        let body = Block { span: at, annotations: Vec::new(), statements: Vec::new() };
        let kind = DeclKind::Action(ActionDecl { params: Vec::new(), body });
        let action = self.decl(control, "sliced", kind, Ty::UNKNOWN, at);
        self.checked.decl_types[action] = self.checked.types.make(TyKind::Action(action));
        let statements = self.copied(action, call, slices, at);
        if let DeclKind::Action(made) = &mut self.ast.decls[action].kind {
            made.body.statements = statements;
        }
        if let DeclKind::Control(control) = &mut self.ast.decls[control].kind {
            control.locals.push(action);
        }
        let callee = self.name_of(action, at);
        let call = ExprKind::Call { callee, type_args: Vec::new(), args: Vec::new() };
        let id = self.expr(call, Ty::VOID, at);
        let callee = Callee::Action(action);
        self.checked.calls.insert(id, Call { callee, type_args: Vec::new(), args: Vec::new() });
        Stmt { span: at, kind: StmtKind::Call(id) }
    }
}
