//! What a buffer shows: current values and watermarks of everything that it counts.

use super::accounting::Buffer;
use super::config::{BufferConfig, PRIORITY_GROUPS, PoolConfig};
use super::gauge::Gauge;
use super::state::{PgState, Pool, QueueState};
use crate::units::Cells;

/// What a pool is for.
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
    /// What it is for.
    pub kind: PoolKind,
    /// Its name.
    pub name: &'a str,
    /// The partition.
    pub partition: u16,
    /// Its size.
    pub size: Cells,
    /// What is in use.
    pub used: Gauge,
}

impl Buffer {
    /// A priority group, if it is configured.
    pub fn group(&self, port: u16, pg: u8) -> Option<&PgState> {
        let pg = Some(usize::from(pg)).filter(|pg| *pg < PRIORITY_GROUPS)?;
        self.groups.get(usize::from(port) * PRIORITY_GROUPS + pg)?.as_ref()
    }

    /// A queue, if it exists.
    pub fn queue(&self, port: u16, queue: u8) -> Option<&QueueState> {
        self.queues.get(self.queue_index(port, queue)?)
    }

    /// Every configured group: port, group, state.
    pub fn all_groups(&self) -> impl Iterator<Item = (u16, u8, &PgState)> {
        self.groups.iter().flatten().map(|pg| (pg.port, pg.index, pg))
    }

    /// Every queue: port, queue, state.
    pub fn all_queues(&self) -> impl Iterator<Item = (u16, u8, &QueueState)> {
        self.queues.iter().map(|queue| (queue.port, queue.index, queue))
    }

    /// Every pool of every partition; `config` is the buffer's own.
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

    /// All cells in use.
    pub const fn total(&self) -> &Gauge {
        &self.total.used
    }

    /// Cells of packets that came in by a port, and of those that wait to leave by it.
    pub fn port(&self, port: u16) -> Option<[Gauge; 2]> {
        self.ports.get(usize::from(port)).map(|sides| sides.map(|side| side.used))
    }

    /// Cells of a queue in use, reserved ones included.
    pub fn depth(&self, port: u16, queue: u8) -> Cells {
        self.queue(port, queue).map_or(Cells::ZERO, |q| Cells(q.reserved + q.shared.get()))
    }
}
