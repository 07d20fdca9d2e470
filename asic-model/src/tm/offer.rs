//! What goes into the traffic manager and what comes out: names of ports and queues, offers, stamps.

use super::buffer::CopyGroup;
use super::shaper::ShaperConfig;
use crate::meter::Colour;
use crate::units::{Bytes, Cells, Duration, Time};

/// A port of the traffic manager: an index into [`super::TmConfig::ports`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TmPort(pub u16);

/// A queue of one port: an index into [`super::PortQueues::queues`], the `qid` of intrinsic metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueId(pub u8);

/// A packet that asks to be enqueued under a shared buffer.
#[derive(Debug, Clone, Copy)]
pub struct Offer<H> {
    /// The caller's handle.
    pub handle: H,
    /// The port that it leaves by.
    pub port: TmPort,
    /// Its queue there.
    pub queue: QueueId,
    /// Its length.
    pub bytes: Bytes,
    /// The port that it came in by.
    pub in_port: TmPort,
    /// Its priority group there.
    pub pg: u8,
    /// Its colour.
    pub colour: Colour,
    /// Set for one of several copies that share cells.
    pub copies: Option<CopyGroup>,
}

/// The least that a queue gets: it goes before queues that have had theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// Rate and burst.
    pub shaper: ShaperConfig,
    /// Among guarantees the higher goes first, 0..=7.
    pub priority: u8,
}

/// What the traffic manager notes when a packet enters its queue (model: tm §11). Metadata fields may be
/// narrower than these values; cutting them is the caller's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnqueueStamp {
    /// Depth of the queue in cells before this packet.
    pub enq_qdepth: Cells,
    /// When it entered.
    pub enq_tstamp: Time,
}

/// The whole stamp of a packet that left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DequeueStamp {
    /// What was noted on entry.
    pub enqueue: EnqueueStamp,
    /// Depth of the queue in cells after this packet left.
    pub deq_qdepth: Cells,
    /// Time spent in the queue.
    pub deq_timedelta: Duration,
}

/// The packet a port sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dequeued<H> {
    /// The caller's handle.
    pub handle: H,
    /// The queue it was in.
    pub queue: QueueId,
    /// Its length.
    pub bytes: Bytes,
    /// Depths and times for egress intrinsic metadata.
    pub stamp: DequeueStamp,
    /// Bytes that it left behind in the queue.
    pub left_bytes: Bytes,
}
