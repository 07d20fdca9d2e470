//! Resolution of a profile file for given ports to a configuration in cells.
//!
//! Resolution collects all problems; [`super::check`] then checks the whole configuration.

mod headroom;
mod included;
mod queues;

use super::config::{
    BufferConfig, Choices, Lossless, PRIORITY_GROUPS, PgConfig, PoolConfig, PortBuffer, Rules, XoffTest,
};
use super::file::{BufferFile, Direction, PoolEntry, ProfileEntry};
use super::maps;
use super::problem::{Check, Problem, Problems};
use super::ranges::Selector;
use super::threshold::Threshold;
use super::{check, marking};
use crate::units::{BitRate, Bytes, Cells, Length};

/// Port that a profile is applied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortInfo {
    /// Name of the port in messages.
    pub name: String,
    /// Line rate.
    pub speed: BitRate,
    /// Number of queues.
    pub queues: u16,
    /// True if the port is not on the front panel.
    pub internal: bool,
}

/// State of a resolution.
pub(super) struct Resolver<'a> {
    pub(super) file: &'a BufferFile,
    pub(super) ports: &'a [PortInfo],
    pub(super) problems: Vec<Problem>,
    /// Speed, cable and PFC priorities of each port.
    settings: Vec<Settings>,
}

/// Settings of one port.
#[derive(Debug, Clone, Copy)]
struct Settings {
    cable: Length,
    partition: u16,
    ingress_limit: Option<Bytes>,
    egress_limit: Option<Bytes>,
    pfc: u8,
}

impl BufferFile {
    /// Resolves the profile for these ports.
    ///
    /// # Errors
    /// Returns every problem except those that the profile accepts.
    pub fn resolve(&self, ports: &[PortInfo]) -> Result<BufferConfig, Problems> {
        let mut resolver = Resolver { file: self, ports, problems: Vec::new(), settings: Vec::new() };
        let mut config = resolver.config();
        let sums = check::whole(&mut resolver, &config);
        let (accepted, list) = resolver.split();
        config.accepted = accepted;
        if list.is_empty() {
            Ok(config)
        } else {
            Err(Problems { profile: self.name.clone(), list, sums, notes: self.notes.clone() })
        }
    }
}

impl<'a> Resolver<'a> {
    /// Records a problem once.
    pub(super) fn wrong(&mut self, check: Check, place: impl Into<String>, text: impl Into<String>) {
        let problem = Problem { check, place: place.into(), text: text.into() };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    pub(super) fn floor(&self, bytes: Bytes) -> Cells {
        Cells(u32::try_from(bytes.0 / self.file.cell.0.max(1)).unwrap_or(u32::MAX))
    }

    pub(super) fn ceil(&self, bytes: Bytes) -> Cells {
        Cells(u32::try_from(bytes.0.div_ceil(self.file.cell.0.max(1))).unwrap_or(u32::MAX))
    }

    fn partitions(&self) -> u16 {
        self.file.partitions.max(1)
    }

    /// Returns the cells of one partition of a pool.
    pub(super) fn part(&self, bytes: Bytes) -> Cells {
        self.floor(Bytes(bytes.0 / u64::from(self.partitions())))
    }

    fn config(&mut self) -> BufferConfig {
        let file = self.file;
        self.scalars();
        self.settings();
        let groups = self.groups();
        let ecn = marking::profiles(self);
        let queues = self.queues(&ecn);
        let ports: Vec<PortBuffer> = groups
            .into_iter()
            .zip(queues)
            .enumerate()
            .map(|(i, (groups, queues))| {
                let s = self.settings[i];
                let limit = |bytes: Option<Bytes>| bytes.map(|b| self.floor(b));
                PortBuffer {
                    partition: s.partition,
                    groups,
                    queues,
                    ingress_limit: limit(s.ingress_limit),
                    egress_limit: limit(s.egress_limit),
                    pfc_receive: if file.pfc.asymmetric { 0xff } else { s.pfc },
                }
            })
            .collect();
        let of = |direction| file.pool.iter().filter(move |p| p.direction == direction);
        let pool = |s: &Self, p: &PoolEntry| PoolConfig { name: p.name.clone(), size: s.part(p.size) };
        let mut ingress_pools: Vec<_> = of(Direction::Ingress).map(|p| pool(self, p)).collect();
        let mut egress_pools: Vec<_> = of(Direction::Egress).map(|p| pool(self, p)).collect();
        let headroom_pools = self.headroom_pools();
        self.take_included_off(&ports, &headroom_pools, &mut ingress_pools);
        self.take_queues_off(&ports, &mut ingress_pools, &mut egress_pools);
        BufferConfig {
            name: file.name.clone(),
            rules: file.rules,
            cell: Bytes(file.cell.0.max(1)),
            descriptor: file.descriptor,
            size: self.floor(file.buffer),
            partitions: self.partitions(),
            choices: self.choices(),
            ingress_pools,
            egress_pools,
            headroom_pools,
            ports,
            maps: maps::resolve(self),
            ecn: ecn.profiles,
            pfc: marking::pfc(self),
            watchdog: marking::watchdog(self),
            stuck_queue_timeout: marking::stuck_queue_timeout(self),
            notes: file.notes.clone(),
            accepted: Vec::new(),
        }
    }

    fn choices(&self) -> Choices {
        let d = &self.file.decisions;
        let xoff_test = match self.file.rules {
            Rules::Sai => XoffTest::PostAdmission,
            Rules::Tofino => XoffTest::PreAdmission,
        };
        Choices {
            xoff_test: d.xoff_test.unwrap_or(xoff_test),
            rescan: d.rescan,
            lossy_needs_ingress_pool: d.lossy_needs_ingress_pool.unwrap_or(true),
            mark_point: d.mark_point,
            multicast_once: d.multicast_once.unwrap_or(true),
        }
    }

    fn scalars(&mut self) {
        let file = self.file;
        if file.cell == Bytes::ZERO {
            self.wrong(Check::Value, "cell", "0 bytes; a cell has at least 1, for example 208B");
        }
        if file.partitions == 0 {
            self.wrong(Check::Value, "partitions", "0; a memory has at least 1");
        }
        if file.cell.0 > 0 && file.buffer.0 / file.cell.0 > u64::from(u32::MAX / 4) {
            self.wrong(
                Check::Value,
                "buffer",
                format!("{} of {} cells are more than 2^30", file.buffer, file.cell),
            );
        }
        for (i, pool) in file.pool.iter().enumerate() {
            if file.pool.iter().take(i).any(|p| p.name == pool.name) {
                self.wrong(
                    Check::Name,
                    format!("pool `{}`", pool.name),
                    "is there twice; give every pool a different name",
                );
            }
        }
        let names: Vec<&str> = Check::TABLE.iter().filter(|r| r.2.is_some()).map(|r| r.1).collect();
        for name in &file.accept {
            if !names.contains(&name.as_str()) {
                let known = names.join(", ");
                self.wrong(
                    Check::Name,
                    "accept",
                    format!("no check `{name}` can be accepted; those that can: {known}"),
                );
            }
        }
    }

    /// Returns the selected front-panel or internal ports, as indices of all ports.
    pub(super) fn select_ports(
        &mut self,
        place: &str,
        text: &str,
        taken: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let selector = match Selector::parse(text) {
            Ok(selector) => selector,
            Err(text) => {
                self.wrong(Check::Value, format!("{place} ports"), text);
                return Vec::new();
            }
        };
        let all = 0..self.ports.len();
        if selector == Selector::Internal {
            return all.filter(|i| self.ports[*i].internal).collect();
        }
        let front: Vec<usize> = all.filter(|i| !self.ports[*i].internal).collect();
        if let Some(largest) = selector.largest().filter(|n| *n as usize >= front.len()) {
            let last = front.len().saturating_sub(1);
            self.wrong(
                Check::Value,
                format!("{place} ports"),
                format!("port {largest}; there are ports 0 to {last}"),
            );
        }
        let members = selector.members(front.len() as u32, |n| taken(front[n as usize]));
        members.into_iter().filter_map(|n| front.get(n as usize).copied()).collect()
    }

    /// Returns the selected numbers below `end`.
    pub(super) fn select(
        &mut self,
        place: &str,
        text: &str,
        end: u32,
        taken: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        match Selector::parse(text) {
            Ok(selector) => {
                if let Some(largest) = selector.largest().filter(|n| *n >= end) {
                    let last = end.saturating_sub(1);
                    self.wrong(Check::Value, place, format!("{largest}; numbers are 0 to {last}"));
                }
                selector.members(end, taken)
            }
            Err(text) => {
                self.wrong(Check::Value, place, text);
                Vec::new()
            }
        }
    }

    /// Returns PFC priorities as bits.
    fn priorities(&mut self, place: &str, text: &str) -> u8 {
        if text.trim().is_empty() {
            return 0;
        }
        self.select(place, text, 8, |_| false).into_iter().fold(0, |bits, p| bits | 1 << p)
    }

    fn settings(&mut self) {
        let file = self.file;
        let pfc = self.priorities("pfc_enable", &file.pfc_enable);
        let front = self.ports.iter().filter(|p| !p.internal).count().max(1);
        let parts = usize::from(self.partitions());
        let mut front_index = 0;
        for port in self.ports {
            // Internal ports use the first partition.
            let partition = if port.internal { 0 } else { (front_index * parts / front) as u16 };
            front_index += usize::from(!port.internal);
            let pfc = if port.internal { 0 } else { pfc };
            self.settings.push(Settings {
                cable: file.cable,
                partition,
                ingress_limit: None,
                egress_limit: None,
                pfc,
            });
        }
        let mut named = vec![false; self.ports.len()];
        for (i, entry) in file.port.iter().enumerate() {
            let place = format!("port[{i}]");
            let own =
                entry.pfc_enable.as_ref().map(|text| self.priorities(&format!("{place} pfc_enable"), text));
            if let Some(partition) = entry.partition.filter(|p| *p >= self.partitions()) {
                let last = self.partitions() - 1;
                self.wrong(
                    Check::Value,
                    format!("{place} partition"),
                    format!("{partition}; partitions are 0 to {last}"),
                );
            }
            for port in self.select_ports(&place, &entry.ports, |p| named[p]) {
                named[port] = true;
                let last = self.partitions() - 1;
                let s = &mut self.settings[port];
                s.cable = entry.cable.unwrap_or(s.cable);
                s.partition = entry.partition.unwrap_or(s.partition).min(last);
                s.ingress_limit = entry.ingress_limit.or(s.ingress_limit);
                s.egress_limit = entry.egress_limit.or(s.egress_limit);
                s.pfc = own.unwrap_or(s.pfc);
            }
        }
    }

    /// Returns the profile of this name for a port: the one of the port's speed with the shortest cable that is long
    /// enough.
    fn profile(&mut self, place: &str, name: &str, port: usize) -> Option<usize> {
        let (speed, cable) = (self.ports[port].speed, self.settings[port].cable);
        let named = || self.file.profile.iter().enumerate().filter(|(_, p)| p.name == name);
        let fits =
            |p: &ProfileEntry| p.speed.is_none_or(|s| s == speed) && p.cable.is_none_or(|c| c >= cable);
        let best = named()
            .filter(|(_, p)| fits(p))
            .min_by_key(|(_, p)| (p.speed.is_none(), p.cable.unwrap_or(Length::from_metres(u64::MAX))))
            .map(|(i, _)| i);
        if best.is_none() && named().next().is_none() {
            self.wrong(Check::Name, place, format!("no profile is called `{name}`"));
        } else if best.is_none() {
            let known = named().map(|(_, p)| {
                let speed = p.speed.map_or("any speed".to_owned(), |s| s.to_string());
                let cable = p.cable.map_or("any cable".to_owned(), |c| c.to_string());
                format!("{speed} {cable}")
            });
            let known = known.collect::<Vec<_>>().join(", ");
            self.wrong(
                Check::Name,
                place,
                format!(
                    "profile `{name}` has no entry for {speed} and {cable}; it has {known}: add one, or run the port at one of \
                     these speeds"
                ),
            );
        }
        best
    }

    /// Returns the pool that a profile names, with its index among the pools of a direction.
    pub(super) fn pool(
        &mut self,
        profile: &ProfileEntry,
        direction: Direction,
    ) -> Option<(u8, &'a PoolEntry)> {
        let place = format!("profile `{}` pool", profile.name);
        let file = self.file;
        let of = file.pool.iter().filter(|p| p.direction == direction);
        let found = (0u8..).zip(of.clone()).find(|(_, p)| p.name == profile.pool);
        if found.is_none() {
            let known: Vec<&str> = of.map(|p| p.name.as_str()).collect();
            let what = if direction == Direction::Ingress { "ingress" } else { "egress" };
            self.wrong(
                Check::Name,
                place,
                format!("no {what} pool is called `{}`; there are {}", profile.pool, known.join(", ")),
            );
        }
        found
    }

    fn groups(&mut self) -> Vec<[Option<PgConfig>; PRIORITY_GROUPS]> {
        let mut groups = vec![[None; PRIORITY_GROUPS]; self.ports.len()];
        let file = self.file;
        for (i, entry) in file.pg.iter().enumerate() {
            let place = format!("pg[{i}]");
            let named = |p: usize| groups[p].iter().any(Option::is_some);
            for port in self.select_ports(&place, &entry.ports, named) {
                let taken = |pg: u32| groups[port].get(pg as usize).is_some_and(Option::is_some);
                for pg in self.select(&format!("{place} pgs"), &entry.pgs, PRIORITY_GROUPS as u32, taken) {
                    let own = 1u8 << pg;
                    let priorities = match &entry.priorities {
                        Some(text) => self.priorities(&format!("{place} priorities"), text),
                        None => own,
                    };
                    let profile = self.profile(&format!("{place} profile"), &entry.profile, port);
                    groups[port][pg as usize] = match profile.and_then(|p| file.profile.get(p)) {
                        Some(profile) => {
                            self.pfc_covers(port, pg, profile, priorities);
                            self.group(profile, priorities)
                        }
                        None => Some(self.stand_in(&entry.profile, priorities)),
                    };
                }
            }
        }
        groups
    }

    /// Returns a placeholder for a group whose profile is missing, so that the group causes no further problems.
    fn stand_in(&self, profile: &str, priorities: u8) -> PgConfig {
        let none = Lossless {
            cap: Cells::ZERO,
            headroom_pool: None,
            xon: Cells::ZERO,
            xon_offset: Cells::ZERO,
            priorities,
        };
        let lossless = self.file.profile.iter().any(|p| p.name == profile && p.xoff.is_some());
        PgConfig {
            pool: 0,
            reserved: Cells::ZERO,
            threshold: Threshold::Unlimited,
            lossless: lossless.then_some(none),
        }
    }

    /// Checks that PFC is enabled for the priorities of a lossless group.
    fn pfc_covers(&mut self, port: usize, pg: u32, profile: &ProfileEntry, priorities: u8) {
        let missing = priorities & !self.settings[port].pfc;
        if profile.xoff.is_some() && (missing != 0 || priorities == 0) {
            let name = &profile.name;
            let text = match priorities {
                0 => "has no PFC priority, so that nothing can pause it".to_owned(),
                _ => format!(
                    "is lossless by profile `{name}`, but PFC is not enabled for priorities {missing:#010b}"
                ),
            };
            self.wrong(Check::Class, format!("priority group {pg}"), format!("{text}: add it to pfc_enable"));
        }
    }

    /// Divides the problems into accepted ones, with their consequences, and others.
    fn split(self) -> (Vec<String>, Vec<Problem>) {
        let accepts = |p: &Problem| {
            p.check.acceptable().filter(|_| self.file.accept.iter().any(|name| name == p.check.name()))
        };
        let accepted =
            self.problems.iter().filter_map(|p| accepts(p).map(|then| format!("{p}; {then}"))).collect();
        (accepted, self.problems.iter().filter(|p| accepts(p).is_none()).cloned().collect())
    }
}
