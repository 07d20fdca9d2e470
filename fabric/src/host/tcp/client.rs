//! The end of a connection that opens it and sends messages.
//!
//! ```text
//! SYN-SENT --SYN-ACK / ACK--> ESTABLISHED --FIN of the server / ACK--> closed          (RFC 9293 §3.3.2)
//! ```
//!
//! A connection that is not used again has FIN in the last segment of its message. The server closes its side at once, so the
//! client is closed when the message is acknowledged.

use super::config::{Pacing, Reuse, TcpConfig};
use super::link::Link;
use super::segment::{CE, ECT0, Segment, Stored, TIMESTAMPS_LEN};
use super::sender::{Ack, Agreed, Effect, Sender};
use super::sequence::Numbering;
use crate::host::message::Message;
use sluice_asic::units::{Bytes, Duration, Time};
use sluice_pcaps::wire::tcp;

/// The client's state.
#[derive(Debug)]
enum State {
    /// The SYN was sent `tries` times, the last time at `sent`.
    SynSent {
        sent: Time,
        tries: u32,
        due: Time,
        messages: Vec<Message>,
    },
    Established(Box<Sender>),
    Closed,
}

/// A client.
#[derive(Debug)]
pub(super) struct Client {
    link: Link,
    state: State,
    /// Number of the server's FIN if it was acknowledged, otherwise of its next byte.
    received: u64,
    /// Earliest time of the next segment, if the connection is paced.
    pub(super) due: Time,
    /// True if it waits for its turn to send, or for its time.
    pub(super) queued: bool,
    /// Time of its entry in the queue of timers.
    pub(super) armed: Option<Time>,
}

/// Result of a segment from the server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    pub(super) effect: Effect,
    /// True if an acknowledgement must be sent.
    pub(super) answer: bool,
    /// True if the segment belongs to the connection.
    pub(super) known: bool,
}

impl Client {
    /// Creates a client that sends a SYN at `now`.
    pub(super) fn new(config: &TcpConfig, link: Link, now: Time, message: Message) -> Client {
        let state =
            State::SynSent { sent: now, tries: 1, due: now + config.rto.initial, messages: vec![message] };
        Client { link, state, received: 1, due: now, queued: false, armed: None }
    }

    /// Appends a message.
    pub(super) fn append(&mut self, message: Message) {
        match &mut self.state {
            State::SynSent { messages, .. } => messages.push(message),
            State::Established(sender) => sender.append(message),
            State::Closed => {}
        }
    }

    /// Returns the sender, if the connection is open.
    pub(super) fn sender(&self) -> Option<&Sender> {
        match &self.state {
            State::Established(sender) => Some(sender),
            _ => None,
        }
    }

    pub(super) fn sender_mut(&mut self) -> Option<&mut Sender> {
        match &mut self.state {
            State::Established(sender) => Some(sender),
            _ => None,
        }
    }

    /// Returns the messages that are not acknowledged, each with its acknowledged bytes.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&Message, u64)> {
        let waiting: &[Message] = match &self.state {
            State::SynSent { messages, .. } => messages,
            _ => &[],
        };
        let open = self.sender().into_iter().flat_map(Sender::messages);
        open.map(|(stretch, acknowledged)| (&stretch.message, acknowledged))
            .chain(waiting.iter().map(|m| (m, 0)))
    }

    /// Returns true if the connection is open and carries no message.
    pub(super) fn is_idle(&self) -> bool {
        self.sender().is_some_and(Sender::is_idle)
    }

    /// Returns the time of the timer that runs.
    pub(super) const fn timer(&self) -> Option<Time> {
        match &self.state {
            State::SynSent { due, .. } => Some(*due),
            State::Established(sender) => sender.timer(),
            State::Closed => None,
        }
    }

    /// Runs the timer if it has expired. Returns the SYN to send again, and true if it has expired.
    pub(super) fn expire(&mut self, config: &TcpConfig, now: Time) -> (Option<Stored>, bool) {
        if self.timer().is_none_or(|due| due > now) {
            return (None, false);
        }
        match &mut self.state {
            State::SynSent { tries, due, sent, .. } => {
                let wait = config.rto.doubled(*tries);
                (*tries, *sent, *due) = (*tries + 1, now, now + wait);
                (Some(self.syn(config, now)), true)
            }
            State::Established(sender) => {
                sender.timed_out(now);
                (None, true)
            }
            State::Closed => (None, false),
        }
    }

    /// Returns the SYN. It asks for ECN by ECE and CWR (RFC 3168 §6.1.1).
    pub(super) fn syn(&self, config: &TcpConfig, now: Time) -> Stored {
        let ecn = if config.uses_ecn() { tcp::ECE | tcp::CWR } else { 0 };
        let segment = Segment {
            flags: tcp::SYN | ecn,
            acknowledgement: 0,
            options: self.link.syn_options(config, now),
            window: config.receive_buffer.min(u16::MAX.into()) as u16,
            ..self.link.segment(config, config.data, now, 0, 0)
        };
        segment.store()
    }

    /// Returns an acknowledgement without data.
    pub(super) fn ack(&self, config: &TcpConfig, now: Time) -> Stored {
        // The client's FIN is after its last byte; the server answers it with its own.
        let position = self.sender().map_or(1, Sender::next) + u64::from(self.received > 1);
        self.link.segment(config, config.data, now, position, self.received).store()
    }

    /// Handles a segment from the server.
    pub(super) fn receive(&mut self, config: &TcpConfig, now: Time, segment: &Segment) -> Heard {
        let syn = segment.flags & (tcp::SYN | tcp::ACK);
        match &mut self.state {
            State::SynSent { .. } if syn == tcp::SYN | tcp::ACK => {
                let known = self.open(config, now, segment);
                Heard { known, answer: known, ..Heard::default() }
            }
            // The acknowledgement of the SYN-ACK was lost.
            State::Established(_) if syn == tcp::SYN | tcp::ACK => {
                Heard { known: true, answer: true, ..Heard::default() }
            }
            State::Established(_) if syn == tcp::ACK => self.acknowledged(config, now, segment),
            _ => Heard::default(),
        }
    }

    /// Opens the connection with a SYN-ACK. Returns false if it does not belong to the SYN.
    fn open(&mut self, config: &TcpConfig, now: Time, segment: &Segment) -> bool {
        let State::SynSent { sent, tries, messages, .. } = &mut self.state else { return false };
        if segment.acknowledgement != self.link.own.wire(1) {
            return false;
        }
        let link = &mut self.link;
        link.peer = Numbering(segment.sequence);
        link.offer = link.offer.agree(segment.options);
        link.recent = segment.options.timestamps.map_or(0, |(value, _)| value);
        let options = if link.offer.timestamps { TIMESTAMPS_LEN } else { 0 };
        let agreed = Agreed {
            mss: link.offer.mss.saturating_sub(options).max(1),
            sack: link.offer.sack,
            ecn: config.uses_ecn() && segment.flags & (tcp::ECE | tcp::CWR) == tcp::ECE,
            window: link.window(segment),
            rtt: (*tries == 1).then(|| now.saturating_since(*sent)),
        };
        let mut sender = Box::new(Sender::new(config, agreed));
        messages.drain(..).for_each(|message| sender.append(message));
        self.state = State::Established(sender);
        true
    }

    fn acknowledged(&mut self, config: &TcpConfig, now: Time, segment: &Segment) -> Heard {
        let link = &mut self.link;
        let State::Established(sender) = &mut self.state else { return Heard::default() };
        let near = sender.next();
        let position = |wire| link.own.position(near, wire);
        let Some(number) = position(segment.acknowledgement) else { return Heard::default() };
        let mut blocks = [(0, 0); 4];
        let mut count = 0;
        for (start, end) in segment.options.sack.as_slice() {
            if let (Some(start), Some(end)) = (position(*start), position(*end)) {
                blocks[count] = (start, end);
                count += 1;
            }
        }
        let ack = Ack {
            // The FIN is after the last byte.
            number: number.min(near),
            window: link.window(segment),
            ece: segment.flags & tcp::ECE != 0,
            echo: link.echoed(config, now, segment),
            blocks: blocks.get(..count).unwrap_or_default(),
        };
        if let Some((value, _)) = segment.options.timestamps {
            link.recent = value;
        }
        let effect = sender.acknowledged(config, now, ack);
        let fin = segment.flags & tcp::FIN != 0;
        if fin {
            self.received = 2;
        }
        Heard { effect, answer: fin, known: true }
    }

    /// Closes the connection if it is not used again and its message is acknowledged. Returns true if it does.
    pub(super) fn close(&mut self, config: &TcpConfig) -> bool {
        let done = config.reuse == Reuse::Never && self.is_idle();
        if done {
            self.state = State::Closed;
        }
        done
    }

    /// Returns the next segment with data, with its message's number, and true if it was sent before.
    pub(super) fn send(&mut self, config: &TcpConfig, now: Time) -> Option<(Stored, u32, bool)> {
        let ecn = self.sender()?.uses_ecn();
        let next = self.sender_mut()?.send(config, now)?;
        let link = &self.link;
        let mut segment = link.segment(config, config.data, now, next.start, self.received);
        segment.payload = (next.end - next.start) as u32;
        if next.push {
            segment.flags |= tcp::PSH;
        }
        if next.push && config.reuse == Reuse::Never {
            segment.flags |= tcp::FIN;
        }
        if next.cwr {
            segment.flags |= tcp::CWR;
        }
        // Retransmitted segments are not ECN-capable, except for DCTCP's (RFC 3168 §6.1.5).
        if ecn && !next.again {
            segment.ecn = ECT0;
        }
        debug_assert!(segment.ecn != CE);
        Some((segment.store(), next.pair, next.again))
    }

    /// Sets the earliest time of the next segment after one with this line time, if the connection is paced.
    pub(super) fn pace(&mut self, pacing: Pacing, now: Time, bytes: Bytes) {
        let Some(sender) = self.sender() else { return };
        let (window, Some(srtt)) = (sender.window(), sender.round_trips().0) else { return };
        let percent = if window.in_slow_start() { pacing.slow_start } else { pacing.avoidance };
        let rate = u128::from(window.cwnd) * u128::from(percent.max(1));
        let wait = u128::from(srtt.as_ps()) * u128::from(bytes.0) * 100 / rate.max(1);
        self.due = now + Duration::from_ps(wait as u64);
    }
}
