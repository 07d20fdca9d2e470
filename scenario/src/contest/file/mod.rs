//! The form of contest files.

pub(crate) mod contest;
pub(crate) mod hosts;
pub(crate) mod metrics;
mod required;
pub(crate) mod roles;
pub(crate) mod schedule;
pub(crate) mod sweep;
