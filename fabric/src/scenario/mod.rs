//! Scenarios: a buffer profile on an emulated switch, what comes in, and what must be seen.
//!
//! The method is that of a breakpoint (model: buffer §6.1): block a port, send a described train, look at every counter
//! and watermark, unblock, collect what leaves, compare. [`file`](ScenarioFile) is the form, `bench` the device with
//! senders that obey PFC or do not, `steps` what is done to it, `host` a part of a host instead of a device, [`metric`]
//! the numbers that expectations are about, `numbers` what a profile says must happen, worked out without the
//! accounting. After each step the buffer's invariants must hold.

mod bench;
pub(crate) mod expr;
pub(crate) mod file;
mod forward;
mod frames;
pub(crate) mod host;
mod invariants;
mod judge;
pub mod metric;
pub mod names;
mod numbers;
mod outcome;
pub mod profile;
mod run;
mod seen;
pub mod shipped;
mod steps;
mod sweep;
mod watch;

pub use expr::{Expr, Scope};
pub use file::{Axis, Case, Expect, Refused, Scenario, ScenarioError, ScenarioFile, Setting, Skip, Step};
pub use host::{
    BottleneckSetting, ClampName, Form, HostSetting, Marked, NotificationSetting, ReactionSetting,
    ReceiveSetting, RecoveryName, TransferSetting,
};
pub use outcome::{Check, Outcome, Point};
pub use run::{Lab, Profiles};
pub use watch::{Device, Watch, Watches};
