//! Topologies for flow-level experiments, as data, with their checks; and blueprints of networks of emulated switches.
//!
//! A packet is at a switch in a *mode* (up, down, in transit), like in a routing instance. Switch, mode and destination
//! select the group of links that spreads the packet, and the group sets the next mode.

mod blueprint;
mod builders;
mod check;
mod clos;
mod dring;
mod file;
mod hops;
mod ns3;
mod only;
mod shortest;
mod wan;
mod width;

pub use blueprint::{Attachment, Blueprint, CablePlan, Happening, HostPlan, SwitchPlan, Wiring, subnet};
pub use builders::{BuilderError, BuilderInfo, builders, built};
pub use clos::Clos;
pub use dring::DRing;
pub use file::FileError;
pub use ns3::Ns3Error;
pub use only::OnlyPaths;
pub use wan::Wan;
pub use width::Bottlenecks;

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

/// Links that a switch spreads packets over, for some destinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Index of the switch.
    pub switch: u32,
    /// Index of its decision point.
    pub point: u32,
    /// Indices of links with their weights; at least one.
    pub links: Vec<(u32, u32)>,
    /// Mode of packets after the group.
    pub mode_after: u8,
}

/// Marks a missing route in the route table.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// A network with its routes.
#[derive(Clone, Debug)]
pub struct Network {
    /// Title for readers.
    pub name: String,
    /// All switches.
    pub switches: Vec<SwitchNode>,
    /// All links.
    pub links: Vec<Link>,
    /// All groups.
    pub groups: Vec<Group>,
    /// Names and stages of the decision points.
    pub points: Vec<(String, u32)>,
    /// Indices of the switches where flows start and end.
    pub edges: Vec<u32>,
    /// The decision points that all paths share, for the planners; `None` if paths differ in structure, and sizes are
    /// then coloured by block.
    pub graph: Option<DecisionGraph>,
    /// True if each stage has a different hash function even in schemes with one function.
    pub function_by_stage: bool,
    /// True if flows connect only different blocks.
    pub between_blocks: bool,
    /// For each group, the outcomes of earlier points that lead to its switch in [`Network::graph`], if known.
    located: Vec<Option<Vec<u32>>>,
    modes: u8,
    routes: Vec<u32>,
}

/// Reason why a network is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A number is out of range.
    #[error("{what} is {found}; expected {expected}")]
    Range {
        /// Name of the number.
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
    /// A switch has too few ports.
    #[error(
        "switch `{name}` needs {wanted} front-panel ports, but has {found}; use fewer cables and hosts, or a lower port speed if \
         that gives more ports"
    )]
    Ports {
        /// Name of the switch.
        name: String,
        /// Ports that cables and hosts need.
        wanted: usize,
        /// Number of front-panel ports that it has.
        found: u16,
    },
    /// A requested port does not exist or is used twice.
    #[error("{place}switch `{name}`: port {port} {}", if *.taken { "is used twice; give each cable and host a different port".to_owned() } else { format!("does not exist; the switch has {ports} front-panel ports, counted from 0") })]
    Port {
        /// File and line, if there are any.
        place: String,
        /// Name of the switch.
        name: String,
        /// The port.
        port: u16,
        /// True if another cable or host has requested the port.
        taken: bool,
        /// Number of front-panel ports of the switch.
        ports: u16,
    },
    /// A link or a host cannot be: its rate, its ends, or its place in the network.
    #[error("{place}{reason}")]
    Link {
        /// File and line, if there are any.
        place: String,
        /// Value found, and how to mend it.
        reason: String,
    },
    /// The network has too few edges.
    #[error(
        "{found} switch(es) with hosts; flows need at least two: set `hosts` or `edge = true` at more switches"
    )]
    Edges {
        /// Number of edges.
        found: usize,
    },
    /// A switch has no path to an edge.
    #[error("`{from}` has no path to `{to}`")]
    NoPath {
        /// Name of the switch.
        from: String,
        /// Name of the edge.
        to: String,
    },
}

impl Network {
    /// Returns a network without switches.
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

    /// Returns the index of the decision point of this name, which is added at its first use.
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

    /// Records the outcomes of earlier decision points that lead to a group.
    fn locate(&mut self, group: u32, outcomes: &[u32]) {
        if let Some(at) = self.located.get_mut(group as usize) {
            *at = Some(outcomes.to_vec());
        }
    }

    /// Allocates the route table; all switches and edges must have been added.
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

    /// Returns the index of the first route of a switch in a mode in the route table; one route for each edge follows.
    pub(crate) fn row(&self, mode: u8, switch: u32) -> usize {
        (usize::from(mode) * self.switches.len() + switch as usize) * self.edges.len()
    }

    /// Returns the number of modes.
    pub(crate) const fn modes(&self) -> u8 {
        self.modes
    }

    /// Returns the group that a switch uses for packets to edge number `edge`, if there is a route.
    #[must_use]
    pub fn route(&self, mode: u8, switch: u32, edge: u32) -> Option<u32> {
        self.routes.get(self.slot(mode, switch, edge)).copied().filter(|g| *g != NO_GROUP)
    }

    /// Returns the route table: groups by mode, switch and edge.
    pub(crate) fn route_table(&self) -> &[u32] {
        &self.routes
    }

    /// Returns the index of the switch of this name.
    ///
    /// # Errors
    /// If there is no such switch.
    pub fn switch_named(&self, name: &str) -> Result<u32, TopologyError> {
        let found = self.switches.iter().position(|s| s.name == name);
        found.map(|n| n as u32).ok_or_else(|| TopologyError::NoSwitch { name: name.to_owned() })
    }

    /// Removes the links from one switch to another from all groups. [`Network::graph`] then lists them as missing; if
    /// it is not known which outcomes they are, `graph` becomes `None`.
    ///
    /// # Errors
    /// If there is no such link, or a group has no other link.
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

    /// Checks that every edge reaches every edge that it sends to, whatever links are chosen on the way.
    ///
    /// # Errors
    /// If a switch has no path; the first one is reported.
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

    /// Returns, for each group, true if a packet may reach it when flows connect these pairs of edges: `pairs[from *
    /// edges + to]`, by indices of edges.
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

    /// Returns true if flows go from one edge switch to another.
    #[must_use]
    pub fn goes(&self, from: u32, to: u32) -> bool {
        let block = |n: u32| self.switches.get(n as usize).map(|s| s.block);
        from != to && (!self.between_blocks || block(from) != block(to))
    }
}

/// Returns an error if a number is outside 1 to `most`.
fn in_range(what: &'static str, found: u32, most: u32, expected: &'static str) -> Result<(), TopologyError> {
    if (1..=most).contains(&found) { Ok(()) } else { Err(TopologyError::Range { what, found, expected }) }
}
