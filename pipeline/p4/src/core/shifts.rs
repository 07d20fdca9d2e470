//! The low bits of a value that is shifted right by a constant: `(bit<32>)(stamp >> 8)` is `stamp[39:8]`.
//!
//! Every unit of the chip reads a slice, and no unit but an ALU shifts.

use super::Core;
use crate::check::{Ty, TyKind};
use crate::syntax::ast::{BinaryOp, ExprId, ExprKind};

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    for expr in core.ast.exprs.keys() {
        let ExprKind::Cast { operand, .. } = core.ast.exprs[expr].kind else { continue };
        let Some((value, by)) = core.shifted(operand) else { continue };
        let [Some(whole), Some(kept)] = [value, expr].map(|of| core.bits(of)) else { continue };
        if by + kept <= whole {
            let at = core.ast.exprs[expr].span;
            let [hi, lo] = [by + kept - 1, by].map(|bit| core.number(bit, at));
            core.ast.exprs[expr].kind = ExprKind::Slice { base: value, hi, lo };
        }
    }
}

impl Core<'_> {
    /// Returns a field or variable and the number of bits by which it is shifted.
    fn shifted(&self, expr: ExprId) -> Option<(ExprId, u32)> {
        let ExprKind::Binary { op: BinaryOp::Shr, left, right } = self.ast.exprs[expr].kind else {
            return None;
        };
        let is_place = matches!(self.ast.exprs[left].kind, ExprKind::Name { .. } | ExprKind::Member { .. });
        let by = self.checked.values.get(&right)?.as_u32()?;
        (is_place && !self.checked.values.contains_key(&left)).then_some((left, by))
    }

    /// Returns the width of an unsigned number.
    fn bits(&self, expr: ExprId) -> Option<u32> {
        let ty: Ty = self.checked.expr_types[expr];
        match *self.checked.types.kind(ty) {
            TyKind::Bits(width) => Some(width),
            _ => None,
        }
    }
}
