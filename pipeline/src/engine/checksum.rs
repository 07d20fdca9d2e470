//! Ones' complement sums, over bytes of a packet and over fields in columns. What may not live here: where a
//! sum is stored.

use super::batch::Phv;
use super::field::FieldAt;

/// Ones' complement sum of big-endian 16-bit words, an odd byte padded with zero, folded to 16 bits.
#[inline(always)]
pub(super) fn sum_bytes(bytes: &[u8]) -> u16 {
    fold16(sum_words(bytes))
}

#[inline(always)]
fn sum_words(bytes: &[u8]) -> u64 {
    // 2^16 is 1 modulo 2^16 - 1, so words of any multiple of 16 bits may be summed.
    let (words, rest) = bytes.as_chunks::<4>();
    let sum: u64 = words.iter().map(|w| u64::from(u32::from_be_bytes(*w))).sum();
    let mut last = [0u8; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_be_bytes(last))
}

/// The sum without the word at the even offset `at`, which need not be cleared first: a store of two bytes just
/// before a load of four holds the load up.
#[inline(always)]
pub(super) fn sum_bytes_without(bytes: &[u8], at: usize) -> u16 {
    let old = bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u16::from_be_bytes(*b));
    let up = if at.is_multiple_of(4) { 16 } else { 0 };
    fold16(sum_words(bytes) - (u64::from(old) << up))
}

/// The same over field values laid side by side, most significant bit first.
pub(super) fn sum_fields<const N: usize>(inputs: &[(FieldAt, u16)], phv: &Phv<N>, lane: usize) -> u16 {
    let (mut sum, mut word, mut filled) = (0u64, 0u32, 0u16);
    for (at, width) in inputs {
        let value = at.read(phv, lane);
        let mut left = *width;
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

/// Folds with end-around carry: 64 bits to 33, to 18, to 17, to 16.
#[inline(always)]
fn fold16(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}
