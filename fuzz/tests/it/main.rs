//! Random programs, mutants, the hunt, and the bodies of the libFuzzer targets.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod engines;
mod found;
mod hunt;
mod mutants;
mod p4;
#[path = "../../../programs/tests/it/placed.rs"]
mod placed;
mod strategies;
mod targets;
mod texts;
mod twins;
