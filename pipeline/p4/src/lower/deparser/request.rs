//! Mirror copies, resubmits, digests, and triggers of the packet generator.

use super::super::frame::Frame;
use super::super::{Lower, Res};
use super::decide::{compared_field, is_bit, is_set};
use super::guard::Guard;
use crate::check::Value;
use crate::elaborate::{Binding, ObjectId};
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_ir::{Expr, Request, RequestKind, list_bits};

/// Bits of a mirror session's number on Tofino.
const SESSION_BITS: u16 = 10;

/// The effect on a checksum that the deparser also puts elsewhere.
pub(super) const BEFORE: &str =
    "its value is that from before the update, which the chip makes for the emitted header alone";

impl Lower<'_> {
    /// Lowers `mirror.emit(...)`, `resubmit.emit(...)`, `digest.pack(...)` and `pktgen.emit(...)`.
    pub(super) fn request(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        unit: &str,
        args: &[Option<ExprId>],
        guard: &Guard,
    ) -> Res<()> {
        let at = self.ast.exprs[expr].span;
        let mut args = args.iter().flatten().copied();
        let kind = match unit {
            "Mirror" => RequestKind::Mirror(self.session(frame, args.next(), expr)?),
            "Resubmit" => RequestKind::Resubmit,
            "Digest" => RequestKind::Digest,
            _ => RequestKind::Pktgen,
        };
        let selector = self.request_type(frame, expr, kind, guard)?;
        let mut conds = guard.conditions(None);
        let by = match selector {
            Some(selector) => {
                if selector == 0 {
                    self.written_flag(frame.gress, kind.type_field());
                }
                conds.extend(self.known_flag(frame.gress, kind.type_field()).map(is_set));
                if !(conds.is_empty() || conds.len() == 1 && guard.valid.is_empty() && is_bit(&conds[0])) {
                    return Err(self.refuse(
                        at,
                        "a request of a deparser has a condition other than its type",
                        "write the type in the control only where the request is to be made",
                    ));
                }
                None
            }
            // The chip selects by any field, which takes the place of the type.
            None => match compared_field(&conds) {
                Some(field) => Some(field),
                None => {
                    return Err(self.refuse(
                        at,
                        "a request of a deparser has a condition other than that a field has a value",
                        "compare the type or one field of the metadata with a constant",
                    ));
                }
            },
        };
        let known = *self.selectors.entry((frame.gress, kind.word())).or_insert(by);
        if known != by {
            return Err(self.refuse(
                at,
                format!("a {} is selected by another field than the one before", kind.word()),
                "the chip selects all requests of a kind by one field: compare the same field in all conditions",
            ));
        }
        let mut list = match args.next() {
            Some(data) => self.request_data(frame, data, kind == RequestKind::Digest)?,
            None => Vec::new(),
        };
        if list.iter().any(|part| self.is_updated(part)) {
            self.note(at, format!("a checksum in a {}", kind.word()), BEFORE);
        }
        // The parser finds the data of any resubmit in a slot of one length.
        if kind == RequestKind::Resubmit {
            let bits = self.resubmit_data()?.unwrap_or(0);
            let missing = bits.saturating_sub(list_bits(&self.program, &list));
            if missing > 0 {
                list.push(Expr::Const(0, missing as u16));
            }
        }
        let (loc, when) = (self.loc(at), self.flag_for(frame.gress, conds, at));
        let selector = selector.unwrap_or(0);
        self.program.add_intrinsic(frame.gress, kind.type_field());
        let request = Request { kind, selector, when, data: list, loc };
        self.program.pipes[frame.gress.index()].deparser.requests.push(request);
        Ok(())
    }

    /// Returns true if the deparser has updated a field of a value.
    pub(super) fn is_updated(&self, value: &Expr) -> bool {
        let mut found = false;
        value.fields(&mut |field| found |= self.updates.iter().any(|of| of.update.field == field));
        found
    }

    /// Returns the field with the number of the mirror session.
    fn session(&mut self, frame: &Frame, session: Option<ExprId>, expr: ExprId) -> Res<sluice_ir::Field> {
        let at = session.map_or(self.ast.exprs[expr].span, |session| self.ast.exprs[session].span);
        let value = match session {
            Some(session) => self.value(frame, session)?,
            None => Expr::Const(0, 1),
        };
        match value {
            Expr::Field(field) => Ok(field),
            // A session's number as wide as on Tofino: Tofino 2 has fewer.
            Expr::Slice(inner, _, 0)
                if matches!(*inner, Expr::Field(_)) && inner.width(&self.program) == SESSION_BITS =>
            {
                match *inner {
                    Expr::Field(field) => Ok(field),
                    _ => Err(super::super::Refused),
                }
            }
            Expr::Cast(inner, _) if matches!(*inner, Expr::Field(_)) => Err(self.refuse(
                at,
                "the session of a mirror is a cast",
                "declare the field with the type `MirrorId_t`",
            )),
            Expr::Const(value, _) => Ok(self.list_constant(frame, value, SESSION_BITS, at)),
            _ => Err(self.refuse(
                at,
                "the session of a mirror is no whole field",
                "write it to a member of the metadata of type `MirrorId_t`, and name the member",
            )),
        }
    }

    /// Returns the value of the type field that makes a request; `None` if other conditions do.
    fn request_type(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        kind: RequestKind,
        guard: &Guard,
    ) -> Res<Option<u8>> {
        let at = self.ast.exprs[expr].span;
        let declared = self.object_of(frame, expr).and_then(|object| self.declared_type(object));
        let name = kind.type_field().info().name;
        let name = name.rsplit('.').next().unwrap_or(name);
        let found = match guard.of_type {
            Some((which, value)) if which == kind.type_field() => Some(value),
            Some(_) => {
                let text = format!("a request is made under a type other than `{name}`");
                return Err(self.refuse(at, text, "ask for the type of the same kind of request"));
            }
            None => declared,
        };
        match found {
            Some(value) => Ok(Some(value)),
            None if kind == RequestKind::Pktgen => Ok(Some(1)),
            None if !guard.conditions(None).is_empty() => Ok(None),
            None => {
                let text = format!("a request is made for every value of `{name}`");
                Err(self.refuse(at, text, format!("write `if (... .{name} == 1)` around it")))
            }
        }
    }

    fn object_of(&self, frame: &Frame, call: ExprId) -> Option<ObjectId> {
        let ExprKind::Call { callee, .. } = &self.ast.exprs[call].kind else { return None };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return None };
        match self.pipe.instance(self.checked, frame.block, *base)? {
            Binding::Object(object) => Some(*object),
            _ => None,
        }
    }

    /// Returns the type that the constructor of a request names.
    fn declared_type(&self, object: ObjectId) -> Option<u8> {
        match self.pipe.objects[object].args.first()? {
            Some(Binding::Value(Value::Int(value))) => u8::try_from(value).ok(),
            _ => None,
        }
    }
}
