//! Results of actions, bit by bit: the verifier's separate reading of the IR.

use sluice_asic::alu::{AluClass, AluOp};
use sluice_ir::{Action, Expr, Field, Loc, MeterAccess, PrimitiveKind, Program};

/// Source of one bit of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bit {
    /// This bit of a field.
    Phv(Field, u16),
    /// A constant or parameter.
    Data,
    /// The zero above the operand of a cast to a larger width.
    Zero,
    /// A result of a hash, a meter ALU or a random number generator.
    Hash,
}

/// Kind of computation that gives a field its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// Its bits are copied.
    Copied,
    /// A bitwise function that can leave other bits of the container as they are; with its operation, if several of them are one
    /// instruction.
    Masked(Option<AluOp>),
    /// A bitwise function of whole containers.
    Bitwise,
    /// A number in a whole container.
    Number,
    /// A sum of a field and data, or a difference of a field and data: it needs no whole container at the upper end of one.
    Shifted,
    /// A sum or difference of more than 32 bits, in two containers with a carry between them.
    Carried,
}

/// The final value that an action gives to a field.
pub(super) struct Result {
    pub(super) field: Field,
    pub(super) loc: Loc,
    pub(super) how: How,
    /// Lowest bit of the field that is written.
    pub(super) lo: u16,
    /// Sources of each bit from `lo` on.
    pub(super) bits: Vec<Vec<Bit>>,
}

impl Result {
    /// Returns the sources of a bit of the field; `None` if the bit is not written.
    pub(super) fn sources(&self, bit: u16) -> Option<&[Bit]> {
        self.bits.get(usize::from(bit.checked_sub(self.lo)?)).map(Vec::as_slice)
    }

    /// Returns the operands among fields: field, lowest bit and the one above the highest.
    pub(super) fn operands(&self) -> Vec<(Field, u16, u16)> {
        let most = self.bits.iter().map(Vec::len).max().unwrap_or(0);
        let mut list: Vec<(Field, u16, u16)> = Vec::new();
        for k in 0..most {
            let mut last: Option<(Field, u16, u16)> = None;
            for bit in self.bits.iter().filter_map(|sources| sources.get(k)) {
                last = match (*bit, last) {
                    (Bit::Phv(f, at), Some((g, lo, end))) if f == g && at == end => Some((f, lo, end + 1)),
                    (Bit::Phv(f, at), before) => {
                        list.extend(before);
                        Some((f, at, at + 1))
                    }
                    (_, before) => before,
                };
            }
            list.extend(last);
        }
        list
    }

    /// Returns true if both write a bit.
    fn meets(&self, other: &Result) -> bool {
        let end = |r: &Result| usize::from(r.lo) + r.bits.len();
        self.field == other.field && usize::from(self.lo) < end(other) && usize::from(other.lo) < end(self)
    }
}

/// Returns the final values of the fields that an action sets.
pub(super) fn results(program: &Program, action: Action) -> Vec<Result> {
    let mut list: Vec<Result> = Vec::new();
    for p in &program.actions[action].body {
        let result = match &p.kind {
            PrimitiveKind::Set(field, value) | PrimitiveKind::DropCtl(field, value, _) => {
                let bits = (0..program.fields[*field].width).map(|b| bit(program, value, b)).collect();
                Result { field: *field, loc: p.loc, lo: 0, how: how(program, *field, value), bits }
            }
            PrimitiveKind::Hash(field, _) | PrimitiveKind::HashSlice(field, ..) => {
                let bits = vec![vec![Bit::Hash]; program.fields[*field].width.into()];
                Result { field: *field, loc: p.loc, lo: 0, how: How::Copied, bits }
            }
            PrimitiveKind::HashInto(field, hi, lo, ..) => {
                let bits = vec![vec![Bit::Hash]; (hi - lo + 1).into()];
                Result { field: *field, loc: p.loc, lo: *lo, how: How::Copied, bits }
            }
            PrimitiveKind::SetSlice(field, hi, lo, value) => {
                let bits = (0..=hi - lo).map(|b| bit(program, value, b)).collect();
                Result { field: *field, loc: p.loc, lo: *lo, how: How::Copied, bits }
            }
            PrimitiveKind::SetMasked(field, ..) => {
                let bits =
                    (0..program.fields[*field].width).map(|b| vec![Bit::Phv(*field, b), Bit::Data]).collect();
                Result { field: *field, loc: p.loc, lo: 0, how: How::Masked(None), bits }
            }
            PrimitiveKind::Register(access) => {
                for (_, field) in &access.outputs {
                    let bits = vec![vec![Bit::Hash]; program.fields[*field].width.into()];
                    let result = Result { field: *field, loc: p.loc, lo: 0, how: How::Copied, bits };
                    list.retain(|r| !r.meets(&result));
                    list.push(result);
                }
                continue;
            }
            PrimitiveKind::Meter(MeterAccess { to, .. }) | PrimitiveKind::Random(to, _) => {
                let bits = vec![vec![Bit::Hash]; program.fields[*to].width.into()];
                Result { field: *to, loc: p.loc, lo: 0, how: How::Copied, bits }
            }
            _ => continue,
        };
        list.retain(|r| !r.meets(&result));
        list.push(result);
    }
    list
}

fn bit(program: &Program, value: &Expr, at: u16) -> Vec<Bit> {
    match value {
        Expr::Const(..) | Expr::Param(..) => vec![Bit::Data],
        Expr::Field(f) => vec![Bit::Phv(*f, at)],
        Expr::Slice(inner, _, lo) => bit(program, inner, at + lo),
        Expr::Cast(inner, _) if at >= inner.width(program) => vec![Bit::Zero],
        Expr::Cast(inner, _) => bit(program, inner, at),
        Expr::Alu(op, a, b) => {
            let (from_a, from_b) = op.reads();
            let of = |read: bool, e: &Expr| if read { bit(program, e, at) } else { Vec::new() };
            [of(from_a, a), of(from_b, b)].concat()
        }
        Expr::Funnel(high, low, _) => [bit(program, high, at), bit(program, low, at)].concat(),
    }
}

fn how(program: &Program, field: Field, value: &Expr) -> How {
    match value {
        Expr::Const(..) | Expr::Param(..) | Expr::Field(_) => How::Copied,
        Expr::Alu(AluOp::Add | AluOp::Sub, ..) if program.fields[field].width > 32 => How::Carried,
        Expr::Alu(AluOp::Add, a, b) if is_data(a) || is_data(b) => How::Shifted,
        Expr::Alu(AluOp::Sub, _, b) if is_data(b) => How::Shifted,
        Expr::Funnel(..) => How::Number,
        Expr::Alu(op, a, b) => match op.class() {
            AluClass::Move => How::Copied,
            AluClass::Bitwise if masked(*op, field, a, b) => {
                let joint = matches!(op, AluOp::And | AluOp::Or | AluOp::Xor | AluOp::Xnor);
                How::Masked(joint.then_some(*op))
            }
            AluClass::Bitwise => How::Bitwise,
            AluClass::Arithmetic | AluClass::Shift | AluClass::Compare => How::Number,
        },
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => match how(program, field, inner) {
            How::Masked(_) => How::Bitwise,
            other => other,
        },
    }
}

/// Returns true if one operand is the destination, the other is data, and some data bit leaves the destination's bit
/// as it is.
fn masked(op: AluOp, field: Field, a: &Expr, b: &Expr) -> bool {
    let dst = Expr::Field(field);
    let is_data = |e: &Expr| matches!(e, Expr::Const(..) | Expr::Param(..));
    let keeps = |f: &dyn Fn(u32, u32) -> u32| [0, 1].iter().any(|d| f(0, *d) & 1 == 0 && f(1, *d) & 1 == 1);
    *a == dst && is_data(b) && keeps(&|x, d| apply(op, x, d))
        || is_data(a) && *b == dst && keeps(&|x, d| apply(op, d, x))
}

/// Returns true for a constant or parameter, or a part of one.
fn is_data(e: &Expr) -> bool {
    match e {
        Expr::Const(..) | Expr::Param(..) => true,
        Expr::Slice(inner, ..) => is_data(inner),
        Expr::Field(_) | Expr::Cast(..) | Expr::Alu(..) | Expr::Funnel(..) => false,
    }
}

fn apply(op: AluOp, a: u32, b: u32) -> u32 {
    op.eval32(a, b, 8)
}
