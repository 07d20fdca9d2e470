//! Remainder by a divisor that is known in advance, computed without a division.

/// `x % divisor` for 32-bit numbers as two multiplications.
///
/// With `M = ceil(2^64 / d)`, the low 64 bits of `M·x` are the fraction `x/d` scaled by 2^64, and multiplying
/// them by `d` brings the remainder into the high half. Exact for every 32-bit `x` and `d` (Lemire, Kaser,
/// Kurz: "Faster remainder by direct computation", 2019).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FastMod {
    divisor: u32,
    magic: u64,
}

impl FastMod {
    /// Remainders by `divisor`; by 0 all remainders are 0.
    pub const fn new(divisor: u32) -> Self {
        // A divisor of 1 needs 2^64, which wraps to 0 and still yields remainder 0.
        let magic = if divisor == 0 { 0 } else { (u64::MAX / divisor as u64).wrapping_add(1) };
        Self { divisor, magic }
    }

    /// Returns the divisor.
    pub const fn divisor(self) -> u32 {
        self.divisor
    }

    /// Returns `x % divisor`.
    #[inline]
    pub const fn rem(self, x: u32) -> u32 {
        let fraction = self.magic.wrapping_mul(x as u64);
        ((fraction as u128 * self.divisor as u128) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_for_every_fourteen_bit_hash_and_word_size() {
        for divisor in 1..=120 {
            let fast = FastMod::new(divisor);
            for x in 0..1 << 14 {
                assert_eq!(fast.rem(x), x % divisor, "{x} % {divisor}");
            }
        }
        assert_eq!(FastMod::new(0).rem(77), 0);
    }

    proptest! {
        #[test]
        fn exact_everywhere(x: u32, divisor in 1u32..) {
            prop_assert_eq!(FastMod::new(divisor).rem(x), x % divisor);
            prop_assert_eq!(FastMod::new(divisor).rem(u32::MAX), u32::MAX % divisor);
        }
    }
}
