//! A program of a contest in its network, with its hosts, ready to run.

use super::schedule::PlannedEvents;
use super::{roles, telemetry};
use crate::contest::file::contest::{Contest, Contestant};
use crate::contest::results::ideal_times::IdealTimes;
use crate::contest::results::run_store::RunStore;
use crate::contest::workload::{HostTable, Plan, Station};
use sluice_asic::chip::ChipSpec;
use sluice_asic::units::{BitRate, Bytes, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_control::ControlOp;
use sluice_fabric::deploy::{
    Defaults, DeployError, Deployment, Files, HostPort, NetworkPrograms, deploy, programs,
};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{BusConfig, HostMessages, PortConfig, TransportConfig};
use sluice_fabric::network::{NetworkError, NetworkSetup, SwitchId};
use sluice_fabric::topology::{Blueprint, Bottlenecks, OnlyPaths};
use sluice_place::Options;
use sluice_switch::SwitchConfig;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;
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

/// A program in its network, ready to run.
pub(crate) struct PreparedNetwork<'c> {
    pub(crate) line: usize,
    pub(crate) contestant: &'c Contestant,
    pub(crate) catalogue: &'c Catalogue,
    pub(crate) network: NetworkSetup,
    /// Control-plane operations of the topology's events.
    pub(crate) changes: Vec<(SwitchId, Time, ControlOp)>,
    pub(crate) stations: Vec<Station>,
    /// Port and transports of the hosts at each link rate.
    pub(crate) nics: BTreeMap<BitRate, PortConfig>,
    pub(crate) transports: Vec<TransportConfig>,
    /// The bus of each host, in the order of the stations; empty without buses.
    pub(crate) buses: Vec<BusConfig>,
    /// True if a NIC's registrations of memory wait for the Sends before them.
    pub(crate) fence: bool,
    pub(crate) bottlenecks: Bottlenecks,
    /// The links between the hosts, if max-min fair rates are asked for.
    pub(crate) paths: Option<Arc<OnlyPaths>>,
    /// Payload bytes of a full packet.
    pub(crate) mtu: u32,
    /// Stages of the switches.
    pub(crate) stages: Vec<u32>,
    /// Warnings of the programs about their places in the network.
    pub(crate) warnings: Vec<String>,
    /// Programs that miss a control plane, with what they do without one.
    pub(crate) unheard: Vec<(String, &'static str)>,
}

impl PreparedNetwork<'_> {
    /// Returns the same network without its events and loopback flows: cables and entries stay as they are at the start.
    pub(crate) fn undisturbed(&self) -> Self {
        let mut network = self.network.clone();
        network.links.iter_mut().for_each(|link| link.script.clear());
        let (stations, nics, transports) =
            (self.stations.clone(), self.nics.clone(), self.transports.clone());
        let (bottlenecks, stages) = (self.bottlenecks.clone(), self.stages.clone());
        let (warnings, unheard) = (self.warnings.clone(), self.unheard.clone());
        let (changes, paths) = (Vec::new(), self.paths.clone());
        let buses = self.buses.iter().map(|bus| BusConfig { loopback: None, ..*bus }).collect();
        PreparedNetwork {
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
    pub(crate) fn seeded(&self, seed: u64) -> NetworkSetup {
        let mut network = self.network.clone();
        network.seed = seed;
        for switch in &mut network.switches {
            switch.config.seed = seed;
            switch.config.buffer.iter_mut().for_each(|buffer| buffer.seed = seed);
        }
        network
    }

    /// Returns the bytes that a message takes on each link, headers and gaps included.
    pub(crate) fn wire_bytes(&self, message: &Message) -> u64 {
        let framing = self.transports.get(usize::from(message.transport)).map_or((1, 0), |t| t.framing());
        let (mtu, overhead) = (u64::from(framing.0.max(1)), u64::from(framing.1));
        let wire = self.nics.values().next().map(|nic| nic.wire).unwrap_or_default();
        let line = |payload: u64| wire.wire_bytes(Bytes(payload + overhead)).0;
        let (full, rest) = (message.bytes / mtu, message.bytes % mtu);
        full * line(mtu) + if rest > 0 { line(rest) } else { 0 }
    }

    /// Returns the ideal time of a message; `None` if its sender or receiver is unknown.
    pub(crate) fn ideal_time(
        &self,
        alone: &IdealTimes,
        from: Ipv4Addr,
        message: &Message,
    ) -> Option<Duration> {
        let first_packet = alone.first_packet(from, message.to)?;
        let mtu = self.transports.get(usize::from(message.transport))?.framing().0;
        let rate = self.bottlenecks.between(from, message.to)?;
        let first = self.wire_bytes(&Message { bytes: mtu.into(), ..*message });
        let beyond = rate.time_for(Bytes(self.wire_bytes(message).saturating_sub(first)));
        Some(first_packet + beyond)
    }
}

/// Returns the contest's switches and settings with one program.
fn asked(
    contest: &Contest,
    plan: &Blueprint,
    chip: &ChipSpec,
    contestant: &Contestant,
) -> Result<(Blueprint, Defaults), String> {
    let mut plan = plan.clone();
    (plan.program, plan.params) = (None, Vec::new());
    roles::assign(contestant, &mut plan)?;
    let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let defaults = Defaults {
        program: contestant.name.clone(),
        params: contestant.params.iter().map(|(key, value)| (key.clone(), text(value))).collect(),
        chip: chip.clone(),
        port_speed: contest.port_speed,
        buffer: contestant.buffer.clone().or_else(|| contest.buffer.clone()),
        entries: contestant.entries.clone(),
        placing: Options::default(),
        config: SwitchConfig { wire: contest.wire, ..SwitchConfig::default() },
    };
    Ok((plan, defaults))
}

/// Returns the programs of the contest's switches and the switches' entries, with the program number `program` of the contest. The
/// programs are not placed. `plan` and `chip` are as in [`ContestSetup`].
///
/// # Errors
/// If the network cannot be built with the program, for the reason for which [`run_contest`](crate::contest::run_contest) refuses it.
pub fn network_programs<E>(
    contest: &Contest,
    (plan, chip): (&Blueprint, &ChipSpec),
    catalogue: &Catalogue,
    program: usize,
) -> Result<NetworkPrograms, RunError<E>> {
    let contestant = contest.program.get(program);
    let contestant =
        contestant.ok_or_else(|| RunError::Setting(format!("no program has number {program}")))?;
    let line = contest.line(contestant.span().start);
    let asked = asked(contest, plan, chip, contestant.get_ref());
    let (plan, defaults) = asked.map_err(|e| RunError::Setting(format!("line {line}: {e}")))?;
    let built = programs(&plan, catalogue, &defaults);
    built.map_err(|source| RunError::Deploy { line, source: Box::new(source) })
}

/// Builds the contest's network with one program.
pub(crate) fn prepare<'c, F: Files>(
    contest: &'c Contest,
    setup: &ContestSetup<'c, F>,
    contestant: &'c Contestant,
    line: usize,
) -> Result<PreparedNetwork<'c>, RunError<F::Error>> {
    let setting = |e: String| RunError::Setting(format!("line {line}: {e}"));
    let (mut plan, defaults) = asked(contest, setup.plan, &setup.chip, contestant).map_err(setting)?;
    let planned = PlannedEvents::of(contest, &plan, &contestant.label()).map_err(RunError::Setting)?;
    plan.events.extend(planned.happenings.iter().cloned());
    let deployed = deploy(&plan, setup.catalogue, &defaults, setup.files);
    let deployed = deployed.map_err(|source| RunError::Deploy { line, source: Box::new(source) })?;
    let stations = stations(&plan, &deployed).map_err(RunError::Setting)?;
    let mut nics = BTreeMap::new();
    for rate in stations.iter().map(|station| station.rate).collect::<BTreeSet<BitRate>>() {
        nics.insert(rate, contest.hosts.port(rate, contest.wire).map_err(RunError::Setting)?);
    }
    let (cell, same) = telemetry::cell(&deployed.network, setup.chip.tm.cell);
    let transports = contest.hosts.transports(cell).map_err(RunError::Setting)?;
    let buses = buses(contest, &plan, &stations, &transports).map_err(RunError::Setting)?;
    if !same && contest.hosts.telemetry.as_ref().is_none_or(|telemetry| telemetry.cell.is_none()) {
        telemetry::check_cells(&transports).map_err(RunError::Setting)?;
    }
    // Times in an empty network are those of the first transport.
    let mtu = transports.first().map_or(0, |transport| transport.framing().0);
    telemetry::check_speeds(&transports, &deployed.positions).map_err(RunError::Setting)?;
    let bottlenecks = Bottlenecks::new(&deployed.positions);
    let only = contest.metrics.max_min.then(|| OnlyPaths::new(&deployed.positions)).transpose();
    let paths = only.map_err(|e| RunError::Setting(format!("metrics.max_min: {e}")))?.map(Arc::new);
    let (network, mut changes) = (deployed.network, deployed.changes);
    changes.extend(planned.rate_changes(&network));
    let stages = setup.plan.switches.iter().map(|switch| switch.stage).collect();
    let (warnings, unheard) = (deployed.place_warnings, unheard(setup.catalogue, &network));
    Ok(PreparedNetwork {
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

/// Returns the messages of a run, and the hosts that send them.
pub(crate) fn plan<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    ready: &PreparedNetwork<'_>,
    seed: u64,
) -> Result<(Plan, HostTable), RunError<F::Error>> {
    let hosts = HostTable::of(setup.plan, ready.stations.clone(), contest.hosts.cable);
    let plan = contest.workload.plan(&hosts, &contest.hosts.transport_names(), seed);
    Ok((plan.map_err(RunError::Setting)?, hosts))
}

/// Returns the messages of each host in a run.
pub(crate) fn messages<F: Files>(
    contest: &Contest,
    setup: &ContestSetup<'_, F>,
    ready: &PreparedNetwork<'_>,
    seed: u64,
) -> Result<Vec<HostMessages>, RunError<F::Error>> {
    let (plan, hosts) = plan(contest, setup, ready, seed)?;
    Ok(plan.by_host(&hosts))
}
