//! The messages of a host that have not started.

use super::super::message::Message;
use sluice_asic::units::Time;
use std::collections::VecDeque;

/// Messages in order of their starts.
#[derive(Debug)]
pub(super) struct Schedule {
    messages: VecDeque<Message>,
}

impl Schedule {
    pub(super) fn new(mut messages: Vec<Message>) -> Schedule {
        messages.sort_by_key(|message| (message.start, message.pair));
        Schedule { messages: messages.into() }
    }

    /// Returns the start of the next message.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.messages.front().map(|message| message.start)
    }

    /// Removes the next message if it starts at `now` or earlier.
    pub(super) fn pop(&mut self, now: Time) -> Option<Message> {
        self.messages.front().filter(|message| message.start <= now)?;
        self.messages.pop_front()
    }

    /// Returns true if all messages have started.
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the messages that have not started.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter()
    }
}
