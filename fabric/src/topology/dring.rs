//! DRing: blocks in a double ring, without a spine.

use super::{Network, TopologyError, in_range};
use sluice_hashing::graph::{DecisionGraph, Point};

/// A DRing of server blocks: each is linked to the next two blocks on either side. A block has `width` S1, S2 and S3
/// chips, fully meshed between adjacent stages. Two neighbouring blocks are linked by `parallel` links between their S3
/// chips of equal number.
///
/// The source's S3 spreads packets over all its up ports, whatever the destination. A transit block sends packets down
/// to S2 and up again (S3, S2, S3), and on to the neighbouring blocks nearest to the destination. Ring and transit path
/// are from model: hashing §5 (tags `[R]`, `[N]`); spreading over all up ports is an assumption that gives the paper's
/// groups of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DRing {
    /// Server blocks, 5 to 64.
    pub blocks: u32,
    /// Chips per stage and block, 1 to 16.
    pub width: u32,
    /// Parallel links between two S3 chips of neighbouring blocks, 1 to 16.
    pub parallel: u32,
}

impl Default for DRing {
    fn default() -> Self {
        DRing { blocks: 8, width: 8, parallel: 2 }
    }
}

const SOURCE: u8 = 0;
const ARRIVING: u8 = 1;
const TRANSIT: u8 = 2;

impl DRing {
    /// Builds the network.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn build(self) -> Result<Network, TopologyError> {
        if !(5..=64).contains(&self.blocks) {
            return Err(TopologyError::Range { what: "blocks", found: self.blocks, expected: "5 to 64" });
        }
        in_range("width", self.width, 16, "1 to 16")?;
        in_range("parallel", self.parallel, 16, "1 to 16")?;
        let (n, w) = (self.blocks, self.width);
        let mut net = Network::new(format!("DRing, {n} blocks of {w} S1, S2 and S3"), 3);
        net.function_by_stage = true;
        // In a ring of five, all blocks are neighbours: paths have at most one transit block, and have equal structure.
        net.graph = (n == 5).then(|| self.graph());
        for stage in 1..=3 {
            for block in 0..n {
                for chip in 0..w {
                    net.switch(format!("s{stage}-{block}-{chip}"), stage, block);
                }
            }
        }
        net.edges = (0..n * w).collect();
        net.begin_routes();
        (0..n).for_each(|block| self.block(&mut net, block));
        Ok(net)
    }

    /// Returns the decision points of a path with one transit block.
    fn graph(self) -> DecisionGraph {
        let (w, up) = (self.width, 4 * self.parallel);
        let point = |name, stage, fan_out, located_by: &[usize]| Point {
            name,
            stage,
            fan_out,
            located_by: located_by.to_vec(),
        };
        let points = vec![
            point("s1-up", 1, w, &[]),
            point("s2-up", 2, w, &[0]),
            point("s3-up", 3, up, &[1]),
            point("transit-s3-down", 3, w, &[1, 2]),
            point("transit-s2-up", 2, w, &[2, 3]),
            point("transit-s3-up", 3, self.parallel, &[2, 4]),
            point("s3-down", 3, w, &[4]),
        ];
        DecisionGraph { points, missing: Vec::new() }
    }

    /// Returns the number of ring steps, of one or two blocks, between two blocks.
    fn distance(self, a: u32, b: u32) -> u32 {
        let clockwise = (b + self.blocks - a) % self.blocks;
        clockwise.min(self.blocks - clockwise).div_ceil(2)
    }

    fn neighbours(self, block: u32) -> [u32; 4] {
        let n = self.blocks;
        [1, 2, n - 1, n - 2].map(|step| (block + step) % n)
    }

    fn block(self, net: &mut Network, block: u32) {
        let (n, w) = (self.blocks, self.width);
        let chip = |stage: u32, block: u32, c: u32| ((stage - 1) * n + block) * w + c;
        let points =
            ["s1-up", "s2-up", "s3-up", "transit-s3-down", "transit-s2-up", "transit-s3-up", "s3-down"];
        let stages = [1, 2, 3, 3, 2, 3, 3];
        let point: Vec<u32> = points.iter().zip(stages).map(|(name, stage)| net.point(name, stage)).collect();
        let home = net.point("s2-down", 2);
        let edges = 0..n * w;
        for c in 0..w {
            let (s1, s2, s3) = (chip(1, block, c), chip(2, block, c), chip(3, block, c));
            let up: Vec<_> = (0..w).flat_map(|i| net.join(s1, chip(2, block, i), 1)).collect();
            let from_edge = net.group(s1, point[0], up, SOURCE);
            let up: Vec<_> = (0..w).flat_map(|j| net.join(s2, chip(3, block, j), 1)).collect();
            let from_source = net.group(s2, point[1], up.clone(), SOURCE);
            let through = net.group(s2, point[4], up, TRANSIT);
            let around: Vec<(u32, Vec<(u32, u32)>)> = self
                .neighbours(block)
                .map(|to| (to, net.join(s3, chip(3, to, c), self.parallel)))
                .into_iter()
                .collect();
            let everywhere = around.iter().flat_map(|(_, links)| links.iter().copied()).collect();
            let leave = net.group(s3, point[2], everywhere, ARRIVING);
            let down: Vec<_> = (0..w).flat_map(|y| net.join(s3, chip(2, block, y), 1)).collect();
            let transit = net.group(s3, point[3], down.clone(), TRANSIT);
            let onward: Vec<u32> = (0..n).map(|to| self.onward(net, s3, point[5], &around, to)).collect();
            for edge in edges.clone() {
                let to = edge / w;
                if edge != s1 {
                    net.set_route(SOURCE, s1, edge, from_edge);
                }
                if to == block {
                    let group = net.group(s3, point[6], down.clone(), ARRIVING);
                    net.set_route(ARRIVING, s3, edge, group);
                    let links = net.join(s2, edge, 1);
                    let group = net.group(s2, home, links, ARRIVING);
                    net.set_route(ARRIVING, s2, edge, group);
                    net.set_route(SOURCE, s2, edge, group);
                } else {
                    net.set_route(SOURCE, s2, edge, from_source);
                    net.set_route(SOURCE, s3, edge, leave);
                    net.set_route(ARRIVING, s3, edge, transit);
                    net.set_route(TRANSIT, s2, edge, through);
                    net.set_route(TRANSIT, s3, edge, onward[to as usize]);
                }
            }
        }
    }

    /// Adds a transit S3's group for a destination block: the links to the neighbouring blocks nearest to it. Returns
    /// the group's index.
    fn onward(
        self,
        net: &mut Network,
        s3: u32,
        point: u32,
        around: &[(u32, Vec<(u32, u32)>)],
        to: u32,
    ) -> u32 {
        let least = around.iter().map(|(b, _)| self.distance(*b, to)).min().unwrap_or(0);
        let near = around.iter().filter(|(b, _)| self.distance(*b, to) == least);
        let links = near.flat_map(|(_, links)| links.iter().copied()).collect();
        net.group(s3, point, links, ARRIVING)
    }
}
