//! Results of one program with one seed: the slowdowns of its messages, counts of the hosts and the network, samples.

use super::samples::Samples;
use super::size_classes::{by_size, completion_times};
use crate::contest::file::contest::AloneName;
use crate::contest::file::metrics::SizeBin;
use sluice_asic::units::Duration;
use sluice_fabric::host::message::{Completion, Left};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A message that was completely acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Address of the sender.
    pub from: Ipv4Addr,
    /// The message, and the time of its last acknowledgement.
    pub completion: Completion,
    /// Ideal time with this program: the time that the message takes in an empty network.
    pub own: Duration,
    /// Ideal time with the contest's fastest program.
    pub fastest: Duration,
}

impl Sent {
    /// Returns this ideal time.
    #[must_use]
    pub const fn alone(&self, alone: AloneName) -> Duration {
        match alone {
            AloneName::Own => self.own,
            AloneName::Fastest => self.fastest,
        }
    }

    /// Returns the slowdown in thousandths: 1000 * time taken / this ideal time, at least 1000.
    #[must_use]
    pub fn slowdown(&self, alone: AloneName) -> u64 {
        let (took, alone) = (self.completion.time().as_ps(), self.alone(alone).as_ps().max(1));
        let thousandths = u128::from(took) * 1000 / u128::from(alone);
        u64::try_from(thousandths).unwrap_or(u64::MAX).max(1000)
    }
}

/// A message that was not completely acknowledged when the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// Address of the sender.
    pub from: Ipv4Addr,
    /// The message, and how far it came.
    pub left: Left,
}

/// Results of one program with one seed.
#[derive(Clone, Debug, Default)]
pub struct Performance {
    /// The ideal time that slowdowns are relative to.
    pub slowdown: AloneName,
    /// Classes of message sizes that have numbers.
    pub bins: Vec<SizeBin>,
    /// The time in which messages begin that count: end of the warm-up, end of the workload.
    pub window: (Duration, Duration),
    /// Names of the contest's workloads. If there are several, each has numbers of its own.
    pub workloads: Vec<String>,
    /// Completed messages that started after the warm-up, in order of start.
    pub sent: Vec<Sent>,
    /// Messages without a last acknowledgement at the end of the run, the warm-up's included, in order of start.
    pub unfinished: Vec<Unfinished>,
    /// Counts of the hosts and the network by name, with `drop.REASON`, `counter.NAME` and `frames.LABEL`; all are numbers of
    /// [`Self::numbers`].
    pub counts: BTreeMap<String, u64>,
    /// Cycles of queues that wait for each other at the end of the run.
    pub deadlocks: Vec<String>,
    /// Parts of a program that do not work in this network or in a contest, in sentences that say how to change it.
    pub warnings: Vec<String>,
    /// Samples, if the contest asks for them.
    pub samples: Option<Samples>,
}

/// Selection of messages by size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All messages.
    All,
    /// Messages below `ROUND_TRIP` = 104,000 bytes: one bandwidth-delay product of 100 Gb/s and 8.32 us.
    Small,
    /// Messages of at least `ROUND_TRIP` bytes.
    Large,
}

impl Sizes {
    /// All selections, with the prefix of their numbers' names.
    pub const ALL: [(&'static str, Sizes); 3] =
        [("", Sizes::All), ("small_", Sizes::Small), ("large_", Sizes::Large)];
    /// Bandwidth-delay product of ConWeave's evaluation, bytes (model: conweave §4.1).
    pub const ROUND_TRIP: u64 = 104_000;

    const fn has(self, bytes: u64) -> bool {
        match self {
            Sizes::All => true,
            Sizes::Small => bytes < Self::ROUND_TRIP,
            Sizes::Large => bytes >= Self::ROUND_TRIP,
        }
    }
}

/// Mean and percentiles of slowdowns, thousandths. The p-th percentile is the least value that at least p % of the
/// messages do not exceed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowdowns {
    /// Number of messages.
    pub count: u64,
    /// Mean, rounded down.
    pub avg: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile; `None` of fewer than `Self::MANY` messages, of which it would be less than ten.
    pub p999: Option<u64>,
}

impl Slowdowns {
    /// Least number of messages with a 99.9th percentile.
    pub const MANY: u64 = 10_000;

    /// Computes mean and percentiles of slowdowns in thousandths, in any order; all are 0 for an empty list.
    #[must_use]
    pub fn of(mut all: Vec<u64>) -> Slowdowns {
        all.sort_unstable();
        let count = all.len() as u64;
        let Some(sum) = all.iter().copied().map(u128::from).reduce(|a, b| a + b) else {
            return Slowdowns::default();
        };
        let at = |per_mille: u64| {
            let rank = (count * per_mille).div_ceil(1000).max(1);
            all.get(rank as usize - 1).copied().unwrap_or(0)
        };
        let avg = (sum / u128::from(count)) as u64;
        let p999 = (count >= Self::MANY).then(|| at(999));
        Slowdowns { count, avg, p50: at(500), p95: at(950), p99: at(990), p999 }
    }
}

impl Performance {
    /// Returns the slowdowns of the messages of these sizes.
    #[must_use]
    pub fn slowdowns(&self, sizes: Sizes) -> Slowdowns {
        self.slowdowns_over(sizes, self.slowdown)
    }

    /// Returns the slowdowns of the messages of these sizes, relative to this ideal time.
    #[must_use]
    pub fn slowdowns_over(&self, sizes: Sizes, alone: AloneName) -> Slowdowns {
        let some = self.sent.iter().filter(|sent| sizes.has(sent.completion.message.bytes));
        Slowdowns::of(some.map(|sent| sent.slowdown(alone)).collect())
    }

    /// Returns the messages of each workload by its name; nothing if there is one workload.
    fn by_workload(&self) -> impl Iterator<Item = (&str, Vec<&Sent>)> {
        let several = self.workloads.len() > 1;
        let names = self.workloads.iter().enumerate().filter(move |_| several);
        names.map(|(number, name)| {
            let own = |sent: &&Sent| usize::from(sent.completion.message.workload) == number;
            (name.as_str(), self.sent.iter().filter(own).collect())
        })
    }

    /// Returns a count by name; 0 if there is none.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Returns the goodput, Mb/s: payload of the completed messages over the time from the end of the warm-up to the last
    /// acknowledgement.
    fn goodput(&self) -> u64 {
        let bytes: u128 = self.sent.iter().map(|sent| u128::from(sent.completion.message.bytes)).sum();
        let last = self.sent.iter().map(|sent| sent.completion.end.since_origin()).max();
        let time = last.map_or(0, |last| last.as_ps().saturating_sub(self.window.0.as_ps()));
        (bytes * 8 * 1_000_000 / u128::from(time.max(1))) as u64
    }

    /// Returns Jain's index of fairness of the messages' own goodputs (bytes over completion time), in thousandths: 1000 if all
    /// are equal, 1000 / n if one of n has everything; 0 of no message.
    fn fairness(sent: &[&Sent]) -> u64 {
        let rate = |sent: &&Sent| {
            sent.completion.message.bytes as f64 / (sent.completion.time().as_ps() as f64).max(1.0)
        };
        let (sum, squares) =
            sent.iter().map(rate).fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
        if squares > 0.0 { (1000.0 * sum * sum / (squares * sent.len() as f64)).round() as u64 } else { 0 }
    }

    /// Returns the unit of a number of [`Self::numbers`]; counts have none.
    #[must_use]
    pub fn unit(name: &str) -> Option<&'static str> {
        if ["drop.", "counter.", "frames."].iter().any(|first| name.starts_with(first)) {
            return None;
        }
        let name = name.rsplit('.').next()?;
        match name.rsplit('_').next()? {
            "ns" => Some("ns"),
            "bytes" => Some("bytes"),
            "mbps" => Some("Mb/s"),
            "avg" | "max" if name.starts_with("link_share") => Some("thousandths"),
            "p99" | "max" if name.starts_with("reorder_queues") => None,
            "avg" | "p50" | "p95" | "p99" | "p999" | "fairness" => Some("thousandths"),
            _ => None,
        }
    }

    /// Returns true for a number that runs with too few messages lack.
    pub(crate) fn is_percentile(name: &str) -> bool {
        name.trim_end_matches("_ns").ends_with("p999") && Self::unit(name).is_some()
    }

    /// Returns the numbers of this run, by name; slowdowns are in thousandths.
    #[must_use]
    pub fn numbers(&self) -> BTreeMap<String, i128> {
        let mut numbers = BTreeMap::new();
        let mut put = |name: String, value: u64| _ = numbers.insert(name, i128::from(value));
        let mut slowdowns = |prefix: &str, of: Slowdowns| {
            let Slowdowns { count: _, avg, p50, p95, p99, p999 } = of;
            let some = [("avg", avg), ("p50", p50), ("p95", p95), ("p99", p99)];
            let all = some.into_iter().chain(p999.map(|p999| ("p999", p999)));
            all.for_each(|(name, value)| put(format!("{prefix}{name}"), value));
        };
        for (prefix, sizes) in Sizes::ALL {
            slowdowns(prefix, self.slowdowns(sizes));
        }
        for (prefix, alone) in [("own_", AloneName::Own), ("fastest_", AloneName::Fastest)] {
            slowdowns(prefix, self.slowdowns_over(Sizes::All, alone));
        }
        for (name, own) in self.by_workload() {
            let all = own.iter().map(|sent| sent.slowdown(self.slowdown)).collect();
            slowdowns(&format!("workload.{name}."), Slowdowns::of(all));
        }
        for (prefix, sizes) in Sizes::ALL {
            let some = self.sent.iter().filter(|sent| sizes.has(sent.completion.message.bytes));
            put(format!("{prefix}messages"), some.count() as u64);
        }
        put("unfinished".to_owned(), self.unfinished.len() as u64);
        put("deadlocks".to_owned(), self.deadlocks.len() as u64);
        put("bytes".to_owned(), self.sent.iter().map(|sent| sent.completion.message.bytes).sum());
        put("goodput_mbps".to_owned(), self.goodput());
        put("fairness".to_owned(), Performance::fairness(&self.sent.iter().collect::<Vec<_>>()));
        for (name, count) in &self.counts {
            put(name.clone(), *count);
        }
        let times = self.sent.iter().map(|sent| sent.completion.time().as_nanos()).collect();
        completion_times("", times, &mut numbers);
        for (name, own) in self.by_workload() {
            let prefix = format!("workload.{name}.");
            let bytes: u64 = own.iter().map(|sent| sent.completion.message.bytes).sum();
            numbers.insert(format!("{prefix}messages"), own.len() as i128);
            numbers.insert(format!("{prefix}bytes"), bytes.into());
            numbers.insert(format!("{prefix}fairness"), Performance::fairness(&own).into());
            let times = own.iter().map(|sent| sent.completion.time().as_nanos()).collect();
            completion_times(&prefix, times, &mut numbers);
        }
        by_size(&self.bins, &self.sent, |sent| sent.slowdown(self.slowdown), &mut numbers);
        if let Some(samples) = &self.samples {
            numbers.extend(samples.numbers(self.window.0, self.window.1));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let of = Slowdowns::of((1..=1000).rev().collect());
        assert_eq!((of.count, of.avg, of.p50, of.p95, of.p99), (1000, 500, 500, 950, 990));
        let one = Slowdowns::of(vec![7]);
        assert_eq!((one.p50, one.p99), (7, 7));
        // The slowest ten of 10,000 messages are beyond the 99.9th percentile; fewer messages have none.
        assert_eq!(Slowdowns::of((1..=10_000).rev().collect()).p999, Some(9_990));
        assert_eq!(Slowdowns::of((1..10_000).collect()).p999, None);
        assert_eq!(Slowdowns::of(Vec::new()), Slowdowns::default());
    }
}
