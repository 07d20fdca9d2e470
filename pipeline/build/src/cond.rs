//! Conditions: comparisons, header validity, and Boolean logic on them.
//!
//! A condition on Rust values alone is decided while the program is built and adds nothing to the program.

use super::step::{Hit, Miss};
use super::value::{Bits, Expr, Ro, Val};
use sluice_ir::cfg::Var;
use sluice_ir::{self as ir, CmpOp};
use std::ops;

/// A condition on a packet, or a condition already decided while the program is built.
#[derive(Clone, Debug)]
pub struct Cond(pub(super) Decision);

#[derive(Clone, Debug)]
pub(super) enum Decision {
    Known(bool),
    Packet(ir::Cond),
    /// A condition on a register element; allowed in register actions only.
    Element(ir::CellCond),
}

impl Cond {
    pub(crate) fn packet(cond: ir::Cond) -> Cond {
        Cond(Decision::Packet(cond))
    }

    /// True if a gateway would read `var` to decide the condition.
    pub(super) fn reads(&self, var: Var) -> bool {
        let (mut fields, mut headers) = (Vec::new(), Vec::new());
        if let Decision::Packet(cond) = &self.0 {
            cond.reads(&mut |f| fields.push(f), &mut |h| headers.push(h));
        }
        match var {
            Var::Field(field) => fields.contains(&field),
            Var::Valid(header) => headers.contains(&header),
        }
    }
}

/// Operand of `&&`, `||`, `!` and `if`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "not a condition",
    note = "a condition is a comparison, a 1-bit field, `header.is_valid()`, or a Rust `bool` (decided when the \
            program is built); `table.apply().hit()` and `.miss()` stand alone in an `if`"
)]
pub trait Branch {
    /// Returns the condition.
    fn cond(self) -> Cond;
}

impl Branch for Cond {
    fn cond(self) -> Cond {
        self
    }
}

impl Branch for bool {
    fn cond(self) -> Cond {
        Cond(Decision::Known(self))
    }
}

impl Branch for Bits<1> {
    fn cond(self) -> Cond {
        self.eq(1)
    }
}

impl Branch for Ro<1> {
    fn cond(self) -> Cond {
        self.eq(1)
    }
}

impl Branch for Expr<1> {
    fn cond(self) -> Cond {
        self.eq(1)
    }
}

/// Test of an `if` in a control block: a [`Branch`], or a table's hit or miss.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "not a condition",
    note = "a condition is a comparison, a 1-bit field, `header.is_valid()`, a table's `.apply().hit()` or \
            `.miss()`, or a Rust `bool` (decided when the program is built)"
)]
pub trait Test {
    /// Returns the test.
    fn test(self) -> Tested;
}

/// A test in the form that the control block records.
#[derive(Debug)]
pub struct Tested(pub(super) TestKind);

#[derive(Debug)]
pub(super) enum TestKind {
    Known(bool),
    Cond(ir::Cond),
    /// A test of a register element, which no gateway can decide.
    Element,
    Hit(ir::Table),
    Miss(ir::Table),
}

// One impl per type: with `impl<B: Branch> Test for B`, rustc would not show the message above.
macro_rules! tests_of_conditions {
    ($($condition:ty),*) => { $(
        impl Test for $condition {
            fn test(self) -> Tested {
                Tested(match self.cond().0 {
                    Decision::Known(known) => TestKind::Known(known),
                    Decision::Packet(cond) => TestKind::Cond(cond),
                    Decision::Element(_) => TestKind::Element,
                })
            }
        }
    )* };
}
tests_of_conditions!(Cond, bool, Bits<1>, Ro<1>, Expr<1>);

impl Test for Hit {
    fn test(self) -> Tested {
        Tested(TestKind::Hit(self.0))
    }
}

impl Test for Miss {
    fn test(self) -> Tested {
        Tested(TestKind::Miss(self.0))
    }
}

/// Returns the conjunction: `a && b` in data-plane code.
pub fn and(a: impl Branch, b: impl Branch) -> Cond {
    Cond(match (a.cond().0, b.cond().0) {
        (Decision::Known(false), _) | (_, Decision::Known(false)) => Decision::Known(false),
        (Decision::Known(true), other) | (other, Decision::Known(true)) => other,
        (Decision::Packet(a), Decision::Packet(b)) => {
            Decision::Packet(ir::Cond::And(Box::new(a), Box::new(b)))
        }
        (a, b) => match (a.in_register(), b.in_register()) {
            (Some(a), Some(b)) => Decision::Element(ir::CellCond::And(Box::new(a), Box::new(b))),
            _ => Decision::Known(false),
        },
    })
}

/// Returns the disjunction: `a || b` in data-plane code.
pub fn or(a: impl Branch, b: impl Branch) -> Cond {
    Cond(match (a.cond().0, b.cond().0) {
        (Decision::Known(true), _) | (_, Decision::Known(true)) => Decision::Known(true),
        (Decision::Known(false), other) | (other, Decision::Known(false)) => other,
        (Decision::Packet(a), Decision::Packet(b)) => {
            Decision::Packet(ir::Cond::Or(Box::new(a), Box::new(b)))
        }
        (a, b) => match (a.in_register(), b.in_register()) {
            (Some(a), Some(b)) => Decision::Element(ir::CellCond::Or(Box::new(a), Box::new(b))),
            _ => Decision::Known(false),
        },
    })
}

/// Returns the negation: `!a` in data-plane code.
pub fn not(a: impl Branch) -> Cond {
    Cond(match a.cond().0 {
        Decision::Known(known) => Decision::Known(!known),
        Decision::Packet(cond) => Decision::Packet(ir::Cond::Not(Box::new(cond))),
        Decision::Element(cond) => Decision::Element(ir::CellCond::Not(Box::new(cond))),
    })
}

impl<R: Branch> ops::BitAnd<R> for Cond {
    type Output = Cond;
    fn bitand(self, right: R) -> Cond {
        and(self, right)
    }
}

impl<R: Branch> ops::BitOr<R> for Cond {
    type Output = Cond;
    fn bitor(self, right: R) -> Cond {
        or(self, right)
    }
}

impl ops::Not for Cond {
    type Output = Cond;
    fn not(self) -> Cond {
        not(self)
    }
}

fn compare<const W: u16>(op: CmpOp, a: impl Val<W>, b: impl Val<W>) -> Cond {
    Cond::packet(ir::Cond::Cmp(op, a.ir(), b.ir()))
}

/// Comparison operators of data-plane code. On fields they give a condition on the packet; on Rust values
/// they give a `bool` at once.
#[diagnostic::on_unimplemented(
    message = "cannot compare `{L}` with `{Self}`",
    label = "cannot be compared with `{L}`",
    note = "fields compare with values of the same width and with integers (`u64`); Rust values with their own type"
)]
pub trait ComparesWith<L> {
    /// [`Cond`] if a packet's value is compared, `bool` for Rust values.
    type Out;
    /// Compares: `left op right`.
    fn compare(left: L, op: CmpOp, right: Self) -> Self::Out;
}

macro_rules! comparisons {
    ($($name:ident),*) => { $(
        impl<const W: u16, R: Val<W>> ComparesWith<$name<W>> for R {
            type Out = Cond;
            fn compare(left: $name<W>, op: CmpOp, right: R) -> Cond {
                compare(op, left, right)
            }
        }

        impl<const W: u16> $name<W> {
            /// Compares: equal to `right`.
            pub fn eq(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Eq, self, right)
            }

            /// Compares: not equal to `right`.
            pub fn ne(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Ne, self, right)
            }

            /// Compares: less than `right`, unsigned.
            pub fn lt(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Lt, self, right)
            }

            /// Compares: less than or equal to `right`, unsigned.
            pub fn le(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Le, self, right)
            }

            /// Compares: greater than `right`, unsigned.
            pub fn gt(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Gt, self, right)
            }

            /// Compares: greater than or equal to `right`, unsigned.
            pub fn ge(self, right: impl Val<W>) -> Cond {
                compare(CmpOp::Ge, self, right)
            }
        }
    )* };
}
comparisons!(Bits, Ro, Expr);

impl<T: PartialOrd> ComparesWith<T> for T {
    type Out = bool;
    fn compare(left: T, op: CmpOp, right: T) -> bool {
        match op {
            CmpOp::Eq => left == right,
            CmpOp::Ne => left != right,
            CmpOp::Lt => left < right,
            CmpOp::Le => left <= right,
            CmpOp::Gt => left > right,
            CmpOp::Ge => left >= right,
        }
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident = $op:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name<L, R: ComparesWith<L>>(left: L, right: R) -> R::Out {
            R::compare(left, CmpOp::$op, right)
        }
    )* };
}
operators! {
    /// `left == right` in data-plane code.
    eq = Eq;
    /// `left != right` in data-plane code.
    ne = Ne;
    /// `left < right` in data-plane code.
    lt = Lt;
    /// `left <= right` in data-plane code.
    le = Le;
    /// `left > right` in data-plane code.
    gt = Gt;
    /// `left >= right` in data-plane code.
    ge = Ge;
}
