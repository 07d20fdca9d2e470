//! The only path between each two hosts of a network that has no choice of paths.

use sluice_asic::units::BitRate;
use sluice_catalogue::position::{Neighbor, Position};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Directed links of a network in which one path leads from each host to each other one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnlyPaths {
    /// Rates of the links; each direction of a cable is a link.
    pub rates: Vec<BitRate>,
    /// Links from a host to another one, in order.
    pub paths: BTreeMap<(Ipv4Addr, Ipv4Addr), Vec<u32>>,
}

impl OnlyPaths {
    /// Follows the routes from each host to each other one.
    ///
    /// # Errors
    /// If a switch has several next hops to a host, or none. The error names both.
    pub fn new(positions: &[Position]) -> Result<OnlyPaths, String> {
        let mut hosts = BTreeMap::new();
        // Links are numbered by host or by switch and port; a host's link to its switch comes before the switches' ports.
        let (mut rates, mut links) = (Vec::new(), BTreeMap::new());
        for position in positions {
            for used in &position.ports {
                if let Neighbor::Host(address) = used.neighbor
                    && !hosts.contains_key(&address)
                {
                    hosts.insert(address, (position.number, rates.len() as u32));
                    rates.push(used.speed);
                }
                links.insert((position.number, used.port), rates.len() as u32);
                rates.push(used.speed);
            }
        }
        let mut all = OnlyPaths { rates, paths: BTreeMap::new() };
        for (from, (switch, first)) in &hosts {
            for to in hosts.keys().filter(|to| *to != from) {
                let mut path = vec![*first];
                let mut at = *switch;
                loop {
                    let position = &positions[at as usize];
                    let port = next(position, *to)?;
                    path.extend(links.get(&(at, port.port)));
                    match port.neighbor {
                        Neighbor::Host(_) => break,
                        Neighbor::Switch { number, .. } => at = number,
                    }
                }
                all.paths.insert((*from, *to), path);
            }
        }
        Ok(all)
    }
}

/// Returns the only port of a switch that leads to a host.
fn next(position: &Position, to: Ipv4Addr) -> Result<&sluice_catalogue::position::PortUse, String> {
    let own = |used: &&sluice_catalogue::position::PortUse| used.neighbor == Neighbor::Host(to);
    if let Some(port) = position.ports.iter().find(own) {
        return Ok(port);
    }
    let routes = position.routes.iter().filter(|route| route.hops > 0 && route.to.contains(to));
    let route = routes.max_by_key(|route| route.to.len).map_or(&[][..], |route| &route.ports);
    match route {
        [(port, _)] => {
            position.port(*port).ok_or_else(|| format!("switch `{}` has no port to {to}", position.name))
        }
        ports => {
            Err(format!("switch `{}` has {} next hops to {to}; expected one", position.name, ports.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Blueprint;
    use super::*;
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::port::PortMap;

    fn of(text: &str) -> Result<OnlyPaths, String> {
        let plan = Blueprint::from_ns3(text, "t").unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        OnlyPaths::new(&plan.wire(|_| 32).unwrap().positions(|_| &ports))
    }

    #[test]
    fn a_path_has_the_links_of_its_direction() {
        // Hosts 0 (100G) and 1 (25G) at switch 3, host 2 (10G) at switch 4, and a cable of 50G between the switches.
        let all = of("5 2 4\n3 4\n0 3 100G 1us 0\n1 3 25G 1us 0\n2 4 10G 1us 0\n3 4 50G 1us 0").unwrap();
        let host = |n| Ipv4Addr::new(11, 0, n, 1);
        let rates = |a, b| {
            let path = &all.paths[&(host(a), host(b))];
            path.iter().map(|link| all.rates[*link as usize].as_bps() / 1_000_000_000).collect::<Vec<_>>()
        };
        assert_eq!(
            (rates(0, 2), rates(2, 1), rates(0, 1)),
            (vec![100, 50, 10], vec![10, 50, 25], vec![100, 25])
        );
        // The two directions of a cable are two links.
        let (there, back) = (&all.paths[&(host(0), host(2))], &all.paths[&(host(2), host(0))]);
        assert!(there.iter().all(|link| !back.contains(link)), "{there:?} {back:?}");
    }

    #[test]
    fn a_choice_of_paths_is_refused() {
        let two = "4 2 4\n2 3\n0 2 100G 1us 0\n1 3 100G 1us 0\n2 3 50G 1us 0\n2 3 50G 1us 0";
        assert!(of(two).unwrap_err().contains("2 next hops to 11.0.1.1; expected one"), "{:?}", of(two));
    }
}
