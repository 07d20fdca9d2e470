//! Ones' complement sum of fields in wire order.

use super::{Phv, ROOM};
use sluice_asic::hash::BitString;
use sluice_ir::{Field, Program};

/// Returns the ones' complement sum of the 16-bit words that the fields' bits form, joined in order, most significant
/// bit first. The last word is padded with zeros at its end.
pub(super) fn ones_complement_sum(program: &Program, phv: &Phv, fields: &[Field]) -> u16 {
    sum_of_values(fields.iter().map(|&f| (phv.field(f), program.fields[f].width)))
}

/// Returns the sum over values with these widths, joined in order.
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
