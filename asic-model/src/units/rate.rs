//! Bit rates, and the time that bytes take at them.

use super::{Bytes, Duration, Unit, UnitError, parse_scaled, print_decimal, serde_as_text};
use std::fmt;
use std::str::FromStr;

/// Picoseconds that one byte takes at 1 bit/s.
const PS_PER_BYTE_AT_1_BPS: u64 = 8_000_000_000_000;

/// A bit rate in bits per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// Returns a rate of `bps` bits per second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }

    /// Returns a rate of `gbps` times 10^9 bits per second; saturates.
    pub const fn from_gbps(gbps: u64) -> Self {
        Self(gbps.saturating_mul(1_000_000_000))
    }

    /// Returns the number of bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the time that `bytes` take at this rate: exact if it is a whole number of picoseconds (100 Gb/s: 80 ps
    /// per byte, 400 Gb/s: 20 ps), else rounded up to the next picosecond of the whole.
    ///
    /// No bytes take no time; otherwise rate zero, like any time beyond it, gives [`Duration::MAX`].
    pub fn time_for(self, bytes: Bytes) -> Duration {
        if bytes.0 == 0 {
            return Duration::ZERO;
        }
        if self.0 == 0 {
            return Duration::MAX;
        }
        // A u64 division is several times cheaper than a u128 one and covers any packet.
        if let Some(scaled) = bytes.0.checked_mul(PS_PER_BYTE_AT_1_BPS) {
            return Duration::from_ps(scaled.div_ceil(self.0));
        }
        let scaled = u128::from(bytes.0) * u128::from(PS_PER_BYTE_AT_1_BPS);
        let ps = scaled.div_ceil(u128::from(self.0));
        Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Picoseconds per byte, if that is a whole number.
    pub fn ps_per_byte(self) -> Option<u64> {
        (self.0 != 0 && PS_PER_BYTE_AT_1_BPS.is_multiple_of(self.0)).then(|| PS_PER_BYTE_AT_1_BPS / self.0)
    }

    /// Returns the whole bytes that this rate moves within `duration`, rounded down; saturates.
    pub fn bytes_in(self, duration: Duration) -> Bytes {
        let bits_ps = u128::from(self.0) * u128::from(duration.as_ps());
        Bytes(u64::try_from(bits_ps / u128::from(PS_PER_BYTE_AT_1_BPS)).unwrap_or(u64::MAX))
    }
}

/// Unit names; the first of each size is the one that is printed.
const UNITS: &[Unit] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("bit/s", 1),
    ("b/s", 1),
    ("K", 1_000),
    ("k", 1_000),
    ("kbps", 1_000),
    ("Kbit/s", 1_000),
    ("kbit/s", 1_000),
    ("Kb/s", 1_000),
    ("kb/s", 1_000),
    ("M", 1_000_000),
    ("Mbit/s", 1_000_000),
    ("Mb/s", 1_000_000),
    ("G", 1_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Gb/s", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
    ("Tb/s", 1_000_000_000_000),
];
/// Number of entries of [`UNITS`] that are used for printing.
const PRINTED: usize = 5;

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_decimal(f, self.0, &UNITS[..PRINTED])
    }
}

impl FromStr for BitRate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const EXPECTED: &str =
            "a number with bps, K, M, G or T, for example `100G`, `400Gbps` or `25 Gbit/s`";
        parse_scaled(text, "bit rate", EXPECTED, "bits per second", UNITS).map(Self)
    }
}

serde_as_text!(BitRate, "a bit rate such as \"100G\"");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts() {
        assert_eq!("100G".parse(), Ok(BitRate::from_gbps(100)));
        assert_eq!("400Gbps".parse(), Ok(BitRate::from_gbps(400)));
        assert_eq!("25 Gbit/s".parse(), Ok(BitRate::from_gbps(25)));
        assert_eq!("2.5G".parse(), Ok(BitRate::from_bps(2_500_000_000)));
        assert!("100".parse::<BitRate>().is_err());
        assert!("1GB/s".parse::<BitRate>().is_err());
        assert_eq!(BitRate::from_gbps(400).to_string(), "400Gbps");
        assert_eq!(BitRate::from_bps(0).to_string(), "0bps");
    }

    #[test]
    fn byte_times_of_the_usual_ports() {
        assert_eq!(BitRate::from_gbps(100).ps_per_byte(), Some(80));
        assert_eq!(BitRate::from_gbps(400).ps_per_byte(), Some(20));
        assert_eq!(BitRate::from_gbps(400).time_for(Bytes(84)), Duration::from_ps(1680));
        // 8e12 / 3e9 = 2666.67 ps: one byte rounds up, three bytes are exact.
        assert_eq!(BitRate::from_gbps(3).time_for(Bytes(1)), Duration::from_ps(2667));
        assert_eq!(BitRate::from_gbps(3).time_for(Bytes(3)), Duration::from_ps(8000));
        assert_eq!(BitRate::from_bps(0).time_for(Bytes(1)), Duration::MAX);
        assert_eq!(BitRate::from_bps(0).time_for(Bytes(0)), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn print_then_parse_is_identity(bps: u64) {
            prop_assert_eq!(BitRate::from_bps(bps).to_string().parse(), Ok(BitRate::from_bps(bps)));
        }

        #[test]
        fn time_is_the_least_that_moves_the_bytes(bps in 1..u64::MAX, bytes in 1..1_u64 << 40) {
            let time = BitRate::from_bps(bps).time_for(Bytes(bytes));
            prop_assume!(time < Duration::MAX);
            prop_assert!(BitRate::from_bps(bps).bytes_in(time) >= Bytes(bytes));
            let earlier = time - Duration::from_ps(1);
            prop_assert!(BitRate::from_bps(bps).bytes_in(earlier) < Bytes(bytes));
        }
    }
}
