//! Fast clear of a whole register: the new elements, and the output of accesses during the clear.

use super::execute::State;
use super::format::Format;
use crate::chip::SaluSpec;

/// A fast clear: every RAM word gets the same 128 bits, and an access during it returns a fixed output word
/// instead of running its action (model: chip §4.1; behavioural model).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Clear {
    /// The RAM word.
    pub word: u128,
    /// Output word 0 of an access while the register is being cleared; the others are 0.
    pub busy: u32,
}

impl Clear {
    /// Creates a clear that gives every element the same value; bits beyond the format are dropped.
    pub fn uniform(format: Format, value: State, busy: u32) -> Self {
        let mask = format.half_mask();
        let hi = if format.has_hi() { u128::from(value.hi & mask) << format.half_bits() } else { 0 };
        let element = u128::from(value.lo & mask) | hi;
        let bits = format.element_bits();
        let word = (0..128 / bits).fold(0, |word, place| word | element << (place * bits));
        Self { word, busy }
    }

    /// Returns true if the chip has fast clear.
    pub const fn possible(spec: &SaluSpec) -> bool {
        spec.fast_clear
    }

    /// Returns the element at `index` after the clear.
    pub const fn element(self, format: Format, index: u64) -> State {
        let per_word = 128 / format.element_bits() as u64;
        let place = (index % per_word) as u32 * format.element_bits();
        let element = self.word >> place;
        let lo = element as u64 & format.half_mask();
        if !format.has_hi() {
            return State::single(lo);
        }
        State::pair(lo, (element >> format.half_bits()) as u64 & format.half_mask())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chip::ChipSpec;

    #[test]
    fn elements_of_every_format() {
        let value = State::pair(0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210);
        for text in ["1", "8", "16", "32", "64", "128", "8x2", "16x2", "32x2", "64x2"] {
            let format: Format = text.parse().unwrap();
            let clear = Clear::uniform(format, value, 9);
            let hi = if format.has_hi() { value.hi & format.half_mask() } else { 0 };
            for index in [0, 1, 7, 1000] {
                let expected = State::pair(value.lo & format.half_mask(), hi);
                assert_eq!(clear.element(format, index), expected, "{text} {index}");
            }
        }
        // A word need not be uniform: it repeats from word to word.
        let stripes = Clear { word: 0x0201_0000, busy: 0 };
        let byte = Format::single(8).unwrap();
        assert_eq!([2, 3, 4, 19].map(|index| stripes.element(byte, index).lo), [1, 2, 0, 2]);
        assert!(Clear::possible(&ChipSpec::tofino2().salu) && !Clear::possible(&ChipSpec::tofino().salu));
    }
}
