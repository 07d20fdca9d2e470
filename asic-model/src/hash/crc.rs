//! Cyclic redundancy checks of any width from 8 to 64 bits: the checked parameters, and the bit-by-bit definition.

use thiserror::Error;

use super::BitString;

/// The parameters of a CRC in the usual catalogue form (the Rocksoft model): width, polynomial without its
/// top term, one reflection flag for input bytes and output, the register's start value in unreflected form,
/// and a value XORed onto the result.
///
/// Assumption (model: chip §11.2, note below the table): `init` is always unreflected, as in the catalogue and
/// in the vendor's matrix generator; of the named CRCs it differs from a raw register preload for
/// `crc_16_riello` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrcParams {
    width: u8,
    reflect: bool,
    poly: u64,
    init: u64,
    xor_out: u64,
}

/// Reason for which the chip cannot compute a CRC with these parameters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CrcError {
    /// The width is outside 8..=64.
    #[error("CRC width is {found} bits; the chip computes 8 to 64")]
    Width {
        /// Width of the parameters.
        found: u32,
    },
    /// The polynomial has no constant term.
    #[error(
        "CRC polynomial {found:#x} is even; its lowest bit (the constant term) must be 1, the top term is left out"
    )]
    EvenPolynomial {
        /// Polynomial of the parameters.
        found: u64,
    },
    /// A parameter has bits above the width.
    #[error("CRC {parameter} {found:#x} does not fit {width} bits")]
    TooWide {
        /// `polynomial`, `initial value` or `final XOR`.
        parameter: &'static str,
        /// Value of the parameter.
        found: u64,
        /// The CRC's width in bits.
        width: u32,
    },
}

impl CrcParams {
    /// Checked parameters; `poly` without its top term.
    ///
    /// # Errors
    /// Fails if the width is outside 8..=64, the polynomial is even, or a value has bits above the width.
    pub const fn new(
        width: u32,
        poly: u64,
        reflect: bool,
        init: u64,
        xor_out: u64,
    ) -> Result<Self, CrcError> {
        if width < 8 || width > 64 {
            return Err(CrcError::Width { found: width });
        }
        if poly & 1 == 0 {
            return Err(CrcError::EvenPolynomial { found: poly });
        }
        let mask = u64::MAX >> (64 - width);
        if poly > mask {
            return Err(CrcError::TooWide { parameter: "polynomial", found: poly, width });
        }
        if init > mask {
            return Err(CrcError::TooWide { parameter: "initial value", found: init, width });
        }
        if xor_out > mask {
            return Err(CrcError::TooWide { parameter: "final XOR", found: xor_out, width });
        }
        Ok(Self::known(width as u8, poly, reflect, init, xor_out))
    }

    /// Parameters of the built-in list, which a test passes through [`CrcParams::new`].
    pub(super) const fn known(width: u8, poly: u64, reflect: bool, init: u64, xor_out: u64) -> Self {
        Self { width, reflect, poly, init, xor_out }
    }

    /// Returns the width of register and result in bits, 8..=64.
    pub const fn width(&self) -> u32 {
        self.width as u32
    }

    /// Returns the polynomial without its top term.
    pub const fn poly(&self) -> u64 {
        self.poly
    }

    /// Returns true if each input byte and the result are bit-reversed.
    pub const fn reflect(&self) -> bool {
        self.reflect
    }

    /// Returns the register's start value, unreflected.
    pub const fn init(&self) -> u64 {
        self.init
    }

    /// Returns the value XORed onto the result.
    pub const fn xor_out(&self) -> u64 {
        self.xor_out
    }

    /// Returns the CRC of `input`, extended in front with zero bits to a whole byte.
    pub(super) fn compute(&self, input: &BitString) -> u64 {
        let padding = (8 - input.len() % 8) % 8;
        let padded: Vec<bool> = std::iter::repeat_n(false, padding).chain(input.iter()).collect();
        let mask = u64::MAX >> (64 - self.width());
        let mut register = self.init;
        for byte in padded.chunks(8) {
            for step in 0..8 {
                let bit = byte[if self.reflect { 7 - step } else { step }];
                let feedback = (register >> (self.width() - 1) & 1 == 1) != bit;
                register = register << 1 & mask;
                if feedback {
                    register ^= self.poly;
                }
            }
        }
        if self.reflect {
            register = register.reverse_bits() >> (64 - self.width());
        }
        register ^ self.xor_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_parameters_are_named() {
        assert_eq!(CrcParams::new(7, 0x09, false, 0, 0), Err(CrcError::Width { found: 7 }));
        assert_eq!(CrcParams::new(65, 1, false, 0, 0), Err(CrcError::Width { found: 65 }));
        assert_eq!(CrcParams::new(16, 0x8004, false, 0, 0), Err(CrcError::EvenPolynomial { found: 0x8004 }));
        for (poly, init, xor_out, parameter) in
            [(0x101, 0, 0, "polynomial"), (7, 0x100, 0, "initial value"), (7, 0, 0x100, "final XOR")]
        {
            let error = CrcParams::new(8, poly, true, init, xor_out).unwrap_err();
            assert!(
                matches!(error, CrcError::TooWide { parameter: p, width: 8, .. } if p == parameter),
                "{error}"
            );
        }
    }

    #[test]
    fn a_short_string_is_a_byte_with_zeros_in_front() {
        let crc = CrcParams::new(16, 0x8005, true, 0xffff, 0).unwrap();
        let mut short = BitString::new();
        short.push(0b1_0110, 5);
        assert_eq!(crc.compute(&short), crc.compute(&BitString::from_bytes(&[0b1_0110])));
        short.push(0xabcd, 16);
        assert_eq!(crc.compute(&short), crc.compute(&BitString::from_bytes(&[0b1_0110, 0xab, 0xcd])));
    }
}
