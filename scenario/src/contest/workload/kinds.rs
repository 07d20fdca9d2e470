//! The kinds of workloads, and their keys. The function that reads a kind's table decides which keys the kind has.

use super::capture::{Addresses, Captured};
use super::collective::{Collective, CollectiveOperation};
use super::fault::Fault;
use super::hosts::Selection;
use super::incast::{Incast, Receiver};
use super::keys::{Declared, Key, Keys};
use super::list::Listed;
use super::operation::{
    ChunkedRead, ErasureRead, ErasureWrite, KernelRdma, Operation, Operations, Pace, ReplicatedWrite,
    RequestResponse, SoftwareCosts, UserRdma,
};
use super::permutation::Permutation;
use super::plan::ALL_PORTS;
use super::poisson::Poisson;
use super::setting::Traffic;
use super::sizes::Sizes;
use sluice_asic::units::{BitRate, Bytes, Duration};

/// A kind of workload.
pub(super) struct Kind {
    /// Value of the key `kind`.
    pub(super) name: &'static str,
    /// What is sent, for the handbook.
    #[cfg_attr(not(test), expect(dead_code, reason = "a test compares the handbook with it"))]
    pub(super) meaning: &'static str,
    /// Reads the keys of the kind.
    pub(super) read: fn(&Keys<'_>) -> Result<Traffic, Fault>,
}

impl Kind {
    const fn new(
        name: &'static str,
        meaning: &'static str,
        read: fn(&Keys<'_>) -> Result<Traffic, Fault>,
    ) -> Kind {
        Kind { name, meaning, read }
    }

    /// Returns the keys of the kind in addition to those of every workload.
    pub(super) fn keys(&self) -> Vec<&'static dyn Declared> {
        Keys::asked_by(self.read)
    }
}

/// All kinds.
pub(super) static KINDS: [Kind; 17] = [
    Kind::new(
        "poisson",
        "each host of `from` begins messages by a Poisson process, each to a host of `to` that is drawn evenly",
        poisson,
    ),
    Kind::new("incast", "hosts of `from` send to one of `to` at the same time", incast),
    Kind::new(
        "permutation",
        "each host sends to another one, each receives from one; the seed draws the pairs",
        permutation,
    ),
    Kind::new("all-to-all", "each rank sends an n-th of `bytes` to each other one", |keys| {
        let outstanding = keys.find(&RANK_OUTSTANDING)?;
        collective(keys, CollectiveOperation::AllToAll { outstanding })
    }),
    Kind::new("all-reduce", "a collective, below", |keys| collective(keys, all_reduce(keys)?)),
    Kind::new("all-gather", "a ring of n - 1 steps", |keys| collective(keys, CollectiveOperation::AllGather)),
    Kind::new("reduce-scatter", "a ring of n - 1 steps", |keys| {
        collective(keys, CollectiveOperation::ReduceScatter)
    }),
    Kind::new("request-response", "a client's request, the server's response", |keys| {
        operations(keys, |keys, _| {
            let (request, response) = (keys.get(&REQUEST_SIZES)?, keys.get(&RESPONSE)?);
            Ok(Operation::Request(RequestResponse { request, response, service: keys.get(&SERVICE)? }))
        })
    }),
    Kind::new("replicated-write", "a write goes along a chain of `replicas`; the last replies", |keys| {
        operations(keys, |keys, _| {
            let (replicas, reply) = (keys.get(&REPLICAS)?, keys.get(&REPLY)?.0);
            let (sizes, service) = (sizes(keys)?, keys.get(&SERVICE)?);
            Ok(Operation::ReplicatedWrite(ReplicatedWrite { sizes, replicas, reply, service }))
        })
    }),
    Kind::new("erasure-write", "`data` + `parity` fragments to as many servers; each replies", |keys| {
        operations(keys, |keys, _| {
            let (data, parity, reply) = (keys.get(&DATA)?, keys.get(&PARITY)?, keys.get(&REPLY)?.0);
            let (sizes, service) = (sizes(keys)?, keys.get(&SERVICE)?);
            Ok(Operation::ErasureWrite(ErasureWrite { sizes, data, parity, reply, service }))
        })
    }),
    Kind::new("erasure-read", "`data` servers are asked at once, and all send their fragments", |keys| {
        operations(keys, |keys, _| {
            let (data, request) = (keys.get(&DATA)?, keys.get(&REQUEST)?.0);
            let (sizes, service) = (sizes(keys)?, keys.get(&SERVICE)?);
            Ok(Operation::ErasureRead(ErasureRead { sizes, data, request, service }))
        })
    }),
    Kind::new(
        "chunked-read",
        "static flow control: the client asks each of `servers` for chunk i + `window` when chunk i has arrived",
        |keys| {
            operations(keys, |keys, _| {
                let (chunk, window, servers) =
                    (keys.get(&CHUNK)?.0, keys.get(&CHUNK_WINDOW)?, keys.get(&SERVERS)?);
                let (sizes, request, service) = (sizes(keys)?, keys.get(&REQUEST)?.0, keys.get(&SERVICE)?);
                Ok(Operation::ChunkedRead(ChunkedRead { sizes, chunk, window, servers, request, service }))
            })
        },
    ),
    Kind::new("su-rdma", "messages between storage servers, in a transfer mode by size, below", |keys| {
        operations(keys, |keys, pace| user_rdma(keys, pace).map(Operation::UserRdma))
    }),
    Kind::new("sk-rdma-read", SK_RDMA, |keys| operations(keys, |keys, _| kernel_rdma(keys, true))),
    Kind::new("sk-rdma-write", SK_RDMA, |keys| operations(keys, |keys, _| kernel_rdma(keys, false))),
    Kind::new("flows", "a list of flows, below", |keys| {
        let (file, ports) = (keys.get(&FLOWS)?, keys.find(&PORTS)?);
        Ok(Traffic::Listed(Listed { file, list: None, ports }))
    }),
    Kind::new("capture", "the flows of a capture, below", |keys| {
        let (file, gap) = (keys.get(&CAPTURE)?, keys.get(&BURST_GAP)?);
        Ok(Traffic::Captured(Captured { file, gap, addresses: keys.get(&ADDRESSES)?, bursts: None }))
    }),
];
const SK_RDMA: &str = "reads and writes of a disk: a registration of memory, a request, data moved by the storage server, \
                       a response, below";

/// Most rounds of a workload that repeats itself.
const ROUNDS: (i64, i64) = (1, 1_000_000);
/// Any number above 0.
const ANY: (i64, i64) = (1, u32::MAX as i64);
const SERVER_COUNTS: (i64, i64) = (1, 1_000);
const WINDOWS: (i64, i64) = (1, 65_536);

// Keys of every workload.
pub(super) static KIND: Key<String> = Key::new("kind", "one of the kinds below")
    .open("`flows` or `capture` if the table has that key, else `poisson`");
pub(super) static NAME: Key<String> =
    Key::new("name", "name in results: letters, digits, `_`; unique").open("the kind");
pub(super) static BEGIN: Key<Duration> = Key::new("begin", "start of the workload").or("\"0ns\"");
pub(super) static TIME: Key<Duration> = Key::new(
    "time",
    "messages and operations begin in this time after `begin`; what has begun is sent to its end. Kinds that end by \
     themselves have 1ms by default",
)
.needed("\"1ms\"");
pub(super) static WARM_UP: Key<Duration> = Key::new(
    "warm_up",
    "messages that begin sooner than this after `begin` are sent, but do not count; shorter than `time`",
)
.or("\"0ns\"");
pub(super) static PORTS: Key<u16> = Key::number(
    "ports",
    (1, ALL_PORTS as i64),
    "UDP source ports that the messages of a pair of hosts take in turn: from 49152 on, or (not `poisson`) from a port on \
     that the seed draws for the pair. A capture has its own",
)
.open("4 of `poisson`, else 1");
pub(super) static TRANSPORT: Key<String> =
    Key::new("transport", "name of one of the hosts' transports").open("the first");

/// The keys of every workload.
pub(super) static EVERY: [&dyn Declared; 7] = [&KIND, &NAME, &BEGIN, &TIME, &WARM_UP, &PORTS, &TRANSPORT];

// Hosts and sizes.
static HOSTS: Key<Selection> =
    Key::new("hosts", "the hosts; with `from` and `to`, it stands for both").or("\"all\"");
static FROM: Key<Selection> = Key::new("from", "hosts that send, or clients").or("\"all\"");
static TO: Key<Selection> = Key::new("to", "hosts that receive, or servers").or("\"all\"");
static INCAST_TO: Key<Selection> = Key::new("to", "hosts that receive").needed("\"0\"");
static SIZES: Key<String> =
    Key::new("sizes", "distribution of sizes, or its file, in place of `bytes`").open("`bytes`");
static BYTES: Key<Bytes> = Key::new("bytes", "size of every message or operation").open("`sizes`");
static BUFFER: Key<Bytes> = Key::new("bytes", "size of the buffer of each rank").needed("\"1MB\"");

// Open loops, incasts, permutations.
static LOAD: Key<u32> =
    Key::number("load", (1, 100), "payload, percent of each host's own line").needed("50");
static BETWEEN_SWITCHES: Key<bool> =
    Key::new("between_switches", "true: no message goes to a host of the same switch").or("false");
static FAN_IN: Key<u32> =
    Key::number("fan_in", ANY, "senders that are drawn for each incast").open("all of `from`");
static RECEIVER: Key<Receiver> = Key::word(
    "receiver",
    &Receiver::ALL,
    "each host of `to` with senders of its own, one of them in turn, or one that is drawn",
)
.or("\"all\"");
static PERIOD: Key<Duration> = Key::new("period", "time between two incasts, above 0").open("one incast");
static ARRIVALS: Key<bool> = Key::word(
    "arrivals",
    &[("periodic", false), ("poisson", true)],
    "incasts after each `period`, or by a Poisson process with that mean",
)
.open("`periodic`");
static JITTER: Key<Duration> = Key::new("jitter", "most that a sender is late").or("\"0ns\"");
static ITERATIONS: Key<u32> =
    Key::number("iterations", ROUNDS, "messages one after the other, or repetitions of a collective").or("1");
static GAP: Key<Duration> = Key::new(
    "gap",
    "time from the acknowledgement to the next message, or in which a rank computes between iterations",
)
.or("\"0ns\"");

// Collectives.
static GROUP: Key<u32> =
    Key::number("group", (2, u32::MAX as i64), "ranks of a group, in the order of `hosts`").open("all");
static RANK_OUTSTANDING: Key<u32> =
    Key::number("outstanding", ANY, "messages of a rank that are not acknowledged").open("all");
static TREE_OUTSTANDING: Key<u32> =
    Key::number("outstanding", ANY, "algorithm `tree`: chunks under way on a link").open("2");
static TREE_CHUNKS: Key<u32> =
    Key::number("chunks", ROUNDS, "algorithm `tree`: parts of the buffer").open("1");
static ALGORITHM: Key<CollectiveOperation> = Key::word(
    "algorithm",
    &[
        ("ring", CollectiveOperation::RingAllReduce),
        ("halving-doubling", CollectiveOperation::HalvingDoublingAllReduce),
        ("tree", CollectiveOperation::TreeAllReduce { chunks: 1, outstanding: 2 }),
    ],
    "algorithm; `halving-doubling` needs a power of two of ranks",
)
.or("\"ring\"");

// Operations of clients on servers.
static OUTSTANDING: Key<u32> = Key::number(
    "outstanding",
    WINDOWS,
    "closed loop: operations of each client under way; of `su-rdma` the receiver's credits",
)
.open("`load`");
static CLIENT_LOAD: Key<u32> =
    Key::number("load", (1, 100), "operations by a Poisson process: payload, percent of each client's line")
        .open("`outstanding`");
static THINK: Key<Duration> =
    Key::new("think", "closed loop: time from the end of an operation to the next one").open("0");
static SERVICE: Key<Duration> =
    Key::new("service", "time from the arrival at a server to what the server sends next").or("\"0ns\"");
static REQUEST_SIZES: Key<Sizes> = Key::new("request", "size of requests").needed("64");
static RESPONSE: Key<Sizes> = Key::new("response", "size of responses").needed("\"google-rpc\"");
static REQUEST: Key<Bytes> = Key::new("request", "size of a request").or("64");
static REPLY: Key<Bytes> = Key::new("reply", "size of a reply").or("64");
static REPLICAS: Key<u32> = Key::number("replicas", SERVER_COUNTS, "servers of a chain").or("3");
static DATA: Key<u32> = Key::number("data", SERVER_COUNTS, "fragments with data").needed("6");
static PARITY: Key<u32> = Key::number("parity", SERVER_COUNTS, "fragments with parity").needed("3");
static CHUNK: Key<Bytes> = Key::new("chunk", "size of a chunk").needed("\"64KB\"");
static CHUNK_WINDOW: Key<u32> = Key::number("window", WINDOWS, "chunks of a connection under way").or("1");
static SERVERS: Key<u32> = Key::number("servers", SERVER_COUNTS, "servers of an operation").or("1");

// Storage over RDMA.
static SEND_UP_TO: Key<Bytes> = Key::new("send_up_to", "largest message that is a Send").needed("\"4KB\"");
static READ_FROM: Key<Bytes> =
    Key::new("read_from", "least message that is read by RDMA").needed("\"256KB\"");
static CREDIT_UPDATE: Key<u32> =
    Key::number("credit_update", WINDOWS, "messages after which the receiver returns credits").or("1");
static CONTROL: Key<Bytes> = Key::new("control", "size of a control message").or("64");
static REGISTRATION: Key<Duration> =
    Key::new("registration", "time of a registration of memory").or("\"0ns\"");
static POLL: Key<Duration> =
    Key::new("poll", "time from a completion queue element to the software that polls it").or("\"0ns\"");
static CRC: Key<BitRate> = Key::new("crc", "rate at which both ends compute the payload's CRC").open("none");

// Lists and captures.
static FLOWS: Key<String> = Key::new("flows", "file of the list").needed("\"flows.csv\"");
static CAPTURE: Key<String> = Key::new("capture", "file of the capture").needed("\"trace.pcap\"");
static BURST_GAP: Key<Duration> =
    Key::new("gap", "silence of a flow after which its next message begins").or("\"500us\"");
static ADDRESSES: Key<Addresses> = Key::word(
    "addresses",
    &Addresses::ALL,
    "hosts in the order in which addresses appear, or those with the same addresses",
)
.or("\"appearance\"");

/// Returns the sizes of `bytes` or `sizes`, one of which must be there.
fn sizes(keys: &Keys<'_>) -> Result<Sizes, Fault> {
    match (keys.find(&BYTES)?, keys.find(&SIZES)?) {
        (Some(bytes), None) => Ok(Sizes::Fixed(bytes.0)),
        (None, Some(name)) => Ok(Sizes::named(&name)),
        (Some(_), Some(_)) => Err(SIZES.fault("leave out `bytes` or `sizes`")),
        (None, None) => {
            let what = || "is missing; set `bytes`, or `sizes` to the name of a distribution".to_owned();
            keys.missing(&SIZES, what, || Ok(Sizes::Fixed(1)))
        }
    }
}

/// Returns the hosts of `from` and `to`; `hosts` stands for both.
fn ends(keys: &Keys<'_>) -> Result<(Selection, Selection), Fault> {
    let both = keys.get(&HOSTS)?;
    if keys.has(&HOSTS) && (keys.has(&FROM) || keys.has(&TO)) {
        return Err(HOSTS.fault("stands for `from` and `to`; leave it out beside them"));
    }
    let one = |key| -> Result<Selection, Fault> { Ok(keys.find(key)?.unwrap_or_else(|| both.clone())) };
    Ok((one(&FROM)?, one(&TO)?))
}

fn poisson(keys: &Keys<'_>) -> Result<Traffic, Fault> {
    let (sizes, load, (from, to)) = (sizes(keys)?, keys.get(&LOAD)?, ends(keys)?);
    Ok(Traffic::Poisson(Poisson { sizes, load, from, to, between_switches: keys.get(&BETWEEN_SWITCHES)? }))
}

fn incast(keys: &Keys<'_>) -> Result<Traffic, Fault> {
    let to = keys.get(&INCAST_TO)?;
    let (period, arrivals) = (keys.find(&PERIOD)?, keys.find(&ARRIVALS)?);
    if period.is_some_and(|period| period.is_zero()) {
        return Err(PERIOD.fault("found 0, expected a time above 0"));
    }
    if period.is_none() && arrivals.is_some() {
        return Err(ARRIVALS.fault("needs `period`, the mean time between two incasts"));
    }
    Ok(Traffic::Incast(Incast {
        sizes: sizes(keys)?,
        from: keys.get(&FROM)?,
        to,
        receiver: keys.get(&RECEIVER)?,
        fan_in: keys.find(&FAN_IN)?,
        period,
        poisson: arrivals.unwrap_or(false),
        jitter: keys.get(&JITTER)?,
    }))
}

fn permutation(keys: &Keys<'_>) -> Result<Traffic, Fault> {
    let (sizes, hosts) = (sizes(keys)?, keys.get(&HOSTS)?);
    let (iterations, gap) = (keys.get(&ITERATIONS)?, keys.get(&GAP)?);
    Ok(Traffic::Permutation(Permutation { sizes, hosts, iterations, gap }))
}

fn all_reduce(keys: &Keys<'_>) -> Result<CollectiveOperation, Fault> {
    let (given, outstanding) = (keys.find(&TREE_CHUNKS)?, keys.find(&TREE_OUTSTANDING)?);
    match keys.get(&ALGORITHM)? {
        CollectiveOperation::TreeAllReduce { chunks, outstanding: most } => {
            let (chunks, outstanding) = (given.unwrap_or(chunks), outstanding.unwrap_or(most));
            Ok(CollectiveOperation::TreeAllReduce { chunks, outstanding })
        }
        _ if given.is_some() => Err(TREE_CHUNKS.fault("is for algorithm = \"tree\"; leave it out")),
        _ if outstanding.is_some() => {
            Err(TREE_OUTSTANDING.fault("is for algorithm = \"tree\"; leave it out"))
        }
        other => Ok(other),
    }
}

fn collective(keys: &Keys<'_>, operation: CollectiveOperation) -> Result<Traffic, Fault> {
    Ok(Traffic::Collective(Collective {
        operation,
        bytes: keys.get(&BUFFER)?.0,
        hosts: keys.get(&HOSTS)?,
        group: keys.find(&GROUP)?,
        iterations: keys.get(&ITERATIONS)?,
        gap: keys.get(&GAP)?,
    }))
}

fn operations(
    keys: &Keys<'_>,
    operation: impl Fn(&Keys<'_>, Pace) -> Result<Operation, Fault>,
) -> Result<Traffic, Fault> {
    let pace = match (keys.find(&CLIENT_LOAD)?, keys.find(&OUTSTANDING)?, keys.find(&THINK)?) {
        (Some(load), None, None) => Pace::Load(load),
        (None, Some(count), think) => Pace::Outstanding { count, think: think.unwrap_or_default() },
        (None, None, think) => {
            let what = || {
                "is missing; set `outstanding` for a closed loop, or `load` for operations by a Poisson process".to_owned()
            };
            let think = think.unwrap_or_default();
            keys.missing(&OUTSTANDING, what, || Ok(Pace::Outstanding { count: 1, think }))?
        }
        (Some(_), None, Some(_)) => return Err(THINK.fault("is for a closed loop, with `outstanding`")),
        (Some(_), Some(_), _) => return Err(CLIENT_LOAD.fault("leave out `load` or `outstanding`")),
    };
    let (operation, (from, to)) = (operation(keys, pace)?, ends(keys)?);
    Ok(Traffic::Operations(Operations { operation, from, to, pace }))
}

fn costs(keys: &Keys<'_>) -> Result<SoftwareCosts, Fault> {
    let (poll, crc) = (keys.get(&POLL)?, keys.find(&CRC)?);
    match crc.is_some_and(|rate| rate.as_bps() == 0) {
        true => Err(CRC.fault("found 0, expected a rate such as \"40Gbps\"")),
        false => Ok(SoftwareCosts { poll, crc }),
    }
}

fn kernel_rdma(keys: &Keys<'_>, reads: bool) -> Result<Operation, Fault> {
    Ok(Operation::KernelRdma(KernelRdma {
        reads,
        sizes: sizes(keys)?,
        request: keys.get(&REQUEST)?.0,
        reply: keys.get(&REPLY)?.0,
        service: keys.get(&SERVICE)?,
        registration: keys.get(&REGISTRATION)?,
        costs: costs(keys)?,
    }))
}

fn user_rdma(keys: &Keys<'_>, pace: Pace) -> Result<UserRdma, Fault> {
    let (send_up_to, read_from) = (keys.get(&SEND_UP_TO)?.0, keys.get(&READ_FROM)?.0);
    if send_up_to >= read_from {
        return Err(
            READ_FROM.fault(format!("found {read_from}, expected more than send_up_to, {send_up_to}"))
        );
    }
    let credit_update = keys.get(&CREDIT_UPDATE)?;
    let fits = match pace {
        Pace::Outstanding { count, .. } => count % credit_update == 0,
        Pace::Load(_) => credit_update == 1,
    };
    if !fits {
        return Err(CREDIT_UPDATE.fault(format!(
            "found {credit_update}, expected a number that divides `outstanding`, the receiver's credits; with `load` 1"
        )));
    }
    let (control, sizes, costs) = (keys.get(&CONTROL)?.0, sizes(keys)?, costs(keys)?);
    Ok(UserRdma { sizes, send_up_to, read_from, credit_update, control, costs })
}
