//! Results of contests: runs, series over the seeds, and the store of finished runs.

pub(crate) mod ideal_times;
pub(crate) mod interval;
pub(crate) mod performance;
pub(crate) mod run_store;
pub(crate) mod samples;
pub(crate) mod series;
mod size_classes;
pub(crate) mod watched_message;
