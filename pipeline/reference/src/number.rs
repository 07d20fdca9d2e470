//! Arithmetic on numbers of a width.

use crate::bits::low_bits;
use num_bigint::{BigInt, Sign};
use sluice_p4::syntax::ast::{BinaryOp, UnaryOp};

/// The range of a type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// `bit<W>`
    Unsigned(u32),
    /// `int<W>`
    Signed(u32),
    /// `int`
    Any,
}

/// A shift by this many bits has the same result as a longer one.
const LONGEST_SHIFT: u32 = 4096;

impl Range {
    /// Returns the number of the range with the same low bits.
    pub(crate) fn wrap(self, value: &BigInt) -> BigInt {
        match self {
            Range::Unsigned(width) => low_bits(value, width),
            Range::Signed(0) => BigInt::from(0),
            Range::Signed(width) => {
                let low = low_bits(value, width);
                if low.bit(u64::from(width) - 1) { low - (BigInt::from(1) << width) } else { low }
            }
            Range::Any => value.clone(),
        }
    }

    /// Returns the number of the range that is nearest.
    fn saturate(self, value: BigInt) -> BigInt {
        let power = |bits: u32| BigInt::from(1) << bits;
        match self {
            Range::Unsigned(width) => value.clamp(BigInt::from(0), power(width) - 1),
            Range::Signed(width) => {
                let half = power(width.saturating_sub(1));
                value.clamp(-&half, half - 1)
            }
            Range::Any => value,
        }
    }

    /// Returns the width in bits; 0 for a type without a width.
    pub(crate) fn width(self) -> u32 {
        match self {
            Range::Unsigned(width) | Range::Signed(width) => width,
            Range::Any => 0,
        }
    }
}

/// Returns the result of a prefix operator; `None` if it does not take numbers.
pub(crate) fn unary(op: UnaryOp, range: Range, value: &BigInt) -> Option<BigInt> {
    match op {
        UnaryOp::Complement => Some(range.wrap(&(-value - 1))),
        UnaryOp::Negate => Some(range.wrap(&-value)),
        UnaryOp::Plus => Some(value.clone()),
        UnaryOp::Not => None,
    }
}

/// Returns the result of an infix operator on numbers of a range; of a shift, the range is that of the left operand. `None` if
/// there is no such number: for comparisons, and for a division by 0 or of numbers below 0.
pub(crate) fn binary(op: BinaryOp, range: Range, left: &BigInt, right: &BigInt) -> Option<BigInt> {
    let positive = |value: &BigInt| value.sign() != Sign::Minus;
    let value = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::AddSat => range.saturate(left + right),
        BinaryOp::SubSat => range.saturate(left - right),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::Div | BinaryOp::Mod => {
            if !positive(left) || right.sign() != Sign::Plus {
                return None;
            }
            if op == BinaryOp::Div { left / right } else { left % right }
        }
        BinaryOp::Shl | BinaryOp::Shr => {
            if !positive(right) {
                return None;
            }
            let by = u32::try_from(right).map_or(LONGEST_SHIFT, |by| by.min(LONGEST_SHIFT));
            if op == BinaryOp::Shl { left << by } else { left >> by }
        }
        _ => return None,
    };
    Some(range.wrap(&value))
}

/// Returns the result of a comparison; `None` for other operators.
pub(crate) fn compare<T: PartialOrd>(op: BinaryOp, left: &T, right: &T) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => left < right,
        BinaryOp::Le => left <= right,
        BinaryOp::Gt => left > right,
        BinaryOp::Ge => left >= right,
        BinaryOp::Eq => left == right,
        BinaryOp::Ne => left != right,
        _ => return None,
    })
}
