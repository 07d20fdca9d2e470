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
    /// True if no packet gets here.
    pub never: bool,
}

impl Lower<'_> {
    /// Returns what holds if a condition does, in addition to what holds already.
    pub(super) fn guard(&mut self, frame: &Frame, condition: ExprId, outer: &Guard) -> Res<Guard> {
        let mut guard = outer.clone();
        match self.condition(frame, condition)? {
            Decision::Always(true) => {}
            Decision::Always(false) => guard.never = true,
            Decision::By(cond) => {
                if !self.add_to_guard(&cond, &mut guard) {
                    let at = self.ast.exprs[condition].span;
                    return Err(self.refuse(
                        at,
                        "a deparser has a condition that the chip's deparser cannot decide",
                        "ask for the validity of a header, or compare a type field such as `mirror_type` with a constant",
                    ));
                }
            }
        }
        Ok(guard)
    }

    /// Adds a condition; returns false if a deparser cannot decide it.
    fn add_to_guard(&self, cond: &Cond, guard: &mut Guard) -> bool {
        match cond {
            Cond::And(a, b) => self.add_to_guard(a, guard) && self.add_to_guard(b, guard),
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
            _ if width == 1 && number == 1 => {
                guard.flags.push(field);
                true
            }
            _ => false,
        }
    }
}
