//! When frames start: by a fixed spacing or back to back at a rate.

use crate::capture::CaptureTime;
use crate::wire::ethernet;

/// How frames follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// One frame starts every so many picoseconds, whatever its length.
    Spacing {
        /// Picoseconds from start to start; 0 starts all at once.
        ps: u64,
    },
    /// Each frame starts when the one before has left a link of this rate: with padding to 60 B, 4 B of FCS and
    /// 20 B of preamble and gap.
    BackToBack {
        /// Rate of the link in bit/s, at least 1.
        bits_per_second: u64,
    },
}

/// The start times of a sequence of frames; exact, no rounding adds up.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: CaptureTime,
    pace: Pace,
    frames: u64,
    wire_bytes: u64,
}

impl Schedule {
    /// A sequence whose first frame starts at `start`.
    pub const fn new(start: CaptureTime, pace: Pace) -> Self {
        Self { start, pace, frames: 0, wire_bytes: 0 }
    }

    /// When the next frame starts, which has `len` bytes without FCS. Rounded down to a picosecond.
    #[inline]
    pub fn next(&mut self, len: u32) -> CaptureTime {
        let elapsed = match self.pace {
            Pace::Spacing { ps } => u128::from(self.frames) * u128::from(ps),
            Pace::BackToBack { bits_per_second } => {
                u128::from(self.wire_bytes) * 8_000_000_000_000 / u128::from(bits_per_second.max(1))
            }
        };
        self.frames += 1;
        self.wire_bytes += ethernet::wire_len(len);
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
