//! Values of a known width: field handles, action parameters, constants, and expressions over them.
//!
//! Operators record expressions; nothing is evaluated while a program is built.

use super::draft::Builder;
use sluice_asic::alu::AluOp;
use sluice_ir as ir;
use std::net::Ipv6Addr;
use std::ops;

/// A field of `W` bits that programs read and write.
///
/// A handle is `Copy`. It names a field of one gress of one builder, and carries no value.
#[derive(Clone, Copy, Debug)]
pub struct Bits<const W: u16>(pub(super) ir::Field);

/// A read-only field of `W` bits, which the hardware fills. Assigning to it does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Ro<const W: u16>(pub(super) ir::Field);

/// A run-time parameter of the enclosing action, `W` bits wide; the table entry supplies its value.
#[derive(Clone, Copy, Debug)]
pub struct Arg<const W: u16>(pub(super) u16);

/// An expression of `W` bits.
#[derive(Clone, Debug)]
pub struct Expr<const W: u16>(pub(super) ir::Expr);

/// A constant of more than 64 bits, such as an IPv6 address. Smaller constants are plain integer literals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wide(pub u128);

impl From<Ipv6Addr> for Wide {
    fn from(address: Ipv6Addr) -> Wide {
        Wide(address.to_bits())
    }
}

/// A value of `W` bits without side effect: a field, an action parameter, an expression or a constant.
///
/// `u64` is the only integer type that implements this trait, so that literals need no suffix.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a {W}-bit value",
    label = "needs {W} bits",
    note = "widths must agree as in P4: use `.cast::<{W}>()` or `.slice::<HI, LO, {W}>()`; Rust integers are `u64`"
)]
pub trait Val<const W: u16> {
    /// Returns the value in the form that the program records.
    fn ir(self) -> ir::Expr;
}

/// Right-hand side of an assignment to `W` bits: a [`Val`], or the result of a unit outside the ALUs (hash,
/// register access, meter, random number).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be assigned to a {W}-bit place",
    label = "needs a {W}-bit right-hand side",
    note = "widths must agree as in P4: use `.cast::<{W}>()` or `.slice::<HI, LO, {W}>()`; Rust integers are `u64`"
)]
pub trait Rhs<const W: u16> {
    /// Returns the primitive that assigns it to `place`. Declares a register action that it needs and that the
    /// program does not have.
    fn assign(self, place: ir::Field, builder: &Builder) -> ir::PrimitiveKind;
}

/// Left-hand side of an assignment of `W` bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written",
    label = "read-only",
    note = "`Ro` fields are filled by the hardware, `Arg`s by the table entry: copy one to a metadata field first"
)]
pub trait LValue<const W: u16>: Copy {
    /// Returns the field to assign to.
    fn place(self) -> ir::Field;
}

impl<const W: u16> LValue<W> for Bits<W> {
    fn place(self) -> ir::Field {
        self.0
    }
}

/// A constant without a width: a key of an entry, a select value, an action argument.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a constant",
    note = "constants are `u64`, or `Wide` beyond 64 bits"
)]
pub trait Constant {
    /// Returns the value.
    fn value(self) -> u128;
}

impl Constant for u64 {
    fn value(self) -> u128 {
        u128::from(self)
    }
}

impl Constant for Wide {
    fn value(self) -> u128 {
        self.0
    }
}

/// Index of a counter: a value of any width.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index",
    note = "an index is a field, a computed value or a `u64`"
)]
pub trait Index {
    /// Returns the index in the form that the program records.
    fn index(self) -> ir::Expr;
}

/// Index of a register or meter: a value of any width, or a hash.
pub trait ArrayIndex {
    /// Returns the index in the form that the program records.
    fn array_index(self) -> ir::Index;
}

impl<T: Index> ArrayIndex for T {
    fn array_index(self) -> ir::Index {
        ir::Index::At(self.index())
    }
}

impl<const W: u16> ArrayIndex for super::HashRef<W> {
    fn array_index(self) -> ir::Index {
        ir::Index::Hash(self.id())
    }
}

impl Index for u64 {
    fn index(self) -> ir::Expr {
        ir::Expr::Const(u128::from(self), 32)
    }
}

/// Returns a constant of `W` bits, for lists that need a width, such as a seed in front of a hash's input.
#[must_use]
pub fn constant<const W: u16>(value: impl Constant) -> Expr<W> {
    Expr(ir::Expr::Const(value.value(), W))
}

fn alu<const W: u16>(op: AluOp, a: impl Val<W>, b: impl Val<W>) -> Expr<W> {
    Expr(ir::Expr::Alu(op, Box::new(a.ir()), Box::new(b.ir())))
}

/// Concatenates `high` and `low`, shifts them right by a constant of 0 to 31 and returns the low `W` bits
/// (TNA's `funnel_shift_right`). Both are whole fields of 8, 16 or 32 bits.
#[must_use]
pub fn funnel_shift<const W: u16>(high: impl Val<W>, low: impl Val<W>, bits: u16) -> Expr<W> {
    Expr(ir::Expr::Funnel(Box::new(high.ir()), Box::new(low.ir()), bits))
}

macro_rules! binary_operators {
    ($name:ident: $($trait:ident $method:ident $op:ident),*) => { $(
        impl<const W: u16, R: Val<W>> ops::$trait<R> for $name<W> {
            type Output = Expr<W>;
            fn $method(self, right: R) -> Expr<W> {
                alu(AluOp::$op, self, right)
            }
        }
    )* };
}

macro_rules! shifts {
    ($name:ident: $($trait:ident $method:ident $op:ident),*) => { $(
        /// Shifts by a constant number of bits and fills with zeros.
        impl<const W: u16> ops::$trait<u16> for $name<W> {
            type Output = Expr<W>;
            fn $method(self, bits: u16) -> Expr<W> {
                Expr(ir::Expr::Alu(AluOp::$op, Box::new(self.ir()), Box::new(ir::Expr::Const(bits.into(), W))))
            }
        }
    )* };
}

macro_rules! values {
    ($($name:ident: $this:ident => $ir:expr;)*) => { $(
        impl<const W: u16> From<$name<W>> for ir::Expr {
            fn from($this: $name<W>) -> ir::Expr {
                $ir
            }
        }

        impl<const W: u16> Val<W> for $name<W> {
            fn ir(self) -> ir::Expr {
                self.into()
            }
        }

        impl<const W: u16> Rhs<W> for $name<W> {
            fn assign(self, place: ir::Field, _: &Builder) -> ir::PrimitiveKind {
                ir::PrimitiveKind::Set(place, self.into())
            }
        }

        impl<const W: u16> Index for $name<W> {
            fn index(self) -> ir::Expr {
                self.into()
            }
        }

        binary_operators!($name: Add add Add, Sub sub Sub, BitAnd bitand And, BitOr bitor Or, BitXor bitxor Xor);
        shifts!($name: Shl shl Shl, Shr shr Shru);

        impl<const W: u16> $name<W> {
            /// Adds unsigned and saturates at the largest value of `W` bits (P4 `|+|`).
            #[must_use]
            pub fn sat_add(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Saddu, self, right)
            }

            /// Subtracts unsigned and saturates at zero (P4 `|-|`).
            #[must_use]
            pub fn sat_sub(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Ssubu, self, right)
            }

            /// Returns the smaller of two unsigned values.
            #[must_use]
            pub fn min(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Minu, self, right)
            }

            /// Returns the larger of two unsigned values.
            #[must_use]
            pub fn max(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Maxu, self, right)
            }

            /// Zero-extends or truncates to `T` bits.
            #[must_use]
            pub fn cast<const T: u16>(self) -> Expr<T> {
                Expr(ir::Expr::Cast(Box::new(self.into()), T))
            }

            /// Takes bits `HI` to `LO`, like P4's `x[HI:LO]`. `T` is the width of the result; the compiler
            /// checks it.
            #[must_use]
            pub fn slice<const HI: u16, const LO: u16, const T: u16>(self) -> Expr<T> {
                const { assert!(HI < W && LO <= HI && HI - LO + 1 == T, "the slice's bounds do not give this width") };
                Expr(ir::Expr::Slice(Box::new(self.into()), HI, LO))
            }
        }
    )* };
}

values! {
    Bits: this => ir::Expr::Field(this.0);
    Ro: this => ir::Expr::Field(this.0);
    Arg: this => ir::Expr::Param(this.0, W);
    Expr: this => this.0;
}

macro_rules! parts {
    ($($name:ident),*) => { $(
        impl<const W: u16> $name<W> {
            /// Returns bits `HI` to `LO` as a key of a table, like P4's `x[HI:LO] : exact`.
            #[must_use]
            pub fn part<const HI: u16, const LO: u16>(self) -> ir::KeySource {
                const { assert!(HI < W && LO <= HI, "the slice is not within the field") };
                ir::KeySource::Slice(self.0, HI, LO)
            }
        }
    )* };
}

parts!(Bits, Ro);

macro_rules! constants {
    ($($name:ident),*) => { $(
        impl<const W: u16> Val<W> for $name {
            fn ir(self) -> ir::Expr {
                ir::Expr::Const(self.value(), W)
            }
        }

        impl<const W: u16> Rhs<W> for $name {
            fn assign(self, place: ir::Field, _: &Builder) -> ir::PrimitiveKind {
                ir::PrimitiveKind::Set(place, Val::<W>::ir(self))
            }
        }
    )* };
}
constants!(u64, Wide);

macro_rules! fields {
    ($($name:ident),*) => { $(
        impl<const W: u16> From<$name<W>> for ir::Field {
            fn from(handle: $name<W>) -> ir::Field {
                handle.0
            }
        }

        impl<const W: u16> $name<W> {
            /// Returns the field in the finished program.
            #[must_use]
            pub fn id(self) -> ir::Field {
                self.0
            }
        }
    )* };
}
fields!(Bits, Ro);

#[doc(hidden)]
#[macro_export]
macro_rules! __list {
    ($($item:expr),* $(,)?) => { [$(::core::convert::Into::into($item)),*] };
}

/// Makes a list of fields or values of different widths: `list![ipv4.src, ipv4.dst, ipv4.protocol]`.
///
/// Selects and checksums take fields. A hash also takes values (`constant::<32>(7)`).
#[doc(inline)]
pub use crate::__list as list;
