//! [`Plan`]: all messages of a run, with what each of them waits for, before they are given to hosts.

use super::fault::Fault;
use super::hosts::HostTable;
use sluice_asic::hash::splitmix64;
use sluice_asic::units::{Duration, Time};
use sluice_fabric::host::message::Message;
use sluice_fabric::host::nic::{Awaited, HostMessages, Waiting, WorkRequest};
use sluice_pcaps::generate::Draw;
use std::collections::BTreeMap;

/// First UDP source port.
pub(super) const FIRST_PORT: u16 = 49_152;
/// Number of UDP source ports from [`FIRST_PORT`] on.
pub(super) const ALL_PORTS: u16 = 1 << 14;
/// Most messages: each has its own queue pair, whose number has 24 bits and is not 0.
pub(crate) const MOST: usize = (1 << 24) - 1;

/// A message of a plan. Its queue pair has the number of its place in the plan, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Index of the sender.
    pub from: u32,
    /// Index of the receiver, not the sender.
    pub to: u32,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// When the message is ready.
    pub when: When,
    /// UDP or TCP source port.
    pub port: u16,
    /// Index of the transport.
    pub transport: u8,
    /// Index of the workload.
    pub workload: u8,
}

/// When a message is ready to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// Not before this time.
    pub start: Time,
    /// Index of the gate that must open first.
    pub gate: Option<u32>,
    /// If the message would be ready at this time or later, it is not sent. A message with this limit is not missed if
    /// it never becomes ready.
    pub until: Option<Time>,
}

impl When {
    /// Returns a fixed time.
    pub(super) const fn at(start: Time) -> When {
        When { start, gate: None, until: None }
    }

    /// Returns the time at which a gate opens.
    pub(super) const fn after(gate: u32) -> When {
        When { start: Time::ORIGIN, gate: Some(gate), until: None }
    }

    /// Returns this time for a message that follows one with `first`: it is sent if that one is, however late.
    pub(super) fn following(self, first: When) -> When {
        When { until: first.until.map(|_| Time::MAX), ..self }
    }
}

/// A message that a gate waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Index of the message.
    pub message: u32,
    /// Time from its last byte's arrival, or from its last acknowledgement.
    pub delay: Duration,
}

/// A sample of the life of a work request or an operation (model: buffer §5, lesson L11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The request or operation that was timed.
    pub kind: SampleKind,
    /// Index of the message whose start is the time at which the work request was posted, T1.
    pub from: u32,
    /// When its completion queue element is made, T5.
    pub to: Mark,
    /// Time of software from T5 on: to T6, at which it has polled the element; of an operation to its end.
    pub after: Duration,
    /// Bytes of the work request, or payload of the operation.
    pub bytes: u64,
}

/// Kind of a work request or operation that a sample times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SampleKind {
    /// A Send.
    Send,
    /// A Write, with the Send behind it.
    Write,
    /// A Read.
    Read,
    /// A whole operation: a transfer, or a disk read or write.
    Operation,
}

/// An event of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// All of it is acknowledged.
    Acknowledged(u32),
    /// All of it has arrived.
    Received(u32),
}

/// Messages of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The messages. Each waits only for messages before it.
    pub messages: Vec<Planned>,
    /// Messages that are posted to send queues, by their indices.
    pub requests: BTreeMap<u32, WorkRequest>,
    /// Samples of the lives of work requests and operations.
    pub samples: Vec<Sample>,
    /// First need of each gate.
    gates: Vec<u32>,
    /// Messages that gates wait for, in order of the gates.
    needs: Vec<Need>,
}

impl Plan {
    /// Returns what a gate waits for: it opens when all these messages are completely received by its host, or
    /// acknowledged to it, and their delays are over.
    #[must_use]
    pub fn needs(&self, gate: u32) -> &[Need] {
        let gate = gate as usize;
        let first = self.gates.get(gate).map_or(self.needs.len(), |first| *first as usize);
        let end = self.gates.get(gate + 1).map_or(self.needs.len(), |end| *end as usize);
        &self.needs[first..end]
    }

    /// Adds a gate.
    pub(super) fn gate(&mut self, needs: &[Need]) -> u32 {
        self.gates.push(self.needs.len() as u32);
        self.needs.extend_from_slice(needs);
        self.gates.len() as u32 - 1
    }

    /// Returns the messages of each host.
    #[must_use]
    pub fn by_host(&self, hosts: &HostTable) -> Vec<HostMessages> {
        let arrivals = !self.samples.is_empty();
        let mut all = vec![HostMessages { arrivals, ..HostMessages::default() }; hosts.len()];
        // Number of a gate at its host: a gate belongs to the host of the messages behind it.
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        for (pair, planned) in (1..).zip(&self.messages) {
            let own = &mut all[planned.from as usize];
            let message = Message {
                pair,
                transport: planned.transport,
                workload: planned.workload,
                start: planned.when.start,
                to: hosts.station(planned.to).address,
                port: planned.port,
                bytes: planned.bytes,
            };
            if let Some(request) = self.requests.get(&(pair - 1)) {
                own.requests.insert(pair, *request);
            }
            match planned.when.gate {
                None => own.starting.push(message),
                Some(gate) => {
                    let number = *known.entry(gate).or_insert_with(|| {
                        let of = |need: &Need| Awaited { pair: need.message + 1, delay: need.delay };
                        own.gates.push(self.needs(gate).iter().map(of).collect());
                        own.gates.len() as u32 - 1
                    });
                    own.waiting.push(Waiting { message, gate: number, until: planned.when.until });
                }
            }
        }
        all
    }
}

/// How the UDP source ports of a pair of hosts are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ports {
    /// The messages of a pair take this many ports in turn, from [`FIRST_PORT`] on.
    First(u16),
    /// The same, from a port on that the seed draws for each pair.
    Drawn(u16),
}

/// Adds the messages of one workload to a plan.
pub(super) struct Builder<'a> {
    pub(super) plan: &'a mut Plan,
    pub(super) hosts: &'a HostTable,
    /// Index of the workload.
    pub(super) workload: u8,
    pub(super) transport: u8,
    pub(super) seed: u64,
    /// Start of the workload.
    pub(super) begin: Time,
    /// Messages without a need begin before this time.
    pub(super) end: Time,
    pub(super) ports: Ports,
    turns: BTreeMap<(u32, u32), u16>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        plan: &'a mut Plan,
        hosts: &'a HostTable,
        (workload, transport): (u8, u8),
        seed: u64,
        (begin, end): (Time, Time),
        ports: Ports,
    ) -> Builder<'a> {
        Builder { plan, hosts, workload, transport, seed, begin, end, ports, turns: BTreeMap::new() }
    }

    /// Returns one of the workload's random streams.
    pub(super) fn draw(&self, stream: u32) -> Draw {
        Draw::new(self.seed, u64::from(self.workload) << 32 | u64::from(stream))
    }

    /// Adds a message and returns its index.
    pub(super) fn send(&mut self, from: u32, to: u32, bytes: u64, when: When) -> Result<u32, Fault> {
        let port = self.port(from, to);
        self.send_from(port, from, to, bytes, when)
    }

    /// Adds a message with this UDP source port.
    pub(super) fn send_from(
        &mut self,
        port: u16,
        from: u32,
        to: u32,
        bytes: u64,
        when: When,
    ) -> Result<u32, Fault> {
        let index = self.plan.messages.len();
        if index >= MOST {
            let what =
                format!("more than {MOST} messages in the contest; shorten the time, or send larger ones");
            return Err(Fault::new("time", what));
        }
        let (transport, workload) = (self.transport, self.workload);
        self.plan.messages.push(Planned { from, to, bytes, when, port, transport, workload });
        Ok(index as u32)
    }

    /// Adds a gate for these messages, which opens this time after the last of them.
    pub(super) fn after(&mut self, messages: &[u32], delay: Duration) -> When {
        let needs: Vec<Need> = messages.iter().map(|message| Need { message: *message, delay }).collect();
        When::after(self.plan.gate(&needs))
    }

    /// Adds a gate that opens when all these needs are met.
    pub(super) fn after_all(&mut self, needs: &[Need]) -> When {
        When::after(self.plan.gate(needs))
    }

    /// Posts a message to a send queue of its sender.
    pub(super) fn register(&mut self, message: u32, request: WorkRequest) {
        self.plan.requests.insert(message, request);
    }

    /// Adds a sample.
    pub(super) fn sample(&mut self, sample: Sample) {
        self.plan.samples.push(sample);
    }

    fn port(&mut self, from: u32, to: u32) -> u16 {
        let turn = self.turns.entry((from, to)).or_default();
        let now = *turn;
        *turn = turn.wrapping_add(1);
        match self.ports {
            Ports::First(count) => FIRST_PORT + now % count,
            Ports::Drawn(count) => {
                let pair = u64::from(self.workload) << 48 | u64::from(from) << 24 | u64::from(to);
                let first = splitmix64(self.seed ^ splitmix64(pair));
                let offset = (first % u64::from(ALL_PORTS)) as u16 + now % count;
                FIRST_PORT + offset % ALL_PORTS
            }
        }
    }
}
