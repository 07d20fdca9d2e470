//! The ones' complement sum of fields as they follow each other on the wire. What may not live here: when
//! a checksum is verified or updated.

use super::Phv;
use crate::ir::{Field, Program};
use sluice_asic::hash::BitString;

/// Ones' complement sum of the 16-bit words that the fields' bits make, joined in order, most significant
/// bit first; a last incomplete word is filled up with zeros behind.
pub(super) fn ones_complement_sum(program: &Program, phv: &Phv, fields: &[Field]) -> u16 {
    let mut bits = BitString::new();
    for &field in fields {
        bits.push(phv.field(field), program.fields[field].width.into());
    }
    let bits: Vec<bool> = bits.iter().collect();
    bits.chunks(16).fold(0, |sum: u16, word| {
        let word =
            word.iter().zip((0..16).rev()).fold(0u16, |w, (&bit, weight)| w | u16::from(bit) << weight);
        let (sum, carry) = sum.overflowing_add(word);
        sum + u16::from(carry)
    })
}
