//! The simulators' closed form for a lone flow: base RTT, bandwidth and BDP of each pair of hosts (model: int §1.14, §4.4).

use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::topology::Blueprint;
use std::collections::{BTreeMap, VecDeque};
use std::net::Ipv4Addr;

/// Header bytes of a data packet that the simulators count, without telemetry.
pub(super) const HEADERS: u64 = 48;

/// Base round trip and slowest link of a pair of hosts, as the simulators' closed form has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    /// Twice the propagation, and the serialisation of one payload at every link, ns.
    pub(super) rtt: u64,
    /// Slowest link.
    pub(super) width: BitRate,
}

impl Pair {
    /// Returns the bytes that the pair's slowest link carries in an RTT.
    pub(super) fn bdp(self) -> u64 {
        (u128::from(self.rtt) * u128::from(self.width.as_bps()) / 8_000_000_000) as u64
    }

    /// Returns the time of a lone flow, ns.
    pub(super) fn alone(self, bytes: u64, payload: u64) -> u64 {
        let all = bytes + bytes.div_ceil(payload.max(1)) * HEADERS;
        let line = u128::from(all) * 8_000_000_000 / u128::from(self.width.as_bps().max(1));
        self.rtt + line as u64
    }
}

/// A link from a node, with the rate and the delay in ns.
type Way = (usize, BitRate, u64);

/// All pairs of hosts.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    of: BTreeMap<(Ipv4Addr, Ipv4Addr), Pair>,
}

impl Pairs {
    /// Computes all pairs of a network whose links all have rates and delays.
    pub(super) fn new(plan: &Blueprint, payload: u64) -> Pairs {
        let switches = plan.switches.len();
        let mut ways: Vec<Vec<Way>> = vec![Vec::new(); switches + plan.hosts.len()];
        let mut join = |a: usize, b: usize, rate: Option<BitRate>, delay: Duration| {
            let (rate, ns) = (rate.unwrap_or_default(), delay.as_ps() / 1_000);
            ways[a].push((b, rate, ns));
            ways[b].push((a, rate, ns));
        };
        for (number, host) in plan.hosts.iter().enumerate() {
            for at in &host.at {
                join(switches + number, at.switch as usize, at.rate, at.delay.unwrap_or_default());
            }
        }
        for cable in &plan.cables {
            join(cable.ends[0] as usize, cable.ends[1] as usize, cable.rate, cable.delay);
        }
        let mut of = BTreeMap::new();
        for (number, to) in plan.hosts.iter().enumerate() {
            let found = from_all(switches + number, switches, &ways, payload);
            for (host, from) in plan.hosts.iter().enumerate().filter(|(host, _)| *host != number) {
                of.extend(found[switches + host].map(|pair| ((from.address, to.address), pair)));
            }
        }
        Pairs { of }
    }

    pub(super) fn of(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<Pair> {
        self.of.get(&(from, to)).copied()
    }

    /// Returns the greatest RTT of all pairs, and the greatest BDP.
    pub(super) fn greatest(&self) -> (Duration, Bytes) {
        let rtt = self.of.values().map(|pair| pair.rtt).max().unwrap_or(0);
        let bdp = self.of.values().map(|pair| pair.bdp()).max().unwrap_or(0);
        (Duration::from_nanos(rtt), Bytes(bdp))
    }
}

/// Returns the pairs of a host with every node, by breadth: of several shortest paths, the one found first.
fn from_all(host: usize, switches: usize, ways: &[Vec<Way>], payload: u64) -> Vec<Option<Pair>> {
    let mut found: Vec<Option<(u64, u64, BitRate)>> = vec![None; ways.len()];
    found[host] = Some((0, 0, BitRate::from_bps(u64::MAX)));
    let mut open = VecDeque::from([host]);
    while let Some(at) = open.pop_front() {
        let Some((delay, line, width)) = found[at] else { continue };
        for &(next, rate, ns) in &ways[at] {
            if found[next].is_some() || rate.as_bps() == 0 {
                continue;
            }
            let once = payload * 8_000_000_000 / rate.as_bps();
            found[next] = Some((delay + ns, line + once, width.min(rate)));
            // No packet goes through a host.
            if next < switches {
                open.push_back(next);
            }
        }
    }
    let pair = |(delay, line, width): (u64, u64, BitRate)| Pair { rtt: 2 * delay + line, width };
    found.into_iter().map(|found| found.map(pair)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_and_a_tree_have_the_simulators_rtt_and_bdp() {
        // model: int §1.14: the star of 100G and 1 us has 4,160 ns and 52,000 B.
        let star = "4 1 3\n0\n0 1 100Gbps 0.001ms 0\n0 2 100Gbps 0.001ms 0\n0 3 100Gbps 0.001ms 0\n";
        let plan = Blueprint::from_ns3(star, "star").unwrap();
        let pairs = Pairs::new(&plan, 1_000);
        assert_eq!(pairs.greatest(), (Duration::from_nanos(4_160), Bytes(52_000)));
        // A path of HPCC's fat tree: two links of 100G and four of 400G have 12,240 ns and 153,000 B.
        let tree = "7 5 6\n2 3 4 5 6\n0 2 100Gbps 1us 0\n1 6 100Gbps 1us 0\n2 3 400Gbps 1us 0\n3 4 400Gbps 1us 0\n\
                    4 5 400Gbps 1us 0\n5 6 400Gbps 1us 0\n";
        let plan = Blueprint::from_ns3(tree, "tree").unwrap();
        let pairs = Pairs::new(&plan, 1_000);
        assert_eq!(pairs.greatest(), (Duration::from_nanos(12_240), Bytes(153_000)));
        // model: int §8.4: a flow of 1 KB takes 12,240 + 1048 x 0.08 = 12,323 ns, cut to whole ones.
        let pair = pairs.of(Ipv4Addr::new(11, 0, 0, 1), Ipv4Addr::new(11, 0, 1, 1)).unwrap();
        assert_eq!(pair.alone(1_000, 1_000), 12_323);
        // model: int §10.5: 20,030 bytes, 21 packets with headers, take 1,683 ns of line time.
        assert_eq!(pair.alone(20_030, 1_000), 12_240 + 1_683);
    }
}
