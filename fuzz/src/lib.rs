//! Random stage programs with entries and packets, and the comparison of the two engines on them; the hunt for packets
//! that break a property of a given program; mutants of programs; targets of coverage-guided fuzzers.
//!
//! What lives here: strategies that build programs which are legal by construction, worlds for them (entries,
//! packets, chips, buffer profiles), and the differential run; [`hunt`], [`mutants`], [`targets`]. What may not: any particular stage program,
//! files, printing, clocks.
//!
//! Everything random is drawn from a list of numbers ([`Draw`]) that `proptest` makes and shrinks; a list of
//! zeros, or an empty one, gives the smallest program.

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
pub use case::{Case, cases, numbered};
pub use chip::chip;
pub use differential::{Difference, Ran, compare, compare_by};
pub use draw::Draw;
pub use limits::Limits;
pub use program::program;
pub use world::{entries, frames};
