//! Walks through the code of controls.

use super::Core;
use super::make::joined;
use crate::syntax::ast::{DeclId, DeclKind, Stmt, StmtKind};

/// Changes a statement whose inner statements are changed already, and adds what stands for it.
pub(super) type Change<'f> = dyn FnMut(&mut Core<'_>, DeclId, Stmt, &mut Vec<Stmt>) + 'f;

/// Changes each statement of `apply` blocks and actions. The change gets the control or action around the statement.
pub(super) fn statements(core: &mut Core<'_>, change: &mut Change<'_>) {
    for decl in core.ast.decls.keys() {
        let Some(body) = body(core, decl).map(std::mem::take) else { continue };
        let changed = list(core, decl, body, change);
        if let Some(body) = self::body(core, decl) {
            *body = changed;
        }
    }
}

fn body<'c>(core: &'c mut Core<'_>, decl: DeclId) -> Option<&'c mut Vec<Stmt>> {
    match &mut core.ast.decls[decl].kind {
        DeclKind::Control(control) => control.apply.as_mut().map(|apply| &mut apply.statements),
        DeclKind::Action(action) => Some(&mut action.body.statements),
        _ => None,
    }
}

fn list(core: &mut Core<'_>, around: DeclId, statements: Vec<Stmt>, change: &mut Change<'_>) -> Vec<Stmt> {
    let mut changed = Vec::with_capacity(statements.len());
    for mut stmt in statements {
        match &mut stmt.kind {
            StmtKind::Block(block) => {
                block.statements = list(core, around, std::mem::take(&mut block.statements), change);
            }
            StmtKind::If { then, otherwise, .. } => {
                for branch in std::iter::once(then).chain(otherwise) {
                    let (span, kind) = (branch.span, std::mem::replace(&mut branch.kind, StmtKind::Empty));
                    let one = list(core, around, vec![Stmt { span, kind }], change);
                    **branch = joined(one, span);
                }
            }
            StmtKind::Switch { cases, .. } => {
                for body in cases.iter_mut().filter_map(|case| case.body.as_mut()) {
                    body.statements = list(core, around, std::mem::take(&mut body.statements), change);
                }
            }
            _ => {}
        }
        change(core, around, stmt, &mut changed);
    }
    changed
}
