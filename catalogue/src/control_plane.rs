//! Control planes that come with programs: they receive digests and idle entries, and answer with operations.
//!
//! A program offers its control plane by [`StageProgram::control_plane`](crate::StageProgram::control_plane). A control
//! plane has no loop, clock or thread. A run of switches passes digests and idle entries to the control plane, and
//! applies its operations at their times.

use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, EntryId};
use sluice_ir::{KeyValue, Program};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use thiserror::Error;

/// An operation of a control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Time at which the operation takes effect. An operation that is too late takes effect at once.
    pub time: Time,
    /// Number of the switch.
    pub switch: usize,
    /// The operation.
    pub op: ControlOp,
}

/// A control plane that receives digests and idle entries, and answers with operations.
///
/// A run stops at least once per [`ControlPlane::latency`] to pass events to the control plane. Switches have the
/// numbers of their network; a single switch has number 0.
pub trait ControlPlane {
    /// Returns the least time from a digest or an idle entry to an operation that follows from it; above 0.
    fn latency(&self) -> Duration;

    /// Receives a digest that a switch sent at `time`. Digests arrive in order of time.
    fn digest(&mut self, time: Time, switch: usize, data: &[u8]);

    /// Receives an entry that has reached its time to live. The key is empty if the entry is no longer in its table.
    fn idle(&mut self, time: Time, switch: usize, entry: EntryId, key: &[KeyValue]);

    /// Returns the next operation, in order of time; `None` if there is none for now.
    fn poll(&mut self) -> Option<Operation>;

    /// Returns the test for frames that [`ControlPlane::report`] counts. Switches of a network run on several threads, so
    /// the test is a plain function.
    fn counts(&self) -> fn(&[u8]) -> bool;

    /// Returns the report in summaries; `frames` is the number of frames from outside that passed the test.
    fn report(&self, frames: u64) -> Value;
}

/// Switches and settings with which a control plane starts.
#[derive(Clone, Debug)]
pub struct ControlPlaneRequest<'r> {
    /// The program of the switches, as built.
    pub program: &'r Program,
    /// Settings: `KEY=VALUE` joined by commas. Empty: the defaults.
    pub settings: &'r str,
    /// The switch of each host of a network; `None` for a single switch whose peers are not in the run.
    pub hosts: Option<BTreeMap<Ipv4Addr, usize>>,
}

/// Reason for which a control plane cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct ControlPlaneError {
    /// Value found, and allowed values.
    pub text: String,
    /// Advice on how to fix it, if the text does not have it.
    pub help: Option<String>,
}

impl ControlPlaneError {
    /// Returns an error whose text says how to fix it.
    pub fn new(text: impl Into<String>) -> ControlPlaneError {
        ControlPlaneError { text: text.into(), help: None }
    }
}
