//! Round trips of a queue pair's packets, measured by their sender.

use sluice_asic::units::{Duration, Time};
use std::collections::VecDeque;

/// Packets in flight whose start the sender remembers: all, or one at a time.
#[derive(Clone, Debug)]
pub(super) struct Timing {
    every: bool,
    /// Numbers of packets and their starts, in order.
    started: VecDeque<(u64, Time)>,
    last: Option<Duration>,
}

impl Timing {
    pub(super) const fn new(every: bool) -> Timing {
        Timing { every, started: VecDeque::new(), last: None }
    }

    /// Returns the last round trip.
    pub(super) const fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Records the start of a packet. A packet that is sent `again` is no longer timed, because an answer could be to
    /// either transmission.
    pub(super) fn sent(&mut self, now: Time, psn: u64, again: bool) {
        if again {
            if let Ok(at) = self.started.binary_search_by_key(&psn, |(psn, _)| *psn) {
                self.started.remove(at);
            }
        } else if self.every || self.started.is_empty() {
            self.started.push_back((psn, now));
        }
    }

    /// Returns the round trip of the newest timed packet before `acknowledged`, if an answer acknowledges one.
    pub(super) fn acknowledged(&mut self, now: Time, acknowledged: u64) -> Option<Duration> {
        let mut newest = None;
        while let Some((_, start)) = self.started.front().filter(|(psn, _)| *psn < acknowledged) {
            newest = Some(now.saturating_since(*start));
            self.started.pop_front();
        }
        self.last = newest.or(self.last);
        newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(us)
    }

    #[test]
    fn one_packet_is_timed_at_a_time_or_all() {
        for (every, second) in [(false, None), (true, Some(Duration::from_micros(9)))] {
            let mut timing = Timing::new(every);
            timing.sent(at(0), 0, false);
            timing.sent(at(1), 1, false);
            assert_eq!(timing.acknowledged(at(8), 1), Some(Duration::from_micros(8)));
            assert_eq!(timing.acknowledged(at(10), 2), second);
            timing.sent(at(11), 2, false);
            assert_eq!(timing.acknowledged(at(15), 3), Some(Duration::from_micros(4)));
        }
    }

    #[test]
    fn what_was_sent_twice_is_not_timed() {
        let mut timing = Timing::new(true);
        (0..4).for_each(|psn| timing.sent(at(psn), psn, false));
        timing.sent(at(20), 1, true);
        timing.sent(at(21), 2, true);
        assert_eq!(timing.acknowledged(at(30), 3), Some(Duration::from_micros(30)), "packet 0");
        assert_eq!(timing.acknowledged(at(30), 4), Some(Duration::from_micros(27)));
        assert_eq!(timing.last(), Some(Duration::from_micros(27)));
    }
}
