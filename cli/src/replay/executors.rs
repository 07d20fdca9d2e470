//! Executors of the passes for `--engine` and `--trace`.

use crate::replay::args::EngineKind;
use sluice_catalogue::Catalogue;
use sluice_exec::engine::{Engine, LowerError};
use sluice_exec::pass::Executor;
use sluice_replay::{ExecutorRequest, interpreter, traced_interpreter};

/// Returns the engine, on generated code or by steps. The engine counts coverage if points are requested.
fn engine(
    catalogue: &Catalogue,
    kind: EngineKind,
    request: &ExecutorRequest<'_>,
) -> Result<Engine, LowerError> {
    let list = if kind == EngineKind::Steps { &[] } else { catalogue.code() };
    let (placed, control) = (&request.switch.placed, &request.switch.control);
    let (program, placement) = (&placed.program, &placed.placement);
    match request.points {
        None => Engine::generated(program, placement, control, list),
        Some(points) => Engine::covered(program, placement, control, points.clone(), list),
    }
}

/// Returns the executor of a switch: the interpreter for traces and `--engine reference`, else the engine.
pub(super) fn make(
    catalogue: &Catalogue,
    kind: EngineKind,
    mut request: ExecutorRequest<'_>,
) -> Result<Box<dyn Executor>, LowerError> {
    if let Some(tracer) = request.tracer.take() {
        return Ok(Box::new(traced_interpreter(request.switch, tracer)));
    }
    if kind == EngineKind::Reference {
        return Ok(Box::new(interpreter(request.switch)));
    }
    Ok(Box::new(engine(catalogue, kind, &request)?))
}
