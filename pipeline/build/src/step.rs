//! Steps: what a line of data-plane code that is neither assignment nor branch can do.
//!
//! A step does nothing until it is run: data-plane code writes `drop(no_route);`, plain Rust `c.run(drop(no_route));`.

use super::cond::Cond;
use super::fields::Hdr;
use super::handles::{ActionRef, CounterRef, DirectCounterRef, HashRef, LabelRef, TableRef};
use super::value::{Arg, Bits, Index, Rhs, Val};
use sluice_ir::{self as ir, PrimitiveKind};

/// A step that a control block can take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of a control block",
    label = "not a step",
    note = "steps are `table.apply()`, `action.call()`, `drop(label)` (of `crate`), \
            `header.set_valid()`, `counter.count(index)`"
)]
pub trait ControlStep {
    /// What the control block records.
    fn control_step(self) -> Recorded;
}

/// A step that an action can take.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of an action",
    label = "not a step of an action",
    note = "an action assigns, drops, counts and makes headers valid; tables and other actions run from the \
            control block"
)]
pub trait ActionStep {
    /// The primitive that the action records.
    fn primitive(self) -> PrimitiveKind;
}

/// One or several steps that an action takes at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of an action",
    label = "not a step of an action",
    note = "an action assigns, drops, counts and makes headers valid; tables and other actions run from the \
            control block"
)]
pub trait ActionSteps {
    /// The primitives that the action records.
    fn primitives(self) -> Vec<PrimitiveKind>;
}

impl<S: ActionStep> ActionSteps for S {
    fn primitives(self) -> Vec<PrimitiveKind> {
        vec![self.primitive()]
    }
}

/// A step as a control block records it.
#[derive(Debug)]
pub struct Recorded(pub(super) StepKind);

#[derive(Debug)]
pub(super) enum StepKind {
    Primitive(PrimitiveKind),
    Apply(ir::Table),
    Call(ir::Action),
    /// Primitives of one action.
    Together(Vec<PrimitiveKind>),
}

/// One primitive, run in an action or directly in a control block.
#[must_use = "a step does nothing until it is run: `c.run(..)`"]
#[derive(Debug)]
pub struct Step(PrimitiveKind);

impl ControlStep for Step {
    fn control_step(self) -> Recorded {
        Recorded(StepKind::Primitive(self.0))
    }
}

impl ActionStep for Step {
    fn primitive(self) -> PrimitiveKind {
        self.0
    }
}

/// Sets `drop_ctl`: this gress emits no copy of the packet. The label is the reason, or the purpose if it is
/// a consume label; the last one of a pass counts.
pub fn drop(label: LabelRef) -> Step {
    Step(PrimitiveKind::Drop(label.0))
}

impl<const W: u16> Bits<W> {
    /// Writes the bits where `mask` has ones. Both are constants or parameters of the action: the instruction takes
    /// them as a pair from the action data bus.
    pub fn set_masked(self, value: impl Val<W>, mask: impl Val<W>) -> Step {
        Step(PrimitiveKind::SetMasked(self.0, value.ir(), mask.ir()))
    }

    /// Writes the field if the entry's `flag` is 1, and leaves it otherwise.
    pub fn set_if(self, flag: Arg<1>, value: impl Val<W>) -> Step {
        Step(PrimitiveKind::SetMasked(self.0, value.ir(), flag.ir()))
    }
}

impl<T> Hdr<T> {
    /// Whether the header is valid: parsed or set valid, and not set invalid since.
    #[must_use]
    pub fn is_valid(&self) -> Cond {
        Cond::packet(ir::Cond::Valid(self.id()))
    }

    /// Makes the header valid; its fields keep the values they have.
    pub fn set_valid(&self) -> Step {
        Step(PrimitiveKind::SetValid(self.id(), true))
    }

    /// Makes the header invalid: it is not emitted.
    pub fn set_invalid(&self) -> Step {
        Step(PrimitiveKind::SetValid(self.id(), false))
    }
}

impl CounterRef {
    /// Counts the packet at this index; an index past the end counts nothing.
    pub fn count(self, index: impl Index) -> Step {
        Step(PrimitiveKind::Count(self.0, index.index()))
    }
}

/// A count at the matched entry. Only an action that a table runs has one.
#[must_use = "a step does nothing until it is run: `a.run(..)`"]
#[derive(Debug)]
pub struct DirectCount(ir::Counter);

impl DirectCounterRef {
    /// Counts the packet at the matched entry of the table that runs the action.
    pub fn count(self) -> DirectCount {
        DirectCount(self.0)
    }
}

impl ActionStep for DirectCount {
    fn primitive(self) -> PrimitiveKind {
        PrimitiveKind::CountDirect(self.0)
    }
}

/// A table's lookup.
#[must_use = "a table is not applied until the lookup is run: `c.run(table.apply())`"]
#[derive(Debug)]
pub struct Applied(ir::Table);

/// "An entry of the table matched", in an `if` of its own.
#[must_use = "a table is not applied until its outcome is tested: `c.if_(table.apply().hit(), ..)`"]
#[derive(Debug)]
pub struct Hit(pub(super) ir::Table);

/// "No entry of the table matched", in an `if` of its own.
#[must_use = "a table is not applied until its outcome is tested: `c.if_(table.apply().miss(), ..)`"]
#[derive(Debug)]
pub struct Miss(pub(super) ir::Table);

/// Which action of the table ran, for a `match`.
#[must_use = "a table is not applied until its outcome is tested: `c.switch(table.apply().action_run())`"]
#[derive(Debug)]
pub struct ActionRun(pub(super) ir::Table);

impl TableRef {
    /// Looks the packet up and runs the action found.
    pub fn apply(self) -> Applied {
        Applied(self.0)
    }
}

impl Applied {
    /// Whether an entry matched.
    pub fn hit(self) -> Hit {
        Hit(self.0)
    }

    /// Whether no entry matched.
    pub fn miss(self) -> Miss {
        Miss(self.0)
    }

    /// Which action ran, by an entry or by default.
    pub fn action_run(self) -> ActionRun {
        ActionRun(self.0)
    }
}

impl ControlStep for Applied {
    fn control_step(self) -> Recorded {
        Recorded(StepKind::Apply(self.0))
    }
}

/// An action without parameters, run as a keyless table of its own.
#[must_use = "an action does not run until the call is run: `c.run(action.call())`"]
#[derive(Debug)]
pub struct Called(ir::Action);

impl ActionRef {
    /// Runs the action, which has no parameters.
    pub fn call(self) -> Called {
        Called(self.0)
    }
}

impl ControlStep for Called {
    fn control_step(self) -> Recorded {
        Recorded(StepKind::Call(self.0))
    }
}

/// The result of a hash computation, to be assigned to a field of its width.
#[must_use = "a hash is computed where its result is assigned"]
#[derive(Debug)]
pub struct Hashed<const W: u16>(ir::Hash);

impl<const W: u16> HashRef<W> {
    /// The hash of the packet's present field values.
    pub fn get(self) -> Hashed<W> {
        Hashed(self.0)
    }
}

impl<const W: u16> Hashed<W> {
    /// Bits `HI..=LO` of the result.
    pub fn slice<const HI: u16, const LO: u16, const N: u16>(self) -> HashedSlice<N> {
        const { assert!(LO <= HI && HI < W && N == HI - LO + 1, "a slice is HI - LO + 1 bits of the hash") };
        HashedSlice(self.0, LO)
    }
}

/// Bits of the result of a hash computation, to be assigned to a field of their width.
#[must_use = "a hash is computed where its result is assigned"]
#[derive(Debug)]
pub struct HashedSlice<const W: u16>(ir::Hash, u16);

impl<const W: u16> Rhs<W> for HashedSlice<W> {
    fn assign(self, place: ir::Field) -> PrimitiveKind {
        PrimitiveKind::HashSlice(place, self.0, self.1)
    }
}

impl<const W: u16> Rhs<W> for Hashed<W> {
    fn assign(self, place: ir::Field) -> PrimitiveKind {
        PrimitiveKind::Hash(place, self.0)
    }
}
