//! The storage protocols of Azure over RDMA: sU-RDMA between storage servers, in three transfer modes by size, and sK-RDMA
//! between a compute server's disk driver and storage (model: buffer §5, lesson L11).
//!
//! RC keeps the order of work requests, so a Write and the Send behind it are one message on the wire. An RDMA Read is two:
//! the request, and the data that the other NIC sends back without software.

use super::{Begun, Ended, Footprint};
use crate::contest::workload::fault::Fault;
use crate::contest::workload::plan::{Builder, Mark, Need, Sample, SampleKind, When};
use crate::contest::workload::sizes::Sizes;
use sluice_asic::units::{BitRate, Bytes, Duration};
use sluice_fabric::host::nic::WorkRequest;
use sluice_pcaps::generate::Draw;

/// Bytes of an RDMA Read request beside headers: the RDMA extended transport header (InfiniBand, §9.3).
const READ_REQUEST: u64 = 16;

/// Times that software takes at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoftwareCosts {
    /// Time from a completion queue element to the software that polls it.
    pub poll: Duration,
    /// Rate at which software computes the CRC of application data; `None`: there is no CRC.
    pub crc: Option<BitRate>,
}

impl SoftwareCosts {
    /// Returns the time for the CRC of so many bytes.
    fn check(&self, bytes: u64) -> Duration {
        self.crc.map_or(Duration::ZERO, |rate| rate.time_for(Bytes(bytes)))
    }
}

/// Messages of sU-RDMA. With a closed loop, the operations under way are the receiver's credits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRdma {
    /// Sizes of messages.
    pub sizes: Sizes,
    /// Messages of at most this size are one Send.
    pub send_up_to: u64,
    /// Messages of at least this size are read by the receiver; those between are a Write and a Send.
    pub read_from: u64,
    /// Messages after which the receiver sends a credit update, at least 1.
    pub credit_update: u32,
    /// Bytes of control messages: description of a buffer, Write Done, Read Done, credit update.
    pub control: u64,
    /// Costs of software.
    pub costs: SoftwareCosts,
}

/// Disk operations of sK-RDMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelRdma {
    /// True for disk reads.
    pub reads: bool,
    /// Sizes of what is read or written.
    pub sizes: Sizes,
    /// Bytes of the request, with the description of the registered buffers.
    pub request: u64,
    /// Bytes of the response.
    pub reply: u64,
    /// Time that the storage server takes.
    pub service: Duration,
    /// Time that the fast memory registration in front of a request takes.
    pub registration: Duration,
    /// Costs of software.
    pub costs: SoftwareCosts,
}

impl UserRdma {
    pub(super) fn footprint(&self) -> Footprint {
        let bytes = self.sizes.mean();
        Footprint { client: (bytes, self.control), servers: (self.control, bytes) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let (mut consumed, mut line) = (Vec::new(), 0_u64);
        for _ in 0..self.credit_update {
            let bytes = self.sizes.draw(draw);
            line = line.saturating_add(bytes);
            consumed.push(self.message(begun, bytes, into)?);
        }
        let when = into.after_all(&consumed).following(begun.when);
        let update = into.send(begun.servers[0], begun.client, self.control, when)?;
        Ok(Ended {
            received: vec![update],
            line,
            messages: 2,
            service: Duration::ZERO,
            after: self.costs.poll,
        })
    }

    /// Plans one message. Returns what the receiver must have before it can use the message's buffer again.
    fn message(&self, begun: &Begun<'_>, bytes: u64, into: &mut Builder<'_>) -> Result<Need, Fault> {
        let (client, server, poll) = (begun.client, begun.servers[0], self.costs.poll);
        let check = self.costs.check(bytes);
        let (kind, first) = match bytes {
            _ if bytes <= self.send_up_to => (SampleKind::Send, bytes),
            _ if bytes < self.read_from => (SampleKind::Write, bytes + self.control),
            _ => (SampleKind::Send, self.control),
        };
        let posted = into.send(client, server, first, begun.when)?;
        into.sample(Sample { kind, from: posted, to: Mark::Acknowledged(posted), after: poll, bytes: first });
        let mut arrives = posted;
        if bytes > self.send_up_to && bytes >= self.read_from {
            arrives =
                read(server, client, bytes, into.after(&[posted], poll).following(begun.when), poll, into)?;
            let done = into.after(&[arrives], poll + check).following(begun.when);
            into.send(server, client, self.control, done)?;
        }
        // The sender computes the CRC before it posts, the receiver before it delivers.
        let to = Mark::Received(arrives);
        into.sample(Sample { kind: SampleKind::Operation, from: posted, to, after: poll + check * 2, bytes });
        Ok(Need { message: arrives, delay: poll + check })
    }
}

impl KernelRdma {
    pub(super) fn footprint(&self) -> Footprint {
        let bytes = self.sizes.mean();
        let (sent, received) =
            if self.reads { (self.request, bytes + self.reply) } else { (self.request + bytes, self.reply) };
        Footprint { client: (sent, received), servers: (received, sent) }
    }

    pub(super) fn plan(
        &self,
        begun: &Begun<'_>,
        draw: &mut Draw,
        into: &mut Builder<'_>,
    ) -> Result<Ended, Fault> {
        let (client, server, poll) = (begun.client, begun.servers[0], self.costs.poll);
        let bytes = self.sizes.draw(draw);
        let check = self.costs.check(bytes);
        let request = into.send(client, server, self.request, begun.when)?;
        into.register(request, WorkRequest { queue: server, registration: self.registration });
        let send = Mark::Acknowledged(request);
        into.sample(Sample {
            kind: SampleKind::Send,
            from: request,
            to: send,
            after: poll,
            bytes: self.request,
        });
        let ends = if self.reads {
            // The server computes the CRC of what it has read from its disk; Write and response follow each other.
            let when = into.after(&[request], poll + self.service + check).following(begun.when);
            let bytes = bytes + self.reply;
            let data = into.send(server, client, bytes, when)?;
            let to = Mark::Acknowledged(data);
            into.sample(Sample { kind: SampleKind::Write, from: data, to, after: poll, bytes });
            data
        } else {
            let when = into.after(&[request], poll).following(begun.when);
            let data = read(server, client, bytes, when, poll, into)?;
            let when = into.after(&[data], poll + check + self.service).following(begun.when);
            into.send(server, client, self.reply, when)?
        };
        // The compute server computes the CRC of a read after the response, and that of a write before its request.
        let (to, after) = (Mark::Received(ends), poll + check);
        into.sample(Sample { kind: SampleKind::Operation, from: request, to, after, bytes });
        let service = self.service + check + poll + self.registration;
        let messages = if self.reads { 2 } else { 4 };
        Ok(Ended { received: vec![ends], line: bytes, messages, service, after })
    }
}

/// Plans an RDMA Read of `reader` from `owner`, and returns the data's message.
fn read(
    reader: u32,
    owner: u32,
    bytes: u64,
    when: When,
    poll: Duration,
    into: &mut Builder<'_>,
) -> Result<u32, Fault> {
    let request = into.send(reader, owner, READ_REQUEST, when)?;
    let answered = into.after(&[request], Duration::ZERO).following(when);
    let data = into.send(owner, reader, bytes, answered)?;
    into.sample(Sample {
        kind: SampleKind::Read,
        from: request,
        to: Mark::Received(data),
        after: poll,
        bytes,
    });
    Ok(data)
}
