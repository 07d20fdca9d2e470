//! Telemetry programs: what they write into packets against what the device's events say, hop by hop.

mod hpcc;
mod int;
mod node;
mod packets;
mod parts;
mod sample;
