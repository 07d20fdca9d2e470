//! `ecn-mark` and `pfc` through the device and on both engines: marks by the law, pauses obeyed and asked for, storms.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod asking;
mod bench;
mod law;
mod leak;
mod marks;
mod obeying;
mod reports;
mod storm;
#[path = "../switch/world.rs"]
#[allow(dead_code, reason = "shared with the tests of the switch")]
mod world;
