//! What a parser does with the packet: extract, advance, and port metadata.

use super::super::Res;
use super::super::places::{Instance, Place, Slot, SlotHome, StackId};
use super::bits::{Bits, Lost, Source};
use super::env::Summed;
use super::frame::Bound;
use super::front::Kind;
use super::made::Made;
use super::target::Target;
use super::walk::{State, Walk};
use crate::check::{Ty, TyKind};
use crate::source::Span;
use crate::syntax::ast::{ExprId, ExprKind};
use sluice_asic::gress::Gress;
use sluice_ir::ParserOpKind;

impl Walk<'_, '_> {
    /// Lowers `pkt.extract(header)`.
    pub(super) fn extract(&mut self, state: &mut State, header: ExprId) -> Res<()> {
        let at = self.span(header);
        let ty = self.ty(state, header);
        if self.is_intrinsic(ty) {
            return self.extract_front(state, at);
        }
        match self.target(state, header)? {
            Some(Target::Place(Place::Header(instance))) => self.extract_header(state, instance, at),
            Some(Target::Next(stack)) => self.extract_next(state, stack, at),
            Some(Target::Local { id, width, .. }) => self.extract_local(state, header, id, width, at),
            _ => Err(self.refuse(
                at,
                "a parser extracts only headers",
                "declare the type as `header`, and the instance as a member of the headers",
            )),
        }
    }

    /// Returns true for the structure that the chip puts in front of every packet of the gress.
    pub(super) fn is_intrinsic(&self, ty: Ty) -> bool {
        let (TyKind::Struct(decl, _) | TyKind::Header(decl, _)) = *self.cx.checked.types.kind(ty) else {
            return false;
        };
        let name = self.cx.ast.text(self.cx.ast.decls[decl].name);
        match self.gress {
            Gress::Ingress => name == "ingress_intrinsic_metadata_t",
            Gress::Egress => name == "egress_intrinsic_metadata_t",
        }
    }

    /// The intrinsic metadata are no bytes in the IR.
    fn extract_front(&mut self, state: &mut State, at: Span) -> Res<()> {
        if state.env.front.at != 0 {
            return Err(self.refuse(
                at,
                "the intrinsic metadata are extracted behind their place",
                "extract them first, and once on every path",
            ));
        }
        state.env.front = self.layout.advance(state.env.front, self.layout.intrinsic);
        Ok(())
    }

    pub(super) fn extract_header(&mut self, state: &mut State, instance: Instance, at: Span) -> Res<()> {
        let slots = self.cx.storage.instances[instance].slots.clone();
        let name = self.cx.storage.instances[instance].name.clone();
        let place = Place::Header(instance);
        let fields = self.target_bits(&Target::Place(place));
        // A header that does not end with a byte has padding behind its fields.
        let bits = fields.next_multiple_of(8);
        if slots.is_empty() {
            state.ops.push((Made::Valid(instance, true), at));
            return Ok(());
        }
        self.skip_padding(state);
        if self.is_across(state, bits) {
            return self.extract_across(state, instance, bits, at);
        }
        match self.consumes(state, bits, &name, at)? {
            Kind::Real => {
                let header = self.cx.header(instance);
                self.op(state, ParserOpKind::Extract(header), at);
                let value = slots.iter().fold(Bits::default(), |value, &slot| {
                    let width = self.cx.storage.slots[slot].width;
                    value.then(Bits::one(Source::Slot(slot), width.into()))
                });
                let value = value.then(Bits::lost(Lost::Skipped, bits - fields));
                state.env.extracted(state.position, &value);
                slots.iter().for_each(|slot| _ = state.env.slots.remove(slot));
                let mut start = state.position;
                for &slot in &slots {
                    state.starts.insert(slot, start);
                    start += u32::from(self.cx.storage.slots[slot].width);
                }
                state.position += bits;
                state.extracted.extend(&slots);
                self.deposit(state, &slots, at);
            }
            Kind::Absent | Kind::Either => {
                let effect =
                    "its bytes are in front of the packet, where Sluice has none: the header stays invalid";
                self.cx.note(at, format!("extract of `{name}`"), effect);
            }
        }
        state.env.front = self.layout.advance(state.env.front, bits);
        Ok(())
    }

    fn extract_next(&mut self, state: &mut State, stack: StackId, at: Span) -> Res<()> {
        let name = self.cx.storage.stacks[stack].name.clone();
        let Some(&first) = self.cx.storage.stacks[stack].elements.first() else {
            let text = format!("stack `{name}` has no elements");
            return Err(self.refuse(at, text, "declare at least one"));
        };
        let fields = self.target_bits(&Target::Place(Place::Header(first)));
        let bits = fields.next_multiple_of(8);
        if self.consumes(state, bits, &name, at)? != Kind::Real {
            let text = format!("an element of stack `{name}` is extracted in front of the packet");
            return Err(self.refuse(at, text, "skip these bytes with `advance`"));
        }
        if self.is_counted(&name) {
            return self.extract_counted(state, stack, at);
        }
        let made = self.cx.stack(stack);
        self.op(state, ParserOpKind::ExtractNext(made), at);
        state.env.next_element(stack);
        let number = self.cx.storage.instances[first].slots.len() as u16;
        let value = self.read(state, &Target::LastMember(stack, 0, number), fields);
        let value = value.then(Bits::lost(Lost::Skipped, bits - fields));
        state.env.extracted(state.position, &value);
        state.position += bits;
        state.env.front = self.layout.advance(state.env.front, bits);
        Ok(())
    }

    /// A local variable that is extracted has storage like a header of the gress.
    fn extract_local(&mut self, state: &mut State, header: ExprId, id: u32, width: u32, at: Span) -> Res<()> {
        let ast = self.cx.ast;
        let decl = match &ast.exprs[header].kind {
            ExprKind::Name { .. } => self.cx.checked.decl_of(header),
            _ => None,
        };
        self.skip_padding(state);
        let runs = self.layout.runs(state.env.front, width);
        let (Some(decl), true) = (decl, runs.iter().any(|(kind, _)| *kind == Kind::Real)) else {
            self.consumes(state, width, "the variable", at)?;
            state.env.front = self.layout.advance(state.env.front, width);
            state.env.locals.insert(id, Bits::lost(Lost::InFront, width));
            return Ok(());
        };
        let name = format!("{}{}", self.frames[state.frame.0].prefix, ast.text(ast.decls[decl].name));
        let ty = self.ty(state, header);
        let place = self.cx.make_place(ty, self.gress, &name, at)?;
        let Place::Header(instance) = place else {
            return Err(self.refuse(at, "a parser extracts only headers", "declare the type as `header`"));
        };
        self.frames[state.frame.0].params.insert(decl, Bound::Place(place));
        self.extract_header(state, instance, at)
    }

    /// Skips the padding behind the data of a resubmit, to which the vendor's compiler pads the header that carries them.
    pub(super) fn skip_padding(&mut self, state: &mut State) {
        let front = state.env.front;
        let data = self.layout.intrinsic + self.layout.resubmit;
        if self.layout.resubmit > 0 && front.resubmitted == Some(true) && front.at >= data {
            state.env.front = self.layout.advance(front, self.layout.total.saturating_sub(front.at));
        }
    }

    /// Returns the kind of the next bits, which must all have the same.
    fn consumes(&mut self, state: &mut State, bits: u32, name: &str, at: Span) -> Res<Kind> {
        self.skip_padding(state);
        let runs = self.layout.runs(state.env.front, bits);
        match runs.as_slice() {
            [] => Ok(Kind::Absent),
            [(Kind::Either, _)] => Err(self.unasked(at)),
            [(kind, _)] => Ok(*kind),
            _ => {
                let front = state.env.front;
                let left = self.layout.total.saturating_sub(front.at);
                // Later extracts are looked at as if this one were right.
                state.env.front = self.layout.advance(front, left);
                if front.resubmitted == Some(true) {
                    let data = self.layout.resubmit;
                    let text =
                        format!("`{name}` has {bits} bits, but resubmits leave {data} bits for the parser");
                    return Err(self.refuse(at, text, "let the resubmit carry a header of this length"));
                }
                let text = format!(
                    "`{name}` has {bits} bits, but the packet begins after {left} more bits of metadata"
                );
                let help =
                    "skip the metadata in front of the packet with `advance` before headers are extracted";
                Err(self.refuse(at, text, help))
            }
        }
    }

    fn unasked(&mut self, at: Span) -> super::super::Refused {
        self.refuse(
            at,
            "these bytes are port metadata or the data of a resubmit, but the path has not asked which",
            "select on `resubmit_flag` before",
        )
    }

    /// Lowers `pkt.advance(bits)`.
    pub(super) fn advance(&mut self, state: &mut State, bits: ExprId) -> Res<()> {
        let at = self.span(bits);
        let Some(number) = self.number(state, bits).and_then(|number| u32::try_from(number).ok()) else {
            return Err(self.refuse(
                at,
                "a parser advances by a number of bits that is not known when the program is compiled",
                "make a state for each length and select among them, or count with `ParserCounter`",
            ));
        };
        self.advance_by(state, number, at)
    }

    /// Skips a number of bits.
    pub(super) fn advance_by(&mut self, state: &mut State, number: u32, at: Span) -> Res<()> {
        let runs = self.layout.runs(state.env.front, number);
        if runs.iter().any(|(kind, _)| *kind == Kind::Either) {
            return Err(self.unasked(at));
        }
        let real: u32 = runs.iter().filter(|(kind, _)| *kind == Kind::Real).map(|(_, bits)| bits).sum();
        let bytes = real / 8;
        if !real.is_multiple_of(8) || bytes > u32::from(u16::MAX) {
            let text =
                format!("a parser advances by {real} bits, but it advances by whole bytes, at most 65535");
            return Err(self.refuse(at, text, "advance by a multiple of 8 bits"));
        }
        if bytes > 0 {
            self.op(state, ParserOpKind::Advance(bytes as u16), at);
            state.env.extracted(state.position, &Bits::lost(Lost::Skipped, real));
            state.position += real;
        }
        state.env.front = self.layout.advance(state.env.front, number);
        Ok(())
    }

    /// Lowers `target = port_metadata_unpack<T>(pkt)`: the members of the target are port metadata.
    pub(super) fn unpack(&mut self, state: &mut State, target: &Target, call: ExprId, at: Span) -> Res<()> {
        let front = state.env.front;
        if self.gress != Gress::Ingress || front.at != self.layout.intrinsic {
            return Err(self.refuse(
                at,
                "port metadata are unpacked where they are not",
                "unpack them in the ingress parser, right after the intrinsic metadata",
            ));
        }
        // A struct is padded to all bits in front of the packet; a header has its own length.
        let ty = self.ty(state, call);
        let bits = match self.cx.checked.types.kind(ty) {
            TyKind::Header(..) => self.bits(ty).unwrap_or(0),
            _ => self.layout.total - front.at,
        };
        state.env.front = self.layout.advance(front, bits.min(self.layout.total - front.at));
        let slots = match target {
            Target::Place(place) => self.cx.storage.slots_of(place),
            &Target::Local { id, at: first, width } => {
                let place = match self.unpacked.get(&id) {
                    Some(place) => place.clone(),
                    None => {
                        let ty = self.ty(state, call);
                        let place = self.cx.make_place(ty, self.gress, "port_metadata", at)?;
                        self.unpacked.insert(id, place.clone());
                        place
                    }
                };
                let slots = self.cx.storage.slots_of(&place);
                self.are_port_metadata(&slots);
                let value = self.read(state, &Target::Place(place), width);
                return self.write(state, &Target::Local { id, at: first, width }, &value, at);
            }
            _ => Vec::new(),
        };
        self.are_port_metadata(&slots);
        Ok(())
    }

    fn are_port_metadata(&mut self, slots: &[Slot]) {
        for &slot in slots {
            self.cx.storage.slots[slot].home = SlotHome::PortMetadata;
        }
    }

    /// Subtracts a header from the sums that cover everything behind them.
    fn deposit(&mut self, state: &mut State, slots: &[Slot], at: Span) {
        for sum in state.env.deposits.clone() {
            let fields: Vec<Summed> = slots.iter().map(|&slot| Summed::Slot(slot)).collect();
            self.subtract(state, sum, &fields, at);
        }
    }
}
