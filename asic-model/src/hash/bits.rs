//! Bit string that a hash reads: a concatenation of values, most significant bit first.

/// A string of bits in hash order: position 0 is the most significant bit of the first field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct BitString {
    bits: Vec<bool>,
}

impl BitString {
    /// Creates an empty string.
    pub const fn new() -> Self {
        Self { bits: Vec::new() }
    }

    /// Creates an empty string with room for `bits` bits.
    pub fn with_capacity(bits: usize) -> Self {
        Self { bits: Vec::with_capacity(bits) }
    }

    /// Returns the bits of `bytes`, first byte first, each from its most significant bit.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut string = Self::new();
        for &byte in bytes {
            string.push(byte.into(), 8);
        }
        string
    }

    /// Appends the low `width` bits of `value`, most significant first; bits beyond the 128th are zero.
    pub fn push(&mut self, value: u128, width: u32) {
        match u64::try_from(value) {
            // Shifts of 128 bits take several times as long.
            Ok(value) => self.bits.extend((0..width).rev().map(|bit| bit < 64 && value >> bit & 1 == 1)),
            Err(_) => self.bits.extend((0..width).rev().map(|bit| bit < 128 && value >> bit & 1 == 1)),
        }
    }

    /// Empties the string, keeping its memory.
    pub fn clear(&mut self) {
        self.bits.clear();
    }

    /// Returns the number of bits.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Returns true if the string is empty.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// Returns the bits in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = bool> + ExactSizeIterator + '_ {
        self.bits.iter().copied()
    }

    /// Returns the consecutive words of `bits` bits, at most 64. The last word is padded with zeros at the end.
    pub fn words(&self, bits: usize) -> impl Iterator<Item = u64> + '_ {
        let bits = bits.clamp(1, 64);
        self.bits.chunks(bits).map(move |word| {
            word.iter().fold(0, |value, bit| value << 1 | u64::from(*bit)) << (bits - word.len())
        })
    }

    /// Returns a string of `len` zeros in which the bit at `one`, if that position exists, is set.
    pub(super) fn unit(len: usize, one: Option<usize>) -> Self {
        Self { bits: (0..len).map(|position| Some(position) == one).collect() }
    }
}

impl Extend<bool> for BitString {
    fn extend<I: IntoIterator<Item = bool>>(&mut self, bits: I) {
        self.bits.extend(bits);
    }
}

impl FromIterator<bool> for BitString {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        Self { bits: bits.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_join_most_significant_bit_first() {
        let mut string = BitString::new();
        string.push(0b101, 3);
        string.push(0x1f, 4);
        let mut wide = BitString::new();
        wide.push(1 << 100 | 1, 130);
        wide.push(1, 70);
        let ones: Vec<usize> = (0..).zip(wide.iter()).filter(|(_, bit)| *bit).map(|(at, _)| at).collect();
        assert_eq!((wide.len(), ones), (200, vec![29, 129, 199]));
        assert_eq!(string.len(), 7);
        assert!(string.iter().eq([true, false, true, true, true, true, true]));
        assert_eq!(string.words(4).collect::<Vec<_>>(), [0b1011, 0b1110]);
        assert_eq!(string.words(64).collect::<Vec<_>>(), [0b101_1111 << 57]);
        assert_eq!(BitString::from_bytes(&[0x80, 0x01]).iter().position(|bit| bit), Some(0));
        assert_eq!(BitString::from_bytes(&[0x80, 0x01]).iter().rposition(|bit| bit), Some(15));
    }
}
