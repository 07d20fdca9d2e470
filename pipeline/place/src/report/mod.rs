//! The numbers of a resource report: what a placed program uses, what limits it, how long a packet takes.
//!
//! Every number is taken from the units of a placement alone, so a report shows what was placed and not what was asked for.
//! The text, JSON and HTML forms are in the crate `sluice-report`.

mod arrays;
mod assumptions;
mod data;
mod detail;
mod limits;
mod next_table;
mod power;

pub use arrays::ArrayReport;
pub use data::{
    Ceilings, GressReport, PathReport, Report, StageReport, TableReport, TogetherReport, Usage,
    deparser_rows, hundredths,
};
pub use detail::{ContainerReport, Detail, EdgeReport, StateReport, UnitReport};
pub use limits::Limit;
pub use next_table::{BranchReport, NextTables};
pub use power::{PowerReport, TablePower, watts};
