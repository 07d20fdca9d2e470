//! The bottleneck of each pair of a switch and a host: the rate at which a lone flow can go.

use super::hops::Hops;
use sluice_asic::units::BitRate;
use sluice_catalogue::position::{Neighbor, Position};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Greatest rates between the switches of a network.
#[derive(Clone, Debug, Default)]
pub struct Bottlenecks {
    /// For each switch with hosts, the greatest rate from every switch: the slowest link of the best shortest path.
    widths: BTreeMap<u32, Vec<BitRate>>,
    /// Switch and rate of each host's first port.
    hosts: BTreeMap<Ipv4Addr, (u32, BitRate)>,
}

/// Ports of a switch to other switches: the neighbour, and the rate.
type Ways = Vec<(u32, BitRate)>;

impl Bottlenecks {
    /// Computes the rates of a network from the positions of its switches.
    #[must_use]
    pub fn new(positions: &[Position]) -> Bottlenecks {
        let mut hosts = BTreeMap::new();
        let mut ways: Vec<Ways> = vec![Vec::new(); positions.len()];
        for position in positions {
            for used in &position.ports {
                match used.neighbor {
                    Neighbor::Host(address) => {
                        hosts.entry(address).or_insert((position.number, used.speed));
                    }
                    Neighbor::Switch { number, .. } => {
                        ways[position.number as usize].push((number, used.speed));
                    }
                }
            }
        }
        let mut widths = BTreeMap::new();
        for (switch, _) in hosts.values() {
            widths.entry(*switch).or_insert_with(|| widest(*switch, &ways));
        }
        Bottlenecks { widths, hosts }
    }

    /// Returns the rate of the slowest link between two hosts, on the shortest path whose slowest link is fastest; `None`
    /// if one of them is unknown, or there is no path.
    #[must_use]
    pub fn between(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<BitRate> {
        let (near, first) = self.hosts.get(&from)?;
        let (far, last) = self.hosts.get(&to)?;
        let width = self.widths.get(far)?.get(*near as usize).filter(|width| width.as_bps() > 0)?;
        Some((*first).min(*last).min(*width))
    }
}

/// Returns for every switch the greatest rate to `to` over shortest paths; 0 if there is no path. Within `to`, nothing
/// limits the rate.
fn widest(to: u32, ways: &[Ways]) -> Vec<BitRate> {
    let hops = Hops::to([to], ways.len(), |at| ways[at as usize].iter().map(|(neighbor, _)| *neighbor));
    let mut width = vec![BitRate::from_bps(0); ways.len()];
    width[to as usize] = BitRate::from_bps(u64::MAX);
    // Switches come in order of hops, so a switch's width is final when it is taken.
    for at in hops.order {
        let (next, own) = (hops.of[at as usize] + 1, width[at as usize]);
        for (neighbor, rate) in ways[at as usize].iter().filter(|(n, _)| hops.of[*n as usize] == next) {
            let width = &mut width[*neighbor as usize];
            *width = own.min(*rate).max(*width);
        }
    }
    width
}

#[cfg(test)]
mod tests {
    use super::super::Blueprint;
    use super::*;
    use sluice_asic::chip::ChipSpec;
    use sluice_asic::port::PortMap;

    #[test]
    fn the_best_shortest_path_counts() {
        // Hosts 0 (100G) and 1 (25G) at switch 3, host 2 (100G) at switch 4; two ways of two hops, one slow, one fast; and
        // a longer one that is faster.
        let text = "9 6 10\n3 4 5 6 7 8\n0 3 100G 1us 0\n1 3 25G 1us 0\n2 4 100G 1us 0\n3 5 10G 1us 0\n5 4 400G 1us 0\n\
                    3 6 50G 1us 0\n6 4 50G 1us 0\n3 7 400G 1us 0\n7 8 400G 1us 0\n8 4 400G 1us 0";
        let plan = Blueprint::from_ns3(text, "t").unwrap();
        let ports = PortMap::default_for(&ChipSpec::tofino2()).unwrap();
        let positions = plan.wire(|_| 32).unwrap().positions(|_| &ports);
        let found = Bottlenecks::new(&positions);
        let host = |n| Ipv4Addr::new(11, 0, n, 1);
        let rate = |a, b| found.between(host(a), host(b)).map(|rate| rate.as_bps() / 1_000_000_000);
        assert_eq!((rate(0, 2), rate(2, 0)), (Some(50), Some(50)));
        assert_eq!((rate(1, 2), rate(2, 1), rate(0, 1)), (Some(25), Some(25), Some(25)));
        assert_eq!(rate(0, 7), None);
    }
}
