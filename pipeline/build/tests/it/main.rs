//! The builder: the programs that it makes, and the mistakes that it refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod blocks;
mod builder;
mod builder_errors;
