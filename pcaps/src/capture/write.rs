//! Writing captures: pcapng with one interface per port, and classic nanosecond pcap for generated traces.
//!
//! Both write little-endian files that contain only the caller's data: no wall clock, host name or operating system.
//! Frames are written in the order of the calls; the caller sorts them.

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
