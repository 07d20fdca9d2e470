//! Leaves of expressions: bits of a constant, a field or a parameter.

use sluice_ir::{Expr, Field, Program};

/// Leaf of an expression: `width` bits of a base value from bit `lo` on.
#[derive(Clone, Copy)]
pub(super) struct Leaf {
    pub(super) base: Base,
    pub(super) lo: u16,
    pub(super) width: u16,
}

#[derive(Clone, Copy)]
pub(super) enum Base {
    Const(u128),
    Field(Field),
    Param(u16),
}

/// Returns the leaf for an expression without operations; `None` if the expression has an operation.
pub(super) fn leaf(program: &Program, e: &Expr) -> Option<Leaf> {
    Some(match e {
        Expr::Const(v, w) => Leaf { base: Base::Const(*v), lo: 0, width: *w },
        Expr::Field(f) => Leaf { base: Base::Field(*f), lo: 0, width: program.fields[*f].width },
        Expr::Param(p, w) => Leaf { base: Base::Param(*p), lo: 0, width: *w },
        Expr::Slice(inner, hi, lo) => {
            let l = leaf(program, inner)?;
            let width = l.width.saturating_sub(*lo).min(hi.saturating_add(1).saturating_sub(*lo));
            Leaf { lo: l.lo + lo, width, ..l }
        }
        Expr::Cast(inner, w) => {
            let l = leaf(program, inner)?;
            Leaf { width: l.width.min(*w), ..l }
        }
        Expr::Alu(..) | Expr::Funnel(..) => return None,
    })
}
