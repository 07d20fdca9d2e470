//! The chip model against its facts: chips, tables, hashes, stateful ALUs, ports, traffic manager, shared buffer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod buffer;
mod chip;
mod event;
mod geometry;
mod geometry_again;
mod hash_vectors;
mod latency;
mod phv;
mod pktgen;
mod port;
mod rtag7;
mod salu;
mod salu_prepared;
mod salu_programs;
mod salu_rules;
mod scheduling;
mod traffic_manager;
