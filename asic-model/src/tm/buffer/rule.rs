//! Rules that can refuse a packet, with their explanations.

use std::fmt;

/// Rule that refused a packet. Ingress checks the rules in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The whole memory is full.
    BufferFull,
    /// The packet's priority group has no profile.
    PgMissing,
    /// The egress port has no such queue.
    NoSuchQueue,
    /// Limit of the cells of packets that arrived on a port.
    IngressPort,
    /// Private headroom of a lossless group.
    PgHeadroom,
    /// Headroom pool that groups share.
    HeadroomPool,
    /// Threshold of a lossy group.
    PgShared,
    /// Ingress pool, for lossy packets.
    IngressPool,
    /// Limit of the cells of packets that wait to be sent on a port.
    EgressPort,
    /// Threshold of a lossy queue.
    QueueShared,
    /// Threshold of a lossy queue for the packet's colour.
    QueueColour,
    /// Egress pool, for lossy packets.
    EgressPool,
    /// WRED: the queue was above Kmin and the packet cannot be marked.
    Wred,
    /// The PFC watchdog drops the queue's packets.
    Watchdog,
    /// The queue sent no packet for the profile's `stuck_queue_timeout`.
    StuckQueue,
}

impl Rule {
    /// Every rule with its name, its meaning, and a remedy.
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
            "the program chose a queue that the egress port does not have",
            "keep qid below the number of queues of the port",
        ),
        (
            Self::IngressPort,
            "ingress_port_limit",
            "packets that arrived on the port hold as many cells as the port's ingress_limit allows",
            "raise the port's ingress_limit",
        ),
        (
            Self::PgHeadroom,
            "pg_headroom",
            "the lossless group was paused and its own headroom was used up before the sender stopped",
            "raise the group's xoff to the value that `sluice explain headroom` shows for speed and cable",
        ),
        (
            Self::HeadroomPool,
            "headroom_pool",
            "the lossless group was paused and the headroom pool, which groups share, was used up, perhaps by other groups",
            "raise the pool's xoff, or lower its oversubscription",
        ),
        (
            Self::PgShared,
            "pg_shared",
            "the lossy group was at its threshold",
            "raise the group's alpha or BAF, or give it a fixed limit (static_th)",
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
            "packets that wait to be sent on the port hold as many cells as the port's egress_limit allows",
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
            "the queue was above Kmin, and WRED dropped the packet because it is not-ECT and cannot be marked",
            "raise Kmin, or enable ECN on the senders",
        ),
        (
            Self::Watchdog,
            "pfc_watchdog",
            "the peer paused the queue for so long that the PFC watchdog drops its packets",
            "find out why the peer does not accept packets",
        ),
        (
            Self::StuckQueue,
            "stuck_queue",
            "the queue held packets and sent none for as long as the profile's stuck_queue_timeout",
            "find out why the queue cannot send, or raise stuck_queue_timeout",
        ),
    ];

    /// Returns the name as counted and printed.
    pub const fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// Returns true if the rule belongs to the queue's side and not to the priority group's.
    pub const fn is_egress(self) -> bool {
        self as usize >= Self::EgressPort as usize
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Refusal of a packet: the rule, with its numbers in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {used} of {limit} cells in use; {need} more do not fit")]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// Cells in use that the rule counts.
    pub used: u32,
    /// Cells that the packet needs.
    pub need: u32,
    /// Limit at that moment.
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
