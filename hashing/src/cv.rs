//! Coefficients of variation without rounding.

use std::cmp::Ordering;
use std::fmt;

/// A coefficient of variation: population standard deviation over mean. Stored as its exact square.
#[derive(Clone, Copy, Debug)]
pub struct Cv {
    numerator: u128,
    denominator: u128,
}

impl Cv {
    /// No variation.
    pub const ZERO: Cv = Cv { numerator: 0, denominator: 1 };

    /// Returns the coefficient of these counts; zero if there are none or all are zero.
    #[must_use]
    pub fn of(values: &[u64]) -> Cv {
        let sum: u128 = values.iter().map(|v| u128::from(*v)).sum();
        let squares: u128 = values.iter().map(|v| u128::from(*v) * u128::from(*v)).sum();
        if sum == 0 {
            return Cv::ZERO;
        }
        // Var / mean² = (n·Σx² − (Σx)²) / (Σx)².
        Cv { numerator: values.len() as u128 * squares - sum * sum, denominator: sum * sum }
    }

    /// Returns the coefficient of the ratios `value / weight`; entries of weight 0 are left out.
    #[must_use]
    pub fn of_ratios(values: &[u32], weights: &[u32]) -> Cv {
        let weighted = || values.iter().zip(weights).filter(|(_, w)| **w > 0);
        let common = weighted().fold(1u64, |l, (_, w)| lcm(l, u64::from(*w)));
        let scaled: Vec<u64> = weighted().map(|(v, w)| u64::from(*v) * (common / u64::from(*w))).collect();
        Cv::of(&scaled)
    }

    /// Returns the exact square as a fraction that is not reduced.
    #[must_use]
    pub const fn squared(self) -> (u128, u128) {
        (self.numerator, self.denominator)
    }

    /// Returns true if the coefficient is at most this many thousandths.
    #[must_use]
    pub fn at_most(self, thousandths: u32) -> bool {
        let t = u128::from(thousandths);
        self.numerator * 1_000_000 <= t * t * self.denominator
    }

    /// Returns the coefficient in units of 2⁻³², rounded up; the largest value if the numbers are too large for that.
    #[must_use]
    pub(super) fn units(self) -> u64 {
        if self.numerator >> 64 != 0 {
            return u64::MAX;
        }
        let square = (self.numerator << 64).div_ceil(self.denominator);
        let root = square.isqrt();
        u64::try_from(root + u128::from(root * root < square)).unwrap_or(u64::MAX)
    }

    /// Returns the coefficient, rounded to a floating-point number.
    #[must_use]
    pub fn value(self) -> f64 {
        (self.numerator as f64 / self.denominator as f64).sqrt()
    }
}

impl PartialEq for Cv {
    fn eq(&self, other: &Cv) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Cv {}

impl PartialOrd for Cv {
    fn partial_cmp(&self, other: &Cv) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cv {
    fn cmp(&self, other: &Cv) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

impl fmt::Display for Cv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}", self.value())
    }
}

/// Returns the greatest common divisor; for 0 and x it is x.
#[must_use]
pub const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the least common multiple.
pub(super) const fn lcm(a: u64, b: u64) -> u64 {
    if a == 0 || b == 0 { 0 } else { a / gcd(a, b) * b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_exact() {
        // model: hashing §4.4: (3,1) as (6,1) is 1/3, as (5,2) is 1/11.
        for (values, root) in [([6, 1], 3), ([5, 2], 11)] {
            let (numerator, denominator) = Cv::of_ratios(&values, &[3, 1]).squared();
            assert_eq!(numerator * root * root, denominator);
        }
        assert_eq!(Cv::of(&[]), Cv::ZERO);
        assert_eq!((Cv::ZERO.units(), Cv::of(&[1, 3]).units()), (0, 1 << 31));
        // A third is rounded up to the next multiple of 2⁻³².
        assert_eq!(Cv::of_ratios(&[6, 1], &[3, 1]).units(), (1 << 32) / 3 + 1);
        assert_eq!(Cv::of(&[0, 0]), Cv::ZERO);
        assert!(Cv::of(&[1, 3]).at_most(500) && !Cv::of(&[1, 3]).at_most(499));
        assert!(Cv::of(&[1, 2]) < Cv::of(&[1, 3]));
    }
}
