//! Writes of parser operations.

use super::{Field, ParserOpKind};
use crate::Expr;
use sluice_asic::alu::AluOp;

/// A write of a value to bits of a field by the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParserWrite<'a> {
    /// The field.
    pub to: Field,
    /// Highest and lowest bit that are written; `None` for all bits.
    pub bits: Option<(u16, u16)>,
    /// Value of the bits, or the ones that are added to them.
    pub value: &'a Expr,
    /// True if ones are added to those that the bits have.
    pub ors: bool,
}

impl ParserOpKind {
    /// Returns the field that the operation writes, other than by extracting its header; `None` if there is none.
    #[must_use]
    pub fn written(&self) -> Option<Field> {
        match self {
            ParserOpKind::Set(to, _)
            | ParserOpKind::SetSlice(to, ..)
            | ParserOpKind::VerifyChecksum(to, _)
            | ParserOpKind::SubtractChecksum(to, _)
            | ParserOpKind::Lookahead(to, _) => Some(*to),
            _ => None,
        }
    }

    /// Returns the write of a value; `None` for other operations.
    #[must_use]
    pub fn write(&self) -> Option<ParserWrite<'_>> {
        match self {
            ParserOpKind::Set(to, Expr::Alu(AluOp::Or, old, value)) if **old == Expr::Field(*to) => {
                Some(ParserWrite { to: *to, bits: None, value, ors: true })
            }
            ParserOpKind::Set(to, value) => Some(ParserWrite { to: *to, bits: None, value, ors: false }),
            ParserOpKind::SetSlice(to, hi, lo, value) => {
                Some(ParserWrite { to: *to, bits: Some((*hi, *lo)), value, ors: false })
            }
            _ => None,
        }
    }
}

impl ParserWrite<'_> {
    /// Returns the field whose bits are copied, and the lowest of them; `None` for a constant and for values that a parser
    /// does not copy.
    #[must_use]
    pub fn source(&self) -> Option<(Field, u16)> {
        part(self.value)
    }

    /// Returns true if the value is a constant.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        matches!(self.value, Expr::Const(..))
    }
}

/// Returns the field of which a value is bits, and the lowest of them.
fn part(value: &Expr) -> Option<(Field, u16)> {
    match value {
        Expr::Field(field) => Some((*field, 0)),
        Expr::Slice(of, _, lo) => part(of).map(|(field, at)| (field, at + lo)),
        _ => None,
    }
}
