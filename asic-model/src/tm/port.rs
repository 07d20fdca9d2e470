//! The queues of one port and what decides which of them may send.

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

/// What of a port was used since it was made.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used {
    /// Anything at all.
    pub(super) any: bool,
    /// Its own settings, or those of a queue that matter to others.
    pub(super) whole: bool,
    /// Bit `i`: queue `i`. A port has at most 128.
    queues: u128,
}

impl Used {
    /// A queue is.
    #[inline]
    pub(super) fn queue(&mut self, queue: QueueId) {
        self.any = true;
        self.queues |= 1u128.checked_shl(queue.0.into()).unwrap_or(0);
    }

    /// The queues that are, in order.
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
    /// The most that the port may send.
    pub(super) max: Option<Shaper>,
    /// Queues with a guarantee; where there are none nobody looks for one.
    pub(super) guarantees: u8,
    /// What may not be as in a new port.
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

    /// Makes it what it was at first; queues that were never used stay.
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
