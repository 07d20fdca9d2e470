//! Registers through both engines: what programs of each construct write into packets and leave in arrays, and
//! that the statements of a register action and what they are mapped to always agree.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests")]

pub(crate) mod bench;
mod constructs;
mod control;
mod counters;
mod direct;
mod meters;
mod operands;
mod params;
mod random;
mod refusals;
mod salu;
mod shown;
mod sums;
