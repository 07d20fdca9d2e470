//! WRED: decides by an averaged length whether to drop or mark a packet.

use super::lpf::{Lpf, LpfConfig};
use crate::units::Cycles;
use thiserror::Error;

/// Bits of the thresholds' mantissas.
const LEVEL_BITS: u32 = 8;
/// Largest power of two by which probabilities can be scaled down.
const SCALE_MAX: u32 = 7;

/// Thresholds in exact numbers, in units of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WredSpec {
    /// Length up to which no packet is dropped.
    pub min: u32,
    /// Length beyond which every packet is dropped.
    pub max: u32,
    /// The probability that is reached at `max`, in per cent, 1 to 100.
    pub max_probability: u8,
    /// Filter that averages the input; `None` uses the input itself, which only Tofino 2 can (model).
    pub average: Option<LpfConfig>,
}

/// Reason for which thresholds cannot be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WredError {
    /// Thresholds in the wrong order.
    #[error("min threshold {min} is above max threshold {max}: swap them")]
    Order {
        /// The lower threshold.
        min: u32,
        /// The upper threshold.
        max: u32,
    },
    /// The probability is zero or above one.
    #[error("maximum probability {0} %; it is 1 to 100")]
    Probability(u8),
    /// The thresholds are equal although the maximum probability is below one.
    #[error(
        "min and max threshold are both {threshold} with a maximum probability of {probability} %; a step reaches 100 %: use that, or different thresholds"
    )]
    Step {
        /// Both thresholds.
        threshold: u32,
        /// The probability.
        probability: u8,
    },
}

/// Thresholds as an entry holds them: 8-bit numbers with one exponent for all, and a scale for probabilities (model).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WredConfig {
    level0: u8,
    span: u8,
    level_max: u8,
    exponent: u8,
    scale: u8,
    average: Option<LpfConfig>,
}

impl WredConfig {
    /// Returns the finest code for `spec`. The probability rises from `min` as if to reach 1 at a length that `max` may
    /// cut off; a slope so flat that this takes a coarser unit is kept steep, and all probabilities are scaled down by
    /// a power of two instead (driver).
    ///
    /// # Errors
    /// Thresholds in the wrong order, a probability beyond 1 to 100 %, a step to less than 100 %.
    pub fn new(spec: &WredSpec) -> Result<Self, WredError> {
        let &WredSpec { min, max, max_probability, average } = spec;
        if min > max {
            return Err(WredError::Order { min, max });
        }
        if !(1..=100).contains(&max_probability) {
            return Err(WredError::Probability(max_probability));
        }
        if min == max && max_probability != 100 {
            return Err(WredError::Step { threshold: min, probability: max_probability });
        }
        let (height, probability) = (u64::from(max - min), u64::from(max_probability));
        // The length beyond `min` at which the probability, scaled up again, would be 1.
        let span = |scale: u32| height * 100 / (probability << scale);
        let exponent = |span: u64| {
            let largest = span.max(max.into());
            (u64::BITS - largest.leading_zeros()).saturating_sub(LEVEL_BITS)
        };
        let scale = (0..=SCALE_MAX).rev().find(|&scale| probability << scale <= 100).unwrap_or(0);
        let scale = if exponent(span(scale)) < exponent(span(0)) || min == max { scale } else { 0 };
        let exponent = exponent(span(scale));
        let level = |value: u64| (value >> exponent) as u8;
        Ok(Self {
            level0: level(min.into()),
            span: level(span(scale)),
            level_max: level(max.into()),
            exponent: exponent as u8,
            scale: scale as u8,
            average,
        })
    }

    /// Returns the lower and upper threshold as the entry holds them.
    pub const fn thresholds(&self) -> (u64, u64) {
        ((self.level0 as u64) << self.exponent, (self.level_max as u64) << self.exponent)
    }

    /// Returns true if a length leads to a drop. The low 8 bits of `random` choose a threshold between `min` and the
    /// end of the slope; 7 further bits decide whether the drop is made.
    #[inline]
    const fn drops(&self, length: u64, random: u32) -> bool {
        let step = (self.span as u64 * (random & 0xff) as u64) >> 8;
        let drawn = self.level0 as u64 + step;
        let top = self.level_max as u64;
        let threshold = if drawn < top { drawn } else { top };
        let counts = random >> 8 & ((1 << self.scale) - 1) == 0;
        length > threshold << self.exponent && counts || length > top << self.exponent
    }
}

/// A WRED entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wred {
    config: WredConfig,
    lpf: Option<Lpf>,
}

impl Wred {
    /// Creates an entry with an average of zero.
    pub fn new(config: WredConfig) -> Self {
        Self { config, lpf: config.average.map(Lpf::new) }
    }

    /// Takes a length and 15 random bits; returns true if the packet is dropped, or marked.
    #[inline]
    pub fn execute(&mut self, now: Cycles, length: u32, random: u32) -> bool {
        let averaged = match &mut self.lpf {
            Some(lpf) => lpf.step(now, length),
            None => length.into(),
        };
        self.config.drops(averaged, random)
    }

    /// Returns the averaged length; the last input is not kept without an average.
    pub fn average(&self) -> Option<u32> {
        self.lpf.map(|lpf| lpf.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::meter::LpfMode;
    use crate::units::Duration;
    use proptest::prelude::*;

    fn config(min: u32, max: u32, max_probability: u8) -> WredConfig {
        WredConfig::new(&WredSpec { min, max, max_probability, average: None }).unwrap()
    }

    /// Returns the number of drops among all draws, in parts of 2^15.
    fn share(config: &WredConfig, length: u64) -> usize {
        (0..1 << 15).filter(|&random| config.drops(length, random)).count()
    }

    #[test]
    fn a_step() {
        let step = config(100, 100, 100);
        assert_eq!([share(&step, 100), share(&step, 101)], [0, 1 << 15]);
    }

    #[test]
    fn the_slope_reaches_its_probability_at_the_upper_threshold() {
        let full = config(50, 150, 100);
        assert_eq!((full.thresholds(), full.exponent, full.scale), ((50, 150), 0, 0));
        assert_eq!([share(&full, 50), share(&full, 151)], [0, 1 << 15]);
        let middle = share(&full, 100) as f64 / 32768.0;
        assert!((0.48..0.53).contains(&middle), "{middle}");
        // 1 %: without a scale the slope would end at 10,000 cells and the unit would be 64 of them.
        let gentle = config(50, 150, 1);
        assert_eq!((gentle.scale, gentle.exponent), (6, 0));
        let end = share(&gentle, 150) as f64 / 32768.0;
        assert!((0.009..0.011).contains(&end), "{end}");
    }

    #[test]
    fn refusals() {
        let refuse = |min, max, max_probability| {
            WredConfig::new(&WredSpec { min, max, max_probability, average: None }).unwrap_err()
        };
        assert_eq!(refuse(2, 1, 50), WredError::Order { min: 2, max: 1 });
        assert_eq!(refuse(1, 2, 0), WredError::Probability(0));
        assert_eq!(refuse(1, 2, 101), WredError::Probability(101));
        assert!(refuse(9, 9, 50).to_string().contains("a step reaches 100 %"));
    }

    #[test]
    fn the_average_decides() {
        let clock: Clock = "1GHz".parse().unwrap();
        let average = LpfConfig::new(LpfMode::Sample, Duration::from_nanos(1024), 0, clock).unwrap();
        let spec = WredSpec { min: 1000, max: 1000, max_probability: 100, average: Some(average) };
        let mut wred = Wred::new(WredConfig::new(&spec).unwrap());
        // One long sample does not make a long average.
        assert!(!wred.execute(Cycles(64), 10_000, 0));
        let at = (2..40).find(|step| wred.execute(Cycles(64 * step), 10_000, 0));
        assert!(at.is_some() && wred.average().unwrap() > 992, "{at:?}");
    }

    proptest! {
        #[test]
        fn never_below_min_always_beyond_max(
            min in 0u32..1 << 20, height in 1u32..1 << 20, probability in 1u8..=100, random: u32,
        ) {
            let config = config(min, min + height, probability);
            let (low, high) = config.thresholds();
            prop_assert!(low <= min.into() && high <= u64::from(min + height));
            prop_assert!(!config.drops(low, random));
            prop_assert!(config.drops(high + 1, random));
            // Thresholds keep 8 bits of the largest number.
            prop_assert!(u64::from(min + height) - high < 1 << config.exponent);
        }
    }
}
