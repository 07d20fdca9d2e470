//! Questions about places and calls of the tree.

use crate::check::{Builtin, Callee, Checked, Resolution};
use crate::syntax::ast::{Ast, DeclId, DeclKind, Direction, ExprId, ExprKind};

/// A place: the declaration at its root, and the fields to it.
pub(super) type Path = Vec<Resolution>;

/// An argument, and the parameter that it is given to.
pub(crate) type Given = (ExprId, DeclId);

/// The tree and what the checker knows of it.
pub(super) struct Tree<'a> {
    pub(super) ast: &'a Ast,
    pub(super) checked: &'a Checked,
}

impl Tree<'_> {
    /// Returns the action, control or parser that an expression calls.
    pub(super) fn callee(&self, call: ExprId) -> Option<DeclId> {
        match self.checked.calls.get(&call)?.callee {
            Callee::Action(decl) | Callee::Block(decl) => Some(decl),
            _ => None,
        }
    }

    /// Returns the arguments of a call that have a direction, each with its parameter.
    pub(super) fn given(&self, call: ExprId) -> Vec<Given> {
        let Some(call) = self.checked.calls.get(&call) else { return Vec::new() };
        let (Callee::Action(decl) | Callee::Function(decl) | Callee::Method(decl) | Callee::Block(decl)) =
            call.callee
        else {
            return Vec::new();
        };
        let pairs =
            call.args.iter().zip(self.ast.params(decl)).filter_map(|(arg, param)| Some(((*arg)?, *param)));
        pairs.filter(|(_, param)| self.ast.direction(*param) != Direction::None).collect()
    }

    /// Returns true if a parameter is given back to its argument.
    pub(super) fn is_written(&self, param: DeclId) -> bool {
        matches!(self.ast.direction(param), Direction::Out | Direction::InOut)
    }

    pub(super) fn writes(&self, given: &[Given], place: ExprId) -> bool {
        given.iter().any(|(arg, param)| *arg == place && self.is_written(*param))
    }

    pub(super) fn is_variable(&self, decl: DeclId) -> bool {
        matches!(self.ast.decls[decl].kind, DeclKind::Variable { .. })
    }

    /// Returns the path of a place; elements of a stack and bits of a field have that of the whole.
    pub(super) fn path(&self, place: ExprId) -> Option<Path> {
        let (mut path, mut next) = (Vec::new(), Some(place));
        while let Some(expr) = next {
            let base = self.base(expr);
            match self.checked.resolutions[expr] {
                // Validity is a value of its own; all else that the language defines may be the whole.
                Some(Resolution::Builtin(Builtin::IsValid | Builtin::SetValid | Builtin::SetInvalid)) => {
                    path.push(Resolution::Builtin(Builtin::IsValid));
                }
                Some(Resolution::Builtin(_)) => path.clear(),
                Some(found) => path.push(found),
                None if base.is_none() => return None,
                None => {}
            }
            next = base;
        }
        path.reverse();
        Some(path)
    }

    /// Returns the expression of which another one is a field, an element or bits.
    pub(super) fn base(&self, expr: ExprId) -> Option<ExprId> {
        match self.ast.exprs[expr].kind {
            ExprKind::Member { base, .. } | ExprKind::Index { base, .. } | ExprKind::Slice { base, .. } => {
                Some(base)
            }
            _ => None,
        }
    }
}
