//! Ports of the tables: their numbers, priority groups, PFC priorities and cables.

use super::tables::{Row, Tables};
use super::{PortPlan, Reader};
use crate::port_names::PortNames;
use crate::tm::buffer::file::PortEntry;
use crate::units::Length;
use std::collections::{BTreeMap, BTreeSet};

/// Lossless groups by port, each with table, key and field that make it lossless.
pub(super) type Groups = BTreeMap<u16, BTreeMap<u8, (String, String, String)>>;

/// Where the numbers of ports come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// The caller's names.
    Map,
    /// The table `PORT`.
    Table,
    /// All names in all tables.
    Order,
}

/// Names of front-panel ports.
pub(super) struct Ports {
    pub(super) names: PortNames,
    pub(super) source: Source,
}

impl Ports {
    pub(super) fn of(tables: &Tables, names: Option<&PortNames>) -> Ports {
        if let Some(names) = names {
            return Ports { names: names.clone(), source: Source::Map };
        }
        let front = |name: &&str| is_front(name);
        if let Some(rows) = tables.get("PORT").filter(|rows| rows.keys().any(|name| is_front(name))) {
            let names = rows.keys().map(String::as_str).filter(front);
            return Ports { names: PortNames::in_order(names), source: Source::Table };
        }
        let of_keys = ["BUFFER_PG", "BUFFER_QUEUE", "QUEUE", "PORT_QOS_MAP", "PFC_WD"];
        let keys = of_keys.iter().filter_map(|table| tables.get(*table)).flat_map(|rows| rows.keys());
        let keys = keys.flat_map(|key| key.split(['|', ',']));
        let cables = tables.get("CABLE_LENGTH").into_iter().flatten();
        let cables = cables.flat_map(|(_, row)| row.fields.keys().map(String::as_str));
        let names: BTreeSet<&str> = keys.chain(cables).filter(front).collect();
        Ports { names: PortNames::in_order(names), source: Source::Order }
    }
}

/// Returns true for names such as `Ethernet12`; those of a chassis' inner links have further words.
fn is_front(name: &str) -> bool {
    let digits = name.strip_prefix("Ethernet").unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns numbers as a selector: `0-3,7`.
pub(super) fn ranges(numbers: &[u16]) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u16, u16)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

/// Returns the numbers of `3`, `3-4` or `3,4`, each below `end`.
pub(super) fn numbers(text: &str, end: u16) -> Option<Vec<u16>> {
    let number = |text: &str| text.trim().parse::<u16>().ok().filter(|n| *n < end);
    let range = |part: &str| match part.split_once('-') {
        None => number(part).map(|n| n..=n),
        Some((first, last)) => Some(number(first)?..=number(last)?).filter(|range| !range.is_empty()),
    };
    let parts: Option<Vec<_>> = text.split(',').map(range).collect();
    Some(parts?.into_iter().flatten().collect())
}

/// Returns the entries of ports; ports with the same settings share theirs.
pub(super) fn entries(plans: &BTreeMap<u16, PortPlan>) -> Vec<PortEntry> {
    let mut by: BTreeMap<(Option<Length>, Vec<u16>), Vec<u16>> = BTreeMap::new();
    for (port, plan) in plans {
        let pfc = plan.pfc.iter().map(|p| u16::from(*p)).collect();
        by.entry((plan.cable, pfc)).or_default().push(*port);
    }
    let entry = |((cable, pfc), ports): ((Option<Length>, Vec<u16>), Vec<u16>)| PortEntry {
        ports: ranges(&ports),
        cable,
        partition: None,
        ingress_limit: None,
        egress_limit: None,
        pfc_enable: Some(ranges(&pfc)),
    };
    by.into_iter().map(entry).collect()
}

impl Reader<'_> {
    pub(super) fn ports_note(&mut self) {
        let mut all = self.ports.names.iter();
        let (Some((first, a)), last) = (all.next(), all.last()) else { return };
        let span = match last {
            Some((last, b)) => format!("{} is port {first} .. {} is port {last}", a.name, b.name),
            None => format!("{} is port {first}", a.name),
        };
        match self.ports.source {
            Source::Map => {}
            Source::Table => {
                self.note(format!("ports are those of PORT in the order of their names: {span}"))
            }
            Source::Order => {
                self.note(format!(
                    "there is no table PORT: ports are all that the tables name, in that order: {span}"
                ));
            }
        }
    }

    /// Returns the front-panel ports that the names in a key stand for, such as `Ethernet0,Ethernet4`. In a chassis the
    /// names of the card and of the ASIC come first.
    pub(super) fn front(&mut self, of: (&str, &str, &Row), names: &str) -> Vec<u16> {
        let names = names.rsplit('|').next().unwrap_or(names);
        let mut found = Vec::new();
        for name in names.split(',').map(str::trim) {
            match self.ports.names.front(name) {
                Some(front) => found.push(front.0),
                None if !is_front(name) => {
                    self.note(format!("{}: rows of {name} are left out: it is no front-panel port", of.0));
                }
                None => {
                    let what = match self.ports.source {
                        Source::Map => "the port map",
                        Source::Table | Source::Order => "PORT",
                    };
                    let near = self.ports.names.did_you_mean(name);
                    let text = format!("{what} has no port `{name}`; expected one of its ports{near}");
                    self.wrong(of, "", text);
                }
            }
        }
        found
    }

    /// Splits a key such as `Ethernet0|3-4` into ports and numbers below `end`.
    pub(super) fn split(&mut self, of: (&str, &str, &Row), end: u16) -> Option<(Vec<u16>, Vec<u16>)> {
        let parts = of.1.rsplit_once('|').and_then(|(names, of)| Some((names, numbers(of, end)?)));
        let Some((names, numbers)) = parts else {
            let last = end - 1;
            self.wrong(of, "", format!("expected ports and numbers of 0 to {last}, such as `Ethernet0|3-4`"));
            return None;
        };
        Some((self.front(of, names), numbers))
    }

    /// Returns the plans of all ports with groups, PFC priorities and cables, and the groups that are lossless by PFC alone.
    pub(super) fn groups(&mut self) -> (BTreeMap<u16, PortPlan>, Groups) {
        let mut plans: BTreeMap<u16, PortPlan> =
            self.ports.names.iter().map(|(front, _)| (front.0, PortPlan::default())).collect();
        let mut lossless = Groups::new();
        for (key, row) in self.rows("BUFFER_PG") {
            let of = ("BUFFER_PG", key.as_str(), &row);
            let Some((ports, groups)) = self.split(of, 8) else { continue };
            let profile = row.get("profile").unwrap_or_default().to_owned();
            let looked_up = profile == "NULL";
            if !looked_up && !self.exists(of, "profile", "BUFFER_PROFILE", &profile) {
                continue;
            }
            for (port, group) in ports.iter().flat_map(|p| groups.iter().map(|g| (*p, *g as u8))) {
                if looked_up {
                    let place = ("BUFFER_PG".to_owned(), key.clone(), "profile".to_owned());
                    lossless.entry(port).or_default().insert(group, place);
                } else {
                    plans.entry(port).or_default().groups.insert(group, profile.clone());
                }
            }
        }
        self.pfc(&mut plans, &mut lossless);
        self.cables(&mut plans);
        (plans, lossless)
    }

    fn pfc(&mut self, plans: &mut BTreeMap<u16, PortPlan>, lossless: &mut Groups) {
        for (key, row) in self.rows("PORT_QOS_MAP") {
            let Some(text) = row.get("pfc_enable") else { continue };
            let of = ("PORT_QOS_MAP", key.as_str(), &row);
            let Some(priorities) = numbers(text, 8) else {
                self.wrong(
                    of,
                    "pfc_enable",
                    format!("found `{text}`; expected priorities of 0 to 7, such as `3,4`"),
                );
                continue;
            };
            for port in self.front(of, &key) {
                let plan = plans.entry(port).or_default();
                for priority in priorities.iter().map(|p| *p as u8) {
                    plan.pfc.insert(priority);
                    let place = ("PORT_QOS_MAP".to_owned(), key.clone(), "pfc_enable".to_owned());
                    lossless.entry(port).or_default().entry(priority).or_insert(place);
                }
            }
        }
    }

    fn cables(&mut self, plans: &mut BTreeMap<u16, PortPlan>) {
        for (key, row) in self.rows("CABLE_LENGTH") {
            for (name, text) in &row.fields {
                let of = ("CABLE_LENGTH", key.as_str(), &row);
                let length = match text.parse::<Length>() {
                    Ok(length) => length,
                    Err(e) => {
                        self.wrong(of, name, e.to_string());
                        continue;
                    }
                };
                for port in self.front(of, name) {
                    plans.entry(port).or_default().cable = Some(length);
                }
            }
        }
    }

    /// Returns the groups whose profiles have headroom.
    pub(super) fn groups_with_headroom(&self, plans: &BTreeMap<u16, PortPlan>) -> Groups {
        let profiles = self.tables.get("BUFFER_PROFILE");
        let headroom = |name: &String| {
            profiles.and_then(|rows| rows.get(name)).is_some_and(|row| row.get("xoff").is_some())
        };
        let mut lossless = Groups::new();
        for (port, plan) in plans {
            for (group, _) in plan.groups.iter().filter(|(_, profile)| headroom(profile)) {
                let place = ("BUFFER_PG".to_owned(), String::new(), String::new());
                lossless.entry(*port).or_default().insert(*group, place);
            }
        }
        lossless
    }
}
