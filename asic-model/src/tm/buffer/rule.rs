//! The rules by which a packet can be refused, declared once.

use std::fmt;

/// The rule that refused a packet. At ingress they are asked first, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The whole memory.
    BufferFull,
    /// The priority group does not exist.
    PgMissing,
    /// The port has no such queue.
    NoSuchQueue,
    /// Limit of cells that came in by a port.
    IngressPort,
    /// A lossless group's own headroom.
    PgHeadroom,
    /// The headroom that groups share.
    HeadroomPool,
    /// A lossy group's threshold.
    PgShared,
    /// The ingress pool, for lossy packets.
    IngressPool,
    /// Limit of cells that wait to leave by a port.
    EgressPort,
    /// A lossy queue's threshold.
    QueueShared,
    /// A lossy queue's threshold for the packet's colour.
    QueueColour,
    /// The egress pool, for lossy packets.
    EgressPool,
    /// WRED: the queue was long, and the packet cannot be marked.
    Wred,
    /// The watchdog holds the queue.
    Watchdog,
    /// The queue sent nothing for the profile's `stuck_queue_timeout`.
    StuckQueue,
}

impl Rule {
    /// Every rule with its name, what it means and what to try.
    pub const TABLE: [(Self, &'static str, &'static str, &'static str); 15] = [
        (
            Self::BufferFull,
            "buffer_full",
            "all cells of the packet buffer were in use",
            "lower the pool sizes",
        ),
        (
            Self::PgMissing,
            "pg_missing",
            "the packet's priority group has no buffer profile",
            "give the group a profile, or map its traffic class to another group",
        ),
        (
            Self::NoSuchQueue,
            "no_such_queue",
            "the program chose a queue that the port does not have",
            "keep qid below the number of queues of the port",
        ),
        (
            Self::IngressPort,
            "ingress_port_limit",
            "packets that came in by the port hold as many cells as they may",
            "raise the port's ingress_limit",
        ),
        (
            Self::PgHeadroom,
            "pg_headroom",
            "the lossless group was paused and its own headroom was used up before the sender stopped",
            "raise the group's xoff to what `sluice explain headroom` shows for speed and cable",
        ),
        (
            Self::HeadroomPool,
            "headroom_pool",
            "the lossless group was paused and the headroom that all groups share was used up, perhaps by others",
            "raise the pool's xoff, or lower its oversubscription",
        ),
        (
            Self::PgShared,
            "pg_shared",
            "the lossy group was at its threshold",
            "raise the group's share, or let its limit be static",
        ),
        (
            Self::IngressPool,
            "ingress_pool",
            "the ingress pool had no cell left for a lossy packet",
            "make the egress pool smaller, so that lossy packets are refused there",
        ),
        (
            Self::EgressPort,
            "egress_port_limit",
            "packets that wait for the port hold as many cells as they may",
            "raise the port's egress_limit",
        ),
        (
            Self::QueueShared,
            "queue_shared",
            "the lossy queue was at its threshold",
            "raise the queue's share, or send less to that port",
        ),
        (
            Self::QueueColour,
            "queue_colour",
            "the lossy queue was at its threshold for packets of this colour",
            "raise the queue's yellow_eighths or red_eighths",
        ),
        (
            Self::EgressPool,
            "egress_pool",
            "the egress pool had no cell left for a lossy packet",
            "raise the pool's size, or lower its queues' shares",
        ),
        (
            Self::Wred,
            "wred",
            "the queue was long and the packet, which does not understand ECN, was chosen to go",
            "raise Kmin, or have senders use ECN",
        ),
        (
            Self::Watchdog,
            "pfc_watchdog",
            "the queue's peer paused it for so long that the watchdog drops its packets",
            "look for what keeps the peer from receiving",
        ),
        (
            Self::StuckQueue,
            "stuck_queue",
            "the queue held packets and sent none for as long as the profile's stuck_queue_timeout",
            "look for what blocks the port, or raise stuck_queue_timeout",
        ),
    ];

    /// Name as counted and printed.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Whether the queue's side refused, not the priority group's.
    pub const fn is_egress(self) -> bool {
        self as usize >= Self::EgressPort as usize
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A refusal: the rule, with its numbers in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {used} of {limit} cells in use; {need} more do not fit")]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// Cells in use where it looks.
    pub used: u32,
    /// Cells that the packet needs there.
    pub need: u32,
    /// Its limit at that moment.
    pub limit: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_own_index() {
        for (i, (rule, name, ..)) in Rule::TABLE.iter().enumerate() {
            assert_eq!((*rule as usize, rule.name()), (i, *name));
        }
        assert!(Rule::EgressPort.is_egress() && !Rule::IngressPool.is_egress());
    }
}
