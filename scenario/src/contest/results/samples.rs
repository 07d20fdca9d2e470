//! Samples of links, buffers, queues and pauses at multiples of an interval, and their numbers.
//!
//! *Imbalance* is that of CONGA's and ConWeave's evaluations: for each switch with at least two links to switches of a higher
//! stage and each interval, (most - least) / mean of the links' shares (model: conweave §4.5).

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sluice_asic::units::Duration;
use std::collections::BTreeMap;

/// Samples of one run. The n-th sample is at (n + 1) times the interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// The interval.
    #[serde(rename = "every_ps", serialize_with = "ps", deserialize_with = "of_ps")]
    pub every: Duration,
    /// Both directions of each link.
    pub links: Vec<LinkSamples>,
    /// The switches.
    pub switches: Vec<SwitchSamples>,
    /// Bytes that switches sent to hosts in each interval, without FCS: data, acknowledgements and all else.
    #[serde(rename = "delivered_bytes")]
    pub delivered: Vec<u64>,
}

fn ps<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(time.as_ps())
}

fn of_ps<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_ps)
}

/// Samples of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkSamples {
    /// The link's name, such as `leaf0:8-spine1:0`, with the sender first.
    pub name: String,
    /// Name of the sending switch.
    pub from: String,
    /// Name of the receiving switch.
    pub to: String,
    /// True if the receiver is of a higher stage.
    pub up: bool,
    /// Line time of frames in each interval, thousandths of the interval.
    pub share: Vec<u32>,
}

/// Samples of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwitchSamples {
    /// Name of the switch.
    pub name: String,
    /// Bytes of a buffer cell.
    pub cell: u64,
    /// Buffer cells in use.
    #[serde(rename = "buffer_cells")]
    pub buffer: Vec<u32>,
    /// Cells of the deepest queue.
    #[serde(rename = "deepest_queue_cells")]
    pub deepest: Vec<u32>,
    /// Ports that a peer or host pauses, in at least one priority.
    #[serde(rename = "paused_ports")]
    pub paused: Vec<u32>,
    /// Reorder queues that hold packets, at the port with the most of them.
    #[serde(rename = "reorder_queues")]
    pub reordering: Vec<u32>,
    /// Cells in reorder queues.
    pub reorder_cells: Vec<u32>,
}

impl Samples {
    /// Returns the number of samples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.delivered.len()
    }

    /// Returns true if there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.delivered.is_empty()
    }

    /// Returns the samples of intervals that begin at `from` or later and end at `to` or before.
    fn window(&self, from: Duration, to: Duration) -> std::ops::Range<usize> {
        let every = self.every.as_ps().max(1);
        let first = from.as_ps().div_ceil(every) as usize;
        let last = ((to.as_ps() / every) as usize).min(self.len());
        first.min(last)..last
    }

    /// Returns the imbalance of each switch in each interval of a range in which it sent something upwards, thousandths.
    #[must_use]
    pub fn imbalances(&self, range: std::ops::Range<usize>) -> Vec<u64> {
        let mut groups: BTreeMap<&str, Vec<&LinkSamples>> = BTreeMap::new();
        for link in self.links.iter().filter(|link| link.up) {
            groups.entry(&link.from).or_default().push(link);
        }
        let mut found = Vec::new();
        for links in groups.values().filter(|links| links.len() > 1) {
            found.extend(range.clone().filter_map(|n| imbalance(links, n)));
        }
        found
    }

    /// Returns the numbers of the intervals in which messages begin and count: from `from` to `to`.
    pub(crate) fn numbers(&self, from: Duration, to: Duration) -> BTreeMap<String, i128> {
        let range = self.window(from, to);
        let mut numbers = BTreeMap::new();
        let mut put = |name: &str, value: u64| _ = numbers.insert(name.to_owned(), i128::from(value));
        let shares: Vec<u64> = self
            .links
            .iter()
            .flat_map(|l| l.share.get(range.clone()).unwrap_or(&[]))
            .map(|s| u64::from(*s))
            .collect();
        put("link_share_avg", mean(&shares));
        put("link_share_max", shares.iter().copied().max().unwrap_or(0));
        let mut imbalances = self.imbalances(range.clone());
        imbalances.sort_unstable();
        put("imbalance_avg", mean(&imbalances));
        for (name, percent) in [("imbalance_p50", 50), ("imbalance_p95", 95), ("imbalance_p99", 99)] {
            put(name, percentile(&imbalances, percent));
        }
        let of = |get: fn(&SwitchSamples) -> &Vec<u32>, in_bytes: bool| -> Vec<u64> {
            let mut all = Vec::new();
            for switch in &self.switches {
                let unit = if in_bytes { switch.cell } else { 1 };
                all.extend(
                    get(switch).get(range.clone()).unwrap_or(&[]).iter().map(|n| u64::from(*n) * unit),
                );
            }
            all.sort_unstable();
            all
        };
        for (name, values) in [
            ("buffer", of(|s| &s.buffer, true)),
            ("deepest_queue", of(|s| &s.deepest, true)),
            ("reorder_memory", of(|s| &s.reorder_cells, true)),
        ] {
            put(&format!("{name}_avg_bytes"), mean(&values));
            put(&format!("{name}_p99_bytes"), percentile(&values, 99));
            put(&format!("{name}_sampled_max_bytes"), values.last().copied().unwrap_or(0));
        }
        let queues = of(|s| &s.reordering, false);
        put("reorder_queues_max", queues.last().copied().unwrap_or(0));
        put("reorder_queues_p99", percentile(&queues, 99));
        let at_once = range.clone().map(|n| {
            self.switches.iter().map(|s| u64::from(s.paused.get(n).copied().unwrap_or(0))).sum::<u64>()
        });
        put("paused_at_once_max", at_once.max().unwrap_or(0));
        let bits =
            self.delivered.get(range.clone()).unwrap_or(&[]).iter().map(|b| u128::from(*b) * 8).sum::<u128>();
        let time = u128::from(self.every.as_ps()) * range.len() as u128;
        put("delivered_mbps", (bits * 1_000_000 / time.max(1)) as u64);
        numbers
    }
}

/// Returns (most - least) / mean of links' shares in interval `n`, thousandths; `None` if all are 0.
fn imbalance(links: &[&LinkSamples], n: usize) -> Option<u64> {
    let shares = links.iter().map(|link| u64::from(link.share.get(n).copied().unwrap_or(0)));
    let (mut least, mut most, mut sum) = (u64::MAX, 0, 0);
    for share in shares {
        (least, most, sum) = (least.min(share), most.max(share), sum + share);
    }
    (sum > 0).then(|| (most - least) * 1000 * links.len() as u64 / sum)
}

fn mean(values: &[u64]) -> u64 {
    let sum: u128 = values.iter().copied().map(u128::from).sum();
    (sum / (values.len() as u128).max(1)) as u64
}

/// Returns the least value that at least `percent` % of the sorted values do not exceed; 0 of none.
fn percentile(sorted: &[u64], percent: u64) -> u64 {
    let rank = (sorted.len() as u64 * percent).div_ceil(100).max(1);
    sorted.get(rank as usize - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: &str, up: bool, share: &[u32]) -> LinkSamples {
        LinkSamples { from: from.into(), up, share: share.to_vec(), ..LinkSamples::default() }
    }

    #[test]
    fn imbalance_is_the_range_over_the_mean() {
        let us = Duration::from_micros(1);
        let samples = Samples {
            every: us,
            links: vec![
                link("leaf0", true, &[600, 0, 100]),
                link("leaf0", true, &[200, 0, 100]),
                // A single uplink, and a downlink, have no imbalance.
                link("leaf1", true, &[900, 900, 900]),
                link("spine0", false, &[0, 900, 5]),
                link("spine0", false, &[7, 0, 5]),
            ],
            delivered: vec![1_000, 2_000, 4_000],
            ..Samples::default()
        };
        // (600 - 200) / 400 = 1, nothing sent, and equal shares.
        assert_eq!(samples.imbalances(0..3), [1000, 0]);
        let all = samples.numbers(Duration::ZERO, us * 3);
        assert_eq!((all["imbalance_avg"], all["imbalance_p99"]), (500, 1000));
        // 7,000 bytes in 3 us are 18,666 Mb/s; 4,000 bytes in the last one are 32,000.
        assert_eq!(all["delivered_mbps"], 18_666);
        let last = samples.numbers(us * 2, us * 3);
        assert_eq!((last["delivered_mbps"], last["imbalance_avg"], last["link_share_max"]), (32_000, 0, 900));
        // An interval that begins before the window does not count; neither does one that ends after it.
        let middle = samples.numbers(Duration::from_nanos(500), Duration::from_nanos(2_500));
        assert_eq!(middle["delivered_mbps"], 16_000);
        assert_eq!(Samples::default().numbers(us, us * 2)["delivered_mbps"], 0);
    }

    #[test]
    fn percentiles_of_samples_are_ranks() {
        let all: Vec<u64> = (1..=200).collect();
        assert_eq!((percentile(&all, 50), percentile(&all, 99), percentile(&[], 99)), (100, 198, 0));
    }
}
