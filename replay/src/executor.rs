//! Executors of packet passes: a replay requests one per switch from its caller.

use crate::trace::StepTracer;
use sluice_asic::gress::Gress;
use sluice_control::{ControlState, Entry, EntryId};
use sluice_exec::cover::{Coverage, Points};
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::packet::PacketStore;
use sluice_exec::pass::{Executor, GhostUpdate, Made, Pass, State};
use sluice_exec::reference::{Options, Reference};
use sluice_fabric::network::SwitchSetup;
use sluice_ir::{Profile, Table, ValueSet};

/// The executor that a replay needs for a switch.
pub struct ExecutorRequest<'a> {
    /// The switch.
    pub switch: &'a SwitchSetup,
    /// Points whose coverage the executor must count; `None`: it need not count coverage.
    pub points: Option<&'a Points>,
    /// Tracer that the executor must call for each step; `None`: no steps are traced.
    pub tracer: Option<StepTracer>,
}

/// Creates the requested executor. A replay calls it once for each switch, a rate search once for each switch and
/// trial.
pub type ExecutorFactory<'f, E> = dyn FnMut(ExecutorRequest<'_>) -> Result<E, LowerError> + 'f;

/// Returns a reference interpreter for a switch.
#[must_use]
pub fn interpreter(switch: &SwitchSetup) -> Reference {
    Reference::new(&switch.placed.program, &switch.control, options(switch))
}

/// Returns a reference interpreter that calls `tracer` for each step.
#[must_use]
pub fn traced_interpreter(switch: &SwitchSetup, tracer: StepTracer) -> Reference<StepTracer> {
    Reference::traced(&switch.placed.program, &switch.control, options(switch), tracer)
}

/// Returns options with the parser's cycles of the placement.
fn options(switch: &SwitchSetup) -> Options {
    let cycles = [0, 1].map(|g: usize| switch.placed.placement.gresses[g].parser.cycles.clone());
    let writes_once = !switch.placed.placement.chip.parser.clear_on_write;
    Options { parser_cycles: cycles, writes_once, ..Options::default() }
}

/// One of the executors, for networks whose executors are chosen at run time.
pub enum AnyExecutor {
    /// The engine, on generated code or by steps.
    Engine(Box<Engine>),
    /// The reference interpreter.
    Interpreter(Box<Reference>),
    /// The reference interpreter with a tracer.
    Traced(Box<Reference<StepTracer>>),
}

impl AnyExecutor {
    fn inner(&self) -> &dyn Executor {
        match self {
            AnyExecutor::Engine(engine) => engine.as_ref(),
            AnyExecutor::Interpreter(reference) => reference.as_ref(),
            AnyExecutor::Traced(reference) => reference.as_ref(),
        }
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut dyn Executor {
        match self {
            AnyExecutor::Engine(engine) => engine.as_mut(),
            AnyExecutor::Interpreter(reference) => reference.as_mut(),
            AnyExecutor::Traced(reference) => reference.as_mut(),
        }
    }
}

impl Executor for AnyExecutor {
    #[inline]
    fn run(&mut self, gress: Gress, batch: &mut [Pass], packets: &mut PacketStore) {
        match self {
            AnyExecutor::Engine(engine) => engine.run(gress, batch, packets),
            other => other.inner_mut().run(gress, batch, packets),
        }
    }

    fn ghost(&mut self, update: &GhostUpdate) {
        self.inner_mut().ghost(update);
    }

    #[inline]
    fn made(&mut self) -> &mut Vec<Made> {
        match self {
            AnyExecutor::Engine(engine) => engine.made(),
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

    fn value_set_changed(&mut self, set: ValueSet, control: &ControlState) {
        self.inner_mut().value_set_changed(set, control);
    }

    fn state(&self) -> &State {
        self.inner().state()
    }

    fn state_mut(&mut self) -> &mut State {
        self.inner_mut().state_mut()
    }

    fn swap_state(&mut self, state: &mut Box<State>) {
        self.inner_mut().swap_state(state);
    }

    fn fork(&self) -> Option<AnyExecutor> {
        match self {
            AnyExecutor::Engine(engine) => engine.fork().map(|e| AnyExecutor::Engine(Box::new(e))),
            AnyExecutor::Interpreter(reference) => {
                reference.fork().map(|r| AnyExecutor::Interpreter(Box::new(r)))
            }
            AnyExecutor::Traced(reference) => reference.fork().map(|r| AnyExecutor::Traced(Box::new(r))),
        }
    }

    fn take_coverage(&mut self, coverage: &mut Coverage) {
        self.inner_mut().take_coverage(coverage);
    }
}
