//! Where a switch stands in a network: its ports' neighbours and its routes, for programs to make entries of.
//!
//! What may not live here: networks, entries of particular programs.

use crate::ports::PortRange;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::BitRate;
use std::net::{Ipv4Addr, Ipv6Addr};

/// A set of IPv4 addresses, and with it of the IPv6 addresses that carry them in their last 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The first address.
    pub address: Ipv4Addr,
    /// Bits that are compared, 0..=32.
    pub len: u8,
}

/// Where the IPv6 addresses of a network begin: its hosts' are `2001:db8::10.0.0.1` and so on.
pub const IPV6_BASE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);

impl Prefix {
    /// One address.
    #[must_use]
    pub const fn host(address: Ipv4Addr) -> Prefix {
        Prefix { address, len: 32 }
    }

    /// The IPv6 addresses of the same hosts.
    #[must_use]
    pub fn ipv6(self) -> (Ipv6Addr, u16) {
        let bits = IPV6_BASE.to_bits() | u128::from(self.address.to_bits());
        (Ipv6Addr::from_bits(bits), 96 + u16::from(self.len))
    }
}

/// What is at the other end of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbor {
    /// A host with this address.
    Host(Ipv4Addr),
    /// A switch: its number in the network, its stage, and its port.
    Switch {
        /// Number, from 0.
        number: u32,
        /// Stage, from 1 at the edge.
        stage: u32,
        /// Its end of the cable.
        port: FrontPort,
    },
}

/// A port in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortUse {
    /// The port.
    pub port: FrontPort,
    /// Its number in programs.
    pub dev_port: u16,
    /// The rate that it runs at.
    pub speed: BitRate,
    /// What is at its other end.
    pub neighbor: Neighbor,
}

/// A way to some destinations: any of these ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destinations.
    pub to: Prefix,
    /// Ports of next hops with their weights, in order of ports; at least one. All are on shortest paths.
    pub ports: Vec<(FrontPort, u32)>,
    /// Hops from here to the switch that the destinations are at; 0 if they are here.
    pub hops: u32,
}

/// Ports with their weights.
pub type NextHops = [(FrontPort, u32)];

/// A switch's place in its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number among the switches, from 0.
    pub number: u32,
    /// Name.
    pub name: String,
    /// Stage, from 1 at the edge.
    pub stage: u32,
    /// Block or site that it belongs to.
    pub block: u32,
    /// Ports in use, in order.
    pub ports: Vec<PortUse>,
    /// Routes; no two have the same destinations.
    pub routes: Vec<Route>,
    /// The network's subnets by the number of the switch that they are at, in order: every switch with hosts is
    /// here, this one too.
    pub subnets: Vec<(u32, Prefix)>,
    /// The network's hosts by the number of a switch that they are at; one at two switches is here twice.
    pub hosts: Vec<(u32, Ipv4Addr)>,
}

impl Position {
    /// The port in use of this number.
    #[must_use]
    pub fn port(&self, port: FrontPort) -> Option<&PortUse> {
        self.ports.iter().find(|p| p.port == port)
    }

    /// The rate that a port runs at: here, or without a place in a network, as the device's ports are.
    pub(crate) fn rate(at: Option<&Position>, ports: &PortMap, port: FrontPort) -> Option<BitRate> {
        let here = at.and_then(|at| at.port(port)).map(|used| used.speed);
        here.or_else(|| ports.front(port).map(|port| port.speed))
    }

    /// Whether a port leads to a switch of a higher stage, or of the same stage in a network of one stage.
    #[must_use]
    pub fn leads_up(&self, port: FrontPort) -> bool {
        let neighbor = self.port(port).map(|p| p.neighbor);
        matches!(neighbor, Some(Neighbor::Switch { stage, .. }) if stage > self.stage)
    }

    /// From the first to the last port in use with a host, or without one.
    #[must_use]
    pub fn port_range(&self, hosts: bool) -> Option<PortRange> {
        let is_host = |neighbor: &Neighbor| matches!(neighbor, Neighbor::Host(_));
        let mut ports =
            self.ports.iter().filter(|used| is_host(&used.neighbor) == hosts).map(|used| used.port.0);
        let first = ports.next()?;
        Some(PortRange { first, last: ports.next_back().unwrap_or(first) })
    }

    /// Sets of ports that routes use, without repetitions, in order of first use, and for each route its set.
    #[must_use]
    pub fn groups(&self) -> (Vec<&NextHops>, Vec<usize>) {
        let mut groups: Vec<&NextHops> = Vec::new();
        let of = self.routes.iter().map(|route| {
            let known = groups.iter().position(|g| *g == route.ports.as_slice());
            known.unwrap_or_else(|| {
                groups.push(&route.ports);
                groups.len() - 1
            })
        });
        let of = of.collect();
        (groups, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_carry_the_ipv4_ones() {
        let (address, len) = Prefix { address: Ipv4Addr::new(10, 1, 2, 0), len: 24 }.ipv6();
        assert_eq!((address.to_string().as_str(), len), ("2001:db8::a01:200", 120));
    }

    #[test]
    fn routes_over_the_same_ports_share_a_group() {
        let route = |n, ports: &[u16]| Route {
            to: Prefix::host(Ipv4Addr::new(10, 0, 0, n)),
            ports: ports.iter().map(|p| (FrontPort(*p), 1)).collect(),
            hops: 1,
        };
        let routes = vec![route(1, &[4, 5]), route(2, &[1]), route(3, &[4, 5])];
        let (name, subnets, hosts) = (String::new(), Vec::new(), Vec::new());
        let ports = Vec::new();
        let position = Position { number: 0, name, stage: 1, block: 0, ports, routes, subnets, hosts };
        let (groups, of) = position.groups();
        assert_eq!((groups.len(), of), (2, vec![0, 1, 0]));
    }
}
