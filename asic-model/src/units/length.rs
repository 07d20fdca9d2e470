//! Cable lengths, and the time and bytes in flight along them.

use super::{BitRate, Bytes, Duration, Unit, UnitError, parse_scaled, print_decimal, serde_as_text};
use std::fmt;
use std::str::FromStr;

/// Millimetres that a signal travels in a second: 1.98e8 m/s, in fibre as in copper (model: buffer §1.10).
const MM_PER_SECOND: u64 = 198_000_000_000;

const UNITS: &[Unit] = &[("mm", 1), ("m", 1_000), ("km", 1_000_000)];

/// A length in millimetres.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Length(u64);

impl Length {
    /// Returns a length of whole metres; saturates.
    pub const fn from_metres(metres: u64) -> Self {
        Self(metres.saturating_mul(1_000))
    }

    /// Returns the number of millimetres.
    pub const fn as_millimetres(self) -> u64 {
        self.0
    }

    /// Returns the signal's one-way delay, rounded up to a picosecond: 5.05 ns per metre.
    pub fn delay(self) -> Duration {
        let ps = (u128::from(self.0) * 1_000_000_000_000).div_ceil(u128::from(MM_PER_SECOND));
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the bytes that are on a cable of this length and back at `rate`: `2 * length * rate / v`, rounded up.
    pub fn round_trip_bytes(self, rate: BitRate) -> Bytes {
        let bits = 2 * u128::from(self.0) * u128::from(rate.as_bps());
        let bytes = bits.div_ceil(8 * u128::from(MM_PER_SECOND));
        Bytes(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_decimal(f, self.0, UNITS)
    }
}

impl FromStr for Length {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXPECTED: &str = "a number with m, km or mm, for example `300m` or `40km`";
        parse_scaled(text, "length", EXPECTED, "millimetres", UNITS).map(Self)
    }
}

serde_as_text!(Length, "a length such as \"300m\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_round_trip() {
        for text in ["5m", "40km", "300m", "1.5m", "7mm"] {
            let length: Length = text.parse().unwrap();
            assert_eq!(length.to_string().parse(), Ok(length), "{text}");
        }
        assert!("300".parse::<Length>().is_err());
    }

    /// Model: buffer §1.10, wire-only terms (`docs/model/buffer.md` rounds to the nearest byte).
    #[test]
    fn the_wire_term() {
        let rows: [(u64, [(u64, u64); 4]); 5] = [
            (5, [(25, 158), (40, 253), (100, 631), (400, 2_525)]),
            (40, [(25, 1_263), (40, 2_020), (100, 5_051), (400, 20_202)]),
            (300, [(25, 9_470), (40, 15_152), (100, 37_879), (400, 151_515)]),
            (2_000, [(25, 63_131), (40, 101_010), (100, 252_525), (400, 1_010_101)]),
            (40_000, [(25, 1_262_626), (40, 2_020_202), (100, 5_050_505), (400, 20_202_020)]),
        ];
        for (metres, row) in rows {
            for (gbps, bytes) in row {
                let found = Length::from_metres(metres).round_trip_bytes(BitRate::from_gbps(gbps)).get();
                assert!(found.abs_diff(bytes) <= 1, "{metres} m at {gbps}G: {found}, {bytes}");
            }
        }
        assert_eq!(Length::from_metres(300).delay(), Duration::from_ps(1_515_152));
    }
}
