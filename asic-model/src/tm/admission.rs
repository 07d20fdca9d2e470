//! Tail drop without a shared buffer: the limit of the queue and the size of the whole memory.

use super::buffer::Refusal;
use super::offer::{QueueId, TmPort};
use crate::units::{Bytes, Cells, Divisor};
use thiserror::Error;

/// Reason for which a packet was not enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TailDrop {
    /// Tail drop: the queue's own limit leaves too few cells.
    #[error("queue holds {depth} of {limit}; {need} more do not fit")]
    QueueTailDrop {
        /// Cells in the queue.
        depth: Cells,
        /// Cells that the packet needs.
        need: Cells,
        /// Limit of the queue in cells.
        limit: Cells,
    },
    /// The packet buffer has too few free cells.
    #[error("packet buffer holds {used} of {size}; {need} more do not fit")]
    BufferFull {
        /// Cells of the buffer in use.
        used: Cells,
        /// Cells that the packet needs.
        need: Cells,
        /// Cells of the buffer.
        size: Cells,
    },
    /// The packet was sent to a queue that is not configured.
    #[error("port {} has no queue {}", port.0, queue.0)]
    NoSuchQueue {
        /// Port that the packet was sent to.
        port: TmPort,
        /// Queue that the packet was sent to.
        queue: QueueId,
    },
    /// A rule of the shared buffer refused the packet.
    #[error(transparent)]
    Refused(Refusal),
}

impl TailDrop {
    /// Returns the drop reason as it is counted and printed.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::QueueTailDrop { .. } => "queue_tail_drop",
            Self::BufferFull { .. } => "buffer_full",
            Self::NoSuchQueue { .. } => "no_such_queue",
            Self::Refused(refusal) => refusal.rule.name(),
        }
    }
}

/// Decision on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// The packet enters the queue.
    Admit,
    /// The packet is dropped.
    Drop(TailDrop),
}

/// Decides whether a packet of `need` cells enters a queue of depth `depth` while `used` cells of the buffer are in
/// use. The buffer is checked first, because ingress admission comes before the queue's (model: tm §2).
pub(super) fn admission(need: Cells, used: Cells, size: Cells, depth: Cells, limit: Cells) -> Admission {
    if need > size.saturating_sub(used) {
        return Admission::Drop(TailDrop::BufferFull { used, need, size });
    }
    if need > limit.saturating_sub(depth) {
        return Admission::Drop(TailDrop::QueueTailDrop { depth, need, limit });
    }
    Admission::Admit
}

/// Returns the cells that a packet takes: at least one, so that every queued packet is charged.
pub(super) fn cells_of(bytes: Bytes, cell_size: Divisor) -> Cells {
    // A packet of more than 2^32 cells fits no buffer, so the largest count is refused as well.
    Cells(u32::try_from(cell_size.ceil(bytes.0)).unwrap_or(u32::MAX).max(1))
}
