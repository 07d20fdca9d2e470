//! The interface through which a network reports its events.

use super::{LinkDrop, LinkId, SwitchId, Way};
use sluice_asic::units::{Duration, Time};
use sluice_switch::{
    Digest, FlowControlEvent, GhostEvent, IdleEntry, Left, Lost, PassEvent, QueueEvent, TimelineRow,
};

/// A frame whose first bit reaches a switch, from a link, a host or by injection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Tag that the sender or caller chose.
    pub tag: u64,
    /// dev_port.
    pub port: u16,
    /// Time of the first bit, after `waited`.
    pub time: Time,
    /// Time that the frame waited for the previous frame on its wire; 0 for frames from links.
    pub waited: Duration,
    /// Bytes without FCS.
    pub bytes: u32,
    /// The link and direction that the frame arrived by; `None` for frames from outside.
    pub link: Option<(LinkId, Way)>,
}

/// A frame that a switch put on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFrame {
    /// The link.
    pub link: LinkId,
    /// Its direction.
    pub way: Way,
    /// The sending switch's record of the frame: ports, times of first and last bit out, time in the queue.
    pub left: Left,
    /// True if the sending MAC generated the frame (PFC).
    pub mac: bool,
    /// Time of the first bit at the far end, or the reason why the frame was dropped on the link.
    pub fate: Result<Time, LinkDrop>,
}

/// Observer of a network's events. A frame's bytes are `head` followed by `tail`.
///
/// Every method does nothing by default. All events of one switch, and of the links that it
/// sends on, come in an order that depends neither on threads nor on the steps of [`advance`](super::Network::advance).
/// The exception is [`Observer::entered`]: its place among the other events depends on these steps, because a switch
/// gets a frame some time before the frame can act. The order of events of different switches depends on the
/// look-ahead.
pub trait Observer {
    /// A frame's first bit reaches a switch.
    fn entered(&mut self, at: SwitchId, frame: &Entered, bytes: &[u8]) {
        let _ = (at, frame, bytes);
    }

    /// A switch puts a frame on a link. Calls for one direction of a link are in order of time.
    fn on_link(&mut self, from: SwitchId, frame: &LinkFrame, head: &[u8], tail: &[u8]) {
        let _ = (from, frame, head, tail);
    }

    /// A frame is sent on a port without a link.
    fn delivered(&mut self, from: SwitchId, frame: &Left, head: &[u8], tail: &[u8]) {
        let _ = (from, frame, head, tail);
    }

    /// A frame is sent on a port without a link and is lost there for the reason `why`. `mac`: the port's MAC generated it.
    fn lost_at_port(
        &mut self,
        from: SwitchId,
        frame: &Left,
        (why, mac): (LinkDrop, bool),
        bytes: [&[u8]; 2],
    ) {
        let _ = (from, frame, why, mac, bytes);
    }

    /// The MAC of a port without a link sends a frame that it generated.
    fn mac_sent(&mut self, from: SwitchId, frame: &Left, bytes: &[u8]) {
        self.delivered(from, frame, bytes, &[]);
    }

    /// A packet is dropped or consumed inside a switch.
    fn lost(&mut self, at: SwitchId, packet: &Lost, head: &[u8], tail: &[u8]) {
        let _ = (at, packet, head, tail);
    }

    /// True if passes and queues are watched. If false, the network may leave out [`pass`](Self::pass),
    /// [`enqueued`](Self::enqueued) and [`dequeued`](Self::dequeued), which makes it faster. The value must not change.
    fn watches(&self) -> bool {
        true
    }

    /// A switch ran a pass of a packet.
    fn pass(&mut self, at: SwitchId, event: &PassEvent) {
        let _ = (at, event);
    }

    /// A program sends a digest to its control plane.
    fn digest(&mut self, at: SwitchId, digest: &Digest, data: &[u8]) {
        let _ = (at, digest, data);
    }

    /// An entry's time to live has expired.
    fn idle(&mut self, at: SwitchId, entry: &IdleEntry) {
        let _ = (at, entry);
    }

    /// The ghost thread received an update of a queue's depth.
    fn ghost(&mut self, at: SwitchId, event: &GhostEvent) {
        let _ = (at, event);
    }

    /// A packet enters a queue.
    fn enqueued(&mut self, at: SwitchId, event: &QueueEvent) {
        let _ = (at, event);
    }

    /// A packet leaves a queue.
    fn dequeued(&mut self, at: SwitchId, event: &QueueEvent) {
        let _ = (at, event);
    }

    /// A fill level of the traffic manager has changed. Only for networks that are [watched](super::Network::watch), in
    /// order of time for each switch.
    fn level(&mut self, at: SwitchId, row: &TimelineRow<'_>) {
        let _ = (at, row);
    }

    /// A flow-control word acts on a queue.
    fn flow_control(&mut self, at: SwitchId, event: &FlowControlEvent) {
        let _ = (at, event);
    }
}

/// An observer that ignores all events.
impl Observer for () {
    fn watches(&self) -> bool {
        false
    }
}
