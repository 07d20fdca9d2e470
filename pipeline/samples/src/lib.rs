//! Programs built by hand from the entities of [`sluice_ir`], for the tests of the crates above it.
//!
//! A test of placement or of an executor needs a small program with known declarations, and must not depend on
//! the builder. Only tests depend on this crate.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "for tests alone")]

pub mod router;
pub mod sketch;
