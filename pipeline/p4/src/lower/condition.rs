//! Conditions, which gateways decide.

use super::frame::Frame;
use super::places::Place;
use super::simplify::slice;
use super::{Lower, Res};
use crate::check::{Builtin, Callee};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, ExprId, ExprKind, UnaryOp};
use sluice_asic::alu::{AluOp, width_mask};
use sluice_ir::{CmpOp, Cond, Expr};

/// What a condition decides.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Decision {
    /// The same for every packet.
    Always(bool),
    /// By packet.
    By(Cond),
}

impl Decision {
    fn not(self) -> Decision {
        match self {
            Decision::Always(value) => Decision::Always(!value),
            Decision::By(Cond::Not(inner)) => Decision::By(*inner),
            Decision::By(cond) => Decision::By(Cond::Not(Box::new(cond))),
        }
    }

    pub(super) fn and(self, other: Decision) -> Decision {
        match (self, other) {
            (Decision::Always(false), _) | (_, Decision::Always(false)) => Decision::Always(false),
            (Decision::Always(true), other) | (other, Decision::Always(true)) => other,
            (Decision::By(a), Decision::By(b)) => Decision::By(Cond::And(Box::new(a), Box::new(b))),
        }
    }

    fn or(self, other: Decision) -> Decision {
        match (self, other) {
            (Decision::Always(true), _) | (_, Decision::Always(true)) => Decision::Always(true),
            (Decision::Always(false), other) | (other, Decision::Always(false)) => other,
            (Decision::By(a), Decision::By(b)) => Decision::By(Cond::Or(Box::new(a), Box::new(b))),
        }
    }
}

impl Lower<'_> {
    /// Returns what an expression of type `bool` decides.
    pub(super) fn condition(&mut self, frame: &Frame, id: ExprId) -> Res<Decision> {
        let ast = self.ast;
        if let Some(value) = self.constant(frame, id).and_then(|value| value.as_bool()) {
            return Ok(Decision::Always(value));
        }
        let at = ast.exprs[id].span;
        match &ast.exprs[id].kind {
            ExprKind::Unary { op: UnaryOp::Not, operand } => Ok(self.condition(frame, *operand)?.not()),
            ExprKind::Binary { op: BinaryOp::And, left, right } => {
                let left = self.condition(frame, *left)?;
                Ok(left.and(self.condition(frame, *right)?))
            }
            ExprKind::Binary { op: BinaryOp::Or, left, right } => {
                let left = self.condition(frame, *left)?;
                Ok(left.or(self.condition(frame, *right)?))
            }
            ExprKind::Binary { op, left, right } if compares(*op).is_some() => {
                self.comparison(frame, *op, *left, *right, at)
            }
            // An earlier statement has the result of the unit.
            ExprKind::Call { .. } if self.hoisted.contains_key(&id) => {
                let value = self.value(frame, id)?;
                self.flag(value, at)
            }
            ExprKind::Call { callee, .. } => self.validity(frame, id, *callee),
            ExprKind::Member { .. } if self.is_result(id) => Err(self.refuse(
                at,
                "the result of a table inside a larger condition",
                "write `if (t.apply().hit)` alone, with the other condition inside or around it",
            )),
            ExprKind::Cast { operand, .. } => {
                let value = self.value(frame, *operand)?;
                self.flag(value, at)
            }
            _ => {
                let value = self.value(frame, id)?;
                self.flag(value, at)
            }
        }
    }

    fn is_result(&self, id: ExprId) -> bool {
        use crate::check::Resolution;
        matches!(
            self.checked.resolutions[id],
            Some(Resolution::Builtin(Builtin::Hit | Builtin::Miss | Builtin::ActionRun))
        )
    }

    /// Returns the decision by a flag of one bit.
    fn flag(&mut self, value: Expr, at: Span) -> Res<Decision> {
        self.compare(CmpOp::Eq, value, Expr::Const(1, 1), at)
    }

    fn validity(&mut self, frame: &Frame, id: ExprId, callee: ExprId) -> Res<Decision> {
        let at = self.ast.exprs[id].span;
        let call = self.checked.calls.get(&id).map(|call| call.callee);
        if let (Some(Callee::Builtin(Builtin::IsValid)), ExprKind::Member { base, .. }) =
            (call, &self.ast.exprs[callee].kind)
        {
            return match self.place(frame, *base) {
                Some(Place::Header(instance)) => {
                    let header = self.header(instance);
                    Ok(Decision::By(Cond::Valid(header)))
                }
                // The headers that the chip puts in front of the packet are always there.
                Some(Place::Struct(_)) => Ok(Decision::Always(true)),
                _ => {
                    Err(self.refuse(at, "this header has no storage", "test a header of the headers' struct"))
                }
            };
        }
        if let (Some(Callee::Function(decl)), Some([Some(field)])) =
            (call, self.checked.calls.get(&id).map(|call| call.args.as_slice()))
            && self.ast.text(self.ast.decls[decl].name) == "is_validated"
        {
            let field = *field;
            return self.is_validated(frame, field, at);
        }
        Err(self.refuse(
            at,
            "a call inside a condition",
            "assign the call to a variable, and test the variable in a later statement",
        ))
    }

    fn comparison(
        &mut self,
        frame: &Frame,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
        at: Span,
    ) -> Res<Decision> {
        let op = compares(op).unwrap_or(CmpOp::Eq);
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        let scalar = self.scalar_of(frame, left);
        if equality && self.is_flag(frame, left) && (self.decides(left) || self.decides(right)) {
            let (a, b) = (self.condition(frame, left)?, self.condition(frame, right)?);
            let same = a.clone().and(b.clone()).or(a.not().and(b.not()));
            return Ok(if op == CmpOp::Eq { same } else { same.not() });
        }
        let (a, b) = if scalar.is_some() {
            (self.pieces(frame, left)?, self.pieces(frame, right)?)
        } else {
            (self.leaves(frame, left)?, self.leaves(frame, right)?)
        };
        let signed = scalar.is_some_and(|scalar| scalar.signed);
        if signed && !equality {
            return self.signed(op, a, b, at);
        }
        let (a, b) = self.aligned(&a, &b);
        if let ([a], [b]) = (a.as_slice(), b.as_slice()) {
            return self.compare(op, a.clone(), b.clone(), at);
        }
        if !equality {
            let help = "compare the parts, or write the value to a metadata field in an earlier action";
            return Err(self.refuse(at, "a gateway orders single fields, not concatenations", help));
        }
        let mut all = Decision::Always(true);
        for (a, b) in a.into_iter().zip(b) {
            all = all.and(self.compare(CmpOp::Eq, a, b, at)?);
        }
        Ok(if op == CmpOp::Eq { all } else { all.not() })
    }

    fn is_flag(&mut self, frame: &Frame, id: ExprId) -> bool {
        let ty = self.ty(frame, id);
        ty == crate::check::Ty::BOOL
    }

    /// Returns true for an expression whose value is a decision.
    fn decides(&self, id: ExprId) -> bool {
        match &self.ast.exprs[id].kind {
            ExprKind::Binary { op, .. } => {
                compares(*op).is_some() || matches!(op, BinaryOp::And | BinaryOp::Or)
            }
            ExprKind::Unary { op: UnaryOp::Not, .. } => true,
            ExprKind::Call { .. } => {
                let callee = self.checked.calls.get(&id).map(|call| call.callee);
                callee == Some(Callee::Builtin(Builtin::IsValid))
            }
            _ => false,
        }
    }

    /// Cuts two concatenations at the same bits.
    pub(super) fn aligned(&self, a: &[Expr], b: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
        use super::simplify::{joined, slice_pieces, width};
        let program = &self.program;
        let (a, b) = (joined(program, a), joined(program, b));
        if a.len() == 1 && b.len() == 1 {
            return (a, b);
        }
        let total = width(program, &a).min(width(program, &b));
        let mut cuts = std::collections::BTreeSet::from([0, total]);
        for list in [&a, &b] {
            let mut below = width(program, list);
            for piece in list {
                below -= u32::from(piece.width(program));
                cuts.insert(below.min(total));
            }
        }
        let cuts: Vec<u32> = cuts.into_iter().collect();
        let cut = |list: &[Expr]| -> Vec<Expr> {
            let ranges = cuts.windows(2).rev();
            ranges.flat_map(|pair| slice_pieces(program, list, pair[1] - 1, pair[0])).collect()
        };
        (cut(&a), cut(&b))
    }

    /// Returns a comparison of signed numbers, of which gateways have the one with zero.
    fn signed(&mut self, op: CmpOp, a: Vec<Expr>, b: Vec<Expr>, at: Span) -> Res<Decision> {
        let (a, b) = (self.one(a, at)?, self.one(b, at)?);
        let (op, value, with) = match (&a, &b) {
            (_, Expr::Const(value, _)) => (op, a.clone(), *value),
            (Expr::Const(value, _), _) => (mirrored(op), b.clone(), *value),
            _ => (op, a.clone(), u128::MAX),
        };
        let width = value.width(&self.program);
        let minus_one = width_mask(width.into());
        let negative = |lower: &mut Self| {
            let sign = slice(&lower.program, value.clone(), width - 1, width - 1);
            lower.compare(CmpOp::Eq, sign, Expr::Const(1, 1), at)
        };
        match (op, with) {
            (CmpOp::Lt, 0) => negative(self),
            (CmpOp::Ge, 0) => Ok(negative(self)?.not()),
            (CmpOp::Le, with) if with == minus_one => negative(self),
            (CmpOp::Gt, with) if with == minus_one => Ok(negative(self)?.not()),
            _ => Err(self.refuse(
                at,
                "a gateway compares signed numbers with zero only",
                "subtract in an earlier action and test the sign of the difference",
            )),
        }
    }

    /// Returns a comparison of two values of equal width in the form that gateways have: a field or slice on the left.
    fn compare(&mut self, op: CmpOp, a: Expr, b: Expr, at: Span) -> Res<Decision> {
        let (op, a, b) = if matches!(a, Expr::Const(..)) { (mirrored(op), b, a) } else { (op, a, b) };
        if let (Expr::Const(a, _), Expr::Const(b, _)) = (&a, &b) {
            return Ok(Decision::Always(op.holds(*a, *b)));
        }
        match (a, b) {
            (Expr::Cast(inner, _), Expr::Const(value, _)) => {
                let bits = inner.width(&self.program);
                let most = width_mask(bits.into());
                if value > most {
                    // Every value of the narrower field is below the constant.
                    return Ok(Decision::Always(matches!(op, CmpOp::Ne | CmpOp::Lt | CmpOp::Le)));
                }
                self.compare(op, *inner, Expr::Const(value, bits), at)
            }
            (Expr::Cast(a, _), Expr::Cast(b, _)) if a.width(&self.program) == b.width(&self.program) => {
                self.compare(op, *a, *b, at)
            }
            (Expr::Alu(AluOp::And, value, mask), Expr::Const(with, _))
                if matches!(op, CmpOp::Eq | CmpOp::Ne) =>
            {
                self.masked(op, *value, *mask, with, at)
            }
            (Expr::Alu(AluOp::Xor, a, b), Expr::Const(0, _)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                self.compare(op, *a, *b, at)
            }
            (Expr::Alu(AluOp::Sub, a, b), Expr::Const(0, _)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                self.compare(op, *a, *b, at)
            }
            (a, b) if reads_field(&a) && (reads_field(&b) || matches!(b, Expr::Const(..))) => {
                Ok(Decision::By(Cond::Cmp(op, a, b)))
            }
            (a, b) if super::action::has_param(&a) || super::action::has_param(&b) => Err(self.refuse(
                at,
                "a gateway compares fields, slices and constants, and no parameters of actions",
                "write the parameter to a metadata field in the action and compare the field",
            )),
            (a, b) => {
                // An earlier action computes what a gateway cannot.
                let [a, b] = [a, b].map(|side| match side {
                    side @ Expr::Const(..) => side,
                    side if reads_field(&side) => side,
                    side => self.field_of(side, at),
                });
                Ok(Decision::By(Cond::Cmp(op, a, b)))
            }
        }
    }

    /// Returns `value & mask == with`, by the runs of ones in the mask.
    fn masked(&mut self, op: CmpOp, value: Expr, mask: Expr, with: u128, at: Span) -> Res<Decision> {
        let (value, mask) = match (value, mask) {
            (value, Expr::Const(mask, _)) => (value, mask),
            (Expr::Const(mask, _), value) => (value, mask),
            _ => {
                return Err(self.refuse(
                    at,
                    "a gateway masks a field with a constant only",
                    "write the masked value to a metadata field in an earlier action",
                ));
            }
        };
        let mut all = Decision::Always(with & !mask == 0);
        let mut lo = 0u16;
        while lo < 128 && mask >> lo != 0 {
            if (mask >> lo) & 1 == 0 {
                lo += 1;
                continue;
            }
            let run = (mask >> lo).trailing_ones() as u16;
            let part = slice(&self.program, value.clone(), lo + run - 1, lo);
            let wanted = Expr::Const((with >> lo) & width_mask(run.into()), run);
            all = all.and(self.compare(CmpOp::Eq, part, wanted, at)?);
            lo += run;
        }
        Ok(if op == CmpOp::Eq { all } else { all.not() })
    }
}

/// Returns the comparison of an operator.
pub(super) fn compares(op: BinaryOp) -> Option<CmpOp> {
    Some(match op {
        BinaryOp::Eq => CmpOp::Eq,
        BinaryOp::Ne => CmpOp::Ne,
        BinaryOp::Lt => CmpOp::Lt,
        BinaryOp::Le => CmpOp::Le,
        BinaryOp::Gt => CmpOp::Gt,
        BinaryOp::Ge => CmpOp::Ge,
        _ => return None,
    })
}

/// Returns the comparison with its sides exchanged.
fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::Lt => CmpOp::Gt,
        CmpOp::Le => CmpOp::Ge,
        CmpOp::Gt => CmpOp::Lt,
        CmpOp::Ge => CmpOp::Le,
        op => op,
    }
}

fn reads_field(value: &Expr) -> bool {
    match value {
        Expr::Field(_) => true,
        Expr::Slice(inner, ..) => reads_field(inner),
        _ => false,
    }
}
