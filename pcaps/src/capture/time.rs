//! [`CaptureTime`]: timestamp of a captured frame. The interface table holds the tick length of each file.

use std::fmt;

const PS_PER_NS: u64 = 1_000;
const NS_PER_S: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// A frame's timestamp, in picoseconds since 1970-01-01 00:00:00 UTC.
///
/// It marks the first bit of the frame on the wire. The range is 2^64 seconds; finer timestamps are rounded down to
/// a picosecond.
// Whole seconds are stored separately, so that no packet needs a division of 128-bit numbers.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureTime {
    seconds: u64,
    /// Less than a second.
    ps: u64,
}

impl CaptureTime {
    /// The Unix epoch.
    pub const EPOCH: Self = Self { seconds: 0, ps: 0 };

    /// The last timestamp of the range.
    pub const MAX: Self = Self { seconds: u64::MAX, ps: PS_PER_S - 1 };

    /// Converts picoseconds since the epoch; a value out of range becomes the largest timestamp.
    pub const fn from_ps(ps: u128) -> Self {
        let seconds = ps / PS_PER_S as u128;
        if seconds > u64::MAX as u128 {
            return Self::MAX;
        }
        Self { seconds: seconds as u64, ps: (ps % PS_PER_S as u128) as u64 }
    }

    /// Returns a timestamp from nanoseconds since the epoch.
    pub const fn from_ns(ns: u64) -> Self {
        Self { seconds: ns / NS_PER_S, ps: ns % NS_PER_S * PS_PER_NS }
    }

    /// Returns a timestamp from whole seconds since the epoch.
    pub const fn from_secs(seconds: u64) -> Self {
        Self { seconds, ps: 0 }
    }

    /// Returns a timestamp from seconds and less than a second of picoseconds.
    pub(super) const fn from_parts(seconds: u64, ps: u64) -> Self {
        debug_assert!(ps < PS_PER_S);
        Self { seconds, ps }
    }

    /// Returns picoseconds since the epoch.
    pub const fn as_ps(self) -> u128 {
        self.seconds as u128 * PS_PER_S as u128 + self.ps as u128
    }

    /// Returns nanoseconds since the epoch, rounded down.
    pub const fn as_ns(self) -> u128 {
        self.seconds as u128 * NS_PER_S as u128 + (self.ps / PS_PER_NS) as u128
    }

    /// Returns whole seconds since the epoch and the remaining nanoseconds, rounded down.
    pub const fn as_secs_and_ns(self) -> (u64, u32) {
        (self.seconds, (self.ps / PS_PER_NS) as u32)
    }

    /// Returns the picoseconds from `earlier` to `self`; `None` if `earlier` is later or the span exceeds `u64` (213
    /// days).
    #[inline]
    pub fn ps_since(self, earlier: Self) -> Option<u64> {
        let seconds = self.seconds.checked_sub(earlier.seconds)?.checked_mul(PS_PER_S)?;
        if self.ps >= earlier.ps {
            seconds.checked_add(self.ps - earlier.ps)
        } else {
            seconds.checked_sub(earlier.ps - self.ps)
        }
    }

    /// Returns the timestamp `ps` picoseconds later; `None` past the end of the range.
    #[inline]
    pub fn checked_add_ps(self, ps: u64) -> Option<Self> {
        let (mut seconds, mut rest) = (ps / PS_PER_S, self.ps + ps % PS_PER_S);
        if rest >= PS_PER_S {
            seconds += 1;
            rest -= PS_PER_S;
        }
        Some(Self { seconds: self.seconds.checked_add(seconds)?, ps: rest })
    }

    /// Returns the timestamp `seconds` later, or earlier if negative; `None` outside the range.
    pub(super) fn checked_add_secs(self, seconds: i64) -> Option<Self> {
        self.seconds.checked_add_signed(seconds).map(|seconds| Self { seconds, ..self })
    }
}

/// Seconds with twelve decimals, as Wireshark prints an epoch time.
impl fmt::Display for CaptureTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012}", self.seconds, self.ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_round_down() {
        assert_eq!(CaptureTime::from_ps(1_999).as_ns(), 1);
        assert_eq!(CaptureTime::from_ns(7).as_ps(), 7_000);
    }

    #[test]
    fn spans_are_exact_or_absent() {
        let early = CaptureTime::from_secs(1_700_000_000);
        let late = early.checked_add_ps(30_480).unwrap();
        assert_eq!(late.ps_since(early), Some(30_480));
        assert_eq!(early.ps_since(late), None);
        assert_eq!(early.ps_since(CaptureTime::EPOCH), None);
        let carried = CaptureTime::from_ps(1_999_999_999_999).checked_add_ps(2).unwrap();
        assert_eq!(carried.as_ps(), 2_000_000_000_001);
        assert_eq!(carried.ps_since(CaptureTime::from_ps(1_999_999_999_999)), Some(2));
        assert_eq!(CaptureTime::from_secs(u64::MAX).checked_add_ps(1_000_000_000_000), None);
        assert_eq!(CaptureTime::from_ps(u128::MAX), CaptureTime::MAX);
    }

    #[test]
    fn prints_every_digit() {
        assert_eq!(CaptureTime::from_ps(1_000_000_000_042).to_string(), "1.000000000042");
    }
}
