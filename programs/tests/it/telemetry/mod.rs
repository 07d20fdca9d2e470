//! Telemetry programs: the values that they write into packets against the device's events, hop by hop.

mod hpcc;
mod int;
mod node;
mod packets;
mod parts;
mod sample;
