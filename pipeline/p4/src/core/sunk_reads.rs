//! Reads of a register whose result one branch alone needs: `old = count.read(i); if (c) { count.write(i, x); } else { m.y = old; }`.
//!
//! A packet has one access of a register. In the branch, the read and the access of the other branch exclude each other.

use super::Core;
use super::make::joined;
use super::walk;
use crate::check::Resolution;
use crate::elaborate::code_of_statement;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, Stmt, StmtKind};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    walk::statements(core, &mut |core, _, mut stmt, out| {
        while let Some(branch) = out.last().and_then(|read| core.branch_for(read, &mut stmt)) {
            if let Some(read) = out.pop() {
                let at = branch.span;
                let then = std::mem::replace(branch, Stmt { span: at, kind: StmtKind::Empty });
                *branch = joined(vec![read, then], at);
            }
        }
        out.push(stmt);
    });
}

impl Core<'_> {
    /// Returns the branch of an `if` that alone needs what the statement before it reads from a register.
    fn branch_for<'s>(&self, read: &Stmt, next: &'s mut Stmt) -> Option<&'s mut Stmt> {
        let (variable, target, value) = match read.kind {
            StmtKind::Decl(decl) => match self.ast.decls[decl].kind {
                DeclKind::Variable { value: Some(value), .. } => (decl, None, value),
                _ => return None,
            },
            StmtKind::Assign { target, value } => (self.variable_of(target)?, Some(target), value),
            _ => return None,
        };
        if !self.checked.calls.contains_key(&value) || !self.only_reads(value) {
            return None;
        }
        let StmtKind::If { then, otherwise, .. } = &mut next.kind else { return None };
        let uses = self.uses(variable, target);
        let branches = std::iter::once(then).chain(otherwise);
        let alone = branches.into_iter().find(|branch| {
            let code = code_of_statement(self.ast, branch);
            uses.iter().all(|expr| code.contains(expr))
        });
        alone.map(|branch| &mut **branch)
    }

    /// Returns the expressions that name a variable, but for one.
    fn uses(&self, variable: DeclId, but: Option<ExprId>) -> Vec<ExprId> {
        let of = Some(Resolution::Decl(variable));
        let all = self.checked.resolutions.iter().filter(|(expr, found)| **found == of && Some(*expr) != but);
        all.map(|(expr, _)| expr).collect()
    }
}
