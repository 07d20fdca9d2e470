//! Entry into a pipe: one PHV per clock and gress, and the FIFO in which the packets of a port wait.
//!
//! The module arbitrates one gress of one pipe. Packets are served in the order of their arrival; simultaneous packets
//! are served in the order of the calls, which the event order fixes.

use crate::clock::Clock;
use crate::units::{Cycles, Time};

/// Slot of a packet in a gress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The cycle in which the PHV enters.
    pub cycle: Cycles,
    /// Cycles spent waiting: the entry cycle less the first edge at or after the arrival.
    pub waited: Cycles,
}

/// Reason for which a packet gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The port's parser FIFO is full: drop reason `ingress_overrun`.
    #[error("port {port}: its parser FIFO of {depth} packets is full")]
    Overrun {
        /// The port, local to the pipe.
        port: u32,
        /// The FIFO's depth in packets.
        depth: u32,
    },
    /// The pipe does not have the port.
    #[error("port {port}: the pipe has ports 0 to {}", .ports.saturating_sub(1))]
    NoSuchPort {
        /// Port number, local to the pipe.
        port: u32,
        /// The number of ports.
        ports: u32,
    },
}

/// Arbiter of one gress of one pipe.
#[derive(Debug, Clone)]
pub struct PipeEntry {
    clock: Clock,
    /// The first cycle that is not taken.
    next: u64,
    /// Longest wait of a packet so far, in cycles.
    longest_wait: u64,
    fifos: Vec<Fifo>,
    depth: u32,
    /// For each port, a ring of `depth` values: 1 plus the cycles in which its last packets left the FIFO.
    left: Vec<u64>,
}

/// A port's place in its ring: where the entry of the packet `depth` packets ago is kept.
#[derive(Debug, Clone, Copy, Default)]
struct Fifo {
    oldest: u32,
}

impl PipeEntry {
    /// Creates an idle gress with `ports` ports, each with a FIFO of `depth` packets (at least 1).
    pub fn new(clock: Clock, ports: u32, depth: u32) -> Self {
        let depth = depth.max(1);
        let slots = (ports as usize).saturating_mul(depth as usize);
        Self {
            clock,
            next: 0,
            longest_wait: 0,
            fifos: vec![Fifo::default(); ports as usize],
            depth,
            left: vec![0; slots],
        }
    }

    /// Gives a packet that reaches the parser of `port` at `arrival` the first free cycle from then on.
    ///
    /// A packet takes no slot if `depth` packets of its port are still waiting. Calls for one port must be in the order
    /// of arrival.
    ///
    /// # Errors
    /// [`EntryError::Overrun`] if the port's FIFO is full; [`EntryError::NoSuchPort`].
    pub fn admit(&mut self, port: u32, arrival: Time) -> Result<Entry, EntryError> {
        let (depth, ports) = (self.depth, self.fifos.len());
        let no_such_port =
            || EntryError::NoSuchPort { port, ports: u32::try_from(ports).unwrap_or(u32::MAX) };
        let fifo = self.fifos.get_mut(port as usize).ok_or_else(no_such_port)?;
        let slot = port as usize * depth as usize + fifo.oldest as usize;
        let left = self.left.get_mut(slot).ok_or_else(no_such_port)?;
        let edge = self.clock.first_edge_at_or_after(arrival).get();
        // Entries of a port ascend: if the packet `depth` packets ago still waits, so do all after it.
        if *left > edge.saturating_add(1) {
            return Err(EntryError::Overrun { port, depth });
        }
        let cycle = edge.max(self.next);
        self.next = cycle.saturating_add(1);
        *left = self.next;
        self.longest_wait = self.longest_wait.max(cycle - edge);
        fifo.oldest = if fifo.oldest + 1 == depth { 0 } else { fifo.oldest + 1 };
        Ok(Entry { cycle: Cycles(cycle), waited: Cycles(cycle - edge) })
    }

    /// Takes a slot for a pseudo-PHV (a ghost update, a generated sweep), which waits in no port's FIFO.
    pub fn reserve(&mut self, arrival: Time) -> Entry {
        let edge = self.clock.first_edge_at_or_after(arrival).get();
        let cycle = edge.max(self.next);
        self.next = cycle.saturating_add(1);
        Entry { cycle: Cycles(cycle), waited: Cycles(cycle - edge) }
    }

    /// Returns the longest wait of a packet so far. If it has more cycles than there are ports, packets arrived faster
    /// than one per cycle for longer than one burst.
    pub const fn longest_wait(&self) -> Cycles {
        Cycles(self.longest_wait)
    }

    /// Returns the first cycle that is not taken.
    pub const fn next_free(&self) -> Cycles {
        Cycles(self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clock() -> Clock {
        "1.5GHz".parse().unwrap()
    }

    #[test]
    fn a_burst_waits_then_overruns() {
        let mut entry = PipeEntry::new(clock(), 2, 3);
        let cycles: Vec<Option<u64>> =
            (0..6).map(|_| entry.admit(0, Time::ORIGIN).ok().map(|entry| entry.cycle.get())).collect();
        // The first enters at once and does not wait; three more fill the FIFO.
        assert_eq!(cycles, [Some(0), Some(1), Some(2), Some(3), None, None]);
        assert_eq!(entry.admit(0, Time::ORIGIN), Err(EntryError::Overrun { port: 0, depth: 3 }));
        // The other port has a separate FIFO but shares the slots.
        let other = entry.admit(1, Time::ORIGIN);
        assert_eq!(other, Ok(Entry { cycle: Cycles(4), waited: Cycles(4) }));
        assert_eq!(entry.admit(2, Time::ORIGIN), Err(EntryError::NoSuchPort { port: 2, ports: 2 }));
        assert_eq!(entry.reserve(Time::ORIGIN).cycle, Cycles(5));
        assert_eq!(entry.longest_wait(), Cycles(4));
        // One cycle later one packet has left the FIFO.
        assert_eq!(entry.admit(0, clock().time_of(Cycles(1))).map(|entry| entry.cycle), Ok(Cycles(6)));
    }

    proptest! {
        #[test]
        fn one_phv_per_cycle_never_early_and_bounded(
            depth in 1..5_u32,
            packets in prop::collection::vec((0..3_u32, 0..1500_u64), 1..200),
        ) {
            let mut entry = PipeEntry::new(clock(), 3, depth);
            let mut now = 0;
            let mut last = None;
            let mut admitted: Vec<(u32, u64)> = Vec::new();
            for (port, gap) in packets {
                now += gap;
                let arrival = Time::from_ps(now);
                let edge = clock().first_edge_at_or_after(arrival).get();
                let waiting = admitted.iter().filter(|(p, cycle)| *p == port && *cycle > edge).count();
                match entry.admit(port, arrival) {
                    Ok(slot) => {
                        prop_assert!(waiting < depth as usize);
                        prop_assert!(clock().time_of(slot.cycle) >= arrival);
                        let first_free = last.map_or(0, |last: u64| last + 1);
                        prop_assert_eq!(slot.cycle.get(), edge.max(first_free));
                        last = Some(slot.cycle.get());
                        admitted.push((port, slot.cycle.get()));
                    }
                    Err(EntryError::Overrun { .. }) => prop_assert_eq!(waiting, depth as usize),
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
        }
    }
}
