//! Checksums that a deparser computes.

use super::super::frame::Frame;
use super::super::places::{Place, SlotHome};
use super::super::{Lower, Res};
use super::decide::{Update, is_bit};
use super::guard::Guard;
use super::request::BEFORE;
use crate::check::{Call, Callee};
use crate::syntax::ast::{ExprId, ExprKind, Stmt};
use sluice_ir::{ChecksumUpdate, Expr};

/// Advice on assignments of deparsers.
const ONLY: &str = "assign only the result of `Checksum.update` to a field of a header";

impl Lower<'_> {
    /// Lowers an assignment of a deparser, which must be that of a checksum.
    pub(super) fn deparser_assign(
        &mut self,
        frame: &mut Frame,
        target: ExprId,
        value: ExprId,
        guard: &Guard,
        statement: &Stmt,
    ) -> Res<()> {
        let at = statement.span;
        let Some(call) = self.update_call(value) else {
            return Err(self.refuse(at, "a deparser assigns something other than a checksum", ONLY));
        };
        let Some(Place::Slot(slot)) = self.place(frame, target) else {
            return Err(self.refuse(
                at,
                "a deparser writes a checksum to something other than a field",
                ONLY,
            ));
        };
        let SlotHome::Header(instance) = self.storage.slots[slot].home else {
            return Err(self.refuse(
                at,
                "a deparser writes a checksum to metadata, which end with the deparser",
                "write it to the header's field",
            ));
        };
        let header = self.header(instance);
        if guard.of_type.is_some() {
            return Err(self.refuse(
                at,
                "a checksum is updated under the type of a request",
                "let the control set a flag of one bit, and ask for the flag",
            ));
        }
        let conds = guard.conditions(Some(header));
        if !conds.iter().all(is_bit) {
            return Err(self.refuse(
                at,
                "a checksum is updated under a condition other than flags of one bit and the validity of headers",
                "let the control set a flag of one bit, and ask for the flag",
            ));
        }
        let field = self.field(slot);
        let Some(Some(data)) = call.args.first().copied() else {
            return Err(self.refuse(at, "a checksum covers nothing", "name the fields that it covers"));
        };
        let inputs = self.covered(frame, data)?;
        let zeros_as_ones = match call.args.get(1).copied().flatten() {
            Some(arg) => self.constant(frame, arg).and_then(|value| value.as_bool()).unwrap_or(false),
            None => false,
        };
        if inputs.iter().any(|part| self.is_updated(part)) {
            self.note(at, "a checksum over another checksum", BEFORE);
        }
        let loc = self.loc(at);
        let update = ChecksumUpdate { header, when: None, field, inputs, zeros_as_ones, loc };
        self.updates.push(Update { conds, at, update });
        Ok(())
    }

    /// Returns the call if an expression is that of `Checksum.update`.
    fn update_call(&self, value: ExprId) -> Option<Call> {
        let mut value = value;
        while let ExprKind::Cast { operand, .. } = self.ast.exprs[value].kind {
            value = operand;
        }
        let call = self.checked.calls.get(&value)?;
        match call.callee {
            Callee::Method(decl) if self.ast.text(self.ast.decls[decl].name) == "update" => {
                Some(call.clone())
            }
            _ => None,
        }
    }

    /// Returns the fields and zeros that a checksum covers, in order.
    fn covered(&mut self, frame: &Frame, data: ExprId) -> Res<Vec<Expr>> {
        let at = self.ast.exprs[data].span;
        let mut list = Vec::new();
        for value in self.leaves(frame, data)? {
            match value {
                Expr::Field(_) | Expr::Const(0, _) => list.push(value),
                Expr::Const(value, width) => {
                    let field = self.list_constant(frame, value, width, at);
                    list.push(Expr::Field(field));
                }
                Expr::Cast(inner, width)
                    if matches!(*inner, Expr::Field(_)) && inner.width(&self.program) < width =>
                {
                    list.push(Expr::Const(0, width - inner.width(&self.program)));
                    list.push(*inner);
                }
                _ => {
                    return Err(self.refuse(
                        at,
                        "a checksum covers a part of a field or a computed value",
                        "name whole fields",
                    ));
                }
            }
        }
        Ok(list)
    }
}
