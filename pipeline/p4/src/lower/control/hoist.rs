//! Values that an earlier statement computes: results of units inside expressions, and decisions as values.

use super::super::action::Target;
use super::super::condition::Decision;
use super::super::frame::Frame;
use super::super::places::Place;
use super::super::{Lower, Res};
use super::Seq;
use crate::check::{Builtin, Callee, Ty};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use sluice_ir as ir;
use sluice_ir::{Expr, Primitive};

impl<'a> Lower<'a> {
    /// Computes the results of units inside an expression into variables.
    pub(super) fn hoist(&mut self, frame: &mut Frame, id: ExprId, seq: &mut Seq) -> Res<()> {
        if self.is_unit_call(id) {
            self.hoist_within(frame, id, seq)?;
            let at = self.ast.exprs[id].span;
            let ty = self.ty(frame, id);
            let name = frame.name("result");
            let place = self.make_place(ty, self.gress, &name, at)?;
            let primitives = self.place_body(frame, &place, id, at)?;
            self.add(seq, primitives);
            let pieces = self.read_place(&place, at)?;
            self.hoisted.insert(id, pieces);
            return Ok(());
        }
        self.hoist_within(frame, id, seq)
    }

    /// Computes the results of units in the parts of an expression into variables, as far as the outer unit does not take them at once.
    pub(super) fn hoist_within(&mut self, frame: &mut Frame, id: ExprId, seq: &mut Seq) -> Res<()> {
        let parts: Vec<ExprId> = self.ast.exprs[id].kind.parts().collect();
        let unit = self.is_unit_call(id);
        for part in parts {
            // A hash that is an index is computed on its way to the array.
            if unit && self.is_hash(frame, part) {
                continue;
            }
            self.hoist(frame, part, seq)?;
            if unit && !self.is_hash(frame, id) && self.is_computed(frame, part) {
                self.hoist_value(frame, part, seq)?;
            }
        }
        Ok(())
    }

    /// As [`Self::hoist_within`], for the right side of an assignment: a field takes the low bits of a result at once.
    pub(super) fn hoist_assigned(&mut self, frame: &mut Frame, id: ExprId, seq: &mut Seq) -> Res<()> {
        let call = self.low_bits_of(frame, id).unwrap_or(id);
        self.hoist_within(frame, call, seq)
    }

    fn hoist_value(&mut self, frame: &mut Frame, id: ExprId, seq: &mut Seq) -> Res<()> {
        let at = self.ast.exprs[id].span;
        let ty = self.ty(frame, id);
        let name = frame.name("operand");
        let place = self.make_place(ty, self.gress, &name, at)?;
        let primitives = self.place_body(frame, &place, id, at)?;
        self.add(seq, primitives);
        let pieces = self.read_place(&place, at)?;
        self.hoisted.insert(id, pieces);
        Ok(())
    }

    /// Returns true for a hash, or its low bits.
    pub(in crate::lower) fn is_hash(&self, frame: &Frame, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Cast { operand, .. } => self.is_hash(frame, *operand),
            ExprKind::Slice { base, lo, .. } => {
                let low = self.constant(frame, *lo).and_then(|value| value.as_u32());
                low == Some(0) && self.is_hash(frame, *base)
            }
            ExprKind::Call { callee, .. } => match &self.ast.exprs[*callee].kind {
                ExprKind::Member { base, .. } => matches!(
                    self.pipe.instance(self.checked, frame.block, *base),
                    Some(crate::elaborate::Binding::Object(object)) if self.object_kind(*object) == "Hash"
                ),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns true for a number that an ALU computes.
    fn is_computed(&self, frame: &Frame, id: ExprId) -> bool {
        if self.constant(frame, id).is_some() {
            return false;
        }
        match &self.ast.exprs[id].kind {
            ExprKind::Binary { op, .. } => *op != BinaryOp::Shr,
            ExprKind::Unary { op, .. } => *op != UnaryOp::Not,
            ExprKind::Cast { operand, .. } => self.is_computed(frame, *operand),
            _ => false,
        }
    }

    /// Lowers an assignment of an expression to a whole place.
    pub(super) fn place_body(
        &mut self,
        frame: &mut Frame,
        place: &Place,
        value: ExprId,
        at: Span,
    ) -> Res<Vec<Primitive>> {
        let outer = std::mem::take(&mut self.body);
        let done = self.assign_place(frame, place, value, at);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        self.emit(body)
    }

    /// Returns true for `?:`, comparisons and other decisions.
    pub(super) fn decides_value(&mut self, frame: &Frame, id: ExprId) -> bool {
        if self.constant(frame, id).is_some() {
            return false;
        }
        match &self.ast.exprs[id].kind {
            ExprKind::Ternary { .. } => true,
            ExprKind::Binary { op, .. } => {
                matches!(
                    op,
                    BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
                ) || matches!(op, BinaryOp::And | BinaryOp::Or)
            }
            ExprKind::Unary { op: UnaryOp::Not, .. } => true,
            ExprKind::Cast { operand, .. } => {
                self.ty(frame, *operand) == Ty::BOOL && self.decides_value(frame, *operand)
            }
            ExprKind::Call { .. } => {
                let callee = self.checked.calls.get(&id).map(|call| call.callee);
                callee == Some(Callee::Builtin(Builtin::IsValid))
            }
            _ => false,
        }
    }

    /// Assigns a decision: an `if` with an assignment in each branch.
    pub(super) fn decided(
        &mut self,
        frame: &mut Frame,
        target: &Target,
        value: ExprId,
        at: Span,
        seq: &mut Seq,
    ) -> Res<()> {
        let (condition, parts) = match &self.ast.exprs[value].kind {
            ExprKind::Ternary { condition, then, otherwise } => (*condition, Some((*then, *otherwise))),
            ExprKind::Cast { operand, .. } => (*operand, None),
            _ => (value, None),
        };
        self.hoist(frame, condition, seq)?;
        let decision = self.condition(frame, condition)?;
        self.add(seq, Vec::new());
        let mut blocks = Vec::new();
        for (index, answer) in [true, false].into_iter().enumerate() {
            let mut inner = self.seq();
            match parts {
                Some((then, otherwise)) => {
                    let part = if index == 0 { then } else { otherwise };
                    if self.decides_value(frame, part) {
                        self.decided(frame, target, part, at, &mut inner)?;
                    } else {
                        self.hoist(frame, part, &mut inner)?;
                        let pieces = self.pieces(frame, part)?;
                        self.set_target(target, pieces, at, &mut inner)?;
                    }
                }
                None => {
                    let bit = vec![Expr::Const(u128::from(answer), 1)];
                    self.set_target(target, bit, at, &mut inner)?;
                }
            }
            blocks.push(self.closed(inner));
        }
        let (no, yes) = (blocks.pop().unwrap_or_default(), blocks.pop().unwrap_or_default());
        self.flush(seq);
        match decision {
            Decision::Always(true) => seq.stmts.extend(yes),
            Decision::Always(false) => seq.stmts.extend(no),
            Decision::By(cond) => self.push(seq, ir::StmtKind::If(cond, yes, no), at),
        }
        Ok(())
    }

    pub(super) fn set_target(
        &mut self,
        target: &Target,
        pieces: Vec<Expr>,
        at: Span,
        seq: &mut Seq,
    ) -> Res<()> {
        let outer = std::mem::take(&mut self.body);
        let done = self.write(target, pieces, at);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        let primitives = self.emit(body)?;
        self.add(seq, primitives);
        Ok(())
    }
}
