//! Networks of emulated switches.
//!
//! - [`topology`]: switches and links, by a builder or from a file; [`deploy`] puts programs into it.
//! - [`network`]: joins the switches by links and advances all clocks together; [`senders`] hold frames back while a
//!   switch pauses them.
//! - [`host`]: RDMA hosts, their rate control and loss recovery.
//! - [`flows`]: five-tuple flows, generated or taken from a capture.
//! - [`polarization`]: sends flows through a topology with the hashes and selectors of the packet path and measures how
//!   evenly groups spread them.
//! - [`flowlets`]: counts flowlets of captures, and sends captures through load balancers.
//! - [`decimals`]: serialises measured numbers.
//! - [`max_min`]: max-min fair rates by water filling.
//! - [`spans`]: passes, queues, links and hosts of sampled packets as a trace for viewers.
//! - [`story`]: the life of one flow, from what observers of the switches saw.
//!
//! This crate reads no clock of the machine and no file by name; a network uses threads only if the caller asks for them.

pub mod decimals;
pub mod deploy;
pub mod flowlets;
pub mod flows;
pub mod host;
pub mod max_min;
pub mod network;
pub mod polarization;
pub mod senders;
pub mod spans;
pub mod story;
pub mod topology;
