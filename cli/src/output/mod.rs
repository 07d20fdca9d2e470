//! Files that commands write: folders with a manifest, tables, timelines, traces, verdicts.

pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod rows;
pub(crate) mod timeline;
pub(crate) mod trace_out;
pub(crate) mod verdict;
