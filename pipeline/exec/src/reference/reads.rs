//! Finds reads of fields whose header is not valid.

use super::eval::Env;
use super::trace::Event;
use super::{Run, Tracer};
use sluice_ir::{Action, Cond, Expr, Field, Hash, Home, Index, Loc, Operand, PrimitiveKind};

impl<T: Tracer> Run<'_, T> {
    /// Reports the fields that a condition reads; the second operand of `&&` and `||` only if the first does not decide.
    pub(super) fn reads_of_cond(&mut self, cond: &Cond, loc: Loc) {
        match cond {
            Cond::Cmp(_, a, b) => {
                self.reads_of(a, loc);
                self.reads_of(b, loc);
            }
            Cond::Valid(_) => {}
            Cond::Not(a) => self.reads_of_cond(a, loc),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.reads_of_cond(a, loc);
                let first = Env { program: self.program, phv: self.phv, args: &[] }.holds(a);
                if first == matches!(cond, Cond::And(..)) {
                    self.reads_of_cond(b, loc);
                }
            }
        }
    }

    /// Reports the fields that an action reads: all primitives see the headers as they were before the action.
    pub(super) fn reads_of_action(&mut self, action: Action) {
        let program = self.program;
        for primitive in &program.actions[action].body {
            let loc = primitive.loc;
            match &primitive.kind {
                // A move of a stack's elements includes those that are not valid.
                PrimitiveKind::Set(dst, Expr::Field(src)) if self.in_stack(*dst) && self.in_stack(*src) => {}
                PrimitiveKind::Set(_, value)
                | PrimitiveKind::SetSlice(.., value)
                | PrimitiveKind::DropCtl(_, value, _)
                | PrimitiveKind::Count(_, value) => self.reads_of(value, loc),
                PrimitiveKind::Hash(_, hash)
                | PrimitiveKind::HashSlice(_, hash, _)
                | PrimitiveKind::HashInto(.., hash, _) => {
                    self.reads_of_hash(*hash, loc);
                }
                PrimitiveKind::Register(access) => {
                    self.reads_of_index(&access.index, loc);
                    for operand in program.register_actions[access.action].operands() {
                        match operand {
                            Operand::Phv(e) => self.reads_of(&e, loc),
                            Operand::Hash(hash) => self.reads_of_hash(hash, loc),
                        }
                    }
                }
                PrimitiveKind::Meter(access) => {
                    self.reads_of_index(&access.index, loc);
                    if let Some(input) = &access.input {
                        self.reads_of(input, loc);
                    }
                }
                _ => {}
            }
        }
    }

    fn reads_of_index(&mut self, index: &Index, loc: Loc) {
        match index {
            Index::At(e) => self.reads_of(e, loc),
            Index::Entry => {}
            Index::Hash(hash) => self.reads_of_hash(*hash, loc),
        }
    }

    fn reads_of_hash(&mut self, hash: Hash, loc: Loc) {
        let program = self.program;
        program.hashes[hash].inputs.iter().for_each(|e| self.reads_of(e, loc));
    }

    /// Reports a field of a value; the last one if there are several.
    fn reads_of(&mut self, e: &Expr, loc: Loc) {
        let (program, phv) = (self.program, &*self.phv);
        let mut found = None;
        e.fields(&mut |field| {
            if let Home::Header(header) = program.fields[field].home
                && !phv.is_valid(header)
            {
                found = Some(field);
            }
        });
        if let Some(field) = found {
            self.tell(&Event::ReadInvalid { field, loc });
        }
    }

    fn in_stack(&self, field: Field) -> bool {
        let Home::Header(header) = self.program.fields[field].home else { return false };
        self.program.stack_of(header).is_some()
    }
}
