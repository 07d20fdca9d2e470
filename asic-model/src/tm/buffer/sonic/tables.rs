//! Texts of SONiC as tables.

use super::{SonicProblem, SonicText};
use crate::units::{BitRate, Bytes, Length};
use serde_json::Value;
use std::collections::BTreeMap;

/// Tables by name; rows by key.
pub(super) type Tables = BTreeMap<String, BTreeMap<String, Row>>;

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// The file that has it.
    pub(super) origin: String,
    pub(super) fields: BTreeMap<String, String>,
}

impl Row {
    pub(super) fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

/// A line of a `pg_profile_lookup.ini`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lookup {
    pub(super) speed: BitRate,
    pub(super) cable: Length,
    pub(super) size: Bytes,
    pub(super) xon: Bytes,
    pub(super) xoff: Bytes,
    /// `dynamic_th` or `static_th`, as the pool's mode says.
    pub(super) threshold: i64,
    pub(super) xon_offset: Bytes,
}

/// Tables that are converted.
pub(super) const USED: [&str; 16] = [
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "DOT1P_TO_TC_MAP",
    "DSCP_TO_TC_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_WD",
    "PORT",
    "PORT_QOS_MAP",
    "QUEUE",
    "SCHEDULER",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "WRED_PROFILE",
];

/// Tables of buffers and QoS that are not converted, with the reason.
pub(super) const UNMODELLED: [(&str, &str); 13] = [
    ("BUFFER_PORT_EGRESS_PROFILE_LIST", "the model has no limits of a port on single egress pools"),
    ("BUFFER_PORT_INGRESS_PROFILE_LIST", "the model has no limits of a port on single ingress pools"),
    (
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
        "headroom is not computed: it comes from profiles or pg_profile_lookup.ini",
    ),
    ("LOSSLESS_TRAFFIC_PATTERN", "headroom is not computed: it comes from profiles or pg_profile_lookup.ini"),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "priority group n pauses priority n"),
    ("TC_TO_DSCP_MAP", "the device rewrites no DSCP; a program may"),
    ("TC_TO_DOT1P_MAP", "the device rewrites no PCP; a program may"),
    ("DSCP_TO_FC_MAP", "the model has no forwarding classes"),
    ("EXP_TO_FC_MAP", "the model has no forwarding classes"),
    ("MPLS_TC_TO_TC_MAP", "a class table has the key DSCP or PCP, not MPLS"),
    ("TUNNEL", "tunnels, and so their QoS maps, are a program's"),
    ("POLICER", "policers are a program's"),
    ("PORT_STORM_CONTROL", "the device has no storm control"),
];

/// Beginning and end of the names of fields.
type Names = &'static [(&'static str, &'static str)];

/// Fields that are converted, by table. `BUFFER_PROFILE` names its own; all fields of maps are.
pub(super) const FIELDS: [(&str, Names); 9] = [
    ("BUFFER_PG", &[("profile", "")]),
    ("BUFFER_POOL", &[("mode", ""), ("size", ""), ("type", ""), ("xoff", "")]),
    ("BUFFER_QUEUE", &[("profile", "")]),
    ("PFC_WD", &[("POLL_INTERVAL", ""), ("detection_time", ""), ("restoration_time", ""), ("action", "")]),
    ("PORT", &[]),
    (
        "PORT_QOS_MAP",
        &[
            ("dscp_to_tc_map", ""),
            ("dot1p_to_tc_map", ""),
            ("tc_to_pg_map", ""),
            ("tc_to_queue_map", ""),
            ("pfc_enable", ""),
            ("pfc_to_queue_map", ""),
        ],
    ),
    ("QUEUE", &[("scheduler", ""), ("wred_profile", "")]),
    ("SCHEDULER", &[("type", ""), ("weight", "")]),
    (
        "WRED_PROFILE",
        &[
            ("ecn", ""),
            ("wred_", "_enable"),
            ("", "_min_threshold"),
            ("", "_max_threshold"),
            ("", "_drop_probability"),
        ],
    ),
];

/// All texts together.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) tables: Tables,
    pub(super) lookup: Vec<Lookup>,
    /// Sentences about entries that are left out.
    pub(super) notes: Vec<String>,
}

/// Parses all texts.
pub(super) fn parse(texts: &[SonicText<'_>]) -> Result<Parsed, Vec<SonicProblem>> {
    let (Parsed { mut tables, mut lookup, mut notes }, mut problems) = (Parsed::default(), Vec::new());
    for text in texts {
        let result = match text.text.trim_start().starts_with(['{', '[']) {
            true => json(*text, &mut tables, &mut notes),
            false => lines(*text, &mut lookup),
        };
        problems.extend(result.err());
    }
    if problems.is_empty() && !tables.contains_key("BUFFER_POOL") {
        let origin = texts.first().map_or("", |text| text.name).to_owned();
        let found: Vec<&str> = tables.keys().map(String::as_str).collect();
        let found = if found.is_empty() { "no table".to_owned() } else { found.join(", ") };
        let message =
            format!("the files have no such table; found {found}. Join the file that has it with `+`");
        problems.push(SonicProblem { origin, place: "BUFFER_POOL".to_owned(), message });
    }
    if problems.is_empty() { Ok(Parsed { tables, lookup, notes }) } else { Err(problems) }
}

fn problem(origin: &str, place: impl Into<String>, message: impl Into<String>) -> SonicProblem {
    SonicProblem { origin: origin.to_owned(), place: place.into(), message: message.into() }
}

fn json(
    SonicText { name, text }: SonicText<'_>,
    tables: &mut Tables,
    notes: &mut Vec<String>,
) -> Result<(), SonicProblem> {
    let value: Value =
        serde_json::from_str(text).map_err(|e| problem(name, e.line().to_string(), e.to_string()))?;
    let expected =
        "expected tables with rows: {\"BUFFER_POOL\": {\"ingress_lossless_pool\": {\"size\": ..}}, ..}";
    let all = value.as_object().ok_or_else(|| problem(name, "1", format!("found a list; {expected}")))?;
    let mut others = Vec::new();
    for (table, rows) in all {
        let Some(rows) = rows.as_object() else {
            if USED.contains(&table.as_str()) {
                return Err(problem(name, table, format!("found no rows; {expected}")));
            }
            others.push(table.as_str());
            continue;
        };
        if !rows.values().all(Value::is_object) && !USED.contains(&table.as_str()) {
            // A row of APPL_DB names its table in its key; that of a table in use would be lost.
            match table.split_once(['|', ':']).filter(|(of, _)| USED.contains(of)) {
                Some((of, key)) => {
                    let text = format!(
                        "a row by its key; expected {{\"{of}\": {{\"{key}\": {{..}}}}}}, as in config_db.json"
                    );
                    return Err(problem(name, table, text));
                }
                None => others.push(table.as_str()),
            }
            continue;
        }
        let into = tables.entry(table.clone()).or_default();
        for (key, fields) in rows {
            let Some(fields) = fields.as_object() else {
                return Err(problem(name, format!("{table}|{key}"), format!("found no fields; {expected}")));
            };
            let fields = fields.iter().filter(|(field, _)| *field != "NULL");
            let fields = fields.map(|(field, value)| (field.clone(), word(value))).collect();
            into.insert(key.clone(), Row { origin: name.to_owned(), fields });
        }
    }
    if !others.is_empty() {
        notes.push(format!("{name}: entries that are no tables are left out: {}", others.join(", ")));
    }
    Ok(())
}

/// Returns a value as SONiC's database holds it: lists are joined by commas.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => unwrapped(text).to_owned(),
        Value::Array(list) => list.iter().map(word).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Returns a name without the brackets and the table of older releases: `[BUFFER_POOL|x]` is `x`.
fn unwrapped(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.map_or(text, |inner| inner.split_once('|').map_or(inner, |(_, name)| name))
}

fn lines(SonicText { name, text }: SonicText<'_>, lookup: &mut Vec<Lookup>) -> Result<(), SonicProblem> {
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let row = of_line(line).ok_or_else(|| {
            let expected = "speed in Mb/s, cable, size, xon, xoff, threshold and perhaps xon_offset, such as \
                            `100000 5m 1248 2288 165568 0 2288`";
            problem(name, format!("{number}"), format!("found `{line}`; expected {expected}"))
        })?;
        lookup.push(row);
    }
    Ok(())
}

fn of_line(line: &str) -> Option<Lookup> {
    let cells: Vec<&str> = line.split_whitespace().collect();
    let [speed, cable, size, xon, xoff, threshold, offset @ ..] = cells.as_slice() else { return None };
    let bytes = |text: &str| text.parse().ok().map(Bytes);
    Some(Lookup {
        speed: BitRate::from_bps(speed.parse::<u64>().ok()?.checked_mul(1_000_000)?),
        cable: cable.parse().ok()?,
        size: bytes(size)?,
        xon: bytes(xon)?,
        xoff: bytes(xoff)?,
        threshold: threshold.parse().ok()?,
        xon_offset: match offset {
            [] => Bytes::ZERO,
            [offset] => bytes(offset)?,
            _ => return None,
        },
    })
}
