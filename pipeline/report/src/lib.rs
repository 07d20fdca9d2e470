//! Reports as text, JSON and HTML: placement ([`sluice_place::report::Report`]) and coverage
//! ([`sluice_exec::cover`]).
//!
//! Every number comes from the report's data. This crate only lays out and compares.

mod compare;
pub mod coverage;
pub mod coverage_text;
mod dot;
mod grid;
mod html;
mod json;
mod remedies;
mod sweep;
mod text;
mod vendor;
mod why_not;

#[cfg(test)]
mod tests;

pub use compare::{ChangedParam, Comparison, Difference, compare};
pub use dot::dot;
pub use html::html;
pub use json::{Document, json};
pub use remedies::{Remedy, remedies};
pub use sweep::{Sweep, SweepPoint, sweep};
pub use text::{COLUMN_HEADINGS, brief, notes, short, text, text_no_fit, text_no_fit_with};
pub use vendor::{resources_log, table_summary};
pub use why_not::{
    Binding, Change, Ended, MAX_PLACEMENTS, Question, RelaxedValue, Resize, Trial, WhyNot, why_not,
};
