//! Hosts at the edge of a network: each is at the far end of the cable of a port without a link.
//!
//! A host and its switch are run by the same thread, and act on each other after the cable's delay. Therefore hosts do
//! not limit how far switches may run ahead of each other.

use super::lane::Lane;
use sluice_asic::units::{Duration, Time};
use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Index of a host in its network, in the order of [`attach`](super::Network::attach).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A frame between a host and its switch.
#[derive(Clone, Copy, Debug)]
pub struct HostFrame<'a> {
    /// Bytes without FCS; fewer than `orig_len` if the sender left out the payload.
    pub bytes: &'a [u8],
    /// Length without FCS, at least 60 bytes.
    pub orig_len: u32,
    /// Tag that the sender chose to identify the frame.
    pub tag: u64,
}

/// Receives the frames that a host sends: the time of the first bit on the cable, and the frame. Times never decrease.
pub type ToSwitch<'a> = dyn FnMut(Time, HostFrame<'_>) + 'a;

/// A host without I/O: it is notified of arrivals, and runs up to a time that the network says.
///
/// Its behaviour may depend only on its configuration and on these calls, so that runs are reproducible.
pub trait Host: Any + Send {
    /// Handles a frame whose last bit arrives at `at`. The host has run up to and including `at`.
    fn receive(&mut self, at: Time, frame: HostFrame<'_>);

    /// Returns the time of the next event without further arrivals, if there is one.
    fn next_time(&self) -> Option<Time>;

    /// Runs all events up to and including `until`.
    fn advance(&mut self, until: Time, send: &mut ToSwitch<'_>);

    /// Returns true if a run must wait for this host: something is not yet sent, or not yet answered.
    fn is_busy(&self) -> bool;
}

/// A host, attached to its port.
struct Attached {
    /// Index of the port's inlet in the node.
    inlet: usize,
    cable: Duration,
    /// Frames on their way to the host, by arrival of their last bit.
    coming: Lane,
    host: Box<dyn Host>,
    /// Time of the next known event, of the host or an arrival; `Time::MAX` if there is none.
    due: Time,
    /// True if a run must wait for this host.
    busy: bool,
}

/// The hosts of a switch. A host without an event costs nothing.
#[derive(Default)]
pub(super) struct Hosts {
    list: Vec<Attached>,
    /// Times of the next events, each with its host. An entry whose time is not the host's `due` is out of date; the first
    /// entry never is.
    agenda: BinaryHeap<Reverse<(Time, u16)>>,
    /// Number of hosts for which a run must wait.
    busy: usize,
    /// Delay of the shortest cable.
    nearest: Duration,
    /// Time up to which all hosts have run.
    known: Time,
}

impl Hosts {
    /// Adds a host at the end of a cable, and returns its number.
    pub(super) fn attach(&mut self, inlet: usize, cable: Duration, host: Box<dyn Host>) -> u16 {
        let number = self.list.len() as u16;
        self.nearest = if self.list.is_empty() { cable } else { self.nearest.min(cable) };
        let attached = Attached { inlet, cable, coming: Lane::default(), host, due: Time::MAX, busy: false };
        self.list.push(attached);
        self.look(number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns a host.
    pub(super) fn get(&self, number: usize) -> Option<&(dyn Host + 'static)> {
        self.list.get(number).map(|attached| &*attached.host)
    }

    /// Returns a host to change its settings.
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut (dyn Host + 'static)> {
        self.list.get_mut(number).map(|attached| &mut *attached.host)
    }

    /// Returns the delay of the shortest cable.
    pub(super) fn nearest(&self) -> Duration {
        self.nearest
    }

    /// Returns the time of the next known event of any host; `Time::MAX` if there is none.
    pub(super) fn next_time(&self) -> Time {
        self.agenda.peek().map_or(Time::MAX, |Reverse((due, _))| *due)
    }

    /// Returns true if a run must wait for a host: something is not yet sent, not yet answered, or on a cable to it.
    pub(super) fn is_busy(&self) -> bool {
        self.busy > 0
    }

    /// Puts a frame on the cable to a host, whose last bit leaves the switch at `last_bit`.
    pub(super) fn put(&mut self, number: u16, last_bit: Time, put: impl FnOnce(&mut Lane, Time)) {
        let Some(attached) = self.list.get_mut(usize::from(number)) else { return };
        let at = last_bit + attached.cable;
        put(&mut attached.coming, at);
        self.busy += usize::from(!std::mem::replace(&mut attached.busy, true));
        if at < attached.due {
            attached.due = at;
            self.agenda.push(Reverse((at, number)));
        }
    }

    /// Runs the hosts up to `until` plus the delay of the shortest cable. The switch has run up to `until`, so all arrivals
    /// up to then are known. `send` gets the inlet of each frame and the time of its first bit there.
    pub(super) fn run(&mut self, until: Time, send: &mut dyn FnMut(usize, Time, HostFrame<'_>)) {
        let known = until.checked_add(self.nearest).unwrap_or(Time::MAX);
        self.known = known;
        while let Some(&Reverse((due, number))) = self.agenda.peek().filter(|next| next.0.0 <= known) {
            self.agenda.pop();
            if let Some(attached) = self.list.get_mut(usize::from(number)).filter(|a| a.due == due) {
                attached.due = Time::MAX;
                attached.run(known, send);
                self.look(number);
            }
        }
        self.drop_outdated();
    }

    /// Lets the clocks of all hosts come up to the time up to which they have run. No event of a host is left before it.
    pub(super) fn settle(&mut self, send: &mut dyn FnMut(usize, Time, HostFrame<'_>)) {
        let known = self.known;
        self.list.iter_mut().for_each(|attached| attached.run(known, send));
    }

    /// Notes a host's next event, and whether it is busy.
    fn look(&mut self, number: u16) {
        let Some(attached) = self.list.get_mut(usize::from(number)) else { return };
        let was = attached.busy;
        attached.busy = !attached.coming.is_empty() || attached.host.is_busy();
        self.busy = self.busy + usize::from(attached.busy) - usize::from(was);
        let due = attached.next_time();
        if due < Time::MAX {
            self.agenda.push(Reverse((due, number)));
        }
        attached.due = due;
        self.drop_outdated();
    }

    /// Removes entries at the top of the agenda that are out of date.
    #[inline]
    fn drop_outdated(&mut self) {
        while let Some(&Reverse((due, number))) = self.agenda.peek()
            && self.list.get(usize::from(number)).is_none_or(|attached| attached.due != due)
        {
            self.agenda.pop();
        }
    }
}

impl Attached {
    /// Returns the time of the next known event: of the host, or the next arrival; `Time::MAX` if there is none.
    fn next_time(&self) -> Time {
        let own = self.host.next_time().unwrap_or(Time::MAX);
        own.min(self.coming.next_time().unwrap_or(Time::MAX))
    }

    /// Runs the host up to and including `until`. All arrivals up to then must be in `coming`.
    fn run(&mut self, until: Time, send: &mut dyn FnMut(usize, Time, HostFrame<'_>)) {
        let (inlet, cable) = (self.inlet, self.cable);
        let send: &mut ToSwitch<'_> = &mut |time, frame| send(inlet, time + cable, frame);
        while let Some(at) = self.coming.next_time().filter(|at| *at <= until) {
            self.host.advance(at, send);
            let host = &mut self.host;
            self.coming.pop(|frame, bytes| {
                host.receive(at, HostFrame { bytes, orig_len: frame.orig_len, tag: frame.tag });
            });
        }
        self.host.advance(until, send);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Sends a frame at each of its times. Counts calls and received frames.
    struct Sender {
        times: Vec<Time>,
        calls: Arc<AtomicU64>,
        received: Arc<AtomicU64>,
    }

    impl Host for Sender {
        fn receive(&mut self, _: Time, _: HostFrame<'_>) {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.received.fetch_add(1, Ordering::Relaxed);
        }

        fn next_time(&self) -> Option<Time> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.times.first().copied()
        }

        fn advance(&mut self, until: Time, send: &mut ToSwitch<'_>) {
            self.calls.fetch_add(1, Ordering::Relaxed);
            while let Some(at) = self.times.first().copied().filter(|at| *at <= until) {
                self.times.remove(0);
                send(at, HostFrame { bytes: &[0; 60], orig_len: 60, tag: at.as_ps() });
            }
        }

        fn is_busy(&self) -> bool {
            !self.times.is_empty()
        }
    }

    #[test]
    fn a_host_without_an_event_gets_no_call() {
        const CABLE: Duration = Duration::from_nanos(500);
        let (calls, received) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let idle = |times| Sender { times, calls: Arc::clone(&calls), received: Arc::clone(&received) };
        let mut hosts = Hosts::default();
        for inlet in 0..1_000 {
            hosts.attach(inlet, CABLE, Box::new(idle(Vec::new())));
        }
        let times: Vec<Time> = (1..=100).map(|us| Time::ORIGIN + Duration::from_micros(us)).collect();
        let own = Arc::new(AtomicU64::new(0));
        hosts.attach(1_000, CABLE, Box::new(Sender { calls: own, ..idle(times.clone()) }));
        let (before, mut seen) = (calls.load(Ordering::Relaxed), Vec::new());
        for window in 1..=400 {
            let until = Time::ORIGIN + Duration::from_nanos(500 * window);
            hosts.run(until, &mut |inlet, first_bit, frame| seen.push((inlet, first_bit, frame.tag)));
            // A frame from the busy host is known one cable's delay before it is at the switch.
            let sent = times.iter().filter(|at| **at <= until + CABLE);
            assert!(sent.map(|at| (1_000, *at + CABLE, at.as_ps())).eq(seen.iter().copied()));
        }
        assert_eq!((seen.len(), calls.load(Ordering::Relaxed) - before), (100, 0));
        assert_eq!((hosts.next_time(), hosts.is_busy()), (Time::MAX, false));
        let last_bit = Time::ORIGIN + Duration::from_micros(300);
        hosts.put(7, last_bit, |lane, at| lane.push(at, 0, 60, [&[0; 60], &[], &[]]));
        assert_eq!((hosts.next_time(), hosts.is_busy()), (last_bit + CABLE, true));
        hosts.run(last_bit, &mut |_, _, _| {});
        assert_eq!((received.load(Ordering::Relaxed), hosts.is_busy()), (1, false));
    }
}
