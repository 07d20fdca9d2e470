//! Types as numbers of bits.

use super::super::Lower;
use super::walk::Walk;
use crate::check::{Ty, TyKind, padding_before, type_params};
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
        self.members_of(decl, &args)
    }

    /// Returns the members of a structure or header, as [`Lower::type_members`] does.
    pub(in crate::lower) fn members_of(&mut self, decl: DeclId, args: &[Ty]) -> Option<Vec<Member>> {
        let ast = self.ast;
        let (DeclKind::Header(fields) | DeclKind::Struct(fields)) = &ast.decls[decl].kind else {
            return None;
        };
        let mut at = 0_u32;
        let mut members = Vec::new();
        for &field in &fields.fields {
            let of = self.checked.decl_types[field];
            let of = self.checked.types.substitute(of, type_params(ast, decl), args);
            let width = self.type_bits(of)?;
            let inner = match *self.checked.types.kind(of) {
                TyKind::Header(inner, _) | TyKind::Struct(inner, _) => Some(inner),
                _ => None,
            };
            let padding = padding_before(ast, (decl, field), inner, (at.into(), width.into()));
            at = at.checked_add(padding as u32)?;
            members.push(Member { decl: field, at, width });
            at = at.checked_add(width)?;
        }
        Some(members)
    }

    /// Returns the first bit of each scalar of a structure or header, and its number of bits; `None` if a member's values are not
    /// bits.
    pub(in crate::lower) fn scalars_of(&mut self, decl: DeclId, args: &[Ty]) -> Option<Vec<(u32, u32)>> {
        let ast = self.ast;
        let mut found = Vec::new();
        for member in self.members_of(decl, args)? {
            let ty = self.checked.decl_types[member.decl];
            let ty = self.checked.types.substitute(ty, type_params(ast, decl), args);
            match self.checked.types.kind(ty).clone() {
                TyKind::Header(inner, of) | TyKind::Struct(inner, of) => {
                    let inner = self.scalars_of(inner, &of)?;
                    found.extend(inner.into_iter().map(|(at, width)| (member.at + at, width)));
                }
                _ => found.push((member.at, member.width)),
            }
        }
        Some(found)
    }
}
