//! Receiver of a queue pair: acknowledges packets, or requests missing ones.

use super::Recovery;
use sluice_asic::units::Time;
use std::collections::BTreeSet;

/// Answer to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All packets before this one have arrived.
    Ack(u64),
    /// All packets before `expected` have arrived, and `count` packets in all.
    Placed {
        /// The first missing packet.
        expected: u64,
        /// Number of different packets that have arrived.
        count: u64,
    },
    /// Packet `expected` is missing, although packet `received` has arrived.
    Nack {
        /// The next packet in order.
        expected: u64,
        /// The packet that arrived.
        received: u64,
    },
}

/// The receiver of a queue pair.
#[derive(Clone, Debug)]
pub struct Receiver {
    recovery: Recovery,
    expected: u64,
    /// Packets that arrived out of order and are kept.
    kept: BTreeSet<u64>,
    /// The packet of the last NACK, and the NACK's time.
    asked: Option<(u64, Time)>,
}

impl Receiver {
    /// Creates a receiver that expects packet 0.
    #[must_use]
    pub const fn new(recovery: Recovery) -> Self {
        Receiver { recovery, expected: 0, kept: BTreeSet::new(), asked: None }
    }

    /// Returns the expected packet: all packets before it have been delivered in order.
    #[must_use]
    pub const fn expected(&self) -> u64 {
        self.expected
    }

    /// Handles packet `psn` and returns the answer, if there is one.
    pub fn packet(&mut self, now: Time, psn: u64) -> Option<Answer> {
        if psn == self.expected {
            self.expected += 1;
            while self.kept.remove(&self.expected) {
                self.expected += 1;
            }
        }
        if let Recovery::AnyOrder { .. } = self.recovery {
            if psn > self.expected {
                self.kept.insert(psn);
            }
            let count = self.expected + self.kept.len() as u64;
            return Some(Answer::Placed { expected: self.expected, count });
        }
        if psn < self.expected {
            return Some(Answer::Ack(self.expected));
        }
        let nack = Answer::Nack { expected: self.expected, received: psn };
        match self.recovery {
            Recovery::Selective { .. } => {
                self.kept.insert(psn);
                Some(nack)
            }
            Recovery::GoBackN { nack_interval, .. } => {
                let again = self.asked.is_none_or(|(packet, at)| {
                    packet != self.expected || now.saturating_since(at) >= nack_interval
                });
                again.then(|| {
                    self.asked = Some((self.expected, now));
                    nack
                })
            }
            Recovery::AnyOrder { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::Duration;

    #[test]
    fn a_hole_is_named_once_in_an_interval() {
        let nack_interval = Duration::from_micros(4);
        let mut receiver = Receiver::new(Recovery::GoBackN { nack_interval, timeout: None });
        let mut came = |us, psn| receiver.packet(Time::ORIGIN + Duration::from_micros(us), psn);
        let nack = |received| Some(Answer::Nack { expected: 1, received });
        assert_eq!(came(0, 0), Some(Answer::Ack(1)));
        assert_eq!((came(1, 2), came(2, 3), came(4, 4), came(5, 5)), (nack(2), None, None, nack(5)));
        assert_eq!(
            (came(6, 1), came(6, 0)),
            (Some(Answer::Ack(2)), Some(Answer::Ack(2))),
            "nothing was kept"
        );
        assert_eq!(came(6, 3), Some(Answer::Nack { expected: 2, received: 3 }), "another hole");
    }

    #[test]
    fn any_order_is_placed_and_counted_once() {
        let mut receiver = Receiver::new(Recovery::AnyOrder { timeout: Duration::from_micros(100) });
        let answers: Vec<(u64, u64)> = [2, 0, 2, 3, 0, 1, 1]
            .into_iter()
            .map(|psn| match receiver.packet(Time::ORIGIN, psn) {
                Some(Answer::Placed { expected, count }) => (expected, count),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(answers, [(0, 1), (1, 2), (1, 2), (1, 3), (1, 3), (4, 4), (4, 4)]);
    }

    #[test]
    fn what_is_kept_is_delivered_with_the_hole() {
        let timeout = Duration::from_micros(100);
        let selective =
            Recovery::Selective { in_flight: 9, timeout_high: timeout, timeout_low: timeout, few: 3 };
        let mut receiver = Receiver::new(selective);
        let mut came = |psn| receiver.packet(Time::ORIGIN, psn);
        assert_eq!(
            (came(1), came(3)),
            (
                Some(Answer::Nack { expected: 0, received: 1 }),
                Some(Answer::Nack { expected: 0, received: 3 }),
            )
        );
        assert_eq!(
            (came(0), came(2), came(3)),
            (Some(Answer::Ack(2)), Some(Answer::Ack(4)), Some(Answer::Ack(4)))
        );
    }
}
