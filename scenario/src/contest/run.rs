//! Runs a contest: with each seed, each program gets the same network, hosts and messages.
//!
//! Runs are independent, so they are shared out to threads; only the [`Performance`](super::Performance) of a finished run is kept.
//!
//! A message's *slowdown* is the time from its start to its last acknowledgement, divided by its ideal time. Ideal
//! times are measured: in a separate run, one packet goes from every switch with hosts to every other one, with nothing
//! else in the network. Either the fastest program's time counts for all programs, or each program's own. Ideal times do
//! not depend on the contest's seeds: they are measured once for each program. The rest of a longer message adds its
//! serialisation time at the rate of the slowest link between the two hosts. Hosts of one switch with different links are
//! measured apart. No slowdown is below 1 (model: conweave §4.5).

use super::alone::Alone;
use super::file::{Contest, Contestant};
use super::kept::{KeptRun, RunKey, RunStore};
use super::pool::run_all;
use super::ran::run;
use super::records;
use super::roles;
use super::schedule::Planned;
use super::series::{Results, Series};
use super::workload::{HostTable, Plan, Station};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_control::ControlOp;
use sluice_fabric::deploy::{Defaults, DeployError, Deployment, Files, HostPort, deploy};
use sluice_fabric::host::nic::{BusConfig, HostMessages, PortConfig, TransportConfig};
use sluice_fabric::network::{NetworkError, NetworkSetup, SwitchId};
use sluice_fabric::topology::{Blueprint, Bottlenecks, OnlyPaths};
use sluice_place::Options;
use sluice_switch::SwitchConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use thiserror::Error;

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
    /// A finished run cannot be kept.
    #[error("{0}")]
    Keep(String),
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
    /// Reads the buffer profiles and entries that the contest names.
    pub files: &'a F,
    /// Threads that the runs share; 0 is taken as 1. Results do not depend on it.
    pub threads: usize,
    /// Has the runs that are finished already, and takes those that finish.
    pub store: &'a dyn RunStore,
}

/// Progress of a contest.
#[derive(Clone, Copy, Debug)]
pub struct ContestProgress<'a> {
    /// Label of a running program, and the seed of its run.
    pub run: (&'a str, u64),
    /// Number of finished runs, and of all: one run for each program and seed.
    pub done: (usize, usize),
    /// Simulated time of all runs so far, and the time that they are expected to take: an ended run as long as it took, any
    /// other run as long as the longest one that has ended, and at least as long as its workload.
    pub simulated: (Duration, Duration),
    /// True if the run drains: its workload has ended and messages are under way, and no run of the contest has ended that
    /// would tell for how long.
    pub drains: bool,
}

/// Is called with the progress of a contest, on any of its threads; the contest stops if it returns false.
pub type Tick<'a> = &'a (dyn Fn(ContestProgress<'_>) -> bool + Sync);

/// A program in its network, ready to run.
pub(super) struct Ready<'c> {
    pub(super) line: usize,
    pub(super) contestant: &'c Contestant,
    pub(super) catalogue: &'c Catalogue,
    pub(super) network: NetworkSetup,
    /// Control-plane operations of the topology's events.
    pub(super) changes: Vec<(SwitchId, Time, ControlOp)>,
    pub(super) stations: Vec<Station>,
    /// Port and transports of the hosts at each link rate.
    pub(super) nics: BTreeMap<BitRate, PortConfig>,
    pub(super) transports: Vec<TransportConfig>,
    /// The bus of each host, in the order of the stations; empty without buses.
    pub(super) buses: Vec<BusConfig>,
    /// True if a NIC's registrations of memory wait for the Sends before them.
    pub(super) fence: bool,
    pub(super) bottlenecks: Bottlenecks,
    /// The links between the hosts, if max-min fair rates are asked for.
    pub(super) paths: Option<Arc<OnlyPaths>>,
    /// Payload bytes of a full packet.
    pub(super) mtu: u32,
    /// Stages of the switches.
    pub(super) stages: Vec<u32>,
    /// Warnings of the programs about their places in the network.
    pub(super) warnings: Vec<String>,
    /// Programs that miss a control plane, with what they do without one.
    pub(super) unheard: Vec<(String, &'static str)>,
}

impl Ready<'_> {
    /// Returns the same network without its events and loopback flows: cables and entries stay as they are at the start.
    fn undisturbed(&self) -> Self {
        let mut network = self.network.clone();
        network.links.iter_mut().for_each(|link| link.script.clear());
        let (stations, nics, transports) =
            (self.stations.clone(), self.nics.clone(), self.transports.clone());
        let (bottlenecks, stages) = (self.bottlenecks.clone(), self.stages.clone());
        let (warnings, unheard) = (self.warnings.clone(), self.unheard.clone());
        let (changes, paths) = (Vec::new(), self.paths.clone());
        let buses = self.buses.iter().map(|bus| BusConfig { loopback: None, ..*bus }).collect();
        Ready {
            network,
            changes,
            stations,
            nics,
            transports,
            buses,
            bottlenecks,
            paths,
            stages,
            warnings,
            unheard,
            ..*self
        }
    }

    /// Returns the network's setup with this seed of losses, marks and programs.
    pub(super) fn seeded(&self, seed: u64) -> NetworkSetup {
        let mut network = self.network.clone();
        network.seed = seed;
        for switch in &mut network.switches {
            switch.config.seed = seed;
            switch.config.buffer.iter_mut().for_each(|buffer| buffer.seed = seed);
        }
        network
    }
}

/// Runs all programs with all seeds, on as many threads as the setup allows. Runs that the setup's store has are not run
/// again.
///
/// # Errors
/// If a program cannot run in the network, a setting is out of range, a run cannot be kept, or `tick` returns false. Runs
/// that finished before are in the store.
pub fn run_contest<F: Files + Sync>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    tick: Tick<'_>,
) -> Result<Results, RunError<F::Error>>
where
    F::Error: Send,
{
    let (programs, seeds) = (&contest.program, contest.seeds());
    // All programs with one seed come before the next seed.
    let key =
        |number: usize| RunKey { program: number % programs.len(), seed: seeds[number / programs.len()] };
    let mut runs: Vec<Option<KeptRun>> =
        (0..programs.len() * seeds.len()).map(|number| setup.store.find(key(number))).collect();
    let missing: Vec<usize> = (0..runs.len()).filter(|number| runs[*number].is_none()).collect();
    let mut all = Vec::with_capacity(programs.len());
    for (place, program) in programs.iter().enumerate() {
        let needed = missing.iter().any(|number| key(*number).program == place);
        let line = contest.line(program.span().start);
        all.push(needed.then(|| ready(contest, setup, program.get_ref(), line)).transpose()?);
    }
    // A workload that does not fit the network is reported before anything runs.
    if let (Some(ready), Some(seed)) = (all.iter().flatten().next(), seeds.first()) {
        messages(contest, setup, ready, *seed)?;
    }
    let mut own = run_all(setup.threads, all.len(), |place, threads| {
        let probe = |ready: &Ready<'_>| Alone::probe(contest, setup, &ready.undisturbed(), threads);
        all[place].as_ref().map(probe).transpose()
    })?;
    for (number, run) in runs.iter().enumerate() {
        let known = &mut own[key(number).program];
        *known = known.take().or_else(|| run.as_ref().map(|run| run.alone.clone()));
    }
    let own: Vec<Alone> = own.into_iter().map(Option::unwrap_or_default).collect();
    let ticker = Ticker::new(tick, contest.workload.time(), runs.len(), &missing);
    let done = run_all(setup.threads, missing.len(), |job, threads| {
        let number = missing[job];
        let key = key(number);
        let Some(ready) = &all[key.program] else {
            return Err(RunError::Setting("a run has no program".into()));
        };
        let (planned, hosts) = plan(contest, setup, ready, key.seed)?;
        let messages = planned.by_host(&hosts);
        let end = Time::ORIGIN + contest.workload.time() + contest.drain();
        let label = ready.contestant.label();
        let mut look = ticker.look(number, (&label, key.seed));
        let cable = contest.hosts.cable;
        let metrics = Some(&contest.metrics);
        let ran = run(ready, cable, key.seed, messages, (end, metrics), threads, &mut look)?;
        let done = KeptRun {
            performance: ran.judged(contest, ready, &own[key.program], &planned.samples),
            alone: own[key.program].clone(),
        };
        setup.store.keep(key, &done).map_err(RunError::Keep)?;
        ticker.end(number);
        Ok(done)
    })?;
    for (number, run) in missing.iter().zip(done) {
        runs[*number] = Some(run);
    }
    Ok(Results {
        series: series(contest, runs.into_iter().flatten().collect(), &Alone::fastest(&own)),
        seeds,
    })
}

/// Returns the messages of a run, and the hosts that send them.
fn plan<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    ready: &Ready<'_>,
    seed: u64,
) -> Result<(Plan, HostTable), RunError<F::Error>> {
    let hosts = HostTable::of(setup.plan, ready.stations.clone(), contest.hosts.cable);
    let plan = contest.workload.plan(&hosts, &transport_names(contest), seed);
    Ok((plan.map_err(RunError::Setting)?, hosts))
}

/// Returns the names of the hosts' transports, in the order of the file.
fn transport_names(contest: &Contest) -> Vec<String> {
    contest.hosts.transport.iter().map(|transport| transport.name.clone()).collect()
}

/// Returns the messages of each host in a run.
pub(super) fn messages<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    ready: &Ready<'_>,
    seed: u64,
) -> Result<Vec<HostMessages>, RunError<F::Error>> {
    let (plan, hosts) = plan(contest, setup, ready, seed)?;
    Ok(plan.by_host(&hosts))
}

/// Messages of a workload with one seed, as a [list of flows](super::FlowList) in comma-separated values.
#[derive(Clone, Debug)]
pub struct WrittenFlows {
    /// Name of the workload.
    pub workload: String,
    /// The seed.
    pub seed: u64,
    /// The list.
    pub text: String,
}

/// Returns the messages of all workloads with all seeds, without running them.
///
/// # Errors
/// If the first program cannot run in the network, or a workload does not fit it.
pub fn write_flows<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
) -> Result<Vec<WrittenFlows>, RunError<F::Error>> {
    let Some(program) = contest.program.first() else { return Ok(Vec::new()) };
    let ready = ready(contest, setup, program.get_ref(), contest.line(program.span().start))?;
    let mut all = Vec::new();
    for seed in contest.seeds() {
        let (plan, hosts) = plan(contest, setup, &ready, seed)?;
        if !plan.requests.is_empty() {
            return Err(RunError::Setting(
                "messages of sk-rdma workloads wait in send queues, which a list of flows does not have; leave these \
                 workloads out to write the others"
                    .into(),
            ));
        }
        for (number, workload) in (0..).zip(&contest.workload.list) {
            let begin = Time::ORIGIN + workload.begin;
            let text = super::flows::written(&plan, number, begin, &hosts, &transport_names(contest));
            all.push(WrittenFlows { workload: workload.name.clone(), seed, text });
        }
    }
    Ok(all)
}

/// Sorts the runs, which are in order of seeds and programs, by program, and relates their messages to the fastest program.
fn series(contest: &Contest, runs: Vec<KeptRun>, fastest: &Alone) -> Vec<Series> {
    let empty = |contestant: &Contestant| Series {
        label: contestant.label(),
        program: contestant.name.clone(),
        runs: Vec::new(),
    };
    let mut series: Vec<Series> = contest.program.iter().map(|program| empty(program.get_ref())).collect();
    let count = series.len();
    for (number, mut run) in runs.into_iter().enumerate() {
        run.relate(contest, fastest);
        series[number % count].runs.push(run.performance);
    }
    series
}

/// Sums the progress of runs on several threads.
struct Ticker<'a> {
    tick: Tick<'a>,
    workload: Duration,
    /// Simulated time of each run, ps.
    times: Vec<AtomicU64>,
    /// Longest simulated time of a run that has ended, ps; 0 before.
    longest: AtomicU64,
    /// Runs that are not under way or to come.
    ended: Vec<AtomicBool>,
    done: AtomicUsize,
}

impl<'a> Ticker<'a> {
    /// Starts with all runs done except the missing ones.
    fn new(tick: Tick<'a>, workload: Duration, runs: usize, missing: &[usize]) -> Ticker<'a> {
        let times: Vec<AtomicU64> = (0..runs).map(|_| AtomicU64::new(workload.as_ps())).collect();
        missing.iter().for_each(|number| times[*number].store(0, Ordering::Relaxed));
        let ended = (0..runs).map(|run| AtomicBool::new(!missing.contains(&run))).collect();
        let done = AtomicUsize::new(runs - missing.len());
        Ticker { tick, workload, times, longest: AtomicU64::new(0), ended, done }
    }

    /// Notes that a run has ended.
    fn end(&self, number: usize) {
        self.longest.fetch_max(self.times[number].load(Ordering::Relaxed), Ordering::Relaxed);
        self.ended[number].store(true, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the simulated time of all runs so far, and the expected one, ps.
    fn simulated(&self) -> (u64, u64) {
        let least = self.longest.load(Ordering::Relaxed).max(self.workload.as_ps());
        let (mut sum, mut all) = (0, 0);
        for (time, ended) in self.times.iter().zip(&self.ended) {
            let time = time.load(Ordering::Relaxed);
            sum += time;
            all += if ended.load(Ordering::Relaxed) { time } else { time.max(least) };
        }
        (sum, all)
    }

    /// Returns what a run calls with its time.
    fn look(&self, number: usize, run: (&str, u64)) -> impl FnMut(Time) -> bool {
        move |time| {
            let own = time.since_origin().as_ps();
            self.times[number].store(own, Ordering::Relaxed);
            let (sum, all) = self.simulated();
            let done = (self.done.load(Ordering::Relaxed), self.times.len());
            let drains = own > self.workload.as_ps() && self.longest.load(Ordering::Relaxed) == 0;
            let simulated = (Duration::from_ps(sum), Duration::from_ps(all));
            (self.tick)(ContestProgress { run, done, simulated, drains })
        }
    }
}

/// Builds the contest's network with one program.
pub(super) fn ready<'c, F: Files>(
    contest: &'c Contest,
    setup: &ContestSetup<'c, F>,
    contestant: &'c Contestant,
    line: usize,
) -> Result<Ready<'c>, RunError<F::Error>> {
    let mut plan = setup.plan.clone();
    (plan.program, plan.params) = (None, Vec::new());
    let setting = |e: String| RunError::Setting(format!("line {line}: {e}"));
    roles::assign(contestant, &mut plan).map_err(setting)?;
    let planned = Planned::of(contest, &plan, &contestant.label()).map_err(RunError::Setting)?;
    plan.events.extend(planned.happenings.iter().cloned());
    let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let defaults = Defaults {
        program: contestant.name.clone(),
        params: contestant.params.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        chip: setup.chip.clone(),
        port_speed: contest.port_speed,
        buffer: contestant.buffer.clone().or_else(|| contest.buffer.clone()),
        entries: contestant.entries.clone(),
        placing: Options::default(),
        config: SwitchConfig { wire: contest.wire, ..SwitchConfig::default() },
    };
    let deployed = deploy(&plan, setup.catalogue, &defaults, setup.files);
    let deployed = deployed.map_err(|source| RunError::Deploy { line, source: Box::new(source) })?;
    let stations = stations(&plan, &deployed).map_err(RunError::Setting)?;
    let mut nics = BTreeMap::new();
    for rate in stations.iter().map(|station| station.rate).collect::<BTreeSet<BitRate>>() {
        nics.insert(rate, contest.hosts.port(rate, contest.wire).map_err(RunError::Setting)?);
    }
    let (cell, same) = records::cell(&deployed.network, setup.chip.tm.cell);
    let transports = contest.hosts.transports(cell).map_err(RunError::Setting)?;
    let buses = buses(contest, &plan, &stations, &transports).map_err(RunError::Setting)?;
    if !same && contest.hosts.telemetry.as_ref().is_none_or(|telemetry| telemetry.cell.is_none()) {
        records::check_cells(&transports).map_err(RunError::Setting)?;
    }
    // Times in an empty network are those of the first transport.
    let mtu = transports.first().map_or(0, |transport| transport.framing().0);
    records::check_speeds(&transports, &deployed.positions).map_err(RunError::Setting)?;
    let bottlenecks = Bottlenecks::new(&deployed.positions);
    let only = contest.metrics.max_min.then(|| OnlyPaths::new(&deployed.positions)).transpose();
    let paths = only.map_err(|e| RunError::Setting(format!("metrics.max_min: {e}")))?.map(Arc::new);
    let (network, mut changes) = (deployed.network, deployed.changes);
    changes.extend(planned.rate_changes(&network));
    let stages = setup.plan.switches.iter().map(|switch| switch.stage).collect();
    let (warnings, unheard) = (deployed.place_warnings, unheard(setup.catalogue, &network));
    Ok(Ready {
        line,
        contestant,
        catalogue: setup.catalogue,
        network,
        changes,
        stations,
        nics,
        transports,
        buses,
        fence: contest.hosts.registration_fence.unwrap_or(false),
        bottlenecks,
        paths,
        mtu,
        stages,
        warnings,
        unheard,
    })
}

/// Returns the bus of each host; nothing without buses.
fn buses(
    contest: &Contest,
    plan: &Blueprint,
    stations: &[Station],
    transports: &[TransportConfig],
) -> Result<Vec<BusConfig>, String> {
    let (Some(setting), Some(bus)) = (&contest.hosts.bus, contest.hosts.bus(transports)?) else {
        return Ok(Vec::new());
    };
    let loops = setting.loops_back(&HostTable::of(plan, stations.to_vec(), contest.hosts.cable))?;
    let of = |loops: bool| BusConfig { loopback: bus.loopback.filter(|_| loops), ..bus };
    Ok(loops.into_iter().map(of).collect())
}

/// Returns the network's programs that miss a control plane, each once, with what they do without one.
fn unheard(catalogue: &Catalogue, network: &NetworkSetup) -> Vec<(String, &'static str)> {
    let names: BTreeSet<&String> =
        network.switches.iter().map(|switch| &switch.placed.program.name).collect();
    let instead = |name: &String| Some((name.clone(), catalogue.get(name).ok()?.without_control_plane()?));
    names.into_iter().filter_map(instead).collect()
}

/// Returns the hosts' places, by switch and port.
fn stations(plan: &Blueprint, deployed: &Deployment) -> Result<Vec<Station>, String> {
    let mut links = BTreeMap::new();
    let mut stations = Vec::with_capacity(deployed.hosts.len());
    for HostPort { host, address, end, rate, delay } in &deployed.hosts {
        if links.insert(host, end).is_some() {
            let name = &plan.hosts[*host as usize].name;
            return Err(format!(
                "host `{name}` has several links, but hosts of a contest have one; leave out the others"
            ));
        }
        let (switch, port) = (end.switch.0, end.port.0);
        stations.push(Station { switch, port, address: *address, rate: *rate, delay: *delay });
    }
    match stations.is_empty() {
        true => Err("the network has no hosts".into()),
        false => Ok(stations),
    }
}
