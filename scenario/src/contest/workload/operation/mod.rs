//! Operations of clients on servers: requests with responses, and reads and writes of distributed storage.
//!
//! A client draws an operation's servers, which are distinct and not the client. It begins operations by a Poisson process
//! to a load, or it keeps a number of them outstanding: in a *closed loop* the next one begins when one ends, after the
//! client's thinking time, until the workload's end.
//!
//! A closed loop's operations are planned for the shortest time that each can take: what the client's line needs for the
//! bytes, and the delays of the cables. Those that would begin after the end are not sent.

mod chunked;
mod erasure;
mod rdma;
mod replication;
mod request;

pub use chunked::ChunkedRead;
pub use erasure::{ErasureRead, ErasureWrite};
pub use rdma::{KernelRdma, SoftwareCosts, UserRdma};
pub use replication::ReplicatedWrite;
pub use request::RequestResponse;

use super::capacity::Rates;
use super::fault::Fault;
use super::hosts::{HostTable, Selection};
use super::incast::shuffle;
use super::plan::{Builder, When};
use super::poisson::gap;
use sluice_asic::units::{Bytes, Duration};
use sluice_pcaps::generate::Draw;

/// Operations of clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operations {
    /// Kind of the operations, with its settings.
    pub operation: Operation,
    /// The clients.
    pub from: Selection,
    /// The servers.
    pub to: Selection,
    /// When operations begin.
    pub pace: Pace,
}

/// When a client's operations begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// By a Poisson process. In the direction in which operations have more payload, they use this share of the client's
    /// link rate, percent, 1 to 100.
    Load(u32),
    /// A closed loop.
    Outstanding {
        /// Operations of each client under way, at least 1.
        count: u32,
        /// Time from the end of an operation to the next one.
        think: Duration,
    },
}

/// Kinds of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A request and its response.
    Request(RequestResponse),
    /// A write to a chain of replicas.
    ReplicatedWrite(ReplicatedWrite),
    /// A write of an erasure-coded extent.
    ErasureWrite(ErasureWrite),
    /// A read of an erasure-coded extent.
    ErasureRead(ErasureRead),
    /// A read in chunks, with a static window.
    ChunkedRead(ChunkedRead),
    /// Messages between storage servers, in one of three transfer modes.
    UserRdma(UserRdma),
    /// Disk operations.
    KernelRdma(KernelRdma),
}

/// Mean payload bytes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Footprint {
    /// Sent and received by the client.
    client: (u64, u64),
    /// Sent and received by all servers together.
    servers: (u64, u64),
}

/// One operation: its client and servers, and when it begins.
struct Begun<'a> {
    client: u32,
    servers: &'a [u32],
    when: When,
}

/// End of an operation, as its client sees it.
struct Ended {
    /// The client has received these messages.
    received: Vec<u32>,
    /// Bytes that the client's line carries one after the other.
    line: u64,
    /// Messages one after the other, each over two hosts' cables.
    messages: u64,
    /// Time that servers take.
    service: Duration,
    /// Time that the client takes after it has received the messages.
    after: Duration,
}

impl Ended {
    /// Returns a time that the operation cannot undercut.
    fn least(&self, client: u32, hosts: &HostTable) -> Duration {
        let line = hosts.station(client).rate.time_for(Bytes(self.line));
        line + hosts.cable * (2 * self.messages) + self.service + self.after
    }
}

impl Operation {
    /// Returns the number of servers, and the key that says it.
    fn servers(&self) -> (&'static str, u32) {
        match self {
            Operation::Request(_) => ("to", 1),
            Operation::ReplicatedWrite(write) => ("replicas", write.replicas),
            Operation::ErasureWrite(write) => ("parity", write.data + write.parity),
            Operation::ErasureRead(read) => ("data", read.data),
            Operation::ChunkedRead(read) => ("servers", read.servers),
            Operation::UserRdma(_) | Operation::KernelRdma(_) => ("to", 1),
        }
    }

    /// Returns the number of operations that are planned together.
    fn together(&self) -> u32 {
        match self {
            Operation::UserRdma(transfer) => transfer.credit_update,
            _ => 1,
        }
    }

    fn footprint(&self) -> Footprint {
        match self {
            Operation::Request(request) => request.footprint(),
            Operation::ReplicatedWrite(write) => write.footprint(),
            Operation::ErasureWrite(write) => write.footprint(),
            Operation::ErasureRead(read) => read.footprint(),
            Operation::ChunkedRead(read) => read.footprint(),
            Operation::UserRdma(transfer) => transfer.footprint(),
            Operation::KernelRdma(disk) => disk.footprint(),
        }
    }

    fn plan(&self, begun: &Begun<'_>, draw: &mut Draw, into: &mut Builder<'_>) -> Result<Ended, Fault> {
        match self {
            Operation::Request(request) => request.plan(begun, draw, into),
            Operation::ReplicatedWrite(write) => write.plan(begun, draw, into),
            Operation::ErasureWrite(write) => write.plan(begun, draw, into),
            Operation::ErasureRead(read) => read.plan(begun, draw, into),
            Operation::ChunkedRead(read) => read.plan(begun, draw, into),
            Operation::UserRdma(transfer) => transfer.plan(begun, draw, into),
            Operation::KernelRdma(disk) => disk.plan(begun, draw, into),
        }
    }
}

/// A client with its possible servers.
struct Client {
    host: u32,
    servers: Vec<u32>,
    draw: Draw,
}

impl Operations {
    fn ways(&self, hosts: &HostTable) -> Result<Vec<(u32, Vec<u32>)>, Fault> {
        let from = hosts.select(&self.from).map_err(|what| Fault::new("from", what))?;
        let to = hosts.select(&self.to).map_err(|what| Fault::new("to", what))?;
        let (key, count) = self.operation.servers();
        let way = |client: u32| {
            let servers: Vec<u32> = to.iter().copied().filter(|to| *to != client).collect();
            if servers.len() < count as usize {
                let what = format!(
                    "an operation needs {count} servers, but client {} has {} besides itself; select more in `to`",
                    hosts.describe(client),
                    servers.len()
                );
                return Err(Fault::new(key, what));
            }
            Ok((client, servers))
        };
        from.into_iter().map(way).collect()
    }

    pub(super) fn plan(&self, into: &mut Builder<'_>) -> Result<(), Fault> {
        for (host, servers) in self.ways(into.hosts)? {
            let mut client = Client { host, servers, draw: into.draw(host) };
            match self.pace {
                Pace::Load(load) => self.open_loop(load, &mut client, into)?,
                Pace::Outstanding { count, think } => {
                    for _ in 0..count / self.operation.together() {
                        self.closed_loop(think, &mut client, into)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Begins one operation with servers that are drawn.
    fn begin(&self, when: When, client: &mut Client, into: &mut Builder<'_>) -> Result<Ended, Fault> {
        let count = self.operation.servers().1 as usize;
        shuffle(&mut client.servers, count, &mut client.draw);
        let begun = Begun { client: client.host, servers: &client.servers[..count], when };
        self.operation.plan(&begun, &mut client.draw, into)
    }

    fn open_loop(&self, load: u32, client: &mut Client, into: &mut Builder<'_>) -> Result<(), Fault> {
        let (sent, received) = self.operation.footprint().client;
        let rate = into.hosts.station(client.host).rate;
        let mut at = 0;
        loop {
            at += gap(&mut client.draw, sent.max(received), rate, load);
            let start = into.begin + Duration::from_ps(u64::try_from(at).unwrap_or(u64::MAX));
            if start >= into.end {
                return Ok(());
            }
            self.begin(When::at(start), client, into)?;
        }
    }

    /// Plans the operations of a client that follow each other.
    fn closed_loop(&self, think: Duration, client: &mut Client, into: &mut Builder<'_>) -> Result<(), Fault> {
        let mut earliest = into.begin;
        let mut when = When::at(earliest);
        when.until = Some(into.end);
        while earliest < into.end {
            let ended = self.begin(when, client, into)?;
            let least = ended.least(client.host, into.hosts) + think;
            // Without a cable, a line or a thought an operation might take no time.
            earliest += least.max(Duration::from_nanos(1));
            when = into.after(&ended.received, think + ended.after);
            when.until = Some(into.end);
        }
        Ok(())
    }

    /// Adds the mean rates that hosts send and receive. A closed loop adapts to what the links carry, and adds nothing.
    pub(super) fn load(&self, hosts: &HostTable, rates: &mut Rates) -> Result<(), Fault> {
        let ways = self.ways(hosts)?;
        let Pace::Load(load) = self.pace else { return Ok(()) };
        let Footprint { client, servers } = self.operation.footprint();
        let most = u128::from(client.0.max(client.1).max(1));
        for (host, others) in &ways {
            let line = u128::from(hosts.station(*host).rate.as_bps()) * u128::from(load) / 100;
            let of = |bytes: u64| line * u128::from(bytes) / most;
            rates.send(*host, of(client.0));
            rates.receive(*host, of(client.1));
            for other in others {
                rates.send(*other, of(servers.0) / others.len() as u128);
                rates.receive(*other, of(servers.1) / others.len() as u128);
            }
        }
        Ok(())
    }
}
