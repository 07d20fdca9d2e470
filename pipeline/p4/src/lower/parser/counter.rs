//! The parser counter and its stack.

use super::super::places::{Slot, SlotHome};
use super::super::{Refused, Res};
use super::bits::{Bits, Piece, Source};
use super::early::{EarlyLoad, changes_counter};
use super::made::Made;
use super::walk::{State, Walk};
use crate::source::Span;
use crate::syntax::ast::ExprId;
use sluice_asic::intrinsic::Architecture;
use sluice_ir::{CounterLoad, ParserOpKind};

/// Greatest value, rotation, number of kept bits minus 1, and addend of a load.
type Conversion = (u8, u8, u8, u8);

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
        let mut early = false;
        let kind = match name {
            "set" => {
                if self.several_counters {
                    state.env.counter = self.object(state, expr);
                }
                let (load, first) = self.load(state, args, at)?;
                early = first;
                let Some(load) = load else { return Ok(()) };
                ParserOpKind::SetCounter(load)
            }
            "push" => {
                let (args, linked) = self.pushed(state, args)?;
                let (load, first) = self.load(state, args, at)?;
                early = first;
                let Some(load) = load else { return Err(self.no_part(at)) };
                ParserOpKind::PushCounter(load, linked)
            }
            "pop" => ParserOpKind::PopCounter,
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
        match kind {
            // A byte of the state itself is taken before the state moves past it.
            ParserOpKind::SetCounter(CounterLoad::Ahead { .. })
            | ParserOpKind::PushCounter(CounterLoad::Ahead { .. }, _)
                if early =>
            {
                state.ops.insert(0, (Made::Plain(kind), at));
            }
            kind => self.op(state, kind, at),
        }
        Ok(())
    }

    /// Returns the arguments of a `push` that are those of a load; the last one may say that the value below changes with the
    /// counter.
    fn pushed<'e>(&mut self, state: &mut State, args: &'e [ExprId]) -> Res<(&'e [ExprId], bool)> {
        let Some((&last, load)) = args.split_last().filter(|(_, load)| matches!(load.len(), 1 | 5)) else {
            return Ok((args, false));
        };
        let linked = self.value(state, last)?.as_const();
        Ok((load, linked != Some(0)))
    }

    /// Returns a load, and true if it comes before the operations of the state; no load if an earlier state does it.
    fn load(&mut self, state: &mut State, args: &[ExprId], at: Span) -> Res<(Option<CounterLoad>, bool)> {
        let Some((&value, rest)) = args.split_first() else {
            return Err(self.refuse(at, "`set` has no value", "write `counter.set(8w5)`"));
        };
        if let Some(number) = self.number(state, value).filter(|_| rest.is_empty()) {
            return Ok((Some(CounterLoad::Const(number as u8)), false));
        }
        let bits = self.value(state, value)?;
        let (max, rotate, mask, add) = self.conversion(state, rest, at)?;
        let byte = self.byte(state, &bits);
        if let Some(Byte::Field(slot)) = byte
            && !rest.is_empty()
            && !self.is_byte(slot)
        {
            let load = CounterLoad::Ahead { at: 0, max, rotate, mask, add };
            return Ok(match self.byte_of(state, slot, at)? {
                Some(at) => (Some(CounterLoad::Ahead { at, max, rotate, mask, add }), true),
                None => {
                    self.load_before(state, slot, load, at)?;
                    (None, true)
                }
            });
        }
        match byte {
            Some(Byte::Field(slot)) => {
                let field = self.cx.field(slot);
                Ok((Some(CounterLoad::Field { field, max, rotate, mask, add }), false))
            }
            Some(Byte::Ahead(at)) => Ok((Some(CounterLoad::Ahead { at, max, rotate, mask, add }), false)),
            None => Err(self.refuse(
                at,
                "the parser counter is loaded from something other than a byte ahead or a field of at most 8 bits",
                "look ahead by whole bytes, or extract a header with this field and load the counter from it",
            )),
        }
    }

    /// Returns true if a field of a header is a byte of the packet.
    fn is_byte(&self, slot: Slot) -> bool {
        let data = &self.cx.storage.slots[slot];
        let SlotHome::Header(instance) = data.home else { return true };
        let before = self.cx.storage.instances[instance].slots.iter().take_while(|other| **other != slot);
        let start: u32 = before.map(|&other| u32::from(self.cx.storage.slots[other].width)).sum();
        data.width == 8 && start.is_multiple_of(8)
    }

    /// Returns the distance of the byte that has a part in a field, if the state extracts the field. With a rotation and a mask the
    /// chip takes the whole byte, so the counter is loaded before the state extracts the header.
    fn byte_of(&mut self, state: &mut State, slot: Slot, at: Span) -> Res<Option<u16>> {
        let width = u32::from(self.cx.storage.slots[slot].width);
        let start = state.starts.get(&slot).copied();
        let Some(start) = start.filter(|start| start / 8 == (start + width - 1) / 8) else { return Ok(None) };
        match u16::try_from(start / 8 * 8) {
            Ok(ahead) if !state.ops.iter().any(|(op, _)| changes_counter(op)) => Ok(Some(ahead)),
            _ => Err(self.no_part(at)),
        }
    }

    /// Notes a load from a part of a byte of a header that an earlier state extracts.
    fn load_before(&mut self, state: &State, slot: Slot, load: CounterLoad, at: Span) -> Res<()> {
        let SlotHome::Header(instance) = self.cx.storage.slots[slot].home else {
            return Err(self.no_part(at));
        };
        let width = |slot: Slot| u32::from(self.cx.storage.slots[slot].width);
        let before = self.cx.storage.instances[instance].slots.iter().take_while(|other| **other != slot);
        let start: u32 = before.map(|&other| width(other)).sum();
        let within = start / 8 == (start + width(slot) - 1) / 8;
        if !within || state.ops.iter().any(|(op, _)| changes_counter(op)) {
            return Err(self.no_part(at));
        }
        let header = self.cx.header(instance);
        self.early.push(EarlyLoad { state: state.id, header, bit: start / 8 * 8, load, at });
        Ok(())
    }

    fn no_part(&mut self, at: Span) -> Refused {
        self.refuse(
            at,
            "the parser counter is loaded with a rotation and a mask from a part of a byte, after it has changed in the state",
            "load it in the state that extracts the header, before the counter changes",
        )
    }

    /// Returns the conversion of a loaded field that the arguments after it describe.
    fn conversion(&mut self, state: &mut State, args: &[ExprId], at: Span) -> Res<Conversion> {
        let numbers: Vec<u128> = args.iter().filter_map(|&arg| self.number(state, arg)).collect();
        match numbers.as_slice() {
            [] if args.is_empty() => Ok((u8::MAX, 0, 7, 0)),
            &[max, rotate, mask, add] => {
                let kept = match self.cx.chip {
                    Architecture::Tna => Some((mask & 7) as u8),
                    // The mask of Tofino 2 has a bit for each bit of the field.
                    Architecture::T2na => {
                        (1..=8).find(|bits| mask & 0xff == (1 << bits) - 1).map(|bits| bits - 1)
                    }
                };
                let Some(kept) = kept else {
                    let text =
                        format!("the mask {mask:#x} of a parser counter keeps other than the lowest bits");
                    return Err(self.refuse(
                        at,
                        text,
                        "rotate the field so that the bits to count are the lowest",
                    ));
                };
                Ok((max as u8, (rotate & 7) as u8, kept, add as u8))
            }
            _ => Err(self.refuse(
                at,
                "the parser counter is loaded with numbers that are not known when the program is compiled",
                "use constants for the greatest value, rotation, mask and addend",
            )),
        }
    }

    /// Returns the byte that is a value with zeros in front.
    fn byte(&self, state: &State, bits: &Bits) -> Option<Byte> {
        let significant: Vec<&Piece> =
            bits.0.iter().skip_while(|piece| piece.source == Source::Const(0)).collect();
        match significant.as_slice() {
            [Piece { source: Source::Slot(slot), lo: 0, width }]
                if *width == u32::from(self.cx.storage.slots[*slot].width) =>
            {
                Some(Byte::Field(*slot))
            }
            &[&Piece { source: Source::Ahead(at), width: 8, .. }] if at >= state.position => {
                let distance = at - state.position;
                distance.is_multiple_of(8).then_some(Byte::Ahead(u16::try_from(distance).ok()?))
            }
            _ => None,
        }
    }
}

/// Byte from which the parser counter is loaded.
enum Byte {
    Field(Slot),
    Ahead(u16),
}
