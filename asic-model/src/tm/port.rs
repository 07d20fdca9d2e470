//! The queues of one port, and the conditions under which a queue may send.

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
    /// Shaper of the maximum rate.
    pub(super) max: Option<Shaper>,
    /// Shaper of the guaranteed rate, with its priority.
    pub(super) min: Option<(Shaper, u8)>,
}

impl Queue {
    fn new(config: &QueueConfig) -> Self {
        Self {
            fifo: Fifo::new(),
            limit: config.limit_cells,
            config: *config,
            stats: QueueStats::default(),
            hold: Hold::default(),
            max: None,
            min: None,
        }
    }

    /// Returns the length of the packet at the head, if the queue may send it at `now`.
    #[inline]
    pub(super) fn sendable<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<Bytes> {
        if !self.hold.open() || self.max.as_ref().is_some_and(|max| !max.is_open(now)) {
            return None;
        }
        self.fifo.head(slab).map(|packet| packet.bytes)
    }

    /// Returns the length of the packet at the head, if the queue may send it within a guarantee of this priority.
    pub(super) fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<u8> {
        let (bucket, priority) = self.min.as_ref()?;
        (bucket.is_open(now) && self.sendable(slab, now).is_some()).then_some(*priority)
    }
}

/// Parts of a port that were used since it was created.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    /// True if any part was used.
    pub(super) any: bool,
    /// True if the port's settings, or those of a queue that other queues depend on, were used.
    pub(super) whole: bool,
    /// Bit `i`: queue `i` was used. A port has at most 128 queues.
    queues: u128,
}

impl Used {
    /// Marks a queue as used.
    #[inline]
    pub(super) fn queue(&mut self, queue: QueueId) {
        self.any = true;
        self.queues |= 1u128.checked_shl(queue.0.into()).unwrap_or(0);
    }

    /// Returns the used queues, in order.
    pub(super) fn ids(self) -> impl Iterator<Item = usize> {
        let mut left = self.queues;
        std::iter::from_fn(move || {
            let id = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(id)
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct Port {
    pub(super) queues: Box<[Queue]>,
    pub(super) scheduler: Scheduler,
    pub(super) backlog: PortBacklog,
    pub(super) max_cells: Cells,
    /// Shaper of the port's maximum rate.
    pub(super) max: Option<Shaper>,
    /// Number of queues with a guarantee; with 0, the search for one is skipped.
    pub(super) guarantees: u8,
    /// Parts that may differ from a new port.
    pub(super) used: Used,
}

impl Port {
    pub(super) fn new(config: &PortQueues, dwrr_quantum: Bytes) -> Self {
        Self {
            queues: config.queues.iter().map(Queue::new).collect(),
            scheduler: Scheduler::new(&config.queues, dwrr_quantum),
            backlog: PortBacklog::default(),
            max_cells: Cells::ZERO,
            max: None,
            guarantees: 0,
            used: Used::default(),
        }
    }

    /// Returns true if a packet that is offered to this queue may leave at once, as far as the port and its queues say.
    #[inline]
    pub(super) fn passes(&self, queue: QueueId) -> bool {
        let open = |queue: &Queue| queue.max.is_none() && queue.hold.open();
        self.backlog.packets == 0
            && self.max.is_none()
            && self.guarantees == 0
            && self.queues.get(usize::from(queue.0)).is_some_and(open)
    }

    /// Counts a packet that enters and leaves an empty queue of an empty port at one time.
    #[inline]
    pub(super) fn pass(&mut self, queue: QueueId, bytes: Bytes, cells: Cells) {
        self.used.queue(queue);
        self.max_cells = self.max_cells.max(cells);
        self.scheduler.passed(queue);
        if let Some(Queue { stats, hold, .. }) = self.queues.get_mut(usize::from(queue.0)) {
            stats.enqueued.count(bytes);
            stats.max_cells = stats.max_cells.max(cells);
            stats.dequeued.count(bytes);
            hold.spend(cells);
        }
    }

    /// Restores the initial state. Queues that were never used are kept as they are.
    pub(super) fn clear(&mut self, config: &PortQueues, dwrr_quantum: Bytes) {
        if self.used.whole {
            *self = Self::new(config, dwrr_quantum);
            return;
        }
        for id in self.used.ids() {
            if let (Some(queue), Some(config)) = (self.queues.get_mut(id), config.queues.get(id)) {
                *queue = Queue::new(config);
            }
        }
        self.scheduler.clear();
        (self.backlog, self.max_cells, self.used) = (PortBacklog::default(), Cells::ZERO, Used::default());
    }

    /// Returns the queue to serve within its guarantee: the one of highest priority, then of lowest queue id.
    pub(super) fn guaranteed<H: Copy>(&self, slab: &Slab<H>, now: Time) -> Option<QueueId> {
        if self.guarantees == 0 {
            return None;
        }
        let queues = (0u8..).zip(&self.queues);
        let open = queues.filter_map(|(id, queue)| queue.guaranteed(slab, now).map(|p| (p, QueueId(id))));
        open.max_by_key(|(priority, id)| (*priority, std::cmp::Reverse(*id))).map(|(_, id)| id)
    }
}
