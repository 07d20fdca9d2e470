//! The setting of each decision point under each scheme: function, seed, rotation and group size.
//!
//! | scheme | function of a point |
//! |---|---|
//! | `plain` | the first of the supply for every point, with one seed |
//! | `ttl` | as `plain`, with the TTL in the key |
//! | `per-stage` | drawn with replacement from the supply, once per stage (and block, where blocks differ), each with a random seed |
//! | `per-port` | the next of the supply for every point, up and down; after the last one the first again, rotated by half the hash |
//! | `recombine` | by colour, see `colour` |
//! | `coprime` | the first of the supply everywhere; sizes are coprime with those of pinned points |

use super::colour;
use super::coprime::{NoSize, Request, choose};
use super::graph::{DecisionGraph, Point};
use super::replicas::Order;
use sluice_asic::hash::rank::{rank, rows};
use sluice_asic::hash::rtag7::Rtag7Function;
use sluice_asic::hash::{BitString, HashAlgorithm, HashFunction, splitmix64};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Bits of the flow hash, as RTAG7 functions have.
pub const FLOW_HASH_BITS: u32 = 16;

/// A function from a flow's key to 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowFunction {
    /// A function of the RTAG7 unit, on its bins.
    Rtag7(Rtag7Function),
    /// A function of the P4 extern: its low 16 bits, over source, destination, protocol and ports.
    Extern(HashAlgorithm),
}

impl FlowFunction {
    /// Returns the hash of an IPv4 key: source, destination, protocol, source port, destination port and TTL, 14 bytes
    /// in network order. RTAG7 has no bin for the TTL; the extern reads the TTL if `ttl` is true.
    #[must_use]
    pub fn hash(self, key: &[u8; 14], ttl: bool) -> u16 {
        match self {
            FlowFunction::Rtag7(function) => function.hash(&rtag7_message(key)),
            FlowFunction::Extern(algorithm) => {
                let input = BitString::from_bytes(if ttl { key } else { &key[..13] });
                HashFunction::new(algorithm, FLOW_HASH_BITS).map_or(0, |f| f.extended().hash(&input)) as u16
            }
        }
    }

    /// Returns the number that a seed XORs into every hash. RTAG7 hashes the seed as word 6; the extern has a register
    /// of 16 bits.
    #[must_use]
    pub fn seed_constant(self, seed: u32) -> u16 {
        match self {
            FlowFunction::Rtag7(function) => function.seed_constant(seed),
            FlowFunction::Extern(_) => seed as u16,
        }
    }
}

/// Returns the bins of a key, as [`KeyConfig::FIVE_TUPLE`](sluice_asic::hash::rtag7::KeyConfig::FIVE_TUPLE) fills them
/// for TCP and UDP; for other protocols the ports in the key are zero.
fn rtag7_message(key: &[u8; 14]) -> [u32; 7] {
    let word = |at: usize| u32::from_be_bytes([key[at], key[at + 1], key[at + 2], key[at + 3]]);
    let half = |at: usize| u32::from(u16::from_be_bytes([key[at], key[at + 1]]));
    [0, 0, half(11) << 16 | u32::from(key[8]), half(9), word(4), word(0), 0]
}

impl FromStr for FlowFunction {
    type Err = String;
    fn from_str(text: &str) -> Result<FlowFunction, String> {
        if let Some(function) = Rtag7Function::from_name(text) {
            return Ok(FlowFunction::Rtag7(function));
        }
        HashAlgorithm::from_name(text).map(FlowFunction::Extern).map_err(|e| {
            let rtag7: Vec<&str> = Rtag7Function::ALL.iter().map(|f| f.name()).collect();
            format!("{e}; RTAG7 functions are {}", rtag7.join(", "))
        })
    }
}

impl fmt::Display for FlowFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlowFunction::Rtag7(function) => f.write_str(function.name()),
            FlowFunction::Extern(algorithm) => f.write_str(algorithm.name().unwrap_or("custom")),
        }
    }
}

/// Hash setting of a decision point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The function.
    pub function: FlowFunction,
    /// Its seed.
    pub seed: u32,
    /// Rotation of the 16 bits to the right, 0..=15.
    pub offset: u8,
    /// True if the TTL is in the key.
    pub ttl: bool,
}

impl Setting {
    /// Returns the setting of a function without seed, rotation and TTL.
    #[must_use]
    pub const fn of(function: FlowFunction) -> Setting {
        Setting { function, seed: 0, offset: 0, ttl: false }
    }

    /// Returns the flow hash: the function's result with the seed's number, rotated.
    #[must_use]
    pub fn hash(&self, key: &[u8; 14]) -> u16 {
        (self.function.hash(key, self.ttl) ^ self.function.seed_constant(self.seed))
            .rotate_right(self.offset.into())
    }
}

/// Scheme that assigns settings to decision points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// One function for all points.
    Plain,
    /// One function for all points, with the TTL in the key.
    Ttl,
    /// One random function per stage.
    PerStage,
    /// One function per point.
    PerPort,
    /// Functions reused where their colours recombine.
    Recombine,
    /// One function for all points, with coprime group sizes.
    Coprime,
}

impl Scheme {
    /// All schemes with their names.
    pub const ALL: [(&'static str, Scheme); 6] = [
        ("plain", Scheme::Plain),
        ("ttl", Scheme::Ttl),
        ("per-stage", Scheme::PerStage),
        ("per-port", Scheme::PerPort),
        ("recombine", Scheme::Recombine),
        ("coprime", Scheme::Coprime),
    ];
}

impl FromStr for Scheme {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Scheme, &'static str> {
        Scheme::ALL
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, s)| *s)
            .ok_or("expected plain, ttl, per-stage, per-port, recombine or coprime")
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Scheme::ALL.iter().find(|(_, s)| s == self).map_or("", |(name, _)| name))
    }
}

/// Input from which settings are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Functions; schemes of one function use the first.
    pub supply: Vec<FlowFunction>,
    /// Seed of draws; also the hash seed of schemes with one seed.
    pub seed: u32,
    /// Bits that the modulo sees.
    pub hash_bits: u32,
    /// Most members of a group.
    pub width: u32,
    /// Largest variation that replication may cause, in thousandths.
    pub target: u32,
    /// Order of members.
    pub order: Order,
}

/// A setting and a group size for each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Setting of each point.
    pub settings: Vec<Setting>,
    /// Members of each point's groups; equal to its ports if nothing is replicated.
    pub members: Vec<u32>,
    /// Warnings for users.
    pub notes: Vec<String>,
}

/// Reason for which a scheme gives no assignment.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NoScheme {
    /// There are no functions.
    #[error("the supply of hash functions is empty")]
    NoFunctions,
    /// RTAG7 functions cannot include the TTL.
    #[error("RTAG7 has no bin for the TTL; take functions of the P4 extern, such as crc_16, for scheme ttl")]
    NoTtl,
    /// Too few functions for the colours.
    #[error(
        "{supply} functions are too few: the points need {needed} colours; coprime sizes need one function"
    )]
    Colours {
        /// Number of functions available.
        supply: usize,
        /// Number of colours needed.
        needed: usize,
    },
    /// There is no size for a point.
    #[error("point {point}: {source}")]
    Size {
        /// Name of the point.
        point: &'static str,
        /// Reason.
        source: Box<NoSize>,
    },
}

/// Assigns the settings of a scheme to the points of a graph. `block` is the number of a block whose random functions
/// differ from those of other blocks.
///
/// # Errors
/// If these functions and limits do not allow the scheme.
pub fn assign(
    scheme: Scheme,
    graph: &DecisionGraph,
    terms: &Terms,
    block: u32,
) -> Result<Assignment, NoScheme> {
    let first = *terms.supply.first().ok_or(NoScheme::NoFunctions)?;
    let points = &graph.points;
    let one = Setting { seed: terms.seed, ..Setting::of(first) };
    let mut members: Vec<u32> = points.iter().map(|p| p.fan_out).collect();
    let mut notes = Vec::new();
    let settings = match scheme {
        Scheme::Plain => vec![one; points.len()],
        Scheme::Ttl => {
            if matches!(first, FlowFunction::Rtag7(_)) {
                return Err(NoScheme::NoTtl);
            }
            vec![Setting { ttl: true, ..one }; points.len()]
        }
        Scheme::PerStage => points.iter().map(|p| drawn(terms, p.stage, block)).collect(),
        Scheme::PerPort => {
            if points.len() > terms.supply.len() {
                let (n, f) = (points.len(), terms.supply.len());
                notes.push(format!("{n} points share {f} functions; further uses are rotated by 8 bits"));
            }
            (0..points.len()).map(|k| nth(terms, k)).collect()
        }
        Scheme::Recombine => {
            let pinned = graph.pinned();
            let colours = colour::recombine(&pinned, terms.supply.len()).ok_or_else(|| {
                let needed = colour::count(&colour::fewest(&pinned));
                NoScheme::Colours { supply: terms.supply.len(), needed }
            })?;
            colours.into_iter().map(|c| nth(terms, c)).collect()
        }
        Scheme::Coprime => {
            members = sizes(graph, terms, &mut notes)?;
            vec![one; points.len()]
        }
    };
    let plain = points.iter().zip(&members).zip(&settings).filter(|((point, q), _)| point.fan_out == **q);
    notes.extend(plain.filter_map(|((point, _), setting)| narrow(point, setting)));
    Ok(Assignment { settings, members, notes })
}

/// Returns a warning if a function alone cannot reach all ports of a point: if the number of ports is a power of two,
/// the port is the low bits of the hash, and the low bits of some functions do not have all values
/// (model: hashing §1.3).
fn narrow(point: &Point, setting: &Setting) -> Option<String> {
    let ports = point.fan_out;
    let FlowFunction::Rtag7(function) = setting.function else { return None };
    if !ports.is_power_of_two() || ports < 2 {
        return None;
    }
    let hash = |key: u128| {
        let bytes: [u8; 16] = (key << 24).to_be_bytes();
        let mut flow = [0; 14];
        flow[..13].copy_from_slice(&bytes[..13]);
        u64::from(Setting { seed: 0, ..*setting }.hash(&flow))
    };
    let bits = rank(rows(104, ports.trailing_zeros(), hash));
    let name = (function.name(), point.name);
    (bits < ports.trailing_zeros())
        .then(|| format!("{} reaches {} of {ports} ports of {} by itself", name.0, 1u32 << bits, name.1))
}

/// Returns the n-th use of the supply: after the last function, the first is used again, rotated by half the hash.
fn nth(terms: &Terms, n: usize) -> Setting {
    let supply = terms.supply.len().max(1);
    let function = terms.supply.get(n % supply).or(terms.supply.first()).copied();
    let function = function.unwrap_or(FlowFunction::Extern(HashAlgorithm::Identity));
    Setting { offset: (n / supply * 8 % 16) as u8, seed: terms.seed, ..Setting::of(function) }
}

/// Draws the setting of a stage: a function with replacement, and a seed of 32 random bits.
fn drawn(terms: &Terms, stage: u32, block: u32) -> Setting {
    let bits = splitmix64(u64::from(terms.seed) << 32 ^ u64::from(block) << 8 ^ u64::from(stage));
    let pick = ((bits & 0xffff_ffff) * terms.supply.len() as u64) >> 32;
    let function = terms.supply.get(pick as usize).copied();
    let function = function.unwrap_or(FlowFunction::Extern(HashAlgorithm::Identity));
    Setting { seed: (splitmix64(bits) >> 32) as u32, ..Setting::of(function) }
}

/// Returns sizes in path order: each is the smallest that is coprime with those of the points pinned there.
fn sizes(graph: &DecisionGraph, terms: &Terms, notes: &mut Vec<String>) -> Result<Vec<u32>, NoScheme> {
    let mut sizes: Vec<u32> = Vec::new();
    for (point, pinned) in graph.points.iter().zip(graph.pinned()) {
        let upstream: Vec<u32> = pinned.iter().filter_map(|p| sizes.get(*p)).copied().collect();
        let mut request = Request::tofino(point.fan_out, &upstream);
        (request.hash_bits, request.width) = (terms.hash_bits, terms.width);
        (request.entries, request.order) = (terms.width, terms.order);
        request.target = Some(terms.target);
        // The product of three sizes may exceed the hash's width; pairs matter most.
        let pairs = Request { paths: upstream.iter().map(|q| vec![*q]).collect(), ..request.clone() };
        let choice = choose(&request).or_else(|no| {
            notes.push(format!("{}: {no}; only pairs of sizes are held to the target", point.name));
            choose(&pairs)
        });
        let choice =
            choice.map_err(|source| NoScheme::Size { point: point.name, source: Box::new(source) })?;
        sizes.push(choice.members);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::super::coprime::pairwise;
    use super::*;

    fn terms() -> Terms {
        let supply = Rtag7Function::UNCORRELATED.map(FlowFunction::Rtag7).to_vec();
        Terms { supply, seed: 7, hash_bits: 16, width: 512, target: 50, order: Order::Interleaved }
    }

    #[test]
    fn functions_that_reach_too_few_ports_are_named() {
        let graph = DecisionGraph::clos5(8, 4);
        let of = |functions: &[&str]| {
            let supply = functions.iter().map(|f| f.parse().unwrap()).collect();
            assign(Scheme::Plain, &graph, &Terms { supply, ..terms() }, 0).unwrap().notes
        };
        assert_eq!(of(&["crc16_xor1"])[0], "crc16_xor1 reaches 2 of 8 ports of s1-up by itself");
        assert!(of(&["crc16_xor2"]).contains(&"crc16_xor2 reaches 4 of 8 ports of s5 by itself".to_owned()));
        assert_eq!(of(&["crc16_xor4"]), [""; 0]);
        assert_eq!(of(&["crc32_lo"]), [""; 0]);
    }

    #[test]
    fn every_scheme_sets_every_point() {
        let graph = DecisionGraph::clos5(8, 4);
        for (_, scheme) in Scheme::ALL {
            let extern_terms = Terms { supply: vec!["crc_16".parse().unwrap()], ..terms() };
            let terms = if scheme == Scheme::Ttl { extern_terms } else { terms() };
            let a = assign(scheme, &graph, &terms, 0).unwrap();
            assert_eq!((a.settings.len(), a.members.len()), (8, 8), "{scheme}");
            assert_eq!(assign(scheme, &graph, &terms, 0), Ok(a));
        }
        assert_eq!(assign(Scheme::Ttl, &graph, &terms(), 0), Err(NoScheme::NoTtl));
        let one = Terms { supply: vec![terms().supply[0]; 2], ..terms() };
        let few = assign(Scheme::Recombine, &graph, &one, 0);
        assert_eq!(few, Err(NoScheme::Colours { supply: 2, needed: 3 }));
    }

    #[test]
    fn per_stage_repeats_up_and_down_and_per_port_does_not() {
        let graph = DecisionGraph::clos5(8, 4);
        let stage = assign(Scheme::PerStage, &graph, &terms(), 0).unwrap().settings;
        assert_eq!((stage[1], stage[2], stage[3]), (stage[7], stage[6], stage[5]));
        let port = assign(Scheme::PerPort, &graph, &terms(), 0).unwrap();
        for (i, a) in port.settings.iter().enumerate() {
            assert!(port.settings[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!((port.settings[6].offset, port.notes.len()), (8, 1));
    }

    #[test]
    fn coprime_sizes_are_coprime_where_pinned() {
        let graph = DecisionGraph::clos5(8, 4);
        let a = assign(Scheme::Coprime, &graph, &terms(), 0).unwrap();
        for (k, pinned) in graph.pinned().into_iter().enumerate() {
            let mut sizes: Vec<u32> = pinned.iter().map(|p| a.members[*p]).collect();
            sizes.push(a.members[k]);
            assert_eq!(pairwise(&sizes), Ok(()), "point {k}: {:?}", a.members);
        }
        assert_eq!(a.members[..3], [8, 55, 8], "S3 sees S1's colours recombined");
    }

    #[test]
    fn keys_hash_as_the_unit_does() {
        let key = [10, 0, 0, 1, 10, 0, 1, 1, 6, 0x30, 0x39, 0, 80, 64];
        let lo = Setting::of(FlowFunction::Rtag7(Rtag7Function::Crc32Lo));
        assert_eq!(lo.hash(&key), 0xff4e);
        assert_eq!(Setting { seed: 0xdead_beef, ..lo }.hash(&key), 0x66de);
        assert_eq!(Setting { offset: 8, ..lo }.hash(&key), 0x4eff);
        let arc = Setting::of("crc_16".parse().unwrap());
        assert_eq!((arc.hash(&key), Setting { seed: 0xbeef, ..arc }.hash(&key)), (0x4f71, 0x4f71 ^ 0xbeef));
        assert_ne!(Setting { ttl: true, ..arc }.hash(&key), arc.hash(&key));
        assert!("crc_17".parse::<FlowFunction>().unwrap_err().contains("ccitt"));
    }
}
