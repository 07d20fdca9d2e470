//! Maps of SONiC from code points to classes, and from classes to groups and queues.

use super::Reader;
use super::ports::numbers;
use crate::tm::buffer::file::MapEntry;
use crate::tm::buffer::map::{QosMaps, TRAFFIC_CLASSES};
use std::collections::BTreeMap;

/// Values by key.
type Map = BTreeMap<u8, u8>;

/// The maps of a configuration; `None` for a map that it does not have.
#[derive(Debug, Default)]
pub(super) struct Maps {
    dscp_to_tc: Option<Map>,
    pcp_to_tc: Option<Map>,
    tc_to_pg: Option<Map>,
    tc_to_queue: Option<Map>,
}

/// Field of `PORT_QOS_MAP`, table, number of keys, number of values, and what a value is.
const MAPS: [(&str, &str, u16, u16, &str); 4] = [
    ("dscp_to_tc_map", "DSCP_TO_TC_MAP", 64, CLASSES, "traffic class"),
    ("dot1p_to_tc_map", "DOT1P_TO_TC_MAP", 8, CLASSES, "traffic class"),
    ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", CLASSES, 8, "priority group"),
    ("tc_to_queue_map", "TC_TO_QUEUE_MAP", CLASSES, 128, "queue"),
];

/// Traffic classes that SONiC has.
const CLASSES: u16 = 16;
/// Traffic classes of the model.
const KEPT: u8 = TRAFFIC_CLASSES as u8;

impl Maps {
    /// Returns the maps as keys of a profile. What a map leaves out is as in SONiC's AZURE maps.
    pub(super) fn entry(&self) -> MapEntry {
        let azure = QosMaps::azure();
        let whole = |map: &Option<Map>, azure: &[u8]| match map {
            None => BTreeMap::new(),
            Some(map) => (0..)
                .zip(azure)
                .map(|(key, usual)| (key.to_string(), i64::from(*map.get(&key).unwrap_or(usual))))
                .collect(),
        };
        MapEntry {
            dscp_to_tc: whole(&self.dscp_to_tc, &azure.dscp_to_tc),
            pcp_to_tc: whole(&self.pcp_to_tc, &azure.pcp_to_tc),
            default_tc: 0,
            tc_to_pg: whole(&self.tc_to_pg, &azure.tc_to_pg),
            tc_to_queue: whole(&self.tc_to_queue, &azure.tc_to_queue),
        }
    }

    /// Returns the group and the queue of each traffic class.
    pub(super) fn classes(&self) -> [(u8, u8); TRAFFIC_CLASSES] {
        let azure = QosMaps::azure();
        let of = |map: &Option<Map>, usual: u8, tc: usize| {
            map.as_ref().and_then(|map| map.get(&(tc as u8))).copied().unwrap_or(usual)
        };
        std::array::from_fn(|tc| {
            (of(&self.tc_to_pg, azure.tc_to_pg[tc], tc), of(&self.tc_to_queue, azure.tc_to_queue[tc], tc))
        })
    }
}

impl Reader<'_> {
    /// Returns the maps that most ports use. A port that uses another one is named in a note.
    pub(super) fn maps(&mut self) -> Maps {
        let [mut dscp_to_tc, mut pcp_to_tc, tc_to_pg, tc_to_queue] = MAPS.map(|map| self.map(map));
        for (map, (_, table, ..)) in [&mut dscp_to_tc, &mut pcp_to_tc].into_iter().zip(MAPS) {
            for tc in map.iter_mut().flat_map(BTreeMap::values_mut).filter(|tc| **tc >= KEPT) {
                *tc = self.alike(table, *tc, (tc_to_pg.as_ref(), tc_to_queue.as_ref()));
            }
        }
        Maps { dscp_to_tc, pcp_to_tc, tc_to_pg, tc_to_queue }
    }

    /// Returns a class of the model that has the same group and the same queue as a class beyond them.
    fn alike(&mut self, table: &str, tc: u8, (pg, queue): (Option<&Map>, Option<&Map>)) -> u8 {
        let of = |tc: u8| Some((*pg?.get(&tc)?, *queue?.get(&tc)?));
        let same = of(tc).and_then(|wanted| (0..KEPT).find(|own| of(*own) == Some(wanted)));
        let text = match same {
            Some(own) => format!("class {own}, which has the same priority group and queue, stands for it"),
            None => {
                "no class of 0 to 7 has the same priority group and queue: class 0 stands for it".to_owned()
            }
        };
        self.note(format!("{table}: the model has no traffic class {tc}; {text}"));
        same.unwrap_or(0)
    }

    fn map(&mut self, map: (&str, &str, u16, u16, &str)) -> Option<Map> {
        let (field, table, keys, values, what) = map;
        let name = self.most_used(field, table)?;
        let row = self.tables.get(table)?.get(&name)?.clone();
        let mut found = BTreeMap::new();
        for (from, to) in &row.fields {
            let value = numbers(to, values).and_then(|list| <[u16; 1]>::try_from(list).ok());
            let (Some(from), Some([to])) = (numbers(from, keys), value) else {
                let (last, most) = (values - 1, keys - 1);
                let text = format!("found `{to}`; expected a {what} of 0 to {last} for a key of 0 to {most}");
                self.wrong((table, &name, &row), from, text);
                continue;
            };
            found.extend(from.into_iter().map(|from| (from as u8, to as u8)));
        }
        let missing: Vec<u16> = (0..if keys == CLASSES { KEPT.into() } else { keys })
            .filter(|key| !found.contains_key(&(*key as u8)))
            .collect();
        if !missing.is_empty() {
            let list = super::ports::ranges(&missing);
            self.note(format!("{table}|{name} leaves out {list}, which are as in SONiC's AZURE maps"));
        }
        Some(found)
    }

    /// Returns the name of the map that most ports use, or else the only one of the table.
    fn most_used(&mut self, field: &str, table: &str) -> Option<String> {
        let mut ports: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (key, row) in self.rows("PORT_QOS_MAP") {
            let Some(name) = row.get(field) else { continue };
            if self.exists(("PORT_QOS_MAP", &key, &row), field, table, name) {
                ports.entry(name.to_owned()).or_default().push(key);
            }
        }
        let names: Vec<String> =
            self.tables.get(table).into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let most = ports.iter().max_by_key(|(name, ports)| (ports.len(), std::cmp::Reverse(*name)));
        let chosen = match most {
            Some((name, _)) => name.clone(),
            None => names.first()?.clone(),
        };
        for (other, users) in ports.iter().filter(|(name, _)| **name != chosen) {
            let some = users.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
            let more = if users.len() > 3 { format!(" and {} more", users.len() - 3) } else { String::new() };
            self.note(format!(
                "{table}: {some}{more} use {other}; a switch has one map here, {chosen}, which most use"
            ));
        }
        for unused in names.iter().filter(|name| **name != chosen && !ports.contains_key(*name)) {
            self.note(format!("{table}|{unused}: no port uses it"));
        }
        Some(chosen)
    }
}
