//! Values of a known width: field handles, action parameters, constants, and what is computed from them.
//!
//! Operators record what is computed; nothing is evaluated while a program is built.

use sluice_asic::alu::AluOp;
use sluice_ir as ir;
use std::net::Ipv6Addr;
use std::ops;

/// A field of `W` bits that programs read and write.
///
/// Handles are `Copy`, name a field of one gress of one builder, and carry no value.
#[derive(Clone, Copy, Debug)]
pub struct Bits<const W: u16>(pub(super) ir::Field);

/// A field of `W` bits that the hardware fills: it can be read, and writing it does not compile.
#[derive(Clone, Copy, Debug)]
pub struct Ro<const W: u16>(pub(super) ir::Field);

/// A run-time parameter of the enclosing action, `W` bits wide: its value comes from the table entry.
#[derive(Clone, Copy, Debug)]
pub struct Arg<const W: u16>(pub(super) u16);

/// A value of `W` bits computed from others.
#[derive(Clone, Debug)]
pub struct Expr<const W: u16>(pub(super) ir::Expr);

/// A constant beyond 64 bits, such as an IPv6 address. Smaller ones are plain integer literals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wide(pub u128);

impl From<Ipv6Addr> for Wide {
    fn from(address: Ipv6Addr) -> Wide {
        Wide(address.to_bits())
    }
}

/// A value of `W` bits without side effect: a field, an action parameter, a computed value or a constant.
///
/// `u64` is the only integer type that implements it, so that literals need no suffix.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a {W}-bit value",
    label = "needs {W} bits",
    note = "widths must agree as in P4: use `.cast::<{W}>()` or `.slice::<HI, LO, {W}>()`; Rust integers are `u64`"
)]
pub trait Val<const W: u16> {
    /// The value as the program records it.
    fn ir(self) -> ir::Expr;
}

/// What may stand on the right of an assignment to `W` bits: a [`Val`] or the result of a unit beside the
/// ALUs, such as a hash.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be assigned to a {W}-bit place",
    label = "needs a {W}-bit right-hand side",
    note = "widths must agree as in P4: use `.cast::<{W}>()` or `.slice::<HI, LO, {W}>()`; Rust integers are `u64`"
)]
pub trait Rhs<const W: u16> {
    /// The primitive that writes it to `place`.
    fn assign(self, place: ir::Field) -> ir::PrimitiveKind;
}

/// What may stand on the left of an assignment of `W` bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be written",
    label = "read-only",
    note = "`Ro` fields are filled by the hardware, `Arg`s by the table entry: copy one to a metadata field first"
)]
pub trait Place<const W: u16>: Copy {
    /// The field written.
    fn place(self) -> ir::Field;
}

impl<const W: u16> Place<W> for Bits<W> {
    fn place(self) -> ir::Field {
        self.0
    }
}

/// A constant of no particular width: keys of entries, select values, action arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a constant",
    note = "constants are `u64`, or `Wide` beyond 64 bits"
)]
pub trait Constant {
    /// Its value.
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

/// An index into a counter: a value of any width.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index",
    note = "an index is a field, a computed value or a `u64`"
)]
pub trait Index {
    /// The index as the program records it.
    fn index(self) -> ir::Expr;
}

/// What a register or meter can be indexed by: what a counter can, and hashes.
pub trait ArrayIndex {
    /// The index as the program records it.
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

/// A constant of `W` bits where a list needs to know the width, such as a seed in front of a hash's input.
#[must_use]
pub fn constant<const W: u16>(value: impl Constant) -> Expr<W> {
    Expr(ir::Expr::Const(value.value(), W))
}

fn alu<const W: u16>(op: AluOp, a: impl Val<W>, b: impl Val<W>) -> Expr<W> {
    Expr(ir::Expr::Alu(op, Box::new(a.ir()), Box::new(b.ir())))
}

/// The low `W` bits of `high` and `low` side by side, shifted right by a constant of 0 to 31 (TNA's
/// `funnel_shift_right`). Both are whole fields of 8, 16 or 32 bits.
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
        /// Shift by a constant number of bits; zeros come in.
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
            fn assign(self, place: ir::Field) -> ir::PrimitiveKind {
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
            /// Unsigned sum that stops at the largest value of `W` bits (P4 `|+|`).
            #[must_use]
            pub fn sat_add(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Saddu, self, right)
            }

            /// Unsigned difference that stops at zero (P4 `|-|`).
            #[must_use]
            pub fn sat_sub(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Ssubu, self, right)
            }

            /// The smaller of two unsigned values.
            #[must_use]
            pub fn min(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Minu, self, right)
            }

            /// The larger of two unsigned values.
            #[must_use]
            pub fn max(self, right: impl Val<W>) -> Expr<W> {
                alu(AluOp::Maxu, self, right)
            }

            /// Zero-extended or truncated to `T` bits.
            #[must_use]
            pub fn cast<const T: u16>(self) -> Expr<T> {
                Expr(ir::Expr::Cast(Box::new(self.into()), T))
            }

            /// Bits `HI..=LO`, as P4's `x[HI:LO]`. `T` is the width of the result, checked by the compiler.
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

macro_rules! constants {
    ($($name:ident),*) => { $(
        impl<const W: u16> Val<W> for $name {
            fn ir(self) -> ir::Expr {
                ir::Expr::Const(self.value(), W)
            }
        }

        impl<const W: u16> Rhs<W> for $name {
            fn assign(self, place: ir::Field) -> ir::PrimitiveKind {
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
            /// The field in the finished program.
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

/// A list of fields or values of different widths: `list![ipv4.src, ipv4.dst, ipv4.protocol]`.
///
/// Select fields and checksums take fields, a hash takes values too (`constant::<32>(7)`).
#[doc(inline)]
pub use crate::__list as list;
