//! Slices, casts and concatenations of values without an operation.

use sluice_asic::alu::{AluClass, AluOp, width_mask};
use sluice_ir::{Expr, Program};

/// The widest value in bits.
const MOST: u16 = 128;

/// Returns bits `hi` to `lo` of a value.
pub(super) fn slice(program: &Program, value: Expr, hi: u16, lo: u16) -> Expr {
    let width = value.width(program);
    if lo == 0 && hi + 1 == width {
        return value;
    }
    match value {
        Expr::Const(value, _) => Expr::Const((value >> lo) & width_mask(u32::from(hi - lo) + 1), hi - lo + 1),
        Expr::Slice(inner, _, from) => slice(program, *inner, hi + from, lo + from),
        Expr::Cast(inner, _) => {
            let inner_width = inner.width(program);
            if hi < inner_width {
                slice(program, *inner, hi, lo)
            } else if lo >= inner_width {
                Expr::Const(0, hi - lo + 1)
            } else {
                cast(program, slice(program, *inner, inner_width - 1, lo), hi - lo + 1)
            }
        }
        // Bit by bit, or from the lowest bit on: the low bits of the result need the low bits of the operands only.
        Expr::Alu(op, a, b) if bitwise(op) || (lo == 0 && matches!(op, AluOp::Add | AluOp::Sub)) => {
            Expr::Alu(op, Box::new(slice(program, *a, hi, lo)), Box::new(slice(program, *b, hi, lo)))
        }
        other => Expr::Slice(Box::new(other), hi, lo),
    }
}

/// Returns a value zero-extended or truncated to a width.
pub(super) fn cast(program: &Program, value: Expr, to: u16) -> Expr {
    let width = value.width(program);
    if to == width {
        return value;
    }
    if to < width {
        return slice(program, value, to - 1, 0);
    }
    match value {
        Expr::Const(value, _) => Expr::Const(value, to),
        Expr::Cast(inner, _) => Expr::Cast(inner, to),
        Expr::Alu(op @ (AluOp::And | AluOp::Or | AluOp::Xor), a, b) => {
            Expr::Alu(op, Box::new(cast(program, *a, to)), Box::new(cast(program, *b, to)))
        }
        other => Expr::Cast(Box::new(other), to),
    }
}

/// Returns the width of a concatenation.
pub(super) fn width(program: &Program, pieces: &[Expr]) -> u32 {
    pieces.iter().map(|piece| u32::from(piece.width(program))).sum()
}

/// Returns bits `hi` to `lo` of a concatenation.
pub(super) fn slice_pieces(program: &Program, pieces: &[Expr], hi: u32, lo: u32) -> Vec<Expr> {
    let mut above = width(program, pieces);
    let mut kept = Vec::new();
    for piece in pieces {
        let bits = u32::from(piece.width(program));
        let from = above - bits;
        if from <= hi && lo < above {
            let high = (hi.min(above - 1) - from) as u16;
            let low = (lo.max(from) - from) as u16;
            kept.push(slice(program, piece.clone(), high, low));
        }
        above = from;
    }
    kept
}

/// Returns a concatenation zero-extended or truncated to a width.
pub(super) fn cast_pieces(program: &Program, pieces: &[Expr], to: u32) -> Vec<Expr> {
    let width = width(program, pieces);
    if to <= width {
        return if to == 0 { Vec::new() } else { slice_pieces(program, pieces, to - 1, 0) };
    }
    let mut wide = zeros(to - width);
    wide.extend_from_slice(pieces);
    wide
}

/// Returns a concatenation of zeros.
pub(super) fn zeros(bits: u32) -> Vec<Expr> {
    let mut list = vec![Expr::Const(0, MOST); (bits / u32::from(MOST)) as usize];
    let rest = (bits % u32::from(MOST)) as u16;
    if rest > 0 {
        list.insert(0, Expr::Const(0, rest));
    }
    list
}

/// Returns a concatenation with as few pieces as it needs: adjacent constants and adjacent slices of a value become one, and zeros
/// in front become an extension.
pub(super) fn joined(program: &Program, pieces: &[Expr]) -> Vec<Expr> {
    let mut list: Vec<Expr> = Vec::new();
    for piece in pieces {
        let merged = list.last().and_then(|last| pair(program, last, piece));
        match (merged, list.last_mut()) {
            (Some(merged), Some(last)) => *last = merged,
            _ => list.push(piece.clone()),
        }
    }
    if let [Expr::Const(0, _), rest] = list.as_slice() {
        let total = width(program, &list);
        if total <= u32::from(MOST) && !matches!(rest, Expr::Const(..)) {
            return vec![cast(program, rest.clone(), total as u16)];
        }
    }
    list
}

/// Returns two adjacent pieces as one value, if they are one.
fn pair(program: &Program, high: &Expr, low: &Expr) -> Option<Expr> {
    let total = high.width(program).checked_add(low.width(program)).filter(|total| *total <= MOST)?;
    match (high, low) {
        (Expr::Const(a, _), Expr::Const(b, bits)) => Some(Expr::Const((a << *bits) | b, total)),
        (Expr::Slice(a, hi, from), Expr::Slice(b, to, lo)) if a == b && *from == to + 1 => {
            Some(slice(program, (**a).clone(), *hi, *lo))
        }
        _ => None,
    }
}

/// Returns true for a value without an operation.
pub(super) fn is_leaf(value: &Expr) -> bool {
    match value {
        Expr::Const(..) | Expr::Field(_) | Expr::Param(..) => true,
        Expr::Slice(inner, ..) | Expr::Cast(inner, _) => is_leaf(inner),
        Expr::Alu(..) | Expr::Funnel(..) => false,
    }
}

/// Returns true for an operation that computes each bit from the same bit of its operands.
fn bitwise(op: AluOp) -> bool {
    op.class() == AluClass::Bitwise
}
