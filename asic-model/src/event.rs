//! The event queue, and the order of simultaneous events.

use crate::units::Time;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Class of an event. **The order of the variants is semantics.** Among simultaneous events on one device, buffer space
/// is released before any packet can request it; a received pause acts before a queue can send; control-plane changes
/// and queue-depth updates act before the packets that see them; timers see the state after all of these.
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

/// Time and place of an event. **The order of the fields is semantics**: events are handled by time, then device,
/// class, port and the source's own sequence number. Insertion order, addresses and threads have no influence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventKey {
    /// Time of the event.
    pub time: Time,
    /// Device.
    pub device: u32,
    /// Class of the event.
    pub class: EventClass,
    /// Port of the device.
    pub port: u32,
    /// Number of the event among its source's events; unique for a device, class, port and time.
    pub seq: u64,
}

/// Source of events on one device and port. It numbers the events, so that no two have the same key.
#[derive(Debug, Clone)]
pub struct EventSource {
    device: u32,
    port: u32,
    next_seq: u64,
}

impl EventSource {
    /// Creates a source without events. A device and port may have only one source.
    pub const fn new(device: u32, port: u32) -> Self {
        Self { device, port, next_seq: 0 }
    }

    /// Returns the key of the source's next event.
    pub fn key(&mut self, time: Time, class: EventClass) -> EventKey {
        let seq = self.next_seq;
        self.next_seq = seq.wrapping_add(1);
        EventKey { time, device: self.device, class, port: self.port, seq }
    }
}

/// The event would have to be handled before an event that has already been handled.
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

/// Largest number of events of a lane that a new event may precede; beyond it the heap is cheaper.
const FAR: usize = 16;

/// Place of the first event: the heap, or none. Every other value is the number of a lane.
const HEAP: usize = usize::MAX - 1;
const NOWHERE: usize = usize::MAX;

/// Queue of events, ordered by their keys.
///
/// A source whose events are nearly in order, such as a pipe of fixed latency, can have a *lane*: a list that is kept
/// in order by insertion from its end, which costs less than a heap. An event that would be inserted far from the end
/// goes to the heap. Lanes do not change the order.
#[derive(Debug, Clone)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Pending<E>>,
    lanes: Vec<VecDeque<Pending<E>>>,
    /// Time of the first event of each lane; [`Time::MAX`] if the lane is empty. The list is searched once per event.
    heads: Vec<Time>,
    /// Key and place of the first event; the key has no meaning if the place is [`NOWHERE`]. They are cached because
    /// the caller reads the time more than once per event.
    first: EventKey,
    place: usize,
    last: Option<EventKey>,
}

/// Key in place of one that has no meaning.
const NO_KEY: EventKey =
    EventKey { time: Time::MAX, device: u32::MAX, class: EventClass::Timer, port: u32::MAX, seq: u64::MAX };

impl<E> EventQueue<E> {
    /// Creates an empty queue that has handled nothing.
    pub const fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            lanes: Vec::new(),
            heads: Vec::new(),
            first: NO_KEY,
            place: NOWHERE,
            last: None,
        }
    }

    /// Creates an empty queue with `lanes` lanes.
    pub fn with_lanes(lanes: usize) -> Self {
        let heads = vec![Time::MAX; lanes];
        let lanes = std::iter::repeat_with(VecDeque::new).take(lanes).collect();
        Self { lanes, heads, ..Self::new() }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// Fails if its key is not after the key of the last event popped: it could no longer be handled in order.
    pub fn push(&mut self, key: EventKey, event: E) -> Result<(), PastEvent> {
        self.in_time(&key)?;
        self.heap.push(Pending { key, event });
        self.note(&key, HEAP);
        Ok(())
    }

    /// Adds an event to a lane. If there is no such lane, the event goes to the heap.
    ///
    /// # Errors
    /// Fails if the event's key is not after the key of the last event popped.
    #[inline]
    pub fn push_in_lane(&mut self, lane: usize, key: EventKey, event: E) -> Result<(), PastEvent> {
        self.in_time(&key)?;
        let (Some(list), Some(head)) = (self.lanes.get_mut(lane), self.heads.get_mut(lane)) else {
            return self.push(key, event);
        };
        match list.back() {
            None => {
                *head = key.time;
                list.push_back(Pending { key, event });
            }
            // Nearly all events arrive in order.
            Some(back) if back.key <= key => list.push_back(Pending { key, event }),
            Some(_) => return self.insert(lane, key, event),
        }
        self.note(&key, lane);
        Ok(())
    }

    /// Adds an event that precedes the last one of its lane.
    #[inline(never)]
    fn insert(&mut self, lane: usize, key: EventKey, event: E) -> Result<(), PastEvent> {
        let Some(list) = self.lanes.get_mut(lane) else { return Ok(()) };
        let later = list.iter().rev().take(FAR + 1).take_while(|pending| pending.key > key).count();
        if later > FAR {
            return self.push(key, event);
        }
        list.insert(list.len() - later, Pending { key, event });
        if let (Some(front), Some(head)) = (list.front(), self.heads.get_mut(lane)) {
            *head = front.key.time;
        }
        self.note(&key, lane);
        Ok(())
    }

    /// Updates the cached first event after an insertion.
    #[inline]
    fn note(&mut self, key: &EventKey, place: usize) {
        if self.place == NOWHERE || *key < self.first {
            (self.first, self.place) = (*key, place);
        }
    }

    #[inline]
    fn in_time(&self, key: &EventKey) -> Result<(), PastEvent> {
        match &self.last {
            Some(last) if key <= last => Err(PastEvent { pushed: *key, last: *last }),
            _ => Ok(()),
        }
    }

    /// Finds the first event.
    #[inline]
    fn find_first(&mut self) {
        let (mut time, mut place) = (Time::MAX, NOWHERE);
        let mut tied = false;
        for (lane, head) in self.heads.iter().enumerate() {
            tied |= *head == time;
            if *head < time {
                (time, place, tied) = (*head, lane, false);
            }
        }
        if let Some(top) = self.heap.peek() {
            tied |= top.key.time == time;
            if top.key.time < time {
                (place, tied) = (HEAP, false);
            }
        }
        if tied && (time < Time::MAX || !self.is_empty()) {
            return self.find_among_equals();
        }
        self.place = place;
        self.first = match self.lanes.get(place).and_then(VecDeque::front) {
            Some(pending) => pending.key,
            None => self.heap.peek().map_or(NO_KEY, |pending| pending.key),
        };
    }

    /// Finds the first event by whole keys. Empty lanes, too, have the time [`Time::MAX`].
    #[inline(never)]
    fn find_among_equals(&mut self) {
        let mut first = self.heap.peek().map(|pending| (pending.key, HEAP));
        for (lane, list) in self.lanes.iter().enumerate() {
            if let Some(pending) = list.front()
                && first.is_none_or(|(key, _)| pending.key < key)
            {
                first = Some((pending.key, lane));
            }
        }
        (self.first, self.place) = first.unwrap_or((NO_KEY, NOWHERE));
    }

    /// Removes the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<(EventKey, E)> {
        let Pending { key, event } = match self.lanes.get_mut(self.place) {
            Some(list) => {
                let pending = list.pop_front()?;
                let next = list.front().map_or(Time::MAX, |pending| pending.key.time);
                self.heads[self.place] = next;
                pending
            }
            None => self.heap.pop()?,
        };
        self.last = Some(key);
        self.find_first();
        Some((key, event))
    }

    /// Removes the first event if it is before `until`.
    pub fn pop_before(&mut self, until: Time) -> Option<(EventKey, E)> {
        if self.next_time()? < until { self.pop() } else { None }
    }

    /// Returns the time of the first event.
    #[inline]
    pub fn next_time(&self) -> Option<Time> {
        (self.place != NOWHERE).then_some(self.first.time)
    }

    /// Returns the key of the last event popped.
    pub const fn last(&self) -> Option<EventKey> {
        self.last
    }

    /// Returns the waiting events, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&EventKey, &E)> {
        let waiting = self.heap.iter().chain(self.lanes.iter().flatten());
        waiting.map(|pending| (&pending.key, &pending.event))
    }

    /// Returns the number of events waiting.
    pub fn len(&self) -> usize {
        self.heap.len() + self.lanes.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Returns true if no event waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.lanes.iter().all(VecDeque::is_empty)
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
