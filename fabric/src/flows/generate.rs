//! Generates random flows from a seed.

use super::{Flow, KEY_BYTES};
use crate::topology::Network;
use sluice_asic::hash::splitmix64;

/// Distribution of generated flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Five-tuples drawn uniformly; every flow carries 1000 bytes.
    Uniform,
    /// Addresses by edge and host, ephemeral source ports, four destination ports, and sizes from 1 kB (50 % of the
    /// flows) to 10 MB (1 %).
    Datacenter,
    /// Uniform five-tuples; flow number n, from 1, carries 1 GB / n, at least 64 bytes.
    Zipf,
    /// Flows of one pair of hosts and one destination port, which differ only in the low four bits of the source port.
    LowEntropy,
}

impl Workload {
    /// All workloads with their names.
    pub const ALL: [(&'static str, Workload); 4] = [
        ("uniform", Workload::Uniform),
        ("datacenter", Workload::Datacenter),
        ("zipf", Workload::Zipf),
        ("low-entropy", Workload::LowEntropy),
    ];
}

/// Generates flows; equal seeds give equal flows. Every flow has its own random stream, so that a flow does not depend
/// on the flows generated before it, nor on threads.
#[derive(Clone, Debug)]
pub struct Generator {
    workload: Workload,
    seed: u64,
    count: u64,
    /// Block of each edge.
    blocks: Vec<u32>,
    /// Edges that flows start at.
    sources: Vec<u32>,
    between_blocks: bool,
}

/// Random numbers of one flow: splitmix64, seeded with the seed and the flow's number.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        let bits = splitmix64(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        bits
    }
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Percent of flows, and bytes of each (an assumption: model hashing §5 has no published mix).
const SIZES: [(u64, u64); 5] = [(50, 1_000), (30, 10_000), (15, 100_000), (4, 1_000_000), (1, 10_000_000)];
const SERVICES: [u16; 4] = [80, 443, 3306, 9092];

impl Generator {
    /// Creates a generator of `count` flows between the edges of a network.
    #[must_use]
    pub fn new(workload: Workload, network: &Network, count: u64, seed: u64) -> Generator {
        let block = |e: &u32| network.switches.get(*e as usize).map_or(0, |s| s.block);
        let blocks: Vec<u32> = network.edges.iter().map(block).collect();
        let sources = (0..blocks.len() as u32).collect();
        Generator { workload, seed, count, blocks, sources, between_blocks: network.between_blocks }
    }

    /// Restricts flows to sources in one block. With a single source block, colours do not recombine over sources.
    /// Without an edge in the block there are no flows.
    #[must_use]
    pub fn from_block(mut self, block: u32) -> Generator {
        self.sources.retain(|edge| self.blocks.get(*edge as usize) == Some(&block));
        self
    }

    /// Returns the number of flows; 0 with fewer than two edges or without sources.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.blocks.len() < 2 || self.sources.is_empty() { 0 } else { self.count }
    }

    /// Returns all flows in order.
    pub fn flows(&self) -> impl Iterator<Item = Flow> + '_ {
        (0..self.count()).map(|n| self.flow(n))
    }

    /// Returns flow `number`, counted from 0.
    #[must_use]
    #[inline]
    pub fn flow(&self, number: u64) -> Flow {
        let mut draws = Draws(splitmix64(self.seed.wrapping_add(number.wrapping_mul(GOLDEN))));
        let (from, to) = self.endpoints(&mut draws);
        let key = match self.workload {
            Workload::Uniform | Workload::Zipf => uniform_key(&mut draws),
            Workload::Datacenter => datacenter_key(&mut draws, from, to),
            Workload::LowEntropy => [10, 0, 0, 1, 10, 0, 1, 1, 6, 0x80, number as u8 & 15, 0, 80, 64],
        };
        let bytes = match self.workload {
            Workload::Uniform | Workload::LowEntropy => 1_000,
            Workload::Zipf => (1_000_000_000 / (number + 1)).max(64),
            Workload::Datacenter => datacenter_size(&mut draws),
        };
        Flow { key, from, to, bytes }
    }

    /// Draws a pair of edges uniformly among the permitted pairs.
    #[inline]
    fn endpoints(&self, draws: &mut Draws) -> (u32, u32) {
        let below = |bits: u64, limit: usize| (((bits & 0xffff_ffff) * limit as u64) >> 32) as usize;
        // If almost no pair is permitted, the first and the last edge are the fallback.
        for _ in 0..4096 {
            let bits = draws.next();
            let Some(from) = self.sources.get(below(bits, self.sources.len())) else { break };
            let to = below(bits >> 32, self.blocks.len());
            let apart = !self.between_blocks || self.blocks[*from as usize] != self.blocks[to];
            if *from as usize != to && apart {
                return (*from, to as u32);
            }
        }
        (0, self.blocks.len() as u32 - 1)
    }
}

#[inline]
fn uniform_key(draws: &mut Draws) -> [u8; KEY_BYTES] {
    // Fields as in model: hashing §7.5.
    let (a, b) = (draws.next(), draws.next());
    let [s0, s1, s2, s3] = (a as u32).to_be_bytes();
    let [d0, d1, d2, d3] = ((a >> 32) as u32).to_be_bytes();
    let [sh, sl] = ((b >> 8) as u16).to_be_bytes();
    let [dh, dl] = ((b >> 24) as u16).to_be_bytes();
    let protocol = if b & 1 == 1 { 6 } else { 17 };
    [s0, s1, s2, s3, d0, d1, d2, d3, protocol, sh, sl, dh, dl, 64]
}

fn datacenter_key(draws: &mut Draws, from: u32, to: u32) -> [u8; KEY_BYTES] {
    let bits = draws.next();
    let [h, g, s, ..] = bits.to_le_bytes();
    let [fh, fl] = (from as u16).to_be_bytes();
    let [th, tl] = (to as u16).to_be_bytes();
    let [ph, pl] = (32_768 + (bits >> 32) as u16 % 28_232).to_be_bytes();
    let [dh, dl] = SERVICES[usize::from(s & 3)].to_be_bytes();
    [10, fh, fl, h, 10, th, tl, g, 6, ph, pl, dh, dl, 64]
}

fn datacenter_size(draws: &mut Draws) -> u64 {
    let mut percent = draws.next() % 100;
    for (share, bytes) in SIZES {
        if percent < share {
            return bytes;
        }
        percent -= share;
    }
    1_000
}
