//! Meters, low-pass filters and WRED.

use super::super::action::Target;
use super::super::frame::Frame;
use super::super::name::Space;
use super::super::places::Place;
use super::super::simplify::cast;
use super::super::{Lower, Res};
use super::{Method, Unit};
use crate::elaborate::ObjectId;
use crate::source::Span;
use sluice_asic::alu::width_mask;
use sluice_ir::{
    self as ir, CmpOp, Cond, Expr, MeterAccess, MeterData, MeterKind, Primitive, PrimitiveKind, Stmt,
    StmtKind,
};

impl Lower<'_> {
    pub(super) fn meter_execute(&mut self, frame: &Frame, method: Method<'_>, to: Option<Target>) -> Res<()> {
        let meter = self.meter(method.object)?;
        let adjust = self.adjustment(frame, method)?;
        let data = &mut self.program.meters[meter];
        // A meter of packets takes no lengths.
        if data.kind == MeterKind::Bytes {
            data.adjust = adjust;
        }
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
        // A packet changes a meter also where nobody wants its colour.
        let to = match to {
            None if coloured => {
                let ty = self.checked.types.bits(2);
                Some(Target {
                    place: self.make_place(ty, self.gress, "unused_colour", method.at)?,
                    bits: None,
                })
            }
            to => to,
        };
        let results = self.results_of(method.object);
        let to = match (results.is_empty(), to) {
            (false, Some(to)) => Some(self.translated(
                &to,
                &results,
                (2, "results of a meter that are not the chip's"),
                method.at,
            )?),
            (_, to) => to,
        };
        self.unit_result(to, method.at, |to| PrimitiveKind::Meter(MeterAccess { meter, index, input, to }))
    }

    /// Returns what a meter's results stand for in the program, by result of the chip's unit; nothing if they are the same.
    fn results_of(&self, object: ObjectId) -> Vec<(u128, u128)> {
        let (names, plain): (&[&str], &[u128]) = match self.object_kind(object) {
            "Wred" | "DirectWred" => (&["no_drop_value", "drop_value"], &[0, 1]),
            "Meter" | "DirectMeter" => (&["green", "yellow", "red"], &[0, 1, 3]),
            _ => return Vec::new(),
        };
        let of = |(name, plain): (&&str, &u128)| {
            (*plain, self.made_with_number(object, name).map_or(*plain, u128::from))
        };
        let all: Vec<(u128, u128)> = names.iter().zip(plain).map(of).collect();
        if all.iter().all(|(from, to)| from == to) { Vec::new() } else { all }
    }

    /// Returns a variable for a unit's result; the statements that follow write to the target what the result stands for.
    pub(in crate::lower) fn translated(
        &mut self,
        to: &Target,
        results: &[(u128, u128)],
        (bits, what): (u32, &str),
        at: Span,
    ) -> Res<Target> {
        let slot = self.result_slot(to, at)?;
        let (field, width) = (self.field(slot), self.storage.slots[slot].width);
        let ty = self.checked.types.bits(bits);
        let place = self.make_place(ty, self.gress, "result", at)?;
        let Place::Slot(found) = place else { return Err(super::super::Refused) };
        let result = self.field(found);
        let loc = self.loc(at);
        let mut block = Vec::new();
        for (from, value) in results.iter().rev() {
            let value = Expr::Const(value & width_mask(width.into()), self.program.fields[field].width);
            let wanted = self.unnamed_action(loc.line);
            let body = vec![Primitive { kind: PrimitiveKind::Set(field, value), loc }];
            let action = self.new_action(self.gress, &wanted, body, loc);
            let set = vec![Stmt { kind: StmtKind::Call(action), loc }];
            block = if block.is_empty() {
                set
            } else {
                let cond = Cond::Cmp(CmpOp::Eq, Expr::Field(result), Expr::Const(*from, bits as u16));
                vec![Stmt { kind: StmtKind::If(cond, set, block), loc }]
            };
        }
        self.note(at, what, "tables after the access translate them");
        self.after.extend(block);
        Ok(Target { place, bits: None })
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
        let home = self.home(object, at)?;
        let name = self.short(&self.pipe.objects[object].name).to_owned();
        let name = self.names.take(Space::Meter, &name);
        let (gress, doc, loc) = (self.gress, String::new(), self.loc(at));
        let initial = self.initial_meter(object, kind);
        let meter =
            self.program.meters.push(MeterData { name, gress, kind, home, adjust: 0, initial, doc, loc });
        self.units.insert(object, Unit::Meter(meter));
        Ok(meter)
    }
}
