//! Packet values that reach a meter ALU: operands of registers, and samples of filters and WRED (model: chip §1.3;
//! the open compiler's rule).
//!
//! They come as crossbar bytes or as hash bits; all values of one ALU come the same way.
//!
//! - Bytes: the ALU takes bytes of one exact crossbar group, from `alu_operand_byte` on, under a mask of bytes. Its
//!   second value begins one ALU width after the first. The bytes of a value must hold nothing else, from their first
//!   bit on, and the crossbar must be able to bring them to these positions.
//! - Hash bits: bits of one hash group, for values that cannot come as bytes and for hashes.

use super::super::super::bits::{ByteRef, PhvView};
use sluice_asic::chip::MauSpec;
use sluice_ir::Expr;
use sluice_ir::cfg::Var;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Packet value for an ALU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Bits of a field.
    Bits {
        /// The field.
        var: Var,
        /// The lowest bit.
        lo: u16,
        /// Number of bits.
        width: u16,
    },
    /// A hash.
    Hash {
        /// Bytes from which it is computed.
        bytes: BTreeSet<ByteRef>,
        /// Number of bits.
        width: u16,
    },
}

/// Ways in which the packet values of one ALU can reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OperandDemand {
    /// Alternatives as crossbar bytes, each with the byte's position in an exact crossbar group; empty if there is
    /// none.
    pub(crate) buses: Vec<Vec<(u16, ByteRef)>>,
    /// Bytes from which hash bits compute the values.
    pub(crate) bytes: BTreeSet<ByteRef>,
    /// Hash bits of the values, by their numbers in a group; empty if the values are too wide or too many.
    pub(crate) hash_bits: BTreeSet<u16>,
}

/// Returns a field, or slices and casts of a field, as bits of it; `None` for any other expression.
pub(super) fn bits_of(expr: &Expr, width_of: &impl Fn(&Expr) -> u16) -> Option<Value> {
    match expr {
        Expr::Field(f) => Some(Value::Bits { var: Var::Field(*f), lo: 0, width: width_of(expr) }),
        Expr::Slice(inner, hi, low) => match bits_of(inner, width_of)? {
            Value::Bits { var, lo, width } => {
                let kept = hi.saturating_add(1).min(width).saturating_sub(*low);
                Some(Value::Bits { var, lo: lo + low, width: kept })
            }
            hash @ Value::Hash { .. } => Some(hash),
        },
        Expr::Cast(inner, to) => match bits_of(inner, width_of)? {
            Value::Bits { var, lo, width } => Some(Value::Bits { var, lo, width: width.min(*to) }),
            hash @ Value::Hash { .. } => Some(hash),
        },
        _ => None,
    }
}

/// Returns the ways in which `values` can reach an ALU of `width` bits that takes at most `slots` values.
pub(super) fn demand(
    (mau, view): (&MauSpec, &PhvView<'_>),
    values: &[Value],
    width: u16,
    slots: u16,
) -> OperandDemand {
    let mut demand = OperandDemand::default();
    for value in values {
        match value {
            Value::Bits { var, lo, width } => {
                demand.bytes.extend(view.bytes_of_bits(*var, *lo, *width).into_keys());
            }
            Value::Hash { bytes, .. } => demand.bytes.extend(bytes),
        }
    }
    if values.len() > usize::from(slots) {
        return demand;
    }
    demand.buses = orders(values.len() as u16, slots)
        .into_iter()
        .filter_map(|order| bus((mau, view), values, width, &order))
        .collect();
    demand.hash_bits = hash_bits(values, width, mau.alu_hash_bits as u16);
    demand
}

/// Returns the assignments of `values` values to slots, in order of preference.
fn orders(values: u16, slots: u16) -> Vec<Vec<u16>> {
    match (values, slots) {
        (1, _) => (0..slots).map(|s| vec![s]).collect(),
        (2, 2..) => vec![vec![0, 1], vec![1, 0]],
        _ => Vec::new(),
    }
}

/// Returns the bytes of each value with their positions, from the position of its slot on; `None` if they cannot be
/// there.
fn bus(
    (mau, view): (&MauSpec, &PhvView<'_>),
    values: &[Value],
    width: u16,
    order: &[u16],
) -> Option<Vec<(u16, ByteRef)>> {
    let mut places = Vec::new();
    for (value, slot) in values.iter().zip(order) {
        let Value::Bits { var, lo, width: bits } = value else { return None };
        let first = mau.alu_operand_byte as u16 + slot * (width / 8).max(1);
        for byte in 0..bits.min(&width).div_ceil(8) {
            let count = (bits.min(&width) - byte * 8).min(8);
            let mask = u8::MAX >> (8 - count);
            let mut found = view.bytes_of_bits(*var, lo + byte * 8, count).into_iter();
            let (at, (found, bits)) = (first + byte, found.next()?);
            let whole = bits == mask && view.occupied(found) & !mask == 0;
            if !whole || !found.may_stand_at(at) || u32::from(at) >= mau.exact_xbar_group_bytes {
                return None;
            }
            places.push((at, found));
        }
    }
    Some(places)
}

/// Returns the hash bits of a group that the values take, each value from a multiple of `width` on: fields first, the
/// widest first, then hashes. If all values are hashes, the first one takes the upper slot if that has room. Empty if
/// the values do not fit below `limit`.
fn hash_bits(values: &[Value], width: u16, limit: u16) -> BTreeSet<u16> {
    let mut fields: Vec<u16> = Vec::new();
    let mut hashes: Vec<u16> = Vec::new();
    for value in values {
        match value {
            Value::Bits { width: bits, .. } => fields.push(*bits.min(&width)),
            Value::Hash { width: bits, .. } => hashes.push(*bits.min(&width)),
        }
    }
    fields.sort_by_key(|bits| Reverse(*bits));
    let mut taken = BTreeSet::new();
    let mut slots: BTreeSet<u16> = BTreeSet::new();
    for (i, bits) in fields.iter().chain(&hashes).enumerate() {
        let upper = i >= fields.len() && width >= 32 && slots.is_empty() && width + bits <= limit;
        let slot = if upper { 1 } else { (0..).find(|s| !slots.contains(s)).unwrap_or(0) };
        slots.insert(slot);
        taken.extend(slot * width..slot * width + bits);
    }
    if taken.last().is_some_and(|last| *last >= limit) { BTreeSet::new() } else { taken }
}
