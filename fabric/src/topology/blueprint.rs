//! Blueprint of a network of switches: switches, cables, hosts, and scheduled events.
//!
//! A blueprint does not depend on a chip. [`Blueprint::wire`] assigns ports to cables and hosts, and
//! [`Wiring::positions`] computes every switch's neighbours and routes: all shortest paths, weighted by the cables'
//! weights.

use super::TopologyError;
use super::hops::Hops;
use crate::network::{LinkChange, Probability, Way};
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::{BitRate, Duration, Time};
use sluice_catalogue::position::{Neighbor, PortUse, Position, Prefix, Route};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// Plan of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchPlan {
    /// Name, unique in the network.
    pub name: String,
    /// Stage, from 1 at the edge.
    pub stage: u32,
    /// Block or site.
    pub block: u32,
    /// Program; `None`: the network's.
    pub program: Option<String>,
    /// Parameters in addition to the network's; the last value of a key counts.
    pub params: Vec<(String, String)>,
    /// File of entries, in place of the entries derived from the switch's position.
    pub entries: Option<String>,
    /// Buffer profile; `None`: the network's.
    pub buffer: Option<String>,
    /// Common prefix of its hosts' addresses, if there is one.
    pub subnet: Option<Prefix>,
}

/// A cable between two switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CablePlan {
    /// Indices of the switches at its ends.
    pub ends: [u32; 2],
    /// Front-panel ports; `None`: the lowest free port.
    pub ports: [Option<u16>; 2],
    /// Weight among equally long paths, 1 to 4096.
    pub weight: u32,
    /// Bit rate; `None`: the ports' speed.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Duration,
    /// Probability of loss, in both directions.
    pub loss: Probability,
    /// Probability of corruption, in both directions.
    pub corruption: Probability,
    /// Line of the topology's file, from 1; 0 if no file says it.
    pub line: usize,
}

impl CablePlan {
    /// Returns a cable without faults, at the ports' speed.
    #[must_use]
    pub const fn new(a: u32, b: u32, delay: Duration) -> CablePlan {
        CablePlan {
            ends: [a, b],
            ports: [None, None],
            weight: 1,
            rate: None,
            delay,
            loss: Probability::NEVER,
            corruption: Probability::NEVER,
            line: 0,
        }
    }
}

/// A port of a switch with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// Index of the switch.
    pub switch: u32,
    /// Front-panel port; `None`: the lowest free port.
    pub port: Option<u16>,
    /// Bit rate; `None`: the port's speed.
    pub rate: Option<BitRate>,
    /// Propagation delay of the host's cable; `None`: the caller's.
    pub delay: Option<Duration>,
    /// Line of the topology's file, from 1; 0 if no file says it.
    pub line: usize,
}

impl Attachment {
    /// Returns an attachment to the lowest free port, at the port's speed.
    #[must_use]
    pub const fn new(switch: u32) -> Attachment {
        Attachment { switch, port: None, rate: None, delay: None, line: 0 }
    }
}

/// A host: an address that packets are routed to, at ports where frames can be injected or hosts attached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPlan {
    /// Name.
    pub name: String,
    /// IPv4 address.
    pub address: Ipv4Addr,
    /// Ports of the host, one or several.
    pub at: Vec<Attachment>,
}

/// A port that a host or an end of a cable uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortPlan {
    /// Index of the switch.
    pub(crate) switch: u32,
    /// Front-panel port; `None`: any.
    pub(crate) port: Option<u16>,
    /// Bit rate; `None`: the port's speed.
    pub(crate) rate: Option<BitRate>,
    /// Line of the topology's file; 0 if no file says it.
    pub(crate) line: usize,
}

/// A scheduled event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A cable changes, in one direction or both.
    Cable {
        /// Index of the cable.
        cable: u32,
        /// Direction, [`Way::Forth`] from its first end; `None`: both.
        way: Option<Way>,
        /// The change.
        change: LinkChange,
    },
    /// A control-plane operation at a switch, written as in files of changes.
    Control {
        /// Index of the switch.
        switch: u32,
        /// The operation without its time, such as `table_delete ipv4_route 3`.
        line: String,
    },
}

/// Plan of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blueprint {
    /// Title for readers.
    pub name: String,
    /// Name of the topology's file, for errors; empty if there is none.
    pub origin: String,
    /// Chip of all switches; `None`: the caller's.
    pub chip: Option<String>,
    /// Speed of front-panel ports; `None`: the caller's.
    pub port_speed: Option<BitRate>,
    /// Program of switches without one; `None`: the caller's.
    pub program: Option<String>,
    /// Parameters of `program`.
    pub params: Vec<(String, String)>,
    /// Buffer profile of switches without one.
    pub buffer: Option<String>,
    /// Switches.
    pub switches: Vec<SwitchPlan>,
    /// Cables.
    pub cables: Vec<CablePlan>,
    /// Hosts.
    pub hosts: Vec<HostPlan>,
    /// Scheduled events with their times.
    pub events: Vec<(Time, Happening)>,
}

/// Assigned ports of all cables and hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring<'b> {
    blueprint: &'b Blueprint,
    /// For each cable, the ports of its two ends.
    pub cables: Vec<[FrontPort; 2]>,
    /// For each host, the port of each attachment.
    pub hosts: Vec<Vec<FrontPort>>,
}

/// Returns the subnet of switch number `n` among those with hosts: 10.0.0.0/24, 10.0.1.0/24 and so on.
#[must_use]
pub const fn subnet(n: u32) -> Prefix {
    Prefix { address: Ipv4Addr::from_bits(0x0a00_0000 | (n & 0xffff) << 8), len: 24 }
}

impl Blueprint {
    /// Adds a switch with `hosts` hosts, at most 253, and returns its index. Subnets go to switches with hosts in the
    /// order in which they are added, and the first addresses of a subnet to its hosts: 10.0.0.1, 10.0.0.2.
    pub fn add(&mut self, name: String, stage: u32, block: u32, hosts: u32) -> u32 {
        let number = self.switches.len() as u32;
        self.switches.push(SwitchPlan { name, stage, block, ..SwitchPlan::default() });
        self.add_hosts(number, hosts);
        number
    }

    /// Adds hosts to a switch, and gives the switch a subnet.
    pub fn add_hosts(&mut self, switch: u32, hosts: u32) {
        let taken = self.switches.iter().filter(|s| s.subnet.is_some()).count() as u32;
        let Some(plan) = self.switches.get_mut(switch as usize).filter(|_| hosts > 0) else { return };
        let net = subnet(taken);
        plan.subnet = Some(net);
        for host in 0..hosts.min(253) {
            let address = Ipv4Addr::from_bits(net.address.to_bits() + host + 1);
            let at = vec![Attachment::new(switch)];
            self.hosts.push(HostPlan { name: format!("{}-h{host}", plan.name), address, at });
        }
    }

    /// Returns the index of the switch of this name.
    ///
    /// # Errors
    /// If there is no such switch.
    pub fn switch_named(&self, name: &str) -> Result<u32, TopologyError> {
        let found = self.switches.iter().position(|s| s.name == name);
        found.map(|n| n as u32).ok_or_else(|| TopologyError::NoSwitch { name: name.to_owned() })
    }

    /// Returns the name of a switch; its number if there is no such switch.
    pub(crate) fn switch_name(&self, switch: u32) -> String {
        self.switches.get(switch as usize).map_or_else(|| switch.to_string(), |s| s.name.clone())
    }

    /// Returns the place of a line in the topology's file, to be put before a message; empty if no file says it.
    pub(crate) fn place(&self, line: usize) -> String {
        if line == 0 { String::new() } else { format!("{}:{line}: ", self.origin) }
    }

    /// Returns the ports that hosts and cables use: those of hosts in order, then both ends of each cable.
    pub(crate) fn uses(&self) -> impl Iterator<Item = PortPlan> + '_ {
        let hosts = self.hosts.iter().flat_map(|host| {
            let of =
                |at: &Attachment| PortPlan { switch: at.switch, port: at.port, rate: at.rate, line: at.line };
            host.at.iter().map(of)
        });
        let cables = self.cables.iter().flat_map(|cable| {
            let (rate, line) = (cable.rate, cable.line);
            [0, 1].map(|end| PortPlan { switch: cable.ends[end], port: cable.ports[end], rate, line })
        });
        hosts.chain(cables)
    }

    /// Returns a cable's name, made of its ends, such as `leaf0-spine1`.
    #[must_use]
    pub fn cable_name(&self, cable: &CablePlan) -> String {
        let name = |end: u32| self.switches.get(end as usize).map_or("?", |s| s.name.as_str());
        format!("{}-{}", name(cable.ends[0]), name(cable.ends[1]))
    }

    /// Assigns ports: first the requested ones, then the lowest free ones to hosts and to cables, in their order.
    /// `front` returns the number of front-panel ports of a switch.
    ///
    /// # Errors
    /// If a switch has too few ports, or a port is requested twice.
    pub fn wire(&self, front: impl Fn(u32) -> u16) -> Result<Wiring<'_>, TopologyError> {
        let mut taken: Vec<BTreeSet<u16>> = vec![BTreeSet::new(); self.switches.len()];
        let ends = |c: &CablePlan| [(c.ends[0], c.ports[0]), (c.ends[1], c.ports[1])];
        for used in self.uses() {
            let Some(ports) = taken.get_mut(used.switch as usize) else {
                return Err(TopologyError::NoSwitch { name: self.switch_name(used.switch) });
            };
            let most = front(used.switch);
            if let Some(port) = used.port
                && (port >= most || !ports.insert(port))
            {
                let (place, name) = (self.place(used.line), self.switch_name(used.switch));
                return Err(TopologyError::Port { place, name, port, taken: port < most, ports: most });
            }
        }
        let mut assign = |switch: u32, asked: Option<u16>| {
            let ports = &mut taken[switch as usize];
            let free = asked.or_else(|| (0..front(switch)).find(|port| !ports.contains(port)));
            let port = free.ok_or_else(|| {
                let wanted = self.uses().filter(|used| used.switch == switch).count();
                TopologyError::Ports { name: self.switch_name(switch), wanted, found: front(switch) }
            })?;
            ports.insert(port);
            Ok(FrontPort(port))
        };
        let mut attached = Vec::with_capacity(self.hosts.len());
        for host in &self.hosts {
            let ports = host.at.iter().map(|a| assign(a.switch, a.port));
            attached.push(ports.collect::<Result<Vec<_>, _>>()?);
        }
        let mut cables = Vec::with_capacity(self.cables.len());
        for cable in &self.cables {
            let [a, b] = ends(cable).map(|(switch, port)| assign(switch, port));
            cables.push([a?, b?]);
        }
        Ok(Wiring { blueprint: self, cables, hosts: attached })
    }
}

/// A destination of routes.
struct Destination {
    to: Prefix,
    /// Switches where the destination is, with the port if it is a host.
    at: Vec<(u32, Option<FrontPort>)>,
    /// True if all switches have a route to it; false if other switches reach it through its subnet.
    everywhere: bool,
}

impl Wiring<'_> {
    /// Returns the position of every switch. `ports` returns a switch's port map.
    #[must_use]
    pub fn positions<'p>(&self, ports: impl Fn(u32) -> &'p PortMap) -> Vec<Position> {
        let switches = (0..).zip(&self.blueprint.switches);
        let mut positions: Vec<Position> = switches
            .map(|(number, plan)| Position {
                number,
                name: plan.name.clone(),
                stage: plan.stage,
                block: plan.block,
                ports: self.ports_of(number, ports(number)),
                routes: Vec::new(),
                subnets: Vec::new(),
                hosts: Vec::new(),
            })
            .collect();
        let mut subnets: Vec<(u32, Prefix)> = Vec::new();
        for (number, plan) in (0..).zip(&self.blueprint.switches) {
            subnets.extend(plan.subnet.map(|subnet| (number, subnet)));
        }
        // For each switch: port, neighbour, weight.
        let mut ways: Vec<Vec<(FrontPort, u32, u32)>> = vec![Vec::new(); positions.len()];
        for (cable, ports) in self.blueprint.cables.iter().zip(&self.cables) {
            let [a, b] = cable.ends;
            ways[a as usize].push((ports[0], b, cable.weight));
            ways[b as usize].push((ports[1], a, cable.weight));
        }
        ways.iter_mut().for_each(|w| w.sort_unstable());
        for destination in self.destinations() {
            let near = |at: u32| ways[at as usize].iter().map(|(_, neighbor, _)| *neighbor);
            let hops = Hops::to(destination.at.iter().map(|(switch, _)| *switch), ways.len(), near).of;
            for (at, position) in positions.iter_mut().enumerate() {
                position.routes.extend(route(&destination, at as u32, &ways[at], &hops));
            }
        }
        let homes = self.blueprint.hosts.iter().flat_map(|h| h.at.iter().map(|a| (a.switch, h.address)));
        let hosts: Vec<(u32, Ipv4Addr)> = homes.collect();
        for position in &mut positions {
            position.subnets.clone_from(&subnets);
            position.hosts.clone_from(&hosts);
        }
        positions
    }

    fn ports_of(&self, switch: u32, map: &PortMap) -> Vec<PortUse> {
        let plan = self.blueprint;
        let mut list = Vec::new();
        let mut add = |port: FrontPort, rate: Option<BitRate>, neighbor: Neighbor| {
            let dev_port = map.front(port).map_or(u16::MAX, |p| p.dev_port.number());
            list.push(PortUse { port, dev_port, speed: rate.unwrap_or(map.speed()), neighbor });
        };
        for (host, ports) in plan.hosts.iter().zip(&self.hosts) {
            let here = host.at.iter().zip(ports).filter(|(a, _)| a.switch == switch);
            here.for_each(|(at, port)| add(*port, at.rate, Neighbor::Host(host.address)));
        }
        for (cable, ports) in plan.cables.iter().zip(&self.cables) {
            for (near, far) in [(0, 1), (1, 0)] {
                if cable.ends[near] == switch {
                    let number = cable.ends[far];
                    let stage = plan.switches.get(number as usize).map_or(0, |s| s.stage);
                    add(ports[near], cable.rate, Neighbor::Switch { number, stage, port: ports[far] });
                }
            }
        }
        list.sort_by_key(|used| used.port);
        list
    }

    /// Returns all subnets, for all switches; and all hosts, for their own switch, or for all switches if theirs has no
    /// subnet.
    fn destinations(&self) -> Vec<Destination> {
        let plan = self.blueprint;
        let mut list = Vec::new();
        for (number, switch) in (0..).zip(&plan.switches) {
            list.extend(switch.subnet.map(|to| Destination {
                to,
                at: vec![(number, None)],
                everywhere: true,
            }));
        }
        for (host, ports) in plan.hosts.iter().zip(&self.hosts) {
            let at: Vec<_> = host.at.iter().zip(ports).map(|(a, port)| (a.switch, Some(*port))).collect();
            let subnet = |(s, _): &(u32, _)| plan.switches.get(*s as usize).and_then(|s| s.subnet);
            let everywhere = at.iter().any(|at| subnet(at).is_none());
            list.push(Destination { to: Prefix::host(host.address), at, everywhere });
        }
        list
    }
}

/// Returns a switch's route to a destination, if it has one.
fn route(to: &Destination, at: u32, ways: &[(FrontPort, u32, u32)], hops: &[u32]) -> Option<Route> {
    let here = hops.get(at as usize).copied().filter(|h| *h != u32::MAX)?;
    let ports: Vec<(FrontPort, u32)> = match here {
        0 => to.at.iter().filter(|(s, _)| *s == at).filter_map(|(_, port)| Some(((*port)?, 1))).collect(),
        _ if !to.everywhere => return None,
        _ => {
            let near = |(_, neighbor, _): &&(FrontPort, u32, u32)| hops[*neighbor as usize] + 1 == here;
            ways.iter().filter(near).map(|(port, _, weight)| (*port, *weight)).collect()
        }
    };
    (!ports.is_empty()).then_some(Route { to: to.to, ports, hops: here })
}
