//! Mirror copies, resubmits, digests, and triggers of the packet generator.

use super::super::frame::Frame;
use super::super::places::Place;
use super::super::{Lower, Res};
use super::guard::Guard;
use crate::check::{TyKind, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_ir::{Expr, Header, Request, RequestKind};

/// Bits of a mirror session's number on Tofino.
const SESSION_BITS: u16 = 10;

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
        if !guard.valid.is_empty() || !guard.flags.is_empty() {
            return Err(self.refuse(
                at,
                "a request of a deparser has a condition other than its type",
                "write the type in the control only where the request is to be made",
            ));
        }
        let header = match args.next() {
            Some(data) => self.payload(frame, data)?,
            None => None,
        };
        let loc = self.loc(at);
        self.program.add_intrinsic(frame.gress, kind.type_field());
        let request = Request { kind, selector, header, loc };
        self.program.pipes[frame.gress.index()].deparser.requests.push(request);
        Ok(())
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
            Expr::Const(..) => Err(self.refuse(
                at,
                "the session of a mirror is a constant",
                "write it to a member of the metadata of type `MirrorId_t`, and name the member",
            )),
            _ => Err(self.refuse(
                at,
                "the session of a mirror is no whole field",
                "write it to a member of the metadata of type `MirrorId_t`, and name the member",
            )),
        }
    }

    /// Returns the value of the type field that makes a request.
    fn request_type(&mut self, frame: &Frame, expr: ExprId, kind: RequestKind, guard: &Guard) -> Res<u8> {
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
            Some(0) => {
                let text = format!("a request is made if `{name}` is 0, which Sluice takes for none");
                Err(self.refuse(at, text, "number the types from 1"))
            }
            Some(value) => Ok(value),
            None if kind == RequestKind::Pktgen => Ok(1),
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

    /// Returns the header that a request carries.
    fn payload(&mut self, frame: &Frame, data: ExprId) -> Res<Option<Header>> {
        let at = self.ast.exprs[data].span;
        if let Some(Place::Header(instance)) = self.place(frame, data) {
            return Ok(Some(self.header(instance)));
        }
        let leaves = self.leaves(frame, data)?;
        if let Some(header) = self.whole_header(&leaves) {
            return Ok(Some(header));
        }
        let ty = self.checked.expr_types[data];
        let found = match self.checked.types.kind(ty) {
            TyKind::Struct(..) => "a struct",
            _ => "a list of fields",
        };
        let text = format!("a request carries {found}, which Sluice does not have yet");
        let help = "declare a header among the headers, write its fields in the control, and name the header";
        Err(self.refuse(at, text, help))
    }

    /// Returns the header whose fields these are, all and in order.
    fn whole_header(&self, leaves: &[Expr]) -> Option<Header> {
        let Some(Expr::Field(first)) = leaves.first() else { return None };
        let sluice_ir::Home::Header(header) = self.program.fields[*first].home else { return None };
        let fields = &self.program.headers[header].fields;
        let same = fields.len() == leaves.len()
            && fields.iter().zip(leaves).all(|(field, leaf)| *leaf == Expr::Field(*field));
        same.then_some(header)
    }
}
