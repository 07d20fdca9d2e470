//! The queues of one port and what decides which of them may send.
//!
//! What may not live here: admission, counting over all ports.

use super::config::{PortQueues, QueueConfig};
use super::hold::Hold;
use super::offer::QueueId;
use super::queue::{Fifo, Slab};
use super::scheduler::Scheduler;
use super::shaper::Shaper;
use super::stats::{PortBacklog, QueueStats};
use crate::units::{Bytes, Cells, Time};

#[derive(Debug, Clone)]
pub(super) struct Queue {
    pub(super) fifo: Fifo,
    pub(super) limit: Cells,
    pub(super) config: QueueConfig,
    pub(super) stats: QueueStats,
    pub(super) hold: Hold,
    /// The most that it may send.
    pub(super) max: Option<Shaper>,
    /// The least that it gets, with its priority.
    pub(super) min: Option<(Shaper, u8)>,
}

impl Queue {
    /// The length of the packet at the head, if the queue may send it now.
    #[inline]
    pub(super) fn sendable<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<Bytes> {
        if !self.hold.open() || self.max.as_ref().is_some_and(|max| !max.is_open(now)) {
            return None;
        }
        self.fifo.head(slab).map(|packet| packet.bytes)
    }

    /// As [`sendable`](Self::sendable), and what it sends is within its guarantee of this priority.
    pub(super) fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<u8> {
        let (bucket, priority) = self.min.as_ref()?;
        (bucket.is_open(now) && self.sendable(slab, now).is_some()).then_some(*priority)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Port {
    pub(super) queues: Box<[Queue]>,
    pub(super) scheduler: Scheduler,
    pub(super) backlog: PortBacklog,
    pub(super) max_cells: Cells,
    /// The most that the port may send.
    pub(super) max: Option<Shaper>,
    /// Queues with a guarantee; where there are none nobody looks for one.
    pub(super) guarantees: u8,
    /// Something may not be as in a new port.
    pub(super) used: bool,
}

impl Port {
    pub(super) fn new(config: &PortQueues, dwrr_quantum: Bytes) -> Self {
        let queue = |queue: &QueueConfig| Queue {
            fifo: Fifo::new(),
            limit: queue.limit_cells,
            config: *queue,
            stats: QueueStats::default(),
            hold: Hold::default(),
            max: None,
            min: None,
        };
        Self {
            queues: config.queues.iter().map(queue).collect(),
            scheduler: Scheduler::new(&config.queues, dwrr_quantum),
            backlog: PortBacklog::default(),
            max_cells: Cells::ZERO,
            max: None,
            guarantees: 0,
            used: false,
        }
    }

    /// The queue within its guarantee that goes first: the highest priority, then the lowest queue id.
    pub(super) fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<QueueId> {
        if self.guarantees == 0 {
            return None;
        }
        let queues = (0u8..).zip(&self.queues);
        let open = queues.filter_map(|(id, queue)| queue.guaranteed(slab, now).map(|p| (p, QueueId(id))));
        open.max_by_key(|(priority, id)| (*priority, std::cmp::Reverse(*id))).map(|(_, id)| id)
    }
}
