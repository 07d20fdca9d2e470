//! Names in a parser: what they stand for in its copy.

use super::super::Res;
use super::super::places::{Place, StackId};
use super::bits::{Bits, Lost, Source};
use super::env::LocalId;
use super::frame::Bound;
use super::walk::{State, Walk};
use crate::check::{Builtin, Resolution};
use crate::syntax::ast::{DeclId, ExprId, ExprKind};

/// What an expression names.
#[derive(Clone, Debug)]
pub(super) enum Target {
    /// The packet.
    Packet,
    /// Storage of the gress.
    Place(Place),
    /// Bits of a variable.
    Local {
        /// The variable.
        id: LocalId,
        /// Distance from its first bit.
        at: u32,
        /// Number of bits.
        width: u32,
    },
    /// The element of a stack that was extracted last.
    Last(StackId),
    /// A member of that element: the positions of its first part and of the part after it among the fields on the wire.
    LastMember(StackId, u16, u16),
    /// The element of a stack that is extracted next.
    Next(StackId),
}

impl Walk<'_, '_> {
    /// Returns what an expression names; `None` if it names no storage.
    pub(super) fn target(&mut self, state: &mut State, expr: ExprId) -> Res<Option<Target>> {
        let ast = self.cx.ast;
        match &ast.exprs[expr].kind {
            ExprKind::Name { .. } => {
                let Some(decl) = self.cx.checked.decl_of(expr) else { return Ok(None) };
                if !self.is_variable(decl) {
                    return Ok(None);
                }
                self.named(state, decl, expr).map(Some)
            }
            ExprKind::Member { base, .. } => {
                let Some(base_target) = self.target(state, *base)? else { return Ok(None) };
                match self.cx.checked.resolutions[expr] {
                    Some(Resolution::Field(_, position)) => self.member(state, base_target, position, *base),
                    Some(Resolution::Builtin(Builtin::Last)) => match base_target {
                        Target::Place(Place::Stack(stack)) => Ok(Some(Target::Last(stack))),
                        _ => Ok(None),
                    },
                    Some(Resolution::Builtin(Builtin::Next)) => match base_target {
                        Target::Place(Place::Stack(stack)) => Ok(Some(Target::Next(stack))),
                        _ => Ok(None),
                    },
                    _ => Ok(None),
                }
            }
            ExprKind::Index { base, index } => {
                let Some(target) = self.target(state, *base)? else { return Ok(None) };
                let Some(index) = self.number(state, *index) else {
                    return Err(self.refuse(
                        self.span(expr),
                        "an element of a stack is named by a number that is not known when the program is compiled",
                        "extract elements with `next`, and name them by constants",
                    ));
                };
                match target {
                    Target::Place(Place::Stack(stack)) => {
                        let element = self.cx.storage.stacks[stack].elements.get(index as usize).copied();
                        Ok(element.map(|element| Target::Place(Place::Header(element))))
                    }
                    _ => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }

    fn named(&mut self, state: &State, decl: DeclId, expr: ExprId) -> Res<Target> {
        let frame = &self.frames[state.frame.0];
        Ok(match frame.params.get(&decl) {
            Some(Bound::Packet) => Target::Packet,
            Some(Bound::Place(place)) => Target::Place(place.clone()),
            Some(&Bound::Local(frame, decl)) => {
                Target::Local { id: self.local(frame, decl), at: 0, width: self.width_of(state, expr)? }
            }
            None => {
                Target::Local { id: self.local(state.frame, decl), at: 0, width: self.width_of(state, expr)? }
            }
        })
    }

    fn member(
        &mut self,
        state: &mut State,
        base: Target,
        position: u32,
        expr: ExprId,
    ) -> Res<Option<Target>> {
        Ok(match base {
            Target::Place(place) => self.cx.storage.member(&place, position).map(Target::Place),
            Target::Local { id, at, .. } => {
                let ty = self.ty(state, expr);
                let member = self.members(ty).and_then(|members| members.get(position as usize).copied());
                member.map(|member| Target::Local { id, at: at + member.at, width: member.width })
            }
            Target::Last(stack) => {
                let first = self.cx.storage.stacks[stack].elements.first().copied();
                let Some(first) = first else { return Ok(None) };
                let slots = self.cx.storage.instances[first].slots.clone();
                let Some(place) = self.cx.storage.member(&Place::Header(first), position) else {
                    return Ok(None);
                };
                let of = self.cx.storage.slots_of(&place);
                let start = of.first().and_then(|slot| slots.iter().position(|other| other == slot));
                start.map(|start| Target::LastMember(stack, start as u16, (start + of.len()) as u16))
            }
            _ => None,
        })
    }

    /// Returns the value at a place that an expression names.
    pub(super) fn read(&mut self, state: &State, target: &Target, width: u32) -> Bits {
        match *target {
            Target::Local { id, at, width } => state.env.locals.get(&id).map_or_else(
                || Bits::lost(Lost::Unknown, width),
                |whole| {
                    if width == 0 {
                        Bits::default()
                    } else {
                        whole.slice(whole.width() - 1 - at, whole.width() - at - width)
                    }
                },
            ),
            Target::Place(ref place) => self.stored(state, place),
            Target::LastMember(stack, from, to) => {
                if let Some(element) = self.last_element(state, stack) {
                    let slots = self.cx.storage.instances[element].slots.clone();
                    let slots = slots.get(usize::from(from)..usize::from(to)).unwrap_or_default().to_vec();
                    return slots
                        .iter()
                        .fold(Bits::default(), |value, slot| value.then(self.slot(state, *slot)));
                }
                let first = self.cx.storage.stacks[stack].elements[0];
                let slots = self.cx.storage.instances[first].slots.clone();
                (from..to).fold(Bits::default(), |value, position| {
                    let width = self.cx.storage.slots[slots[usize::from(position)]].width;
                    value.then(Bits::one(Source::Last(stack, position), width.into()))
                })
            }
            Target::Packet | Target::Last(_) | Target::Next(_) => Bits::lost(Lost::Computed, width),
        }
    }

    /// Returns the value of storage.
    fn stored(&mut self, state: &State, place: &Place) -> Bits {
        let slots = self.cx.storage.slots_of(place);
        slots.into_iter().fold(Bits::default(), |value, slot| value.then(self.slot(state, slot)))
    }
}
