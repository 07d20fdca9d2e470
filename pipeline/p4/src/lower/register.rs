//! Registers and their accesses.

mod body;
mod cell;
mod choice;
mod coded;

use super::action::Target;
use super::externs::{Method, Unit};
use super::frame::Frame;
use super::name::Space;
use super::places::{Place, Slot, SlotHome};
use super::{Lower, Res};
use crate::check::{Ty, TyKind, Value};
use crate::elaborate::{Binding, ObjectId};
use crate::source::Span;
use crate::syntax::ast::{DeclId, DeclKind, ExprId, ExprKind};
use sluice_asic::salu::{Format, Half};
use sluice_ir::{
    self as ir, CellStmt, CellStmtKind, CellValue, CounterHome, Index, Primitive, PrimitiveKind,
    RegisterAccess, RegisterActionData, RegisterData,
};

/// Bits of an output word of a register's ALU.
const WORD: u32 = 32;

impl Lower<'_> {
    /// Returns the register of an object.
    pub(super) fn register(&mut self, object: ObjectId) -> Res<ir::Register> {
        if let Some(Unit::Register(register)) = self.units.get(&object) {
            return Ok(*register);
        }
        let at = self.object_at(object);
        let element = self.type_args(object).first().copied().unwrap_or(Ty::UNKNOWN);
        let format = self.format(element, at)?;
        let home = self.home(object, at)?;
        let init = match self.made_with(object, "initial_value") {
            Some(Binding::Value(value)) => self.initial(value, format),
            _ => [0, 0],
        };
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Register, &name);
        let (gress, doc, loc) = (self.gress, String::new(), self.loc(at));
        let data = RegisterData { name, gress, format, home, init, params: Vec::new(), doc, loc };
        let register = self.program.registers.push(data);
        self.units.insert(object, Unit::Register(register));
        Ok(register)
    }

    /// Returns the format of elements of a type.
    fn format(&mut self, element: Ty, at: Span) -> Res<Format> {
        let format = match self.scalar(element) {
            Some(scalar) => Format::single(scalar.width),
            None => {
                let widths = self.element_widths(element);
                match widths.as_slice() {
                    [one] => Format::single(*one),
                    [lo, hi] if lo == hi => Format::pair(*lo),
                    _ => Format::single(0),
                }
            }
        };
        format.map_err(|_| {
            let ty = self.checked.types.describe(self.ast, element);
            self.refuse(
                at,
                format!("a register with elements of type {ty}"),
                "elements have 1, 8, 16, 32, 64 or 128 bits, or are structs of two equal members of 8, 16, 32 or 64",
            )
        })
    }

    fn element_widths(&self, element: Ty) -> Vec<u32> {
        let TyKind::Struct(decl, _) = *self.checked.types.kind(element) else { return Vec::new() };
        let DeclKind::Struct(of) = &self.ast.decls[decl].kind else { return Vec::new() };
        let width = |ty| self.scalar(ty).map_or(0, |scalar| scalar.width);
        of.fields.iter().map(|&field| width(self.checked.decl_types[field])).collect()
    }

    fn initial(&self, value: &Value, format: Format) -> [u64; 2] {
        let bits = |value: &Value| {
            self.bits(value, format.half_bits()).and_then(|bits| u64::try_from(bits).ok()).unwrap_or(0)
        };
        match value {
            Value::List(values) => {
                let mut halves = values.iter().map(bits);
                [halves.next().unwrap_or(0), halves.next().unwrap_or(0)]
            }
            value => [bits(value), 0],
        }
    }

    /// Lowers `action.execute(...)`.
    pub(super) fn register_execute(
        &mut self,
        frame: &Frame,
        method: Method<'_>,
        to: Option<Target>,
    ) -> Res<()> {
        let action = self.register_action(frame, method.object)?;
        let index = self.argument(method, "index");
        let words = self.output_words.get(&action).cloned().unwrap_or_default();
        let word = |n: usize| words.get(n).copied().unwrap_or(n as u8);
        let mut outputs: Vec<(u8, Target)> = to.into_iter().map(|to| (word(0), to)).collect();
        for (n, name) in [(1, "rv2"), (2, "rv3"), (3, "rv4")] {
            if let Some(arg) = self.argument(method, name)
                && !matches!(self.ast.exprs[arg].kind, ExprKind::Any)
            {
                outputs.push((word(n), self.target(frame, arg)?));
            }
        }
        self.access(frame, action, index, outputs, method.at)
    }

    fn access(
        &mut self,
        frame: &Frame,
        action: ir::RegisterAction,
        index: Option<ExprId>,
        outputs: Vec<(u8, Target)>,
        at: Span,
    ) -> Res<()> {
        let register = self.program.register_actions[action].register;
        let index = match (self.index(frame, index)?, self.program.registers[register].home) {
            (Index::Entry, CounterHome::Indirect(_)) => Index::At(ir::Expr::Const(0, 32)),
            (index, _) => index,
        };
        let mut fields = Vec::new();
        for (word, target) in outputs {
            if !self.outputs(action, word) {
                self.note(at, "a result that the register action never sets", "the result is 0");
                let zero = vec![ir::Expr::Const(0, 128)];
                self.write(&target, zero, at)?;
                continue;
            }
            let target = match self.codes.get(&(action, word)).cloned() {
                Some(members) => {
                    let what = "an enumeration that a register action returns";
                    self.translated(&target, &members, (members.len() as u32, what), at)?
                }
                None => target,
            };
            let slot = match self.partial(&target) {
                Some((slot, bits)) if !self.body.action => self.copied_result(slot, bits, at)?,
                _ => self.result_slot(&target, at)?,
            };
            fields.push((word, self.field(slot)));
        }
        let loc = self.loc(at);
        let access = RegisterAccess { action, index, outputs: fields };
        self.body.units.push(Primitive { kind: PrimitiveKind::Register(access), loc });
        Ok(())
    }

    /// Returns the slot and the bits of a target that no output word fills at once: a part of a slot, one wider than a word, or
    /// `drop_ctl`, whose writes say why a packet is dropped.
    fn partial(&self, target: &Target) -> Option<(Slot, (u32, u32))> {
        let Place::Slot(slot) = target.place else { return None };
        let width = u32::from(self.storage.slots[slot].width);
        let bits = target.bits.unwrap_or((width - 1, 0));
        (bits != (width - 1, 0) || width > WORD || self.drops(slot)).then_some((slot, bits))
    }

    fn drops(&self, slot: Slot) -> bool {
        self.storage.slots[slot].home == SlotHome::Intrinsic(ir::Intrinsic::DropCtl)
    }

    /// Returns a variable for a result; the statement that follows copies it to bits of a slot, with zeros in front.
    fn copied_result(&mut self, to: Slot, (hi, lo): (u32, u32), at: Span) -> Res<Slot> {
        let width = hi - lo + 1;
        let ty = self.checked.types.bits(width.min(WORD));
        let Place::Slot(found) = self.make_place(ty, self.gress, "result", at)? else {
            return Err(super::Refused);
        };
        let (whole, drops) = (width == u32::from(self.storage.slots[to].width), self.drops(to));
        let (from, to, loc) = (self.field(found), self.field(to), self.loc(at));
        let value = ir::Expr::Field(from);
        let value = if width > WORD { ir::Expr::Cast(Box::new(value), width as u16) } else { value };
        let kind = match whole {
            true if drops => PrimitiveKind::DropCtl(to, value, self.drop_label(at)),
            true => PrimitiveKind::Set(to, value),
            false => PrimitiveKind::SetSlice(to, hi as u16, lo as u16, value),
        };
        let wanted = self.unnamed_action(loc.line);
        let name = self.names.take(Space::Action, &wanted);
        let (gress, params, doc) = (self.gress, Vec::new(), String::new());
        let body = vec![Primitive { kind, loc }];
        let action = self.program.actions.push(ir::ActionData { name, gress, params, body, doc, loc });
        self.after.push(ir::Stmt { kind: ir::StmtKind::Call(action), loc });
        Ok(found)
    }

    /// Adds a write to the access of this action that reads the same element before: the stateful ALU does both at once.
    fn joins_read(
        &mut self,
        frame: &Frame,
        register: ir::Register,
        index: Option<ExprId>,
        write: &[CellStmt],
    ) -> Res<bool> {
        let same = |program: &ir::Program, access: &RegisterAccess| {
            let data = &program.register_actions[access.action];
            let reads = data.body.iter().all(|stmt| matches!(stmt.kind, CellStmtKind::Output(..)));
            (data.register == register && reads).then(|| (access.action, access.index.clone()))
        };
        let found = self.body.units.iter().find_map(|unit| match &unit.kind {
            PrimitiveKind::Register(access) => same(&self.program, access),
            _ => None,
        });
        let Some((read, at)) = found.filter(|_| self.body.action) else { return Ok(false) };
        // Register actions of the author may be executed elsewhere, too.
        let plain = self.units.values().all(|unit| !matches!(unit, Unit::RegisterAction(of) if *of == read));
        if !plain || self.index(frame, index)? != at {
            return Ok(false);
        }
        self.program.register_actions[read].body.extend_from_slice(write);
        Ok(true)
    }

    /// Returns true if a register action writes an output word.
    fn outputs(&self, action: ir::RegisterAction, word: u8) -> bool {
        let mut found = false;
        self.program.register_actions[action].statements(&mut |stmt| {
            found |= matches!(stmt.kind, CellStmtKind::Output(written, _) if written == word);
        });
        found
    }

    /// Returns the register action of an object.
    fn register_action(&mut self, frame: &Frame, object: ObjectId) -> Res<ir::RegisterAction> {
        if let Some(Unit::RegisterAction(action)) = self.units.get(&object) {
            return Ok(*action);
        }
        let at = self.object_at(object);
        let Some(of) = self.made_with_object(object, "reg") else {
            return Err(self.refuse(
                at,
                "this register action has no register",
                "give the constructor a register",
            ));
        };
        let register = self.register(of)?;
        let apply = self.pipe.objects[object].methods.iter().copied();
        let mut apply = apply.filter(|&decl| self.ast.text(self.ast.decls[decl].name) == "apply");
        let Some(apply) = apply.next() else {
            return Err(self.refuse(
                at,
                "this register action has no `apply`",
                "implement `apply` in the instance",
            ));
        };
        let (mut body, words) = self.cell_body(frame, register, apply)?;
        let codes = self.coded(apply, &words, &mut body);
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let action = self.new_register_action(Some(object), &name, register, body, at);
        self.output_words.insert(action, words);
        self.codes.extend(codes.into_iter().map(|(word, members)| ((action, word), members)));
        Ok(action)
    }

    /// Lets a register action return codes for enumerations; returns the members by code for each of these output words.
    fn coded(
        &mut self,
        apply: DeclId,
        words: &[u8],
        body: &mut Vec<CellStmt>,
    ) -> Vec<(u8, Vec<(u128, u128)>)> {
        let DeclKind::Function(function) = &self.ast.decls[apply].kind else { return Vec::new() };
        let mut found = Vec::new();
        for (&param, &word) in function.params.iter().skip(1).zip(words) {
            let ty = self.checked.decl_types[param];
            // Members with values of their own stand for these.
            let plain = matches!(*self.checked.types.kind(self.checked.base(self.ast, ty)), TyKind::Enum(_));
            if plain && let Some(members) = coded::with_code(body, word) {
                found.push((word, members));
            }
        }
        found
    }

    fn new_register_action(
        &mut self,
        object: Option<ObjectId>,
        name: &str,
        register: ir::Register,
        body: Vec<CellStmt>,
        at: Span,
    ) -> ir::RegisterAction {
        let name = self.names.take(Space::RegisterAction, name);
        let (doc, loc) = (String::new(), self.loc(at));
        let action =
            self.program.register_actions.push(RegisterActionData { name, register, body, doc, loc });
        // An action that was given up may have had its number.
        self.codes.retain(|(of, _), _| *of != action);
        if let Some(object) = object {
            self.units.insert(object, Unit::RegisterAction(action));
        }
        action
    }

    /// Lowers `register.read(...)` and `register.write(...)`.
    pub(super) fn register_plain(
        &mut self,
        frame: &Frame,
        method: Method<'_>,
        name: &str,
        to: Option<Target>,
    ) -> Res<()> {
        let register = self.register(method.object)?;
        let loc = self.loc(method.at);
        let stmt = |kind| CellStmt { kind, loc };
        let halves = [Half::Lo, Half::Hi];
        let mut body = Vec::new();
        let mut outputs = Vec::new();
        if name == "write" {
            let Some(value) = self.argument(method, "value") else { return Ok(()) };
            let at = self.ast.exprs[value].span;
            for (half, value) in halves.into_iter().zip(self.leaves(frame, value)?) {
                let value = match self.plain(value, at)? {
                    ir::Expr::Const(value, _) => CellValue::Const(value as u64),
                    value => CellValue::Phv(value),
                };
                body.push(stmt(CellStmtKind::Write(half, value)));
            }
            let index = self.argument(method, "index");
            if self.joins_read(frame, register, index, &body)? {
                return Ok(());
            }
        } else if let Some(to) = to {
            for (word, slot) in self.storage.slots_of(&to.place).into_iter().take(2).enumerate() {
                body.push(stmt(CellStmtKind::Output(word as u8, CellValue::Half(halves[word]))));
                outputs.push((word as u8, Target { place: Place::Slot(slot), bits: None }));
            }
        }
        let wanted = format!("{}.{name}", self.program.registers[register].name);
        let action = self.new_register_action(None, &wanted, register, body, method.at);
        let index = self.argument(method, "index");
        self.access(frame, action, index, outputs, method.at)
    }
}
