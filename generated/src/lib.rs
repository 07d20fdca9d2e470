//! The shipped programs with generated code.
//!
//! The build script places every program with its defaults and writes it as Rust. An engine runs that where its own
//! program lowers to the same text: with other tables, entries or addresses, but not with parameters that change what
//! packets go through. Each is written twice, the second time as code that counts what packets reach. What may not live
//! here: how code is written, and what it may ask of the engine (`sluice_exec::engine::{generate, generated}`).

mod code {
    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

use sluice_catalogue::Catalogue;
use sluice_exec::engine::generated::Generated;

/// Generated code of the shipped programs, for executors that a [`Catalogue`] makes.
pub const CODE: &[Generated] = code::PROGRAMS;

/// Returns the catalogue of the shipped programs with their generated code.
#[must_use]
pub fn catalogue() -> Catalogue {
    sluice_programs::catalogue().with_code(CODE)
}
