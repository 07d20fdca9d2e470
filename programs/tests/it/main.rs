//! The shipped programs on the chips and on the emulated switch.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod balance;
mod conweave;
mod engines;
mod fit;
mod fit_tables;
mod flow;
mod flowlet;
mod grammar;
mod l3_ecmp;
mod lossless;
mod p4;
mod placed;
mod switch;
mod telemetry;
mod ways;
