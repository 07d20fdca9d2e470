//! Runs a contest: each program gets the same network, hosts and messages.
//!
//! A message's *slowdown* is the time from its start to its last acknowledgement, divided by its ideal time. Ideal
//! times are measured: in a separate run, one packet goes from every switch with hosts to every other one, with nothing
//! else in the network. Either the fastest program's time counts for all programs, or each program's own. The rest of a
//! longer message adds its serialisation time at the host's link rate. No slowdown is below 1 (model: conweave §4.5).

use super::file::{AloneName, Contest, Contestant};
use super::performance::{Performance, Sent, Unfinished};
use super::workload::{Offered, Station, messages};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_control::ControlOp;
use sluice_fabric::deploy::{Defaults, DeployError, Files, deploy};
use sluice_fabric::host::rnic::{Message, Rnic, RnicConfig, RnicCounters};
use sluice_fabric::network::{End, HostId, LinkDrop, Network, NetworkError, NetworkSetup, SwitchId};
use sluice_fabric::topology::Blueprint;
use sluice_ir::LabelKind;
use sluice_place::Options;
use sluice_switch::{Reason, SwitchConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use thiserror::Error;

/// Bytes of a packet in addition to its payload: Ethernet, IPv4, UDP, BTH, invariant CRC.
const OVERHEAD: u64 = 14 + 20 + 8 + 12 + 4;
/// Time between two probes, longer than any path's round trip.
const APART: Duration = Duration::from_micros(100);
/// Simulated time between two reports of progress.
const STRIDE: Duration = Duration::from_micros(100);

/// Reason why a contest cannot run.
#[derive(Debug, Error)]
pub enum RunError<E> {
    /// The network cannot be built with a program.
    #[error("line {line}: {source}")]
    Deploy {
        /// The program's line in the file.
        line: usize,
        /// The reason.
        source: Box<DeployError<E>>,
    },
    /// The network rejects its setup, a host or a step.
    #[error("line {line}: {source}")]
    Network {
        /// The program's line in the file.
        line: usize,
        /// The reason.
        source: Box<NetworkError>,
    },
    /// A setting is out of range, or no message can be sent.
    #[error("{0}")]
    Setting(String),
    /// The caller stopped the run.
    #[error("interrupted")]
    Stopped,
}

/// Everything that a contest needs in addition to its file.
pub struct ContestSetup<'a, F> {
    /// Switches and cables. The blueprint's program for the whole network is ignored; the contest names the programs.
    pub plan: &'a Blueprint,
    /// Finds programs by name and creates the executors of all switches.
    pub catalogue: &'a Catalogue,
    /// The chip of all switches.
    pub chip: ChipSpec,
    /// Source of the messages.
    pub offered: &'a Offered,
    /// Reads the buffer profiles and entries that the contest names.
    pub files: &'a F,
    /// Threads that run the network; 0 is taken as 1.
    pub threads: usize,
}

/// Progress of a contest.
#[derive(Clone, Copy, Debug)]
pub struct ContestProgress<'a> {
    /// Label of the running program.
    pub label: &'a str,
    /// Number of finished programs, and of all.
    pub done: (usize, usize),
    /// Simulated time of the running network, and the end of the workload.
    pub time: (Time, Duration),
}

/// A program in its network, ready to run.
struct Ready<'c> {
    line: usize,
    contestant: &'c Contestant,
    catalogue: &'c Catalogue,
    network: NetworkSetup,
    /// Control-plane operations of the topology's events.
    changes: Vec<(SwitchId, Time, ControlOp)>,
    stations: Vec<Station>,
    nic: RnicConfig,
}

impl Ready<'_> {
    /// Returns the same network without its events: cables and entries stay as they are at the start.
    fn undisturbed(&self) -> Self {
        let mut network = self.network.clone();
        network.links.iter_mut().for_each(|link| link.script.clear());
        let (stations, nic) = (self.stations.clone(), self.nic.clone());
        Ready { network, changes: Vec::new(), stations, nic, ..*self }
    }
}

/// Runs all programs, one after the other. `progress` is called with the state of the run; if it returns false, the
/// contest stops.
///
/// # Errors
/// If a program cannot run in the network, a setting is out of range, or `progress` returns false.
pub fn run_contest<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    progress: &mut dyn FnMut(ContestProgress<'_>) -> bool,
) -> Result<Vec<Performance>, RunError<F::Error>> {
    let mut all = Vec::with_capacity(contest.program.len());
    for program in &contest.program {
        let line = contest.line(program.span().start);
        all.push(ready(contest, setup, program.get_ref(), line)?);
    }
    let mut own = Vec::with_capacity(all.len());
    for ready in &all {
        own.push(Alone::probe(contest, setup, &ready.undisturbed())?);
    }
    let fastest = Alone::fastest(&own);
    let mut performances = Vec::with_capacity(all.len());
    for (number, ready) in all.iter().enumerate() {
        let rate = ready.nic.rate;
        let sent = messages(&contest.workload, setup.offered, &ready.stations, rate, contest.seed());
        let sent = sent.map_err(RunError::Setting)?;
        let end = Time::ORIGIN + contest.workload.time + contest.drain();
        let (label, done) = (ready.contestant.label(), (number, all.len()));
        let mut look =
            |time| progress(ContestProgress { label: &label, done, time: (time, contest.workload.time) });
        let run = run(ready, contest.hosts.cable, sent, end, setup.threads, &mut look)?;
        let alone = match contest.alone {
            AloneName::Fastest => &fastest,
            AloneName::Own => &own[number],
        };
        performances.push(run.judged(contest, ready, alone, own[number].mean()));
    }
    Ok(performances)
}

/// Builds the contest's network with one program.
fn ready<'c, F: Files>(
    contest: &'c Contest,
    setup: &ContestSetup<'c, F>,
    contestant: &'c Contestant,
    line: usize,
) -> Result<Ready<'c>, RunError<F::Error>> {
    let mut plan = setup.plan.clone();
    (plan.program, plan.params) = (None, Vec::new());
    let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let defaults = Defaults {
        program: contestant.name.clone(),
        params: contestant.params.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        chip: setup.chip.clone(),
        port_speed: contest.port_speed,
        buffer: contestant.buffer.clone().or_else(|| contest.buffer.clone()),
        entries: None,
        placing: Options::default(),
        config: SwitchConfig { seed: contest.seed(), wire: contest.wire, ..SwitchConfig::default() },
    };
    let deployed = deploy(&plan, setup.catalogue, &defaults, setup.files);
    let deployed = deployed.map_err(|source| RunError::Deploy { line, source: Box::new(source) })?;
    let stations: Vec<Station> = deployed.positions.iter().flat_map(stations_of).collect();
    let rate = stations.first().and_then(|station| speed(&deployed.network, *station));
    let rate = rate.ok_or_else(|| RunError::Setting("the network has no hosts".into()))?;
    let nic = contest.hosts.rnic(rate, contest.wire).map_err(RunError::Setting)?;
    let (network, changes) = (deployed.network, deployed.changes);
    Ok(Ready { line, contestant, catalogue: setup.catalogue, network, changes, stations, nic })
}

fn stations_of(position: &Position) -> impl Iterator<Item = Station> + '_ {
    position.ports.iter().filter_map(|used| match used.neighbor {
        Neighbor::Host(address) => Some(Station { switch: position.number, port: used.port.0, address }),
        Neighbor::Switch { .. } => None,
    })
}

/// Returns the rate of a host's port, `None` if the switch has no such port.
fn speed(network: &NetworkSetup, station: Station) -> Option<BitRate> {
    let switch = network.switches.get(station.switch as usize)?;
    let port = switch.ports.front(sluice_asic::port::FrontPort(station.port))?;
    let dev = port.dev_port.number();
    let slower = switch.config.port_speeds.iter().rev().find(|(of, _)| *of == dev);
    Some(slower.map_or(port.speed, |(_, speed)| *speed))
}

/// A network after its run, with its hosts.
struct Ran {
    network: Network,
    hosts: Vec<HostId>,
}

/// Runs a network until all messages are acknowledged, or nothing happens before `end`.
fn run<E>(
    ready: &Ready<'_>,
    cable: Duration,
    messages: Vec<Vec<Message>>,
    end: Time,
    threads: usize,
    look: &mut dyn FnMut(Time) -> bool,
) -> Result<Ran, RunError<E>> {
    let refused = |source| RunError::Network { line: ready.line, source: Box::new(source) };
    let mut network = Network::new(ready.network.clone(), ready.catalogue).map_err(refused)?;
    let mut hosts = Vec::with_capacity(messages.len());
    for (station, messages) in ready.stations.iter().zip(messages) {
        let host = Box::new(Rnic::new(ready.nic.clone(), station.address, messages));
        let at = End::new(SwitchId(station.switch), station.port);
        hosts.push(network.attach(at, cable, host).map_err(refused)?);
    }
    for (switch, time, op) in &ready.changes {
        network.control(*switch, *time, op.clone()).map_err(refused)?;
    }
    let mut observers = vec![(); network.len()];
    // Every round handles an event before `end`; a later one, such as a retransmission timer, is not waited for.
    while network.is_busy() {
        let Some(next) = network.next_time().filter(|next| *next < end) else { break };
        if !look(network.time()) {
            return Err(RunError::Stopped);
        }
        let until = (network.time().max(next) + STRIDE).min(end);
        network.drain_parallel(until, threads.max(1), &mut observers).map_err(refused)?;
    }
    Ok(Ran { network, hosts })
}

/// Ideal times: for each pair of switches, the time from a full packet of one switch's host to the acknowledgement from
/// the other switch's host, with nothing else in the network.
#[derive(Clone, Debug, Default)]
struct Alone {
    times: BTreeMap<(u32, u32), Duration>,
    switch_of: BTreeMap<Ipv4Addr, u32>,
}

impl Alone {
    /// Measures the ideal times of one program.
    fn probe<F: Files>(
        contest: &Contest,
        setup: &ContestSetup<'_, F>,
        ready: &Ready<'_>,
    ) -> Result<Alone, RunError<F::Error>> {
        let stations = &ready.stations;
        let switch_of = stations.iter().map(|s| (s.address, s.switch)).collect();
        let mut alone = Alone { times: BTreeMap::new(), switch_of };
        let mut messages = vec![Vec::new(); stations.len()];
        let (mut ways, mut seen) = (Vec::new(), BTreeSet::new());
        for (number, from) in stations.iter().enumerate() {
            for to in stations.iter().filter(|to| to.address != from.address) {
                if !seen.insert((from.switch, to.switch)) {
                    continue;
                }
                ways.push((from.switch, to.switch));
                let (pair, start) = (ways.len() as u32, Time::ORIGIN + APART * ways.len() as u64);
                let bytes = ready.nic.mtu.into();
                messages[number].push(Message { pair, start, to: to.address, port: 49_152, bytes });
            }
        }
        let end = Time::ORIGIN + APART * (ways.len() as u64 + 2);
        let ran = run(ready, contest.hosts.cable, messages, end, setup.threads, &mut |_| true)?;
        for host in &ran.hosts {
            for done in ran.network.host::<Rnic>(*host).map_or(&[][..], Rnic::completions) {
                let way = ways.get(done.message.pair as usize - 1);
                alone.times.extend(way.map(|way| (*way, done.time())));
            }
        }
        match ways.iter().find(|way| !alone.times.contains_key(way)) {
            None => Ok(alone),
            Some((from, to)) => {
                let name = |switch: &u32| &setup.plan.switches[*switch as usize].name;
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

    /// Returns the least time of all programs for each pair of switches.
    fn fastest(all: &[Alone]) -> Alone {
        let mut fastest = all.first().cloned().unwrap_or_default();
        for (way, least) in &mut fastest.times {
            *least = all.iter().filter_map(|one| one.times.get(way)).copied().min().unwrap_or(*least);
        }
        fastest
    }

    /// Returns the mean over pairs of different switches; over all pairs if the network has one switch with hosts.
    fn mean(&self) -> Duration {
        let between: Vec<u64> =
            self.times.iter().filter(|((a, b), _)| a != b).map(|(_, time)| time.as_ps()).collect();
        let all = if between.is_empty() { self.times.values().map(|t| t.as_ps()).collect() } else { between };
        Duration::from_ps(all.iter().sum::<u64>() / (all.len() as u64).max(1))
    }

    /// Returns the ideal time of a message, `None` if its sender or receiver is unknown.
    fn time(&self, from: Ipv4Addr, message: &Message, nic: &RnicConfig) -> Option<Duration> {
        let way = (*self.switch_of.get(&from)?, *self.switch_of.get(&message.to)?);
        let mtu = u64::from(nic.mtu);
        let line = |payload: u64| nic.wire.wire_bytes(Bytes(payload + OVERHEAD)).0;
        let (full, rest) = (message.bytes / mtu, message.bytes % mtu);
        let all = full * line(mtu) + if rest > 0 { line(rest) } else { 0 };
        let beyond = nic.rate.time_for(Bytes(all.saturating_sub(line(mtu))));
        Some(*self.times.get(&way)? + beyond)
    }
}

impl Ran {
    /// Collects the counters and the messages' times. `alone` has the ideal times for slowdowns, `own` is the mean
    /// ideal time of this program.
    fn judged(self, contest: &Contest, ready: &Ready<'_>, alone: &Alone, own: Duration) -> Performance {
        let warm = Time::ORIGIN + contest.workload.warm_up;
        let (mut sent, mut unfinished, mut hosts) = (Vec::new(), Vec::new(), RnicCounters::default());
        for (station, id) in ready.stations.iter().zip(&self.hosts) {
            let Some(host) = self.network.host::<Rnic>(*id) else { continue };
            unfinished.extend(host.unfinished().map(|left| Unfinished { from: station.address, left }));
            hosts += host.counters();
            let judged = host.completions().iter().filter(|done| done.message.start >= warm);
            sent.extend(judged.filter_map(|done| {
                let alone = alone.time(station.address, &done.message, &ready.nic)?;
                Some(Sent { from: station.address, completion: *done, alone })
            }));
        }
        unfinished.sort_by_key(|one| (one.left.message.start, one.left.message.pair));
        sent.sort_by_key(|sent| (sent.completion.message.start, sent.completion.message.pair));
        let mut performance = Performance {
            label: ready.contestant.label(),
            program: ready.contestant.name.clone(),
            sent,
            unfinished,
            hosts,
            totals: self.network.totals(),
            drops: BTreeMap::new(),
            counters: BTreeMap::new(),
            pauses: 0,
            alone: own,
            simulated: self.network.time().since_origin(),
        };
        for (drop, name, ..) in LinkDrop::TABLE {
            performance.lose(name, performance.totals.link_drops[drop as usize]);
        }
        for id in self.network.ids() {
            self.count(id, &mut performance);
        }
        performance
    }

    /// Adds the counters of one switch.
    fn count(&self, id: SwitchId, into: &mut Performance) {
        /// Counters with more cells are per flow, port or entry, and are left out.
        const FEW: usize = 16;
        let Some(switch) = self.network.switch(id) else { return };
        let (program, totals) = (switch.program(), switch.totals());
        for (reason, count) in totals.reasons() {
            let consumed = matches!(reason, Reason::Label(l) if program.labels[l].kind == LabelKind::Consume);
            if !consumed {
                into.lose(reason.name(program), count);
            }
        }
        into.pauses += totals.made.pfc;
        for ((counter, declared), cells) in program.counters.iter().zip(switch.state().counters.values()) {
            debug_assert_eq!(program.counters[counter].name, declared.name);
            for (number, cell) in cells.iter().enumerate().filter(|_| cells.len() <= FEW) {
                let name = match cells.len() {
                    1 => declared.name.to_string(),
                    _ => format!("{}.{number}", declared.name),
                };
                *into.counters.entry(name).or_default() += cell.packets;
            }
        }
    }
}
