//! Stalled queues: queues that hold packets and are not allowed to send. They explain packets that stay
//! inside.

use super::Switch;
use sluice_asic::tm::{QueueId, TmPort};
use std::collections::{BTreeMap, BTreeSet};

/// A queue that holds packets and is not allowed to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// dev_port.
    pub dev_port: u16,
    /// Queue.
    pub queue: u8,
    /// Number of packets in the queue.
    pub packets: u64,
    /// True if PFC frames of the port's peer pause it, false if the program or an operator does.
    pub by_peer: bool,
    /// dev_ports on which its packets arrived.
    pub from: BTreeSet<u16>,
}

impl Switch<'_> {
    /// Returns the stalled queues, sorted by port and queue.
    #[must_use]
    pub fn stalled(&self) -> Vec<Stalled> {
        let mut found: BTreeMap<(u16, u8), Stalled> = BTreeMap::new();
        for (TmPort(port), QueueId(queue), packet) in self.tm.held_handles() {
            if !self.tm.is_paused(TmPort(port), QueueId(queue)) {
                continue;
            }
            let dev = |index: u16| self.ports.get(usize::from(index)).map_or(0, |p| p.dev_port);
            let stalled = found.entry((port, queue)).or_insert_with(|| Stalled {
                dev_port: dev(port),
                queue,
                packets: 0,
                by_peer: self.is_paused_by_peer(port, queue),
                from: BTreeSet::new(),
            });
            stalled.packets += 1;
            stalled.from.insert(dev(self.info_of(packet).port));
        }
        found.into_values().collect()
    }
}
