//! Headers that a callee gets as `out`: they are invalid before the call, and whoever is to emit them has to make them valid.

use super::Core;
use super::walk;
use crate::check::{Builtin, Callee, Resolution, Ty, TyKind, type_params};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, Direction, ExprId, ExprKind, Name, Stmt, StmtKind};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    walk::statements(core, &mut |core, _, stmt, out| {
        if let StmtKind::Call(call) = stmt.kind {
            for place in core.out_places(call) {
                core.invalidate(place, core.checked.expr_types[place], stmt.span, out);
            }
        }
        out.push(stmt);
    });
}

impl Core<'_> {
    /// Returns the places that an action or a control gets as `out`.
    fn out_places(&self, call: ExprId) -> Vec<ExprId> {
        let tree = self.tree();
        let is_called = tree.callee(call).is_some_and(|callee| {
            matches!(self.ast.decls[callee].kind, DeclKind::Action(_) | DeclKind::Control(_))
        });
        if !is_called {
            return Vec::new();
        }
        let given = tree.given(call).into_iter();
        let out = given.filter(|(_, param)| self.ast.direction(*param) == Direction::Out);
        out.map(|(place, _)| place).filter(|place| tree.path(*place).is_some()).collect()
    }

    /// Adds `place.setInvalid();` for each header of a place.
    fn invalidate(&mut self, place: ExprId, ty: Ty, at: Span, out: &mut Vec<Stmt>) {
        match self.checked.types.kind(ty).clone() {
            TyKind::Header(..) => {
                let base = self.copy(place);
                let callee = self.member(base, "setInvalid", at);
                let of = Builtin::SetInvalid;
                self.checked.resolutions[callee] = Some(Resolution::Builtin(of));
                out.push(self.call_of(callee, Callee::Builtin(of), at));
            }
            TyKind::Struct(decl, args) => {
                let fields = match &self.ast.decls[decl].kind {
                    DeclKind::Struct(of) => of.fields.clone(),
                    _ => return,
                };
                for (position, field) in (0_u32..).zip(fields) {
                    let own = self.checked.decl_types[field];
                    let ty = self.checked.types.substitute(own, type_params(self.ast, decl), &args);
                    if !matches!(
                        self.checked.types.kind(ty),
                        TyKind::Header(..) | TyKind::Struct(..) | TyKind::Stack(..)
                    ) {
                        continue;
                    }
                    let base = self.copy(place);
                    let member = Name { symbol: self.ast.decls[field].name.symbol, span: at };
                    let inner = self.expr(ExprKind::Member { base, member }, ty, at);
                    self.checked.resolutions[inner] = Some(Resolution::Field(field, position));
                    self.invalidate(inner, ty, at, out);
                }
            }
            TyKind::Stack(element, size) => {
                for index in 0..size {
                    let (base, index) = (self.copy(place), self.number(index, at));
                    let inner = self.expr(ExprKind::Index { base, index }, element, at);
                    self.invalidate(inner, element, at, out);
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, base: ExprId, name: &str, at: Span) -> ExprId {
        let member = Name { symbol: self.ast.names.intern(name), span: at };
        self.expr(ExprKind::Member { base, member }, Ty::UNKNOWN, at)
    }
}
