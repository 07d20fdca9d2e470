//! The place of a switch in its network: the neighbours of its ports and its routes, from which programs make entries.

use crate::ports::PortRange;
use sluice_asic::port::{FrontPort, PortMap};
use sluice_asic::units::BitRate;
use std::net::{Ipv4Addr, Ipv6Addr};

/// An IPv4 prefix. It also stands for the IPv6 prefix whose addresses have these IPv4 addresses as their last 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix {
    /// The first address of the prefix.
    pub address: Ipv4Addr,
    /// Length in bits, 0 to 32.
    pub len: u8,
}

/// The first 96 bits of every IPv6 address in a network: host 10.0.0.1 has the address `2001:db8::10.0.0.1`.
pub const IPV6_BASE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0);

impl Prefix {
    /// Returns the prefix of one address.
    #[must_use]
    pub const fn host(address: Ipv4Addr) -> Prefix {
        Prefix { address, len: 32 }
    }

    /// Returns true if the prefix has this address.
    #[must_use]
    pub fn contains(self, address: Ipv4Addr) -> bool {
        let mask = u32::MAX.checked_shl(32 - u32::from(self.len.min(32))).unwrap_or(0);
        address.to_bits() & mask == self.address.to_bits() & mask
    }

    /// Returns the IPv6 prefix of the same hosts, as address and length in bits.
    #[must_use]
    pub fn ipv6(self) -> (Ipv6Addr, u16) {
        let bits = IPV6_BASE.to_bits() | u128::from(self.address.to_bits());
        (Ipv6Addr::from_bits(bits), 96 + u16::from(self.len))
    }
}

/// The device at the other end of a port's cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbor {
    /// A host with this address.
    Host(Ipv4Addr),
    /// Another switch.
    Switch {
        /// Number in the network, from 0.
        number: u32,
        /// Stage, from 1 at the edge.
        stage: u32,
        /// The port at that switch's end of the cable.
        port: FrontPort,
    },
}

/// A port with a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortUse {
    /// The port.
    pub port: FrontPort,
    /// The dev_port, which is the port's number in programs.
    pub dev_port: u16,
    /// Rate of the port.
    pub speed: BitRate,
    /// The device at the other end of the cable.
    pub neighbor: Neighbor,
}

/// The next hops to a destination prefix. Packets may take any of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The destination prefix.
    pub to: Prefix,
    /// Ports of next hops with their weights, in order of ports; at least one. Every next hop is on a shortest path.
    pub ports: Vec<(FrontPort, u32)>,
    /// Hops to the switch to which the destinations are attached; 0 for this switch.
    pub hops: u32,
}

/// Ports of next hops with their weights.
pub type NextHops = [(FrontPort, u32)];

/// The place of a switch in its network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Number among the switches, from 0.
    pub number: u32,
    /// Name of the switch.
    pub name: String,
    /// Stage, from 1 at the edge.
    pub stage: u32,
    /// Number of the block or site to which the switch belongs.
    pub block: u32,
    /// Ports with a cable, in order.
    pub ports: Vec<PortUse>,
    /// Routes; no two routes have the same prefix.
    pub routes: Vec<Route>,
    /// Subnets of the whole network in order of switches, each with the number of its switch. Every switch with hosts,
    /// including this one, has one subnet.
    pub subnets: Vec<(u32, Prefix)>,
    /// Hosts of the whole network, each with the number of its switch. A host that is attached to two switches is
    /// listed twice.
    pub hosts: Vec<(u32, Ipv4Addr)>,
}

impl Position {
    /// Returns the port of this number, if it has a cable.
    #[must_use]
    pub fn port(&self, port: FrontPort) -> Option<&PortUse> {
        self.ports.iter().find(|p| p.port == port)
    }

    /// Returns the rate of a port: at this place if `at` is given, else in the port map.
    #[must_use]
    pub fn rate(at: Option<&Position>, ports: &PortMap, port: FrontPort) -> Option<BitRate> {
        let here = at.and_then(|at| at.port(port)).map(|used| used.speed);
        here.or_else(|| ports.front(port).map(|port| port.speed))
    }

    /// Returns the subnets of the network, or its hosts if it has no subnets, as in configs of ns-3, each with the number of its
    /// switch.
    pub fn homes(&self) -> impl Iterator<Item = (u32, Prefix)> + '_ {
        let hosts = if self.subnets.is_empty() { self.hosts.as_slice() } else { &[] };
        let hosts = hosts.iter().map(|(switch, address)| (*switch, Prefix { address: *address, len: 32 }));
        self.subnets.iter().copied().chain(hosts)
    }

    /// Returns true if the port leads to a switch of a higher stage.
    #[must_use]
    pub fn leads_up(&self, port: FrontPort) -> bool {
        let neighbor = self.port(port).map(|p| p.neighbor);
        matches!(neighbor, Some(Neighbor::Switch { stage, .. }) if stage > self.stage)
    }

    /// Returns the range from the first to the last port that leads to a host (`hosts` is true) or to a switch (`hosts` is
    /// false). `None` means that there is no such port.
    #[must_use]
    pub fn port_range(&self, hosts: bool) -> Option<PortRange> {
        let is_host = |neighbor: &Neighbor| matches!(neighbor, Neighbor::Host(_));
        let mut ports =
            self.ports.iter().filter(|used| is_host(&used.neighbor) == hosts).map(|used| used.port.0);
        let first = ports.next()?;
        Some(PortRange { first, last: ports.next_back().unwrap_or(first) })
    }

    /// Returns the different sets of next hops in order of first use, and for each route the index of its set.
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
    fn a_prefix_contains_the_addresses_with_its_bits() {
        let prefix = |len| Prefix { address: Ipv4Addr::new(10, 1, 2, 0), len };
        for (len, address, wanted) in [
            (24, [10, 1, 2, 9], true),
            (24, [10, 1, 3, 9], false),
            (0, [192, 0, 2, 1], true),
            (32, [10, 1, 2, 1], false),
        ] {
            assert_eq!(prefix(len).contains(address.into()), wanted, "{address:?}/{len}");
        }
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
