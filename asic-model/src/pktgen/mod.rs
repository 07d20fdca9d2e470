//! The packet generator of a pipe: applications, their triggers, and when which packet leaves.
//!
//! A state machine without loop or clock. It is told of triggers and times and says when the next packet starts, with
//! its header bytes, and which bytes of the generator's buffer follow.
//!
//! Sources: model: tm §10. Gap rules, event queues and header bytes beyond that section follow the behavioural
//! model and the driver's interface that the vendor published with open-p4studio; items that rest on them say
//! "model" or "driver".

mod app;
mod config;
mod generator;
mod header;

pub use app::AppCounters;
pub use config::{AppConfig, Match, PktgenError, Trigger};
pub use generator::{GeneratedPacket, PacketGenerator};
pub use header::PktgenHeader;
