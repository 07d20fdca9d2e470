//! Low-pass filters: exponential averages of samples, and rates.
//!
//! The chip has no multiplier here. A step takes the time since the entry's timestamp as a power of two times the time
//! constant's mantissa. The ratio to the time constant is then a power of two, 2^S, and two shifts approximate the
//! decay. The timestamp advances by exactly the time taken, never beyond the current time, and the rest counts in the
//! next step (model).

use crate::clock::Clock;
use crate::units::{Cycles, Duration};
use thiserror::Error;

/// Bits of a time constant's mantissa.
const MANTISSA_BITS: u32 = 9;
/// Largest exponent of a time constant.
const EXPONENT_MAX: u32 = 31;
/// The longest distance that a timestamp of 28 bits shows.
const DISTANCE_MAX: u64 = (1 << 28) - 1;

/// Function of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LpfMode {
    /// The average of the inputs, which are samples of something.
    Sample,
    /// The sum of the inputs, forgotten with the time constant: with bytes as input the bytes per time constant.
    Rate,
}

/// Problem of a filter's configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LpfError {
    /// A time constant beyond the code.
    #[error("time constant {found} is {cycles} cycles of {clock}; it must be 1 to below 2^32 cycles")]
    TimeConstant {
        /// The time constant.
        found: Duration,
        /// The time constant in whole cycles.
        cycles: u128,
        /// The clock.
        clock: Clock,
    },
    /// Time constants that do not share a mantissa.
    #[error(
        "rise {rise} and fall {fall} differ by more than a power of two; the entry has one mantissa for both: choose one as the other times 2, 4, 8, ..."
    )]
    Mantissas {
        /// Rise time constant.
        rise: Duration,
        /// Fall time constant.
        fall: Duration,
    },
    /// A rate filter with two time constants.
    #[error("a rate filter has one time constant; rise {rise} and fall {fall} differ: give equal ones")]
    RateConstants {
        /// Rise time constant.
        rise: Duration,
        /// Fall time constant.
        fall: Duration,
    },
    /// A shift of more than five bits.
    #[error("output shift {0}; it is 0 to 31")]
    Shift(u8),
}

/// A filter's configuration as its entry holds it (model: chip §5; behavioural model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LpfConfig {
    mode: LpfMode,
    mantissa: u16,
    rise: u8,
    fall: u8,
    shift: u8,
}

impl LpfConfig {
    /// Creates a filter with one time constant whose output is shifted right by `shift`.
    ///
    /// # Errors
    /// Fails if the time constant or the shift exceeds its field of the entry.
    pub fn new(mode: LpfMode, time_constant: Duration, shift: u8, clock: Clock) -> Result<Self, LpfError> {
        Self::with_two(mode, time_constant, time_constant, shift, clock)
    }

    /// Creates a filter that follows larger samples with the time constant `rise` and smaller samples with `fall`.
    ///
    /// # Errors
    /// Fails in the cases of [`LpfConfig::new`], if the time constants differ by a factor that is not a power of two,
    /// and if they differ at all in a rate filter.
    pub fn with_two(
        mode: LpfMode,
        rise: Duration,
        fall: Duration,
        shift: u8,
        clock: Clock,
    ) -> Result<Self, LpfError> {
        let (up, mantissa) = code(rise, clock)?;
        let (down, other) = code(fall, clock)?;
        if mode == LpfMode::Rate && rise != fall {
            return Err(LpfError::RateConstants { rise, fall });
        }
        if mantissa != other {
            return Err(LpfError::Mantissas { rise, fall });
        }
        if shift > 31 {
            return Err(LpfError::Shift(shift));
        }
        Ok(Self { mode, mantissa, rise: up, fall: down, shift })
    }

    /// Function of the filter.
    pub const fn mode(&self) -> LpfMode {
        self.mode
    }

    /// Returns the time constants in cycles as the entry holds them, rise and fall, rounded down.
    pub const fn cycles(&self) -> (u64, u64) {
        let significand = (1 << MANTISSA_BITS) | self.mantissa as u64;
        ((significand << self.rise) >> MANTISSA_BITS, (significand << self.fall) >> MANTISSA_BITS)
    }
}

/// Returns the exponent and mantissa of a time constant, the mantissa rounded down (driver).
fn code(time: Duration, clock: Clock) -> Result<(u8, u16), LpfError> {
    // Cycles are `top / bottom`.
    let top = u128::from(time.as_ps()) * u128::from(clock.hz().0);
    let bottom = 1_000_000_000_000 * u128::from(clock.hz().1);
    let cycles = top / bottom;
    if cycles == 0 || cycles >= 1 << (EXPONENT_MAX + 1) {
        return Err(LpfError::TimeConstant { found: time, cycles, clock });
    }
    let exponent = cycles.ilog2();
    // Below 2^32 cycles of at least a picosecond, so the quotient has 41 bits.
    let significand =
        (((top / bottom) << MANTISSA_BITS) | (((top % bottom) << MANTISSA_BITS) / bottom)) >> exponent;
    Ok((exponent as u8, (significand & ((1 << MANTISSA_BITS) - 1)) as u16))
}

/// A filter entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Lpf {
    config: LpfConfig,
    value: u32,
    stamp: u64,
}

impl Lpf {
    /// Creates an entry at zero.
    pub const fn new(config: LpfConfig) -> Self {
        Self { config, value: 0, stamp: 0 }
    }

    /// Returns the filtered value, not shifted.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// Takes an input; returns the filtered value, shifted.
    #[inline]
    pub fn execute(&mut self, now: Cycles, input: u32) -> u32 {
        self.step(now, input);
        self.value >> self.config.shift
    }

    /// Takes an input and returns the new value before it is limited to 32 bits. WRED compares this value.
    #[inline]
    pub(super) fn step(&mut self, now: Cycles, input: u32) -> u64 {
        let config = self.config;
        let exponent = if input > self.value { config.rise } else { config.fall };
        let distance = now.get().saturating_sub(self.stamp).min(DISTANCE_MAX);
        let (taken, ratio) = time_step(distance, config.mantissa, exponent.into());
        let new = decay(config.mode, self.value.into(), input.into(), ratio);
        // The chip's adder has 33 bits.
        let new = new & ((1 << 33) - 1);
        let full = distance == DISTANCE_MAX;
        self.stamp = if full { now.get() } else { self.stamp + taken };
        self.value = u32::try_from(new).unwrap_or(u32::MAX);
        new
    }
}

/// Returns the time that a step takes out of `distance`, and its ratio to the time constant as a power of two; `None`
/// if too little time has passed for any decay.
#[inline]
fn time_step(distance: u64, mantissa: u16, exponent: i32) -> (u64, Option<i32>) {
    if distance == 0 {
        return (0, None);
    }
    // Mantissa bits below one cycle of the time constant are ignored.
    let kept = (0x1ff_u64 << MANTISSA_BITS >> exponent.min(9)) | 1 << MANTISSA_BITS;
    let significand = (u64::from(mantissa) | 1 << MANTISSA_BITS) & kept;
    let take = |log: i32, ratio: i32| {
        if log < 0 || ratio <= -8 { 0 } else { significand << log >> MANTISSA_BITS }
    };
    let mut log = distance.ilog2() as i32;
    let mut ratio = log - exponent;
    let mut taken = take(log, ratio);
    if taken > distance {
        log -= 1;
        ratio -= 1;
        taken = take(log, ratio);
    }
    (taken, (ratio > -8).then_some(ratio))
}

/// Returns the value after a step of 2^`ratio` time constants.
#[inline]
fn decay(mode: LpfMode, value: u64, input: u64, ratio: Option<i32>) -> u64 {
    let Some(ratio) = ratio else {
        return match mode {
            LpfMode::Rate => value + input,
            LpfMode::Sample => value,
        };
    };
    // Remainder of 1 after the step: 1 - 2^-a + 2^-b for short steps, 2^-a + 2^-b for long ones.
    let (a, b) = match ratio {
        ..0 => (-ratio, 1 - 2 * ratio),
        0 => (2, 3),
        1 => (3, 7),
        2 => (6, 9),
        3 => (12, 14),
        _ => return input,
    };
    let part = |of: u64| (of >> a, of >> b);
    let ((value_a, value_b), (input_a, input_b)) = (part(value), part(input));
    match (mode, ratio < 0) {
        (LpfMode::Rate, true) => value - value_a + value_b + input,
        (LpfMode::Rate, false) => value_a + value_b + input,
        (LpfMode::Sample, true) => value - value_a + value_b + input_a - input_b,
        (LpfMode::Sample, false) => value_a + value_b + input - input_a - input_b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> Clock {
        "1GHz".parse().unwrap()
    }

    fn filter(mode: LpfMode, ns: u64) -> Lpf {
        Lpf::new(LpfConfig::new(mode, Duration::from_nanos(ns), 0, clock()).unwrap())
    }

    #[test]
    fn codes() {
        let config = |ns| LpfConfig::new(LpfMode::Sample, Duration::from_nanos(ns), 0, clock()).unwrap();
        // 1000 = 1.953125 * 2^9, and 0.953125 * 512 = 488 exactly.
        assert_eq!((config(1000).rise, config(1000).mantissa), (9, 488));
        assert_eq!(config(1000).cycles(), (1000, 1000));
        assert_eq!(config(1024).cycles(), (1024, 1024));
        assert_eq!((config(1).rise, config(1).mantissa), (0, 0));
        let two = LpfConfig::with_two(
            LpfMode::Sample,
            Duration::from_nanos(1000),
            Duration::from_micros(8),
            4,
            clock(),
        );
        assert_eq!(two.unwrap().cycles(), (1000, 8000));
        let refuse = |rise, fall, mode, shift| {
            let (rise, fall) = (Duration::from_nanos(rise), Duration::from_nanos(fall));
            LpfConfig::with_two(mode, rise, fall, shift, clock()).unwrap_err().to_string()
        };
        assert!(refuse(0, 0, LpfMode::Sample, 0).contains("1 to below 2^32"));
        assert!(refuse(5_000_000_000, 5_000_000_000, LpfMode::Rate, 0).contains("cycles of 1GHz"));
        assert!(refuse(1000, 3000, LpfMode::Sample, 0).contains("one mantissa"));
        assert!(refuse(1000, 2000, LpfMode::Rate, 0).contains("one time constant"));
        assert!(refuse(1000, 1000, LpfMode::Rate, 32).contains("0 to 31"));
    }

    #[test]
    fn steps_worked_by_hand() {
        let mut lpf = filter(LpfMode::Sample, 1024);
        // 128 cycles are 2^-3 time constants: 1/8 - 1/128 of the way.
        assert_eq!(lpf.execute(Cycles(128), 12_800), 1600 - 100);
        // 4 cycles are 2^-8: too little, and the time is kept.
        assert_eq!((lpf.execute(Cycles(132), 0), lpf.stamp), (1500, 128));
        // 8 more make 12, of which 8 are taken: 2^-7. 1500/128 = 11, 1500/32768 = 0.
        assert_eq!((lpf.execute(Cycles(140), 0), lpf.stamp), (1489, 136));
        // A whole time constant: 3/8 remain.
        assert_eq!(lpf.execute(Cycles(136 + 1024), 0), 372 + 186);
        // Sixteen: the sample itself.
        assert_eq!(lpf.execute(Cycles(1160 + (16 << 10)), 77), 77);
    }

    #[test]
    fn a_rate_is_the_inputs_sum_per_time_constant() {
        let mut lpf = filter(LpfMode::Rate, 4096);
        assert_eq!((lpf.execute(Cycles(0), 1000), lpf.execute(Cycles(0), 500)), (1000, 1500));
        // 64 bytes every 32 cycles are 8192 per time constant.
        let mut steady = 0;
        for packet in 1..4000 {
            steady = lpf.execute(Cycles(32 * packet), 64);
        }
        assert!((7900..8500).contains(&steady), "{steady}");
        assert_eq!(lpf.execute(Cycles(1 << 40), 9), 9);
    }

    #[test]
    fn rise_and_fall() {
        let (fast, slow) = (Duration::from_nanos(256), Duration::from_nanos(1 << 16));
        let mut lpf = Lpf::new(LpfConfig::with_two(LpfMode::Sample, fast, slow, 4, clock()).unwrap());
        assert_eq!(lpf.execute(Cycles(4096), 16_000), 1000);
        let after = lpf.execute(Cycles(8192), 0);
        assert_eq!(after, (16_000 - 1000 + 31) >> 4);
    }

    proptest! {
        #[test]
        fn averages_stay_between_old_and_new(
            inputs in prop::collection::vec((0u64..100_000, any::<u32>()), 1..100), exponent in 4u32..20, mantissa in 0u64..512,
        ) {
            let ns = ((512 + mantissa) << exponent) / 512;
            let mut lpf = filter(LpfMode::Sample, ns);
            let mut now = 0;
            for (gap, input) in inputs {
                now += gap;
                let old = lpf.value();
                lpf.execute(Cycles(now), input);
                let new = lpf.value();
                // Shifts lose up to one unit each way.
                prop_assert!(new >= old.min(input).saturating_sub(2) && new <= old.max(input).saturating_add(2));
                prop_assert!(lpf.stamp <= now);
            }
        }

        #[test]
        fn decay_is_near_the_exponential(gap in 1u64..1_000_000, exponent in 4u32..17) {
            let mut lpf = filter(LpfMode::Sample, 1 << exponent);
            lpf.value = 1 << 30;
            let (old, before) = (f64::from(lpf.value), lpf.stamp);
            lpf.execute(Cycles(gap), 0);
            let taken = (lpf.stamp - before) as f64;
            let exact = old * (-taken / f64::from(1u32 << exponent)).exp();
            // The chip's table is off by at most 1.9 %, at half a time constant.
            prop_assert!((f64::from(lpf.value) - exact).abs() < 0.02 * old, "{} {}", lpf.value, exact);
        }
    }
}
