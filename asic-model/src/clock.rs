//! Clock as a rational frequency: converts absolute cycle numbers to time and back, without drift.

use crate::units::{
    Cycles, Divisor, Duration, Time, Unit, UnitError, UnitErrorKind, parse_scaled, print_decimal,
    serde_as_text,
};
use std::fmt;
use std::str::FromStr;

const PS_PER_S: u128 = 1_000_000_000_000;
const UNITS: &[Unit] = &[("Hz", 1), ("kHz", 1_000), ("MHz", 1_000_000), ("GHz", 1_000_000_000)];
const EXPECTED: &str =
    "a frequency up to 1000 GHz with Hz, kHz, MHz or GHz, for example `1.22GHz` or `4000/3MHz`";

/// Clock of `num / den` Hz whose edge 0 is at the run's origin.
///
/// Edge `n` is at `floor(n * 10^12 * den / num)` picoseconds. The absolute cycle number is converted, so the error is
/// below one picosecond after any number of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clock {
    num: u64,
    den: u64,
    /// The period in picoseconds is `period_num / period_den`, in lowest terms and at least 1.
    period_num: Divisor,
    period_den: Divisor,
}

/// Returns a clock whose terms are known to be lowest.
const fn known(num: u64, den: u64, period_num: u64, period_den: u64) -> Clock {
    Clock { num, den, period_num: Divisor::new(period_num), period_den: Divisor::new(period_den) }
}

/// 1 GHz: the reference of Tofino 2's shapers (model: tm §4).
pub(crate) const CLOCK_1_GHZ: Clock = known(1_000_000_000, 1, 1_000, 1);
/// 1.22 GHz: Tofino's core clock (model: cycles §6).
pub(crate) const CLOCK_1_22_GHZ: Clock = known(1_220_000_000, 1, 50_000, 61);
/// 1.3125 GHz: Tofino 2's core clock (model: cycles §6).
pub(crate) const CLOCK_1_3125_GHZ: Clock = known(1_312_500_000, 1, 16_000, 21);
/// 1.5 GHz: Tofino 2's MAU clock (model: cycles §6).
pub(crate) const CLOCK_1_5_GHZ: Clock = known(1_500_000_000, 1, 2_000, 3);

/// Reason for which a frequency cannot be a [`Clock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// Numerator or denominator is zero.
    #[error("clock of {num}/{den} Hz: numerator and denominator must both be above zero")]
    Zero {
        /// The numerator given.
        num: u64,
        /// The denominator given.
        den: u64,
    },
    /// The period is below 1 ps, so that edges would fall together.
    #[error(
        "clock of {num}/{den} Hz: faster than 1 THz, so edges would share a picosecond; use at most 1000 GHz"
    )]
    TooFast {
        /// The numerator given.
        num: u64,
        /// The denominator given.
        den: u64,
    },
    /// The period in picoseconds, in lowest terms, needs more than 64 bits.
    #[error(
        "clock of {num}/{den} Hz: its period in ps is not a ratio of two 64-bit numbers; use a rounder frequency"
    )]
    TooFine {
        /// The numerator given.
        num: u64,
        /// The denominator given.
        den: u64,
    },
}

impl Clock {
    /// Creates a clock of `num / den` Hz.
    ///
    /// # Errors
    /// Fails if a side is zero, the frequency is above 1 THz, or the period needs more than 64-bit terms.
    pub fn new(num: u64, den: u64) -> Result<Self, ClockError> {
        if num == 0 || den == 0 {
            return Err(ClockError::Zero { num, den });
        }
        let shared = gcd(u128::from(num), u128::from(den));
        let (top, bottom) = (u128::from(den) * PS_PER_S, u128::from(num));
        if top < bottom {
            return Err(ClockError::TooFast { num, den });
        }
        let common = gcd(top, bottom);
        match (u64::try_from(top / common), u64::try_from(bottom / common), u64::try_from(shared)) {
            (Ok(period_num), Ok(period_den), Ok(shared)) => {
                Ok(known(num / shared, den / shared, period_num, period_den))
            }
            _ => Err(ClockError::TooFine { num, den }),
        }
    }

    /// Returns a clock of a whole number of hertz.
    ///
    /// # Errors
    /// Fails in the same cases as [`Clock::new`].
    pub fn from_hz(hz: u64) -> Result<Self, ClockError> {
        Self::new(hz, 1)
    }

    /// Returns the frequency in Hz as numerator and denominator in lowest terms.
    pub const fn hz(self) -> (u64, u64) {
        (self.num, self.den)
    }

    /// Returns the time of edge number `cycle`, rounded down to the picosecond; saturates at [`Time::MAX`].
    pub fn time_of(self, cycle: Cycles) -> Time {
        if let Some(scaled) = cycle.0.checked_mul(self.period_num.get()) {
            return Time::from_ps(self.period_den.floor(scaled));
        }
        let ps = u128::from(cycle.0) * u128::from(self.period_num.get()) / u128::from(self.period_den.get());
        Time::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// Returns the smallest cycle number whose edge is not before `time`.
    pub fn first_edge_at_or_after(self, time: Time) -> Cycles {
        // floor(n * p) >= t is n * p >= t for a whole t, so the rounding of `time_of` needs no correction.
        if let Some(scaled) = time.as_ps().checked_mul(self.period_den.get()) {
            return Cycles(self.period_num.ceil(scaled));
        }
        let scaled = u128::from(time.as_ps()) * u128::from(self.period_den.get());
        narrow(scaled.div_ceil(u128::from(self.period_num.get())))
    }

    /// Returns the largest cycle number whose edge is not after `time`.
    pub fn last_edge_at_or_before(self, time: Time) -> Cycles {
        // floor(n * p) <= t is n * p < t + 1.
        let after = time.as_ps().checked_add(1);
        if let Some(scaled) = after.and_then(|after| after.checked_mul(self.period_den.get())) {
            return Cycles(self.period_num.ceil(scaled) - 1);
        }
        let scaled = (u128::from(time.as_ps()) + 1) * u128::from(self.period_den.get());
        narrow(scaled.div_ceil(u128::from(self.period_num.get())) - 1)
    }

    /// Returns the length of `cycles` cycles from edge 0, rounded down.
    ///
    /// Use it for display and constants. A packet leaves at `time_of(entry + latency)`; `time_of(entry) +
    /// span(latency)` can differ by one picosecond.
    pub fn span(self, cycles: Cycles) -> Duration {
        self.time_of(cycles).since_origin()
    }

    /// Returns the fewest cycles that cover `duration`.
    pub fn cycles_for(self, duration: Duration) -> Cycles {
        self.first_edge_at_or_after(Time::ORIGIN + duration)
    }
}

/// A period is at least 1 ps, so cycle numbers of representable times fit; the conversion saturates to be safe.
fn narrow(cycles: u128) -> Cycles {
    Cycles(u64::try_from(cycles).unwrap_or(u64::MAX))
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 {
            print_decimal(f, self.num, UNITS)
        } else {
            f.pad(&format!("{}/{}Hz", self.num, self.den))
        }
    }
}

impl FromStr for Clock {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let fail = |kind| UnitError { text: text.to_owned(), what: "clock", expected: EXPECTED, kind };
        let (num, den) = match text.split_once('/') {
            None => (parse_scaled(text, "clock", EXPECTED, "hertz", UNITS)?, 1),
            Some((top, rest)) => {
                let split = rest.trim_start().find(|c: char| !c.is_ascii_digit());
                let (bottom, unit) =
                    rest.trim_start().split_at_checked(split.unwrap_or(0)).unwrap_or(("", ""));
                let den = bottom.parse().map_err(|_| fail(UnitErrorKind::Number))?;
                (parse_scaled(&format!("{}{unit}", top.trim()), "clock", EXPECTED, "hertz", UNITS)?, den)
            }
        };
        Self::new(num, den).map_err(|error| {
            fail(match error {
                ClockError::Zero { .. } => UnitErrorKind::Zero,
                ClockError::TooFast { .. } => UnitErrorKind::TooLarge,
                ClockError::TooFine { .. } => UnitErrorKind::Inexact("representable picoseconds"),
            })
        })
    }
}

serde_as_text!(Clock, "a clock frequency such as \"1.22GHz\"");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock(text: &str) -> Clock {
        text.parse().unwrap()
    }

    #[test]
    fn tofino_edges_stay_exact_after_10_to_the_12_cycles() {
        // 10^12 cycles at 1.22 GHz: 10^12 * 50000 / 61 ps, rounded down once.
        let n = 1_000_000_000_000_u64;
        assert_eq!(clock("1.22GHz").time_of(Cycles(n)), Time::from_ps(819_672_131_147_540));
        assert_eq!(clock("1.22GHz").time_of(Cycles(n * 61)), Time::from_ps(n * 50_000));
        // 1.5 GHz: 2000 / 3 ps per cycle.
        assert_eq!(clock("1.5GHz").time_of(Cycles(n)), Time::from_ps(666_666_666_666_666));
        assert_eq!(clock("1.5GHz").time_of(Cycles(n * 3)), Time::from_ps(n * 2_000));
        assert_eq!(clock("1.5GHz").span(Cycles(460)), Duration::from_ps(306_666));
    }

    #[test]
    fn the_constants_are_what_their_names_say() {
        assert_eq!(CLOCK_1_GHZ, clock("1GHz"));
        assert_eq!(CLOCK_1_22_GHZ, clock("1.22GHz"));
        assert_eq!(CLOCK_1_3125_GHZ, clock("1.3125GHz"));
        assert_eq!(CLOCK_1_5_GHZ, clock("1.5GHz"));
    }

    #[test]
    fn rationals_and_refusals() {
        assert_eq!(clock("4000/3MHz").hz(), (4_000_000_000, 3));
        assert_eq!(clock("4000/3MHz").to_string(), "4000000000/3Hz");
        assert_eq!(clock("1.3125 GHz").to_string(), "1.3125GHz");
        assert_eq!("0GHz".parse::<Clock>().unwrap_err().kind, UnitErrorKind::Zero);
        assert_eq!("1/0GHz".parse::<Clock>().unwrap_err().kind, UnitErrorKind::Zero);
        assert_eq!("1001GHz".parse::<Clock>().unwrap_err().kind, UnitErrorKind::TooLarge);
        for bad in ["", "fast", "1/GHz", "1/3", "/3GHz", "1.22"] {
            assert!(bad.parse::<Clock>().is_err(), "{bad}");
        }
        assert!(matches!(Clock::new(u64::MAX, u64::MAX - 1), Err(ClockError::TooFine { .. })));
    }

    #[test]
    fn the_end_of_time_saturates() {
        assert_eq!(clock("1Hz").time_of(Cycles(u64::MAX)), Time::MAX);
        assert_eq!(clock("1000GHz").first_edge_at_or_after(Time::MAX), Cycles(u64::MAX));
    }

    proptest! {
        #[test]
        fn edges_are_monotone_and_inverted(num in 1..3_000_000_000_u64, den in 1..1000_u64, n in 0..1_u64 << 36) {
            let clock = Clock::new(num, den).unwrap();
            let edge = clock.time_of(Cycles(n));
            prop_assume!(edge < Time::MAX && clock.time_of(Cycles(n + 1)) < Time::MAX);
            prop_assert!(edge < clock.time_of(Cycles(n + 1)));
            prop_assert_eq!(clock.first_edge_at_or_after(edge), Cycles(n));
            prop_assert_eq!(clock.last_edge_at_or_before(edge), Cycles(n));
        }

        #[test]
        fn the_first_edge_is_the_first(t in 0..u64::MAX / 2) {
            for clock in [clock("1.22GHz"), clock("1.5GHz"), clock("4000/3MHz")] {
                let time = Time::from_ps(t);
                let first = clock.first_edge_at_or_after(time);
                prop_assert!(clock.time_of(first) >= time);
                prop_assert!(first == Cycles(0) || clock.time_of(first - Cycles(1)) < time);
                let last = clock.last_edge_at_or_before(time);
                prop_assert!(clock.time_of(last) <= time && clock.time_of(last + Cycles(1)) > time);
            }
        }

        #[test]
        fn print_then_parse_is_identity(num in 1..u64::MAX >> 24, den in 1..1000_u64) {
            let clock = Clock::new(num, den);
            prop_assume!(clock.is_ok());
            let clock = clock.unwrap();
            prop_assert_eq!(clock.to_string().parse(), Ok(clock));
        }
    }
}
