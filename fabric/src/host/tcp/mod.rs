//! TCP as a transport of a host: connections that carry messages in segments (model: tcp).
//!
//! A connection carries data in one direction, from the host that opened it, and acknowledgements in the other one. Clients
//! connect to port [`FIRST_PORT`] plus the number of the transport, so that several TCP transports of a host do not meet. The
//! message of a segment is told by the frame's tag, because the bytes of messages are not stored.
//!
//! - `segment` and `sequence` are the wire, `link` is one end towards it;
//! - `client` and `server` are the ends of a connection, `sender` and `receiver` their machines for data;
//! - `scoreboard`, `rtt` and `congestion` are the sender's parts, `ranges` the receiver's and the scoreboard's.
//!
//! Connections that are ready take turns segment by segment, or TSO burst by TSO burst. A connection that is reset does not exist:
//! segments without a connection are counted as stray.

mod client;
mod config;
mod congestion;
mod link;
mod ranges;
mod receiver;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod sequence;
mod server;
mod slab;
#[cfg(test)]
mod tests;

pub use config::{DelayedAck, IdleRestart, Pacing, Reuse, RtoConfig, TcpConfig};
pub use congestion::{CongestionConfig, CubicConfig, DctcpConfig};

use super::counters::HostCounters;
use super::message::{Completion, FlowState, Left, Message, MessageEvent};
use super::nic::{Outgoing, Port, Protocol};
use super::ports::FIRST_PORT;
use super::tag::FrameTag;
use crate::network::HostFrame;
use client::Client;
use link::Link;
use segment::{Path, Segment, Stored};
use sequence::{Numbering, initial};
use server::Server;
use slab::{Key, Slab};
use sluice_asic::units::{BitRate, Time};
use sluice_pcaps::wire::tcp as wire;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::net::Ipv4Addr;

/// First port of clients whose own port is taken, or is a server port.
const FIRST_EPHEMERAL: u16 = 49_152;

/// The end of a connection that a timer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Client,
    Server,
}

/// TCP connections of a host.
#[derive(Debug)]
pub(super) struct Tcp {
    config: TcpConfig,
    /// Rate of the link.
    rate: BitRate,
    address: Ipv4Addr,
    server_port: u16,
    clients: Slab<Client>,
    servers: Slab<Server>,
    /// Clients by the server's address and the own port, and servers by the client's address and port.
    by_server: BTreeMap<(Ipv4Addr, u16), Key>,
    by_client: BTreeMap<(Ipv4Addr, u16), Key>,
    /// Segments of clients without data.
    requests: VecDeque<Stored>,
    /// Segments of servers, with the messages that they answer.
    answers: VecDeque<(Stored, FrameTag)>,
    /// Clients that may send, in order of their turns; and paced ones whose time has not come.
    ready: VecDeque<Key>,
    paced: BinaryHeap<Reverse<(Time, Key)>>,
    timers: BinaryHeap<Reverse<(Time, End, Key)>>,
    /// Messages to whose receivers all ports are in use.
    waiting: VecDeque<Message>,
    /// Number of messages under way.
    messages: usize,
    counters: HostCounters,
}

impl Tcp {
    /// Creates the connections of transport `number` of the host with this address, at a link of this rate.
    pub(super) fn new(config: TcpConfig, rate: BitRate, address: Ipv4Addr, number: u8) -> Tcp {
        Tcp {
            config,
            rate,
            address,
            server_port: FIRST_PORT + u16::from(number),
            clients: Slab::new(),
            servers: Slab::new(),
            by_server: BTreeMap::new(),
            by_client: BTreeMap::new(),
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            paced: BinaryHeap::new(),
            timers: BinaryHeap::new(),
            waiting: VecDeque::new(),
            messages: 0,
            counters: HostCounters::default(),
        }
    }

    /// Returns the connection that a message uses, if one exists.
    fn connection(&self, message: &Message) -> Option<Key> {
        let to = message.to;
        let mut all = self.by_server.range((to, 0)..=(to, u16::MAX)).map(|(_, key)| *key);
        match self.config.reuse {
            Reuse::Never => None,
            Reuse::Always => all.next(),
            Reuse::Idle => all.find(|key| self.clients.get(*key).is_some_and(Client::is_idle)),
        }
    }

    /// Returns the port of a message, or the next one that is free for a connection to its receiver; `None` if all are taken.
    fn free_port(&self, message: &Message) -> Option<u16> {
        let servers = FIRST_PORT..=FIRST_PORT + u16::from(u8::MAX);
        let own = Some(message.port).filter(|port| !servers.contains(port));
        let mut ports = own.into_iter().chain(message.port.max(FIRST_EPHEMERAL)..=u16::MAX);
        let is_free = |port: &u16| !self.by_server.contains_key(&(message.to, *port));
        ports.find(is_free).or_else(|| (FIRST_EPHEMERAL..=u16::MAX).find(is_free))
    }

    /// Opens a connection for a message; without a free port the message waits for the end of another connection.
    fn open(&mut self, now: Time, message: Message) {
        let Some(port) = self.free_port(&message) else { return self.waiting.push_back(message) };
        let path = Path {
            from: self.address,
            to: message.to,
            source_port: port,
            destination_port: self.server_port,
        };
        let link = Link::new(&self.config, path, isn(path, now), Numbering(0));
        let client = Client::new(&self.config, link, now, message);
        self.requests.push_back(client.syn(&self.config, now));
        let key = self.clients.insert(client);
        self.by_server.insert((message.to, port), key);
        self.arm(End::Client, key);
    }

    /// Gives a client its turn, unless it waits for one.
    fn queue(&mut self, key: Key) {
        if let Some(client) = self.clients.get_mut(key)
            && client.sender().is_some()
            && !std::mem::replace(&mut client.queued, true)
        {
            self.ready.push_back(key);
        }
    }

    /// Makes an entry for a timer, unless there is one that is not later.
    fn arm(&mut self, end: End, key: Key) {
        let (timer, armed) = match end {
            End::Client => match self.clients.get_mut(key) {
                Some(client) => (client.timer(), &mut client.armed),
                None => return,
            },
            End::Server => match self.servers.get_mut(key) {
                Some(server) => (server.timer(), &mut server.armed),
                None => return,
            },
        };
        if let Some(due) = timer
            && armed.is_none_or(|armed| due < armed)
        {
            *armed = Some(due);
            self.timers.push(Reverse((due, end, key)));
        }
    }

    fn answer(&mut self, frame: Stored, pair: u32) {
        self.counters.acks += 1;
        self.answers.push_back((frame, FrameTag::answer(pair)));
    }

    /// Runs the timer of a client whose entry is due.
    fn expire_client(&mut self, now: Time, due: Time, key: Key) {
        let Some(client) = self.clients.get_mut(key).filter(|client| client.armed == Some(due)) else {
            return;
        };
        client.armed = None;
        let (again, expired) = client.expire(&self.config, now);
        self.requests.extend(again);
        if expired {
            self.counters.timeouts += 1;
            self.queue(key);
        }
        self.arm(End::Client, key);
    }

    /// Runs the timer of a server whose entry is due.
    fn expire_server(&mut self, now: Time, due: Time, key: Key) {
        let Some(server) = self.servers.get_mut(key).filter(|server| server.armed == Some(due)) else {
            return;
        };
        server.armed = None;
        let newest = server.newest;
        if let Some(frame) = server.expire(&self.config, now) {
            self.answer(frame, newest);
        }
        self.arm(End::Server, key);
    }

    /// Handles a segment of a server.
    fn heard(&mut self, at: Time, segment: &Segment, events: &mut Vec<MessageEvent>) {
        let name = (segment.path.from, segment.path.destination_port);
        let Some(key) = self.by_server.get(&name).copied() else { return self.heard_late(segment) };
        let Some(client) = self.clients.get_mut(key) else { return };
        let heard = client.receive(&self.config, at, segment);
        if heard.answer {
            self.requests.push_back(client.ack(&self.config, at));
        }
        while let Some(done) = client.sender_mut().and_then(|sender| sender.completed()) {
            self.messages -= 1;
            events.push(MessageEvent::Completed(Completion {
                message: done.message,
                end: at,
                cuts: done.cuts,
            }));
        }
        self.counters.stray += u64::from(!heard.known);
        self.counters.notified += u64::from(heard.known && segment.flags & wire::ECE != 0);
        self.counters.fast_retransmits += u64::from(heard.effect.fast_retransmit);
        self.counters.spurious += u64::from(heard.effect.duplicate);
        if client.close(&self.config) {
            self.clients.remove(key);
            self.by_server.remove(&name);
            if let Some(next) = self.waiting.pop_front() {
                self.open(at, next);
            }
            return;
        }
        self.queue(key);
        self.arm(End::Client, key);
    }

    /// Handles a segment of a server whose client is closed: acknowledges the server's FIN again, as in TIME-WAIT
    /// (RFC 9293 §3.10.7.4).
    fn heard_late(&mut self, segment: &Segment) {
        if segment.flags & wire::FIN == 0 {
            self.counters.stray += 1;
            return;
        }
        let Path { from, to, source_port, destination_port } = segment.path;
        let path = Path { from: to, to: from, source_port: destination_port, destination_port: source_port };
        let answer = Segment {
            path,
            dscp: self.config.data.dscp,
            sequence: segment.acknowledgement,
            acknowledgement: segment.sequence.wrapping_add(1),
            flags: wire::ACK,
            options: segment::Options {
                timestamps: segment.options.timestamps.map(|(value, echo)| (echo, value)),
                ..segment::Options::default()
            },
            ..*segment
        };
        self.requests.push_back(answer.store());
    }

    /// Handles a segment of a client.
    fn asked(&mut self, at: Time, segment: &Segment, pair: u32, events: &mut Vec<MessageEvent>) {
        let name = (segment.path.from, segment.path.source_port);
        let known = self.by_client.get(&name).copied();
        if segment.flags & wire::SYN != 0 {
            return self.accept(at, segment, known);
        }
        let Some((key, server)) = known.and_then(|key| Some((key, self.servers.get_mut(key)?))) else {
            self.counters.stray += 1;
            return;
        };
        let received = |pair| events.push(MessageEvent::Received { pair, at });
        let taken = server.receive(&self.config, at, segment, pair, received);
        let before = taken.answer.before.map(|(next, ece)| server.ack_before(&self.config, at, next, ece));
        let now = taken.answer.now.then(|| server.ack(&self.config, at));
        let closed = server.is_closed();
        before.into_iter().chain(now).for_each(|frame| self.answer(frame, pair));
        self.counters.received += u64::from(taken.data);
        self.counters.early += u64::from(taken.answer.early);
        self.counters.duplicates += u64::from(taken.answer.duplicate);
        self.counters.marked += u64::from(taken.marked);
        if closed {
            self.servers.remove(key);
            self.by_client.remove(&name);
            return;
        }
        self.arm(End::Server, key);
    }

    /// Handles a SYN; `known` is the connection with the client's address and port.
    fn accept(&mut self, at: Time, syn: &Segment, known: Option<Key>) {
        let Path { from, to, source_port, destination_port } = syn.path;
        let again = known.filter(|key| self.servers.get(*key).is_some_and(|server| server.is_opened_by(syn)));
        let key = again.unwrap_or_else(|| {
            // A new connection of a client that has closed an earlier one with the same port.
            known.and_then(|key| self.servers.remove(key));
            let path =
                Path { from: to, to: from, source_port: destination_port, destination_port: source_port };
            let link = Link::new(&self.config, path, isn(path, at), Numbering(syn.sequence));
            let key = self.servers.insert(Server::new(&self.config, link, at, syn));
            self.by_client.insert((from, source_port), key);
            key
        });
        if let Some(server) = self.servers.get(key) {
            self.answers.push_back((server.syn_ack(&self.config, at), FrameTag::default()));
        }
        self.arm(End::Server, key);
    }
}

/// Returns the initial sequence number of a connection's end.
fn isn(path: Path, now: Time) -> Numbering {
    let micros = now.as_nanos() / 1000;
    initial([path.from.to_bits(), path.to.to_bits()], [path.source_port, path.destination_port], micros)
}

impl Protocol for Tcp {
    fn start(&mut self, now: Time, message: Message) {
        self.messages += 1;
        let used = self.connection(&message);
        match used.and_then(|key| Some((key, self.clients.get_mut(key)?))) {
            Some((key, client)) => {
                client.append(message);
                self.queue(key);
            }
            None => self.open(now, message),
        }
    }

    fn receive(&mut self, at: Time, frame: HostFrame<'_>, events: &mut Vec<MessageEvent>) -> bool {
        let Some(segment) = Segment::read(self.address, frame.bytes) else { return false };
        if segment.path.destination_port == self.server_port {
            self.asked(at, &segment, frame.tag as u32, events);
        } else if segment.path.source_port == self.server_port {
            self.heard(at, &segment, events);
        } else {
            return false;
        }
        true
    }

    fn next_timer(&self) -> Option<Time> {
        self.timers.peek().map(|Reverse((due, ..))| *due)
    }

    fn next_frame(&self, port: &Port) -> Option<Time> {
        let free = port.free_at();
        let answer = !self.answers.is_empty() && !port.is_paused(self.config.control.priority);
        let data = !port.is_paused(self.config.data.priority);
        if answer || data && !(self.ready.is_empty() && self.requests.is_empty()) {
            return Some(free);
        }
        self.paced.peek().filter(|_| data).map(|Reverse((due, _))| (*due).max(free))
    }

    fn advance(&mut self, now: Time) {
        while let Some(&Reverse((due, end, key))) =
            self.timers.peek().filter(|Reverse((due, ..))| *due <= now)
        {
            self.timers.pop();
            match end {
                End::Client => self.expire_client(now, due, key),
                End::Server => self.expire_server(now, due, key),
            }
        }
        while let Some(&Reverse((_, key))) = self.paced.peek().filter(|Reverse((due, _))| *due <= now) {
            self.paced.pop();
            self.ready.push_back(key);
        }
    }

    fn send_control(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        if !out.port.is_paused(self.config.control.priority)
            && let Some((frame, tag)) = self.answers.pop_front()
        {
            out.put(frame.bytes(), frame.orig_len, tag);
            return true;
        }
        if !out.port.is_paused(self.config.data.priority)
            && let Some(frame) = self.requests.pop_front()
        {
            out.put(frame.bytes(), frame.orig_len, FrameTag::default());
            return true;
        }
        false
    }

    fn send_data(&mut self, out: &mut Outgoing<'_, '_>) -> bool {
        while !out.port.is_paused(self.config.data.priority)
            && let Some(key) = self.ready.pop_front()
        {
            let now = out.now;
            let Some(client) = self.clients.get_mut(key) else { continue };
            if client.due > now {
                self.paced.push(Reverse((client.due, key)));
                continue;
            }
            let Some((frame, pair, again)) = client.send(&self.config, now) else {
                client.queued = false;
                continue;
            };
            if let Some(pacing) = self.config.pacing {
                client.pace(pacing, now, out.port.line_bytes(frame.orig_len));
            }
            match client.sender().is_some_and(sender::Sender::in_burst) {
                true => self.ready.push_front(key),
                false => self.ready.push_back(key),
            }
            self.counters.sent += 1;
            self.counters.resent += u64::from(again);
            self.arm(End::Client, key);
            out.put(frame.bytes(), frame.orig_len, FrameTag::data(pair));
            return true;
        }
        false
    }

    fn is_busy(&self) -> bool {
        self.messages > 0 || !self.answers.is_empty() || !self.requests.is_empty()
    }

    fn unfinished(&self, into: &mut Vec<Left>) {
        let packet = u64::from(self.config.payload().max(1));
        let all = self.clients.iter().flat_map(Client::messages);
        into.extend(all.map(|(message, bytes)| Left { message: *message, acknowledged: bytes / packet }));
        into.extend(self.waiting.iter().map(|message| Left { message: *message, acknowledged: 0 }));
    }

    fn counters(&self) -> HostCounters {
        self.counters
    }

    fn flow(&self, pair: u32) -> Option<FlowState> {
        let has = |client: &&Client| client.messages().any(|(message, _)| message.pair == pair);
        let sender = self.clients.iter().find(has)?.sender()?;
        let window = sender.window();
        Some(FlowState {
            rate: self.rate.as_bps(),
            window: Some(window.cwnd),
            threshold: Some(window.ssthresh),
            in_flight: sender.in_flight(),
            rtt: sender.round_trips().1,
            smoothed_rtt: sender.round_trips().0,
            alpha: sender.alpha().map(|alpha| f64::from(alpha) / f64::from(1 << 20)),
            notified: sender.notified(),
        })
    }
}
