//! Counts: clock cycles, bytes, buffer cells.

use super::{Unit, UnitError, parse_scaled, serde_as_text};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// An absolute cycle number of a clock, or a number of its cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cycles(pub u64);

/// A number of bytes. In text, `KB`, `MB`, `GB` are powers of 1000 and `KiB`, `MiB`, `GiB` powers of 1024.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of packet-buffer cells; their size is the chip's (model: tm §1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cells(pub u32);

impl Cycles {
    /// No cycles; as a number, the clock's first edge.
    pub const ZERO: Self = Self(0);
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// Returns the cells of `cell_size` bytes that hold these bytes, rounded up; `None` if the cell size is zero or the
    /// count exceeds [`Cells`] (model: tm §1: `ceil(bytes / cell)`).
    pub fn cells(self, cell_size: Bytes) -> Option<Cells> {
        if cell_size.0 == 0 {
            return None;
        }
        u32::try_from(self.0.div_ceil(cell_size.0)).ok().map(Cells)
    }
}

impl Cells {
    /// No cells.
    pub const ZERO: Self = Self(0);

    /// Returns the bytes that these cells occupy.
    pub const fn bytes(self, cell_size: Bytes) -> Bytes {
        Bytes((self.0 as u64).saturating_mul(cell_size.0))
    }
}

/// Saturating and checked arithmetic, alike for the three counts.
macro_rules! count {
    ($name:ident, $int:ty) => {
        impl $name {
            /// Returns the bare number.
            pub const fn get(self) -> $int {
                self.0
            }

            /// Returns the sum, or `None` if it cannot be held.
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0.checked_add(other.0).map(Self)
            }

            /// Returns the difference; `None` if `other` is larger.
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }

            /// Returns the difference, or zero if `other` is larger.
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        /// Saturates at the largest value.
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        /// Saturates at the largest value.
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        /// Saturates at zero.
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
        }

        impl std::iter::Sum for $name {
            fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
                parts.fold(Self(0), |total, part| total + part)
            }
        }
    };
}
count!(Cycles, u64);
count!(Bytes, u64);
count!(Cells, u32);

const BYTE_UNITS: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} cycles", self.0))
    }
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} cells", self.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only whole multiples of a larger unit use it: 9216 B reads better than 9.216 KB.
        let whole = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
        let unit = whole.into_iter().find(|(scale, _)| self.0 >= *scale && self.0.is_multiple_of(*scale));
        let (scale, name) = unit.unwrap_or((1, "B"));
        f.pad(&format!("{}{name}", self.0 / scale))
    }
}

impl FromStr for Cycles {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let units = &[("cycles", 1), ("cycle", 1), ("", 1)];
        parse_scaled(text, "number of cycles", "a whole number, for example `244 cycles`", "cycles", units)
            .map(Self)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXPECTED: &str =
            "a number with B, KB, MB, GB (1000) or KiB, MiB, GiB (1024), for example `64B`";
        parse_scaled(text, "number of bytes", EXPECTED, "bytes", BYTE_UNITS).map(Self)
    }
}

impl FromStr for Cells {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const WHAT: &str = "number of cells";
        const EXPECTED: &str = "a whole number below 2^32, for example `1024 cells`";
        let units = &[("cells", 1), ("cell", 1), ("", 1)];
        let cells = parse_scaled(text, WHAT, EXPECTED, "cells", units)?;
        let kind = super::UnitErrorKind::TooLarge;
        u32::try_from(cells).map(Self).map_err(|_| UnitError {
            text: text.to_owned(),
            what: WHAT,
            expected: EXPECTED,
            kind,
        })
    }
}

serde_as_text!(Cycles, "a number of cycles such as \"244 cycles\"");
serde_as_text!(Bytes, "a number of bytes such as \"64B\"");
serde_as_text!(Cells, "a number of cells such as \"1024 cells\"");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts() {
        assert_eq!("64B".parse(), Ok(Bytes(64)));
        assert_eq!("9KB".parse(), Ok(Bytes(9_000)));
        assert_eq!("9KiB".parse(), Ok(Bytes(9_216)));
        assert_eq!("1.5 KB".parse(), Ok(Bytes(1_500)));
        assert_eq!(Bytes(9_216).to_string(), "9216B");
        assert_eq!(
            "4294967296 cells".parse::<Cells>().unwrap_err().kind,
            crate::units::UnitErrorKind::TooLarge
        );
        assert_eq!("12".parse(), Ok(Cycles(12)));
    }

    #[test]
    fn cells_round_up() {
        assert_eq!(Bytes(0).cells(Bytes(176)), Some(Cells(0)));
        assert_eq!(Bytes(176).cells(Bytes(176)), Some(Cells(1)));
        assert_eq!(Bytes(177).cells(Bytes(176)), Some(Cells(2)));
        assert_eq!(Bytes(177).cells(Bytes(0)), None);
        assert_eq!(Bytes(u64::MAX).cells(Bytes(80)), None);
        assert_eq!(Cells(2).bytes(Bytes(80)), Bytes(160));
    }

    proptest! {
        #[test]
        fn print_then_parse_is_identity(n: u64, cells: u32) {
            prop_assert_eq!(Bytes(n).to_string().parse(), Ok(Bytes(n)));
            prop_assert_eq!(Cycles(n).to_string().parse(), Ok(Cycles(n)));
            prop_assert_eq!(Cells(cells).to_string().parse(), Ok(Cells(cells)));
        }
    }
}
