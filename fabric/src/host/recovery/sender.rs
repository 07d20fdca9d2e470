//! Sender of a queue pair: chooses the next packet.

use super::{Answer, Recovery};
use sluice_asic::units::{Duration, Time};
use std::collections::BTreeSet;

/// The sender of a queue pair with a fixed number of packets.
#[derive(Clone, Debug)]
pub struct Sender {
    recovery: Recovery,
    packets: u64,
    /// First unacknowledged packet.
    unacknowledged: u64,
    next: u64,
    /// Selective: packets after the first missing one that the receiver has.
    arrived: BTreeSet<u64>,
    /// Selective, any order: missing packets to retransmit.
    holes: BTreeSet<u64>,
    /// Selective, any order: the current recovery. Missing packets before the first number have been queued for
    /// retransmission; the recovery ends when everything before the second number is acknowledged.
    recovering: Option<(u64, u64)>,
    /// Any order: number of packets that the receiver has.
    placed: u64,
    /// Time of the last progress: an acknowledgement of new packets, a timeout, or the first packet after all were
    /// acknowledged.
    quiet_since: Time,
}

impl Sender {
    /// Creates a sender that has sent nothing.
    #[must_use]
    pub const fn new(recovery: Recovery, packets: u64) -> Self {
        Sender {
            recovery,
            packets,
            unacknowledged: 0,
            next: 0,
            arrived: BTreeSet::new(),
            holes: BTreeSet::new(),
            recovering: None,
            placed: 0,
            quiet_since: Time::ORIGIN,
        }
    }

    /// Returns true if all packets are acknowledged.
    #[must_use]
    pub const fn done(&self) -> bool {
        self.unacknowledged >= self.packets
    }

    /// Returns the number of packets sent and not acknowledged, or for receivers that accept any order, not placed.
    #[must_use]
    pub const fn in_flight(&self) -> u64 {
        let arrived = if self.placed > self.unacknowledged { self.placed } else { self.unacknowledged };
        self.next.saturating_sub(arrived)
    }

    /// Returns the next packet to be sent for the first time, or again after going back.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of packets sent from `psn` on.
    #[must_use]
    pub const fn sent_since(&self, psn: u64) -> u64 {
        self.next.saturating_sub(psn)
    }

    /// Returns the next packet to send at `now`, if one may be sent, and counts it as sent.
    pub fn send(&mut self, now: Time) -> Option<u64> {
        self.send_within(now, u64::MAX)
    }

    /// Returns the next packet to send at `now` if at most `window` packets may be in flight, and counts it as sent. A
    /// missing packet is sent again whatever the window is.
    pub fn send_within(&mut self, now: Time, window: u64) -> Option<u64> {
        if self.in_flight() == 0 {
            self.quiet_since = now;
        }
        if let Some(hole) = self.holes.pop_first() {
            return Some(hole);
        }
        let room = match self.recovery {
            Recovery::GoBackN { .. } | Recovery::AnyOrder { .. } => true,
            Recovery::Selective { in_flight, .. } => self.in_flight() < in_flight,
        };
        let room = room && self.in_flight() < window;
        (room && self.next < self.packets).then(|| {
            self.next += 1;
            self.next - 1
        })
    }

    /// Handles an answer.
    pub fn answered(&mut self, now: Time, answer: Answer) {
        let (Answer::Ack(expected) | Answer::Nack { expected, .. } | Answer::Placed { expected, .. }) =
            answer;
        if let Answer::Placed { count, .. } = answer {
            self.placed = self.placed.max(count);
        }
        if expected > self.unacknowledged {
            self.unacknowledged = expected;
            self.quiet_since = now;
            self.next = self.next.max(expected);
            self.arrived = self.arrived.split_off(&expected);
            self.holes = self.holes.split_off(&expected);
            self.recovering = self.recovering.filter(|(_, end)| expected < *end);
            // The next missing packet was sent before the timeout too, and a round trip has passed since.
            if let (Recovery::AnyOrder { .. }, Some(_)) = (self.recovery, self.recovering) {
                self.holes.insert(expected);
            }
        }
        match (answer, self.recovery) {
            (Answer::Nack { expected, .. }, Recovery::GoBackN { .. }) if expected == self.unacknowledged => {
                self.next = expected;
            }
            (Answer::Nack { expected, received }, Recovery::Selective { .. })
                if expected == self.unacknowledged =>
            {
                self.arrived.insert(received);
                let (sent, end) = self.recovering.unwrap_or((expected, self.next));
                let new = (sent.max(expected)..received).filter(|psn| !self.arrived.contains(psn));
                self.holes.extend(new);
                self.recovering = Some((sent.max(received), end));
            }
            _ => {}
        }
    }

    /// Returns the time of the retransmission timeout, if packets are unacknowledged.
    #[must_use]
    pub fn timeout(&self) -> Option<Time> {
        let most: Option<Duration> = match self.recovery {
            Recovery::GoBackN { timeout, .. } => timeout,
            Recovery::AnyOrder { timeout } => Some(timeout),
            Recovery::Selective { timeout_high, timeout_low, few, .. } => {
                Some(if self.in_flight() <= few { timeout_low } else { timeout_high })
            }
        };
        most.filter(|_| self.in_flight() > 0).map(|most| self.quiet_since + most)
    }

    /// If the timeout has expired: goes back (go-back-N), or queues the first missing packet.
    pub fn advance(&mut self, now: Time) {
        if self.timeout().is_some_and(|due| due <= now) {
            self.quiet_since = now;
            match self.recovery {
                Recovery::GoBackN { .. } => self.next = self.unacknowledged,
                Recovery::Selective { .. } => _ = self.holes.insert(self.unacknowledged),
                Recovery::AnyOrder { .. } => {
                    self.holes.insert(self.unacknowledged);
                    self.recovering = Some((self.unacknowledged, self.next));
                }
            }
        }
    }
}
