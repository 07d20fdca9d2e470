//! Hosts at the edge of a network: what stands at the far end of the cable of a port without a link.
//!
//! A host belongs to its switch: both are run by one thread, and what one does is known to the other a cable's delay
//! later. So hosts change nothing about how far switches may run beside each other.

use super::lane::Lane;
use sluice_asic::units::{Duration, Time};
use std::any::Any;

/// Number of a host in its network, in the order in which hosts were attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A frame between a host and its switch.
#[derive(Clone, Copy, Debug)]
pub struct HostFrame<'a> {
    /// Its bytes, without FCS; fewer than `orig_len` where a sender did not care for the rest.
    pub bytes: &'a [u8],
    /// Bytes on the wire without FCS, 60 at least.
    pub orig_len: u32,
    /// The sender's name for it.
    pub tag: u64,
}

/// Takes the frames that a host sends: when the first bit of each is on the cable, which is never earlier than that of
/// the frame before.
pub type ToSwitch<'a> = dyn FnMut(Time, HostFrame<'_>) + 'a;

/// A host: sans-IO, told what arrives, asked what it does until when.
///
/// What it does may depend on what it was told alone, and on nothing that differs from run to run.
pub trait Host: Any + Send {
    /// A frame's last bit is here. The host has done everything up to and including `at`.
    fn receive(&mut self, at: Time, frame: HostFrame<'_>);

    /// When it does something next without being told anything.
    fn next_time(&self) -> Option<Time>;

    /// Does everything that is due up to and including `until`.
    fn advance(&mut self, until: Time, send: &mut ToSwitch<'_>);

    /// Whether a run must wait for it: something that it has to send is not sent, or not answered.
    fn is_busy(&self) -> bool;
}

/// A host at its port.
pub(super) struct Attached {
    /// The inlet of its port.
    pub(super) inlet: usize,
    pub(super) cable: Duration,
    /// Frames on their way to it, by when their last bit is there.
    pub(super) coming: Lane,
    pub(super) host: Box<dyn Host>,
}

impl Attached {
    /// When something happens here next, as far as is known.
    pub(super) fn next_time(&self) -> Time {
        let own = self.host.next_time().unwrap_or(Time::MAX);
        own.min(self.coming.next_time().unwrap_or(Time::MAX))
    }

    /// Runs up to and including a time by which everything that arrives is known.
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
