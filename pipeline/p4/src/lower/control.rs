//! Control blocks: `apply` blocks with their branches, tables and nested controls.
//!
//! Statements between applied tables become keyless actions; adjacent statements that may run at once share one. `exit` and
//! `return` become `else` branches where one branch of an `if` leaves and the other goes on; elsewhere they set a flag of one
//! bit, which the statements after it test.

mod hoist;
mod leave;

pub(super) use leave::Leave;

use super::action::Target;
use super::condition::Decision;
use super::frame::{Bound, Frame};
use super::name::Space;
use super::places::{Place, Slot};
use super::{Lower, Res};
use crate::check::{Builtin, Call, Callee, Resolution};
use crate::elaborate::{ActionId, Binding, BlockId, TableId};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind, SwitchLabel, UnaryOp};
use rustc_hash::FxHashMap;
use sluice_asic::gress::Gress;
use sluice_ir::group::Group;
use sluice_ir::{self as ir, ActionData, ApplyArms, CmpOp, Cond, Expr, Primitive, PrimitiveKind};

/// Statements under construction.
pub(super) struct Seq {
    stmts: Vec<ir::Stmt>,
    group: Group,
}

/// What an `if` or `switch` asks a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Hit,
    Miss,
}

impl<'a> Lower<'a> {
    /// Lowers the control of a gress; of ingress, also the ghost control.
    pub(super) fn control(&mut self, gress: Gress) -> Res<()> {
        let blocks = if gress == Gress::Ingress { self.pipe.ingress } else { self.pipe.egress };
        let mut frame = self.root_frame(gress, blocks.control)?;
        let block = self.apply_block(&mut frame);
        self.program.pipes[gress.index()].control = block;
        if let Some(ghost) = self.pipe.ghost.filter(|_| gress == Gress::Ingress) {
            let mut frame = self.root_frame(gress, ghost)?;
            self.program.ghost = self.apply_block(&mut frame);
        }
        Ok(())
    }

    /// Lowers the `apply` block of a frame's control.
    fn apply_block(&mut self, frame: &mut Frame) -> ir::Block {
        let mut seq = self.seq();
        self.control_body(frame, &mut seq);
        self.closed(seq)
    }

    fn control_body(&mut self, frame: &mut Frame, seq: &mut Seq) {
        let ast = self.ast;
        let decl = self.pipe.blocks[frame.block].decl;
        let DeclKind::Control(control) = &ast.decls[decl].kind else { return };
        let initial: Vec<DeclId> = control.locals.clone();
        for local in initial {
            if let DeclKind::Variable { value: Some(value), .. } = ast.decls[local].kind
                && let Some(place) = frame.place(local).cloned()
            {
                let _ = self.set(frame, &place, value, ast.decls[local].span, seq);
            }
        }
        if let Some(apply) = &control.apply {
            let outer = self.leave.enter();
            let stmts: Vec<&Stmt> = apply.statements.iter().collect();
            self.run(frame, &stmts, seq);
            self.leave.return_flag = outer;
        }
    }

    fn seq(&self) -> Seq {
        Seq { stmts: Vec::new(), group: Group::new(self.gress) }
    }

    fn closed(&mut self, mut seq: Seq) -> ir::Block {
        self.flush(&mut seq);
        seq.stmts
    }

    /// Makes an action of the statements of the group.
    fn flush(&mut self, seq: &mut Seq) {
        let Some(loc) = seq.group.loc() else { return };
        let body = seq.group.take();
        let gress = self.gress;
        let name = self.names.take(Space::Action, &format!("{gress}_l{}", loc.line));
        let action = ActionData { name, gress, params: Vec::new(), body, doc: String::new(), loc };
        let action = self.program.actions.push(action);
        seq.stmts.push(ir::Stmt { kind: ir::StmtKind::Call(action), loc });
    }

    /// Adds primitives that run one after another.
    fn add(&mut self, seq: &mut Seq, primitives: Vec<Primitive>) {
        let copies = std::mem::take(&mut self.before);
        for primitive in copies.into_iter().chain(primitives) {
            if !seq.group.admits(&self.program, &primitive.kind) {
                self.flush(seq);
            }
            seq.group.push(&self.program, primitive.kind, primitive.loc);
        }
    }

    fn push(&mut self, seq: &mut Seq, kind: ir::StmtKind, at: Span) {
        if let ir::StmtKind::Apply(table, _) = kind {
            let actions = sluice_ir::cfg::table_actions(&self.program, table);
            let copies = actions.iter().filter_map(|action| self.copies.get(action)).flatten();
            let copies: Vec<Primitive> = copies.cloned().collect();
            self.add(seq, copies);
        }
        self.flush(seq);
        let loc = self.loc(at);
        seq.stmts.push(ir::Stmt { kind, loc });
    }

    /// Lowers statements in order. A statement with an error is given up, and those after it are lowered.
    fn run(&mut self, frame: &mut Frame, stmts: &[&'a Stmt], seq: &mut Seq) {
        let mut stmts: std::collections::VecDeque<&'a Stmt> = stmts.iter().copied().collect();
        while let Some(stmt) = stmts.pop_front() {
            if let StmtKind::Block(block) = &stmt.kind {
                for inner in block.statements.iter().rev() {
                    stmts.push_front(inner);
                }
                continue;
            }
            let leaves = self.leaves_of(frame, stmt);
            if !leaves.may || stmts.is_empty() {
                let _ = self.stmt(frame, stmt, &[], seq);
                if leaves.must {
                    return;
                }
                continue;
            }
            let rest: Vec<&'a Stmt> = stmts.into_iter().collect();
            let _ = self.leaving(frame, stmt, &rest, leaves, seq);
            return;
        }
    }

    /// Lowers one statement, and in a branch that goes on also `rest`.
    fn stmt(&mut self, frame: &mut Frame, stmt: &'a Stmt, rest: &[&'a Stmt], seq: &mut Seq) -> Res<()> {
        let ast = self.ast;
        self.hoisted.clear();
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Block(_) => Ok(()),
            StmtKind::Decl(decl) => {
                if let DeclKind::Variable { value, .. } = ast.decls[*decl].kind {
                    self.bind_variable(frame, *decl)?;
                    if let (Some(value), Some(place)) = (value, frame.place(*decl).cloned()) {
                        return self.set(frame, &place, value, stmt.span, seq);
                    }
                }
                Ok(())
            }
            StmtKind::Assign { target, value } => self.assignment(frame, stmt, *target, *value, seq),
            StmtKind::Call(call) => self.call_stmt(frame, stmt, *call, seq),
            StmtKind::If { condition, then, otherwise } => {
                self.branch(frame, (*condition, then, otherwise.as_deref()), rest, stmt.span, seq)
            }
            StmtKind::Switch { .. } => self.switch(frame, stmt, seq),
            StmtKind::Return(_) | StmtKind::Exit => {
                let exit = matches!(stmt.kind, StmtKind::Exit);
                self.set_leave_flag(exit, stmt.span, seq);
                Ok(())
            }
        }
    }

    fn branch(
        &mut self,
        frame: &mut Frame,
        (condition, then, otherwise): (ExprId, &'a Stmt, Option<&'a Stmt>),
        rest: &[&'a Stmt],
        at: Span,
        seq: &mut Seq,
    ) -> Res<()> {
        let asked = self.asked(frame, condition);
        let decision = match asked {
            Some(_) => Decision::Always(true),
            None => {
                self.hoist(frame, condition, seq)?;
                self.condition(frame, condition)?
            }
        };
        let (yes, no) = (self.leaves_of(frame, then), otherwise.map(|stmt| self.leaves_of(frame, stmt)));
        let (mut first, mut second) = (vec![then], Vec::from_iter(otherwise));
        if !rest.is_empty() {
            if !yes.must {
                first.extend(rest);
            } else if no.is_none_or(|no| !no.must) {
                second.extend(rest);
            }
        }
        match (asked, decision) {
            (Some((table, asked)), _) => {
                let table = self.table(frame, table, at)?;
                let (then, otherwise) = (self.inner(frame, &first), self.inner(frame, &second));
                let (hit, miss) = if asked == Asked::Hit { (then, otherwise) } else { (otherwise, then) };
                let arms = ApplyArms { hit, miss, run: Vec::new() };
                self.push(seq, ir::StmtKind::Apply(table, arms), at);
            }
            (None, Decision::Always(true)) => self.run(frame, &first, seq),
            (None, Decision::Always(false)) => self.run(frame, &second, seq),
            (None, Decision::By(cond)) => {
                self.add(seq, Vec::new());
                self.flush(seq);
                let (then, otherwise) = (self.inner(frame, &first), self.inner(frame, &second));
                if !then.is_empty() || !otherwise.is_empty() {
                    self.push(seq, ir::StmtKind::If(cond, then, otherwise), at);
                }
            }
        }
        Ok(())
    }

    fn inner(&mut self, frame: &mut Frame, stmts: &[&'a Stmt]) -> ir::Block {
        let mut seq = self.seq();
        self.run(frame, stmts, &mut seq);
        self.closed(seq)
    }

    /// Returns the table that a condition asks for its result.
    fn asked(&self, frame: &Frame, condition: ExprId) -> Option<(TableId, Asked)> {
        match &self.ast.exprs[condition].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                let (table, asked) = self.asked(frame, *operand)?;
                Some((table, if asked == Asked::Hit { Asked::Miss } else { Asked::Hit }))
            }
            ExprKind::Member { base, .. } => {
                let asked = match self.checked.resolutions[condition]? {
                    Resolution::Builtin(Builtin::Hit) => Asked::Hit,
                    Resolution::Builtin(Builtin::Miss) => Asked::Miss,
                    _ => return None,
                };
                Some((self.applied_table(frame, *base)?, asked))
            }
            _ => None,
        }
    }

    /// Returns the table that a call applies.
    fn applied_table(&self, frame: &Frame, call: ExprId) -> Option<TableId> {
        let ExprKind::Call { callee, .. } = &self.ast.exprs[call].kind else { return None };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return None };
        match self.pipe.instance(self.checked, frame.block, *base)? {
            Binding::Table(table) => Some(*table),
            _ => None,
        }
    }

    fn assignment(
        &mut self,
        frame: &mut Frame,
        stmt: &'a Stmt,
        target: ExprId,
        value: ExprId,
        seq: &mut Seq,
    ) -> Res<()> {
        let at = stmt.span;
        if self.decides_value(frame, value) {
            let target = self.target(frame, target)?;
            return self.decided(frame, &target, value, at, seq);
        }
        self.hoist_assigned(frame, value, seq)?;
        let primitives = self.statement_body(frame, stmt)?;
        self.add(seq, primitives);
        Ok(())
    }

    /// Assigns a value to a whole place.
    fn set(&mut self, frame: &mut Frame, place: &Place, value: ExprId, at: Span, seq: &mut Seq) -> Res<()> {
        let target = Target { place: place.clone(), bits: None };
        if self.decides_value(frame, value) {
            return self.decided(frame, &target, value, at, seq);
        }
        self.hoist_assigned(frame, value, seq)?;
        let primitives = self.place_body(frame, place, value, at)?;
        self.add(seq, primitives);
        Ok(())
    }

    fn call_stmt(&mut self, frame: &mut Frame, stmt: &'a Stmt, id: ExprId, seq: &mut Seq) -> Res<()> {
        let at = stmt.span;
        let Some(call) = self.checked.calls.get(&id).cloned() else { return Ok(()) };
        match call.callee {
            Callee::Table(_) => {
                let Some(table) = self.applied_table(frame, id) else { return Ok(()) };
                let table = self.table(frame, table, at)?;
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
    fn direct_action(
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
        let body = self.owned(&name, at, |lower| lower.action_body(&mut inner, decl));
        let (body, exit) = body?;
        if !body.is_empty() {
            let alone = self.before.is_empty();
            self.add(seq, Vec::new());
            self.flush(seq);
            let name = self.names.take(Space::Action, &name);
            let (gress, loc) = (self.gress, self.loc(at));
            let action = ActionData { name, gress, params: Vec::new(), body, doc: String::new(), loc };
            let action = self.program.actions.push(action);
            if let Some(id) = id.filter(|_| alone) {
                self.actions.insert((None, id, gress), action);
            }
            self.push(seq, ir::StmtKind::Call(action), at);
        }
        if let Some(at) = exit {
            self.set_leave_flag(true, at, seq);
        }
        Ok(())
    }

    /// Runs `of` with an owner of labels of drops.
    pub(super) fn owned<T>(&mut self, name: &str, at: Span, of: impl FnOnce(&mut Self) -> T) -> T {
        let before = (std::mem::replace(&mut self.owner, name.to_owned()), self.owner_at);
        self.owner_at = at;
        let done = of(self);
        (self.owner, self.owner_at) = before;
        done
    }

    /// Lowers a nested control: its parameters stand for the caller's places.
    fn nested(&mut self, frame: &mut Frame, id: ExprId, call: &Call, at: Span, seq: &mut Seq) -> Res<()> {
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
        self.bind_variables(&mut inner)?;
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

    /// Lowers `switch (table.apply().action_run)`.
    fn switch(&mut self, frame: &mut Frame, stmt: &'a Stmt, seq: &mut Seq) -> Res<()> {
        let StmtKind::Switch { value, cases } = &stmt.kind else { return Ok(()) };
        let table = match &self.ast.exprs[*value].kind {
            ExprKind::Member { base, .. } => self.applied_table(frame, *base),
            _ => None,
        };
        let Some(id) = table else {
            return Err(self.refuse(
                self.ast.exprs[*value].span,
                "`switch` on a value other than `action_run`",
                "write `if` and `else if`, or a table with the value as key",
            ));
        };
        let table = self.table(frame, id, stmt.span)?;
        let mut run: Vec<(ir::Action, ir::Block)> = Vec::new();
        let mut default: Option<&crate::syntax::ast::Block> = None;
        let mut waiting: Vec<Option<ir::Action>> = Vec::new();
        for case in cases {
            waiting.push(match case.label {
                SwitchLabel::Default(_) => None,
                SwitchLabel::Value(label) => self.ran(frame, id, label),
            });
            let Some(body) = &case.body else { continue };
            let several = waiting.iter().flatten().count() > 1;
            if several && self.applies(frame, body) {
                return Err(self.refuse(
                    case.span,
                    "several actions share a case that applies tables",
                    "let the case set a flag, and apply the tables under the flag after the `switch`",
                ));
            }
            for label in waiting.drain(..) {
                match label {
                    None => default = Some(body),
                    Some(action) => {
                        let stmts: Vec<&'a Stmt> = body.statements.iter().collect();
                        let block = self.inner(frame, &stmts);
                        run.push((action, block));
                    }
                }
            }
        }
        let others = default.map(|body| (body, self.others(table, &run)));
        match others {
            Some((body, others)) if others.len() <= 1 || !self.applies(frame, body) => {
                let stmts: Vec<&'a Stmt> = body.statements.iter().collect();
                for action in others {
                    let block = self.inner(frame, &stmts);
                    run.push((action, block));
                }
                self.push(seq, ir::StmtKind::Apply(table, arms(run)), stmt.span);
            }
            Some((body, _)) => self.switch_by_flag(frame, table, run, body, stmt.span, seq),
            None => self.push(seq, ir::StmtKind::Apply(table, arms(run)), stmt.span),
        }
        Ok(())
    }

    /// Lowers a `default` case that applies tables: a flag, which the other cases set, keeps it from running.
    fn switch_by_flag(
        &mut self,
        frame: &mut Frame,
        table: ir::Table,
        mut run: Vec<(ir::Action, ir::Block)>,
        body: &'a crate::syntax::ast::Block,
        at: Span,
        seq: &mut Seq,
    ) {
        let flag = self.new_flag("other_case", at);
        for (_, block) in &mut run {
            let mut set = self.seq();
            self.set_flag(flag, at, &mut set);
            let set = self.closed(set);
            block.splice(0..0, set);
        }
        self.push(seq, ir::StmtKind::Apply(table, arms(run)), at);
        let stmts: Vec<&'a Stmt> = body.statements.iter().collect();
        let block = self.inner(frame, &stmts);
        let clear = self.is_clear(flag);
        self.push(seq, ir::StmtKind::If(clear, block, Vec::new()), at);
    }

    /// Returns the actions of a table that have no case.
    fn others(&self, table: ir::Table, run: &[(ir::Action, ir::Block)]) -> Vec<ir::Action> {
        let all = sluice_ir::cfg::table_actions(&self.program, table);
        all.into_iter().filter(|action| !run.iter().any(|(other, _)| other == action)).collect()
    }

    /// Returns the action of the program that a label of a `switch` names.
    fn ran(&self, frame: &Frame, table: TableId, label: ExprId) -> Option<ir::Action> {
        let decl = self.checked.decl_of(label)?;
        let id: ActionId = match self.pipe.binding(frame.block, decl)? {
            Binding::Action(id) => *id,
            _ => return None,
        };
        self.made_action(table, id)
    }

    /// Makes a flag of one bit, which is clear when the packet arrives.
    fn new_flag(&mut self, name: &str, at: Span) -> Slot {
        let ty = self.checked.types.bits(1);
        match self.make_place(ty, self.gress, name, at) {
            Ok(Place::Slot(slot)) => slot,
            _ => unreachable!("a type of one bit has a slot"),
        }
    }

    fn set_flag(&mut self, flag: Slot, at: Span, seq: &mut Seq) {
        let (field, loc) = (self.field(flag), self.loc(at));
        let kind = PrimitiveKind::Set(field, Expr::Const(1, 1));
        self.add(seq, vec![Primitive { kind, loc }]);
    }

    fn is_clear(&mut self, flag: Slot) -> Cond {
        Cond::Cmp(CmpOp::Eq, Expr::Field(self.field(flag)), Expr::Const(0, 1))
    }
}

fn arms(run: Vec<(ir::Action, ir::Block)>) -> ApplyArms {
    let run = run.into_iter().filter(|(_, block)| !block.is_empty()).collect();
    ApplyArms { hit: Vec::new(), miss: Vec::new(), run }
}
