//! Random scenarios of the shared buffer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod buffer_random;
