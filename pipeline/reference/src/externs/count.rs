//! Counters, meters and filters.

use super::Method;
use crate::run::Run;
use crate::stop::{Res, unsupported};
use crate::value::Value;
use num_bigint::BigInt;

/// A cell of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, of each packet as it entered the gress.
    pub bytes: u64,
}

impl Run<'_, '_> {
    /// Counts the packet in a cell; without a cell nothing is counted.
    pub(crate) fn count(&mut self, method: Method<'_>, index: Option<u64>) -> Res<Value> {
        let adjust = self.argument_number(method, "adjust_byte_count")?;
        let Some(index) = index else { return Ok(Value::Nothing) };
        let size = self.core.program.made_with_number(method.object, "size");
        if size.is_none_or(|size| index < size) {
            let cell = self.core.state.counters.entry((method.object, index)).or_default();
            cell.packets += 1;
            cell.bytes = cell.bytes.wrapping_add(self.input.length).wrapping_add(adjust);
        }
        Ok(Value::Nothing)
    }

    /// Asks a meter for the packet's colour; without a cell the result is 0.
    pub(crate) fn meter(&mut self, method: Method<'_>, index: Option<u64>) -> Res<Value> {
        let before = self.argument_number(method, "color")? as u8;
        let Some(index) = index else { return Ok(Value::number(0)) };
        let name = self.core.program.pipe.objects[method.object].name.as_str();
        let colour = self.outside.colour(name, index, self.input.length, before);
        let coded = match colour {
            0 => "green",
            1 => "yellow",
            _ => "red",
        };
        let code = self.core.program.made_with_number(method.object, coded).unwrap_or(colour.into());
        Ok(Value::number(code))
    }

    /// Asks a low-pass filter or a WRED unit; without a cell the result is 0.
    pub(crate) fn filter(&mut self, method: Method<'_>, index: Option<u64>) -> Res<Value> {
        let at = self.span(method.expr);
        let Some(arg) = self.argument(method, "val") else { return Err(unsupported(at, "this filter")) };
        let value = self.value(arg)?.as_number().unwrap_or_default();
        let Some(index) = index else { return Ok(Value::number(0)) };
        let name = self.core.program.pipe.objects[method.object].name.as_str();
        let result: Option<BigInt> = self.outside.filter(name, index, &value);
        let result = result.ok_or_else(|| unsupported(at, "a low-pass filter"))?;
        let coded = if result == BigInt::from(0) { "no_drop_value" } else { "drop_value" };
        let code = self.core.program.made_with_number(method.object, coded);
        Ok(code.map_or(Value::Number(result), Value::number))
    }
}
