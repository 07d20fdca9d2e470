//! The ones' complement sum of fields as they follow each other on the wire.

use super::{Phv, ROOM};
use sluice_asic::hash::BitString;
use sluice_ir::{Field, Program};

/// Ones' complement sum of the 16-bit words that the fields' bits make, joined in order, most significant
/// bit first; a last incomplete word is filled up with zeros behind.
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
