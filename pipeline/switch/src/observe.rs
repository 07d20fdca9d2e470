//! What comes out of the switch: packets, their ends, and events for those who look.
//!
//! Everything beside `sent` and `lost` does nothing by default and costs nothing then.

use super::idle::IdleEntry;
use super::reason::Reason;
use sluice_asic::gress::Gress;
use sluice_asic::units::{Cells, Cycles, Duration, Time};
use sluice_exec::pass::{GhostUpdate, PassOut};

/// A packet that left by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The caller's name for it.
    pub tag: u64,
    /// dev_port that it came in by.
    pub ingress_port: u16,
    /// dev_port that it left by.
    pub egress_port: u16,
    /// First bit in.
    pub received: Time,
    /// First bit out.
    pub first_bit: Time,
    /// End of the FCS out.
    pub last_bit: Time,
    /// Time in the queue.
    pub queued: Duration,
    /// The queue.
    pub qid: u8,
    /// Bytes without FCS, before padding; bytes that were never captured count.
    pub bytes: u32,
    /// It was made inside: a copy, or a packet of a generator or MAC.
    pub made: bool,
}

/// A packet that ended inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The caller's name for it.
    pub tag: u64,
    /// dev_port that it came in by.
    pub port: u16,
    /// First bit in.
    pub received: Time,
    /// When it ended.
    pub time: Time,
    /// Why.
    pub reason: Reason,
    /// The program consumed it on purpose.
    pub absorbed: bool,
    /// Bytes at its end.
    pub bytes: u32,
}

/// A pass through a gress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassEvent {
    /// The caller's name for the packet.
    pub tag: u64,
    /// Which gress.
    pub gress: Gress,
    /// Which pipe.
    pub pipe: u8,
    /// When the PHV entered.
    pub entered: Time,
    /// In which cycle.
    pub cycle: Cycles,
    /// Cycles that it waited for its slot.
    pub waited: Cycles,
    /// Cycles of the parser, for its path.
    pub parser_cycles: u64,
    /// Cycles of the stages.
    pub mau_cycles: u64,
    /// Cycles of the deparser.
    pub deparser_cycles: u64,
    /// When it left the deparser.
    pub left: Time,
    /// How it ended.
    pub output: PassOut,
}

/// A packet enters or leaves a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueEvent {
    /// The caller's name for the packet.
    pub tag: u64,
    /// dev_port.
    pub port: u16,
    /// Queue.
    pub qid: u8,
    /// When.
    pub time: Time,
    /// Depth found at enqueue, left at dequeue.
    pub depth: Cells,
}

/// A digest on its way to the control plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The caller's name for the packet that it is of.
    pub tag: u64,
    /// Which pipe.
    pub pipe: u8,
    /// `digest_type`.
    pub kind: u8,
    /// When it left the deparser.
    pub time: Time,
}

/// An update of a queue's depth that the ghost control saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GhostEvent {
    /// Which pipe's ghost thread.
    pub pipe: u8,
    /// When its PHV entered.
    pub entered: Time,
    /// In which cycle.
    pub cycle: Cycles,
    /// The update.
    pub update: GhostUpdate,
}

/// A flow-control word of a deparser acts on a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowControlEvent {
    /// dev_port.
    pub port: u16,
    /// Queue.
    pub qid: u8,
    /// When.
    pub time: Time,
    /// The word's credit; in queues that obey pauses 0 resumes and any other pauses.
    pub credit: u16,
}

/// Where a switch puts what leaves it.
pub trait Sink {
    /// A packet left; its bytes are `head` then `tail`. Calls for one port are in order of time; over all
    /// ports they are not, but none is earlier than the time that the switch has advanced to.
    fn sent(&mut self, packet: &Left, head: &[u8], tail: &[u8]);

    /// A packet ended inside; its bytes as they were then.
    fn lost(&mut self, packet: &Lost, head: &[u8], tail: &[u8]);

    /// A MAC sent a control frame of its own; its tag is `u64::MAX`.
    fn mac_sent(&mut self, packet: &Left, frame: &[u8]) {
        self.sent(packet, frame, &[]);
    }

    /// Whether passes and queues are watched: without, [`pass`](Self::pass), [`enqueued`](Self::enqueued) and
    /// [`dequeued`](Self::dequeued) need not be told. The answer stays the same.
    fn watches(&self) -> bool {
        true
    }

    /// A pass was run.
    fn pass(&mut self, event: &PassEvent) {
        let _ = event;
    }

    /// The program tells the control plane something.
    fn digest(&mut self, digest: &Digest, data: &[u8]) {
        let _ = (digest, data);
    }

    /// A sweep found that an entry has reached its time to live.
    fn idle(&mut self, entry: &IdleEntry) {
        let _ = entry;
    }

    /// The ghost control saw an update.
    fn ghost(&mut self, event: &GhostEvent) {
        let _ = event;
    }

    /// A packet was enqueued.
    fn enqueued(&mut self, event: &QueueEvent) {
        let _ = event;
    }

    /// A packet was dequeued.
    fn dequeued(&mut self, event: &QueueEvent) {
        let _ = event;
    }

    /// A flow-control word acts.
    fn flow_control(&mut self, event: &FlowControlEvent) {
        let _ = event;
    }
}
