//! The receiver of a queue pair.

use super::Recovery;
use sluice_asic::units::Time;
use std::collections::BTreeSet;

/// What a receiver sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Everything before this packet is here.
    Ack(u64),
    /// The first packet is missing, though the second is here.
    Nack {
        /// The packet that is expected.
        expected: u64,
        /// The one that came.
        received: u64,
    },
}

/// The receiver of a queue pair.
#[derive(Clone, Debug)]
pub struct Receiver {
    recovery: Recovery,
    expected: u64,
    /// What came out of order and is kept.
    kept: BTreeSet<u64>,
    /// The packet asked for last, and when.
    asked: Option<(u64, Time)>,
}

impl Receiver {
    /// A receiver that expects packet 0.
    #[must_use]
    pub const fn new(recovery: Recovery) -> Self {
        Receiver { recovery, expected: 0, kept: BTreeSet::new(), asked: None }
    }

    /// The packet that it expects: everything before it has been delivered in order.
    #[must_use]
    pub const fn expected(&self) -> u64 {
        self.expected
    }

    /// A packet arrives; what goes back, if anything does.
    pub fn packet(&mut self, now: Time, psn: u64) -> Option<Answer> {
        if psn == self.expected {
            self.expected += 1;
            while self.kept.remove(&self.expected) {
                self.expected += 1;
            }
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
