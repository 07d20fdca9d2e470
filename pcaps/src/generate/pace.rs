//! Start times of frames: at a fixed spacing, at a number of frames per second, or back to back at a bit rate.

use crate::capture::CaptureTime;
use crate::wire::ethernet;

const PS_PER_S: u64 = 1_000_000_000_000;

/// Rule for the distance of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Fixed time between the starts of frames, independent of their length.
    Spacing {
        /// Picoseconds from start to start; 0 starts all at once.
        ps: u64,
    },
    /// Fixed number of frames per second, independent of their length.
    Packets {
        /// Frames per second, at least 1.
        per_second: u64,
    },
    /// Each frame starts when the previous one has left a link of this rate, including padding to 60 B, 4 B of FCS and
    /// 20 B of preamble and gap.
    BackToBack {
        /// Rate of the link in bit/s, at least 1.
        bits_per_second: u64,
    },
}

impl Pace {
    /// Returns the units of a frame of `len` bytes without FCS: one, or its bytes on the wire.
    #[inline]
    pub(super) const fn units(self, len: u32) -> u64 {
        match self {
            Self::Spacing { .. } | Self::Packets { .. } => 1,
            Self::BackToBack { .. } => ethernet::wire_len(len),
        }
    }

    /// Returns the picoseconds per unit, as a fraction.
    pub(super) const fn ps_per_unit(self) -> (u64, u64) {
        match self {
            Self::Spacing { ps } => (ps, 1),
            Self::Packets { per_second } => (PS_PER_S, if per_second == 0 { 1 } else { per_second }),
            Self::BackToBack { bits_per_second } => {
                (8 * PS_PER_S, if bits_per_second == 0 { 1 } else { bits_per_second })
            }
        }
    }

    /// Returns the time from this frame's start to the next one's, rounded down to a picosecond.
    pub(super) fn gap(self, len: u32) -> u128 {
        let (ps, per) = self.ps_per_unit();
        u128::from(self.units(len)) * u128::from(ps) / u128::from(per)
    }
}

/// An exact sum of fractions of a picosecond.
#[derive(Debug, Clone)]
pub(super) struct Elapsed {
    ps: u128,
    rest: u128,
    numerator: u128,
    denominator: u128,
}

impl Elapsed {
    /// Returns a time of zero, in steps of `numerator / denominator` picoseconds; the denominator is not 0.
    pub(super) fn new((numerator, denominator): (u64, u64), scale: u32) -> Self {
        let (numerator, denominator) = (numerator.into(), u128::from(denominator) << scale);
        Self { ps: 0, rest: 0, numerator, denominator }
    }

    /// Adds `steps`. The product of steps and numerator must be below 2^127.
    #[inline]
    pub(super) fn advance(&mut self, steps: impl Into<u128>) {
        let sum = steps.into() * self.numerator + self.rest;
        // A division of 64 bits is several times cheaper and covers most cases.
        if let (Ok(sum), Ok(denominator)) = (u64::try_from(sum), u64::try_from(self.denominator)) {
            self.ps += u128::from(sum / denominator);
            self.rest = u128::from(sum % denominator);
        } else {
            self.ps += sum / self.denominator;
            self.rest = sum % self.denominator;
        }
    }

    /// Advances to `ps`, if that is later.
    pub(super) fn at_least(&mut self, ps: u128) {
        if ps > self.ps {
            (self.ps, self.rest) = (ps, 0);
        }
    }

    /// Returns whole picoseconds, rounded down.
    #[inline]
    pub(super) const fn ps(&self) -> u128 {
        self.ps
    }
}

/// Start times of a sequence of frames. They are exact: rounding errors do not add up.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: CaptureTime,
    pace: Pace,
    elapsed: Elapsed,
}

impl Schedule {
    /// Creates a sequence whose first frame starts at `start`.
    pub fn new(start: CaptureTime, pace: Pace) -> Self {
        Self { start, pace, elapsed: Elapsed::new(pace.ps_per_unit(), 0) }
    }

    /// Returns the start of the next frame, which has `len` bytes without FCS. The time is rounded down to a
    /// picosecond.
    #[inline]
    pub fn next(&mut self, len: u32) -> CaptureTime {
        let elapsed = self.elapsed.ps();
        self.elapsed.advance(self.pace.units(len));
        CaptureTime::from_ps(self.start.as_ps().saturating_add(elapsed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spacing_ignores_length() {
        let mut schedule = Schedule::new(CaptureTime::from_ns(5), Pace::Spacing { ps: 333 });
        let times: Vec<u128> = [60, 9000, 60].map(|len| schedule.next(len).as_ps()).into();
        assert_eq!(times, [5_000, 5_333, 5_666]);
    }

    #[test]
    fn a_third_of_a_second_does_not_drift() {
        let mut schedule = Schedule::new(CaptureTime::EPOCH, Pace::Packets { per_second: 3 });
        let times: Vec<u128> = (0..4).map(|_| schedule.next(60).as_ps()).collect();
        assert_eq!(times, [0, 333_333_333_333, 666_666_666_666, 1_000_000_000_000]);
    }

    #[test]
    fn back_to_back_does_not_drift() {
        let pace = Pace::BackToBack { bits_per_second: 3_000_000_000 };
        let mut schedule = Schedule::new(CaptureTime::EPOCH, pace);
        let last = (0..=3_000).map(|_| schedule.next(60)).last().unwrap();
        // 84 B at 3 Gb/s are 224 ns; 3000 of them are exact.
        assert_eq!(last.as_ps(), 3_000 * 224_000);
    }

    #[test]
    fn a_1500_byte_frame_takes_30_48_ns_at_400_gbps() {
        let pace = Pace::BackToBack { bits_per_second: 400_000_000_000 };
        let mut schedule = Schedule::new(CaptureTime::EPOCH, pace);
        schedule.next(1500);
        assert_eq!(schedule.next(1500).as_ps(), 30_480);
    }
}
