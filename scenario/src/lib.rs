//! Files of `sluice run`: buffer scenarios and contests.
//!
//! A *scenario* puts a buffer profile on one emulated switch (or drives a part of a host), sends described traffic and
//! states what counters and watermarks must show. The method is that of a breakpoint (model: buffer §6.1): block a port,
//! send a train of packets, read every counter and watermark, unblock, collect what is sent, compare. After each step the
//! buffer's invariants must hold.
//!
//! [`ScenarioFile`] is the form of the file; expectations are expressions ([`Expr`]) over the names of [`metric`] and
//! [`names`]. The folder `buffer` has the scenarios in layers.
//!
//! An experiment of the ns-3 simulators of HPCC and ConWeave is run as it is: [`ns3`].
//!
//! A *contest* ([`contest`]) runs several programs in the same network under the same traffic of RDMA hosts.

mod buffer;
pub mod contest;
mod deadlocks;
#[cfg(test)]
mod handbook;
mod language;
mod nic_settings;
pub mod ns3;
pub mod shipped;

pub use buffer::device::timeline::{Device, Watch, Watches};
pub use buffer::file::host::{BottleneckSetting, HostSetting, ReceiveSetting, TransferSetting};
pub use buffer::file::profile;
pub use buffer::file::scenario::{Axis, Case, Refused, Scenario, ScenarioError, ScenarioFile, Setting, Skip};
pub use buffer::file::step::{Expect, Marked, Step};
pub use buffer::numbers::{metric, names};
pub use buffer::run::lab::{Lab, Profiles};
pub use buffer::run::outcome::{Check, Outcome, Point};
pub use buffer::run::point::{ScenarioPoint, ScenarioRun};
pub use language::expr::{Expr, Inequality, Scope};
pub use nic_settings::{ClampName, Form, NotificationSetting, ReactionSetting, RecoveryName, ScopeName};
