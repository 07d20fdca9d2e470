//! Counters.

use super::super::frame::Frame;
use super::super::name::Space;
use super::super::{Lower, Res};
use super::{Method, Unit};
use crate::elaborate::ObjectId;
use sluice_ir::{self as ir, CounterCell, CounterData, CounterKind, Index, Primitive, PrimitiveKind};

impl Lower<'_> {
    pub(super) fn count(&mut self, frame: &Frame, method: Method<'_>) -> Res<()> {
        let counter = self.counter(method.object)?;
        let adjust = self.adjustment(frame, method)?;
        let data = &mut self.program.counters[counter];
        if data.kind != CounterKind::Packets {
            data.cell.adjust = adjust;
        }
        let kind = match self.argument(method, "index") {
            None => PrimitiveKind::CountDirect(counter),
            Some(index) => match self.index(frame, Some(index))? {
                Index::At(value) => PrimitiveKind::Count(counter, value),
                _ => {
                    return Err(self.refuse(
                        method.at,
                        "a hash is the index of a counter",
                        "write the hash to a metadata field in an earlier action, and count at that field",
                    ));
                }
            },
        };
        let loc = self.loc(method.at);
        self.body.units.push(Primitive { kind, loc });
        Ok(())
    }

    /// Returns what a call adds to the lengths of packets: its argument is subtracted. The unit has one number for all
    /// packets, so all calls of an object agree about it.
    pub(super) fn adjustment(&mut self, frame: &Frame, method: Method<'_>) -> Res<i16> {
        let (less, at) = match self.argument(method, "adjust_byte_count") {
            None => (Some(0), method.at),
            Some(value) => (self.number(frame, value), self.ast.exprs[value].span),
        };
        let adjust = less.and_then(|less| i16::try_from(less).ok()).map(|less| -less);
        let Some(adjust) = adjust.filter(|adjust| *adjust >= -8192) else {
            return Err(self.refuse(
                at,
                "the length of packets is adjusted by something other than a constant of at most 8192 bytes",
                "write a constant, or `sizeInBytes` of a header",
            ));
        };
        let known = *self.adjusted.entry(method.object).or_insert(adjust);
        if known != adjust {
            let text = format!(
                "the length of packets is adjusted by {adjust} bytes, but another call of this object adjusts it by {known}"
            );
            return Err(self.refuse(at, text, "write the same adjustment in all calls, or use two objects"));
        }
        Ok(adjust)
    }

    /// Returns the counter of an object.
    pub(in crate::lower) fn counter(&mut self, object: ObjectId) -> Res<ir::Counter> {
        if let Some(Unit::Counter(counter)) = self.units.get(&object) {
            return Ok(*counter);
        }
        let at = self.object_at(object);
        let kind = match self.made_with_member(object, "type") {
            Some("PACKETS") => CounterKind::Packets,
            Some("BYTES") => CounterKind::Bytes,
            _ => CounterKind::PacketsAndBytes,
        };
        let home = self.home(object, at)?;
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Counter, &name);
        let (gress, cell, doc, loc) = (self.gress, CounterCell::default(), String::new(), self.loc(at));
        let counter = self.program.counters.push(CounterData { name, gress, kind, home, cell, doc, loc });
        self.units.insert(object, Unit::Counter(counter));
        Ok(counter)
    }
}
