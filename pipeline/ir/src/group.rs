//! Grouping of inline statements of a control block into keyless actions.
//!
//! Adjacent statements form one action as long as their VLIW instructions may run at once: no statement reads
//! or writes a field that an earlier one wrote. An access to a register gets a separate action, so that the
//! stage of its array constrains no other statement.

use crate::cfg::Var;
use crate::{
    Counter, Expr, Field, Intrinsic, Loc, Meter, Primitive, PrimitiveKind, Program, Random, Register,
};
use sluice_asic::gress::Gress;

/// The statements of the group under construction.
#[derive(Debug)]
pub struct Group {
    gress: Gress,
    body: Vec<Primitive>,
    written: Vec<Var>,
    arrays: Vec<Array>,
}

/// An array that a packet may access once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Array {
    Counter(Counter),
    Register(Register),
    Meter(Meter),
    Random(Random),
}

impl Group {
    /// Starts an empty group.
    #[must_use]
    pub fn new(gress: Gress) -> Group {
        Group { gress, body: Vec::new(), written: Vec::new(), arrays: Vec::new() }
    }

    /// Returns true if this primitive may run at once with the primitives of the group.
    #[must_use]
    pub fn admits(&self, program: &Program, kind: &PrimitiveKind) -> bool {
        let mut touched = reads(program, kind);
        touched.extend(writes(program, self.gress, kind));
        if let PrimitiveKind::SetSlice(field, _, _, value) = kind
            && self.leaves_apart(kind)
        {
            // One instruction deposits all slices of a field, and joins a second source at most with what stays. Slices of a wide
            // field may be in as many containers.
            if from_wide(program, value) && self.takes_wide_slice(program, *field) {
                return false;
            }
            touched.retain(|v| *v != Var::Field(*field));
            value.fields(&mut |f| touched.push(Var::Field(f)));
        }
        let array = array(program, kind);
        let again = array.is_some_and(|a| self.arrays.contains(&a));
        let register = |a: &Array| matches!(a, Array::Register(_));
        let alone = !self.body.is_empty() && array.as_ref().is_some_and(register);
        !again
            && !alone
            && !self.arrays.iter().any(register)
            && !touched.iter().any(|v| self.written.contains(v))
    }

    /// Returns true if the group writes no bit of the slice that `kind` writes, and no whole field that has it.
    fn leaves_apart(&self, kind: &PrimitiveKind) -> bool {
        let PrimitiveKind::SetSlice(field, hi, lo, _) = kind else { return false };
        let slices = self.body.iter().filter_map(|p| match &p.kind {
            PrimitiveKind::SetSlice(f, high, low, _) if f == field => Some(high < lo || hi < low),
            _ => None,
        });
        let apart: Vec<bool> = slices.collect();
        let writes = self.written.iter().filter(|v| **v == Var::Field(*field)).count();
        apart.len() == writes && apart.iter().all(|apart| *apart)
    }

    /// Returns true if the group writes a slice of a field from a slice of a wide field.
    fn takes_wide_slice(&self, program: &Program, field: Field) -> bool {
        self.body.iter().any(|primitive| match &primitive.kind {
            PrimitiveKind::SetSlice(to, _, _, value) => *to == field && from_wide(program, value),
            _ => false,
        })
    }

    /// Adds a primitive.
    pub fn push(&mut self, program: &Program, kind: PrimitiveKind, loc: Loc) {
        let written = writes(program, self.gress, &kind);
        self.written.extend(written);
        self.arrays.extend(array(program, &kind));
        self.body.push(Primitive { kind, loc });
    }

    /// Returns the source location of the first statement, `None` if the group is empty.
    #[must_use]
    pub fn loc(&self) -> Option<Loc> {
        self.body.first().map(|p| p.loc)
    }

    /// Returns the statements and empties the group.
    pub fn take(&mut self) -> Vec<Primitive> {
        std::mem::replace(self, Group::new(self.gress)).body
    }
}

/// Returns true if a value is a slice of a field that no container has as a whole.
fn from_wide(program: &Program, value: &Expr) -> bool {
    match value {
        Expr::Slice(inner, ..) => matches!(**inner, Expr::Field(field) if program.fields[field].width > 32),
        _ => false,
    }
}

/// Returns what a primitive of `gress` writes.
#[must_use]
pub fn writes(program: &Program, gress: Gress, kind: &PrimitiveKind) -> Vec<Var> {
    let one = match kind {
        PrimitiveKind::Set(field, _)
        | PrimitiveKind::SetSlice(field, ..)
        | PrimitiveKind::DropCtl(field, ..)
        | PrimitiveKind::Hash(field, _)
        | PrimitiveKind::SetMasked(field, ..)
        | PrimitiveKind::HashSlice(field, ..)
        | PrimitiveKind::HashInto(field, ..) => Some(Var::Field(*field)),
        PrimitiveKind::SetValid(header, _) | PrimitiveKind::CopyValid(header, _) => Some(Var::Valid(*header)),
        PrimitiveKind::Drop(_) => program.intrinsic(gress, Intrinsic::DropCtl).map(Var::Field),
        PrimitiveKind::Register(access) => {
            return access.outputs.iter().map(|(_, f)| Var::Field(*f)).collect();
        }
        PrimitiveKind::Count(..) | PrimitiveKind::CountDirect(_) => None,
        PrimitiveKind::Meter(access) => Some(Var::Field(access.to)),
        PrimitiveKind::Random(field, _) => Some(Var::Field(*field)),
    };
    one.into_iter().collect()
}

/// Returns the array that a primitive accesses.
fn array(program: &Program, kind: &PrimitiveKind) -> Option<Array> {
    match kind {
        PrimitiveKind::Count(counter, _) => Some(Array::Counter(*counter)),
        PrimitiveKind::Register(access) => program.accessed(access.action).map(Array::Register),
        PrimitiveKind::Meter(access) => Some(Array::Meter(access.meter)),
        PrimitiveKind::Random(_, random) => Some(Array::Random(*random)),
        _ => None,
    }
}

/// Returns what a primitive reads, each as often as it reads it.
#[must_use]
pub fn reads(program: &Program, kind: &PrimitiveKind) -> Vec<Var> {
    let mut list = Vec::new();
    match kind {
        PrimitiveKind::Set(_, value)
        | PrimitiveKind::DropCtl(_, value, _)
        | PrimitiveKind::Count(_, value) => {
            value.fields(&mut |f| list.push(Var::Field(f)));
        }
        PrimitiveKind::Hash(_, hash) | PrimitiveKind::HashSlice(_, hash, _) => {
            let inputs = program.hashes.get(*hash).map_or(&[][..], |h| &h.inputs);
            inputs.iter().for_each(|input| input.fields(&mut |f| list.push(Var::Field(f))));
        }
        PrimitiveKind::Register(access) => {
            access.index.fields(program, &mut |f| list.push(Var::Field(f)));
            let code = program.register_actions.get(access.action);
            for operand in code.map(|c| c.operands()).unwrap_or_default() {
                operand.fields(program, &mut |f| list.push(Var::Field(f)));
            }
        }
        PrimitiveKind::HashInto(field, _, _, hash, _) => {
            list.push(Var::Field(*field));
            let inputs = program.hashes.get(*hash).map_or(&[][..], |h| &h.inputs);
            inputs.iter().for_each(|input| input.fields(&mut |f| list.push(Var::Field(f))));
        }
        PrimitiveKind::SetMasked(field, ..) => list.push(Var::Field(*field)),
        PrimitiveKind::SetSlice(field, _, _, value) => {
            list.push(Var::Field(*field));
            value.fields(&mut |f| list.push(Var::Field(f)));
        }
        PrimitiveKind::CopyValid(_, from) => list.push(Var::Valid(*from)),
        PrimitiveKind::Meter(access) => {
            access.index.fields(program, &mut |f| list.push(Var::Field(f)));
            access.input.iter().for_each(|x| x.fields(&mut |f| list.push(Var::Field(f))));
        }
        PrimitiveKind::SetValid(..)
        | PrimitiveKind::CountDirect(_)
        | PrimitiveKind::Drop(_)
        | PrimitiveKind::Random(..) => {}
    }
    list
}
