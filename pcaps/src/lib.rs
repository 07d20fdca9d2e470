//! Capture files, traffic generators, and header bytes as hosts see them.
//!
//! - [`capture`] reads pcap and pcapng files and writes them.
//! - [`merge`] joins several captures by time.
//! - [`replay`] schedules their frames.
//! - [`wire`] encodes and decodes header bytes as a host sees them.
//! - [`int`] reads telemetry in frames.
//! - [`generate`] makes seeded traffic.
//! - [`samples`] holds the traces embedded in the binary, which the generators made.
//!
//! Nothing in this crate knows a switch, a program or a simulation clock. The crate reads no wall clock and draws no
//! random number without an explicit seed.

pub mod capture;
pub mod generate;
pub mod int;
pub mod merge;
pub mod replay;
pub mod samples;
pub mod wire;
