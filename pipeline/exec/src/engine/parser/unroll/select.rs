//! Builds the selects of nodes: keys become bits of columns, arms become targets.

use super::super::select::{Members, Select, SetArm, SetSelect, WideSelect, side_by_side};
use super::super::{Leaf, Step, Target};
use super::{NEGATIVE, NO_MATCH, NOT_ZERO, PARTIAL_HEADER, ParserBuilder, Path};
use crate::cover::Point;
use crate::engine::action::Lowering;
use crate::engine::error::LowerError;
use crate::engine::field::{FieldAt, Piece};
use sluice_ir::{ArmSet, Lookahead, SelectKey};

impl ParserBuilder<'_> {
    /// Adds loads of bytes ahead; returns the columns of its bits. The first `used` columns
    /// are taken already.
    pub(super) fn key_ahead(
        &mut self,
        from: u32,
        ahead: Lookahead,
        used: &mut usize,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) -> FieldAt {
        let (first, end) = (u32::from(ahead.at), u32::from(ahead.at) + u32::from(ahead.width));
        let mut at = FieldAt::default();
        let mut byte = first / 8;
        while byte * 8 < end {
            let left = end.div_ceil(8) - byte;
            let bytes = if left >= 3 { 4 } else { left };
            if *used == self.ahead.len() {
                self.ahead.push(low.slots.scratch());
            }
            let slot = self.ahead[*used];
            *used += 1;
            steps.push(self.load(from + byte, bytes as u8, slot));
            // Bits of this word that belong to the key, counted from the key's first bit.
            let (start, stop) = (first.max(byte * 8), end.min((byte + bytes) * 8));
            at.pieces.push(Piece {
                slot,
                at: ((byte + bytes) * 8 - stop) as u8,
                lo: (end - stop) as u8,
                width: (stop - start) as u8,
                keep: 0,
            });
            byte += bytes;
        }
        at
    }

    /// Returns the column bits and the width of a select key.
    fn key(
        &mut self,
        key: SelectKey,
        path: &Path,
        used: &mut usize,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) -> (FieldAt, u16) {
        let flag = |slot, at| FieldAt {
            pieces: [Piece { slot, at, lo: 0, width: 1, keep: 0 }].into_iter().collect(),
        };
        match key {
            SelectKey::Lookahead(ahead) => {
                (self.key_ahead(path.leaf.payload, ahead, used, steps, low), ahead.width)
            }
            // The column's bit is set if the counter is *not* zero, so arms compare it inverted.
            SelectKey::CounterIsZero => (flag(self.counter_slot(low), NOT_ZERO), 1),
            SelectKey::CounterIsNegative => (flag(self.counter_slot(low), NEGATIVE), 1),
            SelectKey::Field(_) | SelectKey::Last(..) => match path.elements.field(self.program, key) {
                Some(f) => (low.slots.source(f), self.program.fields[f].width),
                None => (FieldAt::default(), key.width(self.program).unwrap_or(0)),
            },
        }
    }

    /// Returns a value set without members, and where its fields are among the concatenated fields of a select.
    fn members(&self, of: ArmSet, fields: &[(FieldAt, u16)]) -> Members {
        let first = usize::from(of.first);
        let number = self.program.value_sets[of.set].fields.len();
        let below = |n: usize| fields.get(n + 1..).unwrap_or_default().iter().map(|(_, width)| width).sum();
        Members { set: of.set, shifts: (first..first + number).map(below).collect(), list: Vec::new() }
    }

    pub(super) fn select(
        &mut self,
        id: usize,
        path: &Path,
        steps: &mut Vec<Step>,
        low: &mut Lowering<'_, '_>,
    ) -> Result<Select, LowerError> {
        let state = &self.program.states[path.state];
        let looks = state.select.iter().filter_map(|k| match k {
            SelectKey::Lookahead(ahead) => Some(*ahead),
            _ => None,
        });
        let farthest = looks.max_by_key(|a| a.reach());
        if let Some(ahead) = farthest {
            // The operations run even if the packet is too short for the select, so the select needs a separate node.
            if !self.within(id, &path.leaf, ahead) && !state.ops.is_empty() && !path.in_range {
                let select = Path { in_range: true, ..path.clone() };
                return Ok(Select::Always(Target::Node(self.node(select)?)));
            }
            if self.is_beyond(path, ahead.reach()) {
                let short = self.leaf(Leaf { error: PARTIAL_HEADER, ..path.leaf.clone() })?;
                return Ok(Select::Always(Target::Leaf(short)));
            }
            self.look(id, &path.leaf, ahead);
        }
        let mut used = 0;
        let fields: Vec<(FieldAt, u16)> =
            state.select.iter().map(|&k| self.key(k, path, &mut used, steps, low)).collect();
        let (mut arms, mut sets) = (Vec::new(), Vec::new());
        let transitions = path.counter.transitions(state);
        for (number, (arm, (next, counter))) in state.arms.iter().zip(&transitions).enumerate() {
            let Some(counter) = *counter else { continue };
            let (mut value, mut mask) = (0u128, 0u128);
            for (((v, m), (_, width)), key) in arm.values.iter().zip(&fields).zip(&state.select) {
                let v = if *key == SelectKey::CounterIsZero { !v } else { *v };
                value = value << width | v & m;
                mask = mask << width | m;
            }
            let target = self.target(*next, path.leaf.clone(), counter, (&path.pushed, &path.elements))?;
            let way = Point::Transition(path.state, Some(number as u16));
            let target = self.counted(target, Some(way), *next)?;
            arms.push((value, mask, target));
            sets.push(arm.set.map(|of| self.members(of, &fields)));
        }
        let has_sets = sets.iter().any(Option::is_some);
        // If the default cannot be taken, the last arm that can is taken in its place.
        let default = match transitions.last() {
            Some((next, Some(counter))) => {
                let target =
                    self.target(*next, path.leaf.clone(), *counter, (&path.pushed, &path.elements))?;
                self.counted(target, Some(Point::Transition(path.state, None)), *next)?
            }
            _ => match arms.pop() {
                Some((.., target)) => target,
                None => Target::Leaf(self.leaf(Leaf { error: NO_MATCH, ..path.leaf.clone() })?),
            },
        };
        if arms.is_empty() {
            return Ok(Select::Always(default));
        }
        if has_sets {
            if fields.iter().map(|(_, w)| u32::from(*w)).sum::<u32>() > 128 {
                return Err(LowerError::new(format!("state `{}` selects on more than 128 bits", state.name)));
            }
            let arms = arms.into_iter().zip(sets);
            let arms = arms.map(|((value, mask, target), set)| SetArm { value, mask, set, target });
            return Ok(Select::Sets(SetSelect { fields, arms: arms.collect(), default }));
        }
        if let [(at, _)] = fields.as_slice()
            && let Some(p) = at.single()
        {
            let arms = arms.into_iter().map(|(v, m, t)| (v as u32, m as u32, t)).collect();
            return Ok(Select::Word { slot: p.slot, shift: p.at, mask: p.mask(), arms, default });
        }
        match fields.iter().map(|(_, w)| u32::from(*w)).sum::<u32>() {
            0..=64 => {
                let arms = arms.into_iter().map(|(v, m, t)| (v as u64, m as u64, t)).collect();
                Ok(Select::Side { pieces: side_by_side(&fields), arms, default })
            }
            65..=128 => Ok(Select::Wide(WideSelect { fields, arms, default })),
            _ => Err(LowerError::new(format!("state `{}` selects on more than 128 bits", state.name))),
        }
    }
}
