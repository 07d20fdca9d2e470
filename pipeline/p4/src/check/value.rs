//! Compile-time values, and the operators on them.
//!
//! A value of type `bit<W>` is between 0 and 2^W - 1, one of type `int<W>` between -2^(W-1) and 2^(W-1) - 1. A value of type
//! `int` has no width, but at most [`MAX_WIDTH`] bits, so that a short program cannot ask for a number that fills the memory.

use super::ty::TyKind;
use crate::names::Symbol;
use crate::syntax::ast::{BinaryOp, DeclId, UnaryOp};
use num_bigint::{BigInt, Sign};

/// The greatest width of a type, in bits.
pub const MAX_WIDTH: u32 = 2048;

/// A value that is known at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`
    Bool(bool),
    /// A number; also the value of a member of a serialisable enumeration.
    Int(BigInt),
    /// The text of a string.
    Text(Symbol),
    /// A member of an enumeration without values, of `error` or of `match_kind`.
    Member(DeclId),
    /// The values of a list, or of the fields of a struct or header in order.
    List(Vec<Value>),
}

impl Value {
    /// Returns the number, if the value is one.
    #[must_use]
    pub fn as_int(&self) -> Option<&BigInt> {
        match self {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number of values inside that are no lists.
    pub(super) fn numbers(&self) -> usize {
        match self {
            Value::List(values) => values.iter().map(Value::numbers).fold(0, usize::saturating_add),
            _ => 1,
        }
    }

    /// Returns the truth value, if the value is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number as a `u32`, if the value is a number that fits.
    #[must_use]
    pub fn as_u32(&self) -> Option<u32> {
        self.as_int().and_then(|value| u32::try_from(value).ok())
    }
}

/// Returns 2^`width`.
fn power(width: u32) -> BigInt {
    BigInt::from(1) << width
}

/// Returns the value of a numeric type with the same low bits as `value`. A type without a width leaves the value as it is.
#[must_use]
pub fn wrap(value: &BigInt, kind: &TyKind) -> BigInt {
    match *kind {
        TyKind::Bits(width) => low_bits(value, width),
        TyKind::Signed(width) => {
            let low = low_bits(value, width);
            if low >= power(width.saturating_sub(1)) { low - power(width) } else { low }
        }
        _ => value.clone(),
    }
}

/// Returns the low `width` bits of the two's complement of `value`.
fn low_bits(value: &BigInt, width: u32) -> BigInt {
    if value.sign() != Sign::Minus && value.bits() <= u64::from(width) {
        return value.clone();
    }
    value & (power(width) - 1)
}

/// Returns the bits `hi` to `lo` of a value.
#[must_use]
pub fn slice(value: &BigInt, hi: u32, lo: u32) -> BigInt {
    low_bits(&(value >> lo), hi - lo + 1)
}

/// Returns the value limited to the range of a type, as saturating operators do.
fn saturate(value: BigInt, kind: &TyKind) -> BigInt {
    let (least, greatest) = match *kind {
        TyKind::Bits(width) => (BigInt::from(0), power(width) - 1),
        TyKind::Signed(width) => (-power(width.saturating_sub(1)), power(width.saturating_sub(1)) - 1),
        _ => return value,
    };
    value.clamp(least, greatest)
}

/// Applies a prefix operator to a value of a type; `Err` says why there is no result.
pub fn unary(op: UnaryOp, kind: &TyKind, value: &Value) -> Result<Value, &'static str> {
    Ok(match (op, value) {
        (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOp::Complement, Value::Int(value)) => Value::Int(wrap(&(-value - 1), kind)),
        (UnaryOp::Negate, Value::Int(value)) => Value::Int(wrap(&-value, kind)),
        (UnaryOp::Plus, Value::Int(value)) => Value::Int(value.clone()),
        _ => return Err("the operator does not take this value"),
    })
}

/// Applies an infix operator to values of a type; for shifts, `kind` is the type of the left operand. `Err` says why there is no
/// result. Concatenation is [`concat()`].
pub fn binary(op: BinaryOp, kind: &TyKind, left: &Value, right: &Value) -> Result<Value, &'static str> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => numbers(op, kind, left, right),
        (Value::Bool(left), Value::Bool(right)) => Ok(Value::Bool(match op {
            BinaryOp::And => *left && *right,
            BinaryOp::Or => *left || *right,
            BinaryOp::Eq => left == right,
            BinaryOp::Ne => left != right,
            _ => return Err("the operator does not take truth values"),
        })),
        _ => match op {
            BinaryOp::Eq => Ok(Value::Bool(left == right)),
            BinaryOp::Ne => Ok(Value::Bool(left != right)),
            _ => Err("the operator does not take these values"),
        },
    }
}

fn numbers(op: BinaryOp, kind: &TyKind, left: &BigInt, right: &BigInt) -> Result<Value, &'static str> {
    let zero = BigInt::from(0);
    let value = match op {
        BinaryOp::Mul => left * right,
        BinaryOp::Div | BinaryOp::Mod => {
            if *right == zero {
                return Err("the divisor is 0");
            }
            if *left < zero || *right < zero {
                return Err("numbers below 0 cannot be divided");
            }
            if op == BinaryOp::Div { left / right } else { left % right }
        }
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::AddSat => saturate(left + right, kind),
        BinaryOp::SubSat => saturate(left - right, kind),
        BinaryOp::Shl | BinaryOp::Shr => shift(op, kind, left, right)?,
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitXor => left ^ right,
        BinaryOp::BitOr => left | right,
        BinaryOp::Lt => return Ok(Value::Bool(left < right)),
        BinaryOp::Le => return Ok(Value::Bool(left <= right)),
        BinaryOp::Gt => return Ok(Value::Bool(left > right)),
        BinaryOp::Ge => return Ok(Value::Bool(left >= right)),
        BinaryOp::Eq => return Ok(Value::Bool(left == right)),
        BinaryOp::Ne => return Ok(Value::Bool(left != right)),
        BinaryOp::Concat | BinaryOp::And | BinaryOp::Or => {
            return Err("the operator does not take these numbers");
        }
    };
    if value.bits() > u64::from(MAX_WIDTH) && matches!(kind, TyKind::Integer) {
        return Err("the result has more than 2048 bits");
    }
    Ok(Value::Int(wrap(&value, kind)))
}

fn shift(op: BinaryOp, kind: &TyKind, left: &BigInt, right: &BigInt) -> Result<BigInt, &'static str> {
    if right.sign() == Sign::Minus {
        return Err("the number of bits to shift by is below 0");
    }
    // Every type has fewer bits than this, so a longer shift has the same result.
    let amount = u32::try_from(right).map_or(MAX_WIDTH + 1, |by| by.min(MAX_WIDTH + 1));
    match op {
        BinaryOp::Shl if matches!(kind, TyKind::Integer) && amount > MAX_WIDTH => {
            Err("the result has more than 2048 bits")
        }
        BinaryOp::Shl => Ok(left << amount),
        _ => Ok(left >> amount),
    }
}

/// Concatenates two values, the first of which becomes the high bits; `low` is the width of the second in bits.
#[must_use]
pub fn concat(left: &BigInt, right: &BigInt, low: u32) -> BigInt {
    (left << low) + low_bits(right, low)
}

/// Returns true if a value is in the range of a type, without wrapping.
#[must_use]
pub fn fits(value: &BigInt, kind: &TyKind) -> bool {
    wrap(value, kind) == *value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Value {
        Value::Int(value.into())
    }

    #[test]
    fn arithmetic_wraps_at_the_width() {
        let byte = TyKind::Bits(8);
        assert_eq!(binary(BinaryOp::Add, &byte, &int(250), &int(10)), Ok(int(4)));
        assert_eq!(binary(BinaryOp::AddSat, &byte, &int(250), &int(10)), Ok(int(255)));
        assert_eq!(binary(BinaryOp::SubSat, &byte, &int(3), &int(10)), Ok(int(0)));
        assert_eq!(unary(UnaryOp::Complement, &byte, &int(0x0f)), Ok(int(0xf0)));
        assert_eq!(unary(UnaryOp::Negate, &byte, &int(1)), Ok(int(255)));
        let signed = TyKind::Signed(8);
        assert_eq!(binary(BinaryOp::Add, &signed, &int(127), &int(1)), Ok(int(-128)));
        assert_eq!(binary(BinaryOp::AddSat, &signed, &int(127), &int(1)), Ok(int(127)));
        assert_eq!(binary(BinaryOp::Shr, &signed, &int(-8), &int(1)), Ok(int(-4)));
        assert_eq!(binary(BinaryOp::Add, &TyKind::Integer, &int(250), &int(10)), Ok(int(260)));
    }

    #[test]
    fn slices_and_concatenations_take_bits() {
        assert_eq!(slice(&0xabcd.into(), 11, 4), 0xbc.into());
        assert_eq!(slice(&(-1).into(), 3, 0), 15.into());
        assert_eq!(concat(&0xab.into(), &0xcd.into(), 8), 0xabcd.into());
        assert_eq!(concat(&1.into(), &(-1).into(), 4), 0x1f.into());
    }

    #[test]
    fn results_without_bound_are_refused() {
        let big = int(1_000_000_000);
        assert!(binary(BinaryOp::Shl, &TyKind::Integer, &int(1), &big).is_err());
        assert_eq!(binary(BinaryOp::Shl, &TyKind::Bits(32), &int(1), &big), Ok(int(0)));
        assert_eq!(binary(BinaryOp::Shr, &TyKind::Integer, &int(1), &big), Ok(int(0)));
        assert!(binary(BinaryOp::Div, &TyKind::Integer, &int(1), &int(0)).is_err());
        let half = Value::Int(power(1500));
        assert!(binary(BinaryOp::Mul, &TyKind::Integer, &half, &half).is_err());
    }
}
