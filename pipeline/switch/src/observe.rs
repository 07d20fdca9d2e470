//! Observation of a switch: sent packets, lost packets, and events for callers that watch.
//!
//! All methods of [`Sink`] but `sent` and `lost` do nothing by default.

use super::idle::IdleEntry;
use super::reason::Reason;
use sluice_asic::gress::Gress;
use sluice_asic::units::{Bytes, Cells, Cycles, Duration, Time};
use sluice_exec::pass::{GhostUpdate, PassOut};

/// A packet that was sent on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The caller's identifier of the packet.
    pub tag: u64,
    /// dev_port on which it arrived.
    pub ingress_port: u16,
    /// dev_port on which it was sent.
    pub egress_port: u16,
    /// Time of its first bit on arrival.
    pub received: Time,
    /// Time of its first bit on the output line.
    pub first_bit: Time,
    /// Time of the end of its FCS on the output line.
    pub last_bit: Time,
    /// Time spent in the queue.
    pub queued: Duration,
    /// The queue.
    pub qid: u8,
    /// Length in bytes without FCS, before padding; includes bytes that were not captured.
    pub bytes: u32,
    /// True if it was made inside: a copy, or a packet of a generator or MAC.
    pub made: bool,
    /// The ECN field (0 to 3) with which the program sent it, if the device then marked it CE by a buffer profile.
    pub marked: Option<u8>,
}

/// A packet that ended inside the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The caller's identifier of the packet.
    pub tag: u64,
    /// dev_port on which it arrived.
    pub port: u16,
    /// Time of its first bit on arrival.
    pub received: Time,
    /// Time of its end.
    pub time: Time,
    /// Reason of its end.
    pub reason: Reason,
    /// True if the program absorbed it on purpose, false if it was dropped.
    pub absorbed: bool,
    /// Length in bytes at its end.
    pub bytes: u32,
}

/// A pass of a packet through a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassEvent {
    /// The caller's identifier of the packet.
    pub tag: u64,
    /// The gress.
    pub gress: Gress,
    /// The pipe.
    pub pipe: u8,
    /// Time at which the PHV entered.
    pub entered: Time,
    /// Cycle at which the PHV entered.
    pub cycle: Cycles,
    /// Cycles of waiting for a slot.
    pub waited: Cycles,
    /// Cycles in the parser, on the packet's path.
    pub parser_cycles: u64,
    /// Cycles in the stages.
    pub mau_cycles: u64,
    /// Cycles in the deparser.
    pub deparser_cycles: u64,
    /// Time at which it left the deparser.
    pub left: Time,
    /// Result of the pass.
    pub output: PassOut,
}

/// A packet enters or leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEvent {
    /// The caller's identifier of the packet.
    pub tag: u64,
    /// dev_port.
    pub port: u16,
    /// Queue.
    pub qid: u8,
    /// Time of the event.
    pub time: Time,
    /// Depth in cells before the enqueue, or after the dequeue.
    pub depth: Cells,
    /// Bytes of the packet in the queue.
    pub bytes: Bytes,
}

/// A digest to the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The caller's identifier of the packet that caused it.
    pub tag: u64,
    /// The pipe.
    pub pipe: u8,
    /// Value of `digest_type`.
    pub kind: u8,
    /// Time at which it left the deparser.
    pub time: Time,
}

/// A queue-depth update seen by the ghost control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GhostEvent {
    /// Pipe of the ghost thread.
    pub pipe: u8,
    /// Time at which its PHV entered.
    pub entered: Time,
    /// Cycle at which its PHV entered.
    pub cycle: Cycles,
    /// The update.
    pub update: GhostUpdate,
}

/// A flow-control word of a deparser that takes effect on a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControlEvent {
    /// dev_port.
    pub port: u16,
    /// Queue.
    pub qid: u8,
    /// Time of the effect.
    pub time: Time,
    /// Credit in the word. In a queue that obeys pauses, 0 resumes and any other value pauses.
    pub credit: u16,
}

/// Receiver of packets and events of a switch.
pub trait Sink {
    /// Receives a sent packet, whose bytes are `head` followed by `tail`. Calls for one port are in order of
    /// time. Calls for different ports may be out of order, but none is before the time that the switch has
    /// advanced to.
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]);

    /// Receives a packet that ended inside, with its bytes at that time.
    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]);

    /// Receives a control frame that a MAC made; its tag is `u64::MAX`.
    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        self.sent(packet, frame, &[]);
    }

    /// True if passes and queues are watched. If false, the switch may leave out [`pass`](Self::pass),
    /// [`enqueued`](Self::enqueued) and [`dequeued`](Self::dequeued). The value must not change.
    fn watches(&self) -> bool {
        true
    }

    /// False if the sink does without calls of [`lost`](Self::lost) for packets of packet generators. Then the switch
    /// may skip rounds of generators that change nothing, which it counts all the same.
    fn needs_every_round(&self) -> bool {
        true
    }

    /// Receives a pass.
    fn pass(&mut self, event: &PassEvent) {
        let _ = event;
    }

    /// Receives a digest with its data.
    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        let _ = (digest, data);
    }

    /// Receives an entry that a sweep found idle for its time to live.
    fn idle(&mut self, entry: &IdleEntry) {
        let _ = entry;
    }

    /// Receives an update that the ghost control saw.
    fn ghost(&mut self, event: &GhostEvent) {
        let _ = event;
    }

    /// Receives an enqueue.
    fn enqueued(&mut self, event: &QueueEvent) {
        let _ = event;
    }

    /// Receives a dequeue.
    fn dequeued(&mut self, event: &QueueEvent) {
        let _ = event;
    }

    /// Receives the effect of a flow-control word.
    fn flow_control(&mut self, event: &FlowControlEvent) {
        let _ = event;
    }
}
