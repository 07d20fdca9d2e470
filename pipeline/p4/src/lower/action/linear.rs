//! Values that the hash unit computes in one stage: moves of bits, and exclusive ors.
//!
//! Each bit of a hash is the exclusive or of chosen bits of its inputs, so that the unit can also permute bits and add up
//! values without carries. Programs ask for it by `@in_hash`; values of more than two operands, which an ALU does not take at
//! once, go there without being asked.

use super::super::frame::Frame;
use super::super::simplify::{is_leaf, joined, slice, width};
use super::super::{Lower, Res};
use super::has_param;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Block, ExprId, ExprKind};
use sluice_asic::alu::AluOp;
use sluice_asic::hash::{HashAlgorithm, XorWidth};
use sluice_ir::{Expr, Hash, Program};

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
        let plain = |id: &ExprId| self.is_plain(frame, *id);
        if !(1..=64).contains(&bits) || !operands.iter().all(plain) {
            return Ok(None);
        }
        let mut inputs = Vec::new();
        for &operand in &operands {
            let Some(pieces) = self.moved_bits(frame, operand)? else { return Ok(None) };
            if width(&self.program, &pieces) != bits {
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

    /// Returns the pieces of a value that only moves bits; those that a mask clears are zeros.
    fn moved_bits(&mut self, frame: &Frame, id: ExprId) -> Res<Option<Vec<Expr>>> {
        let pieces = self.pieces(frame, id)?;
        let pieces: Vec<Expr> = pieces.into_iter().flat_map(|piece| masked(&self.program, piece)).collect();
        let pieces = joined(&self.program, &pieces);
        Ok(pieces.iter().all(|p| is_leaf(p) && !has_param(p)).then_some(pieces))
    }

    /// In a block with `@in_hash`, lets the hash unit compute the operands of an operation that move bits. Returns those for
    /// which fields now stand.
    pub(super) fn operands_in_hash(&mut self, frame: &Frame, id: ExprId, at: Span) -> Res<Vec<ExprId>> {
        let mut found = Vec::new();
        let ExprKind::Binary { op, left, right } = self.ast.exprs[id].kind else { return Ok(found) };
        let is_operation = matches!(
            op,
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor
        );
        if !self.in_hash || !is_operation {
            return Ok(found);
        }
        for operand in [left, right] {
            if self.constant(frame, operand).is_some() || !self.is_plain(frame, operand) {
                continue;
            }
            let Some(pieces) = self.moved_bits(frame, operand)? else { continue };
            let bits = width(&self.program, &pieces);
            if matches!(pieces.as_slice(), [Expr::Field(_)]) || !(1..=64).contains(&bits) {
                continue;
            }
            let hash = self.identity(pieces, at);
            self.program.hashes[hash].width = bits as u16;
            let value = self.hash_before(hash, at);
            self.results.insert(operand, vec![value]);
            found.push(operand);
        }
        Ok(found)
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
    fn is_plain(&self, frame: &Frame, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Call { .. } | ExprKind::Unary { .. } | ExprKind::Ternary { .. } => false,
            ExprKind::Binary { op: BinaryOp::Concat, left, right } => {
                self.is_plain(frame, *left) && self.is_plain(frame, *right)
            }
            ExprKind::Binary { op: BinaryOp::BitAnd, left, right } => {
                self.is_plain(frame, *left) && self.constant(frame, *right).is_some()
                    || self.is_plain(frame, *right) && self.constant(frame, *left).is_some()
            }
            ExprKind::Binary { .. } => false,
            ExprKind::Cast { operand, .. } | ExprKind::Slice { base: operand, .. } => {
                self.is_plain(frame, *operand)
            }
            _ => true,
        }
    }
}

/// Returns a value under a constant mask as slices and zeros; any other value as it is.
fn masked(program: &Program, piece: Expr) -> Vec<Expr> {
    let Expr::Alu(AluOp::And, a, b) = &piece else { return vec![piece] };
    let (value, mask) = match (a.as_ref(), b.as_ref()) {
        (value, Expr::Const(mask, _)) | (Expr::Const(mask, _), value) => (value, *mask),
        _ => return vec![piece],
    };
    let mut parts = Vec::new();
    let mut above = value.width(program);
    while above > 0 {
        let kept = mask >> (above - 1) & 1 == 1;
        let low = (0..above).rev().take_while(|bit| (mask >> bit & 1 == 1) == kept).last().unwrap_or(0);
        parts.push(match kept {
            true => slice(program, value.clone(), above - 1, low),
            false => Expr::Const(0, above - low),
        });
        above = low;
    }
    parts
}
