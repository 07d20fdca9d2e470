//! Read access to a buffer: current values and watermarks of all its counters.

use super::accounting::Buffer;
use super::config::{BufferConfig, PRIORITY_GROUPS, PoolConfig};
use super::gauge::Gauge;
use super::state::{PgState, Pool, QueueState};
use super::threshold::Threshold;
use crate::units::Cells;

/// Use of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolKind {
    /// Shared cells of priority groups.
    Ingress,
    /// Shared cells of queues.
    Egress,
    /// Headroom of lossless groups.
    Headroom,
}

/// One partition of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolView<'a> {
    /// Use of the pool.
    pub kind: PoolKind,
    /// Name.
    pub name: &'a str,
    /// The partition.
    pub partition: u16,
    /// Size.
    pub size: Cells,
    /// Cells in use.
    pub used: Gauge,
}

/// Returns reserved cells and threshold together, while `free` cells of the pool are free; `None` without a threshold.
fn limit(threshold: Threshold, reserved: Cells, free: u32) -> Option<Cells> {
    (threshold != Threshold::Unlimited).then(|| Cells(threshold.at(free).saturating_add(reserved.0)))
}

impl Buffer {
    /// Returns a priority group, if it is configured.
    pub fn group(&self, port: u16, pg: u8) -> Option<&PgState> {
        let pg = Some(usize::from(pg)).filter(|pg| *pg < PRIORITY_GROUPS)?;
        self.groups.get(usize::from(port) * PRIORITY_GROUPS + pg)?.as_ref()
    }

    /// Returns a queue, if it exists.
    pub fn queue(&self, port: u16, queue: u8) -> Option<&QueueState> {
        self.queues.get(self.queue_index(port, queue)?)
    }

    /// Returns the cells, reserved ones included, at which a group takes no more packets, or pauses its senders if it is
    /// lossless, with the present use of its pool; `None` if the group is not configured or has no limit.
    pub fn group_limit(&self, port: u16, pg: u8) -> Option<Cells> {
        let group = self.group(port, pg)?;
        let free = self.ingress_pools.get(group.pool as usize)?.free();
        limit(group.config().threshold, group.config().reserved, free)
    }

    /// Returns the cells, reserved ones included, at which a queue takes no more green packets, with the present use of its
    /// pool; `None` if there is no such queue, or it has no limit.
    pub fn queue_limit(&self, port: u16, queue: u8) -> Option<Cells> {
        let queue = self.queue(port, queue).filter(|queue| !queue.config().lossless)?;
        let free = self.egress_pools.get(queue.pool as usize)?.free();
        limit(queue.config().threshold, queue.config().reserved, free)
    }

    /// Returns the size of the whole memory.
    pub const fn size(&self) -> Cells {
        Cells(self.total.limit)
    }

    /// Returns every configured group: port, group, state.
    pub fn all_groups(&self) -> impl Iterator<Item = (u16, u8, &PgState)> {
        self.groups.iter().flatten().map(|pg| (pg.port, pg.index, pg))
    }

    /// Returns every queue: port, queue, state.
    pub fn all_queues(&self) -> impl Iterator<Item = (u16, u8, &QueueState)> {
        self.queues.iter().map(|queue| (queue.port, queue.index, queue))
    }

    /// Returns every partition of every pool; `config` must be the buffer's own.
    pub fn pools<'a>(&'a self, config: &'a BufferConfig) -> impl Iterator<Item = PoolView<'a>> {
        let views = |kind, list: &'a [PoolConfig], pools: &'a [Pool]| {
            pools.iter().enumerate().filter_map(move |(i, pool)| {
                let (n, own) = (list.len(), list.get(i % list.len().max(1))?);
                let partition = (i / n) as u16;
                Some(PoolView { kind, name: &own.name, partition, size: Cells(pool.limit), used: pool.used })
            })
        };
        views(PoolKind::Ingress, &config.ingress_pools, &self.ingress_pools)
            .chain(views(PoolKind::Egress, &config.egress_pools, &self.egress_pools))
            .chain(views(PoolKind::Headroom, &config.headroom_pools, &self.headroom_pools))
    }

    /// Returns all cells in use.
    pub const fn total(&self) -> &Gauge {
        &self.total.used
    }

    /// Returns the cells of packets that arrived on a port, and of packets that wait to be sent on it.
    pub fn port(&self, port: u16) -> Option<[Gauge; 2]> {
        self.ports.get(usize::from(port)).map(|sides| sides.map(|side| side.used))
    }

    /// Returns the cells of a queue in use, including reserved ones.
    pub fn depth(&self, port: u16, queue: u8) -> Cells {
        self.queue(port, queue).map_or(Cells::ZERO, |q| Cells(q.reserved + q.shared.get()))
    }
}
