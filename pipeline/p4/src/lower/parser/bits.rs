//! Values that a parser knows by where their bits come from.
//!
//! A parser of the chip cannot compute: it copies bytes and compares them. So a P4 value in a parser is a list of pieces, each a
//! constant or bits of something that a select can look at. Slices, `++`, casts, and masks and shifts by constants only cut and
//! join pieces; that is why copies through variables vanish.

use super::super::places::{Slot, StackId};
use sluice_asic::alu::width_mask;

/// Where the bits of a piece come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Source {
    /// A constant of at most 128 bits.
    Const(u128),
    /// Storage: of an extracted header, intrinsic, or port metadata.
    Slot(Slot),
    /// Bits of the packet; the number is the distance of the first from the position at which the present state began, in bits.
    Ahead(u32),
    /// A field of the element of a stack that was extracted last, by its position in the element's header.
    Last(StackId, u16),
    /// 1 if the parser counter is zero.
    CounterIsZero,
    /// 1 if the parser counter is negative.
    CounterIsNegative,
    /// Bits that a parser cannot look at any more, or never could.
    Lost(Lost),
}

/// Why the parser cannot look at a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Lost {
    /// It is computed.
    Computed,
    /// The bytes were skipped.
    Skipped,
    /// The bytes are in front of the packet.
    InFront,
    /// The parser has written the field since it extracted the header.
    Overwritten,
    /// Another element of the stack was extracted since.
    OtherElement,
    /// Several paths meet with different values.
    Unknown,
}

/// Consecutive bits of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Piece {
    /// The source.
    pub source: Source,
    /// Number of the least significant bit in a slot or an element's field; 0 for other sources.
    pub lo: u32,
    /// Number of bits; at most 128 of a constant.
    pub width: u32,
}

/// A value: pieces, most significant first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Bits(pub Vec<Piece>);

impl Piece {
    /// Returns the bits `hi` to `lo` of the piece.
    fn cut(self, hi: u32, lo: u32) -> Piece {
        let width = hi - lo + 1;
        let source = match self.source {
            Source::Const(value) => Source::Const(value >> lo & width_mask(width)),
            Source::Ahead(at) => Source::Ahead(at + self.width - 1 - hi),
            source => return Piece { source, lo: self.lo + lo, width },
        };
        Piece { source, lo: 0, width }
    }

    /// Returns this piece and the one below it as one, if they belong together.
    fn join(self, below: Piece) -> Option<Piece> {
        let width = self.width + below.width;
        let source = match (self.source, below.source) {
            (Source::Const(high), Source::Const(low)) if width <= 128 => {
                Source::Const(high << below.width | low)
            }
            (Source::Ahead(at), Source::Ahead(next)) if at + self.width == next => Source::Ahead(at),
            (Source::Lost(why), Source::Lost(_)) => Source::Lost(why),
            (high, low)
                if high == low && self.lo == below.lo + below.width && !matches!(high, Source::Const(_)) =>
            {
                return Some(Piece { source: high, lo: below.lo, width });
            }
            _ => return None,
        };
        Some(Piece { source, lo: 0, width })
    }
}

impl Bits {
    /// Returns a constant; bits above 128 are zero.
    pub(super) fn constant(value: u128, width: u32) -> Bits {
        let low = width.min(128);
        Bits::zero(width - low).then(Bits::one(Source::Const(value & width_mask(low)), low))
    }

    fn zero(width: u32) -> Bits {
        let pieces = (0..width.div_ceil(128)).map(|n| Piece {
            source: Source::Const(0),
            lo: 0,
            width: (width - n * 128).min(128),
        });
        Bits(pieces.collect())
    }

    /// Returns all bits of a source.
    pub(super) fn one(source: Source, width: u32) -> Bits {
        if width == 0 { Bits::default() } else { Bits(vec![Piece { source, lo: 0, width }]) }
    }

    /// Returns a value that the parser cannot look at.
    pub(super) fn lost(why: Lost, width: u32) -> Bits {
        Bits::one(Source::Lost(why), width)
    }

    /// Returns the number of bits.
    pub(super) fn width(&self) -> u32 {
        self.0.iter().map(|piece| piece.width).sum()
    }

    /// Returns this value with another one below it.
    pub(super) fn then(mut self, low: Bits) -> Bits {
        for piece in low.0 {
            let joined = self.0.last().and_then(|last| last.join(piece));
            if joined.is_some() {
                self.0.pop();
            }
            self.0.push(joined.unwrap_or(piece));
        }
        self
    }

    /// Returns the bits `hi` to `lo`, which the value has.
    pub(super) fn slice(&self, hi: u32, lo: u32) -> Bits {
        let mut above = self.width();
        let mut found = Bits::default();
        for &piece in &self.0 {
            let base = above - piece.width;
            if hi >= base && lo < above {
                let part = piece.cut((hi.min(above - 1)) - base, lo.max(base) - base);
                found = found.then(Bits(vec![part]));
            }
            above = base;
        }
        found
    }

    /// Returns the value with this many bits: cut, or with zeros in front.
    pub(super) fn resized(&self, width: u32) -> Bits {
        match width.checked_sub(self.width()) {
            Some(more) => Bits::zero(more).then(self.clone()),
            None if width == 0 => Bits::default(),
            None => self.slice(width - 1, 0),
        }
    }

    /// Returns the value shifted to the left, with the same number of bits.
    pub(super) fn shl(&self, by: u32) -> Bits {
        let width = self.width();
        if by >= width { Bits::zero(width) } else { self.slice(width - 1 - by, 0).then(Bits::zero(by)) }
    }

    /// Returns the value shifted to the right, with the same number of bits.
    pub(super) fn shr(&self, by: u32) -> Bits {
        let width = self.width();
        if by >= width { Bits::zero(width) } else { Bits::zero(by).then(self.slice(width - 1, by)) }
    }

    /// Returns the value with zeros where `mask` has zeros; `None` for a value of more than 128 bits.
    pub(super) fn masked(&self, mask: u128) -> Option<Bits> {
        let width = self.width();
        if width > 128 {
            return None;
        }
        let bit = |n: u32| if mask >> n & 1 == 1 { self.slice(n, n) } else { Bits::constant(0, 1) };
        Some((0..width).rev().fold(Bits::default(), |value, n| value.then(bit(n))))
    }

    /// Returns the value with ones where `mask` has ones; `None` for a value of more than 128 bits.
    pub(super) fn with_ones(&self, mask: u128) -> Option<Bits> {
        let width = self.width();
        if width > 128 {
            return None;
        }
        let bit = |n: u32| if mask >> n & 1 == 1 { Bits::constant(1, 1) } else { self.slice(n, n) };
        Some((0..width).rev().fold(Bits::default(), |value, n| value.then(bit(n))))
    }

    /// Returns the value with the bits `hi` to `lo` replaced.
    pub(super) fn replaced(&self, hi: u32, lo: u32, by: &Bits) -> Bits {
        let width = self.width();
        let high = if hi + 1 < width { self.slice(width - 1, hi + 1) } else { Bits::default() };
        let low = if lo > 0 { self.slice(lo - 1, 0) } else { Bits::default() };
        high.then(by.clone()).then(low)
    }

    /// Returns the value if it is a constant of at most 128 bits.
    pub(super) fn as_const(&self) -> Option<u128> {
        match self.0.as_slice() {
            [] => Some(0),
            [Piece { source: Source::Const(value), .. }] => Some(*value),
            [zeros @ .., Piece { source: Source::Const(value), .. }] => {
                zeros.iter().all(|piece| piece.source == Source::Const(0)).then_some(*value)
            }
            _ => None,
        }
    }

    /// Returns the value with each piece replaced by pieces of the same width.
    pub(super) fn map(&self, mut new: impl FnMut(Piece) -> Bits) -> Bits {
        self.0.iter().fold(Bits::default(), |value, &piece| value.then(new(piece)))
    }

    /// Returns why the parser cannot look at a part of the value, if it cannot.
    pub(super) fn is_lost(&self) -> Option<Lost> {
        self.0.iter().find_map(|piece| match piece.source {
            Source::Lost(why) => Some(why),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_entity::Entity;

    fn field(lo: u32, width: u32) -> Bits {
        Bits(vec![Piece { source: Source::Slot(Slot::new(3)), lo, width }])
    }

    #[test]
    fn slices_of_joined_pieces_find_their_sources() {
        let value = Bits::constant(0xab, 8).then(field(0, 16)).then(Bits::one(Source::Ahead(32), 8));
        assert_eq!(value.width(), 32);
        assert_eq!(value.slice(31, 24).as_const(), Some(0xab));
        assert_eq!(value.slice(23, 16), field(8, 8));
        assert_eq!(value.slice(3, 0), Bits::one(Source::Ahead(36), 4));
        assert_eq!(value.slice(27, 20), Bits::constant(0xb, 4).then(field(12, 4)));
    }

    #[test]
    fn neighbours_join_again() {
        assert_eq!(field(8, 8).then(field(0, 8)), field(0, 16));
        assert_eq!(
            Bits::one(Source::Ahead(8), 8).then(Bits::one(Source::Ahead(16), 4)),
            Bits::one(Source::Ahead(8), 12)
        );
        assert_eq!(Bits::constant(0xa, 4).then(Bits::constant(0xb, 4)).as_const(), Some(0xab));
        assert_eq!(field(0, 8).then(field(8, 8)).0.len(), 2);
    }

    #[test]
    fn shifts_masks_and_casts_move_bits() {
        assert_eq!(field(0, 16).shr(8), Bits::constant(0, 8).then(field(8, 8)));
        assert_eq!(field(0, 16).shl(12), field(0, 4).then(Bits::constant(0, 12)));
        assert_eq!(
            field(0, 8).masked(0x3c),
            Some(Bits::constant(0, 2).then(field(2, 4)).then(Bits::constant(0, 2)))
        );
        assert_eq!(field(0, 8).with_ones(0x0f), Some(field(4, 4).then(Bits::constant(15, 4))));
        assert_eq!(field(0, 8).resized(12), Bits::constant(0, 4).then(field(0, 8)));
        assert_eq!(field(0, 8).resized(4), field(0, 4));
        assert_eq!(field(0, 8).replaced(3, 0, &Bits::constant(5, 4)), field(4, 4).then(Bits::constant(5, 4)));
        assert_eq!(Bits::constant(7, 192).as_const(), Some(7));
        assert_eq!(Bits::constant(7, 192).width(), 192);
    }
}
