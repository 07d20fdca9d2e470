//! Where the time of work requests goes, as RDMA Extended Statistics have it (model: buffer §5, lesson L11).
//!
//! T1 is the time at which software posts a work request, T5 that at which the NIC makes its completion queue element, and
//! T6 that at which software has polled the element. T5 - T1 is the latency that the NIC sees, T6 - T1 that of software.

use super::end_counts::Counts;
use crate::contest::file::contest::Contest;
use crate::contest::results::performance::Slowdowns;
use crate::contest::workload::{Mark, Sample, SampleKind};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::Completion;
use sluice_fabric::host::nic::Nic;
use std::collections::BTreeMap;

/// Kinds of work requests, by the names of their numbers.
const REQUESTS: [(SampleKind, &str); 3] =
    [(SampleKind::Send, "send"), (SampleKind::Write, "write"), (SampleKind::Read, "read")];

/// A finished work request or operation.
struct Life {
    kind: SampleKind,
    workload: u8,
    /// True if it begins after the warm-up.
    counts: bool,
    /// End of the software that follows.
    end: Time,
    /// T5 - T1, and the time to the end of the software that follows, ns.
    nic: u64,
    whole: u64,
    bytes: u64,
}

/// Returns the numbers of the samples that are complete and begin after the warm-up: of all, and of each workload if there are
/// several.
pub(crate) fn numbers<'n>(
    contest: &Contest,
    nics: impl Iterator<Item = &'n Nic>,
    samples: &[Sample],
    workloads: &[String],
) -> Counts {
    let (mut ended, mut arrived): (BTreeMap<u32, Completion>, BTreeMap<u32, Time>) = Default::default();
    for nic in nics {
        ended.extend(nic.completions().iter().map(|done| (done.message.pair, *done)));
        arrived.extend(nic.arrivals().iter().copied());
    }
    let life = |sample: &Sample| {
        let first = &ended.get(&(sample.from + 1))?.message;
        let at = match sample.to {
            Mark::Acknowledged(message) => ended.get(&(message + 1))?.end,
            Mark::Received(message) => *arrived.get(&(message + 1))?,
        };
        let nic = at.saturating_since(first.start);
        let whole = (nic + sample.after).as_nanos();
        let (kind, workload) = (sample.kind, first.workload);
        let counts = first.start >= contest.workload.warm(workload);
        let end = at + sample.after;
        Some(Life { kind, workload, counts, end, nic: nic.as_nanos(), whole, bytes: sample.bytes })
    };
    let lives: Vec<Life> = samples.iter().filter_map(life).collect();
    let mut counts = Counts::new();
    put("", &lives.iter().collect::<Vec<_>>(), contest.workload.window(), &mut counts);
    for (number, name) in workloads.iter().enumerate().filter(|_| workloads.len() > 1) {
        let own: Vec<&Life> = lives.iter().filter(|life| usize::from(life.workload) == number).collect();
        let setting = &contest.workload.list[number];
        let window = (setting.begin + setting.warm_up, setting.begin + setting.time);
        put(&format!("workload.{name}."), &own, window, &mut counts);
    }
    counts
}

/// Adds the numbers of these lives, each after `prefix`. Kinds without a life have none. Rates are those of the operations that
/// end in the window, from the end of the warm-up to the end of the workload.
fn put(prefix: &str, lives: &[&Life], (begin, end): (Duration, Duration), into: &mut Counts) {
    let of = |kind: SampleKind| lives.iter().filter(move |life| life.kind == kind && life.counts);
    let mut times = |name: String, all: Vec<u64>| {
        let Slowdowns { avg, p50, p99, .. } = Slowdowns::of(all);
        for (part, value) in [("avg", avg), ("p50", p50), ("p99", p99)] {
            into.insert(format!("{prefix}{name}_{part}_ns"), value);
        }
    };
    for (kind, name) in REQUESTS.into_iter().filter(|(kind, _)| of(*kind).next().is_some()) {
        times(format!("estats.{name}.t5_t1"), of(kind).map(|life| life.nic).collect());
        times(format!("estats.{name}.t6_t1"), of(kind).map(|life| life.whole).collect());
    }
    times("operation".to_owned(), of(SampleKind::Operation).map(|life| life.whole).collect());
    into.insert(format!("{prefix}operations"), of(SampleKind::Operation).count() as u64);
    let inside = |life: &&&Life| (begin..end).contains(&life.end.since_origin());
    let ended = lives.iter().filter(|life| life.kind == SampleKind::Operation).filter(inside);
    let (count, bytes) = ended.fold((0_u64, 0_u64), |(count, bytes), life| (count + 1, bytes + life.bytes));
    let ps = u128::from(end.as_ps().saturating_sub(begin.as_ps()).max(1));
    into.insert(
        format!("{prefix}operations_per_second"),
        (u128::from(count) * 1_000_000_000_000 / ps) as u64,
    );
    into.insert(format!("{prefix}operation_mbps"), (u128::from(bytes) * 8_000_000 / ps) as u64);
}
