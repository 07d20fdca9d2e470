//! The run of an experiment.

use super::Simulator;
use super::results::{Outcome, Rows};
use super::translate::Experiment;
use super::watch::{SAMPLE, Sampling, Watch};
use crate::deadlocks::deadlocks;
use sluice_asic::hash::splitmix64;
use sluice_asic::units::{Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_fabric::deploy::{Defaults, DeployError, Deployment, HostPort, deploy};
use sluice_fabric::host::counters::HostCounters;
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::Nic;
use sluice_fabric::network::{HostId, Network, NetworkError, SwitchId};
use sluice_place::Options;
use sluice_switch::SwitchConfig;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use thiserror::Error;

/// Simulated time between two reports of progress, and the bucket of ConWeave's monitor of notifications.
const BUCKET: Duration = Duration::from_micros(100);
/// Absolute times of which HPCC's simulator writes lengths of queues are multiples of this.
const DUMP: u64 = 100_000_000_000;
/// UDP source ports that ConWeave's control plane knows from the start.
const KNOWN: (u16, u32) = (49_152, 4);

/// Reason why an experiment cannot run.
#[derive(Debug, Error)]
pub enum Ns3RunError {
    /// The network cannot be built with the program.
    #[error("{0}")]
    Deploy(Box<DeployError<String>>),
    /// The network rejects its setup, a host or a step.
    #[error(transparent)]
    Network(Box<NetworkError>),
    /// A setting of the hosts is out of range.
    #[error("{0}")]
    Setting(String),
}

/// Progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Absolute simulated time.
    pub time: Duration,
    /// Start of the last flow, after which only flows under way are left.
    pub last_start: Duration,
}

/// A host in the network, with its node number and the counters that were seen last.
struct Attached {
    id: HostId,
    node: u32,
    seen: HostCounters,
}

impl Experiment {
    /// Runs the experiment until all flows are complete, or its end; `tick` is called with the progress and stops the run
    /// if it returns false; the outcome then has what was finished.
    ///
    /// # Errors
    /// If the program does not fit the network, or a setting is out of range.
    pub fn run(
        &self,
        catalogue: &Catalogue,
        threads: usize,
        tick: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Outcome, Ns3RunError> {
        let mut deployed = self.deployed(catalogue)?;
        let mut warnings = std::mem::take(&mut deployed.warnings);
        warnings.append(&mut deployed.place_warnings);
        let nodes = Nodes::new(self, &deployed);
        let refused = |source| Ns3RunError::Network(Box::new(source));
        let mut network = Network::new(deployed.network.clone(), catalogue).map_err(refused)?;
        let mut hosts = self.attach(&deployed, &mut network)?;
        for (switch, time, op) in deployed.changes {
            network.control(switch, time, op).map_err(refused)?;
        }
        let mut watches: Vec<Watch> = network.ids().map(|id| self.watch(&network, id)).collect();
        let mut rows = Rows::default();
        let mut dumps = self.dumps().into_iter().peekable();
        let last_start = self.flows.flows.last().map_or(self.base, |flow| flow.start);
        let mut bucket = Time::ORIGIN + BUCKET;
        while network.is_busy() {
            let Some(next) = network.next_time().filter(|next| *next < self.end) else { break };
            if !tick(Progress { time: self.base + network.time().since_origin(), last_start }) {
                rows.interrupted = true;
                break;
            }
            // Nothing happens before `next`: buckets without events are skipped.
            while bucket < next && dumps.peek().is_none_or(|dump| *dump > bucket) {
                bucket += BUCKET;
            }
            let until = dumps.peek().map_or(bucket, |dump| bucket.min(*dump)).min(self.end);
            network.drain_parallel(until, threads.max(1), &mut watches).map_err(refused)?;
            if dumps.next_if_eq(&until).is_some() {
                rows.dump(self.base, until, &mut watches, &nodes);
            }
            if until == bucket {
                self.notifications(&network, &mut hosts, until, &mut rows);
                bucket += BUCKET;
            }
        }
        self.notifications(&network, &mut hosts, bucket, &mut rows);
        let last = if rows.interrupted { network.time() } else { self.end };
        for dump in dumps.filter(|dump| *dump <= last) {
            rows.dump(self.base, dump, &mut watches, &nodes);
        }
        let mut counters = HostCounters::default();
        for host in &hosts {
            let Some(nic) = network.host::<Nic>(host.id) else { continue };
            counters += nic.counters();
            rows.completions.extend(nic.completions().iter().copied());
        }
        let pauses = watches.iter().flat_map(|watch| watch.pauses.iter().copied()).collect();
        let simulated = self.base + network.time().since_origin();
        // In a run that is stopped, pauses may still end.
        let waiting = if rows.interrupted { Vec::new() } else { deadlocks(&network) };
        let ended = (simulated, waiting);
        Ok(rows.outcome(self, (&nodes, warnings), pauses, (counters, network.totals()), ended))
    }

    fn deployed(&self, catalogue: &Catalogue) -> Result<Deployment, Ns3RunError> {
        let defaults = Defaults {
            program: self.program.to_owned(),
            params: self.params.clone(),
            chip: self.chip.clone(),
            port_speed: None,
            buffer: None,
            entries: None,
            placing: Options::default(),
            config: SwitchConfig { wire: self.wire, seed: self.seed, ..SwitchConfig::default() },
        };
        deploy(&self.plan, catalogue, &defaults, &self.profiles).map_err(|e| Ns3RunError::Deploy(Box::new(e)))
    }

    /// Creates the hosts with their flows.
    fn attach(&self, deployed: &Deployment, network: &mut Network) -> Result<Vec<Attached>, Ns3RunError> {
        let mut messages = self.messages();
        let mut hosts = Vec::with_capacity(deployed.hosts.len());
        let cell = self.chip.tm.cell;
        let transports = self.hosts.transports(cell).map_err(Ns3RunError::Setting)?;
        for port in &deployed.hosts {
            let config = self.hosts.port(port.rate, self.wire).map_err(Ns3RunError::Setting)?;
            let own = messages.remove(&port.address).unwrap_or_default();
            let nic = Nic::new(config, port.address, &transports, own);
            let cable = port.delay.unwrap_or(self.hosts.cable);
            let id = network
                .attach(port.end, cable, Box::new(nic))
                .map_err(|e| Ns3RunError::Network(Box::new(e)))?;
            let name = &self.plan.hosts[port.host as usize].name;
            hosts.push(Attached { id, node: node_of(name), seen: HostCounters::default() });
        }
        hosts.sort_by_key(|host| host.node);
        Ok(hosts)
    }

    /// Returns the flows as messages, by sender. Queue pair `n` has flow `n - 1`.
    fn messages(&self) -> BTreeMap<Ipv4Addr, Vec<Message>> {
        let addresses: BTreeMap<u32, Ipv4Addr> =
            self.plan.hosts.iter().map(|host| (node_of(&host.name), host.address)).collect();
        let mut turns: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut messages: BTreeMap<Ipv4Addr, Vec<Message>> = BTreeMap::new();
        for (pair, flow) in (1..).zip(&self.flows.flows) {
            let (Some(from), Some(to)) = (addresses.get(&flow.from), addresses.get(&flow.to)) else {
                continue;
            };
            let turn = turns.entry((flow.from, flow.to)).or_default();
            let known = KNOWN.0 + (*turn % KNOWN.1) as u16;
            *turn = turn.wrapping_add(1);
            let port = match (self.program, self.seed) {
                ("conweave", _) => known,
                (_, 1) => flow.source_port,
                (_, seed) => drawn(seed, pair),
            };
            let start = Time::ORIGIN + (flow.start - self.base);
            let message =
                Message { pair, transport: 0, workload: 0, start, to: *to, port, bytes: flow.bytes };
            messages.entry(*from).or_default().push(message);
        }
        messages
    }

    fn watch(&self, network: &Network, id: SwitchId) -> Watch {
        let ports = network.setup(id).map(|setup| setup.ports.front_ports().to_vec()).unwrap_or_default();
        Watch::new(self.sampling, ports.into_iter().map(|port| port.dev_port.number()))
    }

    /// Returns the times of the run of which lengths of queues are written.
    fn dumps(&self) -> Vec<Time> {
        let Some(Sampling { start, end, .. }) = self.sampling else { return Vec::new() };
        let (base, start, end) = (self.base.as_ps(), start.as_ps(), end.as_ps());
        let first = (base + start).div_ceil(DUMP) * DUMP;
        let all = (first..=base + end).step_by(DUMP as usize);
        // Only a sample's time is looked at.
        let sampled = all.filter(|at| (at - base - start).is_multiple_of(SAMPLE.as_ps()));
        sampled.map(|at| Time::from_ps(at - base)).collect()
    }

    /// Adds what each host notified since the last call.
    fn notifications(&self, network: &Network, hosts: &mut [Attached], at: Time, rows: &mut Rows) {
        if self.simulator != Simulator::ConWeave {
            return;
        }
        let ns = (self.base + at.since_origin()).as_ps() / 1_000;
        for host in hosts {
            let Some(nic) = network.host::<Nic>(host.id) else { continue };
            let now = nic.counters();
            let total = now.notifications - host.seen.notifications;
            let missing = (now.nacks - host.seen.nacks).min(total);
            if total > 0 {
                rows.notifications.push([ns, host.node.into(), total - missing, missing, total]);
            }
            host.seen = now;
        }
    }
}

/// Returns the UDP source port of a flow, from 49152 on, drawn by a seed: another seed makes ECMP choose other paths.
fn drawn(seed: u64, pair: u32) -> u16 {
    0xc000 | splitmix64(splitmix64(seed) ^ u64::from(pair)) as u16
}

/// Returns the node number in the name of a host or a switch.
pub(super) fn node_of(name: &str) -> u32 {
    name.get(1..).and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

/// The nodes of a network, for the texts of results.
pub(super) struct Nodes {
    /// Node of each switch.
    pub(super) switches: Vec<u32>,
    /// Interfaces of each switch by dev_port, from 1, of ports with a link.
    pub(super) interfaces: Vec<BTreeMap<u16, u32>>,
    /// Switch and interface of both ends of each link.
    pub(super) links: Vec<[(usize, u32); 2]>,
    /// Node and cable of the host at each dev_port of a switch.
    pub(super) hosts: BTreeMap<(SwitchId, u16), (u32, Duration)>,
}

impl Nodes {
    fn new(experiment: &Experiment, deployed: &Deployment) -> Nodes {
        let plan = &experiment.plan;
        let interface = |port: u16| u32::from(port) + 1;
        let of = |position: &sluice_catalogue::position::Position| {
            position.ports.iter().map(|used| (used.dev_port, interface(used.port.0))).collect()
        };
        let link = |link: &sluice_fabric::network::LinkSetup| {
            link.ends.map(|end| (end.switch.0 as usize, interface(end.port.0)))
        };
        let host = |host: &HostPort| {
            let setup = &deployed.network.switches[host.end.switch.0 as usize];
            let dev = setup.front(host.end.port.0).map_or(u16::MAX, |port| port.number());
            let delay = host.delay.unwrap_or(experiment.hosts.cable);
            ((host.end.switch, dev), (node_of(&plan.hosts[host.host as usize].name), delay))
        };
        Nodes {
            switches: plan.switches.iter().map(|switch| node_of(&switch.name)).collect(),
            interfaces: deployed.positions.iter().map(of).collect(),
            links: deployed.network.links.iter().map(link).collect(),
            hosts: deployed.hosts.iter().map(host).collect(),
        }
    }
}
