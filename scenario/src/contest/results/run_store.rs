//! A finished run as text, so that it need not be run again.
//!
//! The record of a run has everything but its messages, which are a table. Slowdowns are not kept: they follow from the
//! times of the messages and the ideal times of all programs of the contest.

use super::ideal_times::IdealTimes;
use super::performance::{Performance, Sent, Unfinished};
use super::samples::{LinkSamples, Samples, SwitchSamples};
use crate::contest::file::contest::Contest;
use serde_json::{Map, Value, json};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::{Completion, Left, Message};
use std::net::Ipv4Addr;
use thiserror::Error;

/// One run of a contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunKey {
    /// Index of the program in the file.
    pub program: usize,
    /// The seed.
    pub seed: u64,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// The results; `fastest` of its messages equals `own`.
    pub performance: Performance,
    /// Ideal times with this program.
    pub alone: IdealTimes,
}

/// Keeps finished runs.
pub trait RunStore: Sync {
    /// Returns a run that is finished.
    fn find(&self, run: RunKey) -> Option<KeptRun>;

    /// Takes a run that has finished; called on any thread.
    ///
    /// # Errors
    /// If the run cannot be kept; the contest stops.
    fn keep(&self, run: RunKey, done: &KeptRun) -> Result<(), String>;
}

/// A store that has no run and forgets those that finish.
impl RunStore for () {
    fn find(&self, _: RunKey) -> Option<KeptRun> {
        None
    }

    fn keep(&self, _: RunKey, _: &KeptRun) -> Result<(), String> {
        Ok(())
    }
}

/// Error: a text is not the record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the record of a run has no usable `{0}`")]
pub struct KeptError(&'static str);

type Read<T> = Result<T, KeptError>;

impl KeptRun {
    /// Sets the settings of a contest that say how messages are judged, and relates the messages to the fastest program.
    pub(crate) fn relate(&mut self, contest: &Contest, fastest: &IdealTimes) {
        let KeptRun { performance, alone } = self;
        performance.slowdown = contest.alone;
        performance.bins = contest.metrics.bins();
        performance.window = contest.workload.window();
        performance.workloads = contest.workload.list.iter().map(|w| w.name.clone()).collect();
        for sent in &mut performance.sent {
            sent.fastest = alone.related(fastest, sent).unwrap_or(sent.own);
        }
    }

    /// Returns the record, without the completed messages.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let KeptRun { performance, alone } = self;
        let times = alone.times.iter().map(|((from, to), time)| json!([from, to, time.as_ps()]));
        let hosts = alone.class_of.iter().map(|(host, switch)| json!([host.to_string(), switch]));
        json!({
            "messages": performance.sent.len(),
            "counts": performance.counts,
            "deadlocks": performance.deadlocks,
            "warnings": performance.warnings,
            "unfinished": performance.unfinished.iter().map(unfinished).collect::<Vec<_>>(),
            "alone": { "times": times.collect::<Vec<_>>(), "hosts": hosts.collect::<Vec<_>>() },
            "samples": performance.samples.as_ref().map(samples),
        })
    }

    /// Returns the run of a record and its completed messages.
    ///
    /// # Errors
    /// If a part of the record is missing, or the number of messages is not that of the record.
    pub fn from_json(value: &Value, sent: Vec<Sent>) -> Read<KeptRun> {
        if value["messages"].as_u64() != Some(sent.len() as u64) {
            return Err(KeptError("messages"));
        }
        let counts = value["counts"].as_object().ok_or(KeptError("counts"))?;
        let count = |(name, count): (&String, &Value)| Some((name.clone(), count.as_u64()?));
        let mut alone = IdealTimes::default();
        for row in list(&value["alone"], "times")? {
            let number = |at: usize| row[at].as_u64().ok_or(KeptError("times"));
            let way = (number(0)? as u32, number(1)? as u32);
            alone.times.insert(way, Duration::from_ps(number(2)?));
        }
        for row in list(&value["alone"], "hosts")? {
            let switch = row[1].as_u64().ok_or(KeptError("hosts"))?;
            alone.class_of.insert(address(&row[0]).ok_or(KeptError("hosts"))?, switch as u32);
        }
        let samples = &value["samples"];
        let performance = Performance {
            sent,
            unfinished: list(value, "unfinished")?.iter().map(read_unfinished).collect::<Read<_>>()?,
            counts: counts.iter().map(count).collect::<Option<_>>().ok_or(KeptError("counts"))?,
            deadlocks: texts(value, "deadlocks")?,
            warnings: texts(value, "warnings")?,
            samples: if samples.is_null() { None } else { Some(read_samples(samples)?) },
            ..Performance::default()
        };
        Ok(KeptRun { performance, alone })
    }
}

fn list<'a>(value: &'a Value, key: &'static str) -> Read<&'a Vec<Value>> {
    value[key].as_array().ok_or(KeptError(key))
}

fn texts(value: &Value, key: &'static str) -> Read<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list(value, key)?.iter().map(text).collect::<Option<_>>().ok_or(KeptError(key))
}

fn address(value: &Value) -> Option<Ipv4Addr> {
    value.as_str()?.parse().ok()
}

fn unfinished(one: &Unfinished) -> Value {
    let Left { message, acknowledged } = &one.left;
    json!({
        "pair": message.pair,
        "from": one.from.to_string(),
        "to": message.to.to_string(),
        "transport": message.transport,
        "workload": message.workload,
        "udp_source_port": message.port,
        "bytes": message.bytes,
        "start_ps": message.start.as_ps(),
        "acknowledged_packets": acknowledged,
    })
}

fn read_unfinished(value: &Value) -> Read<Unfinished> {
    let number = |key: &str| value[key].as_u64().ok_or(KeptError("unfinished"));
    let host = |key: &str| address(&value[key]).ok_or(KeptError("unfinished"));
    let message = Message {
        pair: number("pair")? as u32,
        transport: number("transport")? as u8,
        workload: number("workload")? as u8,
        start: Time::from_ps(number("start_ps")?),
        to: host("to")?,
        port: number("udp_source_port")? as u16,
        bytes: number("bytes")?,
    };
    Ok(Unfinished {
        from: host("from")?,
        left: Left { message, acknowledged: number("acknowledged_packets")? },
    })
}

fn samples(samples: &Samples) -> Value {
    let link = |link: &LinkSamples| json!({ "name": link.name, "from": link.from, "to": link.to, "up": link.up, "share": link.share });
    let switch = |switch: &SwitchSamples| {
        let mut value =
            Map::from_iter([("name".into(), json!(switch.name)), ("cell".into(), json!(switch.cell))]);
        for (key, column) in COLUMNS {
            value.insert(key.into(), json!(column(switch)));
        }
        Value::Object(value)
    };
    json!({
        "every_ps": samples.every.as_ps(),
        "links": samples.links.iter().map(link).collect::<Vec<_>>(),
        "switches": samples.switches.iter().map(switch).collect::<Vec<_>>(),
        "delivered_bytes": samples.delivered,
    })
}

/// A column of a switch's samples.
type Column = fn(&SwitchSamples) -> &Vec<u32>;

/// Keys of the columns of a switch's samples.
const COLUMNS: [(&str, Column); 5] = [
    ("buffer_cells", |s| &s.buffer),
    ("deepest_queue_cells", |s| &s.deepest),
    ("paused_ports", |s| &s.paused),
    ("reorder_queues", |s| &s.reordering),
    ("reorder_cells", |s| &s.reorder_cells),
];

fn read_samples(value: &Value) -> Read<Samples> {
    const BAD: KeptError = KeptError("samples");
    let numbers = |value: &Value| -> Read<Vec<u32>> {
        let all = value.as_array().ok_or(BAD)?.iter();
        all.map(|n| n.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or(BAD)).collect()
    };
    let text = |value: &Value| value.as_str().map(str::to_owned).ok_or(BAD);
    let link = |value: &Value| -> Read<LinkSamples> {
        let (name, from, to) = (text(&value["name"])?, text(&value["from"])?, text(&value["to"])?);
        let up = value["up"].as_bool().ok_or(BAD)?;
        Ok(LinkSamples { name, from, to, up, share: numbers(&value["share"])? })
    };
    let switch = |value: &Value| -> Read<SwitchSamples> {
        let [buffer, deepest, paused, reordering, reorder_cells] =
            COLUMNS.map(|(key, _)| numbers(&value[key]));
        Ok(SwitchSamples {
            name: text(&value["name"])?,
            cell: value["cell"].as_u64().ok_or(BAD)?,
            buffer: buffer?,
            deepest: deepest?,
            paused: paused?,
            reordering: reordering?,
            reorder_cells: reorder_cells?,
        })
    };
    Ok(Samples {
        every: Duration::from_ps(value["every_ps"].as_u64().ok_or(BAD)?),
        links: list(value, "links")?.iter().map(link).collect::<Read<_>>()?,
        switches: list(value, "switches")?.iter().map(switch).collect::<Read<_>>()?,
        delivered: list(value, "delivered_bytes")?
            .iter()
            .map(|n| n.as_u64().ok_or(BAD))
            .collect::<Read<_>>()?,
    })
}

/// Columns of a table of messages, in this order; all but `from` and `to` are numbers.
pub const MESSAGE_COLUMNS: [&str; 11] = [
    "pair",
    "from",
    "to",
    "transport",
    "workload",
    "udp_source_port",
    "bytes",
    "start_ps",
    "end_ps",
    "own_alone_ps",
    "rate_cuts",
];

/// Returns the values of a message by [`MESSAGE_COLUMNS`]; addresses as numbers of 32 bits.
#[must_use]
pub fn message_row(sent: &Sent) -> [u64; MESSAGE_COLUMNS.len()] {
    let Completion { message, end, cuts } = &sent.completion;
    [
        message.pair.into(),
        sent.from.to_bits().into(),
        message.to.to_bits().into(),
        message.transport.into(),
        message.workload.into(),
        message.port.into(),
        message.bytes,
        message.start.as_ps(),
        end.as_ps(),
        sent.own.as_ps(),
        *cuts,
    ]
}

/// Returns the message of a row as [`message_row`] writes it; `None` if a number is out of range.
#[must_use]
pub fn read_message(row: [u64; MESSAGE_COLUMNS.len()]) -> Option<Sent> {
    let [pair, from, to, transport, workload, port, bytes, start, end, own, cuts] = row;
    let address = |bits: u64| Some(Ipv4Addr::from_bits(u32::try_from(bits).ok()?));
    let message = Message {
        pair: u32::try_from(pair).ok()?,
        transport: u8::try_from(transport).ok()?,
        workload: u8::try_from(workload).ok()?,
        start: Time::from_ps(start),
        to: address(to)?,
        port: u16::try_from(port).ok()?,
        bytes,
    };
    let (completion, own) = (Completion { message, end: Time::from_ps(end), cuts }, Duration::from_ps(own));
    Some(Sent { from: address(from)?, completion, own, fastest: own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_rows_read_back() {
        let message = Message {
            pair: 7,
            transport: 1,
            workload: 2,
            start: Time::from_ps(5),
            to: Ipv4Addr::new(10, 0, 1, 1),
            port: 49_152,
            bytes: 1,
        };
        let own = Duration::from_ps(3);
        let completion = Completion { message, end: Time::from_ps(9), cuts: 2 };
        let sent = Sent { from: Ipv4Addr::new(10, 0, 0, 1), completion, own, fastest: own };
        assert_eq!(read_message(message_row(&sent)), Some(sent));
        assert_eq!(read_message([1 << 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), None);
        let left = Left { message, acknowledged: 4 };
        let link =
            LinkSamples { name: "a:0-b:1".into(), up: true, share: vec![5, 6], ..LinkSamples::default() };
        let switch =
            SwitchSamples { name: "a".into(), cell: 176, buffer: vec![1], ..SwitchSamples::default() };
        let samples = Samples { every: own, links: vec![link], switches: vec![switch], delivered: vec![8] };
        let performance = Performance {
            sent: vec![sent],
            unfinished: vec![Unfinished { from: sent.from, left }],
            counts: [("sent".to_owned(), 3)].into(),
            deadlocks: vec!["a -> b".into()],
            warnings: vec!["switch `a`: careful".into()],
            samples: Some(samples.clone()),
            ..Performance::default()
        };
        let alone = IdealTimes { times: [((0, 1), own)].into(), class_of: [(sent.from, 0)].into() };
        let text = KeptRun { performance, alone: alone.clone() }.to_json().to_string();
        let value: Value = serde_json::from_str(&text).unwrap();
        let back = KeptRun::from_json(&value, vec![sent]).unwrap();
        assert_eq!(back.performance.unfinished, [Unfinished { from: sent.from, left }]);
        assert_eq!((back.performance.count("sent"), back.performance.deadlocks.len()), (3, 1));
        assert_eq!(back.performance.warnings, ["switch `a`: careful"]);
        assert_eq!((back.alone, back.performance.samples), (alone, Some(samples)));
        assert_eq!(KeptRun::from_json(&value, Vec::new()).unwrap_err(), KeptError("messages"));
        for key in ["counts", "deadlocks", "warnings", "unfinished", "alone"] {
            let mut broken = value.clone();
            broken.as_object_mut().unwrap().remove(key);
            assert!(KeptRun::from_json(&broken, vec![sent]).is_err(), "{key}");
        }
    }
}
