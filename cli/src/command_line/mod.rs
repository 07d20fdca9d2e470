//! The command line: its commands and arguments, how it is read, and which command runs.

pub(crate) mod args;
pub(crate) mod dispatch;
pub(crate) mod usage;
