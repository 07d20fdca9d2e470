//! Draws control blocks.

use super::Writer;
use super::scope::Scope;
use sluice_ir::{Block, Cond, Loc, PrimitiveKind, Stmt, StmtKind};

impl Writer<'_, '_> {
    /// Draws a block of statements; conditions and outcomes nest at most `depth` deep.
    pub(super) fn block(&mut self, scope: &mut Scope, depth: usize, statements: usize) -> Block {
        (0..statements).map(|_| self.statement(scope, depth)).collect()
    }

    fn statement(&mut self, scope: &mut Scope, depth: usize) -> Stmt {
        match self.d.below(if depth == 0 { 4 } else { 6 }) {
            0 | 1 => self.apply(scope, depth),
            2 => {
                let owned = self.owned(scope, None);
                let action = self.action(scope, false, &owned);
                Stmt { kind: StmtKind::Call(action), loc: Loc::default() }
            }
            3 if depth == self.limits.depth => self.validity(scope),
            3 => self.apply(scope, depth),
            _ => self.branch(scope, depth),
        }
    }

    fn branch(&mut self, scope: &Scope, depth: usize) -> Stmt {
        let (then, otherwise) =
            (1 + self.d.below(self.limits.statements), self.d.below(self.limits.statements));
        let header = if self.d.chance(1, 2) { self.d.pick(&scope.maybe) } else { None };
        let (cond, mut inside) = match header {
            Some(header) => (Cond::Valid(header), scope.with(header)),
            None => (self.condition(scope), scope.clone()),
        };
        let then = self.block(&mut inside, depth - 1, then);
        let otherwise = self.block(&mut scope.clone(), depth - 1, otherwise);
        Stmt { kind: StmtKind::If(cond, then, otherwise), loc: Loc::default() }
    }

    /// Draws an action that validates a header that may be missing, or invalidates one. Only on the path of all packets, so
    /// that the scope stays true.
    fn validity(&mut self, scope: &mut Scope) -> Stmt {
        let owned = super::action::Owned::default();
        let kind = match self.d.pick(&scope.maybe) {
            Some(header) if self.d.chance(1, 2) => {
                scope.gain(header);
                PrimitiveKind::SetValid(header, true)
            }
            Some(header) => PrimitiveKind::SetValid(header, false),
            None => {
                let action = self.action(scope, false, &owned);
                return Stmt { kind: StmtKind::Call(action), loc: Loc::default() };
            }
        };
        let action = self.push_action(vec![kind], super::value::Draft::default());
        Stmt { kind: StmtKind::Call(action), loc: Loc::default() }
    }
}
