//! The parser counter.

use super::super::Res;
use super::bits::{Piece, Source};
use super::walk::{State, Walk};
use crate::syntax::ast::ExprId;
use sluice_ir::{CounterLoad, ParserOpKind};

impl Walk<'_, '_> {
    /// Lowers a method of `ParserCounter`.
    pub(super) fn counter(
        &mut self,
        state: &mut State,
        expr: ExprId,
        name: &str,
        args: &[ExprId],
    ) -> Res<()> {
        let at = self.span(expr);
        let kind = match name {
            "set" => {
                if self.several_counters {
                    state.env.counter = self.object(state, expr);
                }
                ParserOpKind::SetCounter(self.load(state, args, expr)?)
            }
            "increment" | "decrement" => {
                let by = args.first().and_then(|&by| self.number(state, by)).map(|by| by as u8 as i8);
                let Some(by) = by else {
                    return Err(self.refuse(
                        at,
                        "the parser counter changes by a number that is not known when the program is compiled",
                        "use a constant, or load the counter from a field",
                    ));
                };
                ParserOpKind::AddCounter(if name == "decrement" { by.wrapping_neg() } else { by })
            }
            _ => {
                let text = format!("the result of `{name}` is not used");
                return Err(self.refuse(at, text, "select on it"));
            }
        };
        self.op(state, kind, at);
        Ok(())
    }

    fn load(&mut self, state: &mut State, args: &[ExprId], expr: ExprId) -> Res<CounterLoad> {
        let at = self.span(expr);
        let Some((&value, rest)) = args.split_first() else {
            return Err(self.refuse(at, "`set` has no value", "write `counter.set(8w5)`"));
        };
        let bits = self.value(state, value)?;
        if let Some(value) = bits.as_const().filter(|_| rest.is_empty()) {
            return Ok(CounterLoad::Const(value as u8));
        }
        let mut numbers = Vec::new();
        for &arg in rest {
            numbers.extend(self.number(state, arg));
        }
        let (max, rotate, mask, add) = match numbers.as_slice() {
            [] if rest.is_empty() => (u8::MAX, 0, 7, 0),
            &[max, rotate, mask, add] => (max as u8, (rotate & 7) as u8, (mask & 7) as u8, add as u8),
            _ => {
                return Err(self.refuse(
                    at,
                    "the parser counter is loaded with numbers that are not known when the program is compiled",
                    "use constants for the greatest value, rotation, mask and addend",
                ));
            }
        };
        // A field with zeros in front is the field.
        let significant: Vec<&Piece> =
            bits.0.iter().skip_while(|piece| piece.source == Source::Const(0)).collect();
        let whole = |slot| u32::from(self.cx.storage.slots[slot].width);
        match significant.as_slice() {
            [Piece { source: Source::Slot(slot), lo: 0, width }] if *width == whole(*slot) => {
                let field = self.cx.field(*slot);
                Ok(CounterLoad::Field { field, max, rotate, mask, add })
            }
            _ => Err(self.refuse(
                at,
                "the parser counter is loaded from something other than a field of at most 8 bits",
                "extract a header with this field, and load the counter from it",
            )),
        }
    }
}
