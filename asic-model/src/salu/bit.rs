//! One-bit registers: instructions on single bits, and those that maintain a selector word's count of members.

/// Instruction on one bit: the bit's new value, and the old value or its complement as the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BitOp {
    /// Set, old value out.
    Set,
    /// Set, complement of the old value out.
    SetC,
    /// Clear, old value out.
    Clr,
    /// Clear, complement of the old value out.
    ClrC,
    /// Leave, value out.
    Read,
    /// Leave, complement out.
    ReadC,
}

impl BitOp {
    /// Every instruction.
    pub const ALL: [Self; 6] = [Self::Set, Self::SetC, Self::Clr, Self::ClrC, Self::Read, Self::ReadC];

    /// Returns the vendor assembler's mnemonic.
    pub const fn mnemonic(self) -> &'static str {
        match self {
            Self::Set => "set_bit",
            Self::SetC => "set_bitc",
            Self::Clr => "clr_bit",
            Self::ClrC => "clr_bitc",
            Self::Read => "read_bit",
            Self::ReadC => "read_bitc",
        }
    }

    /// Returns the bit's new value and the output.
    #[inline]
    pub const fn apply(self, old: bool) -> (bool, bool) {
        match self {
            Self::Set => (true, old),
            Self::SetC => (true, !old),
            Self::Clr => (false, old),
            Self::ClrC => (false, !old),
            Self::Read => (old, old),
            Self::ReadC => (old, !old),
        }
    }
}

/// Bits of a selector's RAM word that are members; the upper seven bits count them (model: chip §3.5).
pub const SELECTOR_BITS: u32 = 120;

/// An instruction that changes a member's bit in a selector word and keeps the count of members (model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelectorBitOp {
    /// Set, old value out.
    SetAt,
    /// Set, complement of the old value out.
    SetAtC,
    /// Clear, old value out.
    ClrAt,
    /// Clear, complement of the old value out.
    ClrAtC,
}

impl SelectorBitOp {
    /// Every instruction.
    pub const ALL: [Self; 4] = [Self::SetAt, Self::SetAtC, Self::ClrAt, Self::ClrAtC];

    /// Returns the vendor assembler's mnemonic.
    pub const fn mnemonic(self) -> &'static str {
        match self {
            Self::SetAt => "set_bit_at",
            Self::SetAtC => "set_bitc_at",
            Self::ClrAt => "clr_bit_at",
            Self::ClrAtC => "clr_bitc_at",
        }
    }

    /// Returns the new RAM word and the output. A position beyond the members changes nothing.
    pub const fn apply(self, word: u128, position: u32) -> (u128, bool) {
        let position = position & 127;
        let old = word >> position & 1 != 0;
        let sets = matches!(self, Self::SetAt | Self::SetAtC);
        let out = old != matches!(self, Self::SetAtC | Self::ClrAtC);
        if position >= SELECTOR_BITS {
            return (word, out);
        }
        let most = SELECTOR_BITS as u128;
        let stored = word >> SELECTOR_BITS & 0x7f;
        let count = if stored > most { most } else { stored };
        let (bits, count) = if sets {
            (word | 1 << position, if old || count == most { count } else { count + 1 })
        } else {
            (word & !(1 << position), if old && count > 0 { count - 1 } else { count })
        };
        (bits & !(0x7f << SELECTOR_BITS) | count << SELECTOR_BITS, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_instructions_on_both_values() {
        let rows = [
            (BitOp::Set, (true, false), (true, true)),
            (BitOp::SetC, (true, true), (true, false)),
            (BitOp::Clr, (false, false), (false, true)),
            (BitOp::ClrC, (false, true), (false, false)),
            (BitOp::Read, (false, false), (true, true)),
            (BitOp::ReadC, (false, true), (true, false)),
        ];
        assert_eq!(rows.map(|row| row.0), BitOp::ALL);
        for (op, clear, set) in rows {
            assert_eq!((op.apply(false), op.apply(true)), (clear, set), "{}", op.mnemonic());
        }
    }

    proptest! {
        #[test]
        fn the_count_follows_the_bits(changes in prop::collection::vec((0..4usize, 0..128u32), 1..300)) {
            let mut word = 0;
            for (which, position) in changes {
                let op = SelectorBitOp::ALL[which];
                let before = word >> position & 1 != 0 && position < SELECTOR_BITS;
                let (next, out) = op.apply(word, position);
                word = next;
                if position < SELECTOR_BITS {
                    prop_assert_eq!(out, before != op.mnemonic().contains("bitc"));
                    prop_assert_eq!(word >> position & 1 != 0, op.mnemonic().starts_with("set"));
                }
                let members = word & ((1 << SELECTOR_BITS) - 1);
                prop_assert_eq!(u128::from(members.count_ones()), word >> SELECTOR_BITS);
            }
        }
    }
}
