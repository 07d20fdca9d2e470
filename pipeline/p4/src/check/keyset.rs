//! Keys of `select` cases and of table entries: values, masks, ranges and value sets.

use super::Checker;
use super::conversion::Role;
use super::ty::{Ty, TyKind};
use super::type_use::counted;
use crate::diagnostic::{Class, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind, Select};

impl Checker<'_> {
    /// Checks the keys and cases of a `select`, without the states.
    pub(super) fn select(&mut self, select: &Select) {
        let types: Vec<Ty> = select.keys.iter().map(|&key| self.select_key(key)).collect();
        for case in &select.cases {
            self.keys(&case.keys, &select.keys, &types, case.span);
        }
    }

    fn select_key(&mut self, key: ExprId) -> Ty {
        let ty = self.value(key);
        if ty == Ty::INTEGER {
            let at = self.ast.exprs[key].span;
            self.report(
                Diagnostic::error(Class::Type, at, "a key of a `select` is a number without a width")
                    .help("write the width in front of the number: `8w1`"),
            );
            return Ty::UNKNOWN;
        }
        ty
    }

    /// Checks the keys of a case or entry against the values that they are compared with.
    pub(super) fn keys(&mut self, keys: &[ExprId], values: &[ExprId], types: &[Ty], at: Span) {
        if let ([key], true) = (keys, values.len() > 1)
            && let ExprKind::List(list) = &self.ast.exprs[*key].kind
        {
            self.keys(list, values, types, at);
            return;
        }
        if let [key] = keys {
            let all = matches!(self.ast.exprs[*key].kind, ExprKind::Default | ExprKind::Any);
            if all || (keys.len() != values.len() && self.value_set(*key, types)) {
                self.expr(*key);
                return;
            }
        }
        if keys.len() != values.len() {
            let message = format!(
                "this has {}; {} expected",
                counted(keys.len(), "key"),
                match values.len() {
                    1 => "1 is".to_owned(),
                    number => format!("{number} are"),
                }
            );
            for &key in keys {
                self.key(key, None);
            }
            self.report(
                Diagnostic::error(Class::Type, at, message)
                    .help("give one key per value, in the same order; `_` matches any value"),
            );
            return;
        }
        for (&key, (&value, &ty)) in keys.iter().zip(values.iter().zip(types)) {
            self.key(key, Some((value, ty)));
        }
    }

    /// Returns true if a key is a value set whose elements have all the key's fields.
    fn value_set(&mut self, key: ExprId, types: &[Ty]) -> bool {
        if !matches!(self.ast.exprs[key].kind, ExprKind::Name { .. }) {
            return false;
        }
        let ty = self.expr(key);
        let TyKind::Set(element) = *self.out.types.kind(ty) else { return false };
        let fields = self.field_types(element);
        fields.len() == types.len()
            && fields.iter().zip(types).all(|((_, field), ty)| self.unify(*field, *ty))
    }

    fn key(&mut self, key: ExprId, value: Option<(ExprId, Ty)>) {
        let ty = value.map_or(Ty::UNKNOWN, |(_, ty)| ty);
        let (first, second) = match self.ast.exprs[key].kind {
            ExprKind::Default | ExprKind::Any => {
                self.expr(key);
                return;
            }
            ExprKind::Mask { value, mask } => (value, Some(mask)),
            ExprKind::Range { first, last } => (first, Some(last)),
            _ => (key, None),
        };
        for part in [Some(first), second].into_iter().flatten() {
            let found = self.value(part);
            if let TyKind::Set(element) = *self.out.types.kind(found) {
                self.set_key(part, element, ty);
                continue;
            }
            let Some((value, ty)) = value else { continue };
            let wanted = if second.is_some() { self.base_of(ty) } else { ty };
            if self.require(part, wanted, Role::KeyOf(value)) && !self.is_static(part) {
                self.not_constant(part, "a key");
            }
        }
        if second.is_some() {
            self.out.expr_types[key] = self.out.types.make(TyKind::Set(ty));
            if !matches!(
                self.out.types.kind(self.base_of(ty)),
                TyKind::Bits(_) | TyKind::Signed(_) | TyKind::Unknown | TyKind::Any
            ) {
                let message = format!("{} cannot be matched by a mask or range", self.describe(ty));
                let at = self.ast.exprs[key].span;
                self.error(Class::Type, at, message);
            }
        }
    }

    /// Checks a value set as a key of one value: its elements have the type of the value, or are structs of one such field.
    fn set_key(&mut self, key: ExprId, element: Ty, ty: Ty) {
        let fields = self.field_types(element);
        let inner = match fields.as_slice() {
            [(_, only)] => *only,
            _ => element,
        };
        if !self.unify(inner, ty) {
            let (found, expected) = (self.describe(element), self.describe(ty));
            let message = format!("the value set has elements of {found}; the key has the type {expected}");
            let at = self.ast.exprs[key].span;
            self.error(Class::Type, at, message);
        }
    }
}
