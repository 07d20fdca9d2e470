//! Random programs, entries and packets, and what is checked with them.
//!
//! - Entries and packets for random programs, chips and buffer profiles, and the differential run of both engines on them;
//!   the programs are those of [`sluice_random`]
//! - [`hunt`]: the search for packets that break a property of a given program
//! - [`mutants`]: the mutation check of a program's properties
//! - [`targets`]: targets for coverage-guided fuzzers
//! - `strategies` (with the feature of this name): `proptest` strategies for packets and entries of a program, for tests
//!   of programs
//!
//! # Hunting in a program of one's own
//!
//! A [`Subject`](hunt::Subject) is a placed program with entries and properties; [`hunt`](hunt::hunt) sends it inputs and
//! shrinks those that break a property. `sluice fuzz` does this for every program of a catalogue.
//!
//! ```
//! use sluice_asic::chip::ChipSpec;
//! use sluice_fuzz::hunt::{Campaign, Subject, hunt};
//!
//! let catalogue = sluice_programs::catalogue();
//! let subject = Subject::of_catalogue(&catalogue, "ecn-mark", &[], &ChipSpec::tofino2())?;
//! let campaign = Campaign { cases: Some(16), ..Campaign::default() };
//! let status = hunt(&subject, &campaign, |_| true)?;
//! assert!(status.failures.is_empty() && status.cases == 16);
//! # Ok::<(), sluice_fuzz::hunt::SubjectError>(())
//! ```
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
mod p4_mutants;
#[cfg(feature = "strategies")]
pub mod strategies;
pub mod targets;
mod text_mutants;
mod world;

pub use buffer::{buffer, port_infos};
pub use case::Case;
pub use chip::chip;
pub use differential::{Difference, Ran, compare, compare_by};
pub use p4_mutants::p4_mutant;
pub use sluice_random::{Draw, Limits, numbered, program};
pub use text_mutants::text_mutant;
pub use world::{entries, frames};
