//! Warnings about set-ups that cannot work: what they ask of the network is not there.

use super::end_counts::Counts;
use crate::contest::file::contest::Contest;
use crate::contest::file::hosts::timers::retransmission_timers;
use crate::contest::network::prepared::PreparedNetwork;
use crate::contest::results::performance::{Sent, Unfinished};
use sluice_asic::units::BitRate;
use sluice_fabric::host::nic::TransportConfig;
use sluice_fabric::network::SwitchId;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Bytes of messages that hosts of a switch send to other switches, and that they get from there.
type Crossing = BTreeMap<u32, [u128; 2]>;

/// Returns the warnings of a run.
pub(super) fn warnings(
    contest: &Contest,
    ready: &PreparedNetwork<'_>,
    counts: &Counts,
    (sent, unfinished): (&[Sent], &[Unfinished]),
) -> Vec<String> {
    let mut all = Vec::new();
    all.extend(no_marks(ready, counts));
    all.extend(dropped_by_wred(ready, counts));
    all.extend(short_drain(contest, ready, unfinished.len()));
    let messages = sent.iter().map(|one| (one.from, one.completion.message));
    let messages = messages.chain(unfinished.iter().map(|one| (one.from, one.left.message)));
    let crossing = crossing(ready, messages.map(|(from, message)| (from, message.to, message.bytes)));
    all.extend(narrow_cuts(contest, ready, &crossing));
    all
}

/// Warns of senders that react to marks in a network that marks nothing.
fn no_marks(ready: &PreparedNetwork<'_>, counts: &Counts) -> Option<String> {
    let reacts = |transport: &TransportConfig| match transport {
        TransportConfig::Rdma(rdma) => rdma.congestion.reads_marks(),
        TransportConfig::Tcp(_) | TransportConfig::Udp(_) => false,
    };
    let marks = ready
        .network
        .switches
        .iter()
        .any(|switch| switch.config.buffer.as_ref().is_some_and(|buffer| !buffer.file.ecn.is_empty()));
    let marked = counts.get("marked").copied().unwrap_or(0);
    (ready.transports.iter().any(reacts) && !marks && marked == 0).then(|| {
        format!(
            "the senders slow down when packets are marked, and none of {} packets was: no switch has a buffer profile that marks; \
             give the contest one, such as buffer = \"th\", or leave out the congestion control",
            counts.get("received").copied().unwrap_or(0)
        )
    })
}

/// Warns of packets that WRED dropped because they cannot be marked, although their senders count on a lossless class.
fn dropped_by_wred(ready: &PreparedNetwork<'_>, counts: &Counts) -> Option<String> {
    let lossless = |transport: &TransportConfig| match transport {
        TransportConfig::Rdma(rdma) => !rdma.congestion.reads_marks(),
        TransportConfig::Tcp(_) | TransportConfig::Udp(_) => false,
    };
    let dropped = counts.get("wred").copied().filter(|dropped| *dropped > 0)?;
    ready.transports.iter().any(lossless).then(|| {
        format!(
            "{dropped} packets were dropped by WRED: senders without a reaction to marks send packets that are not ECN-capable, which \
             the profile drops in place of marking, also in a lossless class; give them a reaction, or take the curve from the profile"
        )
    })
}

/// Warns of messages that had no time for a retransmission.
fn short_drain(contest: &Contest, ready: &PreparedNetwork<'_>, unfinished: usize) -> Option<String> {
    let timer = retransmission_timers(&ready.transports).into_iter().max_by_key(|timer| timer.time)?;
    (unfinished > 0 && contest.drain() < timer.time).then(|| {
        format!(
            "{unfinished} messages are unfinished, and the run ends {} after the last start, before a retransmission timer of \
             {} can expire: raise `drain` above it, or lower {}",
            contest.drain(),
            timer.time,
            timer.key
        )
    })
}

fn crossing(
    ready: &PreparedNetwork<'_>,
    messages: impl Iterator<Item = (Ipv4Addr, Ipv4Addr, u64)>,
) -> Crossing {
    let home: BTreeMap<Ipv4Addr, u32> = ready.stations.iter().map(|at| (at.address, at.switch)).collect();
    let mut crossing = Crossing::new();
    for (from, to, bytes) in messages {
        if let (Some(from), Some(to)) = (home.get(&from), home.get(&to))
            && from != to
        {
            crossing.entry(*from).or_default()[0] += u128::from(bytes);
            crossing.entry(*to).or_default()[1] += u128::from(bytes);
        }
    }
    crossing
}

/// Warns of the switch whose hosts exchange most in relation to what its cables to other switches carry, if they carry less.
fn narrow_cuts(contest: &Contest, ready: &PreparedNetwork<'_>, crossing: &Crossing) -> Option<String> {
    let (first, last) = contest.workload.window();
    let time = u128::from(last.saturating_sub(first).as_ps().max(1));
    let over = |(switch, bytes): (&u32, &[u128; 2])| {
        let carried = carried(ready, SwitchId(*switch)).as_bps();
        let [sent, got] = bytes.map(|bytes| bytes * 8 * 1_000_000_000_000 / time);
        let (rate, verb) = if sent >= got { (sent, "send to") } else { (got, "get from") };
        // A mean needs no more than a decimal of a Gb/s.
        let rate = u64::try_from(rate).unwrap_or(u64::MAX) / 100_000_000 * 100_000_000;
        (carried > 0 && rate > carried)
            .then(|| (rate / (carried / 1_000).max(1), *switch, rate, carried, verb))
    };
    let (_, switch, rate, carried, verb) = crossing.iter().filter_map(over).max()?;
    let name = ready.network.switches.get(switch as usize).map_or("", |switch| switch.name.as_str());
    Some(format!(
        "the hosts of switch `{name}` {verb} others {} on average, and its cables to other switches carry {}: the queues grow as long \
         as the workload lasts; lower the load, or add uplinks",
        BitRate::from_bps(rate),
        BitRate::from_bps(carried)
    ))
}

/// Returns the rate of all cables of a switch to others.
fn carried(ready: &PreparedNetwork<'_>, switch: SwitchId) -> BitRate {
    let rate = |link: &sluice_fabric::network::LinkSetup| {
        let end = link.ends.iter().find(|end| end.switch == switch)?;
        let setup = ready.network.switches.get(switch.0 as usize)?;
        let port = setup.ports.front(end.port)?;
        Some(link.rate.unwrap_or_else(|| setup.port_speed(port)).as_bps())
    };
    BitRate::from_bps(ready.network.links.iter().filter_map(rate).sum())
}
