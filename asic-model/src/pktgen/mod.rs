//! Packet generator of a pipe: applications, their triggers, and the time and content of each packet.
//!
//! The generator is a state machine without loop or clock. The caller notifies it of triggers and times. It returns
//! when the next packet starts, the packet's header bytes, and the range of the generator's buffer that follows.
//!
//! Sources: model: tm §10. Gap rules, event queues and header bytes beyond that section follow the behavioural model
//! and the driver's interface that the vendor published with open-p4studio; items that rest on them say "model" or
//! "driver".

mod app;
mod config;
mod generator;
mod header;

pub use app::AppCounters;
pub use config::{AppConfig, Match, PktgenError, Trigger};
pub use generator::{GeneratedPacket, PacketGenerator};
pub use header::PktgenHeader;
