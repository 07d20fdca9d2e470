//! Buffer and QoS configuration of SONiC (`config_db.json`, rendered buffer and QoS JSON, `pg_profile_lookup.ini`) as a buffer
//! profile.
//!
//! SONiC's tables name pools, profiles, groups and queues, but not the memory. The memory (cells, size, partitions, rules)
//! is that of another profile, the *base*. What a table says and the model does not have is in [`BufferFile::notes`].

mod hwsku;
mod maps;
mod pools;
mod ports;
mod queues;
mod tables;
mod watchdog;
mod wred;

pub use hwsku::Hardware;

use super::file::{BufferFile, PgEntry};
use crate::limits;
use crate::port_names::PortNames;
use crate::units::Length;
use ports::Ports;
use std::collections::{BTreeMap, BTreeSet};
use tables::{Lookup, Row, Tables};

/// One file of a configuration: its name for messages, and its text.
#[derive(Debug, Clone, Copy)]
pub struct SonicText<'a> {
    /// Name of the file.
    pub name: &'a str,
    /// JSON with tables, or the lines of a `pg_profile_lookup.ini`.
    pub text: &'a str,
}

/// One mistake in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{origin}: {place}: {message}")]
pub struct SonicProblem {
    /// The file.
    pub origin: String,
    /// Line, or table, row and field, as in `BUFFER_PG|Ethernet0|3-4|profile`.
    pub place: String,
    /// The mistake: the value found, the values expected, and the remedy.
    pub message: String,
}

/// All mistakes of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct SonicProblems(pub Vec<SonicProblem>);

/// Name of the profile of lossless groups whose headroom follows from speed and cable.
const LOOKED_UP: &str = "pg_lossless";
/// Pool of these groups, as SONiC has it.
const LOSSLESS_POOL: &str = "ingress_lossless_pool";

/// State of a conversion.
pub(super) struct Reader<'a> {
    tables: Tables,
    lookup: Vec<Lookup>,
    base: &'a BufferFile,
    ports: Ports,
    problems: BTreeSet<SonicProblem>,
    notes: Vec<String>,
}

/// Settings of one port, joined from all tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PortPlan {
    /// Name of the profile by priority group.
    groups: BTreeMap<u8, String>,
    /// By queue.
    queues: BTreeMap<u16, queues::QueuePlan>,
    /// PFC priorities.
    pfc: BTreeSet<u8>,
    cable: Option<Length>,
}

impl BufferFile {
    /// Converts files of SONiC. A row of a later file replaces that of an earlier one. The memory and what SONiC does not
    /// configure are those of `base`; front-panel ports follow from `names`, or else from the table `PORT`, or else from the
    /// order of all ports that the tables name.
    ///
    /// # Errors
    /// Returns every text that is not a table, every value that is not understood, and every name of a pool, profile, map or
    /// port that does not exist.
    pub fn from_sonic(
        texts: &[SonicText<'_>],
        base: &BufferFile,
        names: Option<&PortNames>,
    ) -> Result<BufferFile, SonicProblems> {
        let tables::Parsed { tables, lookup, notes } = tables::parse(texts).map_err(SonicProblems)?;
        let ports = Ports::of(&tables, names);
        let count = ports.names.iter().count();
        let limit = &limits::SONIC_PORTS;
        if limit.is_below(count) {
            let origin = texts.first().map_or("", |text| text.name).to_owned();
            let message = format!(
                "the files name {count} ports; expected at most {}, more than any switch has; {}",
                limit.get(),
                limit.advice()
            );
            return Err(SonicProblems(vec![SonicProblem { origin, place: "PORT".to_owned(), message }]));
        }
        let mut reader = Reader { tables, lookup, base, ports, problems: BTreeSet::new(), notes };
        let file = reader.file(texts);
        match reader.problems.is_empty() {
            true => Ok(file),
            false => Err(SonicProblems(reader.problems.into_iter().collect())),
        }
    }
}

impl Reader<'_> {
    fn file(&mut self, texts: &[SonicText<'_>]) -> BufferFile {
        self.ports_note();
        let (mut plans, lossless_rows) = self.groups();
        self.queues(&mut plans);
        let maps = self.maps();
        let lossless = self.lossless_groups(&mut plans, lossless_rows);
        let used = self.uses(&mut plans, &maps, &lossless);
        let watchdog = self.watchdog();
        let ecn = self.wred();
        let (mut pg, mut queue) = (group_entries(&plans), queues::entries(&plans));
        self.defaults(&used, &mut pg, &mut queue);
        let pool = self.pools(&used);
        let (pool_includes_headroom, pool_includes_reserved, pool_includes_queues) = self.included(&pool);
        let mut file = BufferFile {
            name: texts.iter().map(|text| text.name).collect::<Vec<_>>().join("+"),
            doc: format!("SONiC's tables over the memory of {}", self.base.name),
            // SONiC accepts what these checks refuse; the summary names each.
            accept: super::Check::TABLE
                .iter()
                .filter(|row| row.2.is_some())
                .map(|row| row.1.to_owned())
                .collect(),
            cable: Length::from_metres(5),
            pfc_enable: String::new(),
            port: ports::entries(&plans),
            pool,
            pool_includes_headroom,
            pool_includes_reserved,
            pool_includes_queues,
            profile: self.profiles(&used),
            pg,
            queue,
            maps: maps.entry(),
            ecn,
            watchdog,
            notes: Vec::new(),
            ..self.base.clone()
        };
        self.name_the_rest();
        file.notes = std::mem::take(&mut self.notes);
        file
    }

    /// Records a mistake of a row.
    fn wrong(&mut self, (table, key, row): (&str, &str, &Row), field: &str, message: impl Into<String>) {
        let field = if field.is_empty() { String::new() } else { format!("|{field}") };
        let place = format!("{table}|{key}{field}");
        self.problems.insert(SonicProblem { origin: row.origin.clone(), place, message: message.into() });
    }

    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    /// Returns the rows of a table, in order.
    fn rows(&self, table: &str) -> Vec<(String, Row)> {
        self.tables.get(table).into_iter().flatten().map(|(key, row)| (key.clone(), row.clone())).collect()
    }

    /// Returns true if a table has a row of this key. If it has none, records a mistake of the row that names it.
    fn exists(&mut self, of: (&str, &str, &Row), field: &str, table: &str, key: &str) -> bool {
        let known = self.tables.get(table);
        if known.is_some_and(|rows| rows.contains_key(key)) {
            return true;
        }
        let names: Vec<&str> = known.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        let near = crate::names::nearest(key, names.iter().copied());
        let near = near.map_or(String::new(), |name| format!(" Did you mean `{name}`?"));
        let expected = match names.is_empty() {
            true => format!("the files have no table {table}: add the file that has it"),
            false => format!("{table} has {}.", names.join(", ")),
        };
        self.wrong(of, field, format!("there is no {table}|{key}; {expected}{near}"));
        false
    }

    /// Returns the lossless groups by port; those of `asked` without a profile get one by speed and cable. Without a table
    /// of PFC priorities, PFC is on for all of them.
    fn lossless_groups(
        &mut self,
        plans: &mut BTreeMap<u16, PortPlan>,
        asked: ports::Groups,
    ) -> ports::Groups {
        let mut lossless = self.groups_with_headroom(plans);
        let mut needed = Vec::new();
        for (port, groups) in asked {
            let plan = plans.entry(port).or_default();
            for (group, place) in groups {
                if plan.groups.contains_key(&group) {
                    continue;
                }
                plan.groups.insert(group, LOOKED_UP.to_owned());
                needed.push((group, place.clone()));
                lossless.entry(port).or_default().insert(group, place);
            }
        }
        self.needs_lookup(&needed);
        if needed.is_empty() && !self.lookup.is_empty() {
            self.note("pg_profile_lookup: no priority group takes its headroom from it".to_owned());
        }
        if !self.tables.contains_key("PORT_QOS_MAP") {
            self.note(match lossless.is_empty() {
                true => "there is no table PORT_QOS_MAP, and no group has headroom: all traffic is lossy"
                    .to_owned(),
                false => "there is no table PORT_QOS_MAP: PFC is on for the priorities of lossless groups"
                    .to_owned(),
            });
            for (port, groups) in &lossless {
                plans.entry(*port).or_default().pfc.extend(groups.keys());
            }
        }
        lossless
    }

    /// Records a mistake if no file gives headroom by speed and cable, which these groups need.
    fn needs_lookup(&mut self, needed: &[(u8, (String, String, String))]) {
        let Some((group, (table, key, field))) = needed.first().filter(|_| self.lookup.is_empty()) else {
            return;
        };
        let Some(row) = self.tables.get(table).and_then(|rows| rows.get(key)).cloned() else { return };
        let more =
            if needed.len() > 1 { format!(" (and {} more groups)", needed.len() - 1) } else { String::new() };
        let text = format!(
            "makes priority group {group} lossless{more}, but no file says the headroom; join the switch's \
             pg_profile_lookup.ini with `+`, or give the groups a profile with xoff in BUFFER_PG"
        );
        self.wrong((table, key, &row), field, text);
    }

    /// Names the tables that were not used.
    fn name_the_rest(&mut self) {
        let near = |table: &str| tables::UNMODELLED.iter().find(|(name, _)| *name == table);
        let rest: Vec<String> =
            self.tables.keys().filter(|table| !tables::USED.contains(&table.as_str())).cloned().collect();
        let (close, far): (Vec<_>, Vec<_>) = rest.into_iter().partition(|table| near(table).is_some());
        for table in close {
            if let Some((_, why)) = near(&table) {
                self.note(format!("{table}: {why}"));
            }
        }
        if !far.is_empty() {
            self.note(format!("tables without a meaning for a buffer: {}", far.join(", ")));
        }
        for (table, known) in tables::FIELDS {
            let rows = self.tables.get(table).into_iter().flatten();
            let fields = rows.flat_map(|(_, row)| row.fields.keys());
            let unused: BTreeSet<&String> = fields
                .filter(|field| {
                    !known.iter().any(|(begin, end)| field.starts_with(begin) && field.ends_with(end))
                })
                .collect();
            if !unused.is_empty() {
                let unused: Vec<&str> = unused.into_iter().map(String::as_str).collect();
                self.note(format!("{table}: fields without a meaning for a buffer: {}", unused.join(", ")));
            }
        }
    }
}

/// Returns entries of priority groups; ports with the same groups share theirs.
fn group_entries(plans: &BTreeMap<u16, PortPlan>) -> Vec<PgEntry> {
    let mut by: BTreeMap<(&String, Vec<u16>), Vec<u16>> = BTreeMap::new();
    for (port, plan) in plans {
        let profiles: BTreeSet<&String> = plan.groups.values().collect();
        for profile in profiles {
            let groups =
                plan.groups.iter().filter(|(_, name)| *name == profile).map(|(pg, _)| u16::from(*pg));
            by.entry((profile, groups.collect())).or_default().push(*port);
        }
    }
    let entry = |((profile, groups), ports): ((&String, Vec<u16>), Vec<u16>)| PgEntry {
        ports: ports::ranges(&ports),
        pgs: ports::ranges(&groups),
        profile: profile.clone(),
        priorities: None,
    };
    by.into_iter().map(entry).collect()
}
