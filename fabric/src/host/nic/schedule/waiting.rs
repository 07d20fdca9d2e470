//! Messages of a host that wait for other messages.

use super::super::super::message::Message;
use super::super::send_queue::WorkRequest;
use sluice_asic::units::{Duration, Time};
use std::collections::BTreeMap;

/// The messages that a host sends.
///
/// A message may be behind a *gate*, which opens when all messages that it waits for have come to their end at this host:
/// a message of another host when this host has received all of it, a message of this host when all of it is acknowledged.
/// So a gate depends on events of its own host alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostMessages {
    /// Messages that wait for nothing but their start.
    pub starting: Vec<Message>,
    /// Messages that each gate waits for. A gate without any is open.
    pub gates: Vec<Vec<Awaited>>,
    /// Messages behind gates.
    pub waiting: Vec<Waiting>,
    /// Messages that are posted to send queues, by their pairs; all others start when they are ready.
    pub requests: BTreeMap<u32, WorkRequest>,
    /// True if the host records when it has received messages.
    pub arrivals: bool,
}

/// A message that a gate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Number of its queue pair: the message comes to this host or goes from it.
    pub pair: u32,
    /// Time from its end to the gate's opening.
    pub delay: Duration,
}

/// A message behind a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The message. It is ready when its gate opens, but not before its `start`; when it is sent, this time becomes its
    /// `start`.
    pub message: Message,
    /// Index of its gate in [`HostMessages::gates`]. Behind a gate that does not exist it is never sent.
    pub gate: u32,
    /// If the message would be ready at this time or later, it is given up. A message with this limit is not counted as
    /// unfinished if its gate never opens.
    pub until: Option<Time>,
}

impl HostMessages {
    /// Returns all messages: those that wait for nothing, then those behind gates.
    pub fn iter(&self) -> impl Iterator<Item = &Message> {
        self.starting.iter().chain(self.waiting.iter().map(|waiting| &waiting.message))
    }
}

impl From<Vec<Message>> for HostMessages {
    fn from(starting: Vec<Message>) -> HostMessages {
        HostMessages { starting, ..HostMessages::default() }
    }
}
