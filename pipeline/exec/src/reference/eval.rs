//! Evaluates expressions, conditions and hashes.

use super::{Phv, ROOM};
use sluice_asic::alu::{funnel_shift, width_mask};
use sluice_asic::hash::BitString;
use sluice_ir::{Cond, Expr, HashData, Program};

/// Values that an expression can read.
pub(super) struct Env<'a> {
    pub(super) program: &'a Program,
    pub(super) phv: &'a Phv,
    /// Values of the enclosing action's parameters.
    pub(super) args: &'a [u128],
}

impl Env<'_> {
    /// Returns the value of an expression, which fits the expression's width.
    pub(super) fn value(&self, expr: &Expr) -> u128 {
        match expr {
            Expr::Const(value, width) => value & width_mask((*width).into()),
            Expr::Field(field) => self.phv.field(*field),
            Expr::Param(index, width) => {
                let arg = self.args.get(usize::from(*index)).copied().unwrap_or(0);
                arg & width_mask((*width).into())
            }
            Expr::Slice(of, _, lo) => {
                let above = self.value(of).checked_shr((*lo).into()).unwrap_or(0);
                above & width_mask(expr.width(self.program).into())
            }
            Expr::Cast(of, width) => self.value(of) & width_mask((*width).into()),
            Expr::Alu(op, a, b) => op.eval(self.value(a), self.value(b), a.width(self.program).into()),
            // The verifier has checked that both are at most 32 bits wide.
            Expr::Funnel(high, low, by) => {
                let width = high.width(self.program).into();
                funnel_shift(self.value(high) as u64, self.value(low) as u64, (*by).into(), width).into()
            }
        }
    }

    /// Returns true if a condition holds.
    pub(super) fn holds(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Cmp(op, a, b) => op.holds(self.value(a), self.value(b)),
            Cond::Valid(header) => self.phv.is_valid(*header),
            Cond::Not(a) => !self.holds(a),
            Cond::And(a, b) => self.holds(a) && self.holds(b),
            Cond::Or(a, b) => self.holds(a) || self.holds(b),
        }
    }

    /// Returns the result of a hash computation: inputs joined most significant bit first, cut to the width, seeded,
    /// rotated. An impossible function, which the verifier refuses, hashes to 0.
    pub(super) fn hash(&self, data: &HashData) -> u64 {
        let mut values: Vec<u128> = data.inputs.iter().map(|expr| self.value(expr)).collect();
        for pair in &data.symmetric {
            let [a, b] = pair.map(usize::from);
            if let (Some(&left), Some(&right)) = (values.get(a), values.get(b)) {
                (values[a.min(b)], values[a.max(b)]) = (0, left ^ right);
            }
        }
        let mut input = BitString::with_capacity(ROOM);
        for (expr, value) in data.inputs.iter().zip(values) {
            input.push(value, expr.width(self.program).into());
        }
        data.function().map_or(0, |f| f.hash(&input))
    }
}
