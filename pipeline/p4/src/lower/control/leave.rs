//! `exit` and `return`.

use super::super::frame::Frame;
use super::super::places::Slot;
use super::super::{Lower, Res};
use super::Seq;
use crate::check::Callee;
use crate::elaborate::TableId;
use crate::source::Span;
use crate::syntax::ast::{Block, DeclId, DeclKind, ExprId, Stmt, StmtKind};
use sluice_ir as ir;

/// Whether control leaves a statement by `exit` or `return`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaves {
    /// For some packets.
    pub(super) may: bool,
    /// For all packets.
    pub(super) must: bool,
}

/// Flags that are set where control leaves.
#[derive(Clone, Debug, Default)]
pub(in crate::lower) struct Leave {
    /// Set by `return` of the control under construction.
    pub(super) return_flag: Option<Slot>,
    /// Set by `exit`, by gress.
    exit_flag: [Option<Slot>; 2],
    /// Number of statements around the current one whose followers test the flags.
    tested: usize,
}

impl Leave {
    /// Begins a control, and returns the flag of the one around it.
    pub(super) fn enter(&mut self) -> Option<Slot> {
        self.return_flag.take()
    }
}

impl<'a> Lower<'a> {
    /// Lowers a statement that leaves for some packets, and those after it.
    pub(super) fn leaving(
        &mut self,
        frame: &mut Frame,
        stmt: &'a Stmt,
        rest: &[&'a Stmt],
        leaves: Leaves,
        seq: &mut Seq,
    ) -> Res<()> {
        if leaves.must {
            return self.stmt(frame, stmt, &[], seq);
        }
        if let StmtKind::If { then, otherwise, .. } = &stmt.kind {
            let none = Leaves::default();
            let yes = self.leaves_of(frame, then);
            let no = otherwise.as_deref().map_or(none, |stmt| self.leaves_of(frame, stmt));
            if yes.must && !no.may || no.must && !yes.may {
                return self.stmt(frame, stmt, rest, seq);
            }
        }
        self.leave.tested += 1;
        let done = self.stmt(frame, stmt, &[], seq);
        self.leave.tested -= 1;
        let flags = [self.leave.return_flag, self.leave.exit_flag[self.gress.index()]];
        let mut clear: Option<ir::Cond> = None;
        for flag in flags.into_iter().flatten() {
            let one = self.is_clear(flag);
            clear = Some(match clear {
                Some(other) => ir::Cond::And(Box::new(other), Box::new(one)),
                None => one,
            });
        }
        match clear {
            Some(clear) => {
                self.flush(seq);
                let block = self.inner(frame, rest);
                self.push(seq, ir::StmtKind::If(clear, block, Vec::new()), stmt.span);
            }
            None => self.run(frame, rest, seq),
        }
        done
    }

    /// Sets the flag of `exit` or `return`, if a later statement tests it.
    pub(super) fn set_leave_flag(&mut self, exit: bool, at: Span, seq: &mut Seq) {
        if self.leave.tested > 0 {
            let flag = self.leave_flag(exit, at);
            self.set_flag(flag, at, seq);
        }
    }

    /// Returns the flag of `exit` or `return`.
    pub(in crate::lower) fn leave_flag(&mut self, exit: bool, at: Span) -> Slot {
        let index = self.gress.index();
        let known = if exit { self.leave.exit_flag[index] } else { self.leave.return_flag };
        if let Some(flag) = known {
            return flag;
        }
        let flag = self.new_flag(if exit { "exited" } else { "returned" }, at);
        *(if exit { &mut self.leave.exit_flag[index] } else { &mut self.leave.return_flag }) = Some(flag);
        flag
    }

    /// Returns whether control leaves a statement.
    pub(super) fn leaves_of(&self, frame: &Frame, stmt: &Stmt) -> Leaves {
        match &stmt.kind {
            StmtKind::Return(_) | StmtKind::Exit => Leaves { may: true, must: true },
            StmtKind::Block(block) => self.leaves_of_block(frame, block),
            StmtKind::If { condition, then, otherwise } => {
                let then = self.leaves_of(frame, then);
                let otherwise =
                    otherwise.as_ref().map_or(Leaves::default(), |stmt| self.leaves_of(frame, stmt));
                let asked = self.exits(frame, *condition);
                Leaves { may: then.may || otherwise.may || asked, must: then.must && otherwise.must }
            }
            StmtKind::Switch { value, cases } => {
                let bodies = cases.iter().filter_map(|case| case.body.as_ref());
                let may = bodies.into_iter().any(|body| self.leaves_of_block(frame, body).may);
                Leaves { may: may || self.exits(frame, *value), must: false }
            }
            StmtKind::Call(call) => Leaves { may: self.exits(frame, *call), must: false },
            _ => Leaves::default(),
        }
    }

    fn leaves_of_block(&self, frame: &Frame, block: &Block) -> Leaves {
        let all: Vec<Leaves> = block.statements.iter().map(|stmt| self.leaves_of(frame, stmt)).collect();
        Leaves { may: all.iter().any(|one| one.may), must: all.iter().any(|one| one.must) }
    }

    /// Returns true if an expression applies a table or control, or calls an action, that exits.
    fn exits(&self, frame: &Frame, id: ExprId) -> bool {
        let own = match self.checked.calls.get(&id).map(|call| call.callee) {
            Some(Callee::Action(decl)) => self.action_exits(decl),
            Some(Callee::Table(_)) => {
                self.applied_table(frame, id).is_some_and(|table| self.table_exits(table))
            }
            Some(Callee::Block(decl)) => self.control_exits(decl),
            _ => false,
        };
        own || self.ast.exprs[id].kind.parts().any(|part| self.exits(frame, part))
    }

    /// Returns true if an action exits.
    pub(in crate::lower) fn action_exits(&self, decl: DeclId) -> bool {
        match &self.ast.decls[decl].kind {
            DeclKind::Action(action) => self.block_exits(&action.body),
            _ => false,
        }
    }

    fn table_exits(&self, table: TableId) -> bool {
        let actions = &self.pipe.tables[table].actions;
        actions.iter().any(|(action, _)| self.action_exits(self.pipe.actions[*action].decl))
    }

    /// Returns true if a control exits, or an action that it declares: tables may run those.
    fn control_exits(&self, decl: DeclId) -> bool {
        match &self.ast.decls[decl].kind {
            DeclKind::Control(control) => {
                control.apply.as_ref().is_some_and(|apply| self.block_exits(apply))
                    || control.locals.iter().any(|&local| self.action_exits(local))
            }
            _ => false,
        }
    }

    fn block_exits(&self, block: &Block) -> bool {
        block.statements.iter().any(|stmt| self.stmt_exits(stmt))
    }

    /// Returns true if a statement exits, or calls an action or control that does.
    fn stmt_exits(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Exit => true,
            StmtKind::Block(block) => self.block_exits(block),
            StmtKind::If { then, otherwise, .. } => {
                self.stmt_exits(then) || otherwise.as_deref().is_some_and(|stmt| self.stmt_exits(stmt))
            }
            StmtKind::Switch { cases, .. } => {
                cases.iter().filter_map(|case| case.body.as_ref()).any(|body| self.block_exits(body))
            }
            StmtKind::Call(call) => match self.checked.calls.get(call).map(|call| call.callee) {
                Some(Callee::Action(decl)) => self.action_exits(decl),
                Some(Callee::Block(decl)) => self.control_exits(decl),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns true if statements apply tables, which the program has at one place only.
    pub(super) fn applies(&self, frame: &Frame, block: &Block) -> bool {
        block.statements.iter().any(|stmt| self.stmt_applies(frame, stmt))
    }

    fn stmt_applies(&self, frame: &Frame, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Block(block) => self.applies(frame, block),
            StmtKind::If { condition, then, otherwise } => {
                self.expr_applies(*condition)
                    || self.stmt_applies(frame, then)
                    || otherwise.as_deref().is_some_and(|stmt| self.stmt_applies(frame, stmt))
            }
            StmtKind::Switch { .. } => true,
            StmtKind::Call(call) => self.expr_applies(*call),
            _ => false,
        }
    }

    fn expr_applies(&self, id: ExprId) -> bool {
        let callee = self.checked.calls.get(&id).map(|call| call.callee);
        matches!(callee, Some(Callee::Table(_) | Callee::Block(_)))
            || self.ast.exprs[id].kind.parts().any(|part| self.expr_applies(part))
    }
}
