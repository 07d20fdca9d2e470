//! Queues of the tables: profiles, ECN profiles, and the PFC priorities that pause them.

use super::ports::{numbers, ranges};
use super::tables::Row;
use super::{PortPlan, Reader};
use crate::tm::buffer::file::QueueEntry;
use std::collections::{BTreeMap, BTreeSet};

/// Settings of one queue, joined from all tables.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueuePlan {
    pub(super) profile: Option<String>,
    pub(super) ecn: Option<String>,
    /// PFC priority that pauses the queue, if it is not the queue's own number.
    pub(super) priority: Option<u8>,
}

/// Most queues of a port.
const QUEUES: u16 = 128;

/// Returns the entries of queues; ports with the same queues share theirs. A queue without a profile is left to the default
/// entry,
/// whose name is in `profile` by then.
pub(super) fn entries(plans: &BTreeMap<u16, PortPlan>) -> Vec<QueueEntry> {
    let mut by: BTreeMap<(&QueuePlan, Vec<u16>), Vec<u16>> = BTreeMap::new();
    for (port, plan) in plans {
        let kinds: BTreeSet<&QueuePlan> = plan.queues.values().collect();
        for kind in kinds {
            let queues = plan.queues.iter().filter(|(_, queue)| *queue == kind).map(|(queue, _)| *queue);
            by.entry((kind, queues.collect())).or_default().push(*port);
        }
    }
    let entry = |((kind, queues), ports): ((&QueuePlan, Vec<u16>), Vec<u16>)| QueueEntry {
        ports: ranges(&ports),
        queues: ranges(&queues),
        profile: kind.profile.clone().unwrap_or_default(),
        ecn: kind.ecn.clone(),
        priority: kind.priority.map(i64::from),
    };
    by.into_iter().map(entry).collect()
}

impl Reader<'_> {
    /// Adds the queues of all ports to their plans.
    pub(super) fn queues(&mut self, plans: &mut BTreeMap<u16, PortPlan>) {
        self.each_queue("BUFFER_QUEUE", "profile", "BUFFER_PROFILE", plans, |queue, name| {
            queue.profile = Some(name)
        });
        self.each_queue("QUEUE", "wred_profile", "WRED_PROFILE", plans, |queue, name| queue.ecn = Some(name));
        self.schedulers();
        self.priorities(plans);
    }

    /// Calls `set` for each queue of a table with the name that a field has; the name is a row of `of`.
    fn each_queue(
        &mut self,
        table: &str,
        field: &str,
        of: &str,
        plans: &mut BTreeMap<u16, PortPlan>,
        set: impl Fn(&mut QueuePlan, String),
    ) {
        for (key, row) in self.rows(table) {
            let Some(name) = row.get(field) else { continue };
            let place = (table, key.as_str(), &row);
            let Some((ports, queues)) = self.split(place, QUEUES) else { continue };
            if !self.exists(place, field, of, name) {
                continue;
            }
            for port in ports {
                for queue in &queues {
                    set(plans.entry(port).or_default().queues.entry(*queue).or_default(), name.to_owned());
                }
            }
        }
    }

    /// Says which schedulers the queues have; they are a setting of the run, not of the buffer.
    fn schedulers(&mut self) {
        let mut kinds: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (key, row) in self.rows("QUEUE") {
            let Some(name) = row.get("scheduler") else { continue };
            if self.exists(("QUEUE", &key, &row), "scheduler", "SCHEDULER", name) {
                let row = self.tables["SCHEDULER"][name].clone();
                let weight = row.get("weight").map_or(String::new(), |weight| format!(" {weight}"));
                let kind = format!("{}{weight}", row.get("type").unwrap_or("STRICT"));
                let queue = key.rsplit('|').next().unwrap_or_default().to_owned();
                kinds.entry(kind).or_default().insert(queue);
            }
        }
        if !kinds.is_empty() {
            let text = |(kind, queues): (&String, &BTreeSet<String>)| {
                format!("{kind} for queues {}", queues.iter().cloned().collect::<Vec<_>>().join(","))
            };
            let all = kinds.iter().map(text).collect::<Vec<_>>().join("; ");
            self.note(format!("SCHEDULER: --scheduler chooses instead; the tables have {all}"));
        }
    }

    /// Sets the priorities that pause queues where they differ from the queues' own numbers.
    fn priorities(&mut self, plans: &mut BTreeMap<u16, PortPlan>) {
        for (key, row) in self.rows("PORT_QOS_MAP") {
            let of = ("PORT_QOS_MAP", key.as_str(), &row);
            let Some(name) = row.get("pfc_to_queue_map") else { continue };
            const MAP: &str = "MAP_PFC_PRIORITY_TO_QUEUE";
            if key == "global" || !self.exists(of, "pfc_to_queue_map", MAP, name) {
                continue;
            }
            let map = self.tables[MAP][name].clone();
            let pairs: Vec<(u8, u16)> =
                map.fields.iter().filter_map(|pair| self.pair((MAP, name, &map), pair)).collect();
            for port in self.front(of, &key) {
                for (priority, queue) in
                    pairs.iter().filter(|(priority, queue)| u16::from(*priority) != *queue)
                {
                    let plan = plans.entry(port).or_default().queues.entry(*queue).or_default();
                    plan.priority = Some(*priority);
                    if !pairs.iter().any(|(_, queue)| *queue == u16::from(*priority)) {
                        let text = format!(
                            "priority {priority} also pauses queue {priority}, which the map leads nowhere"
                        );
                        self.note(format!("{MAP}|{name}: {text}"));
                    }
                }
            }
        }
    }

    /// Returns a priority and the queue to which it leads.
    fn pair(&mut self, of: (&str, &str, &Row), (from, to): (&String, &String)) -> Option<(u8, u16)> {
        let one = |text: &str, end: u16| numbers(text, end).and_then(|list| <[u16; 1]>::try_from(list).ok());
        let (Some([from_number]), Some([to_number])) = (one(from, 8), one(to, QUEUES)) else {
            self.wrong(of, from, format!("found `{to}`; expected a queue of 0 to {}", QUEUES - 1));
            return None;
        };
        Some((from_number as u8, to_number))
    }
}
