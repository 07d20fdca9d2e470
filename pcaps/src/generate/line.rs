//! [`Line`]: serialises overlapping frames on one link.

use super::Pace;
use super::pace::Elapsed;
use crate::capture::CaptureTime;

/// Link that carries one frame at a time.
#[derive(Debug, Clone)]
pub struct Line {
    pace: Pace,
    /// Time at which the link is free, in picoseconds since the epoch.
    free: Elapsed,
}

impl Line {
    /// Creates a link of `bits_per_second`, at least 1.
    pub fn new(bits_per_second: u64) -> Self {
        let pace = Pace::BackToBack { bits_per_second };
        Self { pace, free: Elapsed::new(pace.ps_per_unit(), 0) }
    }

    /// Returns the start of a frame of `len` bytes without FCS that is due at `due`: at that time, or when the link is
    /// free.
    #[inline]
    pub fn start(&mut self, due: CaptureTime, len: u32) -> CaptureTime {
        self.free.at_least(due.as_ps());
        let start = self.free.ps();
        self.free.advance(self.pace.units(len));
        CaptureTime::from_ps(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_wait_for_the_one_before() {
        let mut line = Line::new(400_000_000_000);
        let starts: Vec<u128> = [(0, 60), (0, 60), (5_000, 1500), (5_001, 60)]
            .map(|(due, len)| line.start(CaptureTime::from_ps(due), len).as_ps())
            .into();
        assert_eq!(starts, [0, 1_680, 5_000, 35_480]);
    }
}
