//! [`Draw`]: the only source of random numbers of the generators.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A stream of random numbers from an explicit seed.
///
/// PCG 64 MCG, which is stable by value, with ranges of our own.
#[derive(Debug, Clone)]
pub struct Draw(Pcg64Mcg);

impl Draw {
    /// Returns the stream number `stream` of `seed`; different pairs give unrelated streams.
    pub fn new(seed: u64, stream: u64) -> Self {
        let upper = mix(seed);
        let lower = mix(upper ^ mix(stream));
        Self(Pcg64Mcg::new(u128::from(mix(upper ^ lower)) << 64 | u128::from(lower)))
    }

    /// Returns any `u64`.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number less than `limit`, all equally likely; 0 if `limit` is 0.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        // The upper half of a 64 x 64 bit product, without the few lower halves that would favour some results.
        let biased = limit.wrapping_neg().checked_rem(limit).unwrap_or(0);
        loop {
            let product = u128::from(self.bits()) * u128::from(limit);
            if product as u64 >= biased {
                return (product >> 64) as u64;
            }
        }
    }

    /// Returns a number from `first` to `last`, both included, all equally likely; `first` if `last` is less.
    #[inline]
    pub fn between(&mut self, first: u32, last: u32) -> u32 {
        first + self.below(u64::from(last.saturating_sub(first)) + 1) as u32
    }

    /// Draws an exponentially distributed number of mean 1, in units of 2^-[`EXPONENTIAL_BITS`].
    ///
    /// It uses Knuth's algorithm S (The Art of Computer Programming, volume 2, §3.4.1), which is exact except for the
    /// last bit. It uses integers alone, so all machines draw the same numbers. About one draw in three takes more than
    /// two words.
    #[inline]
    pub fn exponential(&mut self) -> u64 {
        let whole = u128::from(self.bits().leading_ones());
        let fraction = self.bits();
        let sum = if fraction < LN_2 {
            whole * u128::from(LN_2) + u128::from(fraction)
        } else {
            // The minimum of this many numbers, times ln 2: the part of the density that the first case leaves out.
            let more = MINIMISE.iter().take_while(|&&limit| fraction >= limit).count();
            let least = (0..more + 2).fold(u64::MAX, |least, _| least.min(self.bits()));
            (((whole << 64 | u128::from(least)) >> 8) * u128::from(LN_2)) >> 56
        };
        (sum >> (64 - EXPONENTIAL_BITS)) as u64
    }

    /// Returns true in `percent` of a hundred cases.
    #[inline]
    pub fn percent(&mut self, percent: u8) -> bool {
        self.below(100) < u64::from(percent)
    }
}

/// Fraction bits of [`Draw::exponential`].
pub const EXPONENTIAL_BITS: u32 = 40;

/// ln 2 in units of 2^-64.
const LN_2: u64 = 0xb172_17f7_d1cf_79ab;

/// Sums of (ln 2)^i / i! for i from 1 to 2, 3, 4 …, in units of 2^-64. They approach 1; the last entry is used as 1.
const MINIMISE: [u64; 16] = {
    let (mut sums, mut index) = ([u64::MAX; 16], 0);
    let (mut power, mut sum) = (LN_2 as u128, LN_2 as u128);
    while index < sums.len() - 1 {
        power = ((power * LN_2 as u128) >> 64) / (index as u128 + 2);
        sum += power;
        sums[index] = sum as u64;
        index += 1;
    }
    sums
};

/// Mixes a number as SplitMix64 does, which spreads small seeds over all bits. `sluice_asic::hash::splitmix64` is the
/// same function. It is repeated here because this crate depends on no other crate of the workspace, and because a
/// change of the mixer would change every generated capture.
pub(super) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_streams_are_pinned() {
        let mut draw = Draw::new(1, 0);
        let first: Vec<u64> = (0..3).map(|_| draw.below(1000)).collect();
        assert_eq!(first, PINNED);
        assert_ne!(Draw::new(1, 1).bits(), Draw::new(1, 0).bits());
        assert_ne!(Draw::new(2, 0).bits(), Draw::new(1, 0).bits());
    }

    /// Computed by an independent implementation of PCG XSL-RR 128/64 (MCG).
    const PINNED: [u64; 3] = [165, 401, 531];

    /// Mean 1, variance 1, and a share of e^-k above k, each within three standard deviations of 200,000 draws.
    #[test]
    fn exponentials_have_their_moments() {
        let mut draw = Draw::new(1, 0);
        let draws: Vec<f64> =
            (0..200_000).map(|_| draw.exponential() as f64 / (1u64 << EXPONENTIAL_BITS) as f64).collect();
        let mean = draws.iter().sum::<f64>() / 200_000.0;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.0067, "{mean}");
        assert!((variance - 1.0).abs() < 0.019, "{variance}");
        for (above, share) in
            [(0.1, 0.904_837), (0.5, 0.606_531), (1.0, 0.367_879), (2.0, 0.135_335), (5.0, 0.006_738)]
        {
            let found = draws.iter().filter(|&&x| x > above).count() as f64 / 200_000.0;
            assert!((found - share).abs() < 0.0034, "{above}: {found}");
        }
    }

    #[test]
    fn the_exponentials_are_pinned() {
        let mut draw = Draw::new(1, 0);
        let sum: u64 = (0..1000).map(|_| draw.exponential()).sum();
        assert_eq!(sum >> EXPONENTIAL_BITS, PINNED_SUM);
    }

    /// Computed by an independent implementation.
    const PINNED_SUM: u64 = 1037;

    #[test]
    fn ranges_hold_and_are_reached() {
        let mut draw = Draw::new(7, 0);
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[draw.between(10, 15) as usize - 10] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
        assert_eq!(draw.below(0), 0);
        assert_eq!(draw.below(1), 0);
        assert_eq!(draw.between(5, 4), 5);
        assert!(draw.between(0, u32::MAX) > 0);
        assert!(!draw.percent(0) && draw.percent(100));
    }
}
