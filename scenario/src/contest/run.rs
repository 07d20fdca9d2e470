//! Runs a contest: for each program the same network, hosts and messages.
//!
//! *Slowdown* is the time from a message's start to its last acknowledgement over the time that it would take alone. That is
//! measured: in a run of its own one packet goes from every switch with hosts to every other one, with nothing else on
//! the way, and the fastest program's time counts for all, or each one's own; what a longer message has beyond that packet
//! takes its time on the host's line. No slowdown is below 1 (model: conweave §4.5).

use super::file::{AloneName, Contest, Contestant};
use super::performance::{Performance, Sent};
use super::workload::{Station, messages};
use sluice_asic::chip::ChipSpec;
use sluice_asic::mac::wire_bytes;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_catalogue::position::{Neighbor, Position};
use sluice_fabric::deploy::{Defaults, DeployError, Files, deploy};
use sluice_fabric::host::rnic::{Message, Rnic, RnicConfig, RnicCounters};
use sluice_fabric::network::{End, HostId, LinkDrop, Network, NetworkError, NetworkSetup, SwitchId};
use sluice_fabric::topology::Blueprint;
use sluice_ir::LabelKind;
use sluice_pcaps::generate::Cdf;
use sluice_place::Options;
use sluice_switch::{Reason, SwitchConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use thiserror::Error;

/// Bytes of a packet beside its payload: Ethernet, IPv4, UDP, base transport header, invariant CRC.
const OVERHEAD: u64 = 14 + 20 + 8 + 12 + 4;
/// From one probe to the next: longer than any path takes.
const APART: Duration = Duration::from_micros(100);
/// How far a network runs between two looks at how far it is.
const STRIDE: Duration = Duration::from_micros(100);

/// Why a contest cannot be held.
#[derive(Debug, Error)]
pub enum RunError<E> {
    /// A program cannot be put into the network.
    #[error("line {line}: {source}")]
    Deploy {
        /// The program's line in the file.
        line: usize,
        /// Why.
        source: Box<DeployError<E>>,
    },
    /// The network refuses something.
    #[error("line {line}: {source}")]
    Network {
        /// The program's line in the file.
        line: usize,
        /// Why.
        source: Box<NetworkError>,
    },
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
    /// It was given up.
    #[error("interrupted")]
    Stopped,
}

/// Where a contest is held.
pub struct ContestSetup<'a, F> {
    /// Switches and cables. Programs that it names are not asked for.
    pub plan: &'a Blueprint,
    /// Lists the programs that the contest names, and makes the executors of all switches.
    pub catalogue: &'a Catalogue,
    /// The chip of all switches.
    pub chip: ChipSpec,
    /// Sizes of messages.
    pub sizes: &'a Cdf,
    /// Reads what the contest names.
    pub files: &'a F,
    /// Threads of a network.
    pub threads: usize,
}

/// How far a contest is.
#[derive(Clone, Copy, Debug)]
pub struct ContestProgress<'a> {
    /// The program that runs.
    pub label: &'a str,
    /// Programs that are done, and all.
    pub done: (usize, usize),
    /// How far its network is, and until when messages begin.
    pub time: (Time, Duration),
}

/// A program in its network, before it runs.
struct Ready<'c> {
    line: usize,
    contestant: &'c Contestant,
    catalogue: &'c Catalogue,
    network: NetworkSetup,
    stations: Vec<Station>,
    nic: RnicConfig,
}

/// Lets all programs run. `progress` is told how far they are, and says whether to go on.
///
/// # Errors
/// When a program cannot run in the network, a setting makes no sense, or `progress` gives up.
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
        own.push(Alone::probe(contest, setup, ready)?);
    }
    let fastest = Alone::fastest(&own);
    let mut performances = Vec::with_capacity(all.len());
    for (number, ready) in all.iter().enumerate() {
        let rate = ready.nic.rate;
        let sent = messages(&contest.workload, setup.sizes, &ready.stations, rate, contest.seed());
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

/// Puts a program into the network.
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
        config: SwitchConfig { seed: contest.seed(), ..SwitchConfig::default() },
    };
    let deployed = deploy(&plan, setup.catalogue, &defaults, setup.files);
    let deployed = deployed.map_err(|source| RunError::Deploy { line, source: Box::new(source) })?;
    let stations: Vec<Station> = deployed.positions.iter().flat_map(stations_of).collect();
    let rate = stations.first().and_then(|station| speed(&deployed.network, *station));
    let rate = rate.ok_or_else(|| RunError::Setting("the network has no hosts".into()))?;
    let nic = contest.hosts.rnic(rate).map_err(RunError::Setting)?;
    Ok(Ready { line, contestant, catalogue: setup.catalogue, network: deployed.network, stations, nic })
}

fn stations_of(position: &Position) -> impl Iterator<Item = Station> + '_ {
    position.ports.iter().filter_map(|used| match used.neighbor {
        Neighbor::Host(address) => Some(Station { switch: position.number, port: used.port.0, address }),
        Neighbor::Switch { .. } => None,
    })
}

/// The rate of a host's port.
fn speed(network: &NetworkSetup, station: Station) -> Option<BitRate> {
    let switch = network.switches.get(station.switch as usize)?;
    let port = switch.ports.front(sluice_asic::port::FrontPort(station.port))?;
    let dev = port.dev_port.number();
    let slower = switch.config.port_speeds.iter().rev().find(|(of, _)| *of == dev);
    Some(slower.map_or(port.speed, |(_, speed)| *speed))
}

/// A network that has run.
struct Ran {
    network: Network,
    hosts: Vec<HostId>,
}

/// Runs a network until all messages are sent and acknowledged, but not beyond `end`.
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
    let mut observers = vec![(); network.len()];
    while network.is_busy() && network.time() < end {
        if !look(network.time()) {
            return Err(RunError::Stopped);
        }
        let next = network.next_time().unwrap_or(end);
        let until = (network.time().max(next) + STRIDE).min(end);
        network.drain_parallel(until, threads.max(1), &mut observers).map_err(refused)?;
        if network.time() < until && network.next_time().is_none() {
            break;
        }
    }
    Ok(Ran { network, hosts })
}

/// How long a full packet takes from a switch's host to one of another switch and its acknowledgement back, with nothing
/// else on the way.
#[derive(Clone, Debug, Default)]
struct Alone {
    times: BTreeMap<(u32, u32), Duration>,
    switch_of: BTreeMap<Ipv4Addr, u32>,
}

impl Alone {
    /// Measures with one program.
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
                    "program {}: a packet from a host of `{}` to one of `{}` is never acknowledged, though nothing else is \
                     on the way; does the program forward IPv4?",
                    ready.contestant.name,
                    name(from),
                    name(to)
                )))
            }
        }
    }

    /// The least times of all programs.
    fn fastest(all: &[Alone]) -> Alone {
        let mut fastest = all.first().cloned().unwrap_or_default();
        for (way, least) in &mut fastest.times {
            *least = all.iter().filter_map(|one| one.times.get(way)).copied().min().unwrap_or(*least);
        }
        fastest
    }

    /// The mean over ways between different switches, or over all if there are none.
    fn mean(&self) -> Duration {
        let between: Vec<u64> =
            self.times.iter().filter(|((a, b), _)| a != b).map(|(_, time)| time.as_ps()).collect();
        let all = if between.is_empty() { self.times.values().map(|t| t.as_ps()).collect() } else { between };
        Duration::from_ps(all.iter().sum::<u64>() / (all.len() as u64).max(1))
    }

    /// How long a message would take with nothing else on the way.
    fn time(&self, from: Ipv4Addr, message: &Message, nic: &RnicConfig) -> Option<Duration> {
        let way = (*self.switch_of.get(&from)?, *self.switch_of.get(&message.to)?);
        let mtu = u64::from(nic.mtu);
        let line = |payload: u64| wire_bytes(Bytes(payload + OVERHEAD)).0;
        let (full, rest) = (message.bytes / mtu, message.bytes % mtu);
        let all = full * line(mtu) + if rest > 0 { line(rest) } else { 0 };
        let beyond = nic.rate.time_for(Bytes(all.saturating_sub(line(mtu))));
        Some(*self.times.get(&way)? + beyond)
    }
}

impl Ran {
    /// What hosts and switches have counted, and how long the messages took; alone, with any program and with this one.
    fn judged(self, contest: &Contest, ready: &Ready<'_>, alone: &Alone, own: Duration) -> Performance {
        let warm = Time::ORIGIN + contest.workload.warm_up;
        let (mut sent, mut unfinished, mut hosts) = (Vec::new(), 0, RnicCounters::default());
        for (station, id) in ready.stations.iter().zip(&self.hosts) {
            let Some(host) = self.network.host::<Rnic>(*id) else { continue };
            unfinished += host.unfinished() as u64;
            hosts += host.counters();
            let judged = host.completions().iter().filter(|done| done.message.start >= warm);
            sent.extend(judged.filter_map(|done| {
                let alone = alone.time(station.address, &done.message, &ready.nic)?;
                Some(Sent { from: station.address, completion: *done, alone })
            }));
        }
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

    /// Adds what a switch has counted.
    fn count(&self, id: SwitchId, into: &mut Performance) {
        /// Counters of more cells are about single flows, ports or entries.
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
