//! Operations of a parser before it is known which metadata the rest of the program reads.

use super::super::places::Slot;
use super::shorten::shorten;
use crate::source::Span;
use rustc_hash::FxHashSet;
use sluice_ir::{Expr, Field, ParserOp, ParserOpKind, ParserState};

/// An operation of a state.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    /// An operation without a destination in metadata.
    Plain(ParserOpKind),
    /// A write to metadata.
    Write(Slot, Written),
    /// The result of a checksum over these fields.
    Verify(Slot, Vec<Field>),
    /// Fields subtracted from a sum.
    Subtract(Slot, Vec<Field>),
}

/// How the chip writes metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// A constant.
    Const(u128),
    /// A field that the state extracts.
    Slot(Slot),
    /// Bits at this distance from the position.
    Ahead(u16),
    /// It cannot: the value is this.
    Not(&'static str),
}

/// The states of a parser, whose writes to metadata are not in the program yet.
#[derive(Debug, Default)]
pub(in crate::lower) struct Parsed {
    pub(super) states: Vec<(ParserState, Vec<(Made, Span)>)>,
}

impl Parsed {
    /// Returns all writes.
    fn writes(&self) -> impl Iterator<Item = (Slot, Written)> {
        self.states.iter().flat_map(|(_, ops)| ops).filter_map(|(op, _)| match op {
            Made::Write(slot, written) => Some((*slot, *written)),
            Made::Verify(slot, _) | Made::Subtract(slot, _) => Some((*slot, Written::Not(""))),
            Made::Plain(_) => None,
        })
    }
}

impl super::super::Lower<'_> {
    /// Writes the operations of parsers to the program. Metadata that no control and no deparser names is not written.
    pub(in crate::lower) fn finish_parsers(&mut self, parsers: [Parsed; 2]) {
        for parsed in parsers {
            self.finish_parser(parsed);
        }
        shorten(&mut self.program);
    }

    fn finish_parser(&mut self, parsed: Parsed) {
        let zero = |written: &Written| *written == Written::Const(0);
        // Metadata are zero at the start, so that only fields that some path sets to something else need zeros.
        let set: FxHashSet<Slot> =
            parsed.writes().filter(|(_, written)| !zero(written)).map(|(slot, _)| slot).collect();
        for (state, ops) in parsed.states {
            let mut kinds = Vec::new();
            for (op, at) in ops {
                let loc = self.loc(at);
                if let Some(kind) = self.finished(op, at, &set) {
                    kinds.push(ParserOp { kind, loc });
                }
            }
            self.program.states[state].ops = kinds;
        }
    }

    fn finished(&mut self, op: Made, at: Span, set: &FxHashSet<Slot>) -> Option<ParserOpKind> {
        match op {
            Made::Plain(kind) => Some(kind),
            Made::Write(slot, written) => {
                let field = self.storage.slots[slot].field?;
                let width = self.program.fields[field].width;
                match written {
                    Written::Const(0) if !set.contains(&slot) => None,
                    Written::Const(value) => Some(ParserOpKind::Set(field, Expr::Const(value, width))),
                    Written::Slot(from) => {
                        let from = self.field(from);
                        Some(ParserOpKind::Set(field, Expr::Field(from)))
                    }
                    Written::Ahead(distance) => Some(ParserOpKind::Lookahead(field, distance)),
                    Written::Not(what) => {
                        let name = self.storage.slots[slot].name.clone();
                        let text = format!("a parser state writes {what} to `{name}`");
                        let help = "parsers write constants, fields that the same state extracts, and whole bytes ahead; \
                                    write the field in an action of the control";
                        self.refuse(at, text, help);
                        None
                    }
                }
            }
            Made::Verify(slot, inputs) => {
                Some(ParserOpKind::VerifyChecksum(self.storage.slots[slot].field?, inputs))
            }
            Made::Subtract(slot, inputs) => {
                Some(ParserOpKind::SubtractChecksum(self.storage.slots[slot].field?, inputs))
            }
        }
    }
}
