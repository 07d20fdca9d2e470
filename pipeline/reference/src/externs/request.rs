//! The results of a deparser: emitted headers, mirror copies, resubmits, digests.

use super::Method;
use crate::bits::Bits;
use crate::pass::{Request, RequestKind};
use crate::program::Shape;
use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Call, Ty};
use sluice_p4::source::Span;
use sluice_p4::syntax::ast::ExprId;

impl Run<'_, '_> {
    /// Calls a method of `packet_out`.
    pub(crate) fn packet_out(&mut self, expr: ExprId, name: &str, call: &Call) -> Res<Value> {
        let at = self.span(expr);
        match (name, call.args.first().copied().flatten()) {
            ("emit", Some(data)) => {
                let (value, ty) = (self.value(data)?, self.ty(data));
                self.emit(ty, &value, at)?;
                Ok(Value::Nothing)
            }
            _ => Err(unsupported(at, format!("`{name}` of a packet"))),
        }
    }

    /// Emits the valid headers of a value. A header that does not end with a byte has zeros behind it.
    fn emit(&mut self, ty: Ty, value: &Value, at: Span) -> Res<()> {
        match (self.core.program.shape(ty), value) {
            (Shape::Header(_), Value::Header { valid, .. }) => {
                if !valid {
                    return Ok(());
                }
                let mut bits = Bits::default();
                self.core.program.flatten(ty, value, false, &mut bits, at)?;
                bits.pad(8);
                self.emitted.append(&bits);
                Ok(())
            }
            (Shape::Struct(fields), value) => {
                let parts = fields.list.iter().zip(value.parts());
                parts.into_iter().try_for_each(|(&(_, ty), part)| self.emit(ty, part, at))
            }
            (Shape::Stack(element, _), value) => {
                value.parts().iter().try_for_each(|part| self.emit(element, part, at))
            }
            _ => Err(unsupported(at, "the emission of something other than headers")),
        }
    }

    /// Runs code on the values from before the deparser's updates of checksums.
    pub(crate) fn before_updates<T>(&mut self, code: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        let frame = self.frame;
        let mut vars = self.frames[frame].vars.clone();
        vars.extend(self.at_begin.iter().map(|(decl, value)| (*decl, value.clone())));
        let now = std::mem::replace(&mut self.frames[frame].vars, vars);
        let result = code(self);
        self.frames[frame].vars = now;
        result
    }

    /// Returns true if code asks for a type of requests that no code has written.
    fn is_left_open(&self, field: &str) -> bool {
        let structure = self.input.gress.for_deparser();
        let mut assigned = self.assigned.iter().copied();
        let is_assigned = assigned.any(|decl| self.core.is_field(decl, structure, field));
        !is_assigned && self.core.names_field(structure, field)
    }

    /// Adds the bits of a structure for the control plane, whose members end with a byte each.
    fn bytewise(&mut self, ty: Ty, value: &Value, bits: &mut Bits, at: Span) -> Res<()> {
        match self.core.program.shape(ty) {
            Shape::Struct(fields) | Shape::Header(fields) => {
                let parts = fields.list.iter().zip(value.parts());
                parts.into_iter().try_for_each(|(&(_, ty), part)| self.bytewise(ty, part, bits, at))
            }
            _ => {
                let width = self.core.program.width(ty, at)?;
                bits.push(&BigInt::from(0), width.next_multiple_of(8) - width);
                self.core.program.flatten(ty, value, false, bits, at)
            }
        }
    }

    /// Calls `emit` of a mirror or resubmit, or `pack` of a digest.
    ///
    /// An object that names a type makes requests only if the type field of the gress has this value.
    pub(crate) fn request(&mut self, method: Method<'_>) -> Res<Value> {
        let at = self.span(method.expr);
        let unit = self.core.program.unit(method.object);
        let args: Vec<ExprId> = method.call.args.iter().copied().flatten().collect();
        let (kind, data, declared, field) = match (unit, args.as_slice()) {
            ("Mirror", [session, data @ ..]) => {
                let session = self.unsigned(*session)?;
                (RequestKind::Mirror { session }, data.first(), "mirror_type", "mirror_type")
            }
            ("Resubmit", data) => (RequestKind::Resubmit, data.first(), "resubmit_type", "resubmit_type"),
            ("Digest", data) => (RequestKind::Digest, data.first(), "digest_type", "digest_type"),
            _ => return Err(unsupported(at, format!("this request of `{unit}`"))),
        };
        if let Some(number) = self.core.program.made_with_number(method.object, declared)
            && self.asked_type(field) != Some(BigInt::from(number))
        {
            return Ok(Value::Nothing);
        }
        if self.asked_type(field) == Some(BigInt::from(0)) && self.is_left_open(field) {
            return Ok(Value::Nothing);
        }
        let mut bits = Bits::default();
        if let Some(&data) = data {
            let (value, ty) = (self.before_updates(|run| run.value(data))?, self.ty(data));
            match self.core.program.shape(ty) {
                Shape::Struct(_) if kind == RequestKind::Digest => {
                    self.bytewise(ty, &value, &mut bits, at)?
                }
                _ => self.core.program.flatten(ty, &value, false, &mut bits, at)?,
            }
        }
        self.requests.push(Request { kind, data: bits.bytes() });
        Ok(Value::Nothing)
    }
}
