//! Captures in and out, traffic generators, and host-side header bytes.
//!
//! Seven rooms: [`int`] reads telemetry in frames, [`capture`] reads pcap and pcapng files and writes them, [`merge`] joins several captures by
//! time, [`replay`] tells when each of their frames is sent, [`wire`] is the one home of header bytes as a host
//! sees them, [`generate`] makes seeded traffic, and [`samples`] holds the traces embedded in the binary, made by
//! the generators.
//!
//! What may not live here: anything that knows a switch, a program or a simulation clock. The crate reads no
//! wall clock and draws no randomness without an explicit seed.

pub mod capture;
pub mod generate;
pub mod int;
pub mod merge;
pub mod replay;
pub mod samples;
pub mod wire;
