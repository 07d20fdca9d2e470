//! Flow control of the device under a program: classes, pauses in and out, marks, the watchdog, and a sender that obeys
//! pauses over a cable.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod aim;
mod cable;
mod colour;
mod marks;
mod order;
mod pauses;
mod shaping;
mod storms;
#[path = "../switch/world.rs"]
#[allow(dead_code, reason = "shared with the tests of the switch")]
mod world;
