//! Whether a packet may enter a queue without a shared buffer: the queue's own limit and the whole memory.

use super::buffer::Refusal;
use super::offer::{QueueId, TmPort};
use crate::units::{Bytes, Cells, Divisor};
use thiserror::Error;

/// Why a packet was not enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TailDrop {
    /// The queue's own limit.
    #[error("queue holds {depth} of {limit}; {need} more do not fit")]
    QueueTailDrop {
        /// Its depth.
        depth: Cells,
        /// What the packet needs.
        need: Cells,
        /// Its limit.
        limit: Cells,
    },
    /// The packet buffer.
    #[error("packet buffer holds {used} of {size}; {need} more do not fit")]
    BufferFull {
        /// Cells in use.
        used: Cells,
        /// What the packet needs.
        need: Cells,
        /// Its size.
        size: Cells,
    },
    /// The packet was sent to a queue that is not configured.
    #[error("port {} has no queue {}", port.0, queue.0)]
    NoSuchQueue {
        /// The port named.
        port: TmPort,
        /// The queue named.
        queue: QueueId,
    },
    /// A rule of the shared buffer.
    #[error(transparent)]
    Refused(Refusal),
}

impl TailDrop {
    /// The drop reason as it is counted and printed.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::QueueTailDrop { .. } => "queue_tail_drop",
            Self::BufferFull { .. } => "buffer_full",
            Self::NoSuchQueue { .. } => "no_such_queue",
            Self::Refused(refusal) => refusal.rule.name(),
        }
    }
}

/// The verdict on a packet that asks to be enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    /// It enters.
    Admit,
    /// It is lost.
    Drop(TailDrop),
}

/// Whether a packet that needs `need` cells may join a queue of depth `depth` while `used` cells of the
/// buffer are taken. The buffer is asked first, as ingress admission comes before the queue's
/// (model: tm §2).
pub(super) fn admission(need: Cells, used: Cells, size: Cells, depth: Cells, limit: Cells) -> Admission {
    if need > size.saturating_sub(used) {
        return Admission::Drop(TailDrop::BufferFull { used, need, size });
    }
    if need > limit.saturating_sub(depth) {
        return Admission::Drop(TailDrop::QueueTailDrop { depth, need, limit });
    }
    Admission::Admit
}

/// Cells that a packet takes: at least one, so that every queue entry is paid for.
pub(super) fn cells_of(bytes: Bytes, cell_size: Divisor) -> Cells {
    // A packet of more than 2^32 cells fits no buffer; the largest count says so to admission.
    Cells(u32::try_from(cell_size.ceil(bytes.0)).unwrap_or(u32::MAX).max(1))
}
