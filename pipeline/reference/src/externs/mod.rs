//! Extern objects and functions.

mod checksum;
mod count;
mod function;
pub(crate) mod hash;
mod parser_counter;
mod register;
mod request;

pub use count::Count;

use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::{Call, TyKind};
use sluice_p4::elaborate::{Binding, ObjectId};
use sluice_p4::syntax::ast::{DeclId, ExprId, ExprKind};

/// A call of a method of an object.
#[derive(Clone, Copy)]
pub(crate) struct Method<'c> {
    /// The call.
    pub(crate) expr: ExprId,
    pub(crate) object: ObjectId,
    /// The method.
    pub(crate) decl: DeclId,
    pub(crate) call: &'c Call,
}

impl<'a> Run<'_, 'a> {
    /// Calls a method.
    pub(crate) fn method(&mut self, expr: ExprId, base: ExprId, decl: DeclId, call: &Call) -> Res<Value> {
        let at = self.span(expr);
        let name = self.core.program.name(decl);
        let ty = self.ty(base);
        if let TyKind::Extern(of, _) = *self.core.program.checked.types.kind(ty) {
            match self.core.program.name(of) {
                "packet_in" => return self.packet_in(expr, name, call),
                "packet_out" => return self.packet_out(expr, name, call),
                _ => {}
            }
        }
        if matches!(self.ast.exprs[base].kind, ExprKind::This) {
            return self.own_method(expr, name, call);
        }
        let Some(Binding::Object(object)) = self.instance(base) else {
            return Err(unsupported(at, "a method of this object"));
        };
        let method = Method { expr, object, decl, call };
        match (self.core.program.unit(object), name) {
            ("Hash", "get") => self.hash(method),
            ("Checksum", _) => self.checksum(method, name),
            ("ParserCounter", _) => self.parser_counter(method, name),
            ("ParserPriority", "set") => Ok(Value::Nothing),
            ("Counter", "count") => {
                let index = self.argument_number(method, "index")?;
                self.count(method, Some(index))
            }
            ("DirectCounter", "count") => {
                let index = self.direct_index();
                self.count(method, index)
            }
            ("Meter", "execute") => {
                let index = self.argument_number(method, "index")?;
                self.meter(method, Some(index))
            }
            ("DirectMeter", "execute") => {
                let index = self.direct_index();
                self.meter(method, index)
            }
            ("Lpf" | "Wred", "execute") => {
                let index = self.argument_number(method, "index")?;
                self.filter(method, Some(index))
            }
            ("DirectLpf" | "DirectWred", "execute") => {
                let index = self.direct_index();
                self.filter(method, index)
            }
            ("Random", "get") => self.random(method),
            ("Mirror" | "Resubmit" | "Digest", _) => self.request(method),
            (unit, _) if unit.contains("Register") => self.register_method(method, unit, name),
            (unit, _) => Err(unsupported(at, format!("`{name}` of `{unit}`"))),
        }
    }

    /// Returns the argument of a method for a parameter.
    pub(crate) fn argument(&self, method: Method<'_>, param: &str) -> Option<ExprId> {
        let program = &self.core.program;
        let at = program.ast.params(method.decl).iter().position(|&decl| program.name(decl) == param)?;
        method.call.args.get(at).copied().flatten()
    }

    /// Returns the number that a method got for a parameter.
    pub(crate) fn argument_number(&mut self, method: Method<'_>, param: &str) -> Res<u64> {
        match self.argument(method, param) {
            Some(arg) => self.unsigned(arg),
            None => Ok(0),
        }
    }

    /// Returns the index of an object that is direct to the table whose action runs; `None` on a miss.
    pub(crate) fn direct_index(&self) -> Option<u64> {
        self.applied.and_then(|(_, entry)| entry).map(|entry| entry as u64)
    }

    fn random(&mut self, method: Method<'_>) -> Res<Value> {
        let at = self.span(method.expr);
        let ty = self.ty(method.expr);
        let width = self.core.program.width(ty, at)?;
        let name = self.core.program.pipe.objects[method.object].name.as_str();
        let value: Option<BigInt> = self.outside.random(name, width);
        value.map(Value::Number).ok_or_else(|| unsupported(at, "a random number"))
    }
}
