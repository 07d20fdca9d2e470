//! Values, places and comparisons of register actions.

use super::cond::{ComparesWith, Cond, Decision};
use super::handles::{HashRef, RegisterParamRef};
use super::value::{Bits, Expr, Ro};
use sluice_asic::salu::{Half, MathOp, MathUnit, SaluOp, Sense};
use sluice_ir::{CellCond, CellStmtKind, CellValue, CmpOp, Cond as IrCond, Expr as IrExpr, LanePart};
use std::ops;

/// A half of an element, or all of a single element, of `W` bits, with its value at this point of the action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementHalf<const W: u16>(pub(super) Half);

impl<const W: u16> ElementHalf<W> {
    /// Returns the half's value before the access, whatever the action has written since.
    #[must_use]
    pub fn before(self) -> ElementValue<W> {
        ElementValue(CellValue::Old(self.0))
    }
}

/// An output word of a register action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Output(pub(super) u8);

/// A value of `W` bits computed in a register action.
#[derive(Clone, Debug)]
pub struct ElementValue<const W: u16>(CellValue);

/// Operand of a register action: a half of the element, a value computed from it, a field, or an integer
/// (`u64`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a value of a register action on {W}-bit elements",
    label = "needs {W} bits",
    note = "fields and computed packet values are as wide as the elements: use `.cast::<{W}>()`; action parameters \
            do not reach a stateful ALU"
)]
pub trait CellRhs<const W: u16> {
    /// Returns the value in the form that the program records.
    fn cell(self) -> CellValue;
}

impl<const W: u16> CellRhs<W> for ElementHalf<W> {
    fn cell(self) -> CellValue {
        CellValue::Half(self.0)
    }
}

impl<const W: u16> CellRhs<W> for ElementValue<W> {
    fn cell(self) -> CellValue {
        self.0
    }
}

impl<const W: u16> CellRhs<W> for u64 {
    fn cell(self) -> CellValue {
        CellValue::Const(self)
    }
}

/// A hash as wide as the element; it is computed on the way to the stateful ALU.
impl<const W: u16> CellRhs<W> for HashRef<W> {
    fn cell(self) -> CellValue {
        CellValue::Hash(self.id())
    }
}

impl<const W: u16> CellRhs<W> for RegisterParamRef<W> {
    fn cell(self) -> CellValue {
        CellValue::Param(self.0)
    }
}

macro_rules! packet_values {
    ($($name:ident),*) => { $(
        impl<const W: u16> CellRhs<W> for $name<W> {
            fn cell(self) -> CellValue {
                CellValue::Phv(self.into())
            }
        }

        impl<const W: u16> ops::Sub<ElementHalf<W>> for $name<W> {
            type Output = ElementValue<W>;
            fn sub(self, right: ElementHalf<W>) -> ElementValue<W> {
                op(SaluOp::Sub, self, right)
            }
        }

        impl<const W: u16> ops::Add<ElementHalf<W>> for $name<W> {
            type Output = ElementValue<W>;
            fn add(self, right: ElementHalf<W>) -> ElementValue<W> {
                op(SaluOp::Add, self, right)
            }
        }

        impl<const W: u16> ComparesWith<$name<W>> for ElementHalf<W> {
            type Out = Cond;
            fn compare(left: $name<W>, op: CmpOp, right: ElementHalf<W>) -> Cond {
                compare::<W>(op, left, right)
            }
        }

        impl<const W: u16> ComparesWith<$name<W>> for ElementValue<W> {
            type Out = Cond;
            fn compare(left: $name<W>, op: CmpOp, right: ElementValue<W>) -> Cond {
                compare::<W>(op, left, right)
            }
        }
    )* };
}
packet_values!(Bits, Ro, Expr);

fn op<const W: u16>(op: SaluOp, a: impl CellRhs<W>, b: impl CellRhs<W>) -> ElementValue<W> {
    ElementValue(CellValue::Op(op, Box::new(a.cell()), Box::new(b.cell())))
}

/// Returns the comparison of two values. Sums wrap, so they are compared like sequence numbers.
fn compare<const W: u16>(op: CmpOp, left: impl CellRhs<W>, right: impl CellRhs<W>) -> Cond {
    let (left, right) = (left.cell(), right.cell());
    let computed = |v: &CellValue| matches!(v, CellValue::Op(..));
    let sense = if computed(&left) || computed(&right) { Sense::Serial } else { Sense::Unsigned };
    Cond(Decision::Element(CellCond::Cmp(op, sense, left, right)))
}

macro_rules! element_values {
    ($($name:ident),*) => { $(
        impl<const W: u16, R: CellRhs<W>> ComparesWith<$name<W>> for R {
            type Out = Cond;
            fn compare(left: $name<W>, op: CmpOp, right: R) -> Cond {
                compare::<W>(op, left, right)
            }
        }

        element_values!(@operators $name: Add add Add, Sub sub Sub, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);

        impl<const W: u16> $name<W> {
            /// Inverts all bits.
            #[must_use]
            pub fn complement(self) -> ElementValue<W> {
                op(SaluOp::Nota, self, 0)
            }

            element_values! { @named $name:
                /// Adds unsigned and saturates at the largest value of `W` bits.
                sat_add = Saddu;
                /// Subtracts unsigned and saturates at zero.
                sat_sub = Ssubu;
                /// Adds in two's complement and saturates at both ends.
                sat_add_signed = Sadds;
                /// Subtracts in two's complement and saturates at both ends.
                sat_sub_signed = Ssubs;
                /// Returns the smaller of two unsigned values.
                min = Minu;
                /// Returns the larger of two unsigned values.
                max = Maxu;
                /// Returns the smaller of two values in two's complement.
                min_signed = Mins;
                /// Returns the larger of two values in two's complement.
                max_signed = Maxs;
            }
        }
    )* };
    (@operators $name:ident: $($trait:ident $method:ident $op:ident),*) => { $(
        impl<const W: u16, R: CellRhs<W>> ops::$trait<R> for $name<W> {
            type Output = ElementValue<W>;
            fn $method(self, right: R) -> ElementValue<W> {
                op(SaluOp::$op, self, right)
            }
        }
    )* };
    (@named $name:ident: $($(#[$doc:meta])* $method:ident = $op:ident;)*) => { $(
        $(#[$doc])*
        #[must_use]
        pub fn $method(self, right: impl CellRhs<W>) -> ElementValue<W> {
            op(SaluOp::$op, self, right)
        }
    )* };
}
element_values!(ElementHalf, ElementValue);

/// Computes with the math unit and a standard function: a factor (numerator, denominator) times a power or root of a
/// half or packet value, exact to about three binary digits. The result feeds the low half. All actions of a register
/// share one math unit function. A 0 in the factor counts as 1.
#[must_use]
pub fn approximate<const W: u16>(
    op: MathOp,
    (numerator, denominator): (u32, u32),
    value: impl CellRhs<W>,
) -> ElementValue<W> {
    let value = value.cell();
    let unit = MathUnit::approximate(op, numerator.max(1), denominator.max(1));
    ElementValue(unit.map_or(value.clone(), |unit| CellValue::Math(unit, Box::new(value))))
}

/// Computes with the math unit and a table of the program, from a half or packet value.
#[must_use]
pub fn math<const W: u16>(unit: MathUnit, value: impl CellRhs<W>) -> ElementValue<W> {
    ElementValue(CellValue::Math(unit, Box::new(value.cell())))
}

/// Returns the one-hot code of the conditions: it sets the bit whose number has condition `i` in its bit `i`. Allowed
/// only as an output. Conditions are written as calls: `predicate([gt(m.now, r.value), ne(m.kind, 7)])`.
#[must_use]
pub fn predicate<const W: u16, const N: usize>(conds: [Cond; N]) -> ElementValue<W> {
    let conds: Option<Vec<CellCond>> = conds.into_iter().map(|c| c.0.in_register()).collect();
    // If a condition cannot be decided by a stateful ALU, the list is empty, which the verifier refuses.
    ElementValue(CellValue::Predicate(conds.unwrap_or_default()))
}

/// Returns the index of the element (Tofino 2). Allowed only as an output.
#[must_use]
pub fn address<const W: u16>() -> ElementValue<W> {
    ElementValue(CellValue::Address)
}

/// Returns the 16-bit quotient of two's complement numbers (Tofino 2). Allowed only as an output.
#[must_use]
pub fn quotient<const W: u16>(dividend: impl CellRhs<W>, divisor: impl CellRhs<W>) -> ElementValue<W> {
    ElementValue(CellValue::Quotient(Box::new(dividend.cell()), Box::new(divisor.cell())))
}

/// Returns the 16-bit remainder, with the divisor's sign (Tofino 2). Allowed only as an output.
#[must_use]
pub fn remainder<const W: u16>(dividend: impl CellRhs<W>, divisor: impl CellRhs<W>) -> ElementValue<W> {
    ElementValue(CellValue::Remainder(Box::new(dividend.cell()), Box::new(divisor.cell())))
}

/// Returns a part of the result of this action's lane search (Tofino 2). Allowed only as an output.
#[must_use]
pub fn lane<const W: u16>(part: LanePart) -> ElementValue<W> {
    ElementValue(CellValue::Lane(part))
}

/// Returns the bits of a packet value where the mask has ones, for a comparison (Tofino 2): `(r.value & 0xf0) ==
/// masked(m.number, 0xf0)`. On a half of the element, `&` does the same.
#[must_use]
pub fn masked<const W: u16>(value: impl CellRhs<W>, mask: u64) -> ElementValue<W> {
    op(SaluOp::And, value, mask)
}

/// Compares a half with a packet value in the bits where the mask has ones (Tofino 2).
#[must_use]
pub fn matches<const W: u16>(half: ElementHalf<W>, value: impl CellRhs<W>, mask: u64) -> Cond {
    Cond(Decision::Element(CellCond::Match(half.0, value.cell(), mask)))
}

/// Compares in two's complement at the element's width: `signed(r.value < m.limit)`. Sums and differences are exact.
#[must_use]
pub fn signed(cond: Cond) -> Cond {
    in_sense(cond, Sense::Signed)
}

/// Compares without sign. Sums and differences are exact, as a comparator computes them: `unsigned(r.value + m.len <= m.room)`
/// does not hold if the sum is above the range of the element.
#[must_use]
pub fn unsigned(cond: Cond) -> Cond {
    in_sense(cond, Sense::Unsigned)
}

/// Compares as sequence numbers (RFC 1982): `a > b` if `a - b`, modulo the range, is less than half of the
/// range.
#[must_use]
pub fn serial(cond: Cond) -> Cond {
    in_sense(cond, Sense::Serial)
}

fn in_sense(cond: Cond, sense: Sense) -> Cond {
    fn set(cond: &mut CellCond, sense: Sense) {
        match cond {
            CellCond::Cmp(_, old, ..) => *old = sense,
            CellCond::Match(..) => {}
            CellCond::Not(a) => set(a, sense),
            CellCond::And(a, b) | CellCond::Or(a, b) => {
                set(a, sense);
                set(b, sense);
            }
        }
    }
    Cond(match cond.0 {
        Decision::Element(mut cond) => {
            set(&mut cond, sense);
            Decision::Element(cond)
        }
        other => other,
    })
}

impl Decision {
    /// Returns the condition for a register action; `None` if only a gateway can decide it, or if it is
    /// already decided.
    pub(super) fn in_register(self) -> Option<CellCond> {
        match self {
            Decision::Known(_) => None,
            Decision::Element(cond) => Some(cond),
            Decision::Packet(cond) => of_packet(cond),
        }
    }
}

/// Converts a condition on fields to one that a register action decides.
fn of_packet(cond: IrCond) -> Option<CellCond> {
    let value = |e: IrExpr| match e {
        IrExpr::Const(value, _) => CellValue::Const(value as u64),
        other => CellValue::Phv(other),
    };
    Some(match cond {
        IrCond::Cmp(op, a, b) => CellCond::Cmp(op, Sense::Unsigned, value(a), value(b)),
        IrCond::Valid(_) => return None,
        IrCond::Not(a) => CellCond::Not(Box::new(of_packet(*a)?)),
        IrCond::And(a, b) => CellCond::And(Box::new(of_packet(*a)?), Box::new(of_packet(*b)?)),
        IrCond::Or(a, b) => CellCond::Or(Box::new(of_packet(*a)?), Box::new(of_packet(*b)?)),
    })
}

/// Destination of an assignment in a register action: a half of the element, or an output word.
#[diagnostic::on_unimplemented(
    message = "a register action cannot assign to `{Self}`",
    label = "not a part of the element",
    note = "it writes `r.value` (`r.lo`, `r.hi` of a pair) and `r.out`; fields take the output where the action is \
            executed"
)]
pub trait Cell<const W: u16>: Copy {
    /// Returns the statement that assigns `value`.
    fn write(self, value: CellValue) -> CellStmtKind;
}

impl<const W: u16> Cell<W> for ElementHalf<W> {
    fn write(self, value: CellValue) -> CellStmtKind {
        CellStmtKind::Write(self.0, value)
    }
}

impl<const W: u16> Cell<W> for Output {
    fn write(self, value: CellValue) -> CellStmtKind {
        CellStmtKind::Output(self.0, value)
    }
}
