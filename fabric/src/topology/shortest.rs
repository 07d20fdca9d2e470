//! Routes of arbitrary graphs: all next hops on shortest paths.

use super::blueprint::{Blueprint, CablePlan};
use super::hops::Hops;
use super::{Group, Network, TopologyError};
use std::collections::{BTreeMap, BTreeSet};

/// `count` parallel cables between two switches: that number of links in each direction, each of this weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cable {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) count: u32,
    pub(super) weight: u32,
}

/// Direction of a group's links, by the stages of their far ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Heading {
    Up,
    Across,
    Down,
}

impl Heading {
    /// Returns the name of the decision point of groups of a stage in this direction.
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
    /// Builds the flow-level network of a blueprint: flows start and end at switches with hosts, and packets take all
    /// shortest paths.
    ///
    /// # Errors
    /// If fewer than two switches have hosts, or some cannot reach each other.
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

    /// Adds the cables' links, and groups over all shortest paths between edges. A switch's groups with equal links are
    /// merged. The decision point of a group is its switch's stage and its direction: to higher stages, to lower ones,
    /// or across.
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
            let near = |at: u32| out[at as usize].iter().map(|(link, _)| self.links[*link as usize].to);
            let distance = Hops::to([target], self.switches.len(), near).of;
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

    /// Assigns decision points to groups, numbered in the order in which paths reach them: up, across, down.
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

    /// Returns the direction of a switch's links.
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
}
