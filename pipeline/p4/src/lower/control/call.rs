//! Calls of a control: actions, tables, nested controls.

use super::super::action::Target;
use super::super::frame::{Bound, Frame};
use super::super::name::Space;
use super::super::{Lower, Res};
use super::Seq;
use crate::check::{Call, Callee};
use crate::elaborate::{Binding, BlockId};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, Stmt};
use rustc_hash::FxHashMap;
use sluice_ir::{self as ir, ActionData, ApplyArms};

impl<'a> Lower<'a> {
    pub(super) fn call_stmt(&mut self, frame: &mut Frame, stmt: &'a Stmt, id: ExprId, seq: &mut Seq) -> Res<()> {
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
            self.go_back(&mark);
            self.hoisted = hoisted;
            return self.stepwise(&mut inner, decl, seq);
        };
        if !body.is_empty() {
            self.add(seq, Vec::new());
            self.flush(seq);
            let name = self.names.take(Space::Action, &name);
            let (gress, loc) = (self.gress, self.loc(at));
            let action = ActionData { name, gress, params: Vec::new(), body, doc: String::new(), loc };
            let action = self.program.actions.push(action);
            self.push(seq, ir::StmtKind::Call(action), at);
        }
        if let Some(at) = exit {
            self.set_leave_flag(true, at, seq);
        }
        Ok(())
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
        let stmts: Vec<&'a Stmt> = action.body.statements.iter().collect();
        let block = self.left_by_return(|lower| lower.block_of(inner, &stmts));
        self.flush(seq);
        seq.stmts.extend(block);
        Ok(())
    }

    /// Lowers a nested control: its parameters stand for the caller's places.
    pub(super) fn nested(&mut self, frame: &mut Frame, id: ExprId, call: &Call, at: Span, seq: &mut Seq) -> Res<()> {
        let ExprKind::Call { callee, .. } = &self.ast.exprs[id].kind else { return Ok(()) };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return Ok(()) };
        let Some(Binding::Block(block)) = self.pipe.instance(self.checked, frame.block, *base) else {
            return Err(self.refuse(
                at,
                "this control is not known when the program is compiled",
                "name an instance",
            ));
        };
        let block: BlockId = *block;
        let name = self.pipe.blocks[block].name.clone();
        let path = self.below_root(&name);
        let mut inner = Frame { block, gress: frame.gress, path, names: FxHashMap::default() };
        let params = self.params(block);
        for (&param, arg) in params.iter().zip(&call.args) {
            let Some(arg) = *arg else { continue };
            let bound = self.control_argument(frame, param, arg, &inner, seq)?;
            inner.names.insert(param, bound);
        }
        match self.entered.get(&block) {
            // The tables of the instance read the arguments of its first application.
            Some(first) if params.iter().all(|param| first.names.get(param) == inner.names.get(param)) => {
                inner = first.clone();
            }
            Some(_) => {
                let text = "this control is applied at two places with different arguments";
                let help = "declare an instance for each place, or copy the arguments to variables that both places pass";
                return Err(self.refuse(at, text, help));
            }
            None => {
                self.bind_variables(&mut inner)?;
                self.entered.insert(block, inner.clone());
            }
        }
        self.control_body(&mut inner, seq);
        Ok(())
    }

    /// Returns the name of a block without the pipe and its control.
    fn below_root(&self, full: &str) -> String {
        let short = self.short(full);
        short.split_once('.').map_or_else(|| short.to_owned(), |(_, rest)| rest.to_owned())
    }

    /// Returns what a parameter of a nested control stands for. A computed argument is copied to a variable.
    fn control_argument(
        &mut self,
        frame: &mut Frame,
        param: DeclId,
        arg: ExprId,
        inner: &Frame,
        seq: &mut Seq,
    ) -> Res<Bound> {
        if let Some(place) = self.place(frame, arg) {
            return Ok(Bound::Place(place));
        }
        if let ExprKind::Name { .. } = self.ast.exprs[arg].kind
            && let Some(bound) = self.checked.decl_of(arg).and_then(|decl| frame.names.get(&decl))
        {
            return Ok(bound.clone());
        }
        let constant = self.constant(frame, arg).is_some();
        if constant && self.scalar_of(frame, arg).is_some() {
            return Ok(Bound::Pieces(self.pieces(frame, arg)?));
        }
        let ty = self.checked.decl_types[param];
        let ty = self.pipe.concrete(self.ast, self.checked, inner.block, ty);
        let (name, at) = (inner.name(self.ast.text(self.ast.decls[param].name)), self.ast.exprs[arg].span);
        let place = self.make_place(ty, frame.gress, &name, at)?;
        if !matches!(self.ast.exprs[arg].kind, ExprKind::Any) {
            self.set(frame, &place, arg, at, seq)?;
        }
        Ok(Bound::Place(place))
    }
}
