//! Assignments in a parser.

use super::super::Res;
use super::super::places::{Place, Slot, SlotHome};
use super::bits::{Bits, Lost, Piece, Source};
use super::made::{Made, Written};
use super::target::Target;
use super::walk::{State, Walk};
use crate::source::Span;
use crate::syntax::ast::{DeclId, ExprId, ExprKind};
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
        let found = self.value(state, value)?;
        let found = match slice {
            Some((hi, lo)) if lo <= hi && hi < width => {
                self.read(state, target, width).replaced(hi, lo, &found.resized(hi - lo + 1))
            }
            _ => found.resized(width),
        };
        self.write(state, target, &found, at)
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
                if let Place::Header(instance) = place {
                    let name = self.cx.storage.instances[*instance].name.clone();
                    return Err(self.refuse(
                        at,
                        format!("a parser state assigns to the whole header `{name}`, but it can only extract headers"),
                        "extract the header, or make it valid and write its fields in an action of the control",
                    ));
                }
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
            SlotHome::Metadata => {
                let written = self.written(state, slot, value);
                state.env.slots.insert(slot, value.clone());
                state.ops.push((Made::Write(slot, written), at));
                Ok(())
            }
            // The chip has set it to zero already.
            SlotHome::Intrinsic(which) if value.as_const() == Some(0) && starts_at_zero(which) => Ok(()),
            SlotHome::Intrinsic(_) => {
                let text = format!("a parser state writes `{name}`, which is intrinsic");
                Err(self.refuse(at, text, COPY))
            }
            SlotHome::PortMetadata => {
                let text = format!("a parser state writes `{name}`, which the port fills");
                Err(self.refuse(at, text, "write another member of the metadata"))
            }
            SlotHome::Header(_) => {
                let text = format!("a parser state writes `{name}`, a field of a header");
                Err(self.refuse(at, text, COPY))
            }
        }
    }

    /// Returns how the chip writes a value to metadata.
    fn written(&self, state: &State, slot: Slot, value: &Bits) -> Written {
        if let Some(constant) = value.as_const() {
            return Written::Const(constant);
        }
        let whole = |slot: Slot| u32::from(self.cx.storage.slots[slot].width);
        match value.0.as_slice() {
            &[Piece { source: Source::Slot(from), lo: 0, width }] if width == whole(from) => {
                match self.cx.storage.slots[from].home {
                    SlotHome::Header(_) if state.extracted.contains(&from) => Written::Slot(from),
                    SlotHome::Header(_) => Written::Not("a field of a header that an earlier state extracts"),
                    SlotHome::PortMetadata => Written::Not("port metadata"),
                    SlotHome::Intrinsic(_) => Written::Not("an intrinsic field"),
                    SlotHome::Metadata => Written::Not("another field of the metadata"),
                }
            }
            &[Piece { source: Source::Ahead(at), width, .. }]
                if at >= state.position
                    && (at - state.position).is_multiple_of(8)
                    && width % 8 == 0
                    && width == whole(slot) =>
            {
                Written::Ahead((at - state.position) as u16)
            }
            pieces => Written::Not(match value.is_lost() {
                Some(Lost::Computed) => "a computed value",
                Some(Lost::InFront) => "bytes in front of the packet",
                Some(Lost::Skipped) => "bytes that were skipped",
                Some(Lost::OtherElement) => "an earlier element of a stack",
                Some(Lost::Unknown) => "a value that is not written on every path",
                None => match pieces {
                    [Piece { source: Source::Ahead(_), .. }] => "a look-ahead that is not whole bytes",
                    [Piece { source: Source::Slot(_), .. }] => "a slice of a field",
                    [Piece { source: Source::Last(..), .. }] => "a field of a stack's last element",
                    [Piece { source: Source::CounterIsZero | Source::CounterIsNegative, .. }] => {
                        "the counter"
                    }
                    [Piece { source: Source::Const(0), .. }, ..] => "a value with zeros in front",
                    _ => "a value of several parts",
                },
            }),
        }
    }
}

/// Returns true if the field is zero when a pass begins.
fn starts_at_zero(which: Intrinsic) -> bool {
    which.info().writable && which != Intrinsic::UcastEgressPort || which == Intrinsic::DropCtl
}
