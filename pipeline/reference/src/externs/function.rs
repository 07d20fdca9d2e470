//! Extern functions.

use crate::number::Range;
use crate::parser::error;
use crate::program::Shape;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use num_bigint::BigInt;
use sluice_p4::check::Call;
use sluice_p4::syntax::ast::{DeclId, ExprId};

impl Run<'_, '_> {
    /// Calls an extern function.
    pub(crate) fn function(&mut self, expr: ExprId, function: DeclId, call: &Call) -> Res<Value> {
        let at = self.span(expr);
        let name = self.core.program.name(function);
        let args: Vec<ExprId> = call.args.iter().copied().flatten().collect();
        match (name, args.as_slice()) {
            ("max" | "min", &[first, second]) => {
                let (first, second) = (self.value(first)?, self.value(second)?);
                match (first.as_number(), second.as_number()) {
                    (Some(a), Some(b)) if name == "max" => Ok(Value::Number(a.max(b))),
                    (Some(a), Some(b)) => Ok(Value::Number(a.min(b))),
                    _ => Err(unsupported(at, "the order of these values")),
                }
            }
            // The vendor's compiler ignores `verify`.
            ("verify" | "static_assert", _) => Ok(Value::Bool(true)),
            ("sizeInBits", &[of]) => self.size(of, 1),
            ("sizeInBytes", &[of]) => self.size(of, 8),
            ("port_metadata_unpack", _) => self.unpack(expr),
            ("funnel_shift_right", &[target, high, low, by]) => self.funnel(target, [high, low], by),
            _ => Err(unsupported(at, format!("the function `{name}`"))),
        }
    }

    /// Reads the port metadata. A struct takes all bits in front of the packet, a header its own length.
    fn unpack(&mut self, expr: ExprId) -> Res<Value> {
        let (at, ty) = (self.span(expr), self.ty(expr));
        let bits = self.core.program.width(ty, at)? as usize;
        let begin = self.packet.at();
        if begin + bits > self.front {
            return Err(Stop::Parser(error::TOO_SHORT));
        }
        let value = self.core.program.unflatten(ty, &mut self.packet, at)?;
        let is_header = matches!(self.core.program.shape(ty), Shape::Header(_));
        self.packet.go(if is_header { begin + bits } else { self.front });
        Ok(value)
    }

    /// Assigns the low half of two joined values, shifted to the right.
    fn funnel(&mut self, target: ExprId, [high, low]: [ExprId; 2], by: ExprId) -> Res<Value> {
        let (at, ty) = (self.span(target), self.ty(target));
        let width = self.core.program.width(ty, at)?;
        let place = self.place(target)?.ok_or_else(|| unsupported(at, "this target of a shift"))?;
        let by = self.unsigned(by)?;
        match (self.value(high)?.as_number(), self.value(low)?.as_number()) {
            (Some(high), Some(low)) => {
                let joined: BigInt = (high << width) + low;
                let value = Range::Unsigned(width).wrap(&(joined >> by));
                self.set(&place, Value::Number(value), at)?;
                Ok(Value::Nothing)
            }
            _ => Err(unsupported(at, "a shift of these values")),
        }
    }
}
