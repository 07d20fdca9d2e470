//! One's complement sums, over bytes of a packet and over fields in columns.

use super::batch::Phv;
use super::field::FieldAt;

/// Returns the one's complement sum of big-endian 16-bit words, folded to 16 bits; an odd last byte is padded with zero.
#[inline(always)]
pub(super) fn sum_bytes(bytes: &[u8]) -> u16 {
    fold16(sum_words(bytes)).swap_bytes()
}

/// Sums native-endian words, which gives the sum with its bytes swapped, so no word has to be swapped. 2^16 is 1 modulo
/// 2^16 - 1, so words of any multiple of 16 bits can be summed.
#[inline(always)]
fn sum_words(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|w| u64::from(u32::from_le_bytes(*w))).sum();
    if rest.is_empty() {
        return sum;
    }
    let mut last = [0u8; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_le_bytes(last))
}

/// Returns the sum without the word at the even offset `at`, which then need not be cleared first: a store of two bytes
/// right before a load of four delays the load.
#[inline(always)]
pub(super) fn sum_bytes_without(bytes: &[u8], at: usize) -> u16 {
    let old = bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_le_bytes(*b));
    let up = if at.is_multiple_of(4) { 0 } else { 16 };
    fold16(sum_words(bytes) - (u64::from(old) << up)).swap_bytes()
}

/// Returns the sum over field values in sequence, most significant bit first.
pub(super) fn sum_fields<const N: usize>(inputs: &[(FieldAt, u16)], phv: &Phv<N>, lane: usize) -> u16 {
    sum_values(inputs.iter().map(|(at, width)| (at.read(phv, lane), *width)))
}

/// Returns the sum over values with these widths.
#[inline]
pub(super) fn sum_values(values: impl Iterator<Item = (u128, u16)>) -> u16 {
    let (mut sum, mut word, mut filled) = (0u64, 0u32, 0u16);
    for (value, width) in values {
        let mut left = width;
        while left > 0 {
            let take = left.min(16 - filled);
            let bits = (value >> (left - take)) as u32 & ((1u32 << take) - 1);
            word = word << take | bits;
            filled += take;
            left -= take;
            if filled == 16 {
                sum += u64::from(word);
                (word, filled) = (0, 0);
            }
        }
    }
    if filled > 0 {
        sum += u64::from(word << (16 - filled));
    }
    fold16(sum)
}

/// Folds a sum of fewer than 2^32 words of 32 bits with end-around carry.
#[inline(always)]
fn fold16(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum as u32).wrapping_add((sum >> 32) as u32);
    // The upper half of this is both halves and the carry of their sum.
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in RFC 1071: word by word.
    fn plain(bytes: &[u8]) -> u16 {
        let word = |w: &[u8]| u32::from(w[0]) << 8 | u32::from(w.get(1).copied().unwrap_or(0));
        bytes.chunks(2).map(word).fold(0, |sum, w| ((sum + w) & 0xffff) + ((sum + w) >> 16)) as u16
    }

    #[test]
    fn sums_are_those_of_words_one_by_one() {
        let mut seed = 1u32;
        let mut byte = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match n % 5 {
                0 => 0,
                1 => 0xff,
                _ => (seed >> 24) as u8,
            }
        };
        for n in 0..2_000u32 {
            let mut bytes: Vec<u8> = (0..n % 61).map(|_| byte(n)).collect();
            assert_eq!(sum_bytes(&bytes), plain(&bytes), "{bytes:x?}");
            for at in (0..bytes.len().saturating_sub(1)).step_by(2) {
                let without = sum_bytes_without(&bytes, at);
                let old = [bytes[at], bytes[at + 1]];
                (bytes[at], bytes[at + 1]) = (0, 0);
                assert_eq!(without, plain(&bytes), "{bytes:x?} {at}");
                (bytes[at], bytes[at + 1]) = (old[0], old[1]);
            }
        }
        assert_eq!([0, 1, 0xffff, 0x1_0000, u64::from(u32::MAX)].map(fold16), [0, 1, 0xffff, 1, 0xffff]);
    }
}
