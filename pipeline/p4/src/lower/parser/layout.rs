//! Types as numbers of bits.

use super::super::Lower;
use super::walk::Walk;
use crate::check::{Ty, TyKind, type_params};
use crate::syntax::ast::{DeclId, DeclKind};

/// A member of a structure or header, by its bits in the value of the whole.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Member {
    /// The declaration of the field.
    pub(in crate::lower) decl: DeclId,
    /// Distance of its first bit from the first bit of the whole.
    pub(in crate::lower) at: u32,
    /// Number of bits.
    pub(in crate::lower) width: u32,
}

impl Walk<'_, '_> {
    /// Returns the number of bits of a type; `None` if its values are not bits.
    pub(super) fn bits(&mut self, ty: Ty) -> Option<u32> {
        self.cx.type_bits(ty)
    }

    /// Returns the members of a structure or header; `None` if a member's values are not bits.
    pub(super) fn members(&mut self, ty: Ty) -> Option<Vec<Member>> {
        self.cx.type_members(ty)
    }
}

impl Lower<'_> {
    /// Returns the number of bits of a type; `None` if its values are not bits.
    pub(in crate::lower) fn type_bits(&mut self, ty: Ty) -> Option<u32> {
        if let Some(scalar) = self.scalar(ty) {
            return Some(scalar.width);
        }
        match self.checked.types.kind(ty).clone() {
            TyKind::Header(..) | TyKind::Struct(..) => {
                self.type_members(ty)?.last().map_or(Some(0), |last| last.at.checked_add(last.width))
            }
            TyKind::Stack(element, number) => self.type_bits(element)?.checked_mul(number),
            TyKind::Tuple(parts) => {
                parts.iter().try_fold(0_u32, |sum, &part| sum.checked_add(self.type_bits(part)?))
            }
            _ => None,
        }
    }

    /// Returns the members of a structure or header; `None` if a member's values are not bits.
    pub(in crate::lower) fn type_members(&mut self, ty: Ty) -> Option<Vec<Member>> {
        let (TyKind::Header(decl, args) | TyKind::Struct(decl, args)) = self.checked.types.kind(ty).clone()
        else {
            return None;
        };
        let ast = self.ast;
        let (DeclKind::Header(fields) | DeclKind::Struct(fields)) = &ast.decls[decl].kind else {
            return None;
        };
        let mut at = 0_u32;
        let mut members = Vec::new();
        for &field in &fields.fields {
            let of = self.checked.decl_types[field];
            let of = self.checked.types.substitute(of, type_params(ast, decl), &args);
            let width = self.type_bits(of)?;
            members.push(Member { decl: field, at, width });
            at = at.checked_add(width)?;
        }
        Some(members)
    }
}
