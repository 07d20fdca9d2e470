//! Points in simulated time, and the durations between them.

use super::{Unit, UnitError, parse_scaled, print_decimal, serde_as_text};
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};
use std::str::FromStr;

const UNITS: &[Unit] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
const EXPECTED: &str = "a number with ps, ns, us, ms or s, for example `10us` or `1.5ms`";

/// A distance in time: whole picoseconds, at most about 213 days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

/// A point in time: whole picoseconds since the run's origin, at most about 213 days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest duration; arithmetic saturates here.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a duration of `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns a duration of `ns` nanoseconds; saturates at [`Duration::MAX`].
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// Returns a duration of `us` microseconds; saturates at [`Duration::MAX`].
    pub const fn from_micros(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// Returns a duration of `ms` milliseconds; saturates at [`Duration::MAX`].
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// Returns a duration of `s` seconds; saturates at [`Duration::MAX`].
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000_000))
    }

    /// Returns the number of picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the number of whole nanoseconds, rounded down.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns true for [`Duration::ZERO`].
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Returns the sum, or `None` beyond [`Duration::MAX`].
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// Returns the difference; `None` if `other` is longer.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Returns the difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns `self * factor`, or `None` beyond [`Duration::MAX`].
    pub fn checked_mul(self, factor: u64) -> Option<Self> {
        self.0.checked_mul(factor).map(Self)
    }
}

impl Time {
    /// The run's origin.
    pub const ORIGIN: Self = Self(0);
    /// The last representable point; arithmetic saturates here, so it also means "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the point `ps` picoseconds after the origin.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the point `ns` nanoseconds after the origin; saturates at [`Time::MAX`].
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// Picoseconds since the origin.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the whole nanoseconds since the origin, rounded down, as the chip's timestamps show (model: chip §9).
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the distance from the origin.
    pub const fn since_origin(self) -> Duration {
        Duration(self.0)
    }

    /// Returns the point `distance` later, or `None` beyond [`Time::MAX`].
    pub fn checked_add(self, distance: Duration) -> Option<Self> {
        self.0.checked_add(distance.0).map(Self)
    }

    /// Returns the distance from `earlier` to `self`, or `None` if `earlier` is later.
    pub fn checked_since(self, earlier: Self) -> Option<Duration> {
        self.0.checked_sub(earlier.0).map(Duration)
    }

    /// Returns the distance from `earlier` to `self`, or zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Returns the point `distance` earlier, or the origin if that point would be before it.
    pub const fn saturating_sub(self, distance: Duration) -> Self {
        Self(self.0.saturating_sub(distance.0))
    }
}

/// Saturates at [`Time::MAX`]; use [`Time::checked_add`] where the end of time must be noticed.
impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, distance: Duration) -> Self {
        Self(self.0.saturating_add(distance.0))
    }
}

/// Saturates at [`Time::MAX`].
impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, distance: Duration) {
        *self = *self + distance;
    }
}

/// Saturates at [`Duration::MAX`].
impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// Saturates at [`Duration::MAX`].
impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// Saturates at [`Duration::ZERO`].
impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}

/// Saturates at [`Duration::MAX`].
impl Mul<u64> for Duration {
    type Output = Self;
    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl std::iter::Sum for Duration {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::ZERO, |total, part| total + part)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_decimal(f, self.0, UNITS)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_decimal(f, self.0, UNITS)
    }
}

impl FromStr for Duration {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(text, "duration", EXPECTED, "picoseconds", UNITS).map(Self)
    }
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(text, "time", EXPECTED, "picoseconds", UNITS).map(Self)
    }
}

serde_as_text!(Duration, "a duration such as \"10us\"");
serde_as_text!(Time, "a time since the origin such as \"10us\"");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts() {
        assert_eq!("10us".parse(), Ok(Duration::from_micros(10)));
        assert_eq!("1.5ms".parse(), Ok(Duration::from_micros(1500)));
        assert_eq!("300ns".parse(), Ok(Duration::from_nanos(300)));
        assert_eq!("819.672ns".parse(), Ok(Duration::from_ps(819_672)));
        assert!("0.5ps".parse::<Duration>().is_err());
        assert!("12".parse::<Time>().is_err());
        assert_eq!(Duration::from_ps(1_500_000).to_string(), "1.5us");
        assert_eq!(Duration::ZERO.to_string(), "0ps");
        assert_eq!(Time::from_ps(1_000_000_000_001).to_string(), "1.000000000001s");
    }

    #[test]
    fn arithmetic_stops_at_the_ends() {
        assert_eq!(Time::MAX + Duration::from_ps(1), Time::MAX);
        assert_eq!(Time::MAX.checked_add(Duration::from_ps(1)), None);
        assert_eq!(Time::ORIGIN.saturating_since(Time::from_ps(5)), Duration::ZERO);
        assert_eq!(Time::ORIGIN.checked_since(Time::from_ps(5)), None);
        assert_eq!(Duration::from_ps(3) - Duration::from_ps(5), Duration::ZERO);
    }

    proptest! {
        #[test]
        fn print_then_parse_is_identity(ps: u64) {
            prop_assert_eq!(Duration::from_ps(ps).to_string().parse(), Ok(Duration::from_ps(ps)));
            prop_assert_eq!(Time::from_ps(ps).to_string().parse(), Ok(Time::from_ps(ps)));
        }
    }
}
