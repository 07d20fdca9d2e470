//! Two hosts, connected by a cable in each direction. The cables can lose chosen frames, and that of the first host can have
//! a bottleneck: a queue with tail drop and a marking threshold.

use super::super::segment::Segment;
use super::super::*;
use crate::host::nic::{Nic, PortConfig, TransportConfig};
use crate::network::{Host, HostFrame};
use sluice_asic::mac::{FCS, PREAMBLE, WireOverhead};
use sluice_asic::units::{Bytes, Duration};

pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(super) const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
pub(super) const LINE: BitRate = BitRate::from_gbps(100);

/// A bottleneck.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bottleneck {
    pub(super) rate: BitRate,
    /// Most packets in the queue, the one that is being sent included.
    pub(super) most: usize,
    /// A packet is marked if it finds more packets.
    pub(super) mark: usize,
}

/// A frame on its way.
struct Flying {
    to: usize,
    bytes: Vec<u8>,
    orig_len: u32,
    tag: u64,
}

/// A frame that a host has sent: when its first bit was sent, and if it was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) from: usize,
    pub(super) at: Time,
    pub(super) segment: Segment,
    pub(super) lost: bool,
}

/// Decides which frames are lost.
type Loses<'a> = Box<dyn FnMut(usize, u64, &Segment) -> bool + 'a>;

/// Two hosts and their cables.
pub(super) struct Pipe<'a> {
    pub(super) hosts: [Nic; 2],
    pub(super) delay: Duration,
    bottleneck: Option<Bottleneck>,
    /// Departures of the packets in the bottleneck.
    queue: VecDeque<Time>,
    /// Queue lengths that packets found, by arrival.
    pub(super) depths: Vec<(Time, usize)>,
    /// Frames by their arrival and the order of their transmission.
    flying: BTreeMap<(Time, usize), Flying>,
    pub(super) seen: Vec<Seen>,
    /// Returns true for a frame that is lost, by its host and its number among the frames of this host.
    lose: Loses<'a>,
    counts: [u64; 2],
}

pub(super) fn message(pair: u32, start: Time, bytes: u64) -> Message {
    Message { pair, transport: 0, workload: 0, start, to: PEER, port: 49_152, bytes }
}

impl<'a> Pipe<'a> {
    pub(super) fn new(config: &TcpConfig, delay: Duration, messages: Vec<Message>) -> Pipe<'a> {
        let port = PortConfig { rate: LINE, pfc: None, wire: WireOverhead::ETHERNET };
        let transports = [TransportConfig::Tcp(config.clone())];
        Pipe {
            hosts: [
                Nic::new(port, OWN, &transports, messages),
                Nic::new(port, PEER, &transports, Vec::new()),
            ],
            delay,
            bottleneck: None,
            queue: VecDeque::new(),
            depths: Vec::new(),
            flying: BTreeMap::new(),
            seen: Vec::new(),
            lose: Box::new(|_, _, _| false),
            counts: [0; 2],
        }
    }

    pub(super) fn bottleneck(mut self, bottleneck: Bottleneck) -> Pipe<'a> {
        self.bottleneck = Some(bottleneck);
        self
    }

    /// Loses frames.
    pub(super) fn lose(mut self, lose: impl FnMut(usize, u64, &Segment) -> bool + 'a) -> Pipe<'a> {
        self.lose = Box::new(lose);
        self
    }

    /// Runs until no message is under way, or until `end`; calls `look` after every event.
    pub(super) fn run_with(mut self, end: Time, mut look: impl FnMut(Time, &Nic)) -> Pipe<'a> {
        loop {
            let arrival = self.flying.first_key_value().map(|((at, _), _)| *at);
            let hosts = self.hosts.iter().filter_map(|host| host.next_time()).min();
            let Some(now) = arrival.into_iter().chain(hosts).min().filter(|now| *now <= end) else { break };
            for host in 0..2 {
                self.advance(host, now);
            }
            while let Some(first) = self.flying.first_entry().filter(|first| first.key().0 <= now) {
                let Flying { to, bytes, orig_len, tag } = first.remove();
                self.hosts[to].receive(now, HostFrame { bytes: &bytes, orig_len, tag });
            }
            look(now, &self.hosts[0]);
            if self.flying.is_empty() && !self.hosts.iter().any(Host::is_busy) {
                break;
            }
        }
        self
    }

    pub(super) fn run(self, end: Time) -> Pipe<'a> {
        self.run_with(end, |_, _| {})
    }

    fn advance(&mut self, from: usize, until: Time) {
        let mut sent = Vec::new();
        self.hosts[from].advance(until, &mut |at, frame: HostFrame<'_>| {
            sent.push((at, frame.bytes.to_vec(), frame.orig_len, frame.tag));
        });
        for (first_bit, bytes, orig_len, tag) in sent {
            let own = [PEER, OWN][from];
            let segment = Segment::read(own, &bytes).unwrap();
            let lost = (self.lose)(from, self.counts[from], &segment);
            self.counts[from] += 1;
            self.put(Flying { to: 1 - from, bytes, orig_len, tag }, first_bit, segment, lost);
        }
    }

    /// Puts a frame with its first bit at `at` on the cable.
    fn put(&mut self, mut flying: Flying, at: Time, segment: Segment, mut lost: bool) {
        let from = 1 - flying.to;
        let last_bit = at + LINE.time_for(Bytes(u64::from(flying.orig_len) + FCS.0));
        let mut out = last_bit;
        if let Some(Bottleneck { rate, most, mark }) = self.bottleneck.filter(|_| from == 0 && !lost) {
            while self.queue.front().is_some_and(|departure| *departure <= last_bit) {
                self.queue.pop_front();
            }
            let depth = self.queue.len();
            self.depths.push((last_bit, depth));
            lost = depth >= most;
            if depth > mark && segment.ecn != 0 {
                flying.bytes[15] |= 3;
            }
            let free = self.queue.back().copied().unwrap_or(last_bit);
            out = free + rate.time_for(WireOverhead::ETHERNET.wire_bytes(Bytes(flying.orig_len.into())));
            if !lost {
                self.queue.push_back(out);
            }
        }
        self.seen.push(Seen { from, at, segment, lost });
        if !lost {
            self.flying.insert((out + self.delay, self.seen.len()), flying);
        }
    }

    /// Returns the frames of a host that satisfy a condition.
    pub(super) fn sent(&self, from: usize, which: impl Fn(&Segment) -> bool) -> Vec<Seen> {
        self.seen.iter().filter(|seen| seen.from == from && which(&seen.segment)).copied().collect()
    }
}

/// Returns the time on the line of a frame, preamble and gap included.
pub(super) fn line(orig_len: u64) -> Duration {
    LINE.time_for(WireOverhead::ETHERNET.wire_bytes(Bytes(orig_len)))
}

/// Returns the time from the start of a transmission to the arrival of the last bit, without the cable's delay.
pub(super) fn store(orig_len: u64) -> Duration {
    LINE.time_for(Bytes(orig_len) + FCS + PREAMBLE)
}
