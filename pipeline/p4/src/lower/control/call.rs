//! Calls of a control: tables and actions.

use super::super::action::Target;
use super::super::frame::{Bound, Frame};
use super::super::name::Space;
use super::super::{Lower, Refused, Res};
use super::Seq;
use crate::check::{Call, Callee};
use crate::elaborate::Binding;
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, Stmt};
use sluice_ir::{self as ir, ActionData, ApplyArms};

impl<'a> Lower<'a> {
    pub(super) fn call_stmt(
        &mut self,
        frame: &mut Frame,
        stmt: &'a Stmt,
        id: ExprId,
        seq: &mut Seq,
    ) -> Res<()> {
        let at = stmt.span;
        let Some(call) = self.checked.calls.get(&id).cloned() else { return Ok(()) };
        match call.callee {
            Callee::Table(_) => {
                let Some(table) = self.applied_table(frame, id) else { return Ok(()) };
                let table = self.table(frame, table)?;
                self.push(seq, ir::StmtKind::Apply(table, ApplyArms::default()), at);
                Ok(())
            }
            Callee::Block(_) => self.nested(frame, id, &call, at, seq),
            Callee::Action(decl) => self.direct_action(frame, decl, &call, at, seq),
            _ => {
                self.hoist_within(frame, id, seq)?;
                let primitives = self.statement_body(frame, stmt)?;
                self.add(seq, primitives);
                Ok(())
            }
        }
    }

    /// Lowers an action that a control calls: one action without parameters.
    pub(super) fn direct_action(
        &mut self,
        frame: &mut Frame,
        decl: DeclId,
        call: &Call,
        at: Span,
        seq: &mut Seq,
    ) -> Res<()> {
        let DeclKind::Action(action) = &self.ast.decls[decl].kind else { return Ok(()) };
        for arg in call.args.iter().flatten() {
            self.hoist(frame, *arg, seq)?;
        }
        let id = match self.pipe.binding(frame.block, decl) {
            Some(Binding::Action(id)) if action.params.is_empty() && !self.action_exits(decl) => Some(*id),
            _ => None,
        };
        // An action is one, however often it is called.
        let known = id.and_then(|id| self.actions.get(&(None, id, self.gress)).copied());
        let copies =
            |lower: &Self, action| lower.copies.get(&action).is_some_and(|copies| !copies.is_empty());
        if let Some(known) = known.filter(|known| !copies(self, *known)) {
            if !self.program.actions[known].body.is_empty() {
                self.push(seq, ir::StmtKind::Call(known), at);
            }
            return Ok(());
        }
        let mut inner = frame.clone();
        self.bind_arguments(frame, &mut inner, &action.params, &call.args)?;
        let name = match self.pipe.binding(frame.block, decl) {
            Some(Binding::Action(id)) => self.short(&self.pipe.actions[*id].name).to_owned(),
            _ => frame.name(self.ast.text(self.ast.decls[decl].name)),
        };
        let mark = self.remember();
        let hoisted = self.hoisted.clone();
        let body = self.owned(&name, at, |lower| lower.action_body(&mut inner.clone(), decl));
        let Ok((body, exit)) = body else {
            if self.is_exhausted() {
                return Err(Refused);
            }
            self.go_back(&mark);
            self.hoisted = hoisted;
            return self.stepwise(&mut inner, decl, seq);
        };
        if !body.is_empty() {
            let alone = self.before.is_empty() && self.after.is_empty();
            let after = std::mem::take(&mut self.after);
            self.add(seq, Vec::new());
            self.flush(seq);
            let shared = id.filter(|_| alone);
            // The control plane knows the actions of tables, so that those have the plain names.
            let name = match shared.is_none() && self.is_listed(frame, decl) {
                true => self.names.take_second(Space::Action, &name),
                false => self.names.take(Space::Action, &name),
            };
            let (gress, loc) = (self.gress, self.loc(at));
            let action = ActionData { name, gress, params: Vec::new(), body, doc: String::new(), loc };
            let action = self.program.actions.push(action);
            if let Some(id) = shared {
                self.actions.insert((None, id, gress), action);
            }
            self.push(seq, ir::StmtKind::Call(action), at);
            self.after = after;
            self.follow(seq);
        }
        if let Some(at) = exit {
            self.set_leave_flag(true, at, seq);
        }
        Ok(())
    }

    /// Returns true if a table lists the action.
    fn is_listed(&self, frame: &Frame, decl: DeclId) -> bool {
        let Some(&Binding::Action(id)) = self.pipe.binding(frame.block, decl) else { return false };
        self.pipe.tables.values().any(|table| table.actions.iter().any(|(action, _)| *action == id))
    }

    /// Lowers the statements of an action that a control calls as those of the control.
    fn stepwise(&mut self, inner: &mut Frame, decl: DeclId, seq: &mut Seq) -> Res<()> {
        let ast = self.ast;
        let DeclKind::Action(action) = &ast.decls[decl].kind else { return Ok(()) };
        for &param in &action.params {
            let Some(Bound::Pieces(pieces)) = inner.names.get(&param).cloned() else { continue };
            if self.may_write(inner, &action.body.statements, &pieces) {
                let own = ast.decls[param].name;
                let ty = self.checked.decl_types[param];
                let ty = self.pipe.concrete(ast, self.checked, inner.block, ty);
                let place = self.make_place(ty, inner.gress, &inner.name(ast.text(own)), own.span)?;
                self.set_target(&Target { place: place.clone(), bits: None }, pieces, own.span, seq)?;
                inner.bind(param, place);
            }
        }
        // What the arguments need comes first.
        self.add(seq, Vec::new());
        let stmts: Vec<&'a Stmt> = action.body.statements.iter().collect();
        let block = self.left_by_return(|lower| lower.block_of(inner, &stmts));
        self.flush(seq);
        seq.stmts.extend(block);
        Ok(())
    }
}
