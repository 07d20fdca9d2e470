//! Memory of a table's entries: ageing, and memories other than the ones that the keys imply.

use super::Field;
use sluice_asic::units::Duration;

/// Mode of ageing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdleMode {
    /// The control plane is notified once when an entry reaches its time to live.
    Notify,
    /// The control plane polls the time that an entry has been idle.
    Poll,
}

/// Ageing of a table's entries. Each entry has a few bits of map RAM. A hit clears them; a sweep, at every
/// multiple of `interval` of the run, counts them up to their highest value (model: chip §1.2, idletime).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleTimeout {
    /// Mode: notify or poll.
    pub mode: IdleMode,
    /// Bits per entry: 1, 2, 3 or 6.
    pub bits: u8,
    /// Time between sweeps.
    pub interval: Duration,
    /// Default time to live of entries; zero: never expires. Ignored in poll mode.
    pub ttl: Duration,
}

impl IdleTimeout {
    /// Numbers of bits that an entry can have.
    pub const BITS: [u8; 4] = [1, 2, 3, 6];

    /// Notifies after `ttl` without a hit, checked by sweeps at every `interval`; uses the fewest bits that
    /// can count it.
    #[must_use]
    pub fn notify(ttl: Duration, interval: Duration) -> IdleTimeout {
        let idle = IdleTimeout { mode: IdleMode::Notify, bits: 6, interval, ttl };
        let fits = |bits: &u8| idle.sweeps(ttl) < 1 << bits;
        IdleTimeout { bits: Self::BITS.into_iter().find(fits).unwrap_or(6), ..idle }
    }

    /// Gives every entry a hit bit, which every sweep clears and the control plane reads.
    #[must_use]
    pub const fn poll(interval: Duration) -> IdleTimeout {
        IdleTimeout { mode: IdleMode::Poll, bits: 1, interval, ttl: Duration::ZERO }
    }

    /// Returns the largest number of sweeps that the bits count.
    #[must_use]
    pub const fn most(self) -> u8 {
        if self.bits > 7 { u8::MAX } else { (1 << self.bits) - 1 }
    }

    /// Returns the number of sweeps of a time to live, rounded up; 0: never expires. The last sweep comes up
    /// to one interval before the end of the time to live, because the hit was within the first interval.
    #[must_use]
    pub const fn sweeps(self, ttl: Duration) -> u64 {
        let interval = self.interval.as_ps();
        if interval == 0 { 0 } else { ttl.as_ps().div_ceil(interval) }
    }
}

/// A match memory in SRAM for keys that imply TCAM (model: chip §3.3). It does not change what a table
/// matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithmic {
    /// Algorithmic longest prefix match: a TCAM selects the partition of the prefix, and SRAM holds the
    /// partition.
    Alpm {
        /// Number of partitions: 1024, 2048, 4096 or 8192.
        partitions: u32,
        /// TCAM entries per partition.
        subtrees: u32,
    },
    /// Algorithmic TCAM: an exact key of the table selects the partition.
    Atcam {
        /// The exact key that selects the partition.
        partition: Field,
        /// Number of partitions; entries have values of `partition` below it.
        partitions: u32,
    },
}
