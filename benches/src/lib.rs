//! Rows of measurements, declared once for two instruments: `cargo bench` takes the time of each [`Row`], the binary counts
//! its instructions.
//!
//! Absolute times on shared machines vary by a factor of two, so every number is compared with that of its group's first
//! row in the same run. For `l3-ecmp` that is the *floor*: reading each packet's headers, summing the IPv4 checksum
//! and writing the header back.

#![allow(clippy::expect_used, clippy::panic, reason = "a workload that cannot be built ends the benchmark")]

mod closed_loop;
mod constructs;
mod conweave;
mod flow_paths;
mod network;
mod row;
mod rows;
mod workload;

pub use row::{Row, Table, measured};
pub use rows::rows;

use sluice_catalogue::Catalogue;

/// Function that returns the catalogue from which an engine is made.
type Make = fn() -> Catalogue;

/// Ways to run the engine, by name: its steps, and generated code.
const ENGINES: [(&str, Make); 2] =
    [("", sluice_programs::catalogue), (" on generated code", sluice_generated::catalogue)];
