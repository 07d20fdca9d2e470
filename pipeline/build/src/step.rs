//! Steps: statements of data-plane code that are neither assignment nor branch.
//!
//! A step has no effect until it is recorded: data-plane code writes `drop(no_route);`, plain Rust
//! `c.run(drop(no_route));`.

use super::cond::Cond;
use super::draft::Builder;
use super::fields::Hdr;
use super::handles::{ActionRef, CounterRef, DirectCounterRef, HashRef, LabelRef, TableRef};
use super::value::{Arg, Bits, Index, Rhs, Ro, Val};
use sluice_ir::{self as ir, PrimitiveKind};

/// A step of a control block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of a control block",
    label = "not a step",
    note = "steps are `table.apply()`, `subcontrol.apply()`, `action.call()`, `drop(label)` (of `sluice_build`), \
            `header.set_valid()`, `counter.count(index)`"
)]
pub trait ControlStep {
    /// Returns the form that the control block records.
    fn control_step(self, builder: &Builder) -> Recorded;
}

/// A step of an action.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of an action",
    label = "not a step of an action",
    note = "an action assigns, drops, counts and makes headers valid; tables and other actions run from the \
            control block"
)]
pub trait ActionStep {
    /// Returns the primitive that the action records.
    fn primitive(self, builder: &Builder) -> PrimitiveKind;
}

/// One or several steps that an action takes at once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a step of an action",
    label = "not a step of an action",
    note = "an action assigns, drops, counts and makes headers valid; tables and other actions run from the \
            control block"
)]
pub trait ActionSteps {
    /// Returns the primitives that the action records.
    fn primitives(self, builder: &Builder) -> Vec<PrimitiveKind>;
}

impl<S: ActionStep> ActionSteps for S {
    fn primitives(self, builder: &Builder) -> Vec<PrimitiveKind> {
        vec![self.primitive(builder)]
    }
}

/// A step in the form that a control block records.
#[derive(Debug)]
pub struct Recorded(pub(super) StepKind);

#[derive(Debug)]
pub(super) enum StepKind {
    Primitive(PrimitiveKind),
    Apply(ir::Table),
    Call(ir::Action),
    /// Primitives of one action.
    Together(Vec<PrimitiveKind>),
    /// The lines of the subcontrol with this number.
    Insert(usize),
}

/// One primitive, run in an action or directly in a control block.
#[must_use = "a step does nothing until it is run: `c.run(..)`"]
#[derive(Debug)]
pub struct Step(PrimitiveKind);

impl ControlStep for Step {
    fn control_step(self, _: &Builder) -> Recorded {
        Recorded(StepKind::Primitive(self.0))
    }
}

impl ActionStep for Step {
    fn primitive(self, _: &Builder) -> PrimitiveKind {
        self.0
    }
}

/// Drops the packet: sets `drop_ctl`, so that this gress sends no copy on. The label is the reason, or the
/// purpose if it is a consume label. If a pass drops twice, the last label counts.
pub fn drop(label: LabelRef) -> Step {
    Step(PrimitiveKind::Drop(label.0))
}

impl Ro<3> {
    /// Writes `drop_ctl` ([`tna::DropCtl`](super::tna::DropCtl)). If bit 0 of the value is set, the packet is dropped with
    /// the label; otherwise it is not dropped, not even by an earlier [`drop`].
    pub fn set_drop_ctl(self, value: impl Val<3>, label: LabelRef) -> Step {
        Step(PrimitiveKind::DropCtl(self.0, value.ir(), label.0))
    }
}

impl<const W: u16> Bits<W> {
    /// Assigns `value` in the bits where `mask` has ones. Value and mask are constants or parameters of the
    /// action, because the instruction takes them as a pair from the action data bus.
    pub fn set_masked(self, value: impl Val<W>, mask: impl Val<W>) -> Step {
        Step(PrimitiveKind::SetMasked(self.0, value.ir(), mask.ir()))
    }

    /// Assigns `value` to bits `HI` to `LO` and leaves the others: `h.vlan.set_slice::<15, 13, 3>(pcp)` is
    /// `h.vlan[15:13] = pcp` in P4. The value is a constant, a parameter or a field, or a slice or cast of one.
    pub fn set_slice<const HI: u16, const LO: u16, const N: u16>(self, value: impl Val<N>) -> Step {
        const { assert!(HI < W && LO <= HI && HI - LO + 1 == N, "the slice's bounds do not give this width") };
        Step(PrimitiveKind::SetSlice(self.0, HI, LO, value.ir()))
    }

    /// Assigns `value` if the entry's `flag` is 1, otherwise leaves the field unchanged.
    pub fn set_if(self, flag: Arg<1>, value: impl Val<W>) -> Step {
        Step(PrimitiveKind::SetMasked(self.0, value.ir(), flag.ir()))
    }
}

impl<T> Hdr<T> {
    /// Returns the condition that the header is valid: it was parsed or set valid, and not set invalid since.
    #[must_use]
    pub fn is_valid(&self) -> Cond {
        Cond::packet(ir::Cond::Valid(self.id()))
    }

    /// Returns the header's validity as a key of a table: 1 if the header is valid, otherwise 0.
    #[must_use]
    pub fn validity(&self) -> ir::KeySource {
        ir::KeySource::Valid(self.id())
    }

    /// Makes the header valid. Its fields keep their values.
    pub fn set_valid(&self) -> Step {
        Step(PrimitiveKind::SetValid(self.id(), true))
    }

    /// Makes the header invalid, so that the deparser does not emit it.
    pub fn set_invalid(&self) -> Step {
        Step(PrimitiveKind::SetValid(self.id(), false))
    }
}

impl CounterRef {
    /// Counts the packet at this index. An index beyond the end counts nothing.
    pub fn count(self, index: impl Index) -> Step {
        Step(PrimitiveKind::Count(self.0, index.index()))
    }
}

/// Count at the matched entry; allowed only in actions that a table runs.
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
    fn primitive(self, _: &Builder) -> PrimitiveKind {
        PrimitiveKind::CountDirect(self.0)
    }
}

/// Lookup of a table.
#[must_use = "a table is not applied until the lookup is run: `c.run(table.apply())`"]
#[derive(Debug)]
pub struct Applied(ir::Table);

/// Test of an `if`: an entry of the table matched.
#[must_use = "a table is not applied until its outcome is tested: `c.if_(table.apply().hit(), ..)`"]
#[derive(Debug)]
pub struct Hit(pub(super) ir::Table);

/// Test of an `if`: no entry of the table matched.
#[must_use = "a table is not applied until its outcome is tested: `c.if_(table.apply().miss(), ..)`"]
#[derive(Debug)]
pub struct Miss(pub(super) ir::Table);

/// Subject of a `match`: the action of the table that ran.
#[must_use = "a table is not applied until its outcome is tested: `c.switch(table.apply().action_run())`"]
#[derive(Debug)]
pub struct ActionRun(pub(super) ir::Table);

impl TableRef {
    /// Looks the packet up in the table and runs the selected action.
    pub fn apply(self) -> Applied {
        Applied(self.0)
    }
}

impl Applied {
    /// Returns the condition that an entry matched.
    pub fn hit(self) -> Hit {
        Hit(self.0)
    }

    /// Returns the condition that no entry matched.
    pub fn miss(self) -> Miss {
        Miss(self.0)
    }

    /// Selects on the action that ran, either from an entry or as the default action.
    pub fn action_run(self) -> ActionRun {
        ActionRun(self.0)
    }
}

impl ControlStep for Applied {
    fn control_step(self, _: &Builder) -> Recorded {
        Recorded(StepKind::Apply(self.0))
    }
}

/// An action without parameters, run as a separate keyless table.
#[must_use = "an action does not run until the call is run: `c.run(action.call())`"]
#[derive(Debug)]
pub struct Called(ir::Action);

impl ActionRef {
    /// Runs the action; it must have no parameters.
    pub fn call(self) -> Called {
        Called(self.0)
    }
}

impl ControlStep for Called {
    fn control_step(self, _: &Builder) -> Recorded {
        Recorded(StepKind::Call(self.0))
    }
}

/// Result of a hash computation, assigned to a field of its width.
#[must_use = "a hash is computed where its result is assigned"]
#[derive(Debug)]
pub struct Hashed<const W: u16>(ir::Hash);

impl<const W: u16> HashRef<W> {
    /// Computes the hash of the fields' values at this point.
    pub fn get(self) -> Hashed<W> {
        Hashed(self.0)
    }
}

impl<const W: u16> Hashed<W> {
    /// Takes bits `HI` to `LO` of the result.
    pub fn slice<const HI: u16, const LO: u16, const N: u16>(self) -> HashedSlice<N> {
        const { assert!(LO <= HI && HI < W && N == HI - LO + 1, "a slice is HI - LO + 1 bits of the hash") };
        HashedSlice(self.0, LO)
    }
}

/// Bits of a hash result, assigned to a field of their width.
#[must_use = "a hash is computed where its result is assigned"]
#[derive(Debug)]
pub struct HashedSlice<const W: u16>(ir::Hash, u16);

impl<const W: u16> Rhs<W> for HashedSlice<W> {
    fn assign(self, place: ir::Field, _: &Builder) -> PrimitiveKind {
        PrimitiveKind::HashSlice(place, self.0, self.1)
    }
}

impl<const W: u16> Rhs<W> for Hashed<W> {
    fn assign(self, place: ir::Field, _: &Builder) -> PrimitiveKind {
        PrimitiveKind::Hash(place, self.0)
    }
}
