//! Assignments in a parser.

use super::super::Res;
use super::super::places::{Place, Slot, SlotHome};
use super::bits::{Bits, Lost, Piece, Source};
use super::made::{From, Made, Part, Written};
use super::target::Target;
use super::walk::{State, Walk};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, DeclId, ExprId, ExprKind};
use sluice_ir::Intrinsic;

/// Advice on writes that the chip's parser cannot make.
const COPY: &str = "write the field in an action of the control";

impl Walk<'_, '_> {
    /// Lowers a local variable.
    pub(super) fn variable(&mut self, state: &mut State, decl: DeclId, value: Option<ExprId>) -> Res<()> {
        let id = self.local(state.frame, decl);
        let ty = self.cx.checked.decl_types[decl];
        let block = self.frames[state.frame.0].block;
        let ty = self.cx.pipe.concrete(self.cx.ast, self.cx.checked, block, ty);
        let Some(width) = self.bits(ty) else { return Ok(()) };
        match value {
            Some(value) => {
                let at = self.span(value);
                self.assign_to(state, &Target::Local { id, at: 0, width }, None, value, at)
            }
            None => {
                state.env.locals.remove(&id);
                Ok(())
            }
        }
    }

    /// Lowers an assignment.
    pub(super) fn assign(&mut self, state: &mut State, target: ExprId, value: ExprId, at: Span) -> Res<()> {
        let ast = self.cx.ast;
        let (place, slice) = match &ast.exprs[target].kind {
            ExprKind::Slice { base, hi, lo } => match (self.number(state, *hi), self.number(state, *lo)) {
                (Some(hi), Some(lo)) => (*base, Some((hi as u32, lo as u32))),
                _ => (*base, None),
            },
            _ => (target, None),
        };
        match self.target(state, place)? {
            Some(target) => self.assign_to(state, &target, slice, value, at),
            None => Err(self.refuse(
                self.span(target),
                "a parser cannot write this",
                "assign to a member of the metadata or to a local variable",
            )),
        }
    }

    fn assign_to(
        &mut self,
        state: &mut State,
        target: &Target,
        slice: Option<(u32, u32)>,
        value: ExprId,
        at: Span,
    ) -> Res<()> {
        if slice.is_none() && self.unit_value(state, target, value, at)? {
            return Ok(());
        }
        let width = self.target_bits(target);
        let mut found = self.value(state, value)?;
        if matches!(target, Target::Place(Place::Struct(_))) && found.width() != width {
            found = self.unpadded(state, value, &found);
        }
        if slice.is_none()
            && (found.is_lost() == Some(Lost::Computed)
                || found.as_const().is_none() && self.has_ones(state, target))
            && self.add_ones(state, target, value, at)?
        {
            return Ok(());
        }
        if let Target::Place(Place::Header(instance)) = target {
            self.fills(state, value, at)?;
            state.ops.push((Made::Valid(*instance, true), at));
        }
        let found = match slice {
            Some((hi, lo)) if lo <= hi && hi < width => {
                self.read(state, target, width).replaced(hi, lo, &found.resized(hi - lo + 1))
            }
            _ => found.resized(width),
        };
        self.write(state, target, &found, at)
    }

    /// Returns true if the path has written a value other than zero to a scalar.
    fn has_ones(&self, state: &State, target: &Target) -> bool {
        let &Target::Place(Place::Slot(slot)) = target else { return false };
        state.env.slots.get(&slot).is_some_and(|value| value.as_const() != Some(0))
    }

    /// Checks that a value of a whole header is that of a valid one.
    fn fills(&mut self, state: &mut State, value: ExprId, at: Span) -> Res<()> {
        let valid = match self.target(state, value)? {
            Some(Target::Place(Place::Header(from))) => {
                let slots = &self.cx.storage.instances[from].slots;
                slots.first().is_none_or(|first| state.extracted.contains(first))
            }
            _ => true,
        };
        if valid {
            return Ok(());
        }
        Err(self.refuse(
            at,
            "a parser state copies a header that another state extracts, and its validity with it",
            "copy the header in the state that extracts it, or its fields one by one",
        ))
    }

    /// Returns the number of bits of what an expression names.
    pub(super) fn target_bits(&self, target: &Target) -> u32 {
        match target {
            Target::Local { width, .. } => *width,
            Target::Place(place) => {
                let slots = self.cx.storage.slots_of(place);
                slots.iter().map(|&slot| u32::from(self.cx.storage.slots[slot].width)).sum()
            }
            _ => 0,
        }
    }

    /// Writes a value.
    pub(super) fn write(&mut self, state: &mut State, target: &Target, value: &Bits, at: Span) -> Res<()> {
        match target {
            &Target::Local { id, at, width } => {
                self.write_local(state, id, at, width, value);
                Ok(())
            }
            Target::Place(place) => {
                let mut left = value.width();
                for slot in self.cx.storage.slots_of(place) {
                    let width = u32::from(self.cx.storage.slots[slot].width);
                    let part = value.slice(left - 1, left - width);
                    left -= width;
                    self.write_slot(state, slot, &part, at)?;
                }
                Ok(())
            }
            _ => Err(self.refuse(at, "a parser cannot write this", COPY)),
        }
    }

    fn write_local(&mut self, state: &mut State, id: u32, at: u32, width: u32, value: &Bits) {
        let whole = self.local_bits(id).max(at + width);
        let old = state.env.locals.remove(&id).unwrap_or_else(|| Bits::lost(Lost::Unknown, whole));
        let new = if width == 0 { old } else { old.replaced(whole - 1 - at, whole - at - width, value) };
        state.env.locals.insert(id, new);
    }

    fn write_slot(&mut self, state: &mut State, slot: Slot, value: &Bits, at: Span) -> Res<()> {
        let data = &self.cx.storage.slots[slot];
        let name = data.name.clone();
        match data.home {
            // The chip has set it to zero already.
            SlotHome::Intrinsic(which)
                if value.as_const() == Some(0)
                    && starts_at_zero(which)
                    && !state.env.slots.contains_key(&slot) =>
            {
                Ok(())
            }
            SlotHome::Intrinsic(which) if !which.info().writable || which == Intrinsic::DropCtl => {
                let text = format!("a parser state writes `{name}`, which is intrinsic");
                Err(self.refuse(at, text, COPY))
            }
            SlotHome::PortMetadata => {
                let text = format!("a parser state writes `{name}`, which the port fills");
                Err(self.refuse(at, text, "write another member of the metadata"))
            }
            SlotHome::Metadata | SlotHome::Header(_) | SlotHome::Intrinsic(_) => {
                let written = self.written(state, value);
                self.put(state, slot, value.clone(), written, at);
                Ok(())
            }
        }
    }

    /// Notes a write, and the value that the field has after it.
    fn put(&mut self, state: &mut State, slot: Slot, value: Bits, written: Written, at: Span) {
        if let SlotHome::Header(_) = self.cx.storage.slots[slot].home {
            state.env.overwritten(slot);
        }
        state.env.slots.insert(slot, value);
        state.ops.push((Made::Write(slot, written), at));
    }

    /// Lowers `field = field | value`, which adds ones to a field; returns false for another assignment.
    fn add_ones(&mut self, state: &mut State, target: &Target, value: ExprId, at: Span) -> Res<bool> {
        let &Target::Place(Place::Slot(slot)) = target else { return Ok(false) };
        let ExprKind::Binary { op: BinaryOp::BitOr, left, right } = self.cx.ast.exprs[value].kind else {
            return Ok(false);
        };
        for (old, ones) in [(left, right), (right, left)] {
            let Some(Target::Place(Place::Slot(same))) = self.target(state, old)? else { continue };
            if same != slot {
                continue;
            }
            let width = u32::from(self.cx.storage.slots[slot].width);
            let ones = self.value(state, ones)?.resized(width);
            let Written::Parts(parts) = self.written(state, &ones) else { return Ok(false) };
            let [part] = parts.as_slice() else { return Ok(false) };
            self.put(state, slot, Bits::lost(Lost::Computed, width), Written::Ones(*part), at);
            return Ok(true);
        }
        Ok(false)
    }

    /// Returns how the chip writes a value to a field.
    pub(super) fn written(&self, state: &State, value: &Bits) -> Written {
        if let &[Piece { source: Source::Ahead(at), .. }] = value.0.as_slice()
            && at >= state.position
            && at - state.position <= u16::MAX.into()
        {
            return Written::Ahead((at - state.position) as u16);
        }
        let mut parts = Vec::new();
        for piece in &value.0 {
            let from = match piece.source {
                Source::Const(value) => From::Const(value),
                Source::Slot(slot) => match self.cx.storage.slots[slot].home {
                    SlotHome::Header(_) | SlotHome::PortMetadata => From::Slot(slot, piece.lo as u16),
                    SlotHome::Intrinsic(which) if !is_late(which) => From::Slot(slot, piece.lo as u16),
                    SlotHome::Intrinsic(_) => return Written::Not("an intrinsic field that is filled later"),
                    SlotHome::Metadata => return Written::Not("another field of the metadata"),
                },
                Source::Ahead(_) if value.0.len() > 1 => return Written::Not("bits ahead among other bits"),
                source => return Written::Not(reason(source)),
            };
            parts.push(Part { from, width: piece.width as u16 });
        }
        Written::Parts(parts)
    }
}

/// Returns what a part is that the chip cannot write.
fn reason(source: Source) -> &'static str {
    match source {
        Source::Lost(Lost::Computed) => "a computed value",
        Source::Lost(Lost::InFront) => "bytes in front of the packet",
        Source::Lost(Lost::Skipped) => "bytes that were skipped",
        Source::Lost(Lost::OtherElement) => "an earlier element of a stack",
        Source::Lost(Lost::Overwritten) => "a field that the parser has written since",
        Source::Lost(Lost::Unknown) => "a value that is not written on every path",
        Source::Ahead(_) => "a look-ahead that is not whole bytes",
        Source::Last(..) => "a field of a stack's last element",
        Source::CounterIsZero | Source::CounterIsNegative => "the counter",
        Source::Const(_) | Source::Slot(_) => "a value",
    }
}

/// Returns true if the field has no value while the parser runs.
fn is_late(which: Intrinsic) -> bool {
    which.info().writable
        || which.is_ghost()
        || matches!(which, Intrinsic::DropCtl | Intrinsic::ParserErr | Intrinsic::GlobalTstamp)
}

/// Returns true if the field is zero when a pass begins.
pub(super) fn starts_at_zero(which: Intrinsic) -> bool {
    which.info().writable && which != Intrinsic::UcastEgressPort || which == Intrinsic::DropCtl
}
