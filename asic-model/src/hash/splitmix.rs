//! The mixer of the SplitMix64 generator.

/// Returns a bijective mix of a 64-bit word: the output of SplitMix64 (Steele, Lea and Flood, "Fast Splittable
/// Pseudorandom Number Generators", OOPSLA 2014) after one step from `state`.
///
/// A change of one input bit changes each output bit in about half of all cases, so small and similar numbers become
/// unrelated words: seeds, columns of a random matrix, or draws that depend on a number alone.
#[inline]
#[must_use]
pub const fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_draws() {
        // The first five draws of SplitMix64 with seed 1234567, as Rosetta Code lists them.
        let step = 0x9e37_79b9_7f4a_7c15u64;
        let draws: Vec<u64> =
            (0..5u64).map(|n| splitmix64(step.wrapping_mul(n).wrapping_add(1_234_567))).collect();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(draws, expected);
    }
}
