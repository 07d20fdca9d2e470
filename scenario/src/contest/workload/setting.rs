//! The tables `workload` of a contest file.

use super::capture::Captured;
use super::collective::{Collective, CollectiveOperation};
use super::fault::Fault;
use super::incast::Incast;
use super::keys::{Keys, Table};
use super::kinds::{BEGIN, EVERY, KIND, KINDS, NAME, PORTS, TIME, TRANSPORT, WARM_UP};
use super::list::Listed;
use super::operation::{Operation, Operations, Pace};
use super::permutation::Permutation;
use super::poisson::Poisson;
use sluice_asic::names::did_you_mean;
use sluice_asic::units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// Time of workloads that end by themselves.
const DEFAULT_TIME: Duration = Duration::from_millis(1);

/// A workload: what some hosts send, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadSetting {
    /// Name in results: letters, digits and `_`; unique in the contest.
    pub name: String,
    /// Start of the workload.
    pub begin: Duration,
    /// Time after `begin` in which messages that wait for nothing begin, and operations of a closed loop.
    pub time: Duration,
    /// Messages that begin before this time after `begin` are sent, but do not count in the results; shorter than `time`.
    pub warm_up: Duration,
    /// Number of UDP source ports that the messages of a pair of hosts take in turn.
    pub ports: Option<u16>,
    /// Name of the transport; `None`: the hosts' first one.
    pub transport: Option<String>,
    /// The messages.
    pub traffic: Traffic,
    /// Line of each key in the file, for errors.
    pub(super) lines: BTreeMap<String, usize>,
}

/// The messages of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Poisson processes.
    Poisson(Poisson),
    /// Incasts.
    Incast(Incast),
    /// A permutation.
    Permutation(Permutation),
    /// A collective of distributed training.
    Collective(Collective),
    /// Requests, and operations of storage.
    Operations(Operations),
    /// A list of flows.
    Listed(Listed),
    /// A capture.
    Captured(Captured),
}

impl WorkloadSetting {
    /// Reads a table. `lines` has the line of each key.
    pub(super) fn of(table: &Table, lines: BTreeMap<String, usize>) -> Result<WorkloadSetting, Fault> {
        let keys = Keys::new(table);
        unknown(table)?;
        // A list of flows or a capture says by its key what it is, as in files without kinds.
        let default = ["flows", "capture"].into_iter().find(|kind| table.contains_key(*kind));
        let kind = keys.find(&KIND)?.unwrap_or_else(|| default.unwrap_or("poisson").to_owned());
        let Some(kind) = KINDS.iter().find(|known| known.name == kind) else {
            let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            return Err(KIND.fault(format!("found `{kind}`, expected {}", names.join(", "))));
        };
        let traffic = (kind.read)(&keys)?;
        let time = match keys.find(&TIME)?.or_else(|| traffic.default_time()) {
            Some(time) => time,
            None => keys.get(&TIME)?,
        };
        // A capture has the ports of its flows.
        let ports = if matches!(traffic, Traffic::Captured(_)) { None } else { keys.find(&PORTS)? };
        let setting = WorkloadSetting {
            name: keys.find(&NAME)?.unwrap_or_else(|| kind.name.replace('-', "_")),
            begin: keys.get(&BEGIN)?,
            time,
            warm_up: keys.get(&WARM_UP)?,
            ports,
            transport: keys.find(&TRANSPORT)?,
            traffic,
            lines,
        };
        keys.finish(kind.name)?;
        setting.check()?;
        Ok(setting)
    }

    fn check(&self) -> Result<(), Fault> {
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = &self.name;
        if name.is_empty() || !name.chars().all(good) || name.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(NAME.fault(format!("found `{name}`, expected letters, digits and _, a letter first")));
        }
        if self.time.is_zero() {
            return Err(TIME.fault("found 0, expected a time above 0"));
        }
        if self.warm_up >= self.time {
            return Err(
                WARM_UP.fault(format!("found {}, expected a time below time, {}", self.warm_up, self.time))
            );
        }
        Ok(())
    }
}
/// Refuses a key that no kind has: a misspelt key would otherwise be reported as a missing one.
fn unknown(table: &Table) -> Result<(), Fault> {
    let of_kinds = KINDS.iter().flat_map(|kind| kind.keys());
    let known: BTreeSet<&str> = of_kinds.chain(EVERY).map(|key| key.name()).collect();
    let Some(key) = table.keys().find(|key| !known.contains(key.as_str())) else { return Ok(()) };
    let near = did_you_mean(key, known.iter().copied());
    let known = Vec::from_iter(known).join(", ");
    Err(Fault::new(key.clone(), format!("is not a key of a workload{near}; there are {known}")))
}

impl Traffic {
    /// Returns the time of traffic that ends by itself.
    fn default_time(&self) -> Option<Duration> {
        match self {
            Traffic::Permutation(_) | Traffic::Collective(_) => Some(DEFAULT_TIME),
            Traffic::Incast(incast) if incast.period.is_none() => Some(DEFAULT_TIME),
            _ => None,
        }
    }

    /// Returns the traffic for readers.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Traffic::Poisson(poisson) => {
                format!("{} at {} % of the hosts' lines", poisson.sizes.text(), poisson.load)
            }
            Traffic::Incast(incast) => format!("incasts of {}", incast.sizes.text()),
            Traffic::Permutation(permutation) => format!("a permutation of {}", permutation.sizes.text()),
            Traffic::Collective(collective) => {
                let what = match collective.operation {
                    CollectiveOperation::RingAllReduce => "ring all-reduce",
                    CollectiveOperation::HalvingDoublingAllReduce => "halving-doubling all-reduce",
                    CollectiveOperation::TreeAllReduce { .. } => "tree all-reduce",
                    CollectiveOperation::AllGather => "all-gather",
                    CollectiveOperation::ReduceScatter => "reduce-scatter",
                    CollectiveOperation::AllToAll { .. } => "all-to-all",
                };
                format!("{} x {what} of {} B", collective.iterations, collective.bytes)
            }
            Traffic::Operations(operations) => {
                let what = match &operations.operation {
                    Operation::Request(request) => {
                        format!(
                            "requests of {}, responses of {}",
                            request.request.text(),
                            request.response.text()
                        )
                    }
                    Operation::ReplicatedWrite(write) => {
                        format!("writes of {} to {} replicas", write.sizes.text(), write.replicas)
                    }
                    Operation::ErasureWrite(write) => {
                        format!("writes of {}, coded {} + {}", write.sizes.text(), write.data, write.parity)
                    }
                    Operation::ErasureRead(read) => {
                        format!("reads of {} from {} servers", read.sizes.text(), read.data)
                    }
                    Operation::ChunkedRead(read) => {
                        format!("reads of {} in chunks of {} B", read.sizes.text(), read.chunk)
                    }
                    Operation::UserRdma(transfer) => format!("sU-RDMA messages of {}", transfer.sizes.text()),
                    Operation::KernelRdma(disk) => {
                        let what = if disk.reads { "reads" } else { "writes" };
                        format!("sK-RDMA {what} of {}", disk.sizes.text())
                    }
                };
                match operations.pace {
                    Pace::Load(load) => format!("{what}, at {load} % of the clients' lines"),
                    Pace::Outstanding { count, .. } => format!("{what}, {count} outstanding"),
                }
            }
            Traffic::Listed(listed) => format!("flows of {}", listed.file),
            Traffic::Captured(captured) => format!("flows of {}", captured.file),
        }
    }
}
