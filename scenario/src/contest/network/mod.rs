//! The network of a contest with one program, its hosts and their messages, before it runs.

pub(crate) mod prepared;
mod roles;
mod schedule;
mod telemetry;
pub(crate) mod written_flows;
