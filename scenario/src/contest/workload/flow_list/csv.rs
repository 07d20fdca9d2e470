//! Lists of flows as comma-separated values with a line of column names.
//!
//! | column | content |
//! |---|---|
//! | `from`, `to` | host: its number, address or name |
//! | `bytes` | at least 1; a number, or with a unit: `64KB` |
//! | `start` | earliest start after the workload's begin; ns, or with a unit: `1.5us`; empty: 0 |
//! | `id` | name of the flow for `after`; its number, from 1, if empty |
//! | `after` | flows of earlier lines that this one waits for, separated by spaces: `ID`, or `ID+5us` with a delay. A flow that ends at this one's sender must have arrived, a flow of the same sender must be acknowledged |
//! | `delay` | delay after each flow of `after`, in addition; ns, or with a unit |
//! | `until` | the flow is not sent if it would be ready at this time after the workload's begin or later; or `unlimited`: it is not missed if what it waits for does not happen |
//! | `port` | UDP source port; drawn by the seed if empty |
//! | `transport` | name of a transport of the hosts |
//!
//! `from`, `to` and `bytes` are needed. Columns may stand in any order. `src`, `dst` and `sport` are other names of `from`, `to` and
//! `port`, so that a list for a generator of packets is a list of messages as well.

use super::{FlowList, FlowListError, FlowRow, number};
use crate::contest::workload::{HostTable, MOST, Plan};
use ::csv::{Error, Position, ReaderBuilder, StringRecord, Trim};
use sluice_asic::units::{Bytes, Duration, Time};
use std::collections::BTreeMap;
use std::fmt::Write;

const COLUMNS: [&str; 10] =
    ["id", "from", "to", "bytes", "start", "port", "after", "delay", "until", "transport"];
/// Names of columns in lists for generators of packets, with ours.
const OTHER_NAMES: [(&str, &str); 3] = [("src", "from"), ("dst", "to"), ("sport", "port")];
/// The value of `until` without a limit.
const UNLIMITED: &str = "unlimited";

/// Parses a list.
///
/// # Errors
/// If a column is unknown, missing or twice there, a value has another form, or a flow waits for one that is not above it.
pub(super) fn parse(origin: &str, text: &str) -> Result<FlowList, FlowListError> {
    let error = |line: usize, what: String| FlowListError { origin: origin.to_owned(), line, what };
    let mut reader = ReaderBuilder::new().trim(Trim::All).comment(Some(b'#')).from_reader(text.as_bytes());
    let at = |e: &Error| e.position().map_or(1, |position| position.line() as usize);
    let header = reader.headers().map_err(|e| error(at(&e), e.to_string()))?.clone();
    let columns = Columns::of(&header).map_err(|what| error(1, what))?;
    let (mut flows, mut ids): (Vec<FlowRow>, BTreeMap<String, u32>) = (Vec::new(), BTreeMap::new());
    for record in reader.records() {
        let record = record.map_err(|e| error(at(&e), e.to_string()))?;
        let line = record.position().map_or(1, |position| line_of(text, position));
        let row = Row { columns: &columns, record: &record };
        let flow = row.flow(&ids, line).map_err(|what| error(line, what))?;
        if flows.len() >= MOST {
            return Err(error(line, format!("more than {MOST} flows")));
        }
        let number = flows.len() as u32;
        let id = row.get("id").map_or_else(|| (number + 1).to_string(), str::to_owned);
        flows.push(flow);
        if ids.insert(id.clone(), number).is_some() {
            return Err(error(line, format!("id: another flow has the id `{id}`")));
        }
    }
    Ok(FlowList { origin: origin.to_owned(), flows, from_first: false })
}

/// Returns the line of a record. The reader's position may be before empty lines and comments.
fn line_of(text: &str, position: &Position) -> usize {
    let rest = text.get(position.byte() as usize..).unwrap_or_default();
    let empty = |line: &&str| line.trim_end_matches('\r').is_empty() || line.starts_with('#');
    position.line() as usize + rest.split('\n').take_while(empty).count()
}

/// Place of each known column in the file.
struct Columns([Option<usize>; COLUMNS.len()]);

impl Columns {
    fn of(header: &StringRecord) -> Result<Columns, String> {
        let mut places = [None; COLUMNS.len()];
        for (place, name) in header.iter().enumerate() {
            let known = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, known)| known);
            let Some(column) = COLUMNS.iter().position(|column| *column == known) else {
                return Err(format!("found column `{name}`, expected {}", COLUMNS.join(", ")));
            };
            if places[column].replace(place).is_some() {
                return Err(format!("found column `{known}` twice"));
            }
        }
        let columns = Columns(places);
        match ["from", "to", "bytes"].into_iter().find(|name| columns.place(name).is_none()) {
            Some(name) => Err(format!("found no column `{name}`, expected at least from, to, bytes")),
            None => Ok(columns),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        COLUMNS.iter().position(|known| *known == name).and_then(|column| self.0[column])
    }
}

struct Row<'r> {
    columns: &'r Columns,
    record: &'r StringRecord,
}

impl<'r> Row<'r> {
    /// Returns a value, `None` if it is empty or the column is not there.
    fn get(&self, name: &str) -> Option<&'r str> {
        self.record.get(self.columns.place(name)?).filter(|text| !text.is_empty())
    }

    fn needed(&self, name: &str) -> Result<&'r str, String> {
        self.get(name).ok_or_else(|| format!("{name}: is empty"))
    }

    fn flow(&self, ids: &BTreeMap<String, u32>, line: usize) -> Result<FlowRow, String> {
        let (from, to) = (self.needed("from")?.to_owned(), self.needed("to")?.to_owned());
        let bytes = bytes(self.needed("bytes")?).map_err(|what| format!("bytes: {what}"))?;
        if from == to {
            return Err("to: the flow goes to its own sender".to_owned());
        }
        let time = |name: &str| match self.get(name) {
            Some(text) => time(text).map_err(|what| format!("{name}: {what}")),
            None => Ok(Duration::ZERO),
        };
        let delay = time("delay")?;
        let mut after = Vec::new();
        for word in self.get("after").unwrap_or_default().split_whitespace() {
            after.push(need(word, ids, delay).map_err(|what| format!("after: {what}"))?);
        }
        let until = match self.get("until") {
            None => None,
            Some(UNLIMITED) => Some(Time::MAX),
            Some(_) => Some(Time::ORIGIN + time("until")?),
        };
        Ok(FlowRow {
            from,
            to,
            bytes,
            start: time("start")?,
            port: self.get("port").map(number).transpose().map_err(|what| format!("port: {what}"))?,
            after,
            until,
            transport: self.get("transport").map(str::to_owned),
            line,
        })
    }
}

fn need(word: &str, ids: &BTreeMap<String, u32>, delay: Duration) -> Result<(u32, Duration), String> {
    // An id may have a `+` of its own.
    if let Some(flow) = ids.get(word) {
        return Ok((*flow, delay));
    }
    let split = word.rsplit_once('+').and_then(|(id, own)| Some((*ids.get(id)?, own)));
    let Some((flow, own)) = split else {
        return Err(format!("found `{word}`, expected the id of a flow above this line, or ID+5us"));
    };
    let own = time(own)?;
    own.checked_add(delay).map(|delay| (flow, delay)).ok_or_else(|| format!("`{word}` is too late"))
}

fn bytes(text: &str) -> Result<u64, String> {
    let found = text.parse().ok().or_else(|| text.parse::<Bytes>().ok().map(|bytes| bytes.0));
    found.filter(|bytes| *bytes >= 1).ok_or_else(|| {
        format!("found `{text}`, expected a number of bytes such as 65536 or 64KB, at least 1")
    })
}

/// Parses a time with a unit, or a whole number of ns.
fn time(text: &str) -> Result<Duration, String> {
    if let Ok(ns) = text.parse::<u64>() {
        return Duration::from_nanos(1)
            .checked_mul(ns)
            .ok_or_else(|| format!("found `{text}`, expected at most 213 days"));
    }
    text.parse().map_err(|_| format!("found `{text}`, expected a number of ns, or a time such as 1.5us"))
}

/// Returns the messages of one workload of a plan as such a list. `transports` has the names of the hosts' transports.
/// Read back with the same `begin`, the list gives the same messages.
#[must_use]
pub(crate) fn written(
    plan: &Plan,
    workload: u8,
    begin: Time,
    hosts: &HostTable,
    transports: &[String],
) -> String {
    let mut text = String::from("id,from,to,bytes,start,port,after,until,transport\n");
    let own = plan.messages.iter().enumerate().filter(|(_, message)| message.workload == workload);
    for (number, message) in own {
        let start = message.when.start.saturating_since(begin).as_ps();
        let mut after = String::new();
        for need in message.when.gate.map_or(&[][..], |gate| plan.needs(gate)) {
            let space = if after.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(after, "{space}{}", need.message + 1);
            if need.delay > Duration::ZERO {
                let _ = write!(after, "+{}ps", need.delay.as_ps());
            }
        }
        let until = match message.when.until {
            None => String::new(),
            Some(Time::MAX) => UNLIMITED.to_owned(),
            Some(until) => format!("{}ps", until.saturating_since(begin).as_ps()),
        };
        let transport = transports.get(usize::from(message.transport)).map_or("", String::as_str);
        let (id, from, to) = (number + 1, hosts.number(message.from), hosts.number(message.to));
        let (bytes, port) = (message.bytes, message.port);
        let _ = writeln!(text, "{id},{from},{to},{bytes},{start}ps,{port},{after},{until},{transport}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_for_a_generator_has_other_names_for_three_columns() {
        let of = |names: &str| {
            FlowList::parse("f.csv", &format!("{names},bytes\n0,1,50000,64KB\n")).map(|list| list.flows)
        };
        assert_eq!(of("src,dst,sport").unwrap(), of("from,to,port").unwrap());
        assert!(of("from,dst,src").unwrap_err().to_string().contains("found column `from` twice"));
    }

    #[test]
    fn columns_stand_in_any_order_and_times_have_units() {
        let text = "# a comment\nbytes, to, from, start, after, id, delay, until, port\n\
                    64KB, 10.0.0.2, leaf0-h0, 1.5us, , a, , , 50000\n\
                    100, 0, 1, 250, , , , unlimited,\n\
                    1, 3, 1, , a+2us 2, , 10, 1ms,\n";
        let list = FlowList::parse("f.csv", text).unwrap();
        let us = Duration::from_micros;
        let flow = |from: &str, to: &str, bytes, start, line| FlowRow {
            from: from.into(),
            to: to.into(),
            bytes,
            start,
            port: None,
            after: Vec::new(),
            until: None,
            transport: None,
            line,
        };
        let first = flow("leaf0-h0", "10.0.0.2", 64_000, Duration::from_nanos(1_500), 3);
        let second = flow("1", "0", 100, Duration::from_nanos(250), 4);
        let third = flow("1", "3", 1, Duration::ZERO, 5);
        let ns = Duration::from_nanos;
        assert_eq!(
            list.flows,
            [
                FlowRow { port: Some(50_000), ..first },
                FlowRow { until: Some(Time::MAX), ..second },
                FlowRow {
                    after: vec![(0, ns(2_010)), (1, ns(10))],
                    until: Some(Time::ORIGIN + us(1_000)),
                    ..third
                },
            ]
        );
    }

    #[test]
    fn errors_name_line_and_value() {
        for (text, expected) in [
            ("from,to", "f:1: found no column `bytes`"),
            ("from,to,size", "f:1: found column `size`, expected id, from"),
            ("from,to,bytes,to", "f:1: found column `to` twice"),
            ("from,to,bytes\n1,2\n", "f:2: "),
            ("from,to,bytes\n1,,3\n", "f:2: to: is empty"),
            ("from,to,bytes\n1,2,0\n", "f:2: bytes: found `0`, expected a number of bytes"),
            ("from,to,bytes\n\n1,1,5\n", "f:3: to: the flow goes to its own sender"),
            ("from,to,bytes,start\n1,2,3,soon\n", "f:2: start: found `soon`, expected a number of ns"),
            ("from,to,bytes,port\n1,2,3,70000\n", "f:2: port: found `70000`"),
            ("from,to,bytes,after\n1,2,3,1\n", "f:2: after: found `1`, expected the id of a flow above"),
            ("from,to,bytes,id\n1,2,3,a\n2,1,3,a\n", "f:3: id: another flow has the id `a`"),
            ("from,to,bytes,after\n1,2,3,\n2,1,3,1+x\n", "f:3: after: found `x`, expected"),
            ("from,to,bytes,start\n1,2,3,99999999999999999999s\n", "f:2: start: found"),
        ] {
            let error = FlowList::parse("f", text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
