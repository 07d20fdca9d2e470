//! The messages of a host that have not started: those with a start, and those that wait for other messages.
//!
//! A gate counts the messages that it still waits for. An event of a message finds the gates that need it by a search in
//! a sorted list, once for each completed message; without gates there is no search.

mod waiting;

pub use waiting::{Awaited, HostMessages, Waiting};

use super::super::message::{Message, MessageEvent};
use sluice_asic::units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// A gate, closed while it waits for a message.
#[derive(Debug)]
struct Gate {
    /// Messages that it still waits for.
    missing: u32,
    /// Latest time of a message that it has waited for, with its delay.
    opens: Time,
    /// The messages behind it, as places in [`Schedule::waiting`].
    behind: Range<u32>,
}

/// A need of a gate.
#[derive(Clone, Copy, Debug)]
struct Need {
    pair: u32,
    gate: u32,
    delay: Duration,
}

/// Messages in order of their starts.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Messages with a start, in order.
    starting: VecDeque<Message>,
    /// Messages behind gates that have opened, as places in `waiting` by start and pair.
    released: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Messages behind gates, by gate; those that were sent or given up are `None`.
    waiting: Vec<Option<Waiting>>,
    gates: Vec<Gate>,
    /// Messages that gates wait for, in order of their pairs.
    needs: Vec<Need>,
}

impl Schedule {
    pub(super) fn new(messages: HostMessages) -> Schedule {
        let HostMessages { mut starting, gates, mut waiting, .. } = messages;
        starting.sort_by_key(|message| (message.start, message.pair));
        waiting.sort_by_key(|waiting| (waiting.gate, waiting.message.pair));
        let mut needs = Vec::new();
        let gate = |(number, awaited): (u32, &Vec<Awaited>)| {
            let of = |awaited: &Awaited| Need { pair: awaited.pair, gate: number, delay: awaited.delay };
            needs.extend(awaited.iter().map(of));
            let first = waiting.partition_point(|waiting| waiting.gate < number) as u32;
            let end = waiting.partition_point(|waiting| waiting.gate <= number) as u32;
            Gate { missing: awaited.len() as u32, opens: Time::ORIGIN, behind: first..end }
        };
        let gates: Vec<Gate> = (0..).zip(&gates).map(gate).collect();
        needs.sort_by_key(|need| (need.pair, need.gate));
        let waiting = waiting.into_iter().map(Some).collect();
        let mut schedule =
            Schedule { starting: starting.into(), released: BinaryHeap::new(), waiting, gates, needs };
        for gate in 0..schedule.gates.len() {
            if schedule.gates[gate].missing == 0 {
                schedule.open(gate);
            }
        }
        schedule
    }

    /// Returns the start of the next message.
    pub(super) fn next_time(&self) -> Option<Time> {
        let released = self.released.peek().map(|Reverse((start, ..))| *start);
        self.starting.front().map(|message| message.start).into_iter().chain(released).min()
    }

    /// Removes the next message if it starts at `now` or earlier. Of messages with the same start, the one with the lower
    /// pair is the next.
    pub(super) fn pop(&mut self, now: Time) -> Option<Message> {
        let first = self.starting.front().map(|message| (message.start, message.pair));
        let released = self.released.peek().map(|Reverse((start, pair, _))| (*start, *pair));
        let next = first.into_iter().chain(released).min().filter(|(start, _)| *start <= now)?;
        if first == Some(next) {
            return self.starting.pop_front();
        }
        let Reverse((start, _, place)) = self.released.pop()?;
        self.waiting[place as usize].take().map(|waiting| Message { start, ..waiting.message })
    }

    /// Handles an event of a message: opens the gates that waited for it alone.
    pub(super) fn settle(&mut self, event: &MessageEvent) {
        if self.needs.is_empty() {
            return;
        }
        let (pair, at) = match event {
            MessageEvent::Received { pair, at } => (*pair, *at),
            MessageEvent::Completed(completion) => (completion.message.pair, completion.end),
        };
        let mut place = self.needs.partition_point(|need| need.pair < pair);
        while let Some(need) = self.needs.get(place).copied().filter(|need| need.pair == pair) {
            place += 1;
            let gate = &mut self.gates[need.gate as usize];
            if gate.missing == 0 {
                continue;
            }
            gate.opens = gate.opens.max(at + need.delay);
            gate.missing -= 1;
            if gate.missing == 0 {
                self.open(need.gate as usize);
            }
        }
    }

    /// Releases the messages behind a gate that has opened.
    fn open(&mut self, gate: usize) {
        let Gate { opens, behind, .. } = &self.gates[gate];
        for place in behind.clone() {
            let slot = &mut self.waiting[place as usize];
            let Some(waiting) = slot else { continue };
            let start = waiting.message.start.max(*opens);
            if waiting.until.is_some_and(|until| start >= until) {
                *slot = None;
            } else {
                self.released.push(Reverse((start, waiting.message.pair, place)));
            }
        }
    }

    /// Returns true if no message has a start. A message behind a closed gate does not count: what it waits for keeps
    /// another part of the network busy, or never happens.
    pub(super) fn is_empty(&self) -> bool {
        self.starting.is_empty() && self.released.is_empty()
    }

    /// Returns the messages that have not started: those with a start, then those behind gates. Messages that need not be
    /// sent are left out.
    pub(super) fn iter(&self) -> impl Iterator<Item = Message> + '_ {
        let released = self.released.iter().map(|Reverse((_, _, place))| *place as usize);
        let released: std::collections::BTreeSet<usize> = released.collect();
        let missed = move |(place, waiting): (usize, &Waiting)| {
            (waiting.until.is_none() || released.contains(&place)).then_some(waiting.message)
        };
        let waiting = self.waiting.iter().enumerate();
        let waiting = waiting.filter_map(|(place, slot)| slot.as_ref().map(|waiting| (place, waiting)));
        self.starting.iter().copied().chain(waiting.filter_map(missed))
    }
}

#[cfg(test)]
mod tests;
