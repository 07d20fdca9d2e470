//! Who executes the passes of a network's switches: as `--engine`, `--trace` and `--coverage` say. What may not live
//! here: the switches.

use super::super::{engine, trace::Shared};
use crate::args::EngineKind;
use sluice_asic::gress::Gress;
use sluice_fabric::network::{Placed, SwitchSetup};
use sluice_pipeline::control::{ControlState, Entry, EntryId};
use sluice_pipeline::cover::{Coverage, Points};
use sluice_pipeline::engine::{Engine, LowerError};
use sluice_pipeline::ir::{Profile, Table};
use sluice_pipeline::packet::PacketStore;
use sluice_pipeline::pass::{Executor, GhostUpdate, Made, Pass, State};
use sluice_pipeline::reference::{Options, Reference};

/// The executor of a switch.
pub(super) enum Runner {
    Fast(Box<Engine>),
    Plain(Box<Reference>),
    Traced(Box<Reference<Shared>>),
}

impl Runner {
    /// The executor of a switch. It tells `tracer` every step, if there is one; the engine counts what packets reach of
    /// `points`.
    pub(super) fn new(
        switch: &SwitchSetup,
        kind: EngineKind,
        points: Option<&Points>,
        tracer: Option<Shared>,
    ) -> Result<Runner, LowerError> {
        let Placed { program, placement } = switch.placed.as_ref();
        let control = &switch.control;
        let options = || {
            let cycles = [0, 1].map(|g: usize| placement.gresses[g].parser.cycles.clone());
            Options { parser_cycles: cycles, ..Options::default() }
        };
        if let Some(tracer) = tracer {
            return Ok(Runner::Traced(Box::new(Reference::traced(program, control, options(), tracer))));
        }
        if kind == EngineKind::Reference {
            return Ok(Runner::Plain(Box::new(Reference::new(program, control, options()))));
        }
        let engine = engine(kind, (program, placement, control), points)?;
        Ok(Runner::Fast(Box::new(engine)))
    }

    fn inner(&self) -> &dyn Executor {
        match self {
            Runner::Fast(engine) => engine.as_ref(),
            Runner::Plain(reference) => reference.as_ref(),
            Runner::Traced(reference) => reference.as_ref(),
        }
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut dyn Executor {
        match self {
            Runner::Fast(engine) => engine.as_mut(),
            Runner::Plain(reference) => reference.as_mut(),
            Runner::Traced(reference) => reference.as_mut(),
        }
    }
}

impl Executor for Runner {
    #[inline]
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        match self {
            Runner::Fast(engine) => engine.run(gress, batch, packets),
            other => other.inner_mut().run(gress, batch, packets),
        }
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        self.inner_mut().ghost(update);
    }

    #[inline]
    fn made(&mut self) -> &mut Vec<Made> {
        match self {
            Runner::Fast(engine) => engine.made(),
            other => other.inner_mut().made(),
        }
    }

    fn table_changed(&mut self, table: Table, control: &ControlState) {
        self.inner_mut().table_changed(table, control);
    }

    fn profile_changed(&mut self, profile: Profile, control: &ControlState) {
        self.inner_mut().profile_changed(profile, control);
    }

    fn entry_changed(&mut self, table: Table, entry: EntryId, was: Option<&Entry>, control: &ControlState) {
        self.inner_mut().entry_changed(table, entry, was, control);
    }

    fn default_changed(&mut self, table: Table, control: &ControlState) {
        self.inner_mut().default_changed(table, control);
    }

    fn member_changed(&mut self, profile: Profile, member: u32, control: &ControlState) {
        self.inner_mut().member_changed(profile, member, control);
    }

    fn group_changed(&mut self, profile: Profile, group: u32, control: &ControlState) {
        self.inner_mut().group_changed(profile, group, control);
    }

    fn port_metadata_changed(&mut self, control: &ControlState) {
        self.inner_mut().port_metadata_changed(control);
    }

    fn state(&self) -> &State {
        self.inner().state()
    }

    fn state_mut(&mut self) -> &mut State {
        self.inner_mut().state_mut()
    }

    fn fork(&self) -> Option<Runner> {
        match self {
            Runner::Fast(engine) => engine.fork().map(|e| Runner::Fast(Box::new(e))),
            Runner::Plain(reference) => reference.fork().map(|r| Runner::Plain(Box::new(r))),
            Runner::Traced(reference) => reference.fork().map(|r| Runner::Traced(Box::new(r))),
        }
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        self.inner_mut().take_coverage(coverage);
    }
}
