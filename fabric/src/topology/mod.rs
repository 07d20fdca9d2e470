//! Switches, links, groups and routes.
//!
//! The network as data, and its checks. A packet is at a switch in a *mode* (on its way up, down, in transit), as a
//! routing instance would have it; switch, mode and destination name the group that it leaves by, and the group says
//! the mode after it.

mod blueprint;
mod builders;
mod clos;
mod dring;
mod file;
mod ns3;
mod shortest;
mod wan;

pub use blueprint::{Attachment, Blueprint, CablePlan, Happening, HostPlan, SwitchPlan, Wiring, subnet};
pub use builders::{BuilderError, BuilderInfo, builders, built};
pub use clos::Clos;
pub use dring::DRing;
pub use file::FileError;
pub use ns3::Ns3Error;
pub use wan::Wan;

use sluice_hashing::graph::{DecisionGraph, Missing};
use thiserror::Error;

/// A switch chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchNode {
    /// Name, such as `s2-0-3`.
    pub name: String,
    /// Stage, from 1 at the edge.
    pub stage: u32,
    /// Block or site that it belongs to.
    pub block: u32,
}

/// A directed link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Sending switch.
    pub from: u32,
    /// Receiving switch.
    pub to: u32,
}

/// Links that a switch spreads some destinations over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The switch.
    pub switch: u32,
    /// The decision point that it belongs to.
    pub point: u32,
    /// Links with their weights, at least one.
    pub links: Vec<(u32, u32)>,
    /// Mode after the group.
    pub mode_after: u8,
}

/// No group.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// A network with its routes.
#[derive(Clone, Debug)]
pub struct Network {
    /// What it is, for people.
    pub name: String,
    /// All switches.
    pub switches: Vec<SwitchNode>,
    /// All links.
    pub links: Vec<Link>,
    /// All groups.
    pub groups: Vec<Group>,
    /// Names and stages of the decision points.
    pub points: Vec<(String, u32)>,
    /// Switches at which flows start and end.
    pub edges: Vec<u32>,
    /// Paths as the planners see them, where all paths are alike; else sizes are coloured by block.
    pub graph: Option<DecisionGraph>,
    /// Whether each stage has a function of its own even in schemes of one function.
    pub function_by_stage: bool,
    /// Whether flows stay between different blocks.
    pub between_blocks: bool,
    /// By group: outcomes of the points that locate its switch in [`Network::graph`], where that is known.
    located: Vec<Option<Vec<u32>>>,
    modes: u8,
    routes: Vec<u32>,
}

/// Why a network is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A number is out of range.
    #[error("{what} is {found}; expected {expected}")]
    Range {
        /// What.
        what: &'static str,
        /// The number.
        found: u32,
        /// The range.
        expected: &'static str,
    },
    /// No such switch.
    #[error("there is no switch `{name}`")]
    NoSwitch {
        /// The name.
        name: String,
    },
    /// No such link.
    #[error("there is no link from `{from}` to `{to}`")]
    NoLink {
        /// Sending switch.
        from: String,
        /// Receiving switch.
        to: String,
    },
    /// A switch has not ports enough.
    #[error(
        "switch `{name}` needs {wanted} front-panel ports and has {found}; make the network smaller, or its ports slower and more"
    )]
    Ports {
        /// The switch.
        name: String,
        /// Ports that cables and hosts need.
        wanted: usize,
        /// Ports that it has.
        found: u16,
    },
    /// A port that is not there, or not free.
    #[error("switch `{name}`: port {port} {}", if *.taken { "is asked for twice".to_owned() } else { format!("is none of its {ports} front-panel ports") })]
    Port {
        /// The switch.
        name: String,
        /// The port.
        port: u16,
        /// It is another cable's or host's.
        taken: bool,
        /// Ports that the switch has.
        ports: u16,
    },
    /// Too few edges.
    #[error("{found} switch(es) with hosts (edge = true); flows need at least two")]
    Edges {
        /// Edges found.
        found: usize,
    },
    /// Nothing leads there.
    #[error("`{from}` has no path to `{to}`")]
    NoPath {
        /// Where packets are.
        from: String,
        /// Where they should go.
        to: String,
    },
}

impl Network {
    /// A network without groups.
    fn new(name: String, modes: u8) -> Network {
        Network {
            name,
            switches: Vec::new(),
            links: Vec::new(),
            groups: Vec::new(),
            points: Vec::new(),
            edges: Vec::new(),
            graph: None,
            function_by_stage: false,
            between_blocks: true,
            located: Vec::new(),
            modes,
            routes: Vec::new(),
        }
    }

    fn switch(&mut self, name: String, stage: u32, block: u32) -> u32 {
        self.switches.push(SwitchNode { name, stage, block });
        self.switches.len() as u32 - 1
    }

    /// Adds `count` parallel links and returns them, each of weight 1.
    fn join(&mut self, from: u32, to: u32, count: u32) -> Vec<(u32, u32)> {
        let first = self.links.len() as u32;
        self.links.extend((0..count).map(|_| Link { from, to }));
        (first..first + count).map(|link| (link, 1)).collect()
    }

    /// The decision point of this name, made on first use.
    fn point(&mut self, name: &str, stage: u32) -> u32 {
        let known = self.points.iter().position(|(n, _)| n == name);
        known.unwrap_or_else(|| {
            self.points.push((name.to_owned(), stage));
            self.points.len() - 1
        }) as u32
    }

    fn group(&mut self, switch: u32, point: u32, links: Vec<(u32, u32)>, mode_after: u8) -> u32 {
        self.groups.push(Group { switch, point, links, mode_after });
        self.located.push(None);
        self.groups.len() as u32 - 1
    }

    /// Says by which earlier outcomes packets are at a group.
    fn locate(&mut self, group: u32, outcomes: &[u32]) {
        if let Some(at) = self.located.get_mut(group as usize) {
            *at = Some(outcomes.to_vec());
        }
    }

    /// Makes room for routes; all switches and edges must be there.
    fn begin_routes(&mut self) {
        self.routes = vec![NO_GROUP; usize::from(self.modes) * self.switches.len() * self.edges.len()];
    }

    fn set_route(&mut self, mode: u8, switch: u32, edge: u32, group: u32) {
        let at = self.slot(mode, switch, edge);
        if let Some(slot) = self.routes.get_mut(at) {
            *slot = group;
        }
    }

    fn slot(&self, mode: u8, switch: u32, edge: u32) -> usize {
        self.row(mode, switch) + edge as usize
    }

    /// Where the routes of a switch in a mode begin in the route table; one for each edge follows.
    pub(crate) fn row(&self, mode: u8, switch: u32) -> usize {
        (usize::from(mode) * self.switches.len() + switch as usize) * self.edges.len()
    }

    /// Modes that there are.
    pub(crate) const fn modes(&self) -> u8 {
        self.modes
    }

    /// The group by which packets for an edge (its index) leave a switch.
    #[must_use]
    pub fn route(&self, mode: u8, switch: u32, edge: u32) -> Option<u32> {
        self.routes.get(self.slot(mode, switch, edge)).copied().filter(|g| *g != NO_GROUP)
    }

    /// Groups by mode, switch and edge.
    pub(crate) fn route_table(&self) -> &[u32] {
        &self.routes
    }

    /// The switch of this name.
    ///
    /// # Errors
    /// When there is none.
    pub fn switch_named(&self, name: &str) -> Result<u32, TopologyError> {
        let found = self.switches.iter().position(|s| s.name == name);
        found.map(|n| n as u32).ok_or_else(|| TopologyError::NoSwitch { name: name.to_owned() })
    }

    /// Takes the links from one switch to another out of all groups. Planners that go by [`Network::graph`] see them
    /// missing; where the network does not say which of its outcomes these are, its paths count as not alike any more.
    ///
    /// # Errors
    /// When there is no such link, or a group has no other.
    pub fn fail(&mut self, from: &str, to: &str) -> Result<(), TopologyError> {
        let (a, b) = (self.switch_named(from)?, self.switch_named(to)?);
        let links = &self.links;
        let dead = |link: u32| links.get(link as usize) == Some(&Link { from: a, to: b });
        if !links.contains(&Link { from: a, to: b }) {
            return Err(TopologyError::NoLink { from: from.to_owned(), to: to.to_owned() });
        }
        if self.groups.iter().any(|g| g.links.iter().all(|(l, _)| dead(*l))) {
            return Err(TopologyError::NoPath { from: from.to_owned(), to: to.to_owned() });
        }
        let mut missing = Vec::new();
        for (group, at) in self.groups.iter_mut().zip(&self.located) {
            for (choice, _) in (0u32..).zip(&group.links).filter(|(_, (l, _))| dead(*l)) {
                missing.push(at.clone().map(|at| Missing { point: group.point as usize, at, choice }));
            }
            group.links.retain(|(l, _)| !dead(*l));
        }
        match missing.into_iter().collect::<Option<Vec<Missing>>>() {
            Some(missing) => self.graph.iter_mut().for_each(|g| g.missing.extend(missing.iter().cloned())),
            None => self.graph = None,
        }
        Ok(())
    }

    /// Checks that every edge reaches every other one that flows go to, whatever is chosen on the way.
    ///
    /// # Errors
    /// With the first switch that is stuck.
    pub fn check(&self) -> Result<(), TopologyError> {
        for (dst, &target) in (0u32..).zip(&self.edges) {
            let starts = self.edges.iter().filter(|e| **e != target && self.goes(**e, target));
            let mut open: Vec<(u8, u32)> = starts.map(|e| (0, *e)).collect();
            let mut seen = vec![false; usize::from(self.modes) * self.switches.len()];
            while let Some((mode, at)) = open.pop() {
                let place = usize::from(mode) * self.switches.len() + at as usize;
                if at == target || std::mem::replace(&mut seen[place], true) {
                    continue;
                }
                let name = |n: u32| self.switches.get(n as usize).map_or(String::new(), |s| s.name.clone());
                let stuck = || TopologyError::NoPath { from: name(at), to: name(target) };
                let group = self.route(mode, at, dst).ok_or_else(stuck)?;
                let group = self.groups.get(group as usize).ok_or_else(stuck)?;
                for (link, _) in &group.links {
                    let to = self.links.get(*link as usize).map_or(at, |l| l.to);
                    open.push((group.mode_after, to));
                }
            }
        }
        Ok(())
    }

    /// Which groups packets may come to when flows go between these pairs of edges (indices): `pairs[from * edges +
    /// to]`.
    #[must_use]
    pub fn reachable(&self, pairs: &[bool]) -> Vec<bool> {
        let edges = self.edges.len();
        let mut reached = vec![false; self.groups.len()];
        for (dst, &target) in self.edges.iter().enumerate() {
            let goes = |from: &usize| pairs.get(from * edges + dst).copied().unwrap_or(false);
            let mut open: Vec<(u8, u32)> = (0..edges).filter(goes).map(|e| (0, self.edges[e])).collect();
            let mut seen = vec![false; usize::from(self.modes) * self.switches.len()];
            while let Some((mode, at)) = open.pop() {
                let slot = usize::from(mode) * self.switches.len() + at as usize;
                if at == target || std::mem::replace(&mut seen[slot], true) {
                    continue;
                }
                let Some(number) = self.route(mode, at, dst as u32) else { continue };
                reached[number as usize] = true;
                let group = &self.groups[number as usize];
                open.extend(group.links.iter().map(|(l, _)| (group.mode_after, self.links[*l as usize].to)));
            }
        }
        reached
    }

    /// Whether flows go from one edge switch to another.
    #[must_use]
    pub fn goes(&self, from: u32, to: u32) -> bool {
        let block = |n: u32| self.switches.get(n as usize).map(|s| s.block);
        from != to && (!self.between_blocks || block(from) != block(to))
    }
}

/// Refuses a number outside 1..=`most`.
fn in_range(what: &'static str, found: u32, most: u32, expected: &'static str) -> Result<(), TopologyError> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(TopologyError::Range { what, found, expected }) }
}
