//! Assignments.

use super::super::frame::Frame;
use super::super::places::{Place, Slot, SlotHome};
use super::super::simplify::{slice_pieces, width};
use super::super::{Lower, Res};
use super::Known;
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_ir::{Expr, Primitive, PrimitiveKind};

/// Bits that an assignment writes.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Target {
    /// The place.
    pub(in crate::lower) place: Place,
    /// The highest and the lowest bit of a slice; `None` for the whole place.
    pub(in crate::lower) bits: Option<(u32, u32)>,
}

impl Lower<'_> {
    /// Returns the bits that an expression names.
    pub(in crate::lower) fn target(&mut self, frame: &Frame, id: ExprId) -> Res<Target> {
        let at = self.ast.exprs[id].span;
        if let ExprKind::Slice { base, hi, lo } = &self.ast.exprs[id].kind {
            let base = self.target(frame, *base)?;
            let from = base.bits.map_or(0, |(_, lo)| lo);
            if let (Some(hi), Some(lo)) = (self.number(frame, *hi), self.number(frame, *lo)) {
                return Ok(Target { place: base.place, bits: Some((from + hi as u32, from + lo as u32)) });
            }
        } else if let Some(place) = self.place(frame, id) {
            return Ok(Target { place, bits: None });
        }
        Err(self.refuse(
            at,
            "this is no place that an instruction writes",
            "write a field, a variable, or an element of a stack with a constant index",
        ))
    }

    pub(super) fn assign(&mut self, frame: &mut Frame, target: ExprId, value: ExprId, at: Span) -> Res<()> {
        let target = self.target(frame, target)?;
        match (&target.place, target.bits) {
            (Place::Header(_) | Place::Struct(_) | Place::Stack(_), None) => {
                self.assign_place(frame, &target.place, value, at)
            }
            _ => self.assign_bits(frame, target, value, at),
        }
    }

    fn assign_bits(&mut self, frame: &mut Frame, target: Target, value: ExprId, at: Span) -> Res<()> {
        if let Some(hash) = self.hash_into(frame, value)? {
            return self.write_hash(&target, hash, at);
        }
        if self.is_unit_call(value) {
            return self.call(frame, value, Some(target), at);
        }
        // The field takes the low bits of a result.
        if let Some(call) = self.low_bits_of(frame, value) {
            return self.call(frame, call, Some(target), at);
        }
        if let Some(hash) = self.linear(frame, value, at)? {
            return self.write_hash(&target, hash, at);
        }
        let computed = self.operands_in_hash(frame, value, at)?;
        let pieces = self.pieces(frame, value);
        computed.iter().for_each(|operand| _ = self.results.remove(operand));
        self.write(&target, pieces?, at)
    }

    /// Returns the hash that is the value.
    fn hash_into(&mut self, frame: &Frame, value: ExprId) -> Res<Option<sluice_ir::Hash>> {
        if self.computed(value).is_some() {
            return Ok(None);
        }
        let Some(hash) = self.hash_value(frame, value)? else { return Ok(None) };
        Ok(Some(hash))
    }

    fn write_hash(&mut self, target: &Target, hash: sluice_ir::Hash, at: Span) -> Res<()> {
        let width = u32::from(self.program.hashes[hash].width);
        let slot = match (&target.place, target.bits) {
            (Place::Slot(slot), None) if u32::from(self.storage.slots[*slot].width) == width => *slot,
            (&Place::Slot(slot), Some((hi, lo))) if self.takes_deposit(slot, (hi, lo), width) => {
                self.body.deposits.push((slot, hi, lo));
                let (field, loc) = (self.field(slot), self.loc(at));
                let kind = PrimitiveKind::HashInto(field, hi as u16, lo as u16, hash, 0);
                self.body.units.push(Primitive { kind, loc });
                return Ok(());
            }
            (place, bits) => {
                // The field is wider, or has a value of this action: a copy of the hash is computed first.
                let value = self.hash_before(hash, at);
                let total: u32 = self
                    .storage
                    .slots_of(place)
                    .iter()
                    .map(|&slot| u32::from(self.storage.slots[slot].width))
                    .sum();
                let wanted = bits.map_or(total, |(hi, lo)| hi - lo + 1);
                let pieces = super::super::simplify::cast_pieces(&self.program, &[value], wanted);
                return self.write(target, pieces, at);
            }
        };
        self.body.known.insert(slot, Known::Hash(hash));
        if self.body.variables.contains(&slot) {
            return Ok(());
        }
        let (field, loc) = (self.field(slot), self.loc(at));
        self.body.units.push(Primitive { kind: PrimitiveKind::Hash(field, hash), loc });
        Ok(())
    }

    /// Returns true if a hash of `width` bits can go to a slice of a field at once: the action writes none of these bits.
    fn takes_deposit(&mut self, slot: Slot, (hi, lo): (u32, u32), width: u32) -> bool {
        let apart = |(other, high, low): &(Slot, u32, u32)| *other != slot || hi < *low || *high < lo;
        if width != hi - lo + 1
            || self.body.variables.contains(&slot)
            || self.storage.slots[slot].home == SlotHome::Intrinsic(sluice_ir::Intrinsic::DropCtl)
            || !self.body.deposits.iter().all(apart)
        {
            return false;
        }
        let own = self.read(slot);
        let kept = slice_pieces(&self.program, &[own], hi, lo);
        match self.body.known.get(&slot) {
            None => true,
            Some(Known::Pieces(pieces)) => slice_pieces(&self.program, pieces, hi, lo) == kept,
            Some(_) => false,
        }
    }

    /// Returns the call of a register or meter of which a value is the low bits.
    pub(in crate::lower) fn low_bits_of(&self, frame: &Frame, value: ExprId) -> Option<ExprId> {
        match &self.ast.exprs[value].kind {
            ExprKind::Cast { operand, .. } => self.low_bits_of(frame, *operand),
            ExprKind::Slice { base, lo, .. } => {
                let low = self.constant(frame, *lo).and_then(|value| value.as_u32());
                if low == Some(0) { self.low_bits_of(frame, *base) } else { None }
            }
            ExprKind::Call { .. } if self.is_unit_call(value) && !self.is_random(frame, value) => Some(value),
            _ => None,
        }
    }

    fn is_random(&self, frame: &Frame, value: ExprId) -> bool {
        let ExprKind::Call { callee, .. } = &self.ast.exprs[value].kind else { return false };
        let ExprKind::Member { base, .. } = &self.ast.exprs[*callee].kind else { return false };
        let instance = self.pipe.instance(self.checked, frame.block, *base);
        matches!(instance, Some(crate::elaborate::Binding::Object(object)) if self.object_kind(*object) == "Random")
    }

    /// Returns true for a call whose result comes from a unit beside the ALUs.
    pub(in crate::lower) fn is_unit_call(&self, id: ExprId) -> bool {
        use crate::check::Callee;
        self.computed(id).is_none()
            && self.checked.calls.get(&id).is_some_and(|call| matches!(call.callee, Callee::Method(_)))
    }

    /// Assigns a value of any type to a whole place.
    pub(in crate::lower) fn assign_place(
        &mut self,
        frame: &mut Frame,
        place: &Place,
        value: ExprId,
        at: Span,
    ) -> Res<()> {
        match place {
            Place::Slot(_) | Place::Parts(_) | Place::Nothing => {
                let target = Target { place: place.clone(), bits: None };
                return self.assign_bits(frame, target, value, at);
            }
            _ => {}
        }
        if let Some(from) = self.place(frame, value) {
            return self.copy(place, &from, at);
        }
        let leaves = self.leaves(frame, value)?;
        let slots = self.storage.members_of(place);
        if leaves.len() != slots.len() {
            let text = "this value has another number of members than the place it is assigned to";
            return Err(self.refuse(at, text, "assign the members one by one"));
        }
        for (slot, leaf) in slots.into_iter().zip(leaves) {
            self.write(&Target { place: Place::Slot(slot), bits: None }, vec![leaf], at)?;
        }
        if let Place::Header(instance) = place {
            let header = self.header(*instance);
            self.set_validity(PrimitiveKind::SetValid(header, true), at);
        }
        Ok(())
    }

    /// Moves the headers of a stack by constant positions: to the back (`push_front`) or to the front (`pop_front`). Those that
    /// get no other header become invalid.
    pub(super) fn shift_stack(
        &mut self,
        frame: &Frame,
        back: bool,
        (stack, args): (ExprId, &[Option<ExprId>]),
        at: Span,
    ) -> Res<()> {
        let by = args.first().copied().flatten().and_then(|by| self.number(frame, by));
        let (Some(Place::Stack(stack)), Some(by)) = (self.place(frame, stack), by) else {
            return Err(self.refuse(
                at,
                "a stack is moved that has no storage, or by a number that is not constant",
                "name a stack of the headers' struct and a constant number",
            ));
        };
        let elements = self.storage.stacks[stack].elements.clone();
        let by = usize::try_from(by).unwrap_or(usize::MAX).min(elements.len());
        // No element is read after it is written.
        let mut order: Vec<usize> = (0..elements.len()).collect();
        if back {
            order.reverse();
        }
        for to in order {
            let from = if back { to.checked_sub(by) } else { Some(to + by).filter(|n| *n < elements.len()) };
            match from {
                Some(from) => self.copy(&Place::Header(elements[to]), &Place::Header(elements[from]), at)?,
                None => {
                    let header = self.header(elements[to]);
                    self.set_validity(PrimitiveKind::SetValid(header, false), at);
                }
            }
        }
        Ok(())
    }

    /// Returns the primitives of a copy of a header or struct.
    pub(in crate::lower) fn copy_body(&mut self, to: &Place, from: &Place, at: Span) -> Res<Vec<Primitive>> {
        let outer = std::mem::take(&mut self.body);
        let done = self.copy(to, from, at);
        let body = std::mem::replace(&mut self.body, outer);
        done?;
        self.emit(body)
    }

    /// Copies a header or struct, member by member, with the validity of headers.
    fn copy(&mut self, to: &Place, from: &Place, at: Span) -> Res<()> {
        let (targets, sources) = (self.storage.members_of(to), self.storage.members_of(from));
        for (target, source) in targets.into_iter().zip(sources) {
            let value = self.read_place(&Place::Slot(source), at)?;
            self.write(&Target { place: Place::Slot(target), bits: None }, value, at)?;
        }
        let (targets, sources) = (self.storage.headers_of(to), self.storage.headers_of(from));
        for (target, source) in targets.into_iter().zip(sources) {
            let kind = PrimitiveKind::CopyValid(self.header(target), self.header(source));
            self.set_validity(kind, at);
        }
        Ok(())
    }

    /// Writes a value to bits of a scalar.
    pub(in crate::lower) fn write(&mut self, target: &Target, pieces: Vec<Expr>, at: Span) -> Res<()> {
        let slots = match &target.place {
            Place::Slot(slot) => vec![*slot],
            Place::Parts(parts) => parts.to_vec(),
            Place::Nothing => return Ok(()),
            _ => {
                return Err(self.refuse(
                    at,
                    "a header or struct is no scalar",
                    "write its members one by one",
                ));
            }
        };
        let total: u32 = slots.iter().map(|&slot| u32::from(self.storage.slots[slot].width)).sum();
        let (hi, lo) = target.bits.unwrap_or((total.saturating_sub(1), 0));
        let mut above = total;
        for slot in slots {
            let from = above - u32::from(self.storage.slots[slot].width);
            if from <= hi && lo < above {
                let (high, low) = (hi.min(above - 1), lo.max(from));
                let part = slice_pieces(&self.program, &pieces, high - lo, low - lo);
                self.write_slot(slot, (high - from, low - from), part, at)?;
            }
            above = from;
        }
        Ok(())
    }

    fn write_slot(&mut self, slot: Slot, (hi, lo): (u32, u32), part: Vec<Expr>, at: Span) -> Res<()> {
        let bits = u32::from(self.storage.slots[slot].width);
        debug_assert_eq!(width(&self.program, &part), hi - lo + 1);
        let whole = if hi + 1 == bits && lo == 0 {
            part
        } else {
            let deposited =
                |(other, high, low): &(Slot, u32, u32)| *other == slot && *low <= hi && lo <= *high;
            let old = if self.body.deposits.iter().any(deposited) {
                return Err(self.refuse(
                    at,
                    "these bits already take a hash in the same action",
                    "write them once, or in a later action",
                ));
            } else {
                self.kept(slot, at)?
            };
            let mut whole = Vec::new();
            if hi + 1 < bits {
                whole.extend(slice_pieces(&self.program, &old, bits - 1, hi + 1));
            }
            whole.extend(part);
            if lo > 0 {
                whole.extend(slice_pieces(&self.program, &old, lo - 1, 0));
            }
            whole
        };
        if let Some(Known::Hash(_) | Known::Result) = self.body.known.get(&slot) {
            return Err(self.refuse(
                at,
                "this field already takes the result of another unit in the same action",
                "write it once, or in a later action",
            ));
        }
        self.body.known.insert(slot, Known::Pieces(whole));
        self.mark(slot, at);
        Ok(())
    }

    /// Notes that a slot is written.
    pub(in crate::lower) fn mark(&mut self, slot: Slot, at: Span) {
        match self.body.written.iter_mut().find(|(known, _)| *known == slot) {
            Some((_, last)) => *last = at,
            None => self.body.written.push((slot, at)),
        }
    }

    /// Returns the field that a unit writes its result to: a whole field of at least `least` and at most `most` bits, which has no
    /// other write in the body.
    pub(in crate::lower) fn result_slot(&mut self, target: &Target, at: Span) -> Res<Slot> {
        let slot = match (&target.place, target.bits) {
            (Place::Slot(slot), None) => *slot,
            (Place::Slot(slot), Some((hi, 0))) if hi + 1 == u32::from(self.storage.slots[*slot].width) => {
                *slot
            }
            _ => {
                return Err(self.refuse(
                    at,
                    "the result of this unit goes to a slice or a wide field",
                    "assign it to a variable, and copy the variable in a later action",
                ));
            }
        };
        self.body.known.insert(slot, Known::Result);
        Ok(slot)
    }
}
