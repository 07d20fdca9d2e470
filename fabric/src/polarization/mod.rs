//! Flows through a network, and how even the links are.
//!
//! Settings for every group from a scheme ([`mod@plan`]), the compiled network and its walk ([`mod@walk`]), threads
//! ([`mod@run`]), and what is measured ([`measure`]).

pub mod measure;
pub mod plan;
pub mod run;
pub mod walk;

pub use measure::{GroupStats, PointStats, Results, Verdict};
pub use plan::{NoPlan, Picker, Plan, Question, one_size_will_do, plan};
pub use run::run;
pub use walk::{Compiled, Counters, Load};
