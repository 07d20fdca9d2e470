//! Ideal times of messages: what they take in a network without other messages.

use super::network_run::run;
use crate::contest::file::contest::Contest;
use crate::contest::network::prepared::{ContestSetup, PreparedNetwork, RunError};
use crate::contest::results::ideal_times::IdealTimes;
use crate::contest::workload::Station;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::deploy::Files;
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{HostMessages, Nic};
use std::collections::{BTreeMap, BTreeSet};

/// Least time between two probes.
const APART: Duration = Duration::from_micros(100);
/// Seed of the runs that measure ideal times.
const PROBE_SEED: u64 = 1;

/// Returns the delays of all cables of the longest round trip between two hosts over a shortest path.
fn longest_round_trip(ready: &PreparedNetwork<'_>, cable: Duration) -> Duration {
    let mut ways: BTreeMap<u32, Vec<(u32, Duration)>> = BTreeMap::new();
    for link in &ready.network.links {
        for (from, to) in [(0, 1), (1, 0)] {
            let [from, to] = [from, to].map(|end: usize| link.ends[end].switch.0);
            ways.entry(from).or_default().push((to, link.delay));
        }
    }
    let mut longest = Duration::ZERO;
    for first in ready.stations.iter().map(|station| station.switch).collect::<BTreeSet<u32>>() {
        // For each switch its hops, and the longest delay over that many.
        let mut known = BTreeMap::from([(first, (0_u32, Duration::ZERO))]);
        let mut open = std::collections::VecDeque::from([first]);
        while let Some(at) = open.pop_front() {
            let (hops, delay) = known[&at];
            longest = longest.max(delay);
            for (next, more) in ways.get(&at).into_iter().flatten() {
                let found = known.entry(*next).or_insert_with(|| {
                    open.push_back(*next);
                    (hops + 1, Duration::ZERO)
                });
                if found.0 == hops + 1 {
                    found.1 = found.1.max(delay + *more);
                }
            }
        }
    }
    let host = ready.stations.iter().map(|station| station.delay.unwrap_or(cable)).max();
    (longest + host.unwrap_or(cable) * 2) * 2
}

/// The probes of a network: one packet for each way between two classes of hosts.
struct Probes {
    /// The two classes of each way.
    ways: Vec<(u32, u32)>,
    /// Ideal times without a time yet.
    alone: IdealTimes,
    /// The probe of a way has its place in `ways`, counted from 1, as its queue pair.
    messages: Vec<HostMessages>,
    end: Time,
}

/// Returns the probes of a network.
fn probes(contest: &Contest, ready: &PreparedNetwork<'_>) -> Probes {
    let stations = &ready.stations;
    let apart = APART.max(longest_round_trip(ready, contest.hosts.cable) * 2);
    let class = |station: &Station| (station.switch, station.rate, station.delay);
    let classes: BTreeSet<_> = stations.iter().map(class).collect();
    let number: BTreeMap<_, u32> = classes.into_iter().zip(0..).collect();
    let class_of = stations.iter().map(|station| (station.address, number[&class(station)])).collect();
    let alone = IdealTimes { times: BTreeMap::new(), class_of };
    let mut messages = vec![Vec::new(); stations.len()];
    let (mut ways, mut seen) = (Vec::new(), BTreeSet::new());
    for (number, from) in stations.iter().enumerate() {
        for to in stations.iter().filter(|to| to.address != from.address) {
            let way = (alone.class_of[&from.address], alone.class_of[&to.address]);
            if !seen.insert(way) {
                continue;
            }
            ways.push(way);
            let (pair, start) = (ways.len() as u32, Time::ORIGIN + apart * ways.len() as u64);
            let bytes = ready.mtu.into();
            let to = to.address;
            messages[number].push(Message {
                pair,
                transport: 0,
                workload: 0,
                start,
                to,
                port: 49_152,
                bytes,
            });
        }
    }
    let mut probes = ways.len() as u64;
    // One more packet for each further transport that needs records, only to see whether the program adds them.
    if let (Some(own), Some(to)) = (messages.first_mut(), stations.get(1)) {
        for (transport, _) in (0..).zip(&ready.transports).skip(1).filter(|(_, t)| t.telemetry().is_some()) {
            probes += 1;
            let (pair, start) = (probes as u32, Time::ORIGIN + apart * probes);
            let (to, bytes) = (to.address, ready.mtu.into());
            own.push(Message { pair, transport, workload: 0, start, to, port: 49_152, bytes });
        }
    }
    let messages = messages.into_iter().map(HostMessages::from).collect();
    Probes { ways, alone, messages, end: Time::ORIGIN + apart * (probes + 2) }
}

/// Runs the probes of one program without a result, and calls `look` with the time of the run and the time of its end. Ends if
/// `look` returns false.
pub(super) fn try_probes<E>(
    contest: &Contest,
    ready: &PreparedNetwork<'_>,
    look: &mut dyn FnMut(Time, Time) -> bool,
) -> Result<(), RunError<E>> {
    let Probes { messages, end, .. } = probes(contest, ready);
    let cable = contest.hosts.cable;
    match run(ready, cable, PROBE_SEED, messages, (end, None), 1, &mut |now| look(now, end)) {
        Ok(_) | Err(RunError::Stopped) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Measures the ideal times of one program.
pub(super) fn probe<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    ready: &PreparedNetwork<'_>,
    threads: usize,
) -> Result<IdealTimes, RunError<F::Error>> {
    let stations = &ready.stations;
    let Probes { ways, mut alone, messages, end } = probes(contest, ready);
    let cable = contest.hosts.cable;
    let ran = run(ready, cable, PROBE_SEED, messages, (end, None), threads, &mut |_| true)?;
    for host in &ran.hosts {
        for done in ran.network.host::<Nic>(*host).map_or(&[][..], Nic::completions) {
            let way = ways.get(done.message.pair as usize - 1);
            alone.times.extend(way.map(|way| (*way, done.time())));
        }
    }
    let hosts = ran.hosts.iter().filter_map(|host| ran.network.host::<Nic>(*host));
    if hosts.map(|host| host.counters().unrecorded).sum::<u64>() > 0 {
        return Err(RunError::Setting(format!(
            "program {}: packets of congestion = \"hpcc\" come back without records of their hops; run `hpcc-int` with \
             `udp_port` and `layout` as in hosts.telemetry (UDP port 4791 and layout paper by default)",
            ready.contestant.name
        )));
    }
    match ways.iter().find(|way| !alone.times.contains_key(way)) {
        None => Ok(alone),
        Some((from, to)) => {
            let name = |class: &u32| {
                let of = |station: &&Station| alone.class_of.get(&station.address) == Some(class);
                let switch = stations.iter().find(of).map_or(0, |station| station.switch);
                &setup.plan.switches[switch as usize].name
            };
            Err(RunError::Setting(format!(
                "program {}: a packet from a host of `{}` to one of `{}` is never acknowledged in an empty \
                 network; the program must forward IPv4",
                ready.contestant.name,
                name(from),
                name(to)
            )))
        }
    }
}
