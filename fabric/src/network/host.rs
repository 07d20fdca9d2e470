//! Hosts at the edge of a network: each is at the far end of the cable of a port without a link.
//!
//! A host and its switch are run by the same thread, and act on each other after the cable's delay. Therefore hosts do
//! not limit how far switches may run ahead of each other.

use super::lane::Lane;
use sluice_asic::units::{Duration, Time};
use std::any::Any;

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
pub(super) struct Attached {
    /// Index of the port's inlet in the node.
    pub(super) inlet: usize,
    pub(super) cable: Duration,
    /// Frames on their way to the host, by arrival of their last bit.
    pub(super) coming: Lane,
    pub(super) host: Box<dyn Host>,
}

impl Attached {
    /// Returns the time of the next known event: of the host, or the next arrival; `Time::MAX` if there is none.
    pub(super) fn next_time(&self) -> Time {
        let own = self.host.next_time().unwrap_or(Time::MAX);
        own.min(self.coming.next_time().unwrap_or(Time::MAX))
    }

    /// Runs the host up to and including `until`. All arrivals up to then must be in `coming`.
    pub(super) fn run(&mut self, until: Time, send: &mut ToSwitch<'_>) {
        while let Some(at) = self.coming.next_time().filter(|at| *at <= until) {
            self.host.advance(at, send);
            let host = &mut self.host;
            self.coming.pop(|frame, bytes| {
                host.receive(at, HostFrame { bytes, orig_len: frame.orig_len, tag: frame.tag });
            });
        }
        self.host.advance(until, send);
    }

    pub(super) fn is_busy(&self) -> bool {
        !self.coming.is_empty() || self.host.is_busy()
    }
}
