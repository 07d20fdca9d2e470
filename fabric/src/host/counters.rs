//! Counters of a host.

use sluice_asic::units::Duration;

/// Counters of a host, over all its transports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostCounters {
    /// Data packets sent.
    pub sent: u64,
    /// Retransmitted data packets.
    pub resent: u64,
    /// Data packets received.
    pub received: u64,
    /// Data packets that arrived before a packet with a lower number.
    pub early: u64,
    /// Data packets received with CE.
    pub marked: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// NACKs sent.
    pub nacks: u64,
    /// CNPs sent.
    pub notifications: u64,
    /// Notifications of congestion received: CNPs, BECN, ECE.
    pub notified: u64,
    /// Acknowledgements without records, of pairs whose sender needs records.
    pub unrecorded: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// TCP: fast retransmits, each the start of a fast recovery.
    pub fast_retransmits: u64,
    /// TCP: acknowledgements that report a duplicate (D-SACK): a retransmission that was not needed.
    pub spurious: u64,
    /// Data packets received whose bytes had all been received before.
    pub duplicates: u64,
    /// UDP: datagrams that are missing among those that arrived.
    pub missing: u64,
    /// Received frames of unknown kind, or for a queue pair or connection that does not exist.
    pub stray: u64,
    /// Number of pauses, over all priorities.
    pub pauses: u64,
    /// Sum of the pauses' lengths, over all priorities.
    pub paused: Duration,
}

impl std::ops::AddAssign for HostCounters {
    fn add_assign(&mut self, other: HostCounters) {
        let HostCounters { sent, resent, received, early, marked, acks, nacks, .. } = other;
        let HostCounters { notifications, notified, unrecorded, timeouts, stray, pauses, paused, .. } = other;
        let HostCounters { fast_retransmits, spurious, duplicates, missing, .. } = other;
        for (sum, more) in [
            (&mut self.sent, sent),
            (&mut self.resent, resent),
            (&mut self.received, received),
            (&mut self.early, early),
            (&mut self.marked, marked),
            (&mut self.acks, acks),
            (&mut self.nacks, nacks),
            (&mut self.notifications, notifications),
            (&mut self.notified, notified),
            (&mut self.unrecorded, unrecorded),
            (&mut self.timeouts, timeouts),
            (&mut self.fast_retransmits, fast_retransmits),
            (&mut self.spurious, spurious),
            (&mut self.duplicates, duplicates),
            (&mut self.missing, missing),
            (&mut self.stray, stray),
            (&mut self.pauses, pauses),
        ] {
            *sum += more;
        }
        self.paused += paused;
    }
}
