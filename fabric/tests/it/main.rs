//! Networks of emulated switches, flow-level experiments, scenarios.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod elastic;
mod network;
mod networks;
mod packet_path;
mod reordering;
mod scenarios;
mod table;
