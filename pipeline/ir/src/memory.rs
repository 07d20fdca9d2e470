//! How a table keeps its entries: ageing, and memories other than the ones that its keys call for.

use super::Field;
use sluice_asic::units::Duration;

/// What becomes of an entry that no packet hits for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdleMode {
    /// The control plane is told once when an entry reaches its time to live.
    Notify,
    /// The control plane asks how long an entry has been idle.
    Poll,
}

/// Ageing of a table's entries: each has a few bits of map RAM that a hit clears and that a sweep, at every multiple of
/// `interval` of the run, counts up to their highest value (model: chip §1.2, idletime).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimeout {
    /// Who asks.
    pub mode: IdleMode,
    /// Bits per entry: 1, 2, 3 or 6.
    pub bits: u8,
    /// Time between sweeps.
    pub interval: Duration,
    /// Time to live of entries that have none of their own; zero for ever. Of no meaning when polled.
    pub ttl: Duration,
}

impl IdleTimeout {
    /// The numbers of bits that an entry can have.
    pub const BITS: [u8; 4] = [1, 2, 3, 6];

    /// Notification after `ttl` without a hit, found by sweeps at every `interval`; as few bits as that takes.
    #[must_use]
    pub fn notify(ttl: Duration, interval: Duration) -> IdleTimeout {
        let idle = IdleTimeout { mode: IdleMode::Notify, bits: 6, interval, ttl };
        let fits = |bits: &u8| idle.sweeps(ttl) < 1 << bits;
        IdleTimeout { bits: Self::BITS.into_iter().find(fits).unwrap_or(6), ..idle }
    }

    /// A hit bit per entry that every sweep clears, for the control plane to look at.
    #[must_use]
    pub const fn poll(interval: Duration) -> IdleTimeout {
        IdleTimeout { mode: IdleMode::Poll, bits: 1, interval, ttl: Duration::ZERO }
    }

    /// The most sweeps that the bits count.
    #[must_use]
    pub const fn most(self) -> u8 {
        if self.bits > 7 { u8::MAX } else { (1 << self.bits) - 1 }
    }

    /// Sweeps without a hit that make up a time to live, rounded up; 0 for ever. The last of them comes up to one
    /// interval earlier than the time to live after the hit, which was in the midst of the first interval.
    #[must_use]
    pub const fn sweeps(self, ttl: Duration) -> u64 {
        let interval = self.interval.as_ps();
        if interval == 0 { 0 } else { ttl.as_ps().div_ceil(interval) }
    }
}

/// A match memory in SRAM where the keys would call for TCAM (model: chip §3.3). What a table matches does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithmic {
    /// Algorithmic longest prefix match: a TCAM finds the partition of the prefix, SRAM holds the partition.
    Alpm {
        /// Partitions: 1024, 2048, 4096 or 8192.
        partitions: u32,
        /// Entries of the TCAM per partition.
        subtrees: u32,
    },
    /// Algorithmic TCAM: an exact key of the table is the partition.
    Atcam {
        /// The exact key that is the partition.
        partition: Field,
        /// Partitions: the values of `partition` that entries may have, from 0.
        partitions: u32,
    },
}
