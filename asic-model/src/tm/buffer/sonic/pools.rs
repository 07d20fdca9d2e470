//! Pools and profiles of the tables.
//!
//! SONiC does not say which egress pool is lossless: a queue is lossless here if a traffic class leads to it and to a
//! lossless group.
//! If an egress pool has queues of both kinds, it becomes two counters of the same size.

use super::maps::Maps;
use super::ports::Groups;
use super::tables::Row;
use super::{LOOKED_UP, LOSSLESS_POOL, PortPlan, Reader};
use crate::tm::buffer::file::{
    Direction, PgEntry, PoolClass, PoolEntry, ProfileEntry, QueueEntry, QueueReserve,
};
use crate::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// How groups and queues use profiles and pools. True stands for lossless.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Profiles of groups.
    groups: BTreeSet<(String, bool)>,
    /// Profiles of queues.
    queues: BTreeSet<(String, bool)>,
    /// Pool of each profile in use.
    pools: BTreeMap<String, String>,
    /// Profiles of groups and queues without a row.
    default_group: String,
    default_queue: String,
    /// Profiles without the reserve of another: the name of that one by their own.
    bare: BTreeMap<String, String>,
}

/// Profiles for groups and queues without a row, if no row has a lossy one.
const UNLIMITED: [&str; 2] = ["groups without a profile", "queues without a profile"];

/// Returns the profile with the highest count, if that is not 0; of several the first by name.
fn most_used(counts: &BTreeMap<String, usize>) -> Option<&str> {
    let most = counts.iter().max_by_key(|(name, count)| (**count, std::cmp::Reverse(*name)))?;
    (*most.1 > 0).then_some(most.0.as_str())
}

impl Uses {
    fn pool(&self, profile: &str) -> &str {
        self.pools.get(profile).map_or("", String::as_str)
    }

    /// Returns the classes of traffic by which groups, or queues, use a pool.
    fn classes(&self, of: &BTreeSet<(String, bool)>, pool: &str) -> BTreeSet<bool> {
        of.iter().filter(|(profile, _)| self.pool(profile) == pool).map(|(_, lossless)| *lossless).collect()
    }

    /// Returns the name of the counter at egress.
    fn egress_pool(&self, pool: &str, lossless: bool) -> String {
        let ingress = if self.classes(&self.groups, pool).is_empty() { "" } else { " (egress)" };
        let both = self.classes(&self.queues, pool).len() > 1;
        format!("{pool}{ingress}{}", if both && !lossless { " (lossy)" } else { "" })
    }

    /// Returns the name of the profile of queues.
    fn queue_profile(&self, profile: &str, lossless: bool) -> String {
        let groups = self.groups.iter().any(|(name, _)| name == profile);
        let both = self.queues.contains(&(profile.to_owned(), !lossless));
        format!(
            "{profile}{}{}",
            if groups { " (queues)" } else { "" },
            if both && !lossless { " (lossy)" } else { "" }
        )
    }
}

impl Reader<'_> {
    /// Returns how profiles and pools are used, and gives every planned queue the profile of its class.
    pub(super) fn uses(
        &mut self,
        plans: &mut BTreeMap<u16, PortPlan>,
        maps: &Maps,
        lossless: &Groups,
    ) -> Uses {
        let classes = maps.classes();
        let is_lossless = |port: &u16, queue: u16| {
            let groups = lossless.get(port);
            classes
                .iter()
                .any(|(pg, q)| u16::from(*q) == queue && groups.is_some_and(|groups| groups.contains_key(pg)))
        };
        // A lossless class needs a lossless queue, even one without a row.
        for (port, groups) in lossless {
            let plan = plans.entry(*port).or_default();
            for (_, queue) in classes.iter().filter(|(pg, _)| groups.contains_key(pg)) {
                plan.queues.entry(u16::from(*queue)).or_default();
            }
        }
        let mut uses = Uses::default();
        // Groups, lossy queues and lossless queues of each profile; of groups, the lossy ones.
        let [mut groups, mut lossy, mut kept] = <[BTreeMap<String, usize>; 3]>::default();
        for (port, plan) in plans.iter() {
            for (group, profile) in &plan.groups {
                let own = lossless.get(port).is_some_and(|groups| groups.contains_key(group));
                uses.groups.insert((profile.clone(), own));
                *groups.entry(profile.clone()).or_default() += usize::from(!own);
            }
            for (queue, profile) in
                plan.queues.iter().filter_map(|(q, plan)| Some((q, plan.profile.as_ref()?)))
            {
                let own = is_lossless(port, *queue);
                uses.queues.insert((profile.clone(), own));
                *if own { &mut kept } else { &mut lossy }.entry(profile.clone()).or_default() += 1;
            }
        }
        uses.default_group = most_used(&groups).unwrap_or(UNLIMITED[0]).to_owned();
        let default_queue = most_used(&lossy).unwrap_or(UNLIMITED[1]).to_owned();
        let default_kept = most_used(&kept).unwrap_or(&default_queue).to_owned();
        let needs_kept = |(port, plan): (&u16, &PortPlan)| {
            plan.queues.iter().any(|(queue, plan)| plan.profile.is_none() && is_lossless(port, *queue))
        };
        if plans.iter().any(needs_kept) {
            uses.queues.insert((default_kept.clone(), true));
        }
        uses.groups.insert((uses.default_group.clone(), false));
        uses.queues.insert((default_queue.clone(), false));
        uses.pools = self.pools_of(&uses);
        uses.default_queue =
            self.bare(&mut uses, &default_queue, |uses| uses.queue_profile(&default_queue, false));
        let default_group = uses.default_group.clone();
        uses.default_group = self.bare(&mut uses, &default_group, |_| default_group.clone());
        for (port, plan) in plans.iter_mut() {
            for (queue, plan) in &mut plan.queues {
                let own = is_lossless(port, *queue);
                plan.profile = Some(match &plan.profile {
                    Some(profile) => uses.queue_profile(profile, own),
                    None => {
                        let default = if own { &default_kept } else { &default_queue };
                        self.bare(&mut uses, default, |uses| uses.queue_profile(default, own))
                    }
                });
            }
        }
        uses
    }

    /// Returns the name of a profile for groups or queues without a row: SONiC reserves nothing for them.
    fn bare(&self, uses: &mut Uses, key: &str, name: impl Fn(&Uses) -> String) -> String {
        let name = name(uses);
        let row = self.tables.get("BUFFER_PROFILE").and_then(|rows| rows.get(key));
        if row.and_then(|row| row.get("size")).is_none_or(|size| size.trim() == "0") {
            return name;
        }
        let bare = format!("{name} without reserve");
        uses.bare.insert(bare.clone(), name);
        bare
    }

    /// Returns the pool of each profile in use.
    fn pools_of(&mut self, uses: &Uses) -> BTreeMap<String, String> {
        let profiles: BTreeSet<&String> =
            uses.groups.iter().chain(&uses.queues).map(|(name, _)| name).collect();
        let mut pools = BTreeMap::new();
        for profile in profiles {
            let row = self.tables.get("BUFFER_PROFILE").and_then(|rows| rows.get(profile)).cloned();
            let pool = match &row {
                Some(row) => {
                    let of = ("BUFFER_PROFILE", profile.as_str(), row);
                    match row.get("pool") {
                        Some(pool) if self.exists(of, "pool", "BUFFER_POOL", pool) => pool.to_owned(),
                        Some(_) => continue,
                        None => {
                            self.wrong(of, "pool", "is missing; expected the name of a row of BUFFER_POOL");
                            continue;
                        }
                    }
                }
                None if profile == UNLIMITED[1] => self.pool_of_type("egress"),
                None if profile == LOOKED_UP && self.tables["BUFFER_POOL"].contains_key(LOSSLESS_POOL) => {
                    LOSSLESS_POOL.to_owned()
                }
                None => self.pool_of_type("ingress"),
            };
            pools.insert(profile.clone(), pool);
        }
        pools
    }

    /// Returns the first pool of a direction, or else the first pool.
    fn pool_of_type(&self, kind: &str) -> String {
        let pools = &self.tables["BUFFER_POOL"];
        let of = pools.iter().find(|(_, row)| row.get("type").is_some_and(|t| t == kind || t == "both"));
        of.or(pools.iter().next()).map_or(String::new(), |(name, _)| name.clone())
    }

    /// Returns the pools in use.
    pub(super) fn pools(&mut self, uses: &Uses) -> Vec<PoolEntry> {
        let mut pools = Vec::new();
        for (name, row) in self.rows("BUFFER_POOL") {
            let (at_ingress, at_egress) =
                (uses.classes(&uses.groups, &name), uses.classes(&uses.queues, &name));
            if at_ingress.is_empty() && at_egress.is_empty() {
                self.note(format!("BUFFER_POOL|{name}: nothing uses it"));
                continue;
            }
            let of = ("BUFFER_POOL", name.as_str(), &row);
            self.direction(of, (!at_ingress.is_empty(), !at_egress.is_empty()));
            let Some(size) = self.size(of) else { continue };
            if !at_ingress.is_empty() {
                let class = match (at_ingress.contains(&true), at_ingress.contains(&false)) {
                    (true, false) => PoolClass::Lossless,
                    (false, true) => PoolClass::Lossy,
                    _ => PoolClass::Both,
                };
                let xoff = self.number(of, "xoff").filter(|xoff| *xoff > 0).map(Bytes);
                let (direction, over_subscribe_ratio) = (Direction::Ingress, None);
                pools.push(PoolEntry {
                    name: name.clone(),
                    direction,
                    class,
                    size,
                    xoff,
                    over_subscribe_ratio,
                });
            }
            if at_egress.len() > 1 {
                self.note(format!(
                    "BUFFER_POOL|{name}: lossless and lossy queues are counted apart, each up to its size"
                ));
            }
            pools.extend(at_egress.iter().map(|lossless| PoolEntry {
                name: uses.egress_pool(&name, *lossless),
                direction: Direction::Egress,
                class: if *lossless { PoolClass::Lossless } else { PoolClass::Lossy },
                size,
                xoff: None,
                over_subscribe_ratio: None,
            }));
        }
        pools
    }

    /// Checks that a pool is used as its type says.
    fn direction(&mut self, of: (&str, &str, &Row), (ingress, egress): (bool, bool)) {
        let wrong = match of.2.get("type") {
            Some("both") => return,
            Some("ingress") => egress.then_some("queues use a pool of type ingress; expected egress or both"),
            Some("egress") => {
                ingress.then_some("priority groups use a pool of type egress; expected ingress or both")
            }
            Some(_) | None => Some("expected ingress, egress or both"),
        };
        if let Some(text) = wrong {
            self.wrong(of, "type", format!("found `{}`: {text}", of.2.get("type").unwrap_or("nothing")));
        }
    }

    /// Returns what the sizes of pools include: headroom, the reserve of groups, and that of queues.
    ///
    /// The memory's profile says what they may include. SONiC's files of one ASIC differ, by `sai_optimized_mmu` of the switch's
    /// `config.bcm`, which no table names: a pool that the memory cannot hold in addition to its headroom must include the headroom, and
    /// one that the memory can hold so is shared cells alone.
    pub(super) fn included(&mut self, pools: &[PoolEntry]) -> (bool, bool, QueueReserve) {
        let base = self.base;
        let of_base = (base.pool_includes_headroom, base.pool_includes_reserved, base.pool_includes_queues);
        let Some(pool) = pools.iter().filter(|pool| pool.xoff.is_some()).max_by_key(|pool| pool.size) else {
            return of_base;
        };
        let sum = pool.size + pool.xoff.unwrap_or_default();
        let (place, memory) = (format!("BUFFER_POOL|{}", pool.name), base.buffer);
        match (base.pool_includes_headroom, sum > memory) {
            (false, true) => {
                self.note(format!(
                    "{place}: size and xoff are {sum}, more than the memory, {memory}: the size is taken to include xoff"
                ));
                (true, of_base.1, of_base.2)
            }
            (true, false) => {
                self.note(format!(
                    "{place}: size and xoff are {sum}, no more than the memory, {memory}: the size is taken as shared cells alone"
                ));
                (false, false, QueueReserve::None)
            }
            _ => of_base,
        }
    }

    fn size(&mut self, of: (&str, &str, &Row)) -> Option<Bytes> {
        if of.2.get("size").is_none() {
            let text = "is missing: with dynamic buffers, SONiC computes it on the switch. Add the size that the switch \
                        has, from BUFFER_POOL_TABLE of its APPL_DB";
            self.wrong(of, "size", text);
        }
        self.number(of, "size").map(Bytes)
    }

    /// Returns the profiles in use.
    pub(super) fn profiles(&mut self, uses: &Uses) -> Vec<ProfileEntry> {
        let mut profiles = Vec::new();
        let names =
            |of: &BTreeSet<(String, bool)>| of.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
        for name in names(&uses.groups) {
            if name == LOOKED_UP {
                profiles.extend(self.looked_up(uses.pool(LOOKED_UP)));
            } else {
                let pool = uses.pool(&name).to_owned();
                profiles.extend(self.profile(&name, name.clone(), pool));
            }
        }
        for (name, lossless) in &uses.queues {
            let pool = uses.egress_pool(uses.pool(name), *lossless);
            profiles.extend(self.profile(name, uses.queue_profile(name, *lossless), pool));
        }
        for (bare, of) in &uses.bare {
            let of = profiles.iter().find(|profile: &&ProfileEntry| profile.name == *of).cloned();
            profiles.extend(of.map(|of| ProfileEntry { name: bare.clone(), size: Bytes::ZERO, ..of }));
        }
        let used: BTreeSet<&String> = uses.groups.iter().chain(&uses.queues).map(|(name, _)| name).collect();
        let all = self.rows("BUFFER_PROFILE").into_iter().map(|(name, _)| name);
        let unused: Vec<String> = all.filter(|name| !used.contains(name)).collect();
        if !unused.is_empty() {
            self.note(format!("BUFFER_PROFILE: no group and no queue uses {}", unused.join(", ")));
        }
        profiles
    }

    /// Converts a row of `BUFFER_PROFILE`, or returns a profile without a limit.
    fn profile(&mut self, key: &str, name: String, pool: String) -> Option<ProfileEntry> {
        let Some(row) = self.tables.get("BUFFER_PROFILE").and_then(|rows| rows.get(key)).cloned() else {
            return Some(ProfileEntry { static_th: Some(Bytes::ZERO), ..blank(name, pool) });
        };
        const FIELDS: [&str; 7] = ["dynamic_th", "pool", "size", "static_th", "xoff", "xon", "xon_offset"];
        for field in row.fields.keys().filter(|field| !FIELDS.contains(&field.as_str())) {
            self.note(format!("BUFFER_PROFILE|{key}: the model has no `{field}`"));
        }
        let of = ("BUFFER_PROFILE", key, &row);
        let mut bytes = |field: &str| self.number(of, field).map(Bytes);
        let (size, xon, xoff) = (bytes("size"), bytes("xon"), bytes("xoff"));
        let (xon_offset, static_th) = (bytes("xon_offset"), bytes("static_th"));
        let dynamic_th = match row.get("dynamic_th").map(|text| (text, text.trim().parse::<i64>())) {
            None => None,
            Some((_, Ok(n))) => Some(n),
            Some((text, Err(_))) => {
                self.wrong(
                    of,
                    "dynamic_th",
                    format!("found `{text}`; expected n of -8 to 7 for an alpha of 2^n"),
                );
                return None;
            }
        };
        if row.get("dynamic_th").is_some() == row.get("static_th").is_some() {
            let found = if dynamic_th.is_some() { "both" } else { "neither" };
            self.wrong(of, "", format!("found {found} of dynamic_th and static_th; expected exactly one"));
        }
        let (size, xon, xon_offset) =
            (size.unwrap_or_default(), xon.unwrap_or_default(), xon_offset.unwrap_or_default());
        Some(ProfileEntry { size, xoff, xon, xon_offset, dynamic_th, static_th, ..blank(name, pool) })
    }

    /// Returns the profiles of `pg_profile_lookup.ini`. The pool's mode says what the column `threshold` means.
    fn looked_up(&self, pool: &str) -> Vec<ProfileEntry> {
        let row = self.tables["BUFFER_POOL"].get(pool);
        let is_static = row.is_some_and(|row| row.get("mode") == Some("static"));
        let entry = |line: &super::Lookup| ProfileEntry {
            speed: Some(line.speed),
            cable: Some(line.cable),
            size: line.size,
            xoff: Some(line.xoff),
            xon: line.xon,
            xon_offset: line.xon_offset,
            dynamic_th: (!is_static).then_some(line.threshold),
            static_th: is_static.then(|| Bytes(u64::try_from(line.threshold).unwrap_or_default())),
            ..blank(LOOKED_UP.to_owned(), pool.to_owned())
        };
        self.lookup.iter().map(entry).collect()
    }

    /// Adds the entries for groups and queues without a row, and for internal ports.
    pub(super) fn defaults(&mut self, uses: &Uses, pg: &mut Vec<PgEntry>, queue: &mut Vec<QueueEntry>) {
        self.note(format!(
            "groups without a row, and internal ports, have {}; such queues have {}",
            uses.default_group, uses.default_queue
        ));
        for (ports, which) in [("*", "others"), ("internal", "*")] {
            let (ports, which) = (ports.to_owned(), which.to_owned());
            let profile = uses.default_group.clone();
            pg.push(PgEntry { ports: ports.clone(), pgs: which.clone(), profile, priorities: None });
            let profile = uses.default_queue.clone();
            queue.push(QueueEntry { ports, queues: which, profile, ecn: None, priority: None });
        }
    }
}

/// Returns a profile without numbers.
fn blank(name: String, pool: String) -> ProfileEntry {
    ProfileEntry {
        name,
        pool,
        speed: None,
        cable: None,
        size: Bytes::ZERO,
        xoff: None,
        xon: Bytes::ZERO,
        xon_offset: Bytes::ZERO,
        dynamic_th: None,
        static_th: None,
        baf: None,
        base: Bytes::ZERO,
        yellow_eighths: None,
        red_eighths: None,
    }
}
