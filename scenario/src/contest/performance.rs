//! What a program did for its hosts: how long messages took, and what it cost.

use crate::expr::Scope;
use sluice_asic::units::Duration;
use sluice_fabric::host::rnic::{Completion, RnicCounters};
use sluice_fabric::network::NetworkTotals;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A message that was sent and acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its sender.
    pub from: Ipv4Addr,
    /// The message, and when it was done.
    pub completion: Completion,
    /// How long it would have taken alone.
    pub alone: Duration,
}

impl Sent {
    /// Thousandths of the time that it would have taken alone, 1000 at least.
    #[must_use]
    pub fn slowdown(&self) -> u64 {
        let (took, alone) = (self.completion.time().as_ps(), self.alone.as_ps().max(1));
        let thousandths = u128::from(took) * 1000 / u128::from(alone);
        u64::try_from(thousandths).unwrap_or(u64::MAX).max(1000)
    }
}

/// What a program did.
#[derive(Clone, Debug)]
pub struct Performance {
    /// What it is called.
    pub label: String,
    /// The program.
    pub program: String,
    /// Messages that count, in the order in which they began.
    pub sent: Vec<Sent>,
    /// Messages that were not done in the end.
    pub unfinished: u64,
    /// What hosts counted, summed up.
    pub hosts: RnicCounters,
    /// What the network counted.
    pub totals: NetworkTotals,
    /// Packets lost in switches and on cables, by reason.
    pub drops: BTreeMap<String, u64>,
    /// The program's small counters, in packets, summed over switches: by name, and by cell where there are several.
    pub counters: BTreeMap<String, u64>,
    /// PFC frames that switches made.
    pub pauses: u64,
    /// How long a full packet and its acknowledgement take with this program alone between hosts of different switches, on
    /// average.
    pub alone: Duration,
    /// How long the run was.
    pub simulated: Duration,
}

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All.
    All,
    /// Those of fewer bytes than the line carries in a round trip of 8.3 us.
    Small,
    /// The others.
    Large,
}

impl Sizes {
    /// All with what names of numbers begin with.
    pub const ALL: [(&'static str, Sizes); 3] =
        [("", Sizes::All), ("small_", Sizes::Small), ("large_", Sizes::Large)];
    /// What ConWeave's evaluation takes for the line's bytes in a round trip (model: conweave §4.1).
    pub const ROUND_TRIP: u64 = 104_000;

    const fn has(self, bytes: u64) -> bool {
        match self {
            Sizes::All => true,
            Sizes::Small => bytes < Self::ROUND_TRIP,
            Sizes::Large => bytes >= Self::ROUND_TRIP,
        }
    }
}

/// Slowdowns of some messages, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slowdowns {
    /// How many messages.
    pub count: u64,
    /// Mean, rounded down.
    pub avg: u64,
    /// The least that half of the messages do not exceed, and so on.
    pub p50: u64,
    /// See `p50`.
    pub p95: u64,
    /// See `p50`.
    pub p99: u64,
    /// 99.9 of a hundred.
    pub p999: u64,
}

impl Slowdowns {
    /// Of these thousandths, in any order.
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
        Slowdowns { count, avg, p50: at(500), p95: at(950), p99: at(990), p999: at(999) }
    }
}

impl Performance {
    pub(super) fn lose(&mut self, reason: &str, count: u64) {
        if count > 0 {
            *self.drops.entry(reason.to_owned()).or_default() += count;
        }
    }

    /// Slowdowns of the messages of some sizes.
    #[must_use]
    pub fn slowdowns(&self, sizes: Sizes) -> Slowdowns {
        let some = self.sent.iter().filter(|sent| sizes.has(sent.completion.message.bytes));
        Slowdowns::of(some.map(Sent::slowdown).collect())
    }

    /// Packets that were lost.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.drops.values().sum()
    }

    /// Its numbers by name, as expectations know them; slowdowns in thousandths.
    #[must_use]
    pub fn numbers(&self) -> BTreeMap<String, i128> {
        let mut numbers = BTreeMap::new();
        let mut put = |name: String, value: u64| _ = numbers.insert(name, i128::from(value));
        for (prefix, sizes) in Sizes::ALL {
            let Slowdowns { count, avg, p50, p95, p99, p999 } = self.slowdowns(sizes);
            let all =
                [("messages", count), ("avg", avg), ("p50", p50), ("p95", p95), ("p99", p99), ("p999", p999)];
            all.into_iter().for_each(|(name, value)| put(format!("{prefix}{name}"), value));
        }
        let h = &self.hosts;
        let all = [
            ("unfinished", self.unfinished),
            ("sent", h.sent),
            ("resent", h.resent),
            ("early", h.early),
            ("marked", h.marked),
            ("acks", h.acks),
            ("nacks", h.nacks),
            ("notifications", h.notifications),
            ("timeouts", h.timeouts),
            ("stray", h.stray),
            ("host_pauses", h.pauses),
            ("host_paused_ns", h.paused.as_nanos()),
            ("pauses", self.pauses),
            ("dropped", self.dropped()),
            ("hops", self.totals.hops),
            ("alone_ns", self.alone.as_nanos()),
            ("simulated_ns", self.simulated.as_nanos()),
        ];
        all.into_iter().for_each(|(name, value)| put(name.to_owned(), value));
        for (reason, count) in &self.drops {
            put(format!("drop.{reason}"), *count);
        }
        for (counter, count) in &self.counters {
            put(format!("counter.{counter}"), *count);
        }
        numbers
    }
}

/// Figures of all programs, as names `label.figure` in expressions.
pub(super) struct FigureTable(BTreeMap<String, BTreeMap<String, i128>>);

impl FigureTable {
    pub(super) fn of(all: &[Performance]) -> FigureTable {
        FigureTable(all.iter().map(|p| (p.label.clone(), p.numbers())).collect())
    }
}

impl Scope for FigureTable {
    fn name(&self, name: &str) -> Result<i128, String> {
        let (label, number) = name.split_once('.').unwrap_or((name, ""));
        let of = self.0.get(label).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            format!("no program is called `{label}`; there are {}", known.join(", "))
        })?;
        // What was never lost for a reason was lost 0 times.
        let absent = number.starts_with("drop.").then_some(0);
        of.get(number).copied().or(absent).ok_or_else(|| {
            let known: Vec<&str> = of.keys().map(String::as_str).collect();
            format!("`{label}` has no number `{number}`; there are {}", known.join(", "))
        })
    }

    fn call(&self, name: &str, args: &[i128]) -> Result<i128, String> {
        match (name, args) {
            ("min", [a, b]) => Ok(*a.min(b)),
            ("max", [a, b]) => Ok(*a.max(b)),
            _ => {
                Err(format!("no function `{name}` of {} number(s); there are min and max of two", args.len()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ranks() {
        let of = Slowdowns::of((1..=1000).rev().collect());
        assert_eq!((of.count, of.avg, of.p50, of.p95, of.p99, of.p999), (1000, 500, 500, 950, 990, 999));
        let one = Slowdowns::of(vec![7]);
        assert_eq!((one.p50, one.p999), (7, 7));
        assert_eq!(Slowdowns::of(Vec::new()), Slowdowns::default());
    }
}
