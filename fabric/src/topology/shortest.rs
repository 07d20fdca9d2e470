//! Routes of any graph: all next hops on shortest paths.

use super::blueprint::{Blueprint, CablePlan};
use super::{Group, Network, TopologyError};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A cable: `count` links each way, of this weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cable {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) count: u32,
    pub(super) weight: u32,
}

/// Where a group's links lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heading {
    Up,
    Across,
    Down,
}

impl Heading {
    /// The name of the decision point of a stage's groups that lead this way.
    fn point(self, stage: u32) -> String {
        let way = match self {
            Heading::Up => "up",
            Heading::Across => "across",
            Heading::Down => "down",
        };
        format!("stage-{stage}-{way}")
    }
}

impl Network {
    /// The network of a blueprint: flows start and end at switches with hosts, packets take all shortest paths.
    ///
    /// # Errors
    /// When fewer than two switches have hosts, or some do not reach each other.
    pub fn from_blueprint(plan: &Blueprint) -> Result<Network, TopologyError> {
        let mut net = Network::new(plan.name.clone(), 1);
        net.between_blocks = false;
        for s in &plan.switches {
            net.switch(s.name.clone(), s.stage, s.block);
        }
        let homes: BTreeSet<u32> = plan.hosts.iter().flat_map(|h| h.at.iter().map(|a| a.switch)).collect();
        net.edges = homes.into_iter().collect();
        if net.edges.len() < 2 {
            return Err(TopologyError::Edges { found: net.edges.len() });
        }
        let cable = |c: &CablePlan| Cable { a: c.ends[0], b: c.ends[1], count: 1, weight: c.weight };
        let cables: Vec<Cable> = plan.cables.iter().map(cable).collect();
        net.route_shortest(&cables)?;
        Ok(net)
    }

    /// Adds the cables' links, and groups over all shortest paths between the edges. Groups of one switch to
    /// several edges over the same links are one. The point of a group is its switch's stage and where it leads: to
    /// higher stages, to lower ones, or across.
    pub(super) fn route_shortest(&mut self, cables: &[Cable]) -> Result<(), TopologyError> {
        let mut out: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.switches.len()];
        for cable in cables {
            for (from, to) in [(cable.a, cable.b), (cable.b, cable.a)] {
                let links = self.join(from, to, cable.count);
                out[from as usize].extend(links.into_iter().map(|(link, _)| (link, cable.weight)));
            }
        }
        self.begin_routes();
        let mut known: BTreeMap<(u32, Vec<(u32, u32)>), u32> = BTreeMap::new();
        for (index, target) in (0u32..).zip(self.edges.clone()) {
            let distance = self.distances(target, &out);
            for at in 0..self.switches.len() as u32 {
                let here = distance[at as usize];
                if at == target || here == u32::MAX {
                    continue;
                }
                let near = |link: &&(u32, u32)| distance[self.links[link.0 as usize].to as usize] + 1 == here;
                let links: Vec<(u32, u32)> = out[at as usize].iter().filter(near).copied().collect();
                let group = match known.get(&(at, links.clone())) {
                    Some(group) => *group,
                    None => {
                        let group = self.group(at, 0, links.clone(), 0);
                        known.insert((at, links), group);
                        group
                    }
                };
                self.set_route(0, at, index, group);
            }
        }
        self.points_by_stage();
        self.check()
    }

    /// Gives every group its point, in the order in which paths of stages come to them: up, across, down.
    fn points_by_stage(&mut self) {
        let of = |group: &Group| {
            let stage = self.switches.get(group.switch as usize).map_or(0, |s| s.stage);
            let heading = self.heading(group.switch, &group.links);
            let turn = if heading == Heading::Down { u32::MAX - stage } else { stage };
            (heading, turn, stage)
        };
        let of: Vec<(Heading, u32, u32)> = self.groups.iter().map(of).collect();
        for (heading, _, stage) in of.iter().collect::<BTreeSet<_>>() {
            self.point(&heading.point(*stage), *stage);
        }
        for (group, (heading, _, stage)) in of.into_iter().enumerate() {
            self.groups[group].point = self.point(&heading.point(stage), stage);
        }
    }

    /// Where a switch's links lead.
    fn heading(&self, at: u32, links: &[(u32, u32)]) -> Heading {
        let stage = |n: u32| self.switches.get(n as usize).map_or(0, |s| s.stage);
        let far = || links.iter().filter_map(|(l, _)| self.links.get(*l as usize)).map(|l| stage(l.to));
        if far().all(|s| s > stage(at)) {
            Heading::Up
        } else if far().all(|s| s < stage(at)) {
            Heading::Down
        } else {
            Heading::Across
        }
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
