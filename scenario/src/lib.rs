//! Files of `sluice run`: buffer scenarios and contests.
//!
//! A *scenario* puts a buffer profile on one emulated switch (or drives a part of a host), sends described traffic and
//! states what counters and watermarks must show. The method is that of a breakpoint (model: buffer §6.1): block a port,
//! send a train of packets, read every counter and watermark, unblock, collect what is sent, compare. After each step the
//! buffer's invariants must hold.
//!
//! - [`ScenarioFile`] is the form of the file; expectations are expressions ([`Expr`]) over the names of [`metric`] and
//!   [`names`].
//! - `bench` is the device with its senders, `steps` are the actions on it, `host` is a part of a host in place of a
//!   device.
//! - `numbers` computes what a profile must do, without the accounting.
//!
//! An experiment of the ns-3 simulators of HPCC and ConWeave is run as it is: [`ns3`].
//!
//! A *contest* ([`contest`]) runs several programs in the same network under the same traffic of RDMA hosts.

mod bench;
pub mod contest;
mod deadlocks;
mod expr;
mod file;
mod forward;
mod frames;
mod grid;
mod host;
mod invariants;
mod judge;
pub mod metric;
pub mod names;
pub mod ns3;
mod numbers;
mod outcome;
mod point;
pub mod profile;
mod run;
mod seen;
pub mod shipped;
mod step;
mod steps;
mod sweep;
mod watch;

pub use expr::{Expr, Inequality, Scope};
pub use file::{Axis, Case, Refused, Scenario, ScenarioError, ScenarioFile, Setting, Skip};
pub use host::{
    BottleneckSetting, ClampName, Form, HostSetting, Marked, NotificationSetting, ReactionSetting,
    ReceiveSetting, RecoveryName, ScopeName, TransferSetting,
};
pub use outcome::{Check, Outcome, Point};
pub use point::{ScenarioPoint, ScenarioRun};
pub use run::{Lab, Profiles};
pub use step::{Expect, Step};
pub use watch::{Device, Watch, Watches};
