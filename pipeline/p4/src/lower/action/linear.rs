//! Values that the hash unit computes in one stage: moves of bits, and exclusive ors.
//!
//! Each bit of a hash is the exclusive or of chosen bits of its inputs, so that the unit can also permute bits and add up
//! values without carries. Programs ask for it by `@in_hash`; values of more than two operands, which an ALU does not take at
//! once, go there without being asked.

use super::super::frame::Frame;
use super::super::simplify::{is_leaf, joined, width};
use super::super::{Lower, Res};
use super::has_param;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Block, ExprId, ExprKind};
use sluice_asic::hash::{HashAlgorithm, XorWidth};
use sluice_ir::{Expr, Hash};

impl Lower<'_> {
    /// Runs `of` with values in the hash unit if the block asks for it.
    pub(in crate::lower) fn within_block<T>(&mut self, block: &Block, of: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.in_hash;
        self.in_hash |= self.asks_for_hash(block);
        let done = of(self);
        self.in_hash = outer;
        done
    }

    /// Returns true for a block with `@in_hash`.
    pub(in crate::lower) fn asks_for_hash(&self, block: &Block) -> bool {
        block.annotations.iter().any(|annotation| self.ast.text(annotation.name) == "in_hash")
    }

    /// Returns the hash whose result is a value, if the value is linear in bits of fields and belongs in the hash unit.
    pub(super) fn linear(&mut self, frame: &Frame, id: ExprId, at: Span) -> Res<Option<Hash>> {
        let mut operands = Vec::new();
        self.summands(id, &mut operands);
        if !self.in_hash && operands.len() < 3 || self.constant(frame, id).is_some() {
            return Ok(None);
        }
        let bits = self.scalar_of(frame, id).map_or(0, |scalar| scalar.width);
        let word = match bits {
            _ if operands.len() == 1 => bits,
            1..=8 => XorWidth::W8.bits(),
            9..=16 => XorWidth::W16.bits(),
            17..=32 => XorWidth::W32.bits(),
            _ => return Ok(None),
        };
        let plain = |id: &ExprId| self.is_plain(*id);
        if !(1..=64).contains(&bits) || !operands.iter().all(plain) {
            return Ok(None);
        }
        let mut inputs = Vec::new();
        for &operand in &operands {
            let pieces = self.pieces(frame, operand)?;
            let pieces = joined(&self.program, &pieces);
            if width(&self.program, &pieces) != bits || !pieces.iter().all(|p| is_leaf(p) && !has_param(p)) {
                return Ok(None);
            }
            if word > bits {
                inputs.push(Expr::Const(0, (word - bits) as u16));
            }
            inputs.extend(pieces);
        }
        let hash = self.identity(inputs, at);
        self.program.hashes[hash].width = bits as u16;
        if operands.len() > 1 {
            self.program.hashes[hash].algorithm = HashAlgorithm::Xor(match word {
                8 => XorWidth::W8,
                16 => XorWidth::W16,
                _ => XorWidth::W32,
            });
        }
        Ok(Some(hash))
    }

    /// Collects the operands of an exclusive or of any number of values.
    fn summands(&self, id: ExprId, found: &mut Vec<ExprId>) {
        match self.ast.exprs[id].kind {
            ExprKind::Binary { op: BinaryOp::BitXor, left, right } => {
                self.summands(left, found);
                self.summands(right, found);
            }
            _ => found.push(id),
        }
    }

    /// Returns true for a value that only moves bits.
    fn is_plain(&self, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Call { .. } | ExprKind::Unary { .. } | ExprKind::Ternary { .. } => false,
            ExprKind::Binary { op, left, right } => {
                *op == BinaryOp::Concat && self.is_plain(*left) && self.is_plain(*right)
            }
            ExprKind::Cast { operand, .. } | ExprKind::Slice { base: operand, .. } => self.is_plain(*operand),
            _ => true,
        }
    }
}
