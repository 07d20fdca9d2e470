//! Variables that nothing reads: `bit<32> old = count.read(i);` where `old` is not used again.
//!
//! Each such assignment would take an instruction, and a read of a register the only access that a packet has. A call that may change
//! something stays, and so does what a parameter, a table or another block may read.

use super::Core;
use super::walk;
use crate::check::{Builtin, Callee, Resolution};
use crate::syntax::ast::{Block, DeclId, DeclKind, ExprId, ExprKind, Stmt, StmtKind};
use rustc_hash::FxHashSet;

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    let mut written = FxHashSet::default();
    walk::statements(core, &mut |core, _, stmt, out| {
        if let StmtKind::Assign { target, .. } = stmt.kind
            && core.variable_of(target).is_some()
        {
            written.insert(target);
        }
        out.push(stmt);
    });
    let named = core.checked.resolutions.iter().filter(|(expr, _)| !written.contains(expr));
    let read: FxHashSet<DeclId> = named
        .filter_map(|(_, of)| match of {
            Some(Resolution::Decl(decl)) => Some(*decl),
            _ => None,
        })
        .collect();
    walk::statements(core, &mut |core, _, stmt, out| {
        let dead = match &stmt.kind {
            StmtKind::Decl(decl) => match core.ast.decls[*decl].kind {
                DeclKind::Variable { value, .. } => {
                    !read.contains(decl) && value.is_none_or(|value| core.only_reads(value))
                }
                _ => false,
            },
            StmtKind::Assign { target, value } => {
                let variable = core.variable_of(*target);
                variable.is_some_and(|variable| !read.contains(&variable)) && core.only_reads(*value)
            }
            _ => false,
        };
        if !dead {
            out.push(stmt);
        }
    });
}

impl Core<'_> {
    /// Returns the variable that an expression names as a whole.
    pub(super) fn variable_of(&self, expr: ExprId) -> Option<DeclId> {
        match (&self.ast.exprs[expr].kind, self.checked.resolutions[expr]) {
            (ExprKind::Name { .. }, Some(Resolution::Decl(decl))) => {
                matches!(self.ast.decls[decl].kind, DeclKind::Variable { .. }).then_some(decl)
            }
            _ => None,
        }
    }

    /// Returns true if an expression changes nothing.
    pub(super) fn only_reads(&self, expr: ExprId) -> bool {
        let own = match self.checked.calls.get(&expr).map(|call| call.callee) {
            None => true,
            Some(Callee::Builtin(Builtin::IsValid) | Callee::Function(_)) => true,
            Some(Callee::Method(method)) => match self.ast.text(self.ast.decls[method].name) {
                "read" => true,
                "execute" => self.reads_a_register(expr),
                _ => false,
            },
            Some(_) => false,
        };
        own && self.ast.exprs[expr].kind.parts().all(|part| self.only_reads(part))
    }

    /// Returns true if a call executes a register action that leaves the element as it is.
    fn reads_a_register(&self, call: ExprId) -> bool {
        let ExprKind::Call { callee, .. } = self.ast.exprs[call].kind else { return false };
        let ExprKind::Member { base, .. } = self.ast.exprs[callee].kind else { return false };
        let instance = self.checked.decl_of(base).map(|decl| &self.ast.decls[decl].kind);
        let Some(DeclKind::Instance(instance)) = instance else { return false };
        let methods = instance.initializer.iter().flatten();
        let mut bodies = methods.filter_map(|method| match &self.ast.decls[*method].kind {
            DeclKind::Function(function) => Some((function.params.first().copied(), function.body.as_ref()?)),
            _ => None,
        });
        match (bodies.next(), bodies.next()) {
            (Some((Some(element), body)), None) => !self.may_write(body, element),
            _ => false,
        }
    }

    /// Returns true if statements write a parameter, or call what may write it.
    fn may_write(&self, block: &Block, param: DeclId) -> bool {
        block.statements.iter().any(|stmt| self.stmt_may_write(stmt, param))
    }

    fn stmt_may_write(&self, stmt: &Stmt, param: DeclId) -> bool {
        match &stmt.kind {
            StmtKind::Block(block) => self.may_write(block, param),
            StmtKind::Assign { target, .. } => self.names(*target, param),
            StmtKind::Call(_) | StmtKind::Switch { .. } => true,
            StmtKind::If { then, otherwise, .. } => {
                let otherwise = otherwise.as_deref();
                self.stmt_may_write(then, param)
                    || otherwise.is_some_and(|stmt| self.stmt_may_write(stmt, param))
            }
            StmtKind::Decl(_) | StmtKind::Empty | StmtKind::Return(_) | StmtKind::Exit => false,
        }
    }

    /// Returns true if a part of an expression is this declaration.
    fn names(&self, expr: ExprId, decl: DeclId) -> bool {
        self.checked.decl_of(expr) == Some(decl)
            || self.ast.exprs[expr].kind.parts().any(|part| self.names(part, decl))
    }
}
