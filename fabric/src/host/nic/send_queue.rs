//! Send queues whose work requests register memory (model: buffer §5, lesson L11).
//!
//! A work request here is a fast memory registration (FMR) with the Send behind it. The NIC processes them in order: the
//! registration takes its time, then the Send starts, then the next registration begins. With the *hidden fence*, a fault, a
//! registration waits until all Sends before it are completed.
//!
//! A message's start stays the time at which its work request was posted (T1), so its completion time includes the queue.

use super::super::message::Message;
use sluice_asic::units::{Duration, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// A message as a work request with a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkRequest {
    /// Number of the send queue at its host.
    pub queue: u32,
    /// Time that the registration takes.
    pub registration: Duration,
}

/// A send queue.
#[derive(Debug, Default)]
struct Queue {
    posted: VecDeque<(Message, Duration)>,
    /// True while the registration of the first request is under way.
    registering: bool,
    /// Sends that are started and not completed.
    started: u32,
}

/// Send queues of a host.
#[derive(Debug)]
pub(super) struct SendQueues {
    /// Requests by the pairs of their messages.
    requests: BTreeMap<u32, WorkRequest>,
    queues: BTreeMap<u32, Queue>,
    /// Ends of registrations, with their queues.
    timers: BinaryHeap<Reverse<(Time, u32)>>,
    fence: bool,
}

impl SendQueues {
    pub(super) fn new(requests: BTreeMap<u32, WorkRequest>) -> SendQueues {
        SendQueues { requests, queues: BTreeMap::new(), timers: BinaryHeap::new(), fence: false }
    }

    /// Sets whether registrations wait for completions.
    pub(super) const fn set_fence(&mut self, fence: bool) {
        self.fence = fence;
    }

    /// Posts a message. Returns it if it is no work request of a queue: then it starts at once.
    pub(super) fn post(&mut self, now: Time, message: Message) -> Option<Message> {
        let Some(WorkRequest { queue, registration }) = self.requests.get(&message.pair).copied() else {
            return Some(message);
        };
        self.queues.entry(queue).or_default().posted.push_back((message, registration));
        self.register(now, queue);
        None
    }

    /// Begins the registration of a queue's first request, if it may begin.
    fn register(&mut self, now: Time, number: u32) {
        let Some(queue) = self.queues.get_mut(&number) else { return };
        let fenced = self.fence && queue.started > 0;
        if let (Some((_, registration)), false, false) = (queue.posted.front(), queue.registering, fenced) {
            self.timers.push(Reverse((now + *registration, number)));
            queue.registering = true;
        }
    }

    /// Returns the end of the next registration.
    pub(super) fn next_time(&self) -> Option<Time> {
        self.timers.peek().map(|Reverse((at, _))| *at)
    }

    /// Ends a registration that ends at `now` or earlier, and returns the message that starts.
    pub(super) fn pop(&mut self, now: Time) -> Option<Message> {
        let Reverse((at, number)) = *self.timers.peek().filter(|Reverse((at, _))| *at <= now)?;
        self.timers.pop();
        let queue = self.queues.get_mut(&number)?;
        let (message, _) = queue.posted.pop_front()?;
        queue.registering = false;
        queue.started += 1;
        self.register(at, number);
        Some(message)
    }

    /// Handles the completion of a message.
    pub(super) fn completed(&mut self, at: Time, pair: u32) {
        let Some(WorkRequest { queue: number, .. }) = self.requests.get(&pair).copied() else { return };
        if let Some(queue) = self.queues.get_mut(&number) {
            queue.started = queue.started.saturating_sub(1);
            self.register(at, number);
        }
    }

    /// Returns the messages that are posted and not started.
    pub(super) fn iter(&self) -> impl Iterator<Item = Message> + '_ {
        self.queues.values().flat_map(|queue| queue.posted.iter().map(|(message, _)| *message))
    }

    /// Returns true if nothing is posted that has not started.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.values().all(|queue| queue.posted.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn at(us: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(us)
    }

    fn message(pair: u32) -> Message {
        let to = Ipv4Addr::new(10, 0, 0, 2);
        Message { pair, transport: 0, workload: 0, start: at(0), to, port: 49_152, bytes: 64 }
    }

    /// Two queues: pairs 1 to 3 with registrations of 5 us, pair 4 with one of 1 us. Pair 9 is in none.
    fn queues(fence: bool) -> SendQueues {
        let request = |queue, us| WorkRequest { queue, registration: Duration::from_micros(us) };
        let all = [(1, request(0, 5)), (2, request(0, 5)), (3, request(0, 5)), (4, request(1, 1))];
        let mut queues = SendQueues::new(all.into());
        queues.set_fence(fence);
        assert_eq!(queues.post(at(0), message(9)), Some(message(9)));
        (1..=4).for_each(|pair| assert_eq!(queues.post(at(0), message(pair)), None));
        queues
    }

    /// Starts up to `now` in us, with their pairs.
    fn starts(queues: &mut SendQueues, now: u64) -> Vec<(u64, u32)> {
        let mut starts = Vec::new();
        while let Some(next) = queues.next_time().filter(|next| *next <= at(now)) {
            let pair = queues.pop(next).unwrap().pair;
            starts.push((next.since_origin().as_nanos() / 1_000, pair));
        }
        starts
    }

    #[test]
    fn registrations_follow_each_other() {
        let mut queues = queues(false);
        assert_eq!(starts(&mut queues, 100), [(1, 4), (5, 1), (10, 2), (15, 3)]);
        assert!(queues.is_empty());
    }

    #[test]
    fn with_the_fence_they_wait_for_completions() {
        let mut queues = queues(true);
        assert_eq!(starts(&mut queues, 100), [(1, 4), (5, 1)]);
        assert_eq!(queues.iter().map(|message| message.pair).collect::<Vec<_>>(), [2, 3]);
        // A completion of another queue changes nothing.
        queues.completed(at(150), 4);
        assert_eq!(queues.next_time(), None);
        queues.completed(at(200), 1);
        assert_eq!(starts(&mut queues, 300), [(205, 2)]);
        queues.completed(at(400), 2);
        assert_eq!((starts(&mut queues, 500), queues.is_empty()), (vec![(405, 3)], true));
    }
}
