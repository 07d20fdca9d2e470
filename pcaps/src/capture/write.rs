//! Writing captures: pcapng with one interface per port, and classic nanosecond pcap for generated traces.
//!
//! Both write little-endian files that hold nothing but what the caller gives: no wall clock, host or operating
//! system. Frames are written as they come; the caller orders them.

mod error;
mod options;
mod pcap;
mod pcapng;
mod sink;
mod trace;

pub use error::WriteError;
pub use pcap::PcapWriter;
pub use pcapng::{CaptureWriter, Direction, InterfaceSpec, InterfaceStatistics, Packet};
pub use trace::{TraceFormat, TraceWriter};
