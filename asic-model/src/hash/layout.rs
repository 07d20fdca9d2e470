//! Positions of fields and constants in a hash input. Each position has one source.

use thiserror::Error;

use super::BitString;

/// One byte of one slot and the hash input positions that its bits feed.
///
/// A slot is a word of up to 32 bits, right-aligned in a `u32`, such as a PHV container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Index of the slot.
    pub slot: u16,
    /// Byte of the slot, 0 (least significant) to 3.
    pub byte: u8,
    /// `bits[i]` is the position fed by bit `i` (weight 2^i) of the byte, `None` if the bit is no input.
    /// Positions count from the first bit of the [`BitString`].
    pub bits: [Option<u16>; 8],
}

/// Reason for which a layout does not describe a hash input.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// A position beyond the input's end.
    #[error(
        "slot {slot} feeds hash input position {position}, but the input has {input_bits} bits; positions count from 0"
    )]
    PositionBeyondInput {
        /// The feeding slot.
        slot: u16,
        /// The position.
        position: u16,
        /// Length of the input in bits.
        input_bits: usize,
    },
    /// A position has two sources.
    #[error(
        "hash input position {position} has two sources, the second is slot {slot}; each position takes one slot bit or constant"
    )]
    FedTwice {
        /// The second feeding slot.
        slot: u16,
        /// The position.
        position: u16,
    },
    /// A byte or bit number that no 32-bit slot has.
    #[error("slot {slot} has no bit {bit}; slots are at most 32 bits wide")]
    NoSuchBit {
        /// The slot.
        slot: u16,
        /// The lowest missing bit.
        bit: u32,
    },
    /// A constant that feeds no free position.
    #[error(
        "a constant feeds hash input position {position}, which is beyond the input's {input_bits} bits or already fed"
    )]
    BadConstant {
        /// The position.
        position: usize,
        /// Length of the input in bits.
        input_bits: usize,
    },
}

/// Sources of the bits of a hash input: slot bits and constants. Positions without a source are zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashLayout {
    pub(super) pieces: Vec<Piece>,
    pub(super) constants: Vec<(usize, bool)>,
    summed: bool,
}

impl HashLayout {
    /// Creates a layout that feeds nothing.
    pub const fn new() -> Self {
        Self { pieces: Vec::new(), constants: Vec::new(), summed: false }
    }

    /// Allows several sources of a position, which are then added modulo two, as symmetric hashes need.
    #[must_use]
    pub fn summed(self) -> Self {
        Self { summed: true, ..self }
    }

    /// Adds one byte; each of its bits may feed any position.
    pub fn piece(&mut self, piece: Piece) -> &mut Self {
        let same = |known: &&mut Piece| known.slot == piece.slot && known.byte == piece.byte;
        // One table serves all bits of a byte, unless two pieces use the same bit.
        match self.pieces.iter_mut().find(same) {
            Some(known)
                if known.bits.iter().zip(piece.bits).all(|(old, new)| old.is_none() || new.is_none()) =>
            {
                for (old, new) in known.bits.iter_mut().zip(piece.bits) {
                    *old = old.or(new);
                }
            }
            _ => self.pieces.push(piece),
        }
        self
    }

    /// Adds a field: `width` bits of `slot` from bit `low_bit` up become positions `position` (the field's
    /// most significant bit) to `position + width - 1`.
    ///
    /// # Errors
    /// Fails if the slot has no such bits, or a position does not fit 16 bits.
    pub fn field(
        &mut self,
        slot: u16,
        low_bit: u32,
        width: u32,
        position: u16,
    ) -> Result<&mut Self, LayoutError> {
        if low_bit.saturating_add(width) > 32 {
            return Err(LayoutError::NoSuchBit { slot, bit: low_bit.max(32) });
        }
        for byte in 0..4u8 {
            let mut bits = [None; 8];
            for (weight, target) in (u32::from(byte) * 8..).zip(&mut bits) {
                if weight < low_bit || weight >= low_bit + width {
                    continue;
                }
                let offset = (low_bit + width - 1 - weight) as u16;
                let beyond = LayoutError::PositionBeyondInput { slot, position, input_bits: 1 << 16 };
                *target = Some(position.checked_add(offset).ok_or(beyond)?);
            }
            if bits.iter().any(Option::is_some) {
                self.piece(Piece { slot, byte, bits });
            }
        }
        Ok(self)
    }

    /// Feeds positions `position` to `position + width - 1` with the low `width` bits of `value`, most
    /// significant first.
    pub fn constant(&mut self, position: u16, width: u32, value: u128) -> &mut Self {
        let mut bits = BitString::new();
        bits.push(value, width);
        self.constants.extend((usize::from(position)..).zip(bits.iter()));
        self
    }

    /// Checks that every source exists and that every position of an input of `input_bits` bits has at most one source.
    pub(super) fn check(&self, input_bits: usize) -> Result<(), LayoutError> {
        let mut fed = vec![false; input_bits];
        for &Piece { slot, byte, bits } in &self.pieces {
            if byte > 3 {
                return Err(LayoutError::NoSuchBit { slot, bit: u32::from(byte) * 8 });
            }
            for position in bits.into_iter().flatten() {
                match fed.get_mut(usize::from(position)) {
                    None => return Err(LayoutError::PositionBeyondInput { slot, position, input_bits }),
                    Some(true) if !self.summed => return Err(LayoutError::FedTwice { slot, position }),
                    Some(fed) => *fed = true,
                }
            }
        }
        for &(position, _) in &self.constants {
            match fed.get_mut(position) {
                Some(fed) if !*fed || self.summed => *fed = true,
                _ => return Err(LayoutError::BadConstant { position, input_bits }),
            }
        }
        Ok(())
    }

    /// Returns the bits that the layout gathers from `slots`, in hash order; a slot that is not there is zero.
    pub fn gather(&self, slots: &[u32], input_bits: usize) -> BitString {
        let mut gathered = vec![false; input_bits];
        let mut feed = |position: usize, value: bool| {
            if let Some(bit) = gathered.get_mut(position) {
                *bit ^= value;
            }
        };
        for piece in &self.pieces {
            let word = slots.get(usize::from(piece.slot)).copied().unwrap_or(0);
            let byte = word.to_le_bytes().get(usize::from(piece.byte)).copied().unwrap_or(0);
            for (weight, position) in piece.bits.iter().enumerate() {
                if let Some(position) = position {
                    feed(usize::from(*position), byte >> weight & 1 == 1);
                }
            }
        }
        for &(position, value) in &self.constants {
            feed(position, value);
        }
        gathered.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_one_byte_share_a_piece_unless_they_clash() {
        let mut layout = HashLayout::new();
        layout.field(5, 0, 4, 0).unwrap().field(5, 4, 8, 4).unwrap();
        assert_eq!(layout.pieces.len(), 2);
        assert_eq!(layout.pieces[0].bits, [3, 2, 1, 0, 11, 10, 9, 8].map(Some));
        layout.field(5, 0, 1, 12).unwrap();
        assert_eq!(layout.pieces.len(), 3);
        assert_eq!(layout.gather(&[0, 0, 0, 0, 0, 0xfa5], 13).iter().filter(|&bit| bit).count(), 9);
    }

    #[test]
    fn constants_fill_positions() {
        let mut layout = HashLayout::new();
        layout.constant(2, 4, 0b1010).field(0, 0, 2, 0).unwrap();
        assert!(layout.gather(&[0b01], 6).iter().eq([false, true, true, false, true, false]));
        assert_eq!(layout.check(6), Ok(()));
        assert!(layout.check(5).is_err());
    }
}
