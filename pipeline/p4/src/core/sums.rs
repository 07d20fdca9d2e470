//! Constants that are added one after another: `len - 14 - 20 - 8` is `len - 42`.
//!
//! Numbers wrap, so the constants may be added first. Each sum would take an instruction, and a stage behind the one before.

use super::Core;
use crate::check::{TyKind, Value, wrap};
use crate::syntax::ast::{BinaryOp, ExprId, ExprKind, IntLiteral, Width};
use num_bigint::BigInt;

/// See the module.
pub(super) fn run(core: &mut Core<'_>) {
    // The parser makes parts before what they are parts of.
    for expr in core.ast.exprs.keys() {
        core.join(expr);
    }
}

impl Core<'_> {
    fn join(&mut self, expr: ExprId) {
        let ty = self.checked.expr_types[expr];
        let kind = self.checked.types.kind(ty).clone();
        let width = match kind {
            TyKind::Bits(bits) => Width { bits, signed: false },
            TyKind::Signed(bits) => Width { bits, signed: true },
            _ => return,
        };
        if self.checked.values.contains_key(&expr) {
            return;
        }
        let Some((inner, second)) = self.plus(expr) else { return };
        let Some((value, first)) = self.plus(inner) else { return };
        if self.checked.expr_types[inner] != ty {
            return;
        }
        let sum = unsigned(first + second, width.bits);
        let negative = unsigned(-&sum, width.bits);
        // The smaller number is what an author would write.
        let (op, number) = if negative < sum { (BinaryOp::Sub, negative) } else { (BinaryOp::Add, sum) };
        let at = self.ast.exprs[expr].span;
        let literal = IntLiteral { value: number.magnitude().clone(), width: Some(width) };
        let right = self.expr(ExprKind::Int(literal), ty, at);
        self.checked.values.insert(right, Value::Int(wrap(&number, &kind)));
        self.ast.exprs[expr].kind = ExprKind::Binary { op, left: value, right };
    }

    /// Returns what a sum or difference adds to its left side, if it is known when the program is compiled.
    fn plus(&self, expr: ExprId) -> Option<(ExprId, BigInt)> {
        let ExprKind::Binary { op, left, right } = self.ast.exprs[expr].kind else { return None };
        let number = self.checked.values.get(&right)?.as_int()?.clone();
        match op {
            BinaryOp::Add => Some((left, number)),
            BinaryOp::Sub => Some((left, -number)),
            _ => None,
        }
    }
}

/// Returns the low bits of a number.
fn unsigned(number: BigInt, bits: u32) -> BigInt {
    let modulus = BigInt::from(1) << bits;
    ((number % &modulus) + &modulus) % modulus
}
