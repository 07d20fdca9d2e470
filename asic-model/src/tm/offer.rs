//! Inputs and outputs of the traffic manager: port and queue numbers, offered packets, timestamps.

use super::buffer::CopyGroup;
use super::shaper::ShaperConfig;
use crate::meter::Colour;
use crate::units::{Bytes, Cells, Duration, Time};

/// Port of the traffic manager: an index into [`super::TmConfig::ports`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TmPort(pub u16);

/// Queue of one port: an index into [`super::PortQueues::queues`], the `qid` of intrinsic metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(pub u8);

/// Packet that is offered to a queue under a shared buffer.
#[derive(Debug, Clone, Copy)]
pub struct Offer<H> {
    /// The caller's handle.
    pub handle: H,
    /// Egress port.
    pub port: TmPort,
    /// Queue of the egress port.
    pub queue: QueueId,
    /// Length.
    pub bytes: Bytes,
    /// Ingress port.
    pub in_port: TmPort,
    /// Priority group of the ingress port.
    pub pg: u8,
    /// Colour.
    pub colour: Colour,
    /// Group of copies that share cells; `None` for a packet that is charged by itself.
    pub copies: Option<CopyGroup>,
}

/// Guaranteed rate of a queue. Queues within their guarantee are served before all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// Rate and burst.
    pub shaper: ShaperConfig,
    /// Priority among guarantees, 0 to 7. A higher number is served first.
    pub priority: u8,
}

/// Values that the traffic manager records when a packet enters its queue (model: tm §11). A metadata field may be
/// narrower than the value; the caller truncates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueStamp {
    /// Depth of the queue in cells before this packet.
    pub enq_qdepth: Cells,
    /// Time at which the packet entered.
    pub enq_tstamp: Time,
}

/// Values that the traffic manager records over a packet's stay in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DequeueStamp {
    /// Values recorded on entry.
    pub enqueue: EnqueueStamp,
    /// Depth of the queue in cells after this packet left.
    pub deq_qdepth: Cells,
    /// Time spent in the queue.
    pub deq_timedelta: Duration,
}

/// Dequeued packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeued<H> {
    /// The caller's handle.
    pub handle: H,
    /// Queue that the packet was in.
    pub queue: QueueId,
    /// Length.
    pub bytes: Bytes,
    /// Depths and times for egress intrinsic metadata.
    pub stamp: DequeueStamp,
    /// Bytes that remain in the queue.
    pub left_bytes: Bytes,
}

/// Outcome of an offer to a port whose line is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offered<H> {
    /// The packet is in its queue.
    Queued(EnqueueStamp),
    /// The packet has left already: nothing was in front of it.
    Passed(Dequeued<H>),
}
