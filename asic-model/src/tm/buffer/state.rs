//! What a buffer counts: groups, queues, pools, sides of ports; and what goes in and comes out of it.
//!
//! Data.

use super::config::{PRIORITY_GROUPS, PgConfig, QueueBuffer};
use super::gauge::Gauge;
use crate::meter::Colour;
use crate::tm::{Counter, TmPort};
use crate::units::{Bytes, Cells};

/// Stands for no group of copies.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// A packet that asks for cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Index of the port that it came in by.
    pub in_port: u16,
    /// Its priority group there.
    pub pg: u8,
    /// Index of the port that it leaves by.
    pub out_port: u16,
    /// Its queue there.
    pub queue: u8,
    /// Its length.
    pub bytes: Bytes,
    /// Its colour.
    pub colour: Colour,
    /// Set for one of several copies that share cells.
    pub copies: Option<CopyGroup>,
}

/// Copies of one packet that are charged to its priority group once (decision D17).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CopyGroup(pub(super) u32);

/// What an admitted packet was charged to; give it back with [`super::Buffer::release`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Charge {
    pub(super) pg: u32,
    pub(super) queue: u32,
    pub(super) cells: u32,
    pub(super) copies: u32,
}

impl Charge {
    /// Cells of the packet.
    pub const fn cells(&self) -> Cells {
        Cells(self.cells)
    }

    /// Its ingress port and priority group.
    pub const fn group(&self) -> (TmPort, u8) {
        let groups = PRIORITY_GROUPS as u32;
        (TmPort((self.pg / groups) as u16), (self.pg % groups) as u8)
    }
}

/// A lossless group begins or ends to need a pause of its senders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PfcEdge {
    /// Index of the port whose peer is meant.
    pub port: u16,
    /// The group.
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
    /// Its configuration.
    pub const fn config(&self) -> &PgConfig {
        &self.config
    }

    /// Reserved cells in use.
    pub const fn reserved(&self) -> Cells {
        Cells(self.reserved)
    }

    /// Shared cells in use.
    pub const fn shared(&self) -> &Gauge {
        &self.shared
    }

    /// Headroom cells in use.
    pub const fn headroom(&self) -> &Gauge {
        &self.headroom
    }

    /// Whether it wants its senders paused.
    pub const fn is_xoff(&self) -> bool {
        self.xoff
    }

    /// Times that it began to.
    pub const fn pauses(&self) -> u64 {
        self.pauses
    }

    /// Packets charged to it, copies that share cells once.
    pub const fn admitted(&self) -> Counter {
        self.admitted
    }

    /// Packets refused by ingress rules.
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
    /// Its configuration.
    pub const fn config(&self) -> &QueueBuffer {
        &self.config
    }

    /// Reserved cells in use.
    pub const fn reserved(&self) -> Cells {
        Cells(self.reserved)
    }

    /// Shared cells in use.
    pub const fn shared(&self) -> &Gauge {
        &self.shared
    }

    /// Packets refused by egress rules.
    pub const fn dropped(&self) -> Counter {
        self.dropped
    }
}

/// A counter over the memory with its limit.
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

/// What copies of one packet share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copies {
    /// Copies that have not been released or refused.
    pub(super) left: u32,
    /// The cells charged to the priority group; 0 before the first copy is admitted.
    pub(super) cells: u32,
    /// Index of the group that the first copy was charged to: it pays for all.
    pub(super) pg: u32,
}

/// Cells of a packet by kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Plan {
    pub(super) reserved: u32,
    pub(super) shared: u32,
    pub(super) headroom: u32,
    /// The group is paused by this packet, whatever becomes of it.
    pub(super) xoff: bool,
}
