//! Division of RAM words into register elements: widths, single elements and pairs.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One of the two halves of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// The lower bits; of a single element all of it.
    Lo,
    /// The upper bits; only pairs and 128-bit elements have them.
    Hi,
}

impl Half {
    /// Returns the vendor assembler's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lo => "lo",
            Self::Hi => "hi",
        }
    }
}

/// The format of a register's elements (model: chip §4.1, §4.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format {
    bits: u8,
    pair: bool,
}

/// No chip has elements of this format.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no register format `{0}`: elements have 1, 8, 16, 32, 64 or 128 bits, or are pairs such as `32x2`")]
pub struct FormatError(String);

impl Format {
    /// Single bits, 128 per RAM word.
    pub const BIT: Self = Self { bits: 1, pair: false };

    /// Creates the format of a single element of 1, 8, 16, 32, 64 or 128 bits.
    ///
    /// # Errors
    /// Fails for any other width.
    pub fn single(bits: u32) -> Result<Self, FormatError> {
        match bits {
            1 | 8 | 16 | 32 | 64 | 128 => Ok(Self { bits: bits as u8, pair: false }),
            _ => Err(FormatError(bits.to_string())),
        }
    }

    /// Creates the format of a pair of elements of 8, 16, 32 or 64 bits each.
    ///
    /// # Errors
    /// Fails for any other width.
    pub fn pair(bits: u32) -> Result<Self, FormatError> {
        match bits {
            8 | 16 | 32 | 64 => Ok(Self { bits: bits as u8, pair: true }),
            _ => Err(FormatError(format!("{bits}x2"))),
        }
    }

    /// Returns true for pairs.
    pub const fn is_pair(self) -> bool {
        self.pair
    }

    /// Returns the bits of the element, for a pair of both halves. The geometry of the array depends on them.
    pub const fn element_bits(self) -> u32 {
        if self.pair { 2 * self.bits as u32 } else { self.bits as u32 }
    }

    /// Returns true if the element has an upper half: pairs, and 128-bit elements, which the ALU handles as halves of
    /// 64 bits (model: chip §4.1).
    pub const fn has_hi(self) -> bool {
        self.pair || self.bits == 128
    }

    /// Returns the bits of a half.
    pub const fn half_bits(self) -> u32 {
        if self.bits == 128 { 64 } else { self.bits as u32 }
    }

    /// Returns the bits on which comparators and update ALUs compute: at most 32. The upper 32 bits of a wider half
    /// only pass through an ALU (model: chip §4.2; behavioural model).
    pub const fn math_bits(self) -> u32 {
        if self.half_bits() > 32 { 32 } else { self.half_bits() }
    }

    /// Returns the bits of a half, set.
    pub const fn half_mask(self) -> u64 {
        u64::MAX >> (64 - self.half_bits())
    }

    /// Returns the bits on which the ALUs compute, set.
    pub const fn math_mask(self) -> u32 {
        u32::MAX >> (32 - self.math_bits())
    }
}

/// `32` or `32x2`.
impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&if self.pair { format!("{}x2", self.bits) } else { self.bits.to_string() })
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let fail = || FormatError(text.to_owned());
        match text.strip_suffix("x2") {
            Some(bits) => Self::pair(bits.parse().map_err(|_| fail())?).map_err(|_| fail()),
            None => Self::single(text.parse().map_err(|_| fail())?).map_err(|_| fail()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_halves() {
        let rows: [(&str, u32, u32, u32, bool); 10] = [
            ("1", 1, 1, 1, false),
            ("8", 8, 8, 8, false),
            ("16", 16, 16, 16, false),
            ("32", 32, 32, 32, false),
            ("64", 64, 64, 32, false),
            ("128", 128, 64, 32, true),
            ("8x2", 16, 8, 8, true),
            ("16x2", 32, 16, 16, true),
            ("32x2", 64, 32, 32, true),
            ("64x2", 128, 64, 32, true),
        ];
        for (text, element, half, math, hi) in rows {
            let format: Format = text.parse().unwrap();
            assert_eq!(format.to_string(), text);
            assert_eq!(
                (format.element_bits(), format.half_bits(), format.math_bits()),
                (element, half, math)
            );
            assert_eq!(format.has_hi(), hi, "{text}");
        }
        for text in ["0", "4", "24", "1x2", "128x2", "32x3", "", "x2"] {
            assert!(text.parse::<Format>().is_err(), "{text}");
        }
    }
}
