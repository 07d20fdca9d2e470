//! Control blocks: `apply` blocks with their branches, tables and nested controls.
//!
//! Statements between applied tables become keyless actions; adjacent statements that may run at once share one. `exit` and
//! `return` become `else` branches where one branch of an `if` leaves and the other goes on; elsewhere they set a flag of one
//! bit, which the statements after it test.

mod call;
mod hoist;
mod leave;
mod nested;
mod steps;
mod switch;

pub(super) use leave::Leave;

use super::action::Target;
use super::condition::Decision;
use super::frame::Frame;
use super::places::{Place, Slot};
use super::{Lower, Res};
use crate::check::{Builtin, Resolution};
use crate::elaborate::{Binding, TableId};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind, UnaryOp};
use sluice_asic::gress::Gress;
use sluice_ir::group::Group;
use sluice_ir::{self as ir, ApplyArms, CmpOp, Cond, Expr, Primitive, PrimitiveKind};

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
        let (gress, wanted) = (self.gress, self.unnamed_action(loc.line));
        let action = self.new_action(gress, &wanted, body, loc);
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
        self.follow(seq);
    }

    /// Adds the statements that follow the one that was added.
    fn follow(&mut self, seq: &mut Seq) {
        if !self.after.is_empty() {
            self.flush(seq);
            seq.stmts.append(&mut self.after);
        }
    }

    fn push(&mut self, seq: &mut Seq, mut kind: ir::StmtKind, at: Span) {
        if let ir::StmtKind::Apply(table, arms) = &mut kind {
            self.add_steps(*table, arms, at);
        }
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

    /// Lowers statements as a block.
    pub(super) fn block_of(&mut self, frame: &mut Frame, stmts: &[&'a Stmt]) -> ir::Block {
        self.inner(frame, stmts)
    }

    /// Runs `of` for statements that `return` leaves.
    pub(super) fn left_by_return<T>(&mut self, of: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.leave.enter();
        let done = of(self);
        self.leave.return_flag = outer;
        done
    }

    /// Lowers statements in order. A statement with an error is given up, and those after it are lowered.
    fn run(&mut self, frame: &mut Frame, stmts: &[&'a Stmt], seq: &mut Seq) {
        let mut stmts: std::collections::VecDeque<&'a Stmt> = stmts.iter().copied().collect();
        while let Some(stmt) = stmts.pop_front() {
            if let StmtKind::Block(block) = &stmt.kind
                && self.asks_for_hash(block)
            {
                let inner: Vec<&'a Stmt> = block.statements.iter().collect();
                self.within_block(block, |lower| lower.run(frame, &inner, seq));
                continue;
            }
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
                let table = self.table(frame, table)?;
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
        if let Some(call) = self.low_bits_of(frame, value)
            && !self.takes_result(frame, target, call)?
        {
            self.hoist(frame, call, seq)?;
        }
        let primitives = self.statement_body(frame, stmt)?;
        self.add(seq, primitives);
        Ok(())
    }

    /// Returns true if a unit can write its result to a target: a whole field, or a slice if it is a hash.
    fn takes_result(&mut self, frame: &Frame, target: ExprId, call: ExprId) -> Res<bool> {
        let target = self.target(frame, target)?;
        let hash = self.is_hash(frame, call);
        Ok(matches!((&target.place, target.bits), (Place::Slot(_), bits) if hash || bits.is_none()))
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

    /// Runs `of` with an owner of labels of drops.
    pub(super) fn owned<T>(&mut self, name: &str, at: Span, of: impl FnOnce(&mut Self) -> T) -> T {
        let before = (std::mem::replace(&mut self.owner, name.to_owned()), self.owner_at);
        self.owner_at = at;
        let done = of(self);
        (self.owner, self.owner_at) = before;
        done
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
