//! Counters.

use super::super::frame::Frame;
use super::super::name::Space;
use super::super::{Lower, Res};
use super::{Method, Unit};
use crate::elaborate::ObjectId;
use sluice_ir::{self as ir, CounterCell, CounterData, CounterKind, Index, Primitive, PrimitiveKind};

impl Lower<'_> {
    pub(super) fn count(&mut self, frame: &Frame, method: Method<'_>) -> Res<()> {
        if let Some(adjust) = self.argument(method, "adjust_byte_count") {
            let at = self.ast.exprs[adjust].span;
            let zero = self.number(frame, adjust) == Some(0);
            if !zero {
                return Err(self.refuse(
                    at,
                    "the length that a counter adds is adjusted per packet",
                    "leave the adjustment out, and correct the counts in the control plane",
                ));
            }
        }
        let counter = self.counter(method.object)?;
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
