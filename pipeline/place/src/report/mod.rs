//! Data of a resource report: the units that a placed program uses, the resources that limit it, and its latency.
//!
//! All numbers come from the units of a placement alone, so a report shows what was placed and not what was
//! requested. The crate `sluice-report` formats the data as text, JSON and HTML.

mod arrays;
mod assumptions;
mod data;
mod demands;
mod detail;
mod limits;
mod next_table;
mod power;
mod serial;
mod ways;

pub use arrays::{AluReport, ArrayReport, InstructionReport};
pub use data::{
    Ceilings, GressReport, PathReport, Report, SourceNote, StageReport, TableReport, TogetherReport, Usage,
    deparser_rows, hundredths,
};
pub use demands::AuthorDemand;
pub use detail::{ContainerReport, Detail, EdgeReport, FieldReport, HeldReport, StateReport, UnitReport};
pub use limits::Limit;
pub use next_table::{BranchReport, NextTables};
pub use power::{PowerReport, TablePower, watts};
pub use ways::{PartWays, ways};
