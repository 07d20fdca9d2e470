//! Flows through a network, and how even the links are.
//!
//! What lives here: settings for every group from a scheme ([`mod@plan`]), the compiled network and its walk
//! ([`mod@walk`]), threads ([`mod@run`]), and what is measured ([`measure`]). What may not: hash functions and
//! selectors, which are those of the packet path; a test sends packets through the stage program and compares ports.

pub mod measure;
pub mod plan;
pub mod run;
pub mod walk;

pub use measure::{GroupStats, PointStats, Results, Verdict};
pub use plan::{NoPlan, Picker, Plan, Question, one_size_will_do, plan};
pub use run::run;
pub use walk::{Compiled, Counters, Load};
