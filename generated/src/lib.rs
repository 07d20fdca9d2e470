//! Generated code of the shipped programs, and engines that run it.
//!
//! The build script places every program with its defaults and writes it as Rust. An engine runs that where its own
//! program lowers to the same text: with other tables, entries or addresses, but not with parameters that change what
//! packets go through. Each is written twice, the second time as code that counts what packets reach. What may not live
//! here: how code is written, and what it may ask of the engine (`sluice_exec::engine::{generate, generated}`).

mod code {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

use sluice_control::ControlState;
use sluice_exec::cover::Points;
use sluice_exec::engine::generated::Generated;
use sluice_exec::engine::{Engine, LowerError};
use sluice_ir::Program;
use sluice_place::Placement;

/// The code that there is.
pub const PROGRAMS: &[Generated] = code::PROGRAMS;

/// The engine of a placed program: on generated code where there is some for it.
///
/// # Errors
/// As [`Engine::new`].
pub fn engine(
    program: &Program,
    placement: &Placement,
    control: &ControlState,
) -> Result<Engine, LowerError> {
    Engine::generated(program, placement, control, PROGRAMS)
}

/// The same, and it counts which of these points packets reach; they are the points of the program.
///
/// # Errors
/// As [`Engine::new`].
pub fn covered(
    program: &Program,
    placement: &Placement,
    control: &ControlState,
    points: Points,
) -> Result<Engine, LowerError> {
    Engine::covered(program, placement, control, points, PROGRAMS)
}
