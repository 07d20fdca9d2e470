//! The resource report: what a placed program uses, what limits it, how long a packet takes.
//!
//! What lives here: the numbers, taken from the units of a placement alone, and their text and JSON forms.
//! What may not: placement, files, printing.

mod arrays;
mod assumptions;
mod compare;
mod data;
mod detail;
mod grid;
mod html;
mod json;
mod limits;
mod next_table;
mod power;
mod remedies;
mod sweep;
mod text;
mod vendor;

#[cfg(test)]
mod tests;

pub use arrays::ArrayReport;
pub use compare::{Comparison, Difference, compare, json_no_comparison};
pub use data::{Ceilings, GressReport, PathReport, Report, StageReport, TableReport, TogetherReport, Usage};
pub use detail::{ContainerReport, Detail, EdgeReport, StateReport, UnitReport};
pub use html::html;
pub use json::{json, json_no_fit};
pub use limits::Limit;
pub use next_table::{BranchReport, NextTables};
pub use power::{PowerReport, TablePower};
pub use remedies::{Remedy, remedies};
pub use sweep::{Sweep, SweepPoint, sweep};
pub use text::{text, text_no_fit};
pub use vendor::{resources_log, table_summary};
