//! Lists of flows: the format of the ns-3 simulators of HPCC and ConWeave, and comma-separated values.

pub(crate) mod csv;
mod ns3;

use sluice_asic::units::{Duration, Time};
use thiserror::Error;

/// A list of flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowList {
    /// Name of the file, for errors.
    pub origin: String,
    /// The flows, in the order of the file.
    pub flows: Vec<FlowRow>,
    /// True if the first flow begins with the workload, whenever the list says that it starts.
    pub from_first: bool,
}

/// A flow of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRow {
    /// The sender: a number, an address or a name.
    pub from: String,
    /// The receiver, in the same way.
    pub to: String,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// Earliest start.
    pub start: Duration,
    /// UDP source port, if the list says it.
    pub port: Option<u16>,
    /// Flows before this one that it waits for, each with the time from its end to this one.
    pub after: Vec<(u32, Duration)>,
    /// A flow that would be ready at this time or later is not sent.
    pub until: Option<Time>,
    /// Name of the transport, if the list says it.
    pub transport: Option<String>,
    /// Line of the file, from 1.
    pub line: usize,
}

/// Reason why a list is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{origin}:{line}: {what}")]
pub struct FlowListError {
    /// Name of the file.
    pub origin: String,
    /// Line, from 1.
    pub line: usize,
    /// Value found and value expected.
    pub what: String,
}

impl FlowList {
    /// Parses a list, whose first line tells its format: column names, or ns-3's number of flows. `origin` is the file's
    /// name, for errors.
    ///
    /// # Errors
    /// If the list has not the format; the error says the line.
    pub fn parse(origin: &str, text: &str) -> Result<FlowList, FlowListError> {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match first.contains(|c: char| c.is_ascii_alphabetic()) {
            true => csv::parse(origin, text),
            false => ns3::parse(origin, text),
        }
    }
}

/// Parses a number.
fn number<T: std::str::FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("found `{word}`, expected a number"))
}
