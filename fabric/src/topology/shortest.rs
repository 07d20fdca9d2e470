//! Routes of any graph: all next hops on shortest paths. What may not live here: particular graphs.

use super::{Network, TopologyError};
use std::collections::VecDeque;

/// A cable: `count` links each way, of this weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cable {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) count: u32,
    pub(super) weight: u32,
}

impl Network {
    /// Adds the cables' links, and groups over all shortest paths between the edges. Groups of one switch to
    /// several edges over the same links are one. The point of a group is its switch's stage.
    pub(super) fn route_shortest(&mut self, cables: &[Cable]) -> Result<(), TopologyError> {
        let mut out: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.switches.len()];
        for cable in cables {
            for (from, to) in [(cable.a, cable.b), (cable.b, cable.a)] {
                let links = self.join(from, to, cable.count);
                out[from as usize].extend(links.into_iter().map(|(link, _)| (link, cable.weight)));
            }
        }
        self.begin_routes();
        for (index, target) in (0u32..).zip(self.edges.clone()) {
            let distance = self.distances(target, &out);
            for at in 0..self.switches.len() as u32 {
                let here = distance[at as usize];
                if at == target || here == u32::MAX {
                    continue;
                }
                let near = |link: &&(u32, u32)| distance[self.links[link.0 as usize].to as usize] + 1 == here;
                let links: Vec<(u32, u32)> = out[at as usize].iter().filter(near).copied().collect();
                let stage = self.switches[at as usize].stage;
                let point = self.point(&format!("stage-{stage}"), stage);
                let known = self.groups.iter().position(|g| g.switch == at && g.links == links);
                let group = known.map_or_else(|| self.group(at, point, links, 0), |n| n as u32);
                self.set_route(0, at, index, group);
            }
        }
        self.check()
    }

    /// Hops to a switch; `u32::MAX` where there is no path. All links go both ways.
    fn distances(&self, target: u32, out: &[Vec<(u32, u32)>]) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.switches.len()];
        distance[target as usize] = 0;
        let mut open = VecDeque::from([target]);
        while let Some(at) = open.pop_front() {
            for (link, _) in &out[at as usize] {
                let to = self.links[*link as usize].to;
                if distance[to as usize] == u32::MAX {
                    distance[to as usize] = distance[at as usize] + 1;
                    open.push_back(to);
                }
            }
        }
        distance
    }
}
