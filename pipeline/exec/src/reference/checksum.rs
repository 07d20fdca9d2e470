//! Ones' complement sum of fields in wire order.

use super::{Phv, ROOM};
use sluice_asic::hash::BitString;
use sluice_ir::{Field, Program};

/// Returns the ones' complement sum of the 16-bit words that the fields' bits form, joined in order, most significant
/// bit first. The last word is padded with zeros at its end.
pub(super) fn ones_complement_sum(program: &Program, phv: &Phv, fields: &[Field]) -> u16 {
    let mut bits = BitString::with_capacity(ROOM);
    for &field in fields {
        bits.push(phv.field(field), program.fields[field].width.into());
    }
    bits.words(16).fold(0, |sum: u16, word| {
        let (sum, carry) = sum.overflowing_add(word as u16);
        sum + u16::from(carry)
    })
}
