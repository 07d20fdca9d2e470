//! Strings of bits: packets, headers, inputs of hashes and checksums.

use num_bigint::BigInt;

/// A string of bits, the first bit of the wire first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits {
    bits: Vec<bool>,
}

impl Bits {
    /// Adds the low `width` bits of a number, the most significant bit first.
    pub(crate) fn push(&mut self, value: &BigInt, width: u32) {
        let value = low_bits(value, width);
        self.bits.extend((0..width).rev().map(|bit| value.bit(bit.into())));
    }

    /// Adds the bits of another string.
    pub(crate) fn append(&mut self, other: &Bits) {
        self.bits.extend_from_slice(&other.bits);
    }

    /// Adds zeros until the length is a multiple of `to` bits.
    pub(crate) fn pad(&mut self, to: usize) {
        let length = self.bits.len().next_multiple_of(to.max(1));
        self.bits.resize(length, false);
    }

    /// Returns the number of bits.
    pub(crate) fn len(&self) -> usize {
        self.bits.len()
    }

    /// Returns the bits in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = bool> + '_ {
        self.bits.iter().copied()
    }

    /// Returns the bits as bytes; the last byte ends with zeros.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            (0..8).fold(0, |byte, at| byte << 1 | u8::from(bits.get(at).copied().unwrap_or(false)))
        };
        self.bits.chunks(8).map(byte).collect()
    }

    /// Returns the ones' complement sum of the words of 16 bits; the last word ends with zeros.
    pub(crate) fn sum(&self) -> u16 {
        let bytes = self.bytes();
        let words = bytes.chunks(2).map(|two| {
            let byte = |at: usize| two.get(at).copied().unwrap_or(0);
            u16::from_be_bytes([byte(0), byte(1)])
        });
        words.fold(0, add_ones_complement)
    }
}

/// Adds two numbers in ones' complement.
pub(crate) fn add_ones_complement(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Returns the low `width` bits of the two's complement of a number.
pub(crate) fn low_bits(value: &BigInt, width: u32) -> BigInt {
    value & ((BigInt::from(1) << width) - 1)
}

/// A position in the bytes of a packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    at: usize,
}

impl Reader {
    /// Begins at the first bit.
    pub(crate) fn new(bytes: Vec<u8>) -> Reader {
        Reader { bytes, at: 0 }
    }

    /// Returns the number of the next bit.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Goes to a bit.
    pub(crate) fn go(&mut self, at: usize) {
        self.at = at;
    }

    /// Returns true if there are so many more bits.
    pub(crate) fn has(&self, bits: usize) -> bool {
        self.at.checked_add(bits).is_some_and(|end| end <= self.bytes.len() * 8)
    }

    /// Returns the next bits as a number, and goes behind them. Bits behind the end are zeros.
    pub(crate) fn take(&mut self, width: u32) -> BigInt {
        let mut value = BigInt::from(0);
        for _ in 0..width {
            let byte = self.bytes.get(self.at / 8).copied().unwrap_or(0);
            value = (value << 1) + (byte >> (7 - self.at % 8) & 1);
            self.at += 1;
        }
        value
    }

    /// Returns the bytes from the next bit on, which begins a byte.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.at / 8..).unwrap_or_default()
    }
}
