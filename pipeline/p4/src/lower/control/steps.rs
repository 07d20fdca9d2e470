//! Later steps of the actions of a table, in the arms of its application.

use super::super::Lower;
use super::super::places::Slot;
use crate::source::Span;
use sluice_ir::{self as ir, ApplyArms, CmpOp, Cond, Expr, Primitive, PrimitiveKind};

impl Lower<'_> {
    /// Adds the later steps of the table's actions to its arms.
    pub(super) fn add_steps(&mut self, table: ir::Table, arms: &mut ApplyArms, at: Span) {
        let by_outcome = !arms.hit.is_empty() || !arms.miss.is_empty();
        for action in sluice_ir::cfg::table_actions(&self.program, table) {
            let Some(rest) = self.rest.get(&action).cloned() else { continue };
            if by_outcome {
                // The arms are those of hit and miss: the action sets a flag.
                let flag = self.ran_flag(action, at);
                let set = Cond::Cmp(CmpOp::Eq, Expr::Field(self.field(flag)), Expr::Const(1, 1));
                let loc = self.loc(at);
                for arm in [&mut arms.hit, &mut arms.miss] {
                    let kind = ir::StmtKind::If(set.clone(), rest.clone(), Vec::new());
                    arm.insert(0, ir::Stmt { kind, loc });
                }
            } else if let Some((_, arm)) = arms.run.iter_mut().find(|(other, _)| *other == action) {
                arm.splice(0..0, rest);
            } else {
                arms.run.push((action, rest));
            }
        }
    }

    /// Returns the flag that an action of several steps sets.
    fn ran_flag(&mut self, action: ir::Action, at: Span) -> Slot {
        if let Some(flag) = self.ran.get(&action) {
            return *flag;
        }
        let flag = self.new_flag("ran", at);
        let (field, loc) = (self.field(flag), self.loc(at));
        let kind = PrimitiveKind::Set(field, Expr::Const(1, 1));
        self.program.actions[action].body.push(Primitive { kind, loc });
        self.ran.insert(action, flag);
        flag
    }
}
