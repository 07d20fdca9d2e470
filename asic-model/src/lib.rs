//! The silicon of a Tofino-style switch: chip specifications as documented data, units and clocks, the event queue and
//! its order, PHV and MAU inventories, table geometry, latency formulas, ALUs, stateful ALUs, meters, counters, hashes,
//! random streams, ports, MACs, and the queues and schedulers of the traffic manager.
//!
//! What may not live here: packet bytes, stage programs, files, threads, wall clocks.

pub mod alu;
pub mod chip;
pub mod clock;
pub mod counter;
pub mod entry;
pub mod event;
pub mod geometry;
pub mod gress;
pub mod hash;
pub mod intrinsic;
pub mod latency;
pub mod limits;
pub mod mac;
pub mod meter;
pub mod names;
pub mod phv;
pub mod pktgen;
pub mod port;
pub mod port_names;
pub mod random;
pub mod salu;
pub mod select;
pub mod tm;
pub mod toml_reader;
pub mod units;
