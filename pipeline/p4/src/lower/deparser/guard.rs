//! Conditions of a deparser.

use super::super::condition::Decision;
use super::super::frame::Frame;
use super::super::{Lower, Res};
use crate::syntax::ast::ExprId;
use sluice_ir::{CmpOp, Cond, Expr, Field, Header, Home, Intrinsic};

/// What holds where a statement of a deparser runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// Headers that are valid.
    pub valid: Vec<Header>,
    /// A type field and its value.
    pub of_type: Option<(Intrinsic, u8)>,
    /// Fields of one bit that are set.
    pub flags: Vec<Field>,
    /// Conditions that a deparser cannot decide; the control has to.
    pub others: Vec<Cond>,
    /// True if no packet gets here.
    pub never: bool,
}

/// Returns the opposite of a condition.
fn negated(cond: Cond) -> Cond {
    match cond {
        Cond::Not(inner) => *inner,
        // One bit is equal to one of two values.
        Cond::Cmp(CmpOp::Eq, value, Expr::Const(number, 1)) => {
            Cond::Cmp(CmpOp::Eq, value, Expr::Const(1 - (number & 1), 1))
        }
        cond => Cond::Not(Box::new(cond)),
    }
}

impl Lower<'_> {
    /// Returns what holds if a condition does and if it does not, each in addition to what holds already.
    pub(super) fn guards(&mut self, frame: &Frame, condition: ExprId, outer: &Guard) -> Res<[Guard; 2]> {
        let [mut then, mut otherwise] = [outer.clone(), outer.clone()];
        match self.condition(frame, condition)? {
            Decision::Always(true) => otherwise.never = true,
            Decision::Always(false) => then.never = true,
            Decision::By(cond) => {
                self.add_to_guard(&cond, &mut then);
                self.add_to_guard(&negated(cond), &mut otherwise);
            }
        }
        Ok([then, otherwise])
    }

    fn add_to_guard(&self, cond: &Cond, guard: &mut Guard) {
        let known = match cond {
            Cond::And(a, b) => {
                self.add_to_guard(a, guard);
                self.add_to_guard(b, guard);
                true
            }
            Cond::Valid(header) => {
                if !guard.valid.contains(header) {
                    guard.valid.push(*header);
                }
                true
            }
            Cond::Cmp(CmpOp::Eq, value, Expr::Const(number, width)) => {
                self.compared(value, *number, *width, guard)
            }
            Cond::Cmp(CmpOp::Ne, value, Expr::Const(0, 1)) => self.compared(value, 1, 1, guard),
            _ => false,
        };
        if !known {
            guard.others.push(cond.clone());
        }
    }

    fn compared(&self, value: &Expr, number: u128, width: u16, guard: &mut Guard) -> bool {
        let field = match value {
            Expr::Field(field) => *field,
            // The low bits of an intrinsic field that is wider on Tofino 2.
            Expr::Slice(inner, _, 0) | Expr::Cast(inner, _) => match **inner {
                Expr::Field(field) => field,
                _ => return false,
            },
            _ => return false,
        };
        match self.program.fields[field].home {
            Home::Intrinsic(
                which @ (Intrinsic::MirrorType
                | Intrinsic::ResubmitType
                | Intrinsic::DigestType
                | Intrinsic::Pktgen),
            ) if guard.of_type.is_none() => {
                guard.of_type = Some((which, number.min(u8::MAX.into()) as u8));
                true
            }
            _ if width == 1 && number == 1 && matches!(value, Expr::Field(_)) => {
                guard.flags.push(field);
                true
            }
            _ => false,
        }
    }
}
