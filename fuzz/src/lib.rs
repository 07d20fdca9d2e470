//! Random programs, entries and packets, and what is checked with them.
//!
//! - Programs that are legal by construction, with entries, packets, chips and buffer profiles, and the differential run of
//!   both engines on them
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
mod draw;
pub mod hunt;
mod limits;
pub mod mutants;
mod program;
pub mod targets;
mod world;

pub use buffer::{buffer, port_infos};
pub use case::{Case, numbered};
pub use chip::chip;
pub use differential::{Difference, Ran, compare, compare_by};
pub use draw::Draw;
pub use limits::Limits;
pub use program::program;
pub use world::{entries, frames};
