//! Counters of a buffer for groups, queues, pools and sides of ports, and the packets that it is offered.

use super::config::{BufferConfig, PRIORITY_GROUPS, PgConfig, PortBuffer, QueueBuffer};
use super::gauge::Gauge;
use crate::meter::Colour;
use crate::tm::{Counter, TmPort};
use crate::units::{Bytes, Cells};

/// Marks a charge that belongs to no group of copies.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// Packet that requests cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Index of the ingress port.
    pub in_port: u16,
    /// Priority group of the ingress port.
    pub pg: u8,
    /// Index of the egress port.
    pub out_port: u16,
    /// Queue of the egress port.
    pub queue: u8,
    /// Length.
    pub bytes: Bytes,
    /// Colour.
    pub colour: Colour,
    /// Group of copies that share cells; `None` for a packet that is charged by itself.
    pub copies: Option<CopyGroup>,
}

/// Copies of one packet that are charged to its priority group once (decision D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CopyGroup(pub(super) u32);

/// Charge of an admitted packet. The caller returns it with [`super::Buffer::release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Charge {
    pub(super) pg: u32,
    pub(super) queue: u32,
    pub(super) cells: u32,
    pub(super) copies: u32,
}

impl Charge {
    /// Returns the cells of the packet.
    pub const fn cells(&self) -> Cells {
        Cells(self.cells)
    }

    /// Returns the ingress port and priority group.
    pub const fn group(&self) -> (TmPort, u8) {
        let groups = PRIORITY_GROUPS as u32;
        (TmPort((self.pg / groups) as u16), (self.pg % groups) as u8)
    }
}

/// Change of a lossless group's pause: its peer must be paused or resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PfcEdge {
    /// Index of the ingress port whose peer is paused or resumed.
    pub port: u16,
    /// Priority group.
    pub pg: u8,
    /// PFC priorities of the group, as bits.
    pub priorities: u8,
    /// True: pause; false: resume.
    pub xoff: bool,
}

/// One priority group.
#[derive(Debug, Clone)]
pub struct PgState {
    pub(super) config: PgConfig,
    pub(super) port: u16,
    pub(super) index: u8,
    /// Index into the ingress pools of all partitions.
    pub(super) pool: u32,
    /// Index into the headroom pools of all partitions.
    pub(super) headroom_pool: Option<u32>,
    pub(super) reserved: u32,
    pub(super) shared: Gauge,
    pub(super) headroom: Gauge,
    pub(super) xoff: bool,
    pub(super) pauses: u64,
    pub(super) admitted: Counter,
    pub(super) dropped: Counter,
}

impl PgState {
    /// Returns the group's configuration.
    pub const fn config(&self) -> &PgConfig {
        &self.config
    }

    /// Returns the reserved cells in use.
    pub const fn reserved(&self) -> Cells {
        Cells(self.reserved)
    }

    /// Returns the shared cells in use.
    pub const fn shared(&self) -> &Gauge {
        &self.shared
    }

    /// Returns the headroom cells in use.
    pub const fn headroom(&self) -> &Gauge {
        &self.headroom
    }

    /// Returns true if the group requests a pause of its senders.
    pub const fn is_xoff(&self) -> bool {
        self.xoff
    }

    /// Returns the number of pauses that the group requested.
    pub const fn pauses(&self) -> u64 {
        self.pauses
    }

    /// Returns the packets charged to the group; copies that share cells count once.
    pub const fn admitted(&self) -> Counter {
        self.admitted
    }

    /// Returns the packets that ingress rules refused.
    pub const fn dropped(&self) -> Counter {
        self.dropped
    }

    pub(super) const fn total(&self) -> u32 {
        self.reserved + self.shared.get() + self.headroom.get()
    }
}

/// One queue.
#[derive(Debug, Clone)]
pub struct QueueState {
    pub(super) config: QueueBuffer,
    pub(super) port: u16,
    pub(super) index: u8,
    pub(super) pool: u32,
    pub(super) reserved: u32,
    pub(super) shared: Gauge,
    pub(super) dropped: Counter,
}

impl QueueState {
    /// Returns the queue's configuration.
    pub const fn config(&self) -> &QueueBuffer {
        &self.config
    }

    /// Returns the reserved cells in use.
    pub const fn reserved(&self) -> Cells {
        Cells(self.reserved)
    }

    /// Returns the shared cells in use.
    pub const fn shared(&self) -> &Gauge {
        &self.shared
    }

    /// Returns the packets that egress rules refused.
    pub const fn dropped(&self) -> Counter {
        self.dropped
    }
}

/// Counter over the memory, with its limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pool {
    pub(super) used: Gauge,
    pub(super) limit: u32,
}

impl Pool {
    pub(super) fn new(limit: Cells) -> Self {
        Self { used: Gauge::default(), limit: limit.0 }
    }

    #[inline]
    pub(super) const fn free(&self) -> u32 {
        self.limit.saturating_sub(self.used.get())
    }
}

/// One direction of a port.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub(super) used: Gauge,
    pub(super) limit: u32,
}

/// State that the copies of one packet share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies {
    /// Copies that have not been released or refused.
    pub(super) left: u32,
    /// The cells charged to the priority group; 0 before the first copy is admitted.
    pub(super) cells: u32,
    /// Index of the group that the first copy was charged to; all cells are charged to this group.
    pub(super) pg: u32,
}

/// Cells of a packet by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    pub(super) reserved: u32,
    pub(super) shared: u32,
    pub(super) headroom: u32,
    /// True if this packet pauses the group, even if it is refused.
    pub(super) xoff: bool,
}

/// Returns `n` eighths of a limit.
pub(super) const fn eighths(limit: u32, n: u8) -> u32 {
    if n >= 8 { limit } else { (limit as u64 * n as u64 / 8) as u32 }
}

/// Returns the groups of a port, empty.
pub(super) fn pg_states(config: &BufferConfig, port: u16, of: &PortBuffer) -> Vec<Option<PgState>> {
    let base = |pools: usize| u32::from(of.partition) * pools as u32;
    let state = |(index, pg): (u8, &Option<PgConfig>)| {
        let pg = (*pg)?;
        let headroom = pg.lossless.and_then(|l| l.headroom_pool);
        Some(PgState {
            config: pg,
            port,
            index,
            pool: base(config.ingress_pools.len()) + u32::from(pg.pool),
            headroom_pool: headroom.map(|p| base(config.headroom_pools.len()) + u32::from(p)),
            reserved: 0,
            shared: Gauge::default(),
            headroom: Gauge::default(),
            xoff: false,
            pauses: 0,
            admitted: Counter::default(),
            dropped: Counter::default(),
        })
    };
    (0u8..).zip(&of.groups).map(state).collect()
}

/// Returns the queues of a port, empty.
pub(super) fn queue_states(config: &BufferConfig, port: u16, of: &PortBuffer) -> Vec<QueueState> {
    let base = u32::from(of.partition) * config.egress_pools.len() as u32;
    let state = |(index, queue): (u8, &QueueBuffer)| QueueState {
        config: *queue,
        port,
        index,
        pool: base + u32::from(queue.pool),
        reserved: 0,
        shared: Gauge::default(),
        dropped: Counter::default(),
    };
    (0u8..).zip(&of.queues).map(state).collect()
}
