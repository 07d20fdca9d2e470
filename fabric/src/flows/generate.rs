//! Seeded flows. What may not live here: captures.

use super::{Flow, KEY_BYTES};
use crate::topology::Network;
use sluice_programs::planning::scheme::splitmix64;

/// Kinds of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Five-tuples drawn evenly from all there are; every flow carries 1000 bytes.
    Uniform,
    /// Addresses by edge and host, ephemeral source ports, four services, and sizes from 1 kB (half of the flows)
    /// to 10 MB (one in a hundred).
    Datacenter,
    /// As uniform; the n-th flow carries a gigabyte over n.
    Zipf,
    /// Flows of one pair of hosts and one service that differ in the low four bits of the source port only.
    LowEntropy,
}

impl Workload {
    /// All with their names.
    pub const ALL: [(&'static str, Workload); 4] = [
        ("uniform", Workload::Uniform),
        ("datacenter", Workload::Datacenter),
        ("zipf", Workload::Zipf),
        ("low-entropy", Workload::LowEntropy),
    ];
}

/// Makes flows one after another; equal seeds make equal flows.
#[derive(Clone, Debug)]
pub struct Generator {
    workload: Workload,
    state: u64,
    made: u64,
    count: u64,
    /// Edges with the blocks that they are in.
    blocks: Vec<u32>,
    between_blocks: bool,
    /// The only block that flows come from.
    from_block: Option<u32>,
}

/// Percent of flows and bytes of each, largest last (an assumption: no mix is published in facts: hashing §5).
const SIZES: [(u64, u64); 5] = [(50, 1_000), (30, 10_000), (15, 100_000), (4, 1_000_000), (1, 10_000_000)];
const SERVICES: [u16; 4] = [80, 443, 3306, 9092];

impl Generator {
    /// `count` flows between the edges of a network.
    #[must_use]
    pub fn new(workload: Workload, network: &Network, count: u64, seed: u64) -> Generator {
        let block = |e: &u32| network.switches.get(*e as usize).map_or(0, |s| s.block);
        let blocks = network.edges.iter().map(block).collect();
        let between_blocks = network.between_blocks;
        Generator { workload, state: seed, made: 0, count, blocks, between_blocks, from_block: None }
    }

    /// All flows come from one block: colours that recombine over sources do not then.
    #[must_use]
    pub const fn from_block(mut self, block: u32) -> Generator {
        self.from_block = Some(block);
        self
    }

    fn draw(&mut self) -> u64 {
        let bits = splitmix64(self.state);
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits
    }

    /// Two edges that flows go between, drawn evenly.
    fn endpoints(&mut self) -> (u32, u32) {
        let edges = self.blocks.len() as u64;
        let below = |bits: u64, limit: u64| ((bits & 0xffff_ffff) * limit) >> 32;
        // Where hardly any pair will do, the first and the last edge are taken in the end.
        for _ in 0..4096 {
            let bits = self.draw();
            let (from, to) = (below(bits, edges) as usize, below(bits >> 32, edges) as usize);
            let wanted = self.from_block.is_none_or(|b| b == self.blocks[from]);
            if wanted && from != to && (!self.between_blocks || self.blocks[from] != self.blocks[to]) {
                return (from as u32, to as u32);
            }
        }
        (0, self.blocks.len() as u32 - 1)
    }

    fn uniform_key(&mut self) -> [u8; KEY_BYTES] {
        // facts: hashing §7.5.
        let (a, b) = (self.draw(), self.draw());
        let mut key = [0; KEY_BYTES];
        key[..4].copy_from_slice(&(a as u32).to_be_bytes());
        key[4..8].copy_from_slice(&((a >> 32) as u32).to_be_bytes());
        key[8] = if b & 1 == 1 { 6 } else { 17 };
        key[9..11].copy_from_slice(&((b >> 8) as u16).to_be_bytes());
        key[11..13].copy_from_slice(&((b >> 24) as u16).to_be_bytes());
        key[13] = 64;
        key
    }

    fn datacenter_key(&mut self, from: u32, to: u32) -> [u8; KEY_BYTES] {
        let bits = self.draw();
        let [h, g, s, ..] = bits.to_le_bytes();
        let [fh, fl] = (from as u16).to_be_bytes();
        let [th, tl] = (to as u16).to_be_bytes();
        let [ph, pl] = (32_768 + (bits >> 32) as u16 % 28_232).to_be_bytes();
        let [dh, dl] = SERVICES[usize::from(s & 3)].to_be_bytes();
        [10, fh, fl, h, 10, th, tl, g, 6, ph, pl, dh, dl, 64]
    }

    fn size(&mut self, flow: u64) -> u64 {
        match self.workload {
            Workload::Uniform | Workload::LowEntropy => 1_000,
            Workload::Zipf => (1_000_000_000 / (flow + 1)).max(64),
            Workload::Datacenter => {
                let mut percent = self.draw() % 100;
                for (share, bytes) in SIZES {
                    if percent < share {
                        return bytes;
                    }
                    percent -= share;
                }
                1_000
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        if self.made == self.count || self.blocks.len() < 2 {
            return None;
        }
        let number = self.made;
        self.made += 1;
        let (from, to) = self.endpoints();
        let key = match self.workload {
            Workload::Uniform | Workload::Zipf => self.uniform_key(),
            Workload::Datacenter => self.datacenter_key(from, to),
            Workload::LowEntropy => [10, 0, 0, 1, 10, 0, 1, 1, 6, 0x80, number as u8 & 15, 0, 80, 64],
        };
        let bytes = self.size(number);
        Some(Flow { key, from, to, bytes })
    }
}
