//! Random programs, entries and packets, and what is checked with them.
//!
//! - Entries and packets for random programs, chips and buffer profiles, and the differential run of both engines on them;
//!   the programs are those of [`sluice_random`]
//! - [`hunt`]: the search for packets that break a property of a given program
//! - [`mutants`]: the mutation check of a program's properties
//! - [`targets`]: targets for coverage-guided fuzzers
//!
//! This crate knows no particular stage program and has no files, printing or clocks. Everything random is drawn from a
//! list of numbers ([`Draw`]) that `proptest` makes and shrinks. A list of zeros, or an empty one, gives the smallest
//! program.

mod buffer;
mod case;
mod chip;
mod differential;
pub mod hunt;
pub mod mutants;
pub mod targets;
mod world;

pub use buffer::{buffer, port_infos};
pub use case::Case;
pub use chip::chip;
pub use differential::{Difference, Ran, compare, compare_by};
pub use sluice_random::{Draw, Limits, numbered, program};
pub use world::{entries, frames};
