//! Counters and depths of queues and ports.

use crate::units::{Bytes, Cells};

use super::TailDrop;

/// Number of packets and of their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counter {
    /// Packets.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: Bytes,
}

impl Counter {
    /// Counts a packet.
    #[inline]
    pub fn count(&mut self, bytes: Bytes) {
        self.packets += 1;
        self.bytes += bytes;
    }
}

/// Counters and watermark of one queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueStats {
    /// Packets that entered.
    pub enqueued: Counter,
    /// Packets that left.
    pub dequeued: Counter,
    /// Packets dropped at the queue's own limit.
    pub tail_dropped: Counter,
    /// Packets dropped because the buffer was full or another rule of the shared buffer refused them.
    pub buffer_dropped: Counter,
    /// Largest depth in cells since the last reset.
    pub max_cells: Cells,
}

impl QueueStats {
    /// Returns the sum of all drops.
    pub fn dropped(&self) -> Counter {
        Counter {
            packets: self.tail_dropped.packets + self.buffer_dropped.packets,
            bytes: self.tail_dropped.bytes + self.buffer_dropped.bytes,
        }
    }

    pub(super) fn count_drop(&mut self, reason: &TailDrop, bytes: Bytes) {
        match reason {
            TailDrop::QueueTailDrop { .. } => self.tail_dropped.count(bytes),
            TailDrop::BufferFull { .. } | TailDrop::Refused(_) => self.buffer_dropped.count(bytes),
            // This drop names no queue, so no queue can count it.
            TailDrop::NoSuchQueue { .. } => {}
        }
    }
}

/// Packets that wait on one port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortBacklog {
    /// Packets in all queues of the port.
    pub packets: u64,
    /// Bytes of those packets.
    pub bytes: Bytes,
    /// Cells of those packets.
    pub cells: Cells,
}

impl PortBacklog {
    pub(super) fn add(&mut self, bytes: Bytes, cells: Cells) {
        self.packets += 1;
        self.bytes += bytes;
        self.cells += cells;
    }

    pub(super) fn remove(&mut self, bytes: Bytes, cells: Cells) {
        self.packets = self.packets.saturating_sub(1);
        self.bytes = self.bytes - bytes;
        self.cells = self.cells - cells;
    }
}
