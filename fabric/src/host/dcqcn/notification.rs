//! The notification point: decides which marked packets a receiver answers with a CNP (model: buffer §4.1, §4.5).

use sluice_asic::units::{Duration, Time};

/// Limit on the CNPs of one queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coalescing {
    /// One CNP for every marked packet.
    PerPacket,
    /// At most one CNP in any interval of this length: a rate limiter, as in later NIC generations.
    Interval(Duration),
    /// At most one CNP in each window of this length, counted from time 0: a timer, as in the first NIC generation.
    Window(Duration),
}

/// Queue pairs whose CNPs one limit counts together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotificationScope {
    /// Each queue pair on its own.
    #[default]
    Pair,
    /// All queue pairs of the NIC.
    Nic,
}

/// The receiver's state of a queue pair, or of a NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotificationPoint {
    coalescing: Coalescing,
    last: Option<Time>,
    marked: u64,
    notifications: u64,
}

impl NotificationPoint {
    /// Creates a receiver that has received no marked packet.
    #[must_use]
    pub const fn new(coalescing: Coalescing) -> Self {
        NotificationPoint { coalescing, last: None, marked: 0, notifications: 0 }
    }

    /// Handles a packet marked CE at `now`. Returns true if a CNP must be sent.
    pub fn marked(&mut self, now: Time) -> bool {
        self.marked += 1;
        let due = match (self.coalescing, self.last) {
            (Coalescing::PerPacket, _) | (_, None) => true,
            (Coalescing::Interval(interval), Some(last)) => now >= last + interval,
            (Coalescing::Window(window), Some(last)) => {
                let number = |at: Time| at.as_ps() / window.as_ps().max(1);
                number(now) > number(last)
            }
        };
        if due {
            self.last = Some(now);
            self.notifications += 1;
        }
        due
    }

    /// Returns the number of marked packets, and of CNPs.
    #[must_use]
    pub const fn counts(&self) -> (u64, u64) {
        (self.marked, self.notifications)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_fixed_and_intervals_run_from_the_last() {
        let answered = |coalescing| {
            let mut point = NotificationPoint::new(coalescing);
            let times = [40, 55, 60, 89, 91, 149, 151];
            times.into_iter().filter(|us| point.marked(Time::from_nanos(us * 1_000))).collect::<Vec<_>>()
        };
        let timer = Duration::from_micros(50);
        assert_eq!(answered(Coalescing::Interval(timer)), [40, 91, 149]);
        assert_eq!(answered(Coalescing::Window(timer)), [40, 55, 149, 151]);
        assert_eq!(answered(Coalescing::PerPacket).len(), 7);
    }
}
