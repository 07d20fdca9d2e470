//! One run of a contest: a program's network with its hosts, run until its messages are acknowledged.

use super::end_counts;
use super::estats;
use super::frame_labels::LabelledFrames;
use super::max_min;
use super::sampler::Sampler;
use super::set_up;
use crate::contest::file::contest::Contest;
use crate::contest::file::metrics::MetricsSetting;
use crate::contest::network::prepared::{PreparedNetwork, RunError};
use crate::contest::results::ideal_times::IdealTimes;
use crate::contest::results::performance::{Performance, Sent, Unfinished};
use crate::contest::results::samples::Samples;
use crate::contest::workload::{Sample, Station};
use crate::deadlocks::deadlocks;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::counters::HostCounters;
use sluice_fabric::host::message::Completion;
use sluice_fabric::host::nic::{BusCounters, HostMessages, Nic};
use sluice_fabric::network::{End, HostId, Network, SwitchId};
use std::sync::Arc;

/// Simulated time between two reports of progress.
const STRIDE: Duration = Duration::from_micros(100);

/// Returns the transport of each queue pair, by its number.
fn contexts(messages: &[HostMessages]) -> Arc<[u8]> {
    let all = || messages.iter().flat_map(HostMessages::iter);
    let mut contexts = vec![0; all().map(|message| message.pair as usize + 1).max().unwrap_or(0)];
    all().for_each(|message| contexts[message.pair as usize] = message.transport);
    contexts.into()
}

/// A network after its run, with its hosts.
pub(crate) struct FinishedNetwork {
    pub(crate) network: Network,
    pub(crate) hosts: Vec<HostId>,
    samples: Option<Samples>,
    labelled: Vec<LabelledFrames>,
}

/// Builds a program's network with its hosts, which will send these messages.
pub(crate) fn assemble<E>(
    ready: &PreparedNetwork<'_>,
    cable: Duration,
    seed: u64,
    messages: Vec<HostMessages>,
) -> Result<(Network, Vec<HostId>), RunError<E>> {
    let refused = |source| RunError::Network { line: ready.line, source: Box::new(source) };
    let mut network = Network::new(ready.seeded(seed), ready.catalogue).map_err(refused)?;
    let mut hosts = Vec::with_capacity(messages.len());
    let contexts = contexts(&messages);
    for ((place, station), messages) in ready.stations.iter().enumerate().zip(messages) {
        let Some(port) = ready.nics.get(&station.rate) else { continue };
        let nic = Nic::new(*port, station.address, &ready.transports, messages);
        let nic = nic.contexts(Arc::clone(&contexts)).registration_fence(ready.fence);
        let host = Box::new(match ready.buses.get(place) {
            Some(bus) => nic.bus(*bus),
            None => nic,
        });
        let at = End::new(SwitchId(station.switch), station.port);
        hosts.push(network.attach(at, station.delay.unwrap_or(cable), host).map_err(refused)?);
    }
    for (switch, time, op) in &ready.changes {
        network.control(*switch, *time, op.clone()).map_err(refused)?;
    }
    Ok((network, hosts))
}

/// Runs a network until all messages are acknowledged, or nothing happens before `end`; takes the samples and counts of
/// `metrics`.
pub(crate) fn run<E>(
    ready: &PreparedNetwork<'_>,
    cable: Duration,
    seed: u64,
    messages: Vec<HostMessages>,
    (end, metrics): (Time, Option<&MetricsSetting>),
    threads: usize,
    look: &mut dyn FnMut(Time) -> bool,
) -> Result<FinishedNetwork, RunError<E>> {
    let refused = |source| RunError::Network { line: ready.line, source: Box::new(source) };
    let (mut network, hosts) = assemble(ready, cable, seed, messages)?;
    let mut sampler = metrics.and_then(|metrics| metrics.sample).map(|every| {
        let port = |at: &Station| network.setup(SwitchId(at.switch)).and_then(|setup| setup.front(at.port));
        let host = |at: &Station| Some((SwitchId(at.switch), port(at)?.number()));
        let hosts: Vec<_> = ready.stations.iter().filter_map(host).collect();
        Sampler::new(every, &network, ready.catalogue, &ready.stages, &hosts)
    });
    let asked = metrics.is_some_and(|metrics| metrics.frames);
    let mut observers = LabelledFrames::of(&network, ready.catalogue, asked);
    // Every round handles an event before `end`; a later one, such as a retransmission timer, is not waited for.
    while network.is_busy() {
        let Some(next) = network.next_time().filter(|next| *next < end) else { break };
        if !look(network.time()) {
            return Err(RunError::Stopped);
        }
        let stride = network.time().max(next) + STRIDE;
        let until = sampler.as_ref().map_or(stride, Sampler::next).min(end);
        network.drain_parallel(until, threads.max(1), &mut observers).map_err(refused)?;
        if let Some(sampler) = sampler.as_mut().filter(|sampler| sampler.next() == until) {
            sampler.take(&network);
        }
    }
    Ok(FinishedNetwork { network, hosts, samples: sampler.map(Sampler::into_samples), labelled: observers })
}

impl FinishedNetwork {
    /// Collects the counters, the messages' times and the lives of `samples`. `own` has the ideal times of this program; the messages' `fastest` is
    /// not known yet, and is the same.
    pub(crate) fn judged(
        self,
        contest: &Contest,
        ready: &PreparedNetwork<'_>,
        own: &IdealTimes,
        samples: &[Sample],
    ) -> Performance {
        let (mut sent, mut unfinished, mut hosts) = (Vec::new(), Vec::new(), HostCounters::default());
        let (mut paused_hosts, mut early) = (0, Vec::new());
        for (station, id) in ready.stations.iter().zip(&self.hosts) {
            let Some(host) = self.network.host::<Nic>(*id) else { continue };
            unfinished
                .extend(host.unfinished().into_iter().map(|left| Unfinished { from: station.address, left }));
            let counters = host.counters();
            paused_hosts += u64::from(counters.pauses > 0);
            hosts += counters;
            let counts =
                |done: &Completion| done.message.start >= contest.workload.warm(done.message.workload);
            let (judged, others): (Vec<&Completion>, _) =
                host.completions().iter().partition(|done| counts(done));
            early.extend(others.into_iter().map(|done| (station.address, done.message)));
            sent.extend(judged.into_iter().filter_map(|done| {
                let own = ready.ideal_time(own, station.address, &done.message)?;
                Some(Sent { from: station.address, completion: *done, own, fastest: own })
            }));
        }
        unfinished.sort_by_key(|one| (one.left.message.start, one.left.message.pair));
        sent.sort_by_key(|sent| (sent.completion.message.start, sent.completion.message.pair));
        let mut counts = end_counts::counts(&self.network, ready.catalogue, self.network.time());
        counts.extend(of_hosts(&hosts));
        if contest.metrics.frames {
            counts.extend(LabelledFrames::counts(&self.labelled));
        }
        counts.insert("paused_hosts".to_owned(), paused_hosts);
        counts.extend(self.of_buses());
        counts.insert("alone_ns".to_owned(), own.mean().as_nanos());
        let workloads: Vec<String> = contest.workload.list.iter().map(|w| w.name.clone()).collect();
        if let Some(links) = &ready.paths {
            counts.extend(max_min::numbers(links, ready, &sent, &early, &unfinished, &workloads));
        }
        if !samples.is_empty() {
            let nics = self.hosts.iter().filter_map(|id| self.network.host::<Nic>(*id));
            counts.extend(estats::numbers(contest, nics, samples, &workloads));
        }
        let mut warnings = ready.warnings.clone();
        if counts.get("digests").is_some_and(|digests| *digests > 0) {
            warnings.extend(ready.unheard.iter().map(|(program, instead)| {
                format!(
                    "`{program}` sent digests (number `digests`) to a control plane, which a contest does not have: {instead}"
                )
            }));
        }
        warnings.extend(set_up::warnings(contest, ready, &counts, (&sent, &unfinished)));
        Performance {
            slowdown: contest.alone,
            bins: contest.metrics.bins(),
            window: contest.workload.window(),
            workloads,
            sent,
            unfinished,
            counts,
            deadlocks: deadlocks(&self.network),
            warnings,
            samples: self.samples,
        }
    }
}

impl FinishedNetwork {
    /// Returns the counters of the hosts' buses by name; nothing without buses.
    fn of_buses(&self) -> Vec<(String, u64)> {
        let nics = self.hosts.iter().filter_map(|id| self.network.host::<Nic>(*id));
        let buses: Vec<BusCounters> = nics.filter_map(Nic::bus_counters).collect();
        if buses.is_empty() {
            return Vec::new();
        }
        let sum = |of: fn(&BusCounters) -> u64| buses.iter().map(of).sum::<u64>();
        let ps = self.network.time().since_origin().as_ps().max(1);
        let loopback = u128::from(sum(|bus| bus.loopback)) * 8 * 1_000_000 / u128::from(ps);
        let all = [
            ("host_pfc_frames", sum(|bus| bus.pauses)),
            ("pausing_hosts", buses.iter().filter(|bus| bus.pauses > 0).count() as u64),
            ("host_dropped", sum(|bus| bus.dropped)),
            ("loopback_mbps", loopback as u64),
            ("receive_buffer_max_bytes", buses.iter().map(|bus| bus.most).max().unwrap_or(0)),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

/// Returns the counters of hosts by name.
fn of_hosts(hosts: &HostCounters) -> impl Iterator<Item = (String, u64)> {
    let all = [
        ("sent", hosts.sent),
        ("resent", hosts.resent),
        ("received", hosts.received),
        ("early", hosts.early),
        ("marked", hosts.marked),
        ("acks", hosts.acks),
        ("nacks", hosts.nacks),
        ("notifications", hosts.notifications),
        ("notified", hosts.notified),
        ("unrecorded", hosts.unrecorded),
        ("timeouts", hosts.timeouts),
        ("fast_retransmits", hosts.fast_retransmits),
        ("spurious", hosts.spurious),
        ("duplicates", hosts.duplicates),
        ("missing", hosts.missing),
        ("stray", hosts.stray),
        ("host_pauses", hosts.pauses),
        ("host_paused_ns", hosts.paused.as_nanos()),
    ];
    all.into_iter().map(|(name, value)| (name.to_owned(), value))
}
