//! Encodings of rates and bursts in meter entries: two floating-point codes, and the conversion of exact values to
//! them.

use crate::clock::Clock;
use std::fmt;
use thiserror::Error;

/// Bits of a rate's mantissa.
const RATE_BITS: u32 = 9;
/// Largest exponent at which a bucket still sees time pass in the timestamp's 28 bits.
const RATE_EXPONENT_MAX: u32 = 27;
/// Bits of a burst's mantissa.
const BURST_BITS: u32 = 8;
/// Largest exponent of a burst.
const BURST_EXPONENT_MAX: u32 = 31;
/// Largest burst exponent that a level of 23 bits holds unscaled.
const LEVEL_EXPONENT: u32 = 14;

/// A rate or burst that a meter entry cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum MeterError {
    /// More than a bucket can be credited.
    #[error(
        "rate {per_second} per second is more than {limit} per cycle of {clock}: use a lower rate, or no meter"
    )]
    RateTooHigh {
        /// Units per second.
        per_second: u64,
        /// Units per cycle.
        limit: u32,
        /// The clock.
        clock: Clock,
    },
    /// Less than the smallest credit.
    #[error(
        "rate {per_second} per second is too low; the lowest rate at {clock} is 1 in {limit} cycles: use a higher rate, or 0 for none"
    )]
    RateTooLow {
        /// Units per second.
        per_second: u64,
        /// Cycles per unit.
        limit: u64,
        /// The clock.
        clock: Clock,
    },
    /// The bucket is smaller than one credit.
    #[error("burst {burst} is below one credit of {credit}: use a burst of at least {credit}")]
    BurstTooSmall {
        /// The burst.
        burst: u64,
        /// Units of one credit.
        credit: u64,
    },
    /// More than a bucket can hold.
    #[error("burst {burst} is too large; it is at most {limit}")]
    BurstTooLarge {
        /// The burst.
        burst: u64,
        /// The largest.
        limit: u64,
    },
    /// The peak rate is below the committed rate.
    #[error(
        "peak rate {peak} per second is below the committed rate {committed}: a packet cannot exceed the peak before the committed rate"
    )]
    PeakBelowCommitted {
        /// Peak rate.
        peak: u64,
        /// Committed rate.
        committed: u64,
    },
}

/// A bucket's size: an 8-bit mantissa shifted by 0 to 31 (model: chip §5). Smaller bits are lost, as in the
/// driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BurstCode {
    mantissa: u8,
    exponent: u8,
}

impl BurstCode {
    /// The largest burst.
    pub const MAX: u64 = ((1 << BURST_BITS) - 1) << BURST_EXPONENT_MAX;

    /// Returns the largest code that is not above `units` bytes or packets.
    ///
    /// # Errors
    /// Fails above [`BurstCode::MAX`].
    pub const fn new(units: u64) -> Result<Self, MeterError> {
        let bits = u64::BITS - units.leading_zeros();
        let exponent = bits.saturating_sub(BURST_BITS);
        if exponent > BURST_EXPONENT_MAX {
            return Err(MeterError::BurstTooLarge { burst: units, limit: Self::MAX });
        }
        Ok(Self { mantissa: (units >> exponent) as u8, exponent: exponent as u8 })
    }

    /// Returns the burst in bytes or packets.
    pub const fn units(self) -> u64 {
        (self.mantissa as u64) << self.exponent
    }

    /// Returns the shift by which levels and credits of the bucket are scaled down, because a large burst exceeds the
    /// 23 bits of a level.
    pub const fn scale(self) -> u32 {
        (self.exponent as u32).saturating_sub(LEVEL_EXPONENT)
    }
}

/// A rate: every 2^exponent cycles a bucket is credited with the mantissa (9 bits), in units of the bucket's
/// scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RateCode {
    mantissa: u16,
    exponent: u8,
}

impl RateCode {
    /// No credit ever.
    pub const ZERO: Self = Self { mantissa: 0, exponent: RATE_EXPONENT_MAX as u8 };

    /// Returns the code for `per_second / divisor` units per second with the finest credits that the burst allows. The
    /// rate is rounded down, by less than one part in 2^8 unless it is very low (driver).
    ///
    /// # Errors
    /// Fails if the code cannot express the rate, and if the burst is below one credit.
    pub fn new(per_second: u64, divisor: u32, clock: Clock, burst: BurstCode) -> Result<Self, MeterError> {
        if per_second == 0 {
            return Ok(Self::ZERO);
        }
        // Units per cycle are `top / bottom`.
        let top = u128::from(per_second) * u128::from(clock.hz().1);
        let bottom = u128::from(clock.hz().0) * u128::from(divisor.max(1));
        let largest = (1u128 << RATE_BITS) - 1;
        let limit = largest as u32;
        if top > largest * bottom {
            return Err(MeterError::RateTooHigh { per_second, limit, clock });
        }
        let mut exponent = 0;
        while exponent < RATE_EXPONENT_MAX - burst.scale()
            && top << (exponent + 1) <= largest * bottom
            && top << (exponent + 1) <= u128::from(burst.units()) * bottom
        {
            exponent += 1;
        }
        let mantissa = ((top << exponent) / bottom) as u16;
        if mantissa == 0 {
            return Err(MeterError::RateTooLow { per_second, limit: 1 << exponent, clock });
        }
        if u64::from(mantissa) > burst.units() {
            return Err(MeterError::BurstTooSmall { burst: burst.units(), credit: mantissa.into() });
        }
        Ok(Self { mantissa, exponent: (exponent + burst.scale()) as u8 })
    }

    /// Returns the units, in the bucket's scale, per credit.
    pub const fn mantissa(self) -> u16 {
        self.mantissa
    }

    /// Returns the exponent of the interval between credits, 2^exponent cycles.
    pub const fn exponent(self) -> u32 {
        self.exponent as u32
    }

    /// Returns the credits between two points in time: those of the multiples of the interval in between, so that none
    /// is lost or counted twice, however often the entry is accessed.
    #[inline]
    pub const fn credit(self, from: u64, to: u64) -> u64 {
        let intervals = (to >> self.exponent).saturating_sub(from >> self.exponent);
        intervals.saturating_mul(self.mantissa as u64)
    }
}

/// `mantissa/2^exponent per cycle`.
impl fmt::Display for RateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/2^{} per cycle", self.mantissa, self.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> Clock {
        "1GHz".parse().unwrap()
    }

    #[test]
    fn bursts_keep_eight_bits() {
        for (units, kept, scale) in
            [(0, 0, 0), (255, 255, 0), (257, 256, 0), (100_000, 99_840, 0), (8 << 20, 8 << 20, 2)]
        {
            let code = BurstCode::new(units).unwrap();
            assert_eq!((code.units(), code.scale()), (kept, scale), "{units}");
        }
        assert_eq!(BurstCode::new(BurstCode::MAX).unwrap().units(), BurstCode::MAX);
        assert!(BurstCode::new(1 << 39).is_err());
    }

    #[test]
    fn rates_worked_by_hand() {
        let burst = BurstCode::new(100_000).unwrap();
        // 8 Gb/s at 1 GHz: one byte per cycle, finest as 256 bytes every 2^8 cycles (512 would not fit).
        let code = RateCode::new(8_000_000_000, 8, clock(), burst).unwrap();
        assert_eq!((code.mantissa(), code.exponent()), (256, 8));
        // 1 Mb/s: 1/8000 byte per cycle; 2^21 / 8000 = 262.1.
        let code = RateCode::new(1_000_000, 8, clock(), burst).unwrap();
        assert_eq!((code.mantissa(), code.exponent()), (262, 21));
        // A burst of 10 packets allows credits of 10 at most: 1000 packets per second are 8.6 in 2^23 cycles.
        let code = RateCode::new(1000, 1, clock(), BurstCode::new(10).unwrap()).unwrap();
        assert_eq!((code.mantissa(), code.exponent()), (8, 23));
        let refused = RateCode::new(1 << 40, 1, clock(), burst).unwrap_err();
        assert!(refused.to_string().contains("511 per cycle of 1GHz"), "{refused}");
        assert!(matches!(RateCode::new(7, 1, clock(), burst), Err(MeterError::RateTooLow { .. })));
        let one = BurstCode::new(1).unwrap();
        assert_eq!(
            RateCode::new(4_000_000_000, 1, clock(), one),
            Err(MeterError::BurstTooSmall { burst: 1, credit: 4 })
        );
    }

    proptest! {
        #[test]
        fn rates_are_rounded_down_by_little(bps in 100_000u64..3_000_000_000_000, burst in 1_000_000u64..1 << 30) {
            let burst = BurstCode::new(burst).unwrap();
            let code = RateCode::new(bps, 8, clock(), burst).unwrap();
            prop_assert!(code.exponent() <= RATE_EXPONENT_MAX);
            // Bytes in 2^27 cycles against the exact number.
            let found = code.credit(0, 1 << 27) << burst.scale();
            let exact = (u128::from(bps) << 27) / 8_000_000_000;
            prop_assert!(u128::from(found) <= exact);
            prop_assert!(code.mantissa() < 128 || u128::from(found) * 128 >= exact * 127);
        }

        #[test]
        fn credits_add_up(points in prop::collection::vec(0u64..1 << 30, 2..20), mantissa in 1u16..512, exponent in 0u8..28) {
            let code = RateCode { mantissa, exponent };
            let mut points = points;
            points.sort_unstable();
            let sum: u64 = points.windows(2).map(|pair| code.credit(pair[0], pair[1])).sum();
            prop_assert_eq!(sum, code.credit(points[0], points[points.len() - 1]));
        }
    }
}
