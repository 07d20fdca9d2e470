//! The tables `workload` of a contest file.

use super::capture::{Addresses, Captured};
use super::collective::{Collective, CollectiveOperation};
use super::fault::Fault;
use super::incast::{Incast, Receiver};
use super::keys::{Keys, Table};
use super::list::Listed;
use super::operation::{
    ChunkedRead, ErasureRead, ErasureWrite, KernelRdma, Operation, Operations, Pace, ReplicatedWrite,
    RequestResponse, SoftwareCosts, UserRdma,
};
use super::permutation::Permutation;
use super::plan::ALL_PORTS;
use super::poisson::Poisson;
use sluice_asic::names::did_you_mean;
use sluice_asic::units::Duration;
use std::collections::BTreeMap;

/// Time of workloads that end by themselves.
const DEFAULT_TIME: Duration = Duration::from_millis(1);
/// Most rounds of a workload that repeats itself.
const MOST_ITERATIONS: u32 = 1_000_000;

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

/// Names of all kinds.
pub(super) const KINDS: [&str; 17] = [
    "poisson",
    "incast",
    "permutation",
    "all-to-all",
    "all-reduce",
    "all-gather",
    "reduce-scatter",
    "request-response",
    "replicated-write",
    "erasure-write",
    "erasure-read",
    "chunked-read",
    "su-rdma",
    "sk-rdma-read",
    "sk-rdma-write",
    "flows",
    "capture",
];

impl WorkloadSetting {
    /// Reads a table. `lines` has the line of each key.
    pub(super) fn of(table: &Table, lines: BTreeMap<String, usize>) -> Result<WorkloadSetting, Fault> {
        let keys = Keys::new(table);
        unknown(table)?;
        // A list of flows or a capture says by its key what it is, as in files without kinds.
        let default = ["flows", "capture"].into_iter().find(|kind| keys.has(kind)).unwrap_or("poisson");
        let kind = keys.text("kind")?.unwrap_or(default);
        // A capture says the ports of its flows.
        let ports = if kind == "capture" { None } else { keys.count("ports", 1..=ALL_PORTS)? };
        let traffic = traffic(&keys, kind, ports)?;
        let time = keys.time("time")?.or_else(|| traffic.default_time());
        let time = keys.required("time", time, "\"1ms\"")?;
        let setting = WorkloadSetting {
            name: name(&keys, kind)?,
            begin: keys.time("begin")?.unwrap_or_default(),
            time,
            warm_up: keys.time("warm_up")?.unwrap_or_default(),
            ports,
            transport: keys.text("transport")?.map(str::to_owned),
            traffic,
            lines,
        };
        keys.finish(kind)?;
        if setting.time.is_zero() {
            return Err(Fault::new("time", "found 0, expected a time above 0"));
        }
        if setting.warm_up >= setting.time {
            let what = format!("found {}, expected a time below time, {}", setting.warm_up, setting.time);
            return Err(Fault::new("warm_up", what));
        }
        Ok(setting)
    }
}

/// Keys of workloads of any kind.
const ALL_KEYS: [&str; 46] = [
    "addresses",
    "algorithm",
    "arrivals",
    "begin",
    "between_switches",
    "bytes",
    "capture",
    "chunk",
    "chunks",
    "control",
    "crc",
    "credit_update",
    "data",
    "fan_in",
    "flows",
    "from",
    "gap",
    "group",
    "hosts",
    "iterations",
    "jitter",
    "kind",
    "load",
    "name",
    "outstanding",
    "parity",
    "period",
    "poll",
    "ports",
    "read_from",
    "receiver",
    "registration",
    "replicas",
    "reply",
    "request",
    "response",
    "send_up_to",
    "servers",
    "service",
    "sizes",
    "think",
    "time",
    "to",
    "transport",
    "warm_up",
    "window",
];

/// Refuses a key that no kind has: a misspelt key would otherwise be reported as a missing one.
fn unknown(table: &Table) -> Result<(), Fault> {
    let known = |key: &str| ALL_KEYS.contains(&key);
    let Some(key) = table.keys().find(|key| !known(key.as_str())) else { return Ok(()) };
    let near = did_you_mean(key, ALL_KEYS);
    let what = format!("is not a key of a workload{near}; there are {}", ALL_KEYS.join(", "));
    Err(Fault::new(key.clone(), what))
}

fn name(keys: &Keys<'_>, kind: &str) -> Result<String, Fault> {
    let name = keys.text("name")?.map_or_else(|| kind.replace('-', "_"), str::to_owned);
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match !name.is_empty() && name.chars().all(good) && !name.starts_with(|c: char| c.is_ascii_digit()) {
        true => Ok(name),
        false => {
            Err(Fault::new("name", format!("found `{name}`, expected letters, digits and _, a letter first")))
        }
    }
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

fn traffic(keys: &Keys<'_>, kind: &str, ports: Option<u16>) -> Result<Traffic, Fault> {
    match kind {
        "poisson" => poisson(keys).map(Traffic::Poisson),
        "incast" => incast(keys).map(Traffic::Incast),
        "permutation" => permutation(keys).map(Traffic::Permutation),
        "all-to-all" | "all-reduce" | "all-gather" | "reduce-scatter" => {
            collective(keys, kind).map(Traffic::Collective)
        }
        "request-response" | "replicated-write" | "erasure-write" | "erasure-read" | "chunked-read"
        | "su-rdma" | "sk-rdma-read" | "sk-rdma-write" => operations(keys, kind).map(Traffic::Operations),
        "flows" => {
            let file = keys.text("flows")?;
            let file = keys.required("flows", file, "\"flows.csv\"")?.to_owned();
            Ok(Traffic::Listed(Listed { file, list: None, ports }))
        }
        "capture" => capture(keys).map(Traffic::Captured),
        _ => Err(Fault::new("kind", format!("found `{kind}`, expected {}", KINDS.join(", ")))),
    }
}

fn load(keys: &Keys<'_>) -> Result<Option<u32>, Fault> {
    keys.count("load", 1..=100)
}

fn poisson(keys: &Keys<'_>) -> Result<Poisson, Fault> {
    let (from, to) = ends(keys)?;
    let poisson = Poisson {
        sizes: keys.sizes()?,
        load: keys.required("load", load(keys)?, "50")?,
        from,
        to,
        between_switches: keys.flag("between_switches")?,
    };
    Ok(poisson)
}

/// Returns the hosts of `from` and `to`; `hosts` stands for both.
fn ends(keys: &Keys<'_>) -> Result<(super::Selection, super::Selection), Fault> {
    let both = keys.hosts("hosts")?;
    if keys.has("hosts") && (keys.has("from") || keys.has("to")) {
        return Err(Fault::new("hosts", "stands for `from` and `to`; leave it out beside them"));
    }
    let one = |key| if keys.has(key) { keys.hosts(key) } else { keys.hosts(key).map(|_| both.clone()) };
    Ok((one("from")?, one("to")?))
}

fn incast(keys: &Keys<'_>) -> Result<Incast, Fault> {
    let to = keys.has("to").then_some(());
    keys.required("to", to, "\"0\"")?;
    let period = keys.time("period")?;
    let arrivals = keys.choice("arrivals", &[("periodic", false), ("poisson", true)])?;
    if period.is_some_and(|period| period.is_zero()) {
        return Err(Fault::new("period", "found 0, expected a time above 0"));
    }
    if period.is_none() && arrivals.is_some() {
        return Err(Fault::new("arrivals", "needs `period`, the mean time between two incasts"));
    }
    Ok(Incast {
        sizes: keys.sizes()?,
        from: keys.hosts("from")?,
        to: keys.hosts("to")?,
        receiver: keys.choice("receiver", &Receiver::ALL)?.unwrap_or(Receiver::All),
        fan_in: keys.count("fan_in", 1..=u32::MAX)?,
        period,
        poisson: arrivals.unwrap_or(false),
        jitter: keys.time("jitter")?.unwrap_or_default(),
    })
}

fn permutation(keys: &Keys<'_>) -> Result<Permutation, Fault> {
    Ok(Permutation {
        sizes: keys.sizes()?,
        hosts: keys.hosts("hosts")?,
        iterations: keys.count("iterations", 1..=MOST_ITERATIONS)?.unwrap_or(1),
        gap: keys.time("gap")?.unwrap_or_default(),
    })
}

fn collective(keys: &Keys<'_>, kind: &str) -> Result<Collective, Fault> {
    let operation = match kind {
        "all-gather" => CollectiveOperation::AllGather,
        "reduce-scatter" => CollectiveOperation::ReduceScatter,
        "all-to-all" => {
            CollectiveOperation::AllToAll { outstanding: keys.count("outstanding", 1..=u32::MAX)? }
        }
        _ => {
            let tree = CollectiveOperation::TreeAllReduce { chunks: 1, outstanding: 2 };
            let choices = [
                ("ring", CollectiveOperation::RingAllReduce),
                ("halving-doubling", CollectiveOperation::HalvingDoublingAllReduce),
                ("tree", tree),
            ];
            match keys.choice("algorithm", &choices)?.unwrap_or(CollectiveOperation::RingAllReduce) {
                CollectiveOperation::TreeAllReduce { chunks, outstanding } => {
                    CollectiveOperation::TreeAllReduce {
                        chunks: keys.count("chunks", 1..=MOST_ITERATIONS)?.unwrap_or(chunks),
                        outstanding: keys.count("outstanding", 1..=u32::MAX)?.unwrap_or(outstanding),
                    }
                }
                other => other,
            }
        }
    };
    let bytes = keys.bytes("bytes")?;
    Ok(Collective {
        operation,
        bytes: keys.required("bytes", bytes, "\"1MB\"")?,
        hosts: keys.hosts("hosts")?,
        group: keys.count("group", 2..=u32::MAX)?,
        iterations: keys.count("iterations", 1..=MOST_ITERATIONS)?.unwrap_or(1),
        gap: keys.time("gap")?.unwrap_or_default(),
    })
}

fn operations(keys: &Keys<'_>, kind: &str) -> Result<Operations, Fault> {
    let pace = match (load(keys)?, keys.count("outstanding", 1..=65_536)?, keys.time("think")?) {
        (Some(load), None, None) => Pace::Load(load),
        (None, Some(count), think) => Pace::Outstanding { count, think: think.unwrap_or_default() },
        (None, None, _) => {
            let what = "is missing; set `outstanding` for a closed loop, or `load` for operations by a Poisson process";
            return Err(Fault::new("outstanding", what));
        }
        (Some(_), None, Some(_)) => {
            return Err(Fault::new("think", "is for a closed loop, with `outstanding`"));
        }
        (Some(_), Some(_), _) => return Err(Fault::new("load", "leave out `load` or `outstanding`")),
    };
    let operation = operation(keys, kind, pace)?;
    let (from, to) = ends(keys)?;
    Ok(Operations { operation, from, to, pace })
}

fn operation(keys: &Keys<'_>, kind: &str, pace: Pace) -> Result<Operation, Fault> {
    /// Bytes of a request to storage and of its reply, if the file does not say.
    const SMALL: u64 = 64;
    if kind == "su-rdma" {
        return user_rdma(keys, pace, SMALL).map(Operation::UserRdma);
    }
    let service = keys.time("service")?.unwrap_or_default();
    let small = |key| keys.bytes(key).map(|bytes| bytes.unwrap_or(SMALL));
    let some = |key, example: &str| {
        let found = keys.count(key, 1..=1_000)?;
        keys.required(key, found, example)
    };
    Ok(match kind {
        "request-response" => {
            let (request, response) = (keys.sizes_or("request")?, keys.sizes_or("response")?);
            let request = keys.required("request", request, "64")?;
            let response = keys.required("response", response, "\"google-rpc\"")?;
            Operation::Request(RequestResponse { request, response, service })
        }
        "replicated-write" => Operation::ReplicatedWrite(ReplicatedWrite {
            sizes: keys.sizes()?,
            replicas: keys.count("replicas", 1..=1_000)?.unwrap_or(3),
            reply: small("reply")?,
            service,
        }),
        "erasure-write" => Operation::ErasureWrite(ErasureWrite {
            sizes: keys.sizes()?,
            data: some("data", "6")?,
            parity: some("parity", "3")?,
            reply: small("reply")?,
            service,
        }),
        "erasure-read" => Operation::ErasureRead(ErasureRead {
            sizes: keys.sizes()?,
            data: some("data", "6")?,
            request: small("request")?,
            service,
        }),
        "sk-rdma-read" | "sk-rdma-write" => Operation::KernelRdma(KernelRdma {
            reads: kind == "sk-rdma-read",
            sizes: keys.sizes()?,
            request: small("request")?,
            reply: small("reply")?,
            service,
            registration: keys.time("registration")?.unwrap_or_default(),
            costs: costs(keys)?,
        }),
        _ => {
            let chunk = keys.bytes("chunk")?;
            Operation::ChunkedRead(ChunkedRead {
                sizes: keys.sizes()?,
                chunk: keys.required("chunk", chunk, "\"64KB\"")?,
                window: keys.count("window", 1..=65_536)?.unwrap_or(1),
                servers: keys.count("servers", 1..=1_000)?.unwrap_or(1),
                request: small("request")?,
                service,
            })
        }
    })
}

fn costs(keys: &Keys<'_>) -> Result<SoftwareCosts, Fault> {
    Ok(SoftwareCosts { poll: keys.time("poll")?.unwrap_or_default(), crc: keys.rate("crc")? })
}

fn user_rdma(keys: &Keys<'_>, pace: Pace, small: u64) -> Result<UserRdma, Fault> {
    let needed = |key, example: &str| {
        let found = keys.bytes(key)?;
        keys.required(key, found, example)
    };
    let (send_up_to, read_from) = (needed("send_up_to", "\"4KB\"")?, needed("read_from", "\"256KB\"")?);
    if send_up_to >= read_from {
        let what = format!("found {read_from}, expected more than send_up_to, {send_up_to}");
        return Err(Fault::new("read_from", what));
    }
    let credit_update = keys.count("credit_update", 1..=65_536)?.unwrap_or(1);
    let fits = match pace {
        Pace::Outstanding { count, .. } => count % credit_update == 0,
        Pace::Load(_) => credit_update == 1,
    };
    if !fits {
        let what = format!(
            "found {credit_update}, expected a number that divides `outstanding`, the receiver's credits; with `load` 1"
        );
        return Err(Fault::new("credit_update", what));
    }
    let control = keys.bytes("control")?.unwrap_or(small);
    let (sizes, costs) = (keys.sizes()?, costs(keys)?);
    Ok(UserRdma { sizes, send_up_to, read_from, credit_update, control, costs })
}

fn capture(keys: &Keys<'_>) -> Result<Captured, Fault> {
    let file = keys.text("capture")?;
    Ok(Captured {
        file: keys.required("capture", file, "\"trace.pcap\"")?.to_owned(),
        gap: keys.time("gap")?.unwrap_or(Duration::from_micros(500)),
        addresses: keys.choice("addresses", &Addresses::ALL)?.unwrap_or(Addresses::Appearance),
        bursts: None,
    })
}
