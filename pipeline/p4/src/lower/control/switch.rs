//! `switch (table.apply().action_run)`.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use super::{Seq, arms};
use crate::elaborate::{ActionId, Binding, TableId};
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind, Stmt, StmtKind, SwitchLabel};
use sluice_ir as ir;

impl<'a> Lower<'a> {
    /// Lowers `switch (table.apply().action_run)`.
    pub(super) fn switch(&mut self, frame: &mut Frame, stmt: &'a Stmt, seq: &mut Seq) -> Res<()> {
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
        let table = self.table(frame, id)?;
        let mut run: Vec<(ir::Action, ir::Block)> = Vec::new();
        let mut default: Option<&crate::syntax::ast::Block> = None;
        let mut waiting: Vec<Option<ir::Action>> = Vec::new();
        for case in cases {
            waiting.push(match case.label {
                SwitchLabel::Default(_) => None,
                SwitchLabel::Value(label) => self.ran(frame, id, label),
            });
            let Some(body) = &case.body else { continue };
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
}
