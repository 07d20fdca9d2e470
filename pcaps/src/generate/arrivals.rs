//! [`Arrivals`]: arrival process of frames, and [`ArrivalTimes`], the instants of its arrivals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pace::Elapsed;
use super::random::EXPONENTIAL_BITS;
use super::{Draw, GenerateError, Pace};
use crate::wire::ethernet;

/// The stream of [`Draw`] that arrival times draw from.
const ARRIVAL_STREAM: u64 = u64::MAX - 1;

/// Most senders of an incast; bounds its memory.
const MAX_SENDERS: u64 = 1 << 20;

/// Arrival process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// Constant pace.
    Constant(Pace),
    /// Poisson process: gaps are exponentially distributed with the gaps of the pace as their mean, so the mean rate is
    /// the pace's. The source is ideal: a frame may start before the previous frame has left a link.
    Poisson(Pace),
    /// Bursts at a pace, and silence between them.
    OnOff {
        /// Pace within a burst.
        pace: Pace,
        /// Length of a burst in picoseconds. Frames start within it, and the last may end after it. It must be at least
        /// the time of one shortest frame.
        on: u64,
        /// Length of a silence in picoseconds.
        off: u64,
        /// Distribution of the lengths of bursts and silences.
        periods: Periods,
    },
    /// Bursts that start at the same instant on many senders.
    Incast(Incast),
}

/// Lengths of the periods of [`Arrivals::OnOff`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Periods {
    /// Each as given.
    Fixed,
    /// Exponentially distributed, with the given length as the mean.
    Exponential,
}

/// Synchronized bursts of many senders. Each sender has a separate link, so frames of different senders overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incast {
    /// Senders, 1 to 1,048,576.
    pub senders: u32,
    /// Frames per burst and sender, at least 1.
    pub burst: u32,
    /// Picoseconds from the start of a burst to the start of the next; a burst waits until the previous one has ended.
    pub every: u64,
    /// Largest delay of a burst in picoseconds. Each sender's delay of each burst is uniformly distributed from 0 to
    /// this value.
    pub jitter: u64,
    /// Pace of each sender within its burst.
    pub pace: Pace,
}

impl Arrivals {
    /// Checks that the process can be generated.
    pub(super) fn check(&self) -> Result<(), GenerateError> {
        let pace = match self {
            Self::Constant(pace) | Self::Poisson(pace) | Self::OnOff { pace, .. } => *pace,
            Self::Incast(incast) => {
                GenerateError::check("senders", incast.senders.into(), 1, MAX_SENDERS)?;
                GenerateError::check("burst", incast.burst.into(), 1, u32::MAX.into())?;
                incast.pace
            }
        };
        match pace {
            Pace::Spacing { .. } => {}
            Pace::Packets { per_second: rate } | Pace::BackToBack { bits_per_second: rate } => {
                GenerateError::check("rate", rate, 1, u64::MAX)?;
            }
        }
        if let Self::OnOff { on, .. } = self {
            // Each empty period between two frames would have to be drawn separately, and there could be many.
            let least = u64::try_from(pace.gap(ethernet::MIN_FRAME_LEN)).unwrap_or(u64::MAX).max(1);
            GenerateError::check("on", *on, least, u64::MAX)?;
        }
        Ok(())
    }
}

/// Time at which a frame is due, and its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Picoseconds since the first frame could start.
    pub ps: u128,
    /// Sender of the frame; `None` unless the process is an incast.
    pub sender: Option<u32>,
}

/// The instants of [`Arrivals`], never decreasing. Alternate [`due`](Self::due) and [`sent`](Self::sent).
#[derive(Debug, Clone)]
pub struct ArrivalTimes {
    process: Process,
    draw: Draw,
}

#[derive(Debug, Clone)]
enum Process {
    Constant(Pace, Elapsed),
    Poisson(Pace, Elapsed),
    OnOff(OnOff),
    Incast(Senders),
}

impl ArrivalTimes {
    /// Returns the instants of a checked process.
    pub(super) fn new(arrivals: &Arrivals, seed: u64) -> Self {
        let mut draw = Draw::new(seed, ARRIVAL_STREAM);
        let elapsed = |pace: Pace, scale| Elapsed::new(pace.ps_per_unit(), scale);
        let process = match *arrivals {
            Arrivals::Constant(pace) => Process::Constant(pace, elapsed(pace, 0)),
            Arrivals::Poisson(pace) => Process::Poisson(pace, elapsed(pace, EXPONENTIAL_BITS)),
            Arrivals::OnOff { pace, on, off, periods } => Process::OnOff(OnOff {
                pace,
                elapsed: elapsed(pace, 0),
                end: periods.next(on, &mut draw),
                silence: 0,
                on,
                off,
                periods,
            }),
            Arrivals::Incast(incast) => Process::Incast(Senders::new(incast, &mut draw)),
        };
        Self { process, draw }
    }

    /// Returns the next arrival.
    #[inline]
    pub fn due(&mut self) -> Arrival {
        let alone = |ps| Arrival { ps, sender: None };
        match &mut self.process {
            Process::Constant(_, elapsed) | Process::Poisson(_, elapsed) => alone(elapsed.ps()),
            Process::OnOff(state) => alone(state.due(&mut self.draw)),
            Process::Incast(senders) => senders.due(),
        }
    }

    /// Reports that the frame that was due has `len` bytes without FCS.
    #[inline]
    pub fn sent(&mut self, len: u32) {
        match &mut self.process {
            Process::Constant(pace, elapsed) => elapsed.advance(pace.units(len)),
            // Less than 2^46 times less than 2^18.
            Process::Poisson(pace, elapsed) => elapsed.advance(self.draw.exponential() * pace.units(len)),
            Process::OnOff(state) => state.elapsed.advance(state.pace.units(len)),
            Process::Incast(senders) => senders.sent(len, &mut self.draw),
        }
    }
}

impl Periods {
    fn next(self, mean: u64, draw: &mut Draw) -> u128 {
        match self {
            Self::Fixed => mean.into(),
            Self::Exponential => (u128::from(mean) * u128::from(draw.exponential())) >> EXPONENTIAL_BITS,
        }
    }
}

/// State of [`Arrivals::OnOff`].
#[derive(Debug, Clone)]
struct OnOff {
    pace: Pace,
    /// Time spent in bursts.
    elapsed: Elapsed,
    /// End of the current burst, in the time of bursts.
    end: u128,
    /// Time spent in silences.
    silence: u128,
    on: u64,
    off: u64,
    periods: Periods,
}

impl OnOff {
    fn due(&mut self, draw: &mut Draw) -> u128 {
        while self.elapsed.ps() >= self.end {
            self.silence += self.periods.next(self.off, draw);
            self.end += self.periods.next(self.on, draw);
        }
        self.elapsed.ps() + self.silence
    }
}

/// The senders of an incast.
#[derive(Debug, Clone)]
struct Senders {
    incast: Incast,
    /// Senders by the start of their next frames; of equal starts, the lower number is first.
    next: BinaryHeap<Reverse<(u128, u32)>>,
    senders: Vec<Sender>,
}

#[derive(Debug, Clone)]
struct Sender {
    /// Time at which the sender's link is free.
    line: Elapsed,
    /// Frames left of its burst.
    left: u32,
    /// Bursts begun.
    bursts: u64,
}

impl Senders {
    fn new(incast: Incast, draw: &mut Draw) -> Self {
        let line = Elapsed::new(incast.pace.ps_per_unit(), 0);
        let idle = Sender { line, left: 0, bursts: 0 };
        let mut this = Self { incast, next: BinaryHeap::new(), senders: vec![idle; incast.senders as usize] };
        for sender in 0..incast.senders {
            this.burst(sender, draw);
        }
        this
    }

    fn due(&self) -> Arrival {
        // Every sender has a next burst.
        let first = self.next.peek().map_or((0, 0), |Reverse(first)| *first);
        Arrival { ps: first.0, sender: Some(first.1) }
    }

    fn sent(&mut self, len: u32, draw: &mut Draw) {
        let Some(Reverse((_, number))) = self.next.pop() else { return };
        let sender = &mut self.senders[number as usize];
        sender.line.advance(self.incast.pace.units(len));
        sender.left -= 1;
        if sender.left == 0 {
            self.burst(number, draw);
        } else {
            self.next.push(Reverse((sender.line.ps(), number)));
        }
    }

    /// Begins the next burst of a sender.
    fn burst(&mut self, number: u32, draw: &mut Draw) {
        let sender = &mut self.senders[number as usize];
        let late = if self.incast.jitter == 0 { 0 } else { draw.below(self.incast.jitter.saturating_add(1)) };
        sender.line.at_least(u128::from(sender.bursts) * u128::from(self.incast.every) + u128::from(late));
        (sender.left, sender.bursts) = (self.incast.burst, sender.bursts + 1);
        self.next.push(Reverse((sender.line.ps(), number)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: Arrivals, lens: impl IntoIterator<Item = u32>) -> Vec<(u128, Option<u32>)> {
        arrivals.check().unwrap();
        let mut times = ArrivalTimes::new(&arrivals, 1);
        let mut next = |len| {
            let Arrival { ps, sender } = times.due();
            times.sent(len);
            (ps, sender)
        };
        lens.into_iter().map(&mut next).collect()
    }

    fn instants(arrivals: Arrivals, count: usize) -> Vec<u128> {
        times(arrivals, vec![60; count]).into_iter().map(|(ps, _)| ps).collect()
    }

    const SPACING: Pace = Pace::Spacing { ps: 10 };

    #[test]
    fn constant() {
        assert_eq!(instants(Arrivals::Constant(SPACING), 4), [0, 10, 20, 30]);
        let pace = Pace::BackToBack { bits_per_second: 400_000_000_000 };
        assert_eq!(
            times(Arrivals::Constant(pace), [1500, 60, 60]),
            [(0, None), (30_480, None), (32_160, None)]
        );
    }

    #[test]
    fn bursts_and_silences_of_fixed_length() {
        let on_off = Arrivals::OnOff { pace: SPACING, on: 25, off: 100, periods: Periods::Fixed };
        assert_eq!(instants(on_off, 8), [0, 10, 20, 130, 140, 250, 260, 270]);
    }

    /// Half of the time is silence, so the mean rate is half of the pace.
    #[test]
    fn drawn_periods_keep_the_mean() {
        let (on, off) = (1_000, 1_000);
        let on_off = Arrivals::OnOff { pace: SPACING, on, off, periods: Periods::Exponential };
        let last = instants(on_off, 200_001)[200_000];
        // 2000 silences: three standard deviations are 134 of them.
        assert!((3_860_000..4_140_000).contains(&last), "{last}");
    }

    /// Gaps of mean 1 us: mean, variance and the share of long gaps are those of a memoryless process.
    #[test]
    fn poisson_has_its_moments() {
        let instants = instants(Arrivals::Poisson(Pace::Packets { per_second: 1_000_000 }), 100_001);
        let gaps: Vec<u128> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((99_000_000_000..101_000_000_000).contains(&instants[100_000]), "{}", instants[100_000]);
        let squares: u128 = gaps.iter().map(|gap| gap * gap).sum();
        // E[gap²] is twice the mean squared.
        assert!((194_000_000_000_000_000..206_000_000_000_000_000).contains(&squares), "{squares}");
        let long = gaps.iter().filter(|&&gap| gap > 1_000_000).count();
        assert!((36_330..37_250).contains(&long), "{long}");
        // In windows of 10 µs, counts have a variance equal to their mean.
        let mut counts = vec![0u64; 9_900];
        for at in instants.iter().map(|ps| (ps / 10_000_000) as usize).filter(|&at| at < 9_900) {
            counts[at] += 1;
        }
        let (sum, squares): (u64, u64) = counts.iter().fold((0, 0), |(s, q), c| (s + c, q + c * c));
        let variance = (squares * 9_900 - sum * sum) / 9_900 / 9_900;
        assert!((9..=10).contains(&variance), "{variance}");
    }

    /// The instants depend on the seed alone, to the picosecond.
    #[test]
    fn poisson_is_pinned() {
        let arrivals = Arrivals::Poisson(Pace::BackToBack { bits_per_second: 100_000_000_000 });
        assert_eq!(instants(arrivals, 5), PINNED);
    }

    /// Computed by an independent implementation.
    const PINNED: [u128; 5] = [0, 8_807, 14_955, 16_760, 20_968];

    #[test]
    fn incast_starts_together() {
        let pace = Pace::BackToBack { bits_per_second: 400_000_000_000 };
        let incast = Incast { senders: 3, burst: 2, every: 1_000_000, jitter: 0, pace };
        let frame = 1680;
        let of = |burst: u128, index: u128, sender| (burst * 1_000_000 + index * frame, Some(sender));
        let expected: Vec<_> = (0..2)
            .flat_map(|burst| {
                (0..2).flat_map(move |index| (0..3).map(move |sender| of(burst, index, sender)))
            })
            .collect();
        assert_eq!(times(Arrivals::Incast(incast), [60; 12]), expected);
    }

    #[test]
    fn a_burst_waits_for_the_one_before_and_jitter_is_bounded() {
        let incast = Incast { senders: 1, burst: 3, every: 15, jitter: 0, pace: SPACING };
        assert_eq!(instants(Arrivals::Incast(incast), 7), [0, 10, 20, 30, 40, 50, 60]);
        let incast = Incast { senders: 50, burst: 1, every: 1_000_000, jitter: 1_000, pace: SPACING };
        let late = instants(Arrivals::Incast(incast), 50);
        assert!(late.is_sorted() && late[49] <= 1_000 && late[0] < late[49], "{late:?}");
    }

    #[test]
    fn impossible_processes_are_refused() {
        let refusal = |arrivals: Arrivals| arrivals.check().unwrap_err().to_string();
        assert!(refusal(Arrivals::Constant(Pace::Packets { per_second: 0 })).starts_with("rate: found 0"));
        let on_off = |on| Arrivals::OnOff { pace: SPACING, on, off: 1, periods: Periods::Fixed };
        assert!(refusal(on_off(9)).starts_with("on: found 9, expected 10 to"));
        let incast = Incast { senders: 0, burst: 1, every: 1, jitter: 0, pace: SPACING };
        assert!(refusal(Arrivals::Incast(incast)).starts_with("senders: found 0"));
        assert!(
            refusal(Arrivals::Incast(Incast { senders: 1, burst: 0, ..incast }))
                .starts_with("burst: found 0")
        );
    }
}
