//! The RTAG7 functions on a message of seven words.

/// Input of a function: seven words, each read from its lowest byte on. Word 6 holds the seed.
pub type Rtag7Message = [u32; 7];

/// Polynomials in reflected form (model: hashing §1.2).
const BISYNC: u32 = 0xa001;
const CCITT: u32 = 0x8408;
const CASTAGNOLI: u32 = 0x82f6_3b78;

/// A hash function of the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rtag7Function {
    /// CRC-16 of polynomial 8005.
    Bisync,
    /// High byte of [`Bisync`](Self::Bisync), low byte the parity of the message.
    Xor1,
    /// High byte of `Bisync`, low byte the message folded to 2 bits.
    Xor2,
    /// High byte of `Bisync`, low byte the message folded to 4 bits.
    Xor4,
    /// High byte of `Bisync`, low byte the message folded to 8 bits.
    Xor8,
    /// The message folded to 16 bits.
    Xor16,
    /// CRC-16 of polynomial 1021.
    Ccitt,
    /// Low half of the Castagnoli CRC-32.
    Crc32Lo,
    /// High half of the Castagnoli CRC-32.
    Crc32Hi,
}

impl Rtag7Function {
    /// All functions in the order of their selector codes.
    pub const ALL: [Self; 9] = [
        Self::Bisync,
        Self::Xor1,
        Self::Xor2,
        Self::Xor4,
        Self::Xor8,
        Self::Xor16,
        Self::Ccitt,
        Self::Crc32Lo,
        Self::Crc32Hi,
    ];

    /// The largest set whose low 3 bits are mutually independent: a guess at the six functions that the paper
    /// counts on its chips (model: hashing §1.1, tag `[I]`).
    pub const UNCORRELATED: [Self; 6] =
        [Self::Crc32Lo, Self::Ccitt, Self::Bisync, Self::Crc32Hi, Self::Xor16, Self::Xor8];

    /// Returns the selector code, 3..=11.
    pub const fn code(self) -> u8 {
        self as u8 + 3
    }

    /// Returns the function of a selector code; `None` for the reserved codes (0 to 2, and 12 and above), which output
    /// 0.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code.checked_sub(3)?)).copied()
    }

    /// Returns the name that users type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bisync => "bisync",
            Self::Xor1 => "crc16_xor1",
            Self::Xor2 => "crc16_xor2",
            Self::Xor4 => "crc16_xor4",
            Self::Xor8 => "crc16_xor8",
            Self::Xor16 => "xor16",
            Self::Ccitt => "ccitt",
            Self::Crc32Lo => "crc32_lo",
            Self::Crc32Hi => "crc32_hi",
        }
    }

    /// Returns the function of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|f| f.name() == name)
    }

    /// Returns the hash of a message, by definition: bit by bit, no tables.
    pub fn hash(self, message: &Rtag7Message) -> u16 {
        match self {
            Self::Bisync => crc16(BISYNC, message),
            Self::Xor1 => mixed(message, 1),
            Self::Xor2 => mixed(message, 2),
            Self::Xor4 => mixed(message, 4),
            Self::Xor8 => mixed(message, 8),
            Self::Xor16 => fold(message, 16),
            Self::Ccitt => crc16(CCITT, message),
            Self::Crc32Lo => crc(CASTAGNOLI, message).reverse_bits() as u16,
            Self::Crc32Hi => (crc(CASTAGNOLI, message).reverse_bits() >> 16) as u16,
        }
    }

    /// Returns the constant that a seed XORs onto every hash: the hash of the seed alone (model: hashing §2).
    pub fn seed_constant(self, seed: u32) -> u16 {
        self.hash(&[0, 0, 0, 0, 0, 0, seed])
    }
}

/// Returns the shift register after the message: start 0, lowest bit first, no final XOR.
fn crc(poly: u32, message: &Rtag7Message) -> u32 {
    let bytes = message.iter().flat_map(|word| word.to_le_bytes());
    bytes.fold(0, |register, byte| {
        (0..8).fold(register ^ u32::from(byte), |r, _| r >> 1 ^ if r & 1 == 1 { poly } else { 0 })
    })
}

/// Returns a 16-bit CRC: the register, bit-reversed.
fn crc16(poly: u32, message: &Rtag7Message) -> u16 {
    (crc(poly, message) as u16).reverse_bits()
}

/// Returns all words XORed and folded to `bits` bits, a power of two up to 16.
fn fold(message: &Rtag7Message, bits: u32) -> u16 {
    let mut sum = message.iter().fold(0, |sum, word| sum ^ word);
    let mut width = 32;
    while width > bits {
        width /= 2;
        sum = (sum >> width ^ sum) & ((1 << width) - 1);
    }
    sum as u16
}

/// High byte of the CRC, low byte the fold.
fn mixed(message: &Rtag7Message, bits: u32) -> u16 {
    crc16(BISYNC, message) & 0xff00 | fold(message, bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_name_one_function_each() {
        for (code, function) in (3..).zip(Rtag7Function::ALL) {
            assert_eq!((function.code(), Rtag7Function::from_code(code)), (code, Some(function)));
            assert_eq!(Rtag7Function::from_name(function.name()), Some(function));
        }
        for reserved in [0, 1, 2, 12, 255] {
            assert_eq!(Rtag7Function::from_code(reserved), None);
        }
    }
}
