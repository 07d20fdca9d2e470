//! A finished run as text, so that it need not be run again.
//!
//! The record of a run has everything but its messages, which are a table. Slowdowns are not kept: they follow from the
//! times of the messages and the ideal times of all programs of the contest.

use super::ideal_times::IdealTimes;
use super::performance::{Performance, Sent, Unfinished};
use super::samples::Samples;
use crate::contest::file::contest::Contest;
use serde::{Deserialize, Serialize};
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::{Completion, Left, Message};
use std::collections::BTreeMap;
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

/// Error: the messages of a run are not those that its record counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the record counts {counted} messages, but there are {found}")]
pub struct KeptError {
    /// Messages by the record.
    pub counted: usize,
    /// Messages of the table.
    pub found: usize,
}

/// Everything about a finished run but its completed messages, as a text keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Number of completed messages.
    messages: usize,
    counts: BTreeMap<String, u64>,
    deadlocks: Vec<String>,
    warnings: Vec<String>,
    unfinished: Vec<UnfinishedRecord>,
    alone: AloneRecord,
    samples: Option<Samples>,
}

/// A message without a last acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UnfinishedRecord {
    pair: u32,
    from: Ipv4Addr,
    to: Ipv4Addr,
    transport: u8,
    workload: u8,
    udp_source_port: u16,
    bytes: u64,
    start_ps: u64,
    acknowledged_packets: u64,
}

/// Ideal times in ps by the classes of sender and receiver, and the class of each host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct AloneRecord {
    times: Vec<(u32, u32, u64)>,
    hosts: Vec<(Ipv4Addr, u32)>,
}

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
    pub fn record(&self) -> RunRecord {
        let KeptRun { performance, alone } = self;
        let times = alone.times.iter().map(|((from, to), time)| (*from, *to, time.as_ps()));
        let hosts = alone.class_of.iter().map(|(host, class)| (*host, *class));
        RunRecord {
            messages: performance.sent.len(),
            counts: performance.counts.clone(),
            deadlocks: performance.deadlocks.clone(),
            warnings: performance.warnings.clone(),
            unfinished: performance.unfinished.iter().map(UnfinishedRecord::of).collect(),
            alone: AloneRecord { times: times.collect(), hosts: hosts.collect() },
            samples: performance.samples.clone(),
        }
    }
}

impl RunRecord {
    /// Returns the run with its completed messages.
    ///
    /// # Errors
    /// If the number of messages is not that of the record.
    pub fn with_messages(self, sent: Vec<Sent>) -> Result<KeptRun, KeptError> {
        let RunRecord { messages, counts, deadlocks, warnings, unfinished, alone, samples } = self;
        if messages != sent.len() {
            return Err(KeptError { counted: messages, found: sent.len() });
        }
        let times = alone.times.into_iter().map(|(from, to, ps)| ((from, to), Duration::from_ps(ps)));
        let alone = IdealTimes { times: times.collect(), class_of: alone.hosts.into_iter().collect() };
        let unfinished = unfinished.iter().map(UnfinishedRecord::message).collect();
        let performance =
            Performance { sent, unfinished, counts, deadlocks, warnings, samples, ..Performance::default() };
        Ok(KeptRun { performance, alone })
    }
}

impl UnfinishedRecord {
    fn of(one: &Unfinished) -> UnfinishedRecord {
        let Left { message, acknowledged } = &one.left;
        UnfinishedRecord {
            pair: message.pair,
            from: one.from,
            to: message.to,
            transport: message.transport,
            workload: message.workload,
            udp_source_port: message.port,
            bytes: message.bytes,
            start_ps: message.start.as_ps(),
            acknowledged_packets: *acknowledged,
        }
    }

    fn message(&self) -> Unfinished {
        let message = Message {
            pair: self.pair,
            transport: self.transport,
            workload: self.workload,
            start: Time::from_ps(self.start_ps),
            to: self.to,
            port: self.udp_source_port,
            bytes: self.bytes,
        };
        Unfinished { from: self.from, left: Left { message, acknowledged: self.acknowledged_packets } }
    }
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
    use crate::contest::results::samples::{LinkSamples, SwitchSamples};
    use serde_json::Value;

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
        let record = KeptRun { performance, alone: alone.clone() }.record();
        let text = serde_json::to_string(&record).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let read = |value: &Value| serde_json::from_value::<RunRecord>(value.clone());
        let back = read(&value).unwrap().with_messages(vec![sent]).unwrap();
        assert_eq!(back.performance.unfinished, [Unfinished { from: sent.from, left }]);
        assert_eq!((back.performance.count("sent"), back.performance.deadlocks.len()), (3, 1));
        assert_eq!(back.performance.warnings, ["switch `a`: careful"]);
        assert_eq!((back.alone, back.performance.samples), (alone, Some(samples)));
        let other = record.with_messages(Vec::new()).unwrap_err();
        assert_eq!(other, KeptError { counted: 1, found: 0 });
        for key in ["counts", "deadlocks", "warnings", "unfinished", "alone"] {
            let mut broken = value.clone();
            broken.as_object_mut().unwrap().remove(key);
            assert!(read(&broken).is_err(), "{key}");
        }
    }
}
