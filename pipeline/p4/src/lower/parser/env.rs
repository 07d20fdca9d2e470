//! What a parser knows at a point of a path.

use super::super::places::{Slot, StackId};
use super::bits::{Bits, Lost, Piece, Source};
use super::front::Front;
use crate::elaborate::ObjectId;
use std::collections::{BTreeMap, BTreeSet};

/// A local variable or a value parameter of a parser, in one inlined copy of the parser.
pub(super) type LocalId = u32;

/// Bits that a sum covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Summed {
    /// A scalar in storage.
    Slot(Slot),
    /// Zeros in front of the next scalar; they decide which byte of a word it is.
    Zeros(u16),
}

/// Values that are known on a path, and the state of the units of the parser that the chip does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Env {
    /// Values of local variables; absent before the first write.
    pub locals: BTreeMap<LocalId, Bits>,
    /// Values of metadata; absent before the first write, when they are zero.
    pub slots: BTreeMap<Slot, Bits>,
    /// Values that were added to each checksum, or subtracted from it, since its result was used.
    pub sums: BTreeMap<ObjectId, Vec<Summed>>,
    /// The checksum whose residual sum a member of the metadata has.
    pub rests: BTreeMap<Slot, ObjectId>,
    /// Residual sums from which an odd number of bytes was subtracted so far.
    pub odd: BTreeSet<Slot>,
    /// Slots with sums from which every header that follows is subtracted.
    pub deposits: Vec<Slot>,
    /// The counter that was set last; the chip has one.
    pub counter: Option<ObjectId>,
    /// Extracted elements of each stack whose last element states write to other storage.
    pub taken: BTreeMap<StackId, u8>,
    /// The bytes in front of the packet.
    pub front: Front,
}

impl Env {
    fn map(&mut self, mut new: impl FnMut(Piece) -> Bits) {
        for value in self.locals.values_mut().chain(self.slots.values_mut()) {
            *value = value.map(&mut new);
        }
    }

    /// Bits of the packet from `at` on become those of `value`, because a header was extracted.
    pub(super) fn extracted(&mut self, at: u32, value: &Bits) {
        self.map(|piece| extracted(piece, at, value));
    }

    /// The parser writes a field of a header: copies of its bytes cannot be told any more.
    pub(super) fn overwritten(&mut self, slot: Slot) {
        self.map(|piece| match piece.source {
            Source::Slot(of) if of == slot => Bits::lost(Lost::Overwritten, piece.width),
            _ => Bits(vec![piece]),
        });
    }

    /// Another element of a stack is the last one.
    pub(super) fn next_element(&mut self, stack: StackId) {
        self.map(|piece| match piece.source {
            Source::Last(of, _) if of == stack => Bits::lost(Lost::OtherElement, piece.width),
            _ => Bits(vec![piece]),
        });
    }

    /// The state ends after `position` bits: distances count from there.
    pub(super) fn rebase(&mut self, position: u32) {
        self.map(|piece| rebased(piece, position));
    }
}

/// Returns a piece after the bits from `at` on were extracted as `value`.
fn extracted(piece: Piece, at: u32, value: &Bits) -> Bits {
    let Source::Ahead(first) = piece.source else { return Bits(vec![piece]) };
    let (end, width) = (first + piece.width, value.width());
    let (from, to) = (first.max(at), end.min(at + width));
    if from >= to {
        return Bits(vec![piece]);
    }
    let inside = value.slice(width - 1 - (from - at), width - (to - at));
    let ahead = |from: u32, to: u32| Bits::one(Source::Ahead(from), to - from);
    ahead(first, from).then(inside).then(ahead(to, end))
}

fn rebased(piece: Piece, position: u32) -> Bits {
    let Source::Ahead(first) = piece.source else { return Bits(vec![piece]) };
    let skipped = position.saturating_sub(first).min(piece.width);
    let rest = piece.width - skipped;
    Bits::lost(Lost::Skipped, skipped)
        .then(Bits::one(Source::Ahead(first + skipped - position.min(first + skipped)), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_entity::Entity;

    #[test]
    fn looked_at_bits_become_fields_when_they_are_extracted() {
        let (a, b) = (Slot::new(1), Slot::new(2));
        let header = Bits::one(Source::Slot(a), 16).then(Bits::one(Source::Slot(b), 8));
        let mut env = Env::default();
        env.locals.insert(0, Bits::one(Source::Ahead(8), 32));
        env.extracted(16, &header);
        let expected = Bits::one(Source::Ahead(8), 8)
            .then(Bits::one(Source::Slot(a), 16))
            .then(Bits::one(Source::Slot(b), 8));
        assert_eq!(env.locals[&0], expected);
    }

    #[test]
    fn skipped_bits_are_lost_and_the_others_come_closer() {
        let mut env = Env::default();
        env.locals.insert(0, Bits::one(Source::Ahead(8), 32));
        env.rebase(16);
        let expected = Bits::lost(Lost::Skipped, 8).then(Bits::one(Source::Ahead(0), 24));
        assert_eq!(env.locals[&0], expected);
    }
}
