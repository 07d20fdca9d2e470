//! Hash function of a program: algorithm, output width, seed, rotation. The bit-serial definition is here.

use std::borrow::Cow;

use thiserror::Error;

use super::{BitString, HashAlgorithm};

/// Method by which a switch makes its hash differ from its neighbours'. On a linear algorithm both methods XOR a
/// constant onto the hash (model: hashing §2), but the constants of one seed differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Seed {
    /// The hardware seed register: XORed onto the output bits (model: chip §11.1).
    Xor(u64),
    /// Prepended to the input as its first `bits` (0..=64) bits, as in the public PINS profiles, where it
    /// has 32 bits (model: hashing §1.5).
    Prefix {
        /// The seed's value, right-aligned.
        value: u64,
        /// Number of bits.
        bits: u32,
    },
}

/// An algorithm with its output shaping, in this order: result, cut or extended to `output_bits`, XOR seed,
/// rotated right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HashFunction {
    algorithm: HashAlgorithm,
    output_bits: u32,
    extend: bool,
    seed: Seed,
    rotate_right: u32,
}

/// Reason for which a hash function cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HashFunctionError {
    /// The output width is outside 1..=64.
    #[error("hash output is {found} bits wide; 1 to 64 are possible (a hash group has 52)")]
    OutputWidth {
        /// Requested width.
        found: u32,
    },
    /// The seed has bits above its width.
    #[error("hash seed {value:#x} does not fit the {bits} bits it applies to")]
    SeedTooWide {
        /// The seed.
        value: u64,
        /// The output width, or the prefix's.
        bits: u32,
    },
    /// A seed prefix longer than a seed can be.
    #[error("hash seed prefix is {found} bits long; 0 to 64 are possible")]
    PrefixWidth {
        /// Requested length.
        found: u32,
    },
}

impl HashFunction {
    /// Returns the low `output_bits` (1..=64) bits of the algorithm's result, no seed, no rotation. Bits the algorithm
    /// does not have are zero.
    ///
    /// # Errors
    /// Fails if the output width is outside its range.
    pub const fn new(algorithm: HashAlgorithm, output_bits: u32) -> Result<Self, HashFunctionError> {
        if output_bits < 1 || output_bits > 64 {
            return Err(HashFunctionError::OutputWidth { found: output_bits });
        }
        Ok(Self { algorithm, output_bits, extend: false, seed: Seed::Xor(0), rotate_right: 0 })
    }

    /// Repeats the algorithm's bits in output bits beyond its width, which are otherwise zero: the `extended` flag of
    /// a CRC polynomial (model: chip §11.2). A selector that wants more bits than a CRC has needs this.
    pub const fn extended(mut self) -> Self {
        self.extend = true;
        self
    }

    /// Sets the seed.
    ///
    /// # Errors
    /// Fails if the seed has bits above the width it applies to.
    pub const fn with_seed(mut self, seed: Seed) -> Result<Self, HashFunctionError> {
        let (value, bits) = match seed {
            Seed::Xor(value) => (value, self.output_bits),
            Seed::Prefix { bits, .. } if bits > 64 => {
                return Err(HashFunctionError::PrefixWidth { found: bits });
            }
            Seed::Prefix { value, bits } => (value, bits),
        };
        if value & !low_bits(bits) != 0 {
            return Err(HashFunctionError::SeedTooWide { value, bits });
        }
        self.seed = seed;
        Ok(self)
    }

    /// Rotates the output right within its width, as the ECMP hash offset of SAI does (model: hashing §1.4);
    /// amounts beyond the width wrap round.
    pub const fn rotated_right(mut self, amount: u32) -> Self {
        self.rotate_right = amount % self.output_bits;
        self
    }

    /// Returns the algorithm.
    pub const fn algorithm(&self) -> HashAlgorithm {
        self.algorithm
    }

    /// Returns the output width in bits, 1..=64.
    pub const fn output_bits(&self) -> u32 {
        self.output_bits
    }

    /// Returns the seed; `Seed::Xor(0)` when none was set.
    pub const fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the rotation, below the output width.
    pub const fn rotation(&self) -> u32 {
        self.rotate_right
    }

    /// Returns the hash of `input`, by definition: bit-serial, allocating, for the reference interpreter, the control
    /// plane and tests. Packet paths use [`LinearHash`](super::LinearHash).
    pub fn hash(&self, input: &BitString) -> u64 {
        let (message, mask) = match self.seed {
            Seed::Xor(mask) => (Cow::Borrowed(input), mask),
            Seed::Prefix { value, bits } => {
                let mut message = BitString::new();
                message.push(value.into(), bits);
                message.extend(input.iter());
                (Cow::Owned(message), 0)
            }
        };
        let width = self.algorithm.natural_width(message.len(), self.output_bits);
        let fitted = self.fit(self.algorithm.evaluate(&message), width) ^ mask;
        rotate_right(fitted, self.rotate_right, self.output_bits)
    }

    /// Cuts or extends a `width`-bit result to the output width.
    fn fit(&self, result: u64, width: u32) -> u64 {
        if !self.extend || width == 0 || width >= self.output_bits {
            return result & low_bits(self.output_bits.min(width));
        }
        (0..self.output_bits).fold(0, |out, bit| out | (result >> (bit % width) & 1) << bit)
    }
}

/// Returns the low `bits` (0..=64) bits set.
const fn low_bits(bits: u32) -> u64 {
    if bits == 0 { 0 } else { u64::MAX >> (64 - bits) }
}

/// Returns `value` rotated right by `amount` (below `width`) within `width` (1..=64) bits.
const fn rotate_right(value: u64, amount: u32, width: u32) -> u64 {
    if amount == 0 { value } else { (value >> amount | value << (width - amount)) & low_bits(width) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::XorWidth;

    fn crc32(output_bits: u32) -> HashFunction {
        HashFunction::new(HashAlgorithm::from_name("crc_32").unwrap(), output_bits).unwrap()
    }

    #[test]
    fn pins_selector_input() {
        // model: hashing §7.3; key = seed 0 ‖ sip ‖ dip ‖ sport ‖ dport.
        let flows: [(&[u8], [u64; 3]); 4] = [
            (&[10, 0, 0, 1, 10, 0, 1, 1, 0x30, 0x39, 0, 80], [0x26e0, 0x026e, 0xe026]),
            (&[10, 0, 0, 2, 10, 0, 1, 1, 0x30, 0x39, 0, 80], [0x1a25, 0x51a2, 0x251a]),
            (&[192, 168, 1, 10, 172, 16, 5, 20, 0x13, 0x88, 0, 53], [0x917e, 0xe917, 0x7e91]),
            (&[10, 1, 2, 3, 10, 1, 2, 4, 0x9c, 0x40, 1, 0xbb], [0x0822, 0x2082, 0x2208]),
        ];
        for (key, want) in flows {
            for (offset, want) in [0, 4, 8].into_iter().zip(want) {
                let function =
                    crc32(16).with_seed(Seed::Prefix { value: 0, bits: 32 }).unwrap().rotated_right(offset);
                assert_eq!(function.hash(&BitString::from_bytes(key)), want, "offset {offset}");
            }
        }
    }

    #[test]
    fn narrow_results_are_zero_filled_or_repeated() {
        let function = HashFunction::new(HashAlgorithm::Xor(XorWidth::W8), 20).unwrap();
        let input = BitString::from_bytes(&[0xa5]);
        assert_eq!(function.hash(&input), 0x000a5);
        assert_eq!(function.extended().hash(&input), 0x5a5a5);
        let identity = HashFunction::new(HashAlgorithm::Identity, 6).unwrap();
        assert_eq!(identity.hash(&input), 0x25);
    }

    #[test]
    fn the_seed_register_turns_with_the_output() {
        let input = BitString::from_bytes(b"x");
        let plain = crc32(16).hash(&input);
        let seeded = crc32(16).with_seed(Seed::Xor(0x00ff)).unwrap();
        assert_eq!(seeded.hash(&input), plain ^ 0x00ff);
        assert_eq!(seeded.rotated_right(4).hash(&input), rotate_right(plain ^ 0x00ff, 4, 16));
        assert_eq!(seeded.rotated_right(20), seeded.rotated_right(4));
    }

    #[test]
    fn impossible_functions_are_refused() {
        assert_eq!(
            HashFunction::new(HashAlgorithm::Identity, 0),
            Err(HashFunctionError::OutputWidth { found: 0 })
        );
        assert_eq!(
            HashFunction::new(HashAlgorithm::Identity, 65),
            Err(HashFunctionError::OutputWidth { found: 65 })
        );
        assert_eq!(
            crc32(8).with_seed(Seed::Xor(0x100)),
            Err(HashFunctionError::SeedTooWide { value: 0x100, bits: 8 })
        );
        assert_eq!(
            crc32(8).with_seed(Seed::Prefix { value: 0, bits: 65 }),
            Err(HashFunctionError::PrefixWidth { found: 65 })
        );
    }
}
