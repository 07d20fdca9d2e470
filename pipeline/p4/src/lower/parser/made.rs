//! Operations of a parser before it is known which metadata the rest of the program reads.

use super::super::places::{Instance, Slot, SlotHome};
use super::shorten::shorten;
use crate::source::Span;
use sluice_asic::alu::AluOp;
use sluice_ir::{Expr, Field, Intrinsic, ParserOp, ParserOpKind, ParserState};

/// An operation of a state.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    /// An operation without a destination in metadata.
    Plain(ParserOpKind),
    /// A write to a field.
    Write(Slot, Written),
    /// A header becomes valid or invalid without bytes of the packet.
    Valid(Instance, bool),
    /// The result of a checksum over these fields and zeros; true if it is added to that of others.
    Verify(Slot, Vec<Expr>, bool),
    /// Fields and zeros subtracted from a sum.
    Subtract(Slot, Vec<Expr>),
}

/// How the chip writes a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// Bits of fields and constants, most significant first, for all bits of the field.
    Parts(Vec<Part>),
    /// Ones are added to those of the field.
    Ones(Part),
    /// Bits at this distance from the position.
    Ahead(u16),
    /// It cannot: the value is this.
    Not(&'static str),
}

/// Consecutive bits that the chip writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) from: From,
    pub(super) width: u16,
}

/// Where a part comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// A constant.
    Const(u128),
    /// The bits are zero already.
    Zero,
    /// Bits of a field, from this one on.
    Slot(Slot, u16),
}

impl Written {
    /// Returns true if only zeros are written.
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Written::Parts(parts) => parts.iter().all(|part| part.from == From::Const(0)),
            _ => false,
        }
    }
}

/// The states of a parser, whose writes to metadata are not in the program yet.
#[derive(Debug, Default)]
pub(in crate::lower) struct Parsed {
    pub(super) states: Vec<(ParserState, Vec<(Made, Span)>)>,
}

impl super::super::Lower<'_> {
    /// Writes the operations of parsers to the program. Metadata that no control and no deparser names is not written.
    pub(in crate::lower) fn finish_parsers(&mut self, parsers: [Parsed; 2]) {
        for mut parsed in parsers {
            self.write_once(&mut parsed);
            for (state, ops) in parsed.states {
                let mut kinds = Vec::new();
                for (op, at) in ops {
                    let loc = self.loc(at);
                    kinds.extend(self.finished(op, at).into_iter().map(|kind| ParserOp { kind, loc }));
                }
                self.program.states[state].ops = kinds;
            }
        }
        shorten(&mut self.program);
    }

    fn finished(&mut self, op: Made, at: Span) -> Vec<ParserOpKind> {
        match op {
            Made::Plain(kind) => vec![kind],
            Made::Valid(instance, valid) => {
                // A header that nothing else names has no effect.
                let header = self.storage.instances[instance].header;
                header.map(|header| ParserOpKind::SetValid(header, valid)).into_iter().collect()
            }
            Made::Write(slot, written) => match self.destination(slot) {
                Some(field) => self.written(slot, field, &written, at),
                None => Vec::new(),
            },
            Made::Verify(slot, inputs, _) => {
                // Who reads `parser_err` sees wrong checksums there.
                let data = &self.storage.slots[slot];
                let seen = self.program.intrinsic(data.gress, Intrinsic::ParserErr).is_some();
                let to = if seen { Some(self.field(slot)) } else { data.field };
                to.map(|to| ParserOpKind::VerifyChecksum(to, inputs)).into_iter().collect()
            }
            Made::Subtract(slot, inputs) => {
                let to = self.storage.slots[slot].field;
                to.map(|to| ParserOpKind::SubtractChecksum(to, inputs)).into_iter().collect()
            }
        }
    }

    /// Returns the field of a slot that is written; `None` if nothing reads it.
    fn destination(&mut self, slot: Slot) -> Option<Field> {
        match self.storage.slots[slot].home {
            SlotHome::Intrinsic(_) => Some(self.field(slot)),
            _ => self.storage.slots[slot].field,
        }
    }

    fn written(&mut self, slot: Slot, field: Field, written: &Written, at: Span) -> Vec<ParserOpKind> {
        let width = self.program.fields[field].width;
        match written {
            Written::Parts(parts) => {
                let mut end: u16 = parts.iter().map(|part| part.width).sum();
                let whole = parts.len() == 1 && end == width;
                let mut kinds = Vec::new();
                for part in parts {
                    if part.from == From::Zero {
                        end -= part.width;
                        continue;
                    }
                    let value = self.part(*part);
                    kinds.push(match whole {
                        true => ParserOpKind::Set(field, value),
                        false => ParserOpKind::SetSlice(field, end - 1, end - part.width, value),
                    });
                    end -= part.width;
                }
                kinds
            }
            Written::Ones(part) => {
                let value = self.part(*part);
                let value = if part.width == width { value } else { Expr::Cast(Box::new(value), width) };
                let ones = Expr::Alu(AluOp::Or, Box::new(Expr::Field(field)), Box::new(value));
                vec![ParserOpKind::Set(field, ones)]
            }
            Written::Ahead(distance) => vec![ParserOpKind::Lookahead(field, *distance)],
            Written::Not(what) => {
                let name = self.storage.slots[slot].name.clone();
                let text = format!("a parser state writes {what} to `{name}`");
                let help = "parsers write constants, bits of extracted fields, and whole bytes ahead; \
                            write the field in an action of the control";
                self.refuse(at, text, help);
                Vec::new()
            }
        }
    }

    fn part(&mut self, part: Part) -> Expr {
        match part.from {
            From::Const(value) => Expr::Const(value, part.width),
            From::Zero => Expr::Const(0, part.width),
            From::Slot(slot, lo) => {
                let field = self.field(slot);
                let whole = Expr::Field(field);
                if lo == 0 && self.program.fields[field].width == part.width {
                    whole
                } else {
                    Expr::Slice(Box::new(whole), lo + part.width - 1, lo)
                }
            }
        }
    }
}
