//! The end of a connection that accepts it and receives messages.
//!
//! ```text
//! LISTEN --SYN / SYN-ACK--> SYN-RECEIVED --ACK--> ESTABLISHED --FIN / FIN-ACK--> LAST-ACK --ACK--> closed
//! ```
//!
//! The application closes its side as soon as the client has closed its (RFC 9293 §3.3.2).

use super::config::TcpConfig;
use super::link::Link;
use super::receiver::{Answer, Data, Echoes, Receiver};
use super::segment::{CE, SackBlocks, Segment, Stored};
use sluice_asic::units::Time;
use sluice_pcaps::wire::tcp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The SYN-ACK was sent `tries` times.
    SynReceived {
        tries: u32,
        due: Time,
    },
    Established,
    /// The FIN was sent `tries` times.
    LastAck {
        tries: u32,
        due: Time,
    },
    Closed,
}

/// A server.
#[derive(Debug)]
pub(super) struct Server {
    link: Link,
    state: State,
    receiver: Receiver,
    /// True if both ends use ECN.
    ecn: bool,
    /// Position after the client's data, once its FIN has arrived.
    fin: Option<u64>,
    /// The message of the newest data; 0 before the first data.
    pub(super) newest: u32,
    /// Time of its entry in the queue of timers.
    pub(super) armed: Option<Time>,
}

/// Result of a data segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Taken {
    pub(super) answer: Answer,
    pub(super) marked: bool,
    /// True if the segment has data.
    pub(super) data: bool,
}

impl Server {
    /// Creates a server for a SYN.
    pub(super) fn new(config: &TcpConfig, mut link: Link, now: Time, syn: &Segment) -> Server {
        link.offer = link.offer.agree(syn.options);
        link.recent = syn.options.timestamps.map_or(0, |(value, _)| value);
        let asked = syn.flags & (tcp::ECE | tcp::CWR) == tcp::ECE | tcp::CWR;
        let ecn = config.uses_ecn() && asked;
        let echoes = match (ecn, config.is_dctcp()) {
            (false, _) => Echoes::None,
            (true, true) => Echoes::Accurate,
            (true, false) => Echoes::Classic,
        };
        let state = State::SynReceived { tries: 1, due: now + config.rto.initial };
        let receiver = Receiver::new(config.delayed_ack, echoes);
        Server { link, state, receiver, ecn, fin: None, newest: 0, armed: None }
    }

    /// Returns true if a SYN belongs to this connection, false if it opens another one.
    pub(super) fn is_opened_by(&self, syn: &Segment) -> bool {
        self.link.peer.wire(0) == syn.sequence
    }

    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Returns the time of the timer that runs.
    pub(super) const fn timer(&self) -> Option<Time> {
        match self.state {
            State::SynReceived { due, .. } | State::LastAck { due, .. } => Some(due),
            State::Established => self.receiver.due(),
            State::Closed => None,
        }
    }

    /// Runs the timer if it has expired. Returns the frame to send.
    pub(super) fn expire(&mut self, config: &TcpConfig, now: Time) -> Option<Stored> {
        self.timer().filter(|due| *due <= now)?;
        match &mut self.state {
            State::SynReceived { tries, due } => {
                *due = now + config.rto.doubled(*tries);
                *tries += 1;
                Some(self.syn_ack(config, now))
            }
            State::LastAck { tries, due } => {
                *due = now + config.rto.doubled(*tries);
                *tries += 1;
                Some(self.ack(config, now))
            }
            State::Established => Some(self.ack(config, now)),
            State::Closed => None,
        }
    }

    /// Returns the SYN-ACK. It agrees to ECN by ECE (RFC 3168 §6.1.1).
    pub(super) fn syn_ack(&self, config: &TcpConfig, now: Time) -> Stored {
        let ecn = if self.ecn { tcp::ECE } else { 0 };
        let segment = Segment {
            flags: tcp::SYN | tcp::ACK | ecn,
            options: self.link.syn_options(config, now),
            window: config.receive_buffer.min(u16::MAX.into()) as u16,
            ..self.link.segment(config, config.control, now, 0, 1)
        };
        segment.store()
    }

    /// Returns an acknowledgement of everything that was received, with the FIN if the client has closed its side.
    pub(super) fn ack(&mut self, config: &TcpConfig, now: Time) -> Stored {
        let next = self.receiver.next();
        let closed = self.fin == Some(next);
        let mut segment = self.plain(config, now, next + u64::from(closed), self.receiver.ece());
        if closed {
            segment.flags |= tcp::FIN;
        }
        if self.link.offer.sack {
            segment.options.sack = self.blocks();
        }
        self.receiver.acknowledged();
        segment.store()
    }

    /// Returns an acknowledgement of what was received before position `next`.
    pub(super) fn ack_before(&self, config: &TcpConfig, now: Time, next: u64, ece: bool) -> Stored {
        self.plain(config, now, next, ece).store()
    }

    fn plain(&self, config: &TcpConfig, now: Time, next: u64, ece: bool) -> Segment {
        let mut segment = self.link.segment(config, config.control, now, 1, next);
        if ece {
            segment.flags |= tcp::ECE;
        }
        segment
    }

    /// Returns the SACK blocks for which there is room: three with timestamps, four without.
    fn blocks(&self) -> SackBlocks {
        let most = if self.link.offer.timestamps { 3 } else { 4 };
        let (mut blocks, peer) = (SackBlocks::default(), self.link.peer);
        self.receiver.blocks(|start, end| blocks.push((peer.wire(start), peer.wire(end)), most));
        blocks
    }

    /// Handles a segment of the client that is no SYN; `pair` is the number of its message. Messages that are complete with it
    /// are passed to `complete`.
    pub(super) fn receive(
        &mut self,
        config: &TcpConfig,
        now: Time,
        segment: &Segment,
        pair: u32,
        complete: impl FnMut(u32),
    ) -> Taken {
        if let State::SynReceived { .. } = self.state {
            self.state = State::Established;
        }
        if let State::LastAck { .. } = self.state
            && segment.acknowledgement == self.link.own.wire(2)
        {
            self.state = State::Closed;
            return Taken::default();
        }
        let start = self.link.peer.position(self.receiver.next(), segment.sequence);
        let Some(start) = start.filter(|_| segment.payload > 0) else { return Taken::default() };
        self.newest = pair;
        if let Some((value, _)) = segment.options.timestamps.filter(|_| start <= self.receiver.next()) {
            self.link.recent = value;
        }
        let data = Data {
            start,
            end: start + u64::from(segment.payload),
            ce: segment.ecn == CE,
            cwr: segment.flags & tcp::CWR != 0,
            push: segment.flags & tcp::PSH != 0,
            pair,
        };
        if segment.flags & tcp::FIN != 0 {
            self.fin = Some(data.end);
        }
        let mut answer = self.receiver.data(now, data, complete);
        if self.fin == Some(self.receiver.next()) {
            answer.now = true;
            if self.state == State::Established {
                self.state = State::LastAck { tries: 1, due: now + config.rto.initial };
            }
        }
        Taken { answer, marked: data.ce, data: true }
    }
}
