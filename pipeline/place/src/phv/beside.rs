//! Small metadata fields that are copies of bits of one field: they share a container, at the places of their bits.
//!
//! Fields with containers of their own would each take a container of the source's size and group. Together they take
//! one, and one instruction copies all of them without a rotation.

use super::demand::Demands;
use super::layout::{Layout, PieceHome, Seg};
use super::moves::{Move, Shape, Source, Write};
use sluice_ir::{Action, Field, Home, Program};
use std::collections::BTreeMap;

/// A field that is a copy of bits of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beside {
    /// The field whose bits are copied.
    source: Field,
    /// Lowest copied bit.
    lo: u16,
    /// Lowest field of those that share the container.
    first: Field,
}

/// Fields with their lowest copied bits, by the field whose bits are copied and the actions that copy them.
type Groups = BTreeMap<(Field, Vec<Action>), Vec<(Field, u16)>>;

impl Demands {
    /// Puts fields that the same actions copy from different bits of one field beside each other; returns true if there are
    /// such fields.
    pub(super) fn put_beside(&mut self, program: &Program) -> bool {
        let mut groups = Groups::new();
        for field in program.fields.keys().filter(|f| self.may_be_beside(program, *f)) {
            let writes: Vec<&Write> = self.writes.iter().filter(|w| w.dst == field).collect();
            let source = |w: &&Write| match (w.shape, w.moves.as_slice()) {
                (Shape::Copy, [Move { lo: 0, width, source: Source::Field(f, lo) }])
                    if *width == program.fields[field].width && program.fields[*f].width <= 32 =>
                {
                    Some((*f, *lo))
                }
                _ => None,
            };
            let Some(from) = writes.first().and_then(source) else { continue };
            if writes.iter().all(|w| source(w) == Some(from)) && from.0 != field {
                let actions = writes.iter().map(|w| w.action).collect();
                groups.entry((from.0, actions)).or_default().push((field, from.1));
            }
        }
        let mut any = false;
        for ((source, _), members) in groups {
            let ones = |(f, lo): &(Field, u16)| ((1u64 << program.fields[*f].width) - 1) << lo;
            let mut taken = 0;
            let apart: Vec<(Field, u16)> = members
                .into_iter()
                .filter(|m| {
                    let free = taken & ones(m) == 0;
                    taken |= if free { ones(m) } else { 0 };
                    free
                })
                .collect();
            let Some(&(first, _)) = apart.first().filter(|_| apart.len() > 1) else { continue };
            for (field, lo) in apart {
                self.fields[field].beside = Some(Beside { source, lo, first });
                any = true;
            }
        }
        any
    }

    /// Returns true if a field is only copied to, and nothing wants it in containers of its own.
    fn may_be_beside(&self, program: &Program, field: Field) -> bool {
        let d = &self.fields[field];
        let own = d.own || d.number || d.copied || d.operand || d.listed || d.shared;
        program.fields[field].home == Home::Metadata && d.used && d.moved && !d.alu_read && !own
    }
}

impl Layout {
    /// Lays out the fields that are copies of bits of one field, as far as one piece has all their bits.
    pub(super) fn beside(&mut self, program: &Program, demands: &Demands) {
        let mut pieces: BTreeMap<(Field, usize), usize> = BTreeMap::new();
        for (field, d) in demands.fields.iter() {
            let Some(Beside { source, lo, first }) = d.beside else { continue };
            let (gress, width) = (program.fields[field].gress, program.fields[field].width);
            let held: Vec<Seg> = self.segs[source].clone();
            for part in held.iter().filter(|s| s.lo < lo + width && lo < s.lo + s.width) {
                let bits = self.pieces[part.piece].bits;
                let piece = *pieces.entry((first, part.piece)).or_insert_with(|| {
                    self.pieces.push(super::layout::Piece { gress, home: PieceHome::Alone(first), bits });
                    self.pieces.len() - 1
                });
                let (from, to) = (lo.max(part.lo), (lo + width).min(part.lo + part.width));
                let at = part.at + (from - part.lo) as u8;
                self.segs[field].push(Seg { lo: from - lo, width: to - from, piece, at });
            }
        }
    }
}
