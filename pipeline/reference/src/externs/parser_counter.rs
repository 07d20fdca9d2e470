//! The parser counter and its stack.

use super::Method;
use crate::parser::error;
use crate::run::Run;
use crate::stop::{Res, Stop, unsupported};
use crate::value::Value;
use sluice_p4::syntax::ast::ExprId;

impl Run<'_, '_> {
    /// Calls a method of `ParserCounter`: a counter of 8 bits in two's complement.
    pub(crate) fn parser_counter(&mut self, method: Method<'_>, name: &str) -> Res<Value> {
        let at = self.span(method.expr);
        let args: Vec<ExprId> = method.call.args.iter().copied().flatten().collect();
        let (counter, mut stack) = self.counters.get(&method.object).cloned().unwrap_or_default();
        let counter = match (name, args.as_slice()) {
            ("set", args) => self.load(args, at)?,
            ("push", args) => {
                let linked = match args {
                    [_, last] | [_, _, _, _, _, last] => self.condition(*last)?,
                    _ => false,
                };
                let load = if matches!(args.len(), 2 | 6) { &args[..args.len() - 1] } else { args };
                let value = self.load(load, at)?;
                stack.push((counter, linked));
                value
            }
            ("pop", _) => match stack.pop() {
                Some((value, _)) => value,
                None => return Err(unsupported(at, "`pop` of an empty stack of counters")),
            },
            ("increment" | "decrement", [by]) => {
                let by = self.unsigned(*by)? as u8 as i8;
                let by = if name == "decrement" { by.wrapping_neg() } else { by };
                let below = stack.iter_mut().rev().take_while(|(_, linked)| *linked);
                below.for_each(|(value, _)| *value = value.wrapping_add(by));
                counter.wrapping_add(by)
            }
            ("is_zero", _) => return Ok(Value::Bool(counter == 0)),
            ("is_negative", _) => return Ok(Value::Bool(counter < 0)),
            _ => return Err(unsupported(at, format!("`{name}` of a parser counter"))),
        };
        self.counters.insert(method.object, (counter, stack));
        Ok(Value::Nothing)
    }

    /// Returns a value to load: a number, or a field that is rotated, masked and added to.
    fn load(&mut self, args: &[ExprId], at: sluice_p4::source::Span) -> Res<i8> {
        match *args {
            [value] => Ok(self.unsigned(value)? as u8 as i8),
            [field, max, rotate, mask, add] => {
                let [field, max, rotate, mask, add] = [
                    self.unsigned(field)?,
                    self.unsigned(max)?,
                    self.unsigned(rotate)?,
                    self.unsigned(mask)?,
                    self.unsigned(add)?,
                ];
                if field > 0xff {
                    return Err(unsupported(at, "a parser counter loaded from more than a byte"));
                }
                if field > max {
                    return Err(Stop::Parser(error::COUNTER_RANGE));
                }
                // On Tofino the mask is the number of bits that are kept, less one; on Tofino 2 a bit for each bit.
                let mask = if self.core.is_tofino() { 0xff_u8 >> (7 - (mask & 7)) } else { mask as u8 };
                let kept = (field as u8).rotate_right(rotate as u32 & 7) & mask;
                Ok(kept.wrapping_add(add as u8) as i8)
            }
            _ => Err(unsupported(at, "this value of a parser counter")),
        }
    }
}
