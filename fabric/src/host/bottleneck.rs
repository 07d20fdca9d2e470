//! One DCQCN flow through one bottleneck queue with a marking threshold (model: buffer §4.1, §4.5).

use super::dcqcn::{NotificationPoint, ReactionPoint};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use std::collections::VecDeque;

/// A flow and its bottleneck.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// The sender's reaction point.
    pub sender: ReactionPoint,
    /// The receiver's notification point.
    pub receiver: NotificationPoint,
    /// Rate at which the queue drains.
    pub rate: BitRate,
    /// Marking threshold: a packet is marked if it finds more bytes in the queue.
    pub mark: Bytes,
    /// Packet size.
    pub size: Bytes,
    /// Time from the queue to the receiver and back to the sender.
    pub delay: Duration,
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BottleneckReport {
    /// Packets sent.
    pub sent: u64,
    /// Packets marked.
    pub marked: u64,
    /// Notifications that reached the sender.
    pub notified: u64,
    /// Mean sending rate in the second half of the run, bit/s.
    pub mean_rate: u64,
    /// Largest queue depth, bytes.
    pub most_queued: u64,
}

impl Bottleneck {
    /// Runs the flow for `time`, packet by packet at the sender's rate.
    #[must_use]
    pub fn run(mut self, time: Duration) -> BottleneckReport {
        let (end, half) = (Time::ORIGIN + time, Time::ORIGIN + Duration::from_ps(time.as_ps() / 2));
        let (mut now, mut report, mut late) = (Time::ORIGIN, BottleneckReport::default(), 0);
        // The time at which the queue is empty, and arrival times of CNPs that are on their way to the sender.
        let (mut empty, mut back) = (Time::ORIGIN, VecDeque::new());
        while now < end {
            while let Some(at) = back.front().copied().filter(|at| *at <= now) {
                back.pop_front();
                self.sender.notified(at);
                report.notified += 1;
            }
            self.sender.advance(now);
            let queued = self.rate.bytes_in(empty.saturating_since(now));
            report.most_queued = report.most_queued.max(queued.0 + self.size.0);
            empty = empty.max(now) + self.rate.time_for(self.size);
            report.sent += 1;
            late += u64::from(now >= half);
            if queued > self.mark {
                report.marked += 1;
                let arrival = empty + Duration::from_ps(self.delay.as_ps() / 2);
                if self.receiver.marked(arrival) {
                    back.push_back(empty + self.delay);
                }
            }
            self.sender.sent(self.size);
            let rate = BitRate::from_bps(self.sender.state().rate as u64);
            now += rate.time_for(self.size);
        }
        let ps = u128::from((time.as_ps() - time.as_ps() / 2).max(1));
        report.mean_rate = (u128::from(late * self.size.0 * 8) * 1_000_000_000_000 / ps) as u64;
        report
    }
}
