//! Executors of the passes for `--engine` and `--trace`.

use crate::args::EngineKind;
use sluice_catalogue::Catalogue;
use sluice_exec::engine::{Engine, LowerError};
use sluice_replay::{AnyExecutor, ExecutorRequest, interpreter, traced_interpreter};

/// Returns the engine, on generated code or by steps. The engine counts coverage if points are requested.
pub(super) fn engine(
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

/// Returns the executor for a switch of a network.
pub(super) fn any(
    catalogue: &Catalogue,
    kind: EngineKind,
    mut request: ExecutorRequest<'_>,
) -> Result<AnyExecutor, LowerError> {
    if let Some(tracer) = request.tracer.take() {
        return Ok(AnyExecutor::Traced(Box::new(traced_interpreter(request.switch, tracer))));
    }
    if kind == EngineKind::Reference {
        return Ok(AnyExecutor::Interpreter(Box::new(interpreter(request.switch))));
    }
    Ok(AnyExecutor::Engine(Box::new(engine(catalogue, kind, &request)?)))
}
