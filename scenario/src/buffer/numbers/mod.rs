//! Numbers that expressions of scenarios name.

pub(crate) mod breakpoints;
pub mod metric;
pub mod names;
