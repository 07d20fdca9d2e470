//! The form of scenario files.

pub(crate) mod cases;
pub(crate) mod host;
pub mod profile;
pub(crate) mod scenario;
pub(crate) mod step;
