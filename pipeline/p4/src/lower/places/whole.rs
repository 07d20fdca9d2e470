//! Headers among the metadata that a program uses as structures.
//!
//! A header whose validity nothing changes or asks for, and that nothing extracts, emits or passes on, is only a group of
//! fields. It has no validity on the chip either, so its fields are metadata.

use super::super::Lower;
use crate::check::{Callee, Resolution, Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::{DeclKind, ExprId, ExprKind};
use rustc_hash::FxHashSet;

/// The places of declarations of headers that a program names as a whole.
pub(in crate::lower) type Whole = FxHashSet<Span>;

impl Lower<'_> {
    /// Returns the members that are headers and that some expression names as a whole.
    pub(super) fn whole_headers(&self) -> Whole {
        let ast = self.ast;
        // Expressions of which a field is named.
        let mut inner: FxHashSet<ExprId> = FxHashSet::default();
        for (expr, data) in ast.exprs.iter() {
            if let (ExprKind::Member { base, .. }, Some(Resolution::Field(..))) =
                (&data.kind, self.checked.resolutions[expr])
            {
                inner.insert(*base);
            }
        }
        // Structures that are arguments of blocks are not copied.
        let mut bound: FxHashSet<ExprId> = FxHashSet::default();
        for call in self.checked.calls.values().filter(|call| matches!(call.callee, Callee::Block(_))) {
            bound.extend(call.args.iter().flatten());
        }
        let mut whole = Whole::default();
        for (expr, _) in ast.exprs.iter().filter(|(expr, _)| !inner.contains(expr)) {
            let ty = self.checked.expr_types[expr];
            let header = matches!(self.checked.types.kind(ty), TyKind::Header(..));
            let Some(Resolution::Field(decl, _) | Resolution::Decl(decl)) = self.checked.resolutions[expr]
            else {
                continue;
            };
            if header {
                whole.insert(ast.decls[decl].name.span);
            } else if !bound.contains(&expr) {
                self.nested_headers(ty, &mut whole);
            }
        }
        whole
    }

    /// Adds the headers of a structure.
    fn nested_headers(&self, ty: Ty, whole: &mut Whole) {
        let TyKind::Struct(decl, _) = self.checked.types.kind(ty) else { return };
        let DeclKind::Struct(of) = &self.ast.decls[*decl].kind else { return };
        for &field in &of.fields {
            whole.insert(self.ast.decls[field].name.span);
            self.nested_headers(self.checked.decl_types[field], whole);
        }
    }
}
