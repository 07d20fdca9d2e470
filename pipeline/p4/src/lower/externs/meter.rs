//! Meters, low-pass filters and WRED.

use super::super::action::Target;
use super::super::frame::Frame;
use super::super::name::Space;
use super::super::simplify::cast;
use super::super::{Lower, Res};
use super::{Method, Unit};
use crate::elaborate::ObjectId;
use sluice_ir::{self as ir, MeterAccess, MeterData, MeterKind, PrimitiveKind};

impl Lower<'_> {
    pub(super) fn meter_execute(&mut self, frame: &Frame, method: Method<'_>, to: Option<Target>) -> Res<()> {
        let adjust = self.argument(method, "adjust_byte_count");
        if adjust.is_some_and(|adjust| self.number(frame, adjust) != Some(0)) {
            return Err(self.refuse(
                method.at,
                "the length that a meter adds is adjusted per packet",
                "leave the adjustment out, and set the rates for the lengths that the meter sees",
            ));
        }
        let meter = self.meter(method.object)?;
        let coloured = self.program.meters[meter].kind.is_coloured();
        let index = self.argument(method, "index");
        let index = self.index(frame, index)?;
        let input = match self.argument(method, if coloured { "color" } else { "val" }) {
            Some(input) => {
                let at = self.ast.exprs[input].span;
                let value = self.value(frame, input)?;
                let value = if coloured { cast(&self.program, value, 2) } else { value };
                Some(self.plain(value, at)?)
            }
            None => None,
        };
        self.unit_result(to, method.at, |to| PrimitiveKind::Meter(MeterAccess { meter, index, input, to }))
    }

    /// Returns the meter of an object.
    pub(in crate::lower) fn meter(&mut self, object: ObjectId) -> Res<ir::Meter> {
        if let Some(Unit::Meter(meter)) = self.units.get(&object) {
            return Ok(*meter);
        }
        let at = self.object_at(object);
        let kind = match (self.object_kind(object), self.made_with_member(object, "type")) {
            ("Lpf" | "DirectLpf", _) => MeterKind::Lpf,
            ("Wred" | "DirectWred", _) => MeterKind::Wred,
            (_, Some("PACKETS")) => MeterKind::Packets,
            _ => MeterKind::Bytes,
        };
        let usual = [("green", 0), ("yellow", 1), ("red", 3), ("drop_value", 1), ("no_drop_value", 0)];
        for (name, value) in usual {
            if let Some(found) = self.made_with_number(object, name).filter(|found| *found != value) {
                let text = format!("a meter whose result `{name}` is {found}");
                let help = format!("use {value}, and translate the result by a table");
                return Err(self.refuse(at, text, help));
            }
        }
        let home = self.home(object, at)?;
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Meter, &name);
        let (gress, doc, loc) = (self.gress, String::new(), self.loc(at));
        let meter = self.program.meters.push(MeterData { name, gress, kind, home, initial: None, doc, loc });
        self.units.insert(object, Unit::Meter(meter));
        Ok(meter)
    }
}
