//! Sizes of types in bits, and the bits in front of members whose place the author leaves to the compiler.
//!
//! A member with `@flexible`, and each member of a structure with it, ends with a byte: extractors copy whole bytes. The vendor's
//! compiler finds layouts that leave no bits unused, too; no packet on a wire shows which one a program has.

use super::Checker;
use super::ty::{Ty, TyKind};
use crate::syntax::ast::{Ast, DeclId, DeclKind};

/// Returns true for a declaration with `@flexible`.
fn is_flexible(ast: &Ast, decl: DeclId) -> bool {
    ast.decls[decl].annotations.iter().any(|annotation| ast.text(annotation.name) == "flexible")
}

/// Returns the bits in front of a member of a header or structure, which begins `at` bits after the whole.
///
/// `inner` is the declaration of the member's type, if that is a header or structure; otherwise the member has `width` bits.
pub(crate) fn padding_before(
    ast: &Ast,
    (whole, member): (DeclId, DeclId),
    inner: Option<DeclId>,
    (at, width): (u64, u64),
) -> u64 {
    let flexible = is_flexible(ast, whole) || is_flexible(ast, member);
    let to_byte = (8 - at % 8) % 8;
    match inner {
        Some(inner) if flexible || is_flexible(ast, inner) => to_byte,
        None if flexible => to_byte + (8 - width % 8) % 8,
        _ => 0,
    }
}

impl Checker<'_> {
    /// Returns the fields of a header or struct.
    pub(super) fn fields(&self, decl: DeclId) -> &[DeclId] {
        match &self.ast.decls[decl].kind {
            DeclKind::Header(fields) | DeclKind::Struct(fields) => &fields.fields,
            _ => &[],
        }
    }

    /// Returns the types of the fields of a header or struct, with its type arguments in place.
    pub(super) fn field_types(&mut self, ty: Ty) -> Vec<(DeclId, Ty)> {
        let (TyKind::Header(decl, args) | TyKind::Struct(decl, args)) = self.out.types.kind(ty).clone()
        else {
            return Vec::new();
        };
        let params = super::type_params(self.ast, decl);
        let fields = self.fields(decl).to_vec();
        let field = |checker: &mut Self, field: DeclId| {
            let of = checker.out.decl_types[field];
            (field, checker.out.types.substitute(of, params, &args))
        };
        fields.into_iter().map(|id| field(self, id)).collect()
    }

    /// Returns the least and the greatest number of bits of a value; `None` for a type without a size.
    pub(super) fn size(&mut self, ty: Ty) -> Option<(u64, u64)> {
        if let Some(&size) = self.sizes.get(&ty) {
            return size;
        }
        let size = self.compute_size(ty);
        self.sizes.insert(ty, size);
        size
    }

    fn compute_size(&mut self, ty: Ty) -> Option<(u64, u64)> {
        match self.out.types.kind(ty).clone() {
            TyKind::Bool => Some((1, 1)),
            TyKind::Bits(width) | TyKind::Signed(width) => Some((width.into(), width.into())),
            TyKind::Varbit(width) => Some((0, width.into())),
            TyKind::Enum(decl) | TyKind::Newtype(decl) => {
                let of = self.representation(decl)?;
                self.size(of)
            }
            TyKind::Header(whole, _) | TyKind::Struct(whole, _) => {
                let fields = self.field_types(ty);
                fields.into_iter().try_fold((0_u64, 0_u64), |(least, most), (field, of)| {
                    let inner = match *self.out.types.kind(of) {
                        TyKind::Header(inner, _) | TyKind::Struct(inner, _) => Some(inner),
                        _ => None,
                    };
                    let width = self.size(of)?.1;
                    let padding = padding_before(self.ast, (whole, field), inner, (most, width));
                    self.add_size((least.saturating_add(padding), most.saturating_add(padding)), of)
                })
            }
            TyKind::Stack(element, number) => {
                let (least, most) = self.size(element)?;
                Some((least.saturating_mul(number.into()), most.saturating_mul(number.into())))
            }
            TyKind::Tuple(parts) => parts.iter().try_fold((0, 0), |sum, &of| self.add_size(sum, of)),
            _ => None,
        }
    }

    fn add_size(&mut self, (least, most): (u64, u64), ty: Ty) -> Option<(u64, u64)> {
        let (low, high) = self.size(ty)?;
        Some((least.saturating_add(low), most.saturating_add(high)))
    }

    /// Returns the type that represents a serialisable enumeration or a new type.
    pub(super) fn representation(&self, decl: DeclId) -> Option<Ty> {
        self.out.representation(self.ast, decl)
    }
}
