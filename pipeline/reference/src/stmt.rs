//! Statements.

use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use sluice_p4::check::Resolution;
use sluice_p4::syntax::ast::{
    Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind, SwitchCase, SwitchLabel,
};

impl Run<'_, '_> {
    /// Runs the statements of a block.
    pub(crate) fn statements(&mut self, statements: &[Stmt]) -> Res<()> {
        statements.iter().try_for_each(|statement| self.statement(statement))
    }

    /// Runs the body of an action or of an `apply` block, which `return` ends.
    pub(crate) fn body(&mut self, block: &Block) -> Res<Value> {
        match self.statements(&block.statements) {
            Ok(()) => Ok(Value::Nothing),
            Err(Stop::Return(value)) => Ok(value),
            Err(stop) => Err(stop),
        }
    }

    fn statement(&mut self, statement: &Stmt) -> Res<()> {
        match &statement.kind {
            StmtKind::Empty => Ok(()),
            StmtKind::Block(block) => self.statements(&block.statements),
            StmtKind::Decl(decl) => self.local(*decl),
            StmtKind::Assign { target, value } => self.assign(*target, *value),
            StmtKind::Call(call) => self.value(*call).map(drop),
            StmtKind::If { condition, then, otherwise } => match (self.condition(*condition)?, otherwise) {
                (true, _) => self.statement(then),
                (false, Some(otherwise)) => self.statement(otherwise),
                (false, None) => Ok(()),
            },
            StmtKind::Switch { value, cases } => self.switch(*value, cases),
            StmtKind::Return(None) => Err(Stop::Return(Value::Nothing)),
            StmtKind::Return(Some(value)) => Err(Stop::Return(self.value(*value)?)),
            StmtKind::Exit => Err(Stop::Exit),
        }
    }

    /// Begins the life of a local variable; other declarations have no effect where they stand.
    pub(crate) fn local(&mut self, decl: DeclId) -> Res<()> {
        let DeclKind::Variable { value, .. } = self.ast.decls[decl].kind else { return Ok(()) };
        let ty = self.decl_ty(decl);
        let first = match value {
            Some(value) => {
                let value = self.value(value)?;
                self.converted(value, ty)
            }
            None => self.core.program.zero(ty),
        };
        self.define(decl, first);
        Ok(())
    }

    fn assign(&mut self, target: ExprId, value: ExprId) -> Res<()> {
        if let Some(Resolution::Field(field, _)) = self.core.program.checked.resolutions[target] {
            self.assigned.insert(field);
        }
        if matches!(self.ast.exprs[target].kind, ExprKind::Any) {
            return self.value(value).map(drop);
        }
        let at = self.span(target);
        let place = self.place(target)?.ok_or_else(|| unsupported(at, "an assignment to this expression"))?;
        let value = self.value(value)?;
        let ty = self.ty(target);
        let value = self.converted(value, ty);
        self.set(&place, value, at)
    }

    fn switch(&mut self, value: ExprId, cases: &[SwitchCase]) -> Res<()> {
        let found = self.value(value)?;
        let mut chosen = None;
        for (at, case) in cases.iter().enumerate() {
            let fits = match case.label {
                SwitchLabel::Default(_) => true,
                SwitchLabel::Value(label) => self.is_label(&found, label)?,
            };
            // `default` is the last label.
            if fits {
                chosen = Some(at);
                break;
            }
        }
        // A label without a block shares the block of the next one.
        let after = chosen.and_then(|at| cases.get(at..)).unwrap_or_default();
        match after.iter().find_map(|case| case.body.as_ref()) {
            Some(body) => self.statements(&body.statements),
            None => Ok(()),
        }
    }

    fn is_label(&mut self, found: &Value, label: ExprId) -> Res<bool> {
        match found {
            Value::Applied { action, .. } => {
                let named = self.core.program.checked.decl_of(label);
                Ok(action.is_some() && *action == named)
            }
            found => Ok(crate::expr::equal(found, &self.value(label)?)),
        }
    }
}
