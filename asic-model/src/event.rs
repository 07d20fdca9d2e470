//! The one event queue and the one order of simultaneous events.
//!
//! What lives here: keys, their order, the queue. What may not: what an event does, loops, clocks.

use crate::units::Time;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What kind of thing happens. **The order of the variants is semantics**: of simultaneous events on one
/// device, buffer space is given back before anything can ask for it, a received pause acts before a queue
/// can send, control-plane changes and queue-depth updates act before the packets that see them, and timers
/// look at the state that all of these leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventClass {
    /// Buffer cells become free.
    BufferRelease,
    /// A PFC frame takes effect at a port.
    PfcReceived,
    /// A control-plane operation takes effect.
    ControlPlane,
    /// A queue-depth update enters the ghost thread.
    Ghost,
    /// A packet enters a pipe or reaches a device.
    PacketEntry,
    /// A timer of the model fires.
    Timer,
}

impl EventClass {
    /// Every class, in order.
    pub const ALL: [Self; 6] = [
        Self::BufferRelease,
        Self::PfcReceived,
        Self::ControlPlane,
        Self::Ghost,
        Self::PacketEntry,
        Self::Timer,
    ];
}

/// When and where an event happens. **The order of the fields is semantics**: events are handled by time,
/// then device, class, port and the source's own sequence number; never by insertion, address or thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// When.
    pub time: Time,
    /// On which device.
    pub device: u32,
    /// What kind of event.
    pub class: EventClass,
    /// At which port of the device.
    pub port: u32,
    /// The source's own count of its events; with device, class and port it must be unique at a time.
    pub seq: u64,
}

/// A source of events on one device and port: numbers them, so that no two have the same key.
#[derive(Debug, Clone)]
pub struct EventSource {
    device: u32,
    port: u32,
    next_seq: u64,
}

impl EventSource {
    /// A source that has made no event. There may be only one per device and port.
    pub const fn new(device: u32, port: u32) -> Self {
        Self { device, port, next_seq: 0 }
    }

    /// The key of the source's next event.
    pub fn key(&mut self, time: Time, class: EventClass) -> EventKey {
        let seq = self.next_seq;
        self.next_seq = seq.wrapping_add(1);
        EventKey { time, device: self.device, class, port: self.port, seq }
    }
}

/// An event that would have to be handled before one that has been handled already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "event at {} (device {}, {:?}, port {}, seq {}) is not after the last one handled, at {} (device {}, {:?}, \
     port {}, seq {}); give it a later time",
    .pushed.time, .pushed.device, .pushed.class, .pushed.port, .pushed.seq,
    .last.time, .last.device, .last.class, .last.port, .last.seq
)]
pub struct PastEvent {
    /// The refused event's key.
    pub pushed: EventKey,
    /// The key of the last event handled.
    pub last: EventKey,
}

/// Events in the order of their keys.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Pending<E>>,
    last: Option<EventKey>,
}

impl<E> EventQueue<E> {
    /// An empty queue that has handled nothing.
    pub const fn new() -> Self {
        Self { heap: BinaryHeap::new(), last: None }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// If its key is not after the key of the last event popped: it could no longer be handled in order.
    pub fn push(&mut self, key: EventKey, event: E) -> Result<(), PastEvent> {
        if let Some(last) = self.last.filter(|last| key <= *last) {
            return Err(PastEvent { pushed: key, last });
        }
        self.heap.push(Pending { key, event });
        Ok(())
    }

    /// Removes the first event.
    pub fn pop(&mut self) -> Option<(EventKey, E)> {
        let Pending { key, event } = self.heap.pop()?;
        self.last = Some(key);
        Some((key, event))
    }

    /// Removes the first event if it is before `until`.
    pub fn pop_before(&mut self, until: Time) -> Option<(EventKey, E)> {
        if self.next_time()? < until { self.pop() } else { None }
    }

    /// The time of the first event.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|pending| pending.key.time)
    }

    /// The key of the last event popped.
    pub const fn last(&self) -> Option<EventKey> {
        self.last
    }

    /// The number of events waiting.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// True if no event waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone)]
struct Pending<E> {
    key: EventKey,
    event: E,
}

impl<E> Ord for Pending<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap gives its largest element first.
        other.key.cmp(&self.key)
    }
}

impl<E> PartialOrd for Pending<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Pending<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Pending<E> {}
