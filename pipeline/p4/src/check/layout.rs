//! Sizes of types in bits.

use super::Checker;
use super::ty::{Ty, TyKind};
use crate::syntax::ast::{DeclId, DeclKind};

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
            TyKind::Header(..) | TyKind::Struct(..) => {
                let fields = self.field_types(ty);
                fields.into_iter().try_fold((0, 0), |sum, (_, of)| self.add_size(sum, of))
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
