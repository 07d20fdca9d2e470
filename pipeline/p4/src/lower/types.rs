//! Widths and signs of types.

use super::Lower;
use super::frame::Frame;
use crate::check::{Ty, TyKind};
use crate::syntax::ast::{DeclKind, ExprId};

/// The form of a scalar type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    /// Width in bits.
    pub(super) width: u32,
    /// True for `int<W>`.
    pub(super) signed: bool,
}

/// The width of `error` and of enumerations without a representation.
const CODE_BITS: u32 = 8;

impl Lower<'_> {
    /// Returns the form of a scalar type: bits, `bool`, an enumeration, a new type. `None` for all others.
    pub(super) fn scalar(&self, ty: Ty) -> Option<Scalar> {
        let (width, signed) = match *self.checked.types.kind(self.checked.base(self.ast, ty)) {
            TyKind::Bits(width) => (width, false),
            TyKind::Signed(width) => (width, true),
            TyKind::Bool => (1, false),
            TyKind::Error | TyKind::Enum(_) => (CODE_BITS, false),
            _ => return None,
        };
        Some(Scalar { width, signed })
    }

    /// Returns the type of an expression in a block, with type arguments in place.
    pub(super) fn ty(&mut self, frame: &Frame, expr: ExprId) -> Ty {
        self.pipe.ty(self.ast, self.checked, frame.block, expr)
    }

    /// Returns the form of an expression's type.
    pub(super) fn scalar_of(&mut self, frame: &Frame, expr: ExprId) -> Option<Scalar> {
        let ty = self.ty(frame, expr);
        self.scalar(ty)
    }

    /// Returns the number that represents a member of an enumeration without values.
    pub(super) fn code(&self, member: crate::syntax::ast::DeclId) -> u128 {
        let parent = self.ast.decls[member].parent;
        let members = match parent.map(|decl| &self.ast.decls[decl].kind) {
            Some(DeclKind::Enum(of)) => of.members.as_slice(),
            Some(DeclKind::Error { members }) => members.as_slice(),
            _ => &[],
        };
        members.iter().position(|&other| other == member).unwrap_or(0) as u128
    }
}
