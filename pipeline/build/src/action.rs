//! Action bodies: parameters and primitives.

use super::draft::Builder;
use super::step::ActionSteps;
use super::value::{Arg, LValue, Rhs};
use sluice_asic::gress::Gress;
use sluice_ir::{Loc, ParamData, Primitive, PrimitiveKind};

/// Records the parameters and primitives of one action.
#[derive(Debug)]
pub struct Act<'b> {
    builder: &'b Builder,
    gress: Gress,
    pub(super) params: Vec<ParamData>,
    pub(super) body: Vec<Primitive>,
}

impl<'b> Act<'b> {
    pub(super) fn new(builder: &'b Builder, gress: Gress) -> Self {
        Act { builder, gress, params: Vec::new(), body: Vec::new() }
    }

    /// Declares the next run-time parameter. The attribute writes this call for `|a, port: Arg<9>|`.
    pub fn arg<const W: u16>(&mut self, name: &str) -> Arg<W> {
        const { assert!(W >= 1 && W <= 128, "an action parameter has 1 to 128 bits") };
        let position = self.params.len() as u16;
        self.params.push(ParamData { name: name.to_owned(), width: W });
        Arg(position)
    }

    /// Assigns `value` to `place`: `place = value`.
    #[track_caller]
    pub fn set<const W: u16>(&mut self, place: impl LValue<W>, value: impl Rhs<W>) {
        self.primitive(value.assign(place.place(), self.builder), Loc::caller());
    }

    /// Adds one step: `drop(label)`, `header.set_valid()`, `counter.count(..)`.
    #[track_caller]
    pub fn run(&mut self, step: impl ActionSteps) {
        let loc = Loc::caller();
        step.primitives(self.builder).into_iter().for_each(|kind| self.primitive(kind, loc));
    }

    /// Runs `then`, which adds steps, if `known` is true. `known` is decided while the program is built.
    pub fn if_(&mut self, known: impl BuildTime, then: impl FnOnce(&mut Self)) -> ActElse<'_, 'b> {
        let known = known.known();
        if known {
            then(self);
        }
        ActElse { act: self, skip: known }
    }

    fn primitive(&mut self, kind: PrimitiveKind, loc: Loc) {
        self.builder.draft().declare_for(self.gress, &kind, loc);
        self.body.push(Primitive { kind, loc });
    }
}

/// A condition that is decided while the program is built.
#[diagnostic::on_unimplemented(
    message = "an action cannot branch on `{Self}`",
    label = "not known when the program is built",
    note = "actions run straight through: decide in the control block, or let a table choose between two actions"
)]
pub trait BuildTime {
    /// Returns true if the condition holds.
    fn known(self) -> bool;
}

impl BuildTime for bool {
    fn known(self) -> bool {
        self
    }
}

/// An `if` of an action, decided while the program is built, that may still get its `else`.
#[derive(Debug)]
pub struct ActElse<'a, 'b> {
    act: &'a mut Act<'b>,
    skip: bool,
}

impl<'b> ActElse<'_, 'b> {
    /// Runs `otherwise`, which adds steps, if the condition is false.
    pub fn else_(self, otherwise: impl FnOnce(&mut Act<'b>)) {
        if !self.skip {
            otherwise(self.act);
        }
    }
}
