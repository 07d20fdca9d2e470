//! Division by a constant divisor with two multiplications. A division takes several times as long, and every packet
//! needs more than one.

/// A divisor with its reciprocal at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Divisor {
    value: u64,
    /// `floor((2^64 - 1) / value)`.
    reciprocal: u64,
}

impl Divisor {
    /// Creates the divisor. Zero divides as one; callers exclude it before.
    pub(crate) const fn new(value: u64) -> Self {
        let value = if value == 0 { 1 } else { value };
        Self { value, reciprocal: u64::MAX / value }
    }

    pub(crate) const fn get(self) -> u64 {
        self.value
    }

    /// Returns `floor(n / value)`.
    #[inline(always)]
    pub(crate) const fn floor(self, n: u64) -> u64 {
        // The estimate is below n / value by less than 2: by n / 2^64 for the reciprocal's rounding and by
        // less than 1 for its own. What is left over says by how much.
        let estimate = ((n as u128 * self.reciprocal as u128) >> 64) as u64;
        let rest = n - estimate * self.value;
        if rest < self.value {
            estimate
        } else if rest - self.value < self.value {
            estimate + 1
        } else {
            estimate + 2
        }
    }

    /// Returns `ceil(n / value)`.
    #[inline(always)]
    pub(crate) const fn ceil(self, n: u64) -> u64 {
        let floor = self.floor(n);
        floor + (floor * self.value != n) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges() {
        for d in [1, 2, 3, 61, 176, 2_000, 50_000, u64::MAX - 1, u64::MAX, 1 << 63] {
            for n in [0, 1, d - 1, d, d.saturating_add(1), u64::MAX - 1, u64::MAX] {
                assert_eq!(
                    (Divisor::new(d).floor(n), Divisor::new(d).ceil(n)),
                    (n / d, n.div_ceil(d)),
                    "{n}/{d}"
                );
            }
        }
        assert_eq!(Divisor::new(0).get(), 1);
    }

    proptest! {
        #[test]
        fn as_division(n: u64, d in 1..=u64::MAX, shift in 0..64_u32) {
            let d = (d >> shift).max(1);
            prop_assert_eq!(Divisor::new(d).floor(n), n / d);
            prop_assert_eq!(Divisor::new(d).ceil(n), n.div_ceil(d));
        }
    }
}
