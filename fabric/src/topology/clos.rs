//! Five-stage Clos of model: hashing §3.4.

use super::{Network, TopologyError, in_range};
use sluice_hashing::graph::DecisionGraph;

/// Sizes of a five-stage Clos: server blocks of `width` S1, S2 and S3 chips each, and `width` spine blocks of `width`
/// S4 and S5 chips each. Within a block, adjacent stages are fully meshed; S3 chip j of each server block is linked to
/// S4 chip j of each spine block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clos {
    /// Server blocks, 2 to 64.
    pub blocks: u32,
    /// Chips per stage and block, and ports of a group, 1 to 16.
    pub width: u32,
    /// Parallel links from S4 to S3 and from S2 to S1, 1 to 16.
    pub parallel: u32,
}

impl Default for Clos {
    fn default() -> Self {
        Clos { blocks: 8, width: 8, parallel: 4 }
    }
}

const UP: u8 = 0;
const DOWN: u8 = 1;

impl Clos {
    /// Builds the network.
    ///
    /// # Errors
    /// If a size is out of range.
    pub fn build(self) -> Result<Network, TopologyError> {
        in_range("blocks", self.blocks, 64, "2 to 64")?;
        if self.blocks < 2 {
            return Err(TopologyError::Range { what: "blocks", found: self.blocks, expected: "2 to 64" });
        }
        in_range("width", self.width, 16, "1 to 16")?;
        in_range("parallel", self.parallel, 16, "1 to 16")?;
        let w = self.width;
        let mut net = Network::new(
            format!(
                "five-stage Clos, {} blocks, groups of {w}, {} parallel links",
                self.blocks, self.parallel
            ),
            2,
        );
        net.graph = Some(DecisionGraph::clos5(w, self.parallel));
        for (name, stage) in [
            ("s1-up", 1),
            ("s2-up", 2),
            ("s3-up", 3),
            ("s4-up", 4),
            ("s5", 5),
            ("s4-down", 4),
            ("s3-down", 3),
            ("s2-down", 2),
        ] {
            net.point(name, stage);
        }
        // Switches are numbered by stage, then by block, then by chip: see `chip`.
        for stage in 1..=5 {
            for block in 0..self.in_stage(stage) {
                for chip in 0..w {
                    net.switch(format!("s{stage}-{block}-{chip}"), stage, self.block_number(stage, block));
                }
            }
        }
        net.edges = (0..self.blocks * w).collect();
        net.begin_routes();
        (0..self.blocks).for_each(|block| self.server_block(&mut net, block));
        (0..w).for_each(|block| self.spine_block(&mut net, block));
        Ok(net)
    }

    const fn in_stage(self, stage: u32) -> u32 {
        if stage <= 3 { self.blocks } else { self.width }
    }

    /// Returns the number of a block; spine blocks are numbered after server blocks.
    const fn block_number(self, stage: u32, block: u32) -> u32 {
        if stage <= 3 { block } else { self.blocks + block }
    }

    const fn chip(self, stage: u32, block: u32, chip: u32) -> u32 {
        let mut before = 0;
        let mut s = 1;
        while s < stage {
            before += self.in_stage(s);
            s += 1;
        }
        (before + block) * self.width + chip
    }

    fn server_block(self, net: &mut Network, block: u32) {
        let w = self.width;
        let local = block * w..(block + 1) * w;
        let all = 0..self.blocks * w;
        let remote = |local: std::ops::Range<u32>| all.clone().filter(move |e| !local.contains(e));
        for n in 0..w {
            let (s1, s2, s3) = (self.chip(1, block, n), self.chip(2, block, n), self.chip(3, block, n));
            let up: Vec<_> = (0..w).flat_map(|i| net.join(s1, self.chip(2, block, i), 1)).collect();
            let group = net.group(s1, 0, up, UP);
            net.locate(group, &[]);
            all.clone().filter(|e| *e != s1).for_each(|e| net.set_route(UP, s1, e, group));
            let up: Vec<_> = (0..w).flat_map(|j| net.join(s2, self.chip(3, block, j), 1)).collect();
            let group = net.group(s2, 1, up, UP);
            net.locate(group, &[n]);
            remote(local.clone()).for_each(|e| net.set_route(UP, s2, e, group));
            let up: Vec<_> = (0..w).flat_map(|k| net.join(s3, self.chip(4, k, n), 1)).collect();
            let group = net.group(s3, 2, up, UP);
            net.locate(group, &[n]);
            remote(local.clone()).for_each(|e| net.set_route(UP, s3, e, group));
            let down: Vec<_> = (0..w).flat_map(|y| net.join(s3, self.chip(2, block, y), 1)).collect();
            for edge in local.clone() {
                let group = net.group(s3, 6, down.clone(), DOWN);
                net.locate(group, &[n]);
                net.set_route(DOWN, s3, edge, group);
                let links = net.join(s2, edge, self.parallel);
                let group = net.group(s2, 7, links, DOWN);
                net.locate(group, &[n]);
                // S2 sends traffic within the block back down.
                net.set_route(UP, s2, edge, group);
                net.set_route(DOWN, s2, edge, group);
            }
        }
    }

    fn spine_block(self, net: &mut Network, block: u32) {
        let w = self.width;
        for n in 0..w {
            let (s4, s5) = (self.chip(4, block, n), self.chip(5, block, n));
            let up: Vec<_> = (0..w).flat_map(|l| net.join(s4, self.chip(5, block, l), 1)).collect();
            let group = net.group(s4, 3, up, UP);
            net.locate(group, &[n, block]);
            (0..self.blocks * w).for_each(|e| net.set_route(UP, s4, e, group));
            let down: Vec<_> = (0..w).flat_map(|e| net.join(s5, self.chip(4, block, e), 1)).collect();
            for to in 0..self.blocks {
                let turn = net.group(s5, 4, down.clone(), DOWN);
                net.locate(turn, &[block, n]);
                let links = net.join(s4, self.chip(3, to, n), self.parallel);
                let group = net.group(s4, 5, links, DOWN);
                net.locate(group, &[block, n]);
                for edge in to * w..(to + 1) * w {
                    net.set_route(UP, s5, edge, turn);
                    net.set_route(DOWN, s4, edge, group);
                }
            }
        }
    }
}
