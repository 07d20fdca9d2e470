//! [`CaptureTime`]: the stamp of a captured frame. Scales of single files live in the interface table.

use std::fmt;

const PS_PER_NS: u128 = 1_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// A frame's stamp, in picoseconds since 1970-01-01 00:00:00 UTC.
///
/// It marks the first bit of the frame on the wire. The range covers every stamp that pcap and pcapng can
/// express from the epoch on; finer stamps are rounded down to a picosecond.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureTime(u128);

impl CaptureTime {
    /// The Unix epoch.
    pub const EPOCH: Self = Self(0);

    /// A stamp from picoseconds since the epoch.
    pub const fn from_ps(ps: u128) -> Self {
        Self(ps)
    }

    /// A stamp from nanoseconds since the epoch.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns as u128 * PS_PER_NS)
    }

    /// A stamp from whole seconds since the epoch.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds as u128 * PS_PER_S)
    }

    /// Picoseconds since the epoch.
    pub const fn as_ps(self) -> u128 {
        self.0
    }

    /// Nanoseconds since the epoch, rounded down.
    pub const fn as_ns(self) -> u128 {
        self.0 / PS_PER_NS
    }

    /// Picoseconds from `earlier` to `self`; `None` if `earlier` is later or the span passes `u64` (213 days).
    pub fn ps_since(self, earlier: Self) -> Option<u64> {
        self.0.checked_sub(earlier.0).and_then(|ps| u64::try_from(ps).ok())
    }

    /// The stamp `ps` picoseconds later; `None` past the end of the range.
    pub fn checked_add_ps(self, ps: u64) -> Option<Self> {
        self.0.checked_add(u128::from(ps)).map(Self)
    }
}

/// Seconds with twelve decimals, as Wireshark prints an epoch time.
impl fmt::Display for CaptureTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:012}", self.0 / PS_PER_S, self.0 % PS_PER_S)
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
    }

    #[test]
    fn prints_every_digit() {
        assert_eq!(CaptureTime::from_ps(1_000_000_000_042).to_string(), "1.000000000042");
    }
}
