//! Inline statements of a control block, grouped into keyless actions.
//!
//! Neighbouring statements become one action as long as their VLIW instructions may run at once: none reads
//! or writes what an earlier one wrote. What may not live here: branches and tables.

use crate::flow::Var;
use crate::ir::{Counter, Intrinsic, Loc, Primitive, PrimitiveKind, Program, Register};
use sluice_asic::gress::Gress;

/// The statements of the group under construction.
#[derive(Debug)]
pub(super) struct Group {
    gress: Gress,
    body: Vec<Primitive>,
    written: Vec<Var>,
    counters: Vec<Counter>,
    registers: Vec<Register>,
}

impl Group {
    pub(super) fn new(gress: Gress) -> Group {
        Group { gress, body: Vec::new(), written: Vec::new(), counters: Vec::new(), registers: Vec::new() }
    }

    /// Whether this primitive may run at the same time as those of the group.
    pub(super) fn admits(&self, program: &Program, kind: &PrimitiveKind) -> bool {
        let mut touched = reads(program, kind);
        touched.extend(self.writes(program, kind));
        let again = matches!(kind, PrimitiveKind::Count(counter, _) if self.counters.contains(counter));
        let again = again || register(program, kind).is_some_and(|r| self.registers.contains(&r));
        !again && !touched.iter().any(|v| self.written.contains(v))
    }

    pub(super) fn push(&mut self, program: &Program, kind: PrimitiveKind, loc: Loc) {
        let written = self.writes(program, &kind);
        self.written.extend(written);
        if let PrimitiveKind::Count(counter, _) = &kind {
            self.counters.push(*counter);
        }
        self.registers.extend(register(program, &kind));
        self.body.push(Primitive { kind, loc });
    }

    /// The place of the first statement, unless there is none.
    pub(super) fn loc(&self) -> Option<Loc> {
        self.body.first().map(|p| p.loc)
    }

    /// The statements; the group is empty afterwards.
    pub(super) fn take(&mut self) -> Vec<Primitive> {
        std::mem::replace(self, Group::new(self.gress)).body
    }

    fn writes(&self, program: &Program, kind: &PrimitiveKind) -> Vec<Var> {
        let one = match kind {
            PrimitiveKind::Set(field, _)
            | PrimitiveKind::Hash(field, _)
            | PrimitiveKind::SetMasked(field, ..)
            | PrimitiveKind::HashSlice(field, ..) => Some(Var::Field(*field)),
            PrimitiveKind::SetValid(header, _) => Some(Var::Valid(*header)),
            PrimitiveKind::Drop(_) => program.intrinsic(self.gress, Intrinsic::DropCtl).map(Var::Field),
            PrimitiveKind::Register(access) => {
                return access.outputs.iter().map(|(_, f)| Var::Field(*f)).collect();
            }
            PrimitiveKind::Count(..) | PrimitiveKind::CountDirect(_) => None,
        };
        one.into_iter().collect()
    }
}

/// The register that a primitive accesses.
fn register(program: &Program, kind: &PrimitiveKind) -> Option<Register> {
    match kind {
        PrimitiveKind::Register(access) => {
            program.register_actions.get(access.action).map(|code| code.register)
        }
        _ => None,
    }
}

fn reads(program: &Program, kind: &PrimitiveKind) -> Vec<Var> {
    let mut list = Vec::new();
    match kind {
        PrimitiveKind::Set(_, value) | PrimitiveKind::Count(_, value) => {
            value.fields(&mut |f| list.push(Var::Field(f)));
        }
        PrimitiveKind::Hash(_, hash) | PrimitiveKind::HashSlice(_, hash, _) => {
            let inputs = program.hashes.get(*hash).map_or(&[][..], |h| &h.inputs);
            inputs.iter().for_each(|input| input.fields(&mut |f| list.push(Var::Field(f))));
        }
        PrimitiveKind::Register(access) => {
            access.index.fields(&mut |f| list.push(Var::Field(f)));
            let code = program.register_actions.get(access.action);
            for operand in code.map(|c| c.operands()).unwrap_or_default() {
                operand.fields(&mut |f| list.push(Var::Field(f)));
            }
        }
        PrimitiveKind::SetMasked(field, ..) => list.push(Var::Field(*field)),
        PrimitiveKind::SetValid(..) | PrimitiveKind::CountDirect(_) | PrimitiveKind::Drop(_) => {}
    }
    list
}
