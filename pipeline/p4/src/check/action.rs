//! Actions.

use super::ty::{Ty, TyKind};
use super::{Checker, Context};
use crate::syntax::ast::{ActionDecl, DeclId, Direction};

impl Checker<'_> {
    pub(super) fn action(&mut self, id: DeclId, action: &ActionDecl) -> Ty {
        self.scopes.enter();
        self.params(&action.params);
        let context = std::mem::replace(&mut self.context, Context::Action);
        self.statements(&action.body);
        self.context = context;
        self.scopes.leave();
        self.out.types.make(TyKind::Action(id))
    }

    /// Returns the parameters of an action that have a direction, which the program binds, and those that the control plane
    /// gives.
    pub(super) fn action_params(&self, action: DeclId) -> (Vec<DeclId>, Vec<DeclId>) {
        self.ast.params(action).iter().partition(|&&param| self.ast.direction(param) != Direction::None)
    }
}
