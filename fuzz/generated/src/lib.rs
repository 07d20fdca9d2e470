//! Generated code of random programs.
//!
//! Code is generated and compiled before anything runs, so random programs cannot be drawn by a test: the build script
//! takes those with the first numbers. Tests draw entries and packets for them, and compare with the reference interpreter.
//! The code of shipped programs is in `sluice_generated`.

use sluice_asic::chip::ChipSpec;
use sluice_exec::engine::generated::Generated;
use sluice_fuzz::{Limits, numbered};
use sluice_ir::Program;

include!("programs.rs");

mod code {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// Code of those programs that fit their chip.
pub const CODE: &[Generated] = code::PROGRAMS;

/// Returns the numbers of the programs that the build script has written.
pub fn written() -> impl Iterator<Item = u64> {
    numbers(env!("SLUICE_RANDOM_STEP").parse().unwrap_or(1))
}
