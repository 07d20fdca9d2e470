//! The discounting rate estimator of a link (model: flowlets §4.1), as a low-pass filter in rate mode: X is the number
//! of bytes sent, decayed with the time constant tau; X / (C tau), in eighths, is the congestion of a link of rate C.
//!
//! The filter's output is shifted, not divided, so C tau must be a power of two of bytes. The time constant is the one
//! nearest to the requested tau that satisfies this.
//!
//! The exact estimator of the paper decays every `Tdre` by a share `a`, with tau = Tdre / a. The filter
//! decays when a packet arrives or the generator visits: by the factor 1 - 2^-n + 2^-(2n+1) for a step
//! of 2^-n time constants, and not at all for a step below 1/128 of a time constant.

use sluice_asic::meter::LpfMode;
use sluice_asic::units::{BitRate, Duration};
use sluice_ir::LpfSpec;

/// Range of the parameter `tau`.
pub(super) struct Bounds {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { least: Duration::from_micros(10), most: Duration::from_micros(10_000) }
    }
}

/// Settings of a link's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimator {
    /// Time constant.
    pub time: Duration,
    /// Right shift of the output in bits; the shifted value is in eighths of the link's rate.
    pub shift: u8,
}

impl Estimator {
    /// Returns the settings as the specification of a low-pass filter.
    #[must_use]
    pub fn spec(self) -> LpfSpec {
        LpfSpec { mode: LpfMode::Rate, rise: self.time, fall: self.time, shift: self.shift }
    }
}

/// Returns the filter for a link of this rate, with a time constant within a factor of the square root of 2 of `tau`.
#[must_use]
pub fn estimator(rate: BitRate, tau: Duration) -> Estimator {
    let (bits, ps) = (u128::from(rate.as_bps().max(1)), u128::from(tau.as_ps()));
    // Bytes that the link sends in tau. The square is compared, to find the power of two with the nearest logarithm.
    let bytes = (bits * ps / 8_000_000_000_000).max(16);
    let below = bytes.ilog2();
    let power = if bytes * bytes > 1u128 << (2 * below + 1) { below + 1 } else { below };
    let power = power.clamp(4, 34);
    let time = (1u128 << power) * 8_000_000_000_000 / bits;
    Estimator { time: Duration::from_ps(time as u64), shift: (power - 3) as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_constants_are_near_what_is_asked_for_and_eighths_are_powers_of_two() {
        for (rate, ps, shift) in [
            ("400G", 167_772_160, 20),
            ("100G", 167_772_160, 18),
            ("40G", 209_715_200, 17),
            ("10G", 209_715_200, 15),
        ] {
            let rate: BitRate = rate.parse().unwrap();
            let found = estimator(rate, Duration::from_micros(160));
            assert_eq!((found.time.as_ps(), found.shift), (ps, shift), "{rate}");
            // The filter of a link that is always busy reads eight eighths.
            let bytes = u128::from(rate.as_bps()) * u128::from(found.time.as_ps()) / 8_000_000_000_000;
            assert_eq!(bytes >> found.shift, 8);
        }
    }
}
