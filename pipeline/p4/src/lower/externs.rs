//! Units beside the ALUs: counters, meters, hashes, random numbers, registers.

mod count;
mod hash;
mod meter;

use super::action::{Known, Target};
use super::frame::Frame;
use super::name::Space;
use super::{Lower, Res};
use crate::check::{Call, TyKind, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId};
use sluice_ir::{self as ir, Index, Primitive, PrimitiveKind};

/// What an extern object is in the program, once it is declared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Counter(ir::Counter),
    Register(ir::Register),
    RegisterAction(ir::RegisterAction),
    Meter(ir::Meter),
    Random(ir::Random),
    Profile(ir::Profile),
}

/// A call of a method of an extern object.
#[derive(Clone, Copy)]
pub(super) struct Method<'c> {
    pub(super) object: ObjectId,
    /// The declaration of the method, which names its parameters.
    pub(super) decl: DeclId,
    pub(super) call: &'c Call,
    pub(super) at: Span,
}

impl<'a> Lower<'a> {
    /// Lowers a call of a method; its result goes to `to`.
    pub(super) fn method(
        &mut self,
        frame: &Frame,
        object: ObjectId,
        decl: DeclId,
        call: &Call,
        to: Option<Target>,
        at: Span,
    ) -> Res<()> {
        let method = Method { object, decl, call, at };
        let (kind, name) = (self.object_kind(object), self.ast.text(self.ast.decls[decl].name));
        match (kind, name) {
            ("Counter" | "DirectCounter", "count") => self.count(frame, method),
            // A hash whose result nobody takes has no effect.
            ("Hash", "get") => Ok(()),
            ("Random", "get") => self.random_get(frame, method, to),
            ("Meter" | "DirectMeter" | "Lpf" | "DirectLpf" | "Wred" | "DirectWred", "execute") => {
                self.meter_execute(frame, method, to)
            }
            (
                "RegisterAction" | "RegisterAction2" | "DirectRegisterAction" | "DirectRegisterAction2",
                "execute",
            ) => self.register_execute(frame, method, to),
            ("Register" | "DirectRegister", "read" | "write") => self.register_plain(frame, method, name, to),
            _ => Err(self.refuse(
                at,
                format!("method `{name}` of `{kind}` has no home in the program"),
                "leave the call out, or write what it does with registers and tables",
            )),
        }
    }

    /// Returns the name of an object's extern.
    pub(super) fn object_kind(&self, object: ObjectId) -> &'a str {
        self.ast.text(self.ast.decls[self.pipe.objects[object].decl].name)
    }

    /// Returns the place of an object's declaration.
    pub(super) fn object_at(&self, object: ObjectId) -> Span {
        let object = &self.pipe.objects[object];
        self.ast.decls[object.instance.unwrap_or(object.decl)].name.span
    }

    /// Returns the name of a part of the pipe: its full name without that of the pipe.
    pub(super) fn short<'n>(&self, full: &'n str) -> &'n str {
        full.strip_prefix(self.pipe.name.as_str()).and_then(|rest| rest.strip_prefix('.')).unwrap_or(full)
    }

    /// Returns the argument of a parameter of this name.
    pub(super) fn argument(&self, method: Method<'_>, name: &str) -> Option<ExprId> {
        let DeclKind::Function(function) = &self.ast.decls[method.decl].kind else { return None };
        let at =
            function.params.iter().position(|&param| self.ast.text(self.ast.decls[param].name) == name)?;
        method.call.args.get(at).copied().flatten()
    }

    /// Returns the argument of a constructor's parameter of this name.
    pub(super) fn made_with(&self, object: ObjectId, name: &str) -> Option<&'a Binding> {
        let object = &self.pipe.objects[object];
        let DeclKind::Constructor { params } = &self.ast.decls[object.constructor?].kind else { return None };
        let at = params.iter().position(|&param| self.ast.text(self.ast.decls[param].name) == name)?;
        object.args.get(at)?.as_ref()
    }

    /// Returns a constructor's argument as a number.
    pub(super) fn made_with_number(&self, object: ObjectId, name: &str) -> Option<u64> {
        match self.made_with(object, name)? {
            Binding::Value(value) => u64::try_from(self.bits(value, 64)?).ok(),
            _ => None,
        }
    }

    /// Returns the name of the enumeration's member that is a constructor's argument.
    pub(super) fn made_with_member(&self, object: ObjectId, name: &str) -> Option<&'a str> {
        match self.made_with(object, name)? {
            Binding::Value(Value::Member(decl)) => Some(self.ast.text(self.ast.decls[*decl].name)),
            _ => None,
        }
    }

    /// Returns the object that is a constructor's argument.
    pub(super) fn made_with_object(&self, object: ObjectId, name: &str) -> Option<ObjectId> {
        match self.made_with(object, name)? {
            Binding::Object(other) => Some(*other),
            _ => None,
        }
    }

    /// Returns the type arguments of an object.
    pub(super) fn type_args(&self, object: ObjectId) -> Vec<crate::check::Ty> {
        match self.checked.types.kind(self.pipe.objects[object].ty) {
            TyKind::Extern(_, args) => args.to_vec(),
            _ => Vec::new(),
        }
    }

    /// Returns the array that an object is direct to, as the table under construction has it.
    pub(super) fn home(&mut self, object: ObjectId, at: Span) -> Res<ir::CounterHome> {
        if let Some(size) = self.made_with_number(object, "size") {
            return Ok(ir::CounterHome::Indirect(u32::try_from(size).unwrap_or(u32::MAX)));
        }
        match self.direct.get(&object).copied().or(self.table) {
            Some(table) => Ok(ir::CounterHome::Direct(table)),
            // A keyless table runs an action that a control calls: it has one entry.
            None if self.object_kind(object) == "DirectRegister" => Ok(ir::CounterHome::Indirect(1)),
            None => {
                let kind = self.object_kind(object);
                let text = format!("this `{kind}` belongs to no table that runs the action");
                Err(self.refuse(
                    at,
                    text,
                    "attach it to the table (`counters`, `meters` or `registers`), or use it in actions of that table only",
                ))
            }
        }
    }

    /// Returns the index of an access: a hash on its way, or a value without an operation.
    pub(super) fn index(&mut self, frame: &Frame, index: Option<ExprId>) -> Res<Index> {
        let Some(index) = index else { return Ok(Index::Entry) };
        if let Some(place) = self.place(frame, index)
            && let Some(hash) = self.known_hash(&place)
        {
            return Ok(Index::Hash(hash));
        }
        if let Some(hash) = self.hash_value(frame, index)? {
            return Ok(Index::Hash(hash));
        }
        let (pieces, at) = (self.pieces(frame, index)?, self.ast.exprs[index].span);
        // An index without bits names the only element.
        let value = if pieces.is_empty() { ir::Expr::Const(0, 32) } else { self.one(pieces, at)? };
        // Zeros above an address say nothing.
        let value = match value {
            ir::Expr::Cast(inner, to) if to > inner.width(&self.program) => *inner,
            ir::Expr::Const(value, _) => ir::Expr::Const(value, 32),
            value => value,
        };
        self.plain(value, at).map(Index::At)
    }

    /// Refuses a computed value where a unit takes none.
    pub(super) fn plain(&mut self, value: ir::Expr, at: Span) -> Res<ir::Expr> {
        if super::simplify::is_leaf(&value) || !super::action::has_param(&value) {
            return Ok(self.as_leaf(value, at));
        }
        Err(self.refuse(
            at,
            "an index or operand is computed in the access",
            "compute it into a metadata field in an earlier action",
        ))
    }

    /// Adds a primitive of a unit that writes its result to a field.
    pub(super) fn unit_result(
        &mut self,
        to: Option<Target>,
        at: Span,
        make: impl FnOnce(ir::Field) -> PrimitiveKind,
    ) -> Res<()> {
        let Some(to) = to else {
            return Err(self.refuse(
                at,
                "the result of this call is not used",
                "assign it to a field or variable",
            ));
        };
        let slot = self.result_slot(&to, at)?;
        let field = self.field(slot);
        let (kind, loc) = (make(field), self.loc(at));
        self.body.known.insert(slot, Known::Result);
        self.body.units.push(Primitive { kind, loc });
        Ok(())
    }

    fn random_get(&mut self, _: &Frame, method: Method<'_>, to: Option<Target>) -> Res<()> {
        let width =
            self.type_args(method.object).first().and_then(|&ty| self.scalar(ty)).map_or(0, |s| s.width);
        let random = match self.units.get(&method.object) {
            Some(Unit::Random(random)) => *random,
            _ => {
                let at = self.object_at(method.object);
                let name = self.short(&self.pipe.objects[method.object].name).to_owned();
                let name = self.names.take(Space::Random, &name);
                let (gress, doc, loc) = (self.gress, String::new(), self.loc(at));
                let data = ir::RandomData { name, gress, width: width as u16, doc, loc };
                let random = self.program.randoms.push(data);
                self.units.insert(method.object, Unit::Random(random));
                random
            }
        };
        self.unit_result(to, method.at, |field| PrimitiveKind::Random(field, random))
    }
}
