//! Flow-level experiments on hash polarization: sends flows through a network and measures how evenly links are used.
//!
//! [`mod@plan`] chooses settings of every group by a scheme, [`mod@walk`] compiles the network and walks flows through
//! it, [`mod@run`] does so on several threads, and [`measure`] computes the results.

pub mod measure;
pub mod packets;
pub mod plan;
pub mod run;
pub mod walk;

pub use measure::{GroupStats, PointStats, Results, Verdict};
pub use packets::{Compared, compare};
pub use plan::{NoPlan, Picker, Plan, Question, one_size_will_do, plan};
pub use run::run;
pub use walk::{Compiled, Counters, Load};
