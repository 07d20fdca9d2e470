//! [`Tuples`]: unique five-tuples of flows.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::random::mix;
use super::{Draw, GenerateError, Prefix};
use crate::wire::ipv6;

/// Most host bits of a prefix that are varied; there are far fewer flows than such addresses.
const MOST_HOST_BITS: u8 = 32;

/// Sources and destinations of flows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tuples {
    /// Source prefixes, of either family; flow n of a family uses prefix n modulo their number.
    pub sources: Vec<Prefix>,
    /// Destination prefixes, of either family; flow n of a family uses prefix n modulo their number.
    pub destinations: Vec<Prefix>,
    /// Source ports.
    pub source_ports: RangeInclusive<u16>,
    /// Destination ports.
    pub destination_ports: RangeInclusive<u16>,
    /// Flows over IPv6, in percent, spread evenly.
    pub ipv6_percent: u8,
}

/// Fields that distinguish a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// Source address.
    pub source: IpAddr,
    /// Destination address, of the same family.
    pub destination: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Flow label, if over IPv6.
    pub flow_label: u32,
}

/// Five-tuples by number of the flow: a permutation of all that there are.
#[derive(Debug, Clone)]
pub(super) struct TupleMap {
    tuples: Tuples,
    families: [Family; 2],
    key: u64,
}

#[derive(Debug, Clone)]
struct Family {
    sources: Vec<Prefix>,
    destinations: Vec<Prefix>,
}

impl Tuples {
    /// Checks that every flow gets a unique five-tuple, and returns the mapping.
    pub(super) fn map(self, flows: u32, seed: u64) -> Result<TupleMap, GenerateError> {
        GenerateError::check("ipv6", self.ipv6_percent.into(), 0, 100)?;
        for (field, range) in [("sport", &self.source_ports), ("dport", &self.destination_ports)] {
            let (first, last) = (u32::from(*range.start()), u32::from(*range.end()));
            if first > last {
                return Err(GenerateError::EmptyRange { field, first, last });
            }
        }
        let family = |v4: bool| {
            let of = |prefixes: &[Prefix]| {
                prefixes.iter().copied().filter(|prefix| prefix.network().is_ipv4() == v4).collect()
            };
            Family { sources: of(&self.sources), destinations: of(&self.destinations) }
        };
        let map = TupleMap {
            families: [family(true), family(false)],
            key: Draw::new(seed, TUPLE_STREAM).bits(),
            tuples: self,
        };
        let v6 = map.v6_before(flows.into());
        let counts = [u64::from(flows) - v6, v6];
        for ((family, count), name) in map.families.iter().zip(counts).zip(["IPv4", "IPv6"]) {
            if count == 0 {
                continue;
            }
            for (field, prefixes) in [("src", &family.sources), ("dst", &family.destinations)] {
                if prefixes.is_empty() {
                    return Err(GenerateError::NoPrefix { field, family: name });
                }
            }
            map.check_space(family, count, flows)?;
        }
        Ok(map)
    }
}

/// The stream of [`Draw`] that the permutation draws from.
const TUPLE_STREAM: u64 = u64::MAX - 2;

impl TupleMap {
    /// Returns the five-tuple of a flow.
    pub(super) fn tuple(&self, flow: u64) -> Tuple {
        let v6_before = self.v6_before(flow);
        let is_v6 = self.v6_before(flow + 1) > v6_before;
        let number = if is_v6 { v6_before } else { flow - v6_before };
        let family = &self.families[usize::from(is_v6)];
        let (source, destination, number) = family.pair(number);
        let index = permute(
            number.into(),
            self.space(source, destination),
            self.key ^ mix(flow_class(source, destination)),
        );
        self.at(source, destination, index)
    }

    /// Returns the number of IPv6 flows among the first `flows`: evenly distributed, and exact at every hundred.
    fn v6_before(&self, flows: u64) -> u64 {
        flows * u64::from(self.tuples.ipv6_percent) / 100
    }

    fn check_space(&self, family: &Family, count: u64, flows: u32) -> Result<(), GenerateError> {
        let pairs = family.pairs();
        for number in 0..pairs.min(count) {
            let (source, destination, _) = family.pair(number);
            let of_pair = (count - number).div_ceil(pairs);
            let space = self.space(source, destination);
            if space < of_pair.into() {
                // The limit is computed as if every pair of prefixes had as few tuples as this pair.
                let most = space * u128::from(pairs) * u128::from(flows) / u128::from(count);
                return Err(GenerateError::FewTuples { flows, most, destination });
            }
        }
        Ok(())
    }

    /// Returns the number of five-tuples between two prefixes.
    fn space(&self, source: Prefix, destination: Prefix) -> u128 {
        let hosts = |prefix: Prefix| 1u128 << prefix.host_bits().min(MOST_HOST_BITS);
        let ports = |range: &RangeInclusive<u16>| u128::from(range.end() - range.start()) + 1;
        hosts(source)
            * hosts(destination)
            * ports(&self.tuples.source_ports)
            * ports(&self.tuples.destination_ports)
    }

    /// Returns the five-tuple of this number between two prefixes.
    fn at(&self, source: Prefix, destination: Prefix, index: u128) -> Tuple {
        let mut rest = index;
        let mut digit = |base: u128| {
            // A division of 64 bits is several times cheaper and covers most spaces.
            let (quotient, digit) = match (u64::try_from(rest), u64::try_from(base)) {
                (Ok(rest), Ok(base)) => ((rest / base).into(), (rest % base).into()),
                _ => (rest / base, rest % base),
            };
            rest = quotient;
            digit
        };
        let mut port = |range: &RangeInclusive<u16>| {
            range.start() + digit(u128::from(range.end() - range.start()) + 1) as u16
        };
        let source_port = port(&self.tuples.source_ports);
        let destination_port = port(&self.tuples.destination_ports);
        let mut host = |prefix: Prefix| prefix.address(digit(1 << prefix.host_bits().min(MOST_HOST_BITS)));
        let (source, destination) = (host(source), host(destination));
        let flow_label =
            if source.is_ipv6() { mix(index as u64 ^ self.key) as u32 & ipv6::MAX_FLOW_LABEL } else { 0 };
        Tuple { source, destination, source_port, destination_port, flow_label }
    }
}

impl Family {
    /// Returns the number of combinations of prefixes that the flows take in turn: a least common multiple.
    fn pairs(&self) -> u64 {
        let (a, b) = (self.sources.len() as u64, self.destinations.len() as u64);
        a / gcd(a, b).max(1) * b
    }

    /// Returns the prefixes of a flow of this family, and the flow's number among the flows between these prefixes.
    fn pair(&self, number: u64) -> (Prefix, Prefix, u64) {
        let of = |prefixes: &[Prefix]| prefixes[(number % prefixes.len() as u64) as usize];
        (of(&self.sources), of(&self.destinations), number / self.pairs())
    }
}

const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns a number that differs between pairs of prefixes.
fn flow_class(source: Prefix, destination: Prefix) -> u64 {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    };
    bits(source.network()).rotate_left(32) ^ bits(destination.network())
}

/// Returns a permutation of the numbers below `size`, which is at most 2^96: a Feistel network over the next even
/// number of bits, repeated until it falls below `size`.
fn permute(index: u128, size: u128, key: u64) -> u128 {
    let bits = (128 - size.saturating_sub(1).leading_zeros()).max(2);
    let half = bits.div_ceil(2);
    let mask = (1u128 << half) - 1;
    let mut value = index;
    loop {
        let (mut left, mut right) = (value >> half, value & mask);
        for round in 0..4 {
            let scrambled = u128::from(mix(right as u64 ^ key.rotate_left(16 * round)));
            (left, right) = (right, left ^ scrambled & mask);
        }
        value = left << half | right;
        if value < size {
            return value;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn tuples() -> Tuples {
        Tuples {
            sources: vec!["10.0.0.0/16".parse().unwrap(), "2001:db8::/48".parse().unwrap()],
            destinations: ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.7/32", "2001:db8:1::/48"]
                .map(|text| text.parse().unwrap())
                .into(),
            source_ports: 49_152..=65_535,
            destination_ports: 80..=80,
            ipv6_percent: 0,
        }
    }

    fn distinct(map: &TupleMap, flows: u64) -> usize {
        let key = |tuple: Tuple| (tuple.source, tuple.destination, tuple.source_port, tuple.destination_port);
        (0..flows).map(|flow| key(map.tuple(flow))).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn no_two_flows_are_the_same() {
        let map = tuples().map(20_000, 1).unwrap();
        assert_eq!(distinct(&map, 20_000), 20_000);
        let to = |flow| map.tuple(flow).destination;
        assert!((0..3_000).step_by(3).all(|flow| to(flow).to_string().starts_with("10.1.")));
        assert!((2..3_000).step_by(3).all(|flow| to(flow).to_string() == "10.3.0.7"));
    }

    /// Flows use all five-tuples, each exactly once.
    #[test]
    fn a_small_space_is_used_up() {
        let small = Tuples {
            sources: vec!["10.0.0.0/30".parse().unwrap()],
            destinations: vec!["10.1.0.0/31".parse().unwrap()],
            source_ports: 5..=7,
            destination_ports: 1..=5,
            ipv6_percent: 0,
        };
        let map = small.clone().map(120, 9).unwrap();
        assert_eq!(distinct(&map, 120), 120);
        let error = small.map(121, 9).unwrap_err().to_string();
        assert!(error.starts_with("flows: found 121, expected at most 120, because 10.1.0.0/31"), "{error}");
    }

    #[test]
    fn families_have_their_share() {
        let map = Tuples { ipv6_percent: 30, ..tuples() }.map(1_000, 1).unwrap();
        let v6 = (0..1_000).filter(|&flow| map.tuple(flow).source.is_ipv6()).count();
        assert_eq!((v6, distinct(&map, 1_000)), (300, 1_000));
    }

    #[test]
    fn the_seed_decides() {
        let of = |seed| {
            let map = tuples().map(10, seed).unwrap();
            (0..10).map(|flow| map.tuple(flow)).collect::<Vec<_>>()
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    /// Linear hash functions must see no pattern, so the differences of consecutive flows vary.
    #[test]
    fn neighbours_are_unrelated() {
        let map = tuples().map(300, 1).unwrap();
        let ports: Vec<u16> = (0..300).step_by(3).map(|flow| map.tuple(flow).source_port).collect();
        let steps: BTreeSet<u16> = ports.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
        assert!(steps.len() > 95, "{}", steps.len());
    }

    #[test]
    fn what_is_missing_is_named() {
        let refusal = |tuples: Tuples| tuples.map(10, 1).unwrap_err().to_string();
        let v4 = |text: &str| vec![text.parse().unwrap()];
        let text = refusal(Tuples { destinations: v4("::/0"), ..tuples() });
        assert!(text.starts_with("dst: found no IPv4 prefix"), "{text}");
        let text = refusal(Tuples { sources: v4("10.0.0.0/8"), ipv6_percent: 100, ..tuples() });
        assert!(text.starts_with("src: found no IPv6 prefix"), "{text}");
        let source_ports = RangeInclusive::new(9, 8);
        assert!(refusal(Tuples { source_ports, ..tuples() }).starts_with("sport: found 9..8"));
    }
}
