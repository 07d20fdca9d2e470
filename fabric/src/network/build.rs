//! Builds a network from its setup: resolves ports, checks and sets speeds, and creates switches and wires.

use super::addressed::Addresses;
use super::link::Wire;
use super::node::Node;
use super::run::Exchange;
use super::{End, LinkId, Network, NetworkError, NetworkSetup, SwitchId, SwitchSetup, Way};
use sluice_asic::port::DevPort;
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::Catalogue;
use sluice_exec::engine::LowerError;
use sluice_exec::pass::Executor;
use sluice_switch::{Mode, Switch};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Network {
    /// Builds a network at time zero without frames. The switches run engines of this catalogue, which need not list
    /// their programs.
    ///
    /// # Errors
    /// If switches, ports, links and speeds do not fit together.
    pub fn new(setup: NetworkSetup, catalogue: &Catalogue) -> Result<Network, NetworkError> {
        Network::with(setup, |switch| {
            let engine =
                catalogue.engine(&switch.placed.program, &switch.placed.placement, &switch.control)?;
            Ok(Box::new(engine))
        })
    }

    /// Builds a network like [`Network::new`], with the executors that `make` returns.
    ///
    /// # Errors
    /// Those of [`Network::new`].
    pub fn with(
        mut setup: NetworkSetup,
        mut make: impl FnMut(&SwitchSetup) -> Result<Box<dyn Executor>, LowerError>,
    ) -> Result<Network, NetworkError> {
        let ends = resolve(&mut setup)?;
        let timed = timed(&setup)?;
        let mut nodes = Vec::with_capacity(setup.switches.len());
        for (index, switch) in (0..).zip(&mut setup.switches) {
            switch.config.device = index;
            let lower = |source| NetworkError::Lower { name: switch.name.clone(), source };
            let executor = make(switch).map_err(lower)?;
            let mut node = Node::new(SwitchId(index), build(switch, executor)?);
            if !timed {
                node.lead = Duration::ZERO;
            }
            nodes.push(node);
        }
        let wires = 2 * setup.links.len();
        for (number, (link, ports)) in (0..).zip(setup.links.iter().zip(&ends)) {
            for way in Way::ALL {
                let (from, to) = (way as usize, 1 - way as usize);
                let wire = 2 * number as usize + from;
                let ids = (LinkId(number), way);
                let [sender, receiver] = [from, to].map(|end| link.ends[end].switch.0 as usize);
                let lead = nodes[receiver].lead;
                let delay = if timed { link.delay } else { Duration::ZERO };
                if timed && (delay + lead).is_zero() {
                    return Err(NetworkError::NoDelay { link: name_of(&setup, LinkId(number)) });
                }
                let inlet = nodes[receiver].add_inlet(ports[to], Some((ids.0, way, wire))) as u16;
                let made = Wire::new(ids, receiver, (delay, lead), setup.seed);
                let made = made.overhead(setup.switches[sender].config.wire);
                nodes[sender].add_outlet(ports[from], (wire, inlet), made);
            }
        }
        if let Some(edges) = &setup.edges {
            nodes.iter_mut().for_each(Node::close);
            // A collector stands where mirror sessions send.
            for (node, switch) in nodes.iter_mut().zip(&setup.switches) {
                let ports = switch.control.replication.sessions.values().filter_map(|session| session.port);
                ports.for_each(|port| node.edge(port));
            }
            for end in edges {
                let index = end.switch.0 as usize;
                let (Some(node), Some(switch)) = (nodes.get_mut(index), setup.switches.get(index)) else {
                    return Err(NetworkError::NoSwitch { found: end.switch, count: setup.switches.len() });
                };
                let port = switch.front(end.port.0);
                node.edge(port.ok_or_else(|| no_port(switch, format!("front-panel port {}", end.port)))?);
            }
        }
        addresses(&mut nodes, &setup)?;
        let (clocks, exchange) = (vec![Time::ORIGIN; nodes.len()], Exchange::new(nodes.len(), wires));
        let mut network =
            Network { setup, nodes, exchange, hosts: Vec::new(), clocks, now: Time::ORIGIN, timed };
        for number in 0..network.setup.links.len() {
            for event in network.setup.links[number].script.clone() {
                network.script(LinkId(number as u32), event)?;
            }
        }
        Ok(network)
    }
}

/// Gives the switches the addresses of the hosts.
fn addresses(nodes: &mut [Node], setup: &NetworkSetup) -> Result<(), NetworkError> {
    let all = Arc::new(setup.addresses.iter().map(|(address, _)| *address).collect::<BTreeSet<_>>());
    nodes.iter_mut().for_each(|node| node.addresses = Addresses::new(Arc::clone(&all)));
    for (address, end) in &setup.addresses {
        let index = end.switch.0 as usize;
        let (Some(node), Some(switch)) = (nodes.get_mut(index), setup.switches.get(index)) else {
            return Err(NetworkError::NoSwitch { found: end.switch, count: setup.switches.len() });
        };
        let port = switch.front(end.port.0);
        let port = port.ok_or_else(|| no_port(switch, format!("front-panel port {}", end.port)))?;
        node.addresses.host(port.number(), *address);
    }
    for (node, switch) in nodes.iter_mut().zip(&setup.switches) {
        let ports = switch.control.replication.sessions.values().filter_map(|session| session.port);
        ports.for_each(|port| node.addresses.mirror(port.number()));
    }
    Ok(())
}

pub(super) fn no_port(switch: &SwitchSetup, what: String) -> NetworkError {
    let last = switch.ports.front_ports().len().saturating_sub(1);
    NetworkError::NoPort { name: switch.name.clone(), what, last }
}

pub(super) fn name_of(setup: &NetworkSetup, id: LinkId) -> String {
    let end = |end: &End| {
        let name = setup.switches.get(end.switch.0 as usize).map_or("?", |s| s.name.as_str());
        format!("{name}:{}", end.port)
    };
    setup
        .links
        .get(id.0 as usize)
        .map_or(String::new(), |l| format!("{}-{}", end(&l.ends[0]), end(&l.ends[1])))
}

fn build(setup: &SwitchSetup, executor: Box<dyn Executor>) -> Result<Switch<'static>, NetworkError> {
    let (program, placement) = (&setup.placed.program, &setup.placed.placement);
    let control = setup.control.clone();
    Switch::new(program, placement, &setup.ports, control, executor, setup.config.clone())
        .map_err(|source| NetworkError::Switch { name: setup.name.clone(), source })
}

/// Returns true if all switches have time, false if all are in functional mode.
fn timed(setup: &NetworkSetup) -> Result<bool, NetworkError> {
    let functional = |s: &&SwitchSetup| s.config.mode == Mode::Functional;
    match setup.switches.iter().find(functional) {
        None => Ok(true),
        Some(_) if setup.switches.iter().all(|s| functional(&s)) => Ok(false),
        Some(some) => Err(NetworkError::Functional { name: some.name.clone() }),
    }
}

/// Returns the dev_ports of all links' ends, and sets the speeds of their ports.
fn resolve(setup: &mut NetworkSetup) -> Result<Vec<[DevPort; 2]>, NetworkError> {
    for (i, switch) in setup.switches.iter().enumerate() {
        if setup.switches[..i].iter().any(|other| other.name == switch.name) {
            return Err(NetworkError::SameName { name: switch.name.clone() });
        }
    }
    let mut taken: BTreeSet<End> = BTreeSet::new();
    let mut all = Vec::with_capacity(setup.links.len());
    for number in 0..setup.links.len() {
        let id = LinkId(number as u32);
        let (ends, rate) = (setup.links[number].ends, setup.links[number].rate);
        let [a, b] = ends.map(|end| {
            let (port, speed) = port_of(setup, end)?;
            if taken.insert(end) {
                return Ok((port, speed));
            }
            let name = setup.switches[end.switch.0 as usize].name.clone();
            Err(NetworkError::Taken { link: name_of(setup, id), name, port: end.port })
        });
        let ((a, first), (b, second)) = (a?, b?);
        let ports = [a, b];
        match rate {
            Some(rate) => {
                for (end, port) in ends.into_iter().zip(ports) {
                    let config = &mut setup.switches[end.switch.0 as usize].config;
                    config.port_speeds.push((port.number(), rate));
                }
            }
            None if first != second => {
                return Err(NetworkError::Rates { link: name_of(setup, id), first, second });
            }
            None => {}
        }
        all.push(ports);
    }
    Ok(all)
}

/// Returns the dev_port of an end, and the speed that its switch gives the port.
fn port_of(setup: &NetworkSetup, end: End) -> Result<(DevPort, BitRate), NetworkError> {
    let missing = NetworkError::NoSwitch { found: end.switch, count: setup.switches.len() };
    let switch = setup.switches.get(end.switch.0 as usize).ok_or(missing)?;
    let port = switch.ports.front(end.port);
    let port = port.ok_or_else(|| no_port(switch, format!("front-panel port {}", end.port)))?;
    Ok((port.dev_port, switch.port_speed(port)))
}
