//! Control-plane agents that come with programs: they hear what switches report and answer with operations.
//!
//! A program offers its agent by [`StageProgram::agent`](crate::StageProgram::agent). An agent has no loop, clock or thread
//! of its own: whoever runs the switches hands on digests and idle entries, and applies the operations at their times.

use serde_json::Value;
use sluice_asic::units::{Duration, Time};
use sluice_control::{ControlOp, EntryId};
use sluice_ir::{KeyValue, Program};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use thiserror::Error;

/// An operation for a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Time at which the operation takes effect.
    pub time: Time,
    /// The switch, by the number that the caller gave it.
    pub switch: usize,
    /// The operation.
    pub op: ControlOp,
}

/// A control plane that is driven by digests, idle entries and time.
///
/// Switches have numbers that the caller chooses; a single switch has number 0.
pub trait Agent: Send {
    /// Returns the least time from a digest or an idle entry to an operation that follows from it; above 0. A caller may run
    /// the switches this far before it calls the agent.
    fn latency(&self) -> Duration;

    /// Takes a digest that a switch sent at `time`. Digests come in order of time.
    fn digest(&mut self, time: Time, switch: usize, data: &[u8]);

    /// Takes the report of a switch that an entry has reached its time to live. The key is empty if the entry is not in its
    /// table any more.
    fn idle(&mut self, time: Time, switch: usize, entry: EntryId, key: &[KeyValue]);

    /// Returns the next operation that is due by `now`; `None` if there is none.
    fn poll(&mut self, now: Time) -> Option<Change>;

    /// Returns the test for frames from outside that [`Agent::report`] wants counted. It is a plain function because the
    /// switches of a network may run on several threads.
    fn counts(&self) -> fn(&[u8]) -> bool;

    /// Returns the agent's part of a run's summary; `frames` is the number of frames that passed the test.
    fn report(&self, frames: u64) -> Value;
}

/// What an agent is for.
#[derive(Clone, Debug)]
pub struct AgentRequest<'r> {
    /// The program of the switches, as built.
    pub program: &'r Program,
    /// Settings: `KEY=VALUE` joined by commas. Empty: the defaults.
    pub settings: &'r str,
    /// The switch of each host of a network; `None` for a single switch whose peers are not in the run.
    pub hosts: Option<BTreeMap<Ipv4Addr, usize>>,
}

/// Why an agent cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct AgentError {
    /// What was found, and what is allowed.
    pub text: String,
    /// How to fix it, if the text does not say so.
    pub help: Option<String>,
}

impl AgentError {
    /// Returns an error whose text says how to fix it.
    pub fn new(text: impl Into<String>) -> AgentError {
        AgentError { text: text.into(), help: None }
    }
}
