//! [`Clock`]: send times of the frames of one port. Times are exact: remainders are carried, and nothing is rounded
//! twice.

use crate::wire::ethernet::wire_len;

const PS_PER_S: u64 = 1_000_000_000_000;

/// Speed of a replay. Rates are those of one port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Speed of the capture.
    Original,
    /// Thousandths of the captured speed, at least 1.
    Times(u64),
    /// Packets per second, at least 1.
    Packets(u64),
    /// Bits per second on the wire, with padding, FCS, preamble and gap; at least 1.
    Bits(u64),
    /// Each as soon as the line is free.
    LineRate,
}

impl Pace {
    /// Returns true if captured timestamps determine the times, so that all ports stay in step.
    pub(super) const fn follows_stamps(self) -> bool {
        matches!(self, Self::Original | Self::Times(_))
    }

    /// Returns the time that a captured time of `ps` takes, of a pace that follows timestamps.
    pub(super) const fn of_captured(self, ps: u128) -> u128 {
        match self {
            Self::Times(0) => ps.saturating_mul(1_000),
            Self::Times(thousandths) => ps.saturating_mul(1_000) / thousandths as u128,
            _ => ps,
        }
    }
}

/// A count of picoseconds with its fraction: `whole + part / per`.
#[derive(Debug, Clone, Copy, Default)]
struct Exact {
    whole: u64,
    part: u64,
}

impl Exact {
    /// Adds `numerator / per` picoseconds.
    #[inline]
    fn add(&mut self, numerator: u64, per: u64) {
        self.whole = self.whole.saturating_add(numerator / per);
        self.part += numerator % per;
        if self.part >= per {
            self.part -= per;
            self.whole = self.whole.saturating_add(1);
        }
    }
}

/// Time that frames take on the line.
#[derive(Debug, Clone, Copy)]
enum Line {
    /// No time.
    Instant,
    /// Whole picoseconds per byte, as at all common speeds.
    PsPerByte(u64),
    /// Bit/s; the time of a frame is rounded up.
    Rate(u64),
}

impl Line {
    /// Creates a line of `rate` bit/s; 0 takes no time.
    const fn new(rate: u64) -> Self {
        match rate {
            0 => Self::Instant,
            rate if (8 * PS_PER_S).is_multiple_of(rate) => Self::PsPerByte(8 * PS_PER_S / rate),
            rate => Self::Rate(rate),
        }
    }
}

/// Clock of one port.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    pace: Pace,
    line: Line,
    /// Start of the present turn, for paces that follow timestamps.
    base: u64,
    /// Time at which a rate requests the next frame.
    due: Exact,
    /// Time that the pace requested for the previous frame; the next is never earlier.
    last: u64,
    /// Time at which the line is free.
    free: u64,
}

/// Send time of a frame, and its delay after the time that the pace requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) time: u64,
    pub(super) delay: u64,
}

impl Clock {
    pub(super) fn new(pace: Pace, line: u64) -> Self {
        Self { pace, line: Line::new(line), base: 0, due: Exact::default(), last: 0, free: 0 }
    }

    /// Returns the send time of the next frame, which was captured `offset` ps after the first frame of all inputs.
    #[inline]
    pub(super) fn slot(&self, offset: u64) -> Slot {
        let wanted = match self.pace {
            Pace::Original => self.base.saturating_add(offset),
            Pace::Times(thousandths) => self.base.saturating_add(scaled(offset, thousandths)),
            Pace::Packets(_) | Pace::Bits(_) => self.due.whole,
            Pace::LineRate => self.free,
        };
        // A frame whose timestamp runs backwards follows the previous frame at once.
        let wanted = wanted.max(self.last);
        let time = wanted.max(self.free);
        Slot { time, delay: time - wanted }
    }

    /// Records that a frame of `len` bytes is sent in this slot.
    #[inline]
    pub(super) fn sent(&mut self, slot: Slot, len: u32) {
        self.last = slot.time - slot.delay;
        let bytes = wire_len(len);
        match self.pace {
            Pace::Packets(rate) => self.due.add(PS_PER_S, rate.max(1)),
            // A frame has at most 2^18 bytes, so the product fits a u64.
            Pace::Bits(rate) => self.due.add(bytes * 8 * PS_PER_S, rate.max(1)),
            Pace::Original | Pace::Times(_) | Pace::LineRate => {}
        }
        let takes = match self.line {
            Line::Instant => return,
            Line::PsPerByte(ps) => bytes * ps,
            Line::Rate(rate) => (bytes * 8 * PS_PER_S).div_ceil(rate),
        };
        self.free = slot.time.saturating_add(takes);
    }

    /// Returns the time at which the last sent frame has left the line.
    pub(super) fn end(&self) -> u64 {
        self.free.max(self.last)
    }

    /// Counts captured times from `base` on: for the next turn of the captures, or after a gap.
    pub(super) fn restart(&mut self, base: u64) {
        self.base = base;
        self.last = self.last.max(base);
    }
}

/// Returns `offset` at this many thousandths of the speed, rounded down.
#[inline]
fn scaled(offset: u64, thousandths: u64) -> u64 {
    match offset.checked_mul(1_000) {
        Some(product) => product / thousandths.max(1),
        None => {
            let exact = u128::from(offset) * 1_000 / u128::from(thousandths.max(1));
            u64::try_from(exact).unwrap_or(u64::MAX)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends frames of these lengths and offsets.
    fn times(clock: &mut Clock, frames: &[(u64, u32)]) -> Vec<(u64, u64)> {
        frames
            .iter()
            .map(|&(offset, len)| {
                let slot = clock.slot(offset);
                clock.sent(slot, len);
                (slot.time, slot.delay)
            })
            .collect()
    }

    #[test]
    fn a_third_of_a_second_does_not_drift() {
        let mut clock = Clock::new(Pace::Packets(3), 0);
        let seen: Vec<u64> = times(&mut clock, &[(0, 60); 301]).iter().map(|t| t.0).collect();
        assert_eq!(seen[..4], [0, 333_333_333_333, 666_666_666_666, 1_000_000_000_000]);
        assert_eq!(seen[300], 100_000_000_000_000);
    }

    #[test]
    fn bits_are_those_of_the_wire() {
        let mut clock = Clock::new(Pace::Bits(100_000_000_000), 0);
        // 84 B, 84 B with padding, 1024 B at 80 ps each.
        let seen = times(&mut clock, &[(0, 60), (0, 10), (0, 1_000), (0, 60)]);
        assert_eq!(seen.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 6_720, 13_440, 95_360]);
        let mut clock = Clock::new(Pace::Bits(3), 0);
        assert_eq!(times(&mut clock, &[(0, 60); 4])[3].0, 672 * PS_PER_S);
    }

    #[test]
    fn stamps_are_scaled_and_never_run_backwards() {
        let mut clock = Clock::new(Pace::Times(2_500), 0);
        let seen = times(&mut clock, &[(1_000, 60), (500, 60), (2_000, 60)]);
        assert_eq!(seen, [(400, 0), (400, 0), (800, 0)]);
        assert_eq!(scaled(u64::MAX, 1_000), u64::MAX);
        assert_eq!(scaled(u64::MAX, 2_000), u64::MAX / 2);
        assert_eq!(scaled(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn the_line_delays_what_it_cannot_take() {
        // 84 B at 400 Gb/s take 1680 ps.
        let mut clock = Clock::new(Pace::Original, 400_000_000_000);
        let seen = times(&mut clock, &[(0, 60), (0, 60), (1_000, 60), (5_040, 60), (9_000, 60)]);
        assert_eq!(seen, [(0, 0), (1_680, 1_680), (3_360, 2_360), (5_040, 0), (9_000, 0)]);
        assert_eq!(clock.end(), 10_680);
        let mut clock = Clock::new(Pace::LineRate, 400_000_000_000);
        assert_eq!(times(&mut clock, &[(0, 60), (7, 1_500), (3, 60)]), [(0, 0), (1_680, 0), (32_160, 0)]);
    }

    #[test]
    fn a_line_without_a_whole_number_of_picoseconds_rounds_up() {
        let mut clock = Clock::new(Pace::LineRate, 7_000_000_000);
        assert_eq!(times(&mut clock, &[(0, 60), (0, 60)])[1].0, 96_000);
        let mut clock = Clock::new(Pace::LineRate, 9_000_000_000);
        assert_eq!(times(&mut clock, &[(0, 60), (0, 60)])[1].0, 74_667);
    }
}
