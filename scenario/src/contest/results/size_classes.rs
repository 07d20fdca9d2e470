//! Numbers by size class, and those of completion times.

use super::performance::{Sent, Slowdowns};
use crate::contest::file::metrics::SizeBin;
use std::collections::BTreeMap;

/// Adds the numbers of completion times, all in ns: `fct_avg_ns` and percentiles, each after `prefix`.
pub(super) fn completion_times(prefix: &str, ns: Vec<u64>, into: &mut BTreeMap<String, i128>) {
    let Slowdowns { count: _, avg, p50, p95, p99, p999 } = Slowdowns::of(ns);
    let some = [("avg", avg), ("p50", p50), ("p95", p95), ("p99", p99)];
    for (name, value) in some.into_iter().chain(p999.map(|p999| ("p999", p999))) {
        into.insert(format!("{prefix}fct_{name}_ns"), value.into());
    }
}

/// Adds the numbers of each size class: messages, slowdowns in thousandths, completion times.
pub(super) fn by_size(
    bins: &[SizeBin],
    sent: &[Sent],
    slowdown: impl Fn(&Sent) -> u64,
    into: &mut BTreeMap<String, i128>,
) {
    let mut classes: Vec<(Vec<u64>, Vec<u64>)> = vec![Default::default(); bins.len()];
    for one in sent {
        let class = SizeBin::index_of(bins, one.completion.message.bytes);
        if let Some((slowdowns, times)) = class.and_then(|class| classes.get_mut(class)) {
            slowdowns.push(slowdown(one));
            times.push(one.completion.time().as_nanos());
        }
    }
    for (bin, (slowdowns, times)) in bins.iter().zip(classes) {
        let Slowdowns { count, avg, p50, p95, p99, p999 } = Slowdowns::of(slowdowns);
        let some = [("messages", count), ("avg", avg), ("p50", p50), ("p95", p95), ("p99", p99)];
        for (name, value) in some.into_iter().chain(p999.map(|p999| ("p999", p999))) {
            into.insert(format!("{}.{name}", bin.name), value.into());
        }
        completion_times(&format!("{}.", bin.name), times, into);
    }
}
