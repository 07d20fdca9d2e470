//! Headers of which only a part is in the packet.
//!
//! A program that does not skip the bits in front of the packet extracts them: intrinsic metadata, zeros in place of port
//! metadata, and the zeros to which the chip fills the data of a resubmit. The header is made valid, its fields are written one
//! by one, and the parser advances past the bytes of the packet.

use super::super::Res;
use super::super::places::Instance;
use super::bits::{Bits, Lost, Source};
use super::front::Kind;
use super::made::Made;
use super::walk::{State, Walk};
use crate::source::Span;
use sluice_ir::ParserOpKind;

impl Walk<'_, '_> {
    /// Returns true if some of the next bits are in front of the packet, and others are bytes of it.
    pub(super) fn is_across(&self, state: &State, bits: u32) -> bool {
        let runs = self.layout.runs(state.env.front, bits);
        let real: u32 = runs.iter().filter(|(kind, _)| *kind == Kind::Real).map(|(_, bits)| bits).sum();
        runs.len() > 1 && real.is_multiple_of(8) && runs.iter().all(|(kind, _)| *kind != Kind::Either)
    }

    /// Lowers the extraction of such a header.
    pub(super) fn extract_across(
        &mut self,
        state: &mut State,
        instance: Instance,
        bits: u32,
        at: Span,
    ) -> Res<()> {
        let mut value = Bits::default();
        let (mut real, mut passed) = (0, state.env.front.at);
        for (kind, width) in self.layout.runs(state.env.front, bits) {
            value = value.then(match kind {
                Kind::Real => Bits::one(Source::Ahead(state.position + real), width),
                Kind::Absent | Kind::Either => self.in_front(state, passed, width),
            });
            real += if kind == Kind::Real { width } else { 0 };
            passed += width;
        }
        let name = self.cx.storage.instances[instance].name.clone();
        let effect = format!("{} of its bits are metadata in front of the packet, or zeros", bits - real);
        self.cx.note(at, format!("extract of `{name}`"), effect);
        state.ops.push((Made::Valid(instance, true), at));
        let mut left = value.width();
        for slot in self.cx.storage.instances[instance].slots.clone() {
            let width = u32::from(self.cx.storage.slots[slot].width);
            let part = value.slice(left - 1, left - width);
            left -= width;
            let written = self.written(state, &part);
            state.env.overwritten(slot);
            // From here on the field itself is read.
            state.env.slots.remove(&slot);
            state.ops.push((Made::Write(slot, written), at));
        }
        self.op(state, ParserOpKind::Advance((real / 8) as u16), at);
        state.env.extracted(state.position, &Bits::lost(Lost::Skipped, real));
        state.position += real;
        state.env.front = self.layout.advance(state.env.front, bits);
        Ok(())
    }

    /// Returns bits in front of the packet, from `from` on: fields of the intrinsic metadata, then zeros.
    fn in_front(&mut self, state: &State, from: u32, width: u32) -> Bits {
        let block = self.frames[0].block;
        let mut all = Bits::default();
        for param in self.cx.params(block).to_vec() {
            let ty = self.cx.checked.decl_types[param];
            let ty = self.cx.pipe.concrete(self.cx.ast, self.cx.checked, block, ty);
            let place = self.is_intrinsic(ty).then(|| self.cx.intrinsics(ty, self.gress)).flatten();
            if let Some(place) = place {
                let slots = self.cx.storage.slots_of(&place);
                all = slots.into_iter().fold(all, |all, slot| all.then(self.slot(state, slot)));
                break;
            }
        }
        let missing = (from + width).saturating_sub(all.width());
        let all = all.then(Bits::constant(0, missing));
        all.slice(all.width() - 1 - from, all.width() - from - width)
    }
}
