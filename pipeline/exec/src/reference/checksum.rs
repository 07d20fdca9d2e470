//! Ones' complement sum of fields in wire order.

use super::ROOM;
use sluice_asic::hash::BitString;

/// Returns the ones' complement sum of the 16-bit words that the bits of values with these widths form, joined in order,
/// most significant bit first. The last word is padded with zeros at its end.
pub(super) fn sum_of_values(values: impl Iterator<Item = (u128, u16)>) -> u16 {
    let mut bits = BitString::with_capacity(ROOM);
    for (value, width) in values {
        bits.push(value, width.into());
    }
    bits.words(16).fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word as u16);
        sum + u16::from(carry)
    })
}
