//! The shipped stage programs: one module each, with parameters and default entries.
//!
//! What may not live here: mutable state, anything that is called per packet, and knowledge of how a
//! program is executed.

mod catalog;
pub mod l3_ecmp;

pub use catalog::{ProgramError, Setup, SetupError, StageProgram, UnknownProgram, all, by_name};
