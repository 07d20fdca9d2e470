//! Rule 14: packet values reach meter ALUs as bytes of one crossbar group or as bits of one hash group.
//!
//! The rule searches for an order of the values that agrees with the coordinates, independently of the placer's choice.

use super::Check;
use crate::bits::ByteRef;
use crate::data::{Owner, Part};
use crate::purpose::{ArrayRef, Purpose};
use sluice_asic::chip::Column;
use sluice_ir::cfg::Var;
use sluice_ir::{Expr, Field, Hash, Meter, Operand, PrimitiveKind, Register};
use std::collections::{BTreeMap, BTreeSet};

/// A value that an ALU takes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Taken {
    /// Bits of a field: the lowest bit and the width.
    Bits(Field, u16, u16),
    Hash(Hash),
}

/// Array whose ALU takes packet values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Array {
    which: ArrayRef,
    values: Vec<Taken>,
    /// Bits from the first value to the second.
    step: u16,
    slots: usize,
}

/// Possible way of the values to the ALU: kind of unit, crossbar or hash group, and the slot of each value.
type Way = (Column, u16, Vec<u16>);

pub(super) fn check(check: &mut Check<'_>) {
    let mut ways: BTreeMap<(u8, Array), BTreeSet<Way>> = BTreeMap::new();
    for (owner, part) in check.parts() {
        for array in arrays(check, owner) {
            let found = found(check, owner, part, &array);
            // Nodes that share an ALU share the way.
            let common = match ways.remove(&(part.stage, array.clone())) {
                None => found,
                Some(before) => before.intersection(&found).cloned().collect(),
            };
            if common.is_empty() {
                let text = format!(
                    "packet values of {} come to its ALU in stage {} neither by the crossbar bytes that it takes nor by \
                     hash bits",
                    array.which.text(check.program),
                    part.stage
                );
                check.report(owner, text);
            }
            ways.insert((part.stage, array), common);
        }
        selector(check, owner, part);
    }
}

/// Returns the fields of which ALUs of a node take bits.
pub(super) fn fields_taken(check: &Check<'_>, owner: Owner) -> BTreeSet<Var> {
    let arrays = arrays(check, owner);
    let field = |v: &Taken| if let Taken::Bits(f, ..) = v { Some(Var::Field(*f)) } else { None };
    arrays.iter().flat_map(|a| &a.values).filter_map(field).collect()
}

/// Returns the arrays of a node whose ALUs take packet values.
fn arrays(check: &Check<'_>, owner: Owner) -> BTreeSet<Array> {
    let program = check.program;
    let actions = check.cfg(owner.gress).actions(program, owner.node);
    let kinds = actions.iter().flat_map(|&a| &program.actions[a].body).map(|p| &p.kind);
    let array = |kind: &PrimitiveKind| match kind {
        PrimitiveKind::Register(access) => {
            Some(of_register(check, program.register_actions[access.action].register))
        }
        PrimitiveKind::Meter(access) if !program.meters[access.meter].kind.is_coloured() => {
            Some(of_meter(check, access.meter))
        }
        _ => None,
    };
    kinds.filter_map(array).filter(|a| !a.values.is_empty()).collect()
}

fn of_register(check: &Check<'_>, register: Register) -> Array {
    let (program, data) = (check.program, &check.program.registers[register]);
    let mut values: Vec<Taken> = Vec::new();
    for (_, action) in program.actions_of(register) {
        for operand in action.operands() {
            let value = match operand {
                Operand::Phv(e) => bits(check, &e),
                Operand::Hash(hash) => Some(Taken::Hash(hash)),
            };
            values.extend(value.filter(|v| !values.contains(v)));
        }
    }
    let step = data.format.half_bits() as u16;
    Array { which: ArrayRef::Register(register), values, step, slots: 2 }
}

fn of_meter(check: &Check<'_>, meter: Meter) -> Array {
    let program = check.program;
    let mut values: Vec<Taken> = Vec::new();
    for primitive in program.actions.values().flat_map(|a| &a.body) {
        if let PrimitiveKind::Meter(access) = &primitive.kind
            && access.meter == meter
        {
            let sampled = access.input.as_ref().and_then(|e| bits(check, e));
            values.extend(sampled.filter(|v| !values.contains(v)));
        }
    }
    Array { which: ArrayRef::Meter(meter), values, step: 32, slots: 1 }
}

fn bits(check: &Check<'_>, e: &Expr) -> Option<Taken> {
    match e {
        Expr::Field(f) => Some(Taken::Bits(*f, 0, check.program.fields[*f].width)),
        Expr::Slice(inner, hi, lo) => match bits(check, inner)? {
            Taken::Bits(f, at, width) => {
                Some(Taken::Bits(f, at + lo, width.min(hi.saturating_add(1)).saturating_sub(*lo)))
            }
            Taken::Hash(_) => None,
        },
        Expr::Cast(inner, to) => match bits(check, inner)? {
            Taken::Bits(f, at, width) => Some(Taken::Bits(f, at, width.min(*to))),
            Taken::Hash(_) => None,
        },
        _ => None,
    }
}

/// Returns every way that agrees with the units of the part.
fn found(check: &Check<'_>, owner: Owner, part: Part, array: &Array) -> BTreeSet<Way> {
    let orders: Vec<Vec<u16>> = match (array.values.len(), array.slots) {
        (1, 1) => vec![vec![0]],
        (1, _) => vec![vec![0], vec![1]],
        (2, 2) => vec![vec![0, 1], vec![1, 0]],
        _ => Vec::new(),
    };
    let mut ways = BTreeSet::new();
    let hashed = by_hash(check, owner, part, array);
    for order in orders {
        match &hashed {
            None => ways.extend(
                by_bytes(check, owner, part, array, &order)
                    .into_iter()
                    .map(|g| (Column::ExactXbar, g, order.clone())),
            ),
            Some((group, taken)) => {
                let bits: BTreeSet<u16> = array
                    .values
                    .iter()
                    .zip(&order)
                    .flat_map(|(v, slot)| slot * array.step..slot * array.step + width(check, v, array.step))
                    .collect();
                let there = array.values.iter().all(|v| computed(check, owner, part, v));
                let reaches = taken.last().is_some_and(|last| u32::from(*last) < check.mau.alu_hash_bits);
                if bits == *taken && there && reaches && alone(check, part.stage, *group, taken) {
                    ways.insert((Column::HashBit, *group, order));
                }
            }
        }
    }
    ways
}

fn width(check: &Check<'_>, value: &Taken, most: u16) -> u16 {
    match value {
        Taken::Bits(_, _, width) => *width.min(&most),
        Taken::Hash(hash) => check.program.hashes[*hash].width.min(most),
    }
}

/// Returns the group and the hash bits of an array's values; `None` if they do not come by hash bits. The bits are
/// empty if they are in several groups.
fn by_hash(check: &Check<'_>, owner: Owner, part: Part, array: &Array) -> Option<(u16, BTreeSet<u16>)> {
    let operand = |p: &Purpose| *p == Purpose::AluInput(array.which);
    let units = check.units_for(owner, part.stage, Column::HashBit, operand);
    let at: BTreeSet<(u16, u16)> = units.map(|u| (u.unit.row, u.unit.col)).collect();
    let group = at.first()?.0;
    let one = at.iter().all(|(g, _)| *g == group);
    Some((group, if one { at.into_iter().map(|(_, bit)| bit).collect() } else { BTreeSet::new() }))
}

/// Returns true if every byte from which hash bits of a value are computed is on the exact crossbar, in its lane.
fn computed(check: &Check<'_>, owner: Owner, part: Part, value: &Taken) -> bool {
    let bytes: Vec<ByteRef> = match value {
        Taken::Bits(f, lo, width) => {
            check.view.bytes_of_bits(Var::Field(*f), *lo, *width).into_keys().collect()
        }
        // Rule 5 checks the inputs of hashes.
        Taken::Hash(_) => Vec::new(),
    };
    let group_bytes = check.mau.exact_xbar_group_bytes as u16;
    bytes.iter().all(|byte| {
        let wanted = Purpose::from(*byte);
        check
            .units(owner, part.stage, Column::ExactXbar)
            .any(|u| u.purpose == wanted && byte.may_stand_at(u.unit.row * group_bytes + u.unit.col))
    })
}

/// Returns true if the bytes of these hash bits have no other bits in use.
fn alone(check: &Check<'_>, stage: u8, group: u16, bits: &BTreeSet<u16>) -> bool {
    let bytes: BTreeSet<u16> = bits.iter().map(|b| b / 8).collect();
    check.placement.units.iter().all(|u| {
        u.unit.stage != stage
            || u.unit.column != Column::HashBit
            || u.unit.row != group
            || bits.contains(&u.unit.col)
            || !bytes.contains(&(u.unit.col / 8))
    })
}

/// Returns the crossbar groups in which every byte of every value is at the position at which the ALU takes it.
fn by_bytes(check: &Check<'_>, owner: Owner, part: Part, array: &Array, order: &[u16]) -> Vec<u16> {
    let own: Vec<(u16, u16, &Purpose)> = check
        .units(owner, part.stage, Column::ExactXbar)
        .map(|u| (u.unit.row, u.unit.col, &u.purpose))
        .collect();
    let Some(wanted) = array
        .values
        .iter()
        .zip(order)
        .map(|(value, slot)| bytes(check, value, array.step, *slot))
        .collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let stands = |group: u16, (at, byte): &(u16, ByteRef)| {
        let legal = byte.may_stand_at(group * check.mau.exact_xbar_group_bytes as u16 + at);
        legal && own.contains(&(group, *at, &Purpose::from(*byte)))
    };
    (0..check.mau.exact_xbar_groups as u16)
        .filter(|&group| wanted.iter().flatten().all(|b| stands(group, b)))
        .collect()
}

/// Returns the positions of a value's bytes in their group; `None` if a byte holds anything else, or if the value
/// does not begin at bit 0 of its first byte.
fn bytes(check: &Check<'_>, value: &Taken, step: u16, slot: u16) -> Option<Vec<(u16, ByteRef)>> {
    let Taken::Bits(field, lo, _) = value else { return None };
    let first = check.mau.alu_operand_byte as u16 + slot * (step / 8).max(1);
    let width = width(check, value, step);
    (0..width.div_ceil(8))
        .map(|i| {
            let count = (width - 8 * i).min(8);
            let found = check.view.bytes_of_bits(Var::Field(*field), lo + 8 * i, count);
            let (byte, mask) = found.into_iter().next()?;
            let held = |bit: u16| holds(check, byte, bit);
            let whole = u16::from(mask.trailing_ones() as u8) == count && !(count..8).any(held);
            whole.then_some((first + i, byte))
        })
        .collect()
}

/// Returns true if any variable is ever in this bit of a byte.
fn holds(check: &Check<'_>, byte: ByteRef, bit: u16) -> bool {
    let at = u16::from(byte.lane) * 8 + bit;
    let alloc = &check.placement.phv;
    let field =
        alloc.fields.values().flatten().any(|s| {
            s.container == byte.container && (u16::from(s.at)..u16::from(s.at) + s.width).contains(&at)
        });
    let validity = alloc.valid.values().flatten();
    field || validity.into_iter().any(|p| p.container == byte.container && u16::from(p.bit) == at)
}

/// Checks the input of a selector: the lowest bits of one hash group, with no other bits in their bytes.
fn selector(check: &mut Check<'_>, owner: Owner, part: Part) {
    let input = |p: &Purpose| matches!(p, Purpose::AluInput(ArrayRef::Selector(_)));
    let units = check.units_for(owner, part.stage, Column::HashBit, input);
    let at: BTreeSet<(u16, u16)> = units.map(|u| (u.unit.row, u.unit.col)).collect();
    let Some((group, _)) = at.first().copied() else { return };
    let bits: BTreeSet<u16> = at.iter().map(|(_, bit)| *bit).collect();
    let lowest = bits.iter().copied().eq(0..at.len() as u16) && at.iter().all(|(g, _)| *g == group);
    if !lowest || at.len() as u32 > check.mau.alu_hash_bits || !alone(check, part.stage, group, &bits) {
        let text =
            format!("hash bits of its selector in stage {} are not the lowest of one group", part.stage);
        check.report(owner, text);
    }
}
