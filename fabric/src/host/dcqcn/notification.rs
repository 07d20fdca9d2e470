//! The notification point: which marked packets a receiver answers (facts: buffer §4.1, §4.5). What may not live here:
//! bytes of notifications.

use sluice_asic::units::{Duration, Time};

/// How often a receiver notifies a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coalescing {
    /// For every marked packet.
    PerPacket,
    /// At most once in such a time.
    Interval(Duration),
}

/// A receiver's side of a queue pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationPoint {
    coalescing: Coalescing,
    last: Option<Time>,
    marked: u64,
    notifications: u64,
}

impl NotificationPoint {
    /// A receiver to which nothing has come.
    #[must_use]
    pub const fn new(coalescing: Coalescing) -> Self {
        NotificationPoint { coalescing, last: None, marked: 0, notifications: 0 }
    }

    /// A packet with CE arrives; whether a notification goes back.
    pub fn marked(&mut self, now: Time) -> bool {
        self.marked += 1;
        let due = match (self.coalescing, self.last) {
            (Coalescing::PerPacket, _) | (_, None) => true,
            (Coalescing::Interval(interval), Some(last)) => now >= last + interval,
        };
        if due {
            self.last = Some(now);
            self.notifications += 1;
        }
        due
    }

    /// Marked packets and notifications so far.
    #[must_use]
    pub const fn counts(&self) -> (u64, u64) {
        (self.marked, self.notifications)
    }
}
