//! Executors of packet passes: a replay requests one per switch from its caller.

use crate::trace::StepTracer;
use sluice_exec::cover::Points;
use sluice_exec::engine::LowerError;
use sluice_exec::pass::Executor;
use sluice_exec::reference::{Options, Reference};
use sluice_fabric::network::SwitchSetup;

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
pub type ExecutorFactory<'f> = dyn FnMut(ExecutorRequest<'_>) -> Result<Box<dyn Executor>, LowerError> + 'f;

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
