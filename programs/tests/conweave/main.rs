//! `conweave`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod destination;
mod fit;
mod source;
mod wire;
mod world;
