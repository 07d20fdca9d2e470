//! Telemetry programs: what they write into packets against what the device's events say, hop by hop.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod hpcc;
mod int;
mod node;
mod packets;
mod parts;
mod sample;
