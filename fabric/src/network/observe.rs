//! What a network shows to those who look.

use super::{LinkDrop, LinkId, SwitchId, Way};
use sluice_asic::units::{Duration, Time};
use sluice_switch::{
    Digest, FlowControlEvent, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, TimelineRow,
};

/// A frame's first bit reaches a switch, from a link or from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The caller's name for it.
    pub tag: u64,
    /// dev_port.
    pub port: u16,
    /// When.
    pub time: Time,
    /// How long it waited for the frame before it on the same wire; from a link it never does.
    pub waited: Duration,
    /// Bytes without FCS.
    pub bytes: u32,
    /// The link that it came by; none if it was injected.
    pub link: Option<(LinkId, Way)>,
}

/// A frame that a switch put on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFrame {
    /// The link.
    pub link: LinkId,
    /// Its direction.
    pub way: Way,
    /// What the sending switch says of the frame: ports, times of first and last bit out, time in the queue.
    pub left: Left,
    /// The sending MAC made it: a PFC frame.
    pub mac: bool,
    /// When its first bit is at the far end, or how it ends on the way.
    pub fate: Result<Time, LinkDrop>,
}

/// Whoever looks at a network. Bytes of a frame are `head` then `tail`.
///
/// Everything does nothing unless it is implemented, and costs nothing then. All events of one switch, and of the links
/// that it sends on, come in an order that does not depend on threads, nor on how far
/// [`advance`](super::Network::advance) goes at a time; but where among the others [`Observer::entered`] is told does
/// depend on the latter: a switch is given a frame some time before it can act. Events of different switches come as
/// the look-ahead has it.
pub trait Observer {
    /// A frame's first bit reaches a switch.
    fn entered(&mut self, at: SwitchId, frame: &Entered, bytes: &[u8]) {
        let _ = (at, frame, bytes);
    }

    /// A switch puts a frame on a link. Calls for one direction of a link are in order of time.
    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        let _ = (from, frame, head, tail);
    }

    /// A frame leaves the network by a port without a link.
    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        let _ = (from, frame, head, tail);
    }

    /// A MAC of a port without a link sends a frame of its own.
    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        self.delivered(from, frame, bytes, &[]);
    }

    /// A packet ends inside a switch.
    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        let _ = (at, packet, head, tail);
    }

    /// A pass was run.
    fn pass(&mut self, at: SwitchId, event: &PassEvent) {
        let _ = (at, event);
    }

    /// A program tells its control plane something.
    fn digest(&mut self, at: SwitchId, digest: &Digest, data: &[u8]) {
        let _ = (at, digest, data);
    }

    /// An entry has reached its time to live.
    fn idle(&mut self, at: SwitchId, entry: &IdleEntry) {
        let _ = (at, entry);
    }

    /// A ghost control saw an update.
    fn ghost(&mut self, at: SwitchId, event: &GhostEvent) {
        let _ = (at, event);
    }

    /// A packet was enqueued.
    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        let _ = (at, event);
    }

    /// A packet was dequeued.
    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        let _ = (at, event);
    }

    /// A place of the traffic manager holds something else; told of networks that are
    /// [watched](super::Network::watch), in order of time for each switch.
    fn level(&mut self, at: SwitchId, row: &TimelineRow<'_>) {
        let _ = (at, row);
    }

    /// A flow-control word acts on a queue.
    fn flow_control(&mut self, at: SwitchId, event: &FlowControlEvent) {
        let _ = (at, event);
    }
}

/// Nobody looks.
impl Observer for () {}
