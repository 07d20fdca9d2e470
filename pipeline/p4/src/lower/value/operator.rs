//! Operators: one instruction of an ALU each.

use super::super::frame::Frame;
use super::super::simplify::{cast, is_leaf, slice};
use super::super::{Lower, Res};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, ExprId, UnaryOp};
use sluice_asic::alu::{AluOp, width_mask};
use sluice_ir::Expr;

fn alu(op: AluOp, a: Expr, b: Expr) -> Expr {
    Expr::Alu(op, Box::new(a), Box::new(b))
}

/// Returns the instruction of an operator that computes each bit from the same bits of its operands.
pub(super) fn by_bits(op: BinaryOp) -> Option<AluOp> {
    match op {
        BinaryOp::BitAnd => Some(AluOp::And),
        BinaryOp::BitOr => Some(AluOp::Or),
        BinaryOp::BitXor => Some(AluOp::Xor),
        _ => None,
    }
}

impl Lower<'_> {
    pub(super) fn unary(&mut self, frame: &Frame, op: UnaryOp, operand: ExprId) -> Res<Expr> {
        let value = self.value(frame, operand)?;
        let width = value.width(&self.program);
        Ok(match op {
            UnaryOp::Plus => value,
            UnaryOp::Negate => alu(AluOp::Sub, Expr::Const(0, width), value),
            UnaryOp::Not => alu(AluOp::Xor, value, Expr::Const(1, 1)),
            UnaryOp::Complement => complement(value),
        })
    }

    pub(super) fn binary(
        &mut self,
        frame: &Frame,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: Span,
    ) -> Res<Expr> {
        if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
            return self.shift(frame, op, left, right, at);
        }
        let signed = self.scalar_of(frame, left).is_some_and(|scalar| scalar.signed);
        let (a, b) = (self.value(frame, left)?, self.value(frame, right)?);
        let width = a.width(&self.program);
        let op = match op {
            BinaryOp::Add => AluOp::Add,
            BinaryOp::Sub => AluOp::Sub,
            BinaryOp::AddSat if signed => AluOp::Sadds,
            BinaryOp::AddSat => AluOp::Saddu,
            BinaryOp::SubSat if signed => AluOp::Ssubs,
            BinaryOp::SubSat => AluOp::Ssubu,
            BinaryOp::BitAnd => AluOp::And,
            BinaryOp::BitOr => AluOp::Or,
            BinaryOp::BitXor => AluOp::Xor,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod => {
                return self.scaled(op, (a, b), width, at);
            }
            BinaryOp::And | BinaryOp::Or => {
                return Ok(alu(if op == BinaryOp::And { AluOp::And } else { AluOp::Or }, a, b));
            }
            _ => {
                return Err(self.refuse(
                    at,
                    "a comparison is a decision, and its result is no value of an instruction",
                    "write it as the whole right side of an assignment in an `apply` block, or as `if` and `else` there",
                ));
            }
        };
        Ok(combined(op, a, b))
    }

    /// Returns a product, quotient or remainder with a power of two.
    fn scaled(&mut self, op: BinaryOp, (a, b): (Expr, Expr), width: u16, at: Span) -> Res<Expr> {
        let (value, factor) = match (&a, &b) {
            (_, Expr::Const(factor, _)) => (a, *factor),
            (Expr::Const(factor, _), _) if op == BinaryOp::Mul => (b, *factor),
            _ => (a, 0),
        };
        if !factor.is_power_of_two() {
            return Err(self.refuse(
                at,
                "the chip multiplies and divides only by powers of two",
                "use a table of results, or the math unit of a register",
            ));
        }
        let by = factor.trailing_zeros() as u16;
        Ok(match op {
            BinaryOp::Mul => left(value, by, width),
            BinaryOp::Div => self.right(value, by, width),
            _ if by == 0 => Expr::Const(0, width),
            _ if is_leaf(&value) => {
                let low = slice(&self.program, value, by - 1, 0);
                cast(&self.program, low, width)
            }
            _ => alu(AluOp::And, value, Expr::Const(width_mask(by.into()), width)),
        })
    }

    fn shift(&mut self, frame: &Frame, op: BinaryOp, base: ExprId, by: ExprId, at: Span) -> Res<Expr> {
        let signed = self.scalar_of(frame, base).is_some_and(|scalar| scalar.signed);
        let value = self.value(frame, base)?;
        let width = value.width(&self.program);
        let Some(by) = self.number(frame, by) else {
            return Err(self.refuse(
                at,
                "a shift by a value that is not constant",
                "use one action per amount, chosen by a table",
            ));
        };
        let by = u16::try_from(by).unwrap_or(u16::MAX);
        Ok(match op {
            BinaryOp::Shl => left(value, by, width),
            _ if signed => alu(AluOp::Shrs, value, Expr::Const(by.into(), width)),
            _ => self.right(value, by, width),
        })
    }

    /// Returns a value shifted right: of a value without operation, that is a slice.
    fn right(&self, value: Expr, by: u16, width: u16) -> Expr {
        if by == 0 {
            value
        } else if by >= width {
            Expr::Const(0, width)
        } else if is_leaf(&value) {
            cast(&self.program, slice(&self.program, value, width - 1, by), width)
        } else {
            alu(AluOp::Shru, value, Expr::Const(by.into(), width))
        }
    }

    /// Returns the smaller or larger of two values.
    pub(super) fn extreme(&mut self, frame: &Frame, least: bool, left: ExprId, right: ExprId) -> Res<Expr> {
        let signed = self.scalar_of(frame, left).is_some_and(|scalar| scalar.signed);
        let (a, b) = (self.value(frame, left)?, self.value(frame, right)?);
        let op = match (least, signed) {
            (true, false) => AluOp::Minu,
            (true, true) => AluOp::Mins,
            (false, false) => AluOp::Maxu,
            (false, true) => AluOp::Maxs,
        };
        Ok(alu(op, a, b))
    }
}

fn left(value: Expr, by: u16, width: u16) -> Expr {
    if by == 0 {
        value
    } else if by >= width {
        Expr::Const(0, width)
    } else {
        alu(AluOp::Shl, value, Expr::Const(by.into(), width))
    }
}

/// Returns the complement; of a logic operation, that is the operation with the complemented result.
fn complement(value: Expr) -> Expr {
    match value {
        Expr::Const(bits, width) => Expr::Const(!bits & width_mask(width.into()), width),
        Expr::Alu(AluOp::And, a, b) => Expr::Alu(AluOp::Nand, a, b),
        Expr::Alu(AluOp::Or, a, b) => Expr::Alu(AluOp::Nor, a, b),
        Expr::Alu(AluOp::Xor, a, b) => Expr::Alu(AluOp::Xnor, a, b),
        Expr::Alu(AluOp::Nota, a, _) => *a,
        other => alu(AluOp::Nota, other.clone(), other),
    }
}

/// Returns an operation; a complemented operand of a logic operation becomes a part of it, and neutral constants vanish.
pub(in crate::lower) fn combined(op: AluOp, a: Expr, b: Expr) -> Expr {
    match (op, a, b) {
        (op, Expr::Const(a, width), Expr::Const(b, _)) => Expr::Const(op.eval(a, b, width.into()), width),
        (AluOp::And, Expr::Alu(AluOp::Nota, a, _), b) => alu(AluOp::Andca, *a, b),
        (AluOp::And, a, Expr::Alu(AluOp::Nota, b, _)) => alu(AluOp::Andcb, a, *b),
        (AluOp::Or, Expr::Alu(AluOp::Nota, a, _), b) => alu(AluOp::Orca, *a, b),
        (AluOp::Or, a, Expr::Alu(AluOp::Nota, b, _)) => alu(AluOp::Orcb, a, *b),
        (AluOp::Xor, Expr::Alu(AluOp::Nota, a, _), b) => alu(AluOp::Xnor, *a, b),
        (AluOp::Xor, a, Expr::Alu(AluOp::Nota, b, _)) => alu(AluOp::Xnor, a, *b),
        (AluOp::Add | AluOp::Sub | AluOp::Or | AluOp::Xor, a, Expr::Const(0, _)) => a,
        (AluOp::Add | AluOp::Or | AluOp::Xor, Expr::Const(0, _), b) => b,
        (AluOp::And, _, Expr::Const(0, width)) | (AluOp::And, Expr::Const(0, width), _) => {
            Expr::Const(0, width)
        }
        (AluOp::And, a, Expr::Const(bits, width)) if bits == width_mask(width.into()) => a,
        (op, a, b) => alu(op, a, b),
    }
}
