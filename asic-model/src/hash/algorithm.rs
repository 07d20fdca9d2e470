//! Hash algorithms, each defined as a plain function on a bit string.

use super::{BitString, CrcParams, splitmix64};

/// Word width of an XOR fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum XorWidth {
    /// 8 bits.
    W8,
    /// 16 bits.
    W16,
    /// 32 bits.
    W32,
}

impl XorWidth {
    /// Returns the width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::W8 => 8,
            Self::W16 => 16,
            Self::W32 => 32,
        }
    }
}

/// A hash algorithm of the P4 `Hash` extern (model: chip §11.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HashAlgorithm {
    /// The input itself, read as a big number; the output takes its low bits.
    Identity,
    /// The input is cut into words from its first bit on, padded with zeros at the end, and the words are XORed.
    Xor(XorWidth),
    /// A pseudo-random GF(2) matrix and constant, fixed by the seed (model: chip §11.3).
    Random {
        /// Seed of the matrix; equal seeds give equal matrices.
        seed: u64,
    },
    /// A cyclic redundancy check.
    Crc(CrcParams),
}

impl HashAlgorithm {
    /// Returns the width of the algorithm's own result in bits for an input of `input_bits`, if `output_bits` are
    /// requested. Identity returns as many bits as the input (at most 64, the widest output); a random matrix returns
    /// as many as requested.
    pub const fn natural_width(&self, input_bits: usize, output_bits: u32) -> u32 {
        match self {
            Self::Identity => {
                if input_bits < 64 {
                    input_bits as u32
                } else {
                    64
                }
            }
            Self::Xor(width) => width.bits(),
            Self::Random { .. } => output_bits,
            Self::Crc(crc) => crc.width(),
        }
    }

    /// Returns the algorithm's result on `input`, right-aligned. Identity and random matrices fill all 64 bits.
    ///
    /// This function is the definition: it works bit by bit and without tables.
    pub fn evaluate(&self, input: &BitString) -> u64 {
        match self {
            Self::Identity => input.iter().fold(0, |number, bit| number << 1 | u64::from(bit)),
            Self::Xor(width) => fold(input, width.bits()),
            Self::Random { seed } => {
                // A bit's column depends on its weight, not on the string's length, so that leading zero
                // bits change nothing.
                let columns = input.iter().rev().enumerate().filter(|&(_, bit)| bit);
                columns.fold(random_column(*seed, 0), |sum, (weight, _)| {
                    sum ^ random_column(*seed, weight as u64 + 1)
                })
            }
            Self::Crc(crc) => crc.compute(input),
        }
    }
}

/// XORs the `width`-bit words of `input`; the last word is padded with zero bits at the end.
fn fold(input: &BitString, width: u32) -> u64 {
    input.iter().zip((0..width).rev().cycle()).fold(0, |sum, (bit, weight)| sum ^ u64::from(bit) << weight)
}

/// Column `index` of the random matrix: the splitmix64 output at a position that `seed` and `index` fix.
fn random_column(seed: u64, index: u64) -> u64 {
    splitmix64(splitmix64(seed) ^ splitmix64(!index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_keeps_the_low_bits() {
        let string = BitString::from_bytes(&[0xff, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(HashAlgorithm::Identity.evaluate(&string), 0x0102_0304_0506_0708);
    }

    #[test]
    fn xor_appends_zeros_behind() {
        let string = BitString::from_bytes(&[0x12, 0x34, 0x56]);
        assert_eq!(HashAlgorithm::Xor(XorWidth::W16).evaluate(&string), 0x1234 ^ 0x5600);
        assert_eq!(HashAlgorithm::Xor(XorWidth::W8).evaluate(&string), 0x12 ^ 0x34 ^ 0x56);
        assert_eq!(HashAlgorithm::Xor(XorWidth::W32).evaluate(&string), 0x1234_5600);
        let mut odd = BitString::new();
        odd.push(0b101, 3);
        assert_eq!(HashAlgorithm::Xor(XorWidth::W8).evaluate(&odd), 0b1010_0000);
    }

    #[test]
    fn random_matrices_repeat_and_differ_by_seed() {
        let string = BitString::from_bytes(b"flow");
        let one = HashAlgorithm::Random { seed: 1 };
        assert_eq!(one.evaluate(&string), one.evaluate(&string));
        assert_ne!(one.evaluate(&string), HashAlgorithm::Random { seed: 2 }.evaluate(&string));
        assert_ne!(one.evaluate(&string), one.evaluate(&BitString::from_bytes(b"flox")));
    }
}
