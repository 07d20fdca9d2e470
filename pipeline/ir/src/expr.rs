//! Expressions of actions, conditions and parsers.

use super::{Field, Program};
use sluice_asic::alu::AluOp;

/// An expression of a known width over fields, action parameters and constants.
///
/// The verifier restricts expressions to what one VLIW instruction, one gateway row or one extractor can
/// compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant: value, and width in bits (1 to 128).
    Const(u128, u16),
    /// The value of a field.
    Field(Field),
    /// A parameter of the enclosing action: position and width.
    Param(u16, u16),
    /// Bits `hi` to `lo` of a value.
    Slice(Box<Expr>, u16, u16),
    /// A value, zero-extended or truncated to this width.
    Cast(Box<Expr>, u16),
    /// An ALU operation on two values of equal width.
    Alu(AluOp, Box<Expr>, Box<Expr>),
    /// Two values of equal width, concatenated with the first one above the second, and shifted right by a
    /// constant. The result is the low bits, as many as each value has (`funnel_shift_right` of TNA).
    Funnel(Box<Expr>, Box<Expr>, u16),
}

impl Expr {
    /// Returns the width in bits; 0 if the expression is malformed (a slice with swapped bounds).
    #[must_use]
    pub fn width(&self, program: &Program) -> u16 {
        match self {
            Expr::Const(_, w) | Expr::Param(_, w) | Expr::Cast(_, w) => *w,
            Expr::Field(f) => program.fields.get(*f).map_or(0, |d| d.width),
            Expr::Slice(_, hi, lo) => hi.saturating_add(1).saturating_sub(*lo),
            Expr::Alu(_, a, _) | Expr::Funnel(a, ..) => a.width(program),
        }
    }

    /// Returns the expression as reports print it: `m.row`, `h.a[11:0]`, `add(m.row, 1)`.
    #[must_use]
    pub fn name(&self, program: &Program) -> String {
        match self {
            Expr::Const(v, _) => v.to_string(),
            Expr::Field(f) => program.fields.get(*f).map_or_else(String::new, |d| d.name.clone()),
            Expr::Param(n, _) => format!("${n}"),
            Expr::Slice(e, hi, lo) => format!("{}[{hi}:{lo}]", e.name(program)),
            Expr::Cast(e, width) => format!("cast({}, {width})", e.name(program)),
            Expr::Alu(op, a, b) => format!("{op}({}, {})", a.name(program), b.name(program)),
            Expr::Funnel(high, low, by) => {
                format!("funnel_shift({}, {}, {by})", high.name(program), low.name(program))
            }
        }
    }

    /// Calls `visit` for every field the value reads, in order, repeats included.
    pub fn fields(&self, visit: &mut impl FnMut(Field)) {
        match self {
            Expr::Const(..) | Expr::Param(..) => {}
            Expr::Field(f) => visit(*f),
            Expr::Slice(e, ..) | Expr::Cast(e, _) => e.fields(visit),
            Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => {
                a.fields(visit);
                b.fields(visit);
            }
        }
    }

    /// Calls `visit` for every field the value reads, with the highest and the lowest bit that it reads, in order,
    /// repeats included. Of an operand of an operation, all bits count as read.
    pub fn field_bits(&self, program: &Program, visit: &mut impl FnMut(Field, u16, u16)) {
        self.bits_within(program, (u16::MAX, 0), &mut |leaf, hi, lo| {
            if let Expr::Field(field) = leaf {
                visit(*field, hi, lo);
            }
        });
    }

    /// As [`Self::field_bits`], for parameters.
    pub fn param_bits(&self, program: &Program, visit: &mut impl FnMut(u16, u16, u16)) {
        self.bits_within(program, (u16::MAX, 0), &mut |leaf, hi, lo| {
            if let Expr::Param(param, _) = leaf {
                visit(*param, hi, lo);
            }
        });
    }

    /// Calls `visit` for every leaf of bits `hi` to `lo` of the value, with the bits of the leaf.
    fn bits_within(&self, program: &Program, (hi, lo): (u16, u16), visit: &mut impl FnMut(&Expr, u16, u16)) {
        let hi = hi.min(self.width(program).saturating_sub(1));
        match self {
            Expr::Const(..) | Expr::Param(..) | Expr::Field(_) => {
                if lo <= hi {
                    visit(self, hi, lo);
                }
            }
            Expr::Slice(e, _, from) => {
                e.bits_within(program, (hi.saturating_add(*from), lo.saturating_add(*from)), visit);
            }
            Expr::Cast(e, _) => e.bits_within(program, (hi, lo), visit),
            Expr::Alu(_, a, b) | Expr::Funnel(a, b, _) => {
                a.bits_within(program, (u16::MAX, 0), visit);
                b.bits_within(program, (u16::MAX, 0), visit);
            }
        }
    }
}

/// Comparison of two unsigned values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CmpOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CmpOp {
    /// All comparisons.
    pub const ALL: [CmpOp; 6] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];

    /// Returns the operator in P4.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "==",
            CmpOp::Ne => "!=",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
            CmpOp::Gt => ">",
            CmpOp::Ge => ">=",
        }
    }

    /// Returns true for a comparison by size, false for equality and its opposite.
    #[must_use]
    pub const fn orders(self) -> bool {
        !matches!(self, CmpOp::Eq | CmpOp::Ne)
    }

    /// Returns true if the comparison holds for two unsigned values.
    #[must_use]
    pub const fn holds(self, a: u128, b: u128) -> bool {
        match self {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Lt => a < b,
            CmpOp::Le => a <= b,
            CmpOp::Gt => a > b,
            CmpOp::Ge => a >= b,
        }
    }
}
