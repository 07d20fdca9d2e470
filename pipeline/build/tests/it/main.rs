//! The builder: programs that it makes, and mistakes that it refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod blocks;
mod builder;
mod builder_errors;
