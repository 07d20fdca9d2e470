//! Rates that messages would have if every link were shared max-min fairly: the numbers of `[metrics] max_min`.

use super::end_counts::Counts;
use crate::contest::network::prepared::PreparedNetwork;
use crate::contest::results::performance::{Sent, Unfinished};
use sluice_asic::units::Duration;
use sluice_fabric::host::message::Message;
use sluice_fabric::max_min::{FluidFlow, completion_times};
use sluice_fabric::topology::OnlyPaths;
use std::net::Ipv4Addr;

/// Returns the numbers of all messages and, with several workloads, of each: the mean of their own rates, and of those that
/// they would have if all messages that started, `early` ones included, flowed at their max-min fair rates.
pub(crate) fn numbers(
    links: &OnlyPaths,
    ready: &PreparedNetwork<'_>,
    sent: &[Sent],
    early: &[(Ipv4Addr, Message)],
    unfinished: &[Unfinished],
    workloads: &[String],
) -> Counts {
    let known = sent.iter().map(|sent| (sent.from, sent.completion.message));
    let under_way = unfinished.iter().filter(|one| one.left.acknowledged > 0);
    let others = early.iter().copied().chain(under_way.map(|one| (one.from, one.left.message)));
    let flow = |(from, message): (Ipv4Addr, Message)| FluidFlow {
        path: links.paths.get(&(from, message.to)).cloned().unwrap_or_default(),
        start: message.start,
        bytes: ready.wire_bytes(&message),
    };
    let flows: Vec<FluidFlow> = known.chain(others).map(flow).collect();
    let ideal = completion_times(&links.rates, &flows);
    let mut counts = Counts::new();
    let mut put = |prefix: &str, of: &dyn Fn(&Sent) -> bool| {
        let own: Vec<(&Sent, &Duration)> = sent.iter().zip(&ideal).filter(|(sent, _)| of(sent)).collect();
        let mean = |time: &dyn Fn(&(&Sent, &Duration)) -> Duration| {
            let rates = own.iter().map(|one| mbps(one.0.completion.message.bytes, time(one)));
            rates.sum::<u64>() / (own.len() as u64).max(1)
        };
        counts.insert(format!("{prefix}rate_mbps"), mean(&|(sent, _)| sent.completion.time()));
        counts.insert(format!("{prefix}max_min_mbps"), mean(&|(_, ideal)| **ideal));
    };
    put("", &|_| true);
    for (number, name) in workloads.iter().enumerate().filter(|_| workloads.len() > 1) {
        put(&format!("workload.{name}."), &|sent| usize::from(sent.completion.message.workload) == number);
    }
    counts
}

/// Returns the rate of so many bytes in this time.
fn mbps(bytes: u64, time: Duration) -> u64 {
    (u128::from(bytes) * 8 * 1_000_000 / u128::from(time.as_ps().max(1))) as u64
}
