//! Sender of a connection's data: what may be sent, and when the retransmission timer expires. Module `ack` handles
//! acknowledgements.
//!
//! Messages follow each other in one stream of bytes. No segment has bytes of two messages, and the last one of a message has
//! PSH. What may be sent next, in this order:
//!
//! 1. after fast retransmit the first segment, whatever the window is (RFC 5681 §3.2 step 3; RFC 6675 §5 step 4.3);
//! 2. lost segments, while the window has room: in recovery with SACK, and after a timeout;
//! 3. new data, while both windows have room; with TSO only if the burst is long enough;
//! 4. in recovery with SACK the rules 3 and 4 of NextSeg (RFC 6675 §4).
//!
//! The window has room if pipe (RFC 6675 §4) and the segment are at most cwnd. Without SACK, pipe is what is unacknowledged, and
//! recovery inflates cwnd instead (RFC 6582 §3.2).

mod ack;
#[cfg(test)]
mod tests;

pub(super) use ack::{Ack, Effect};

use super::super::message::Message;
use super::config::{IdleRestart, TcpConfig};
use super::congestion::{Congestion, Window};
use super::rtt::Rtt;
use super::scoreboard::{Scoreboard, Sent};
use sluice_asic::units::{Duration, Time};
use std::collections::VecDeque;

/// State of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No loss is known.
    Open,
    /// Fast recovery, until everything before the position `recover` is acknowledged.
    Recovery,
    /// Slow start after a timeout, until everything before the position `recover` is acknowledged.
    Loss,
}

/// A message in the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch {
    pub(super) message: Message,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Number of window cuts while it was the first one.
    pub(super) cuts: u64,
}

/// A segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transmit {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) pair: u32,
    pub(super) push: bool,
    /// True if it was sent before.
    pub(super) again: bool,
    /// True if it has CWR.
    pub(super) cwr: bool,
}

/// Options and sizes that the two ends agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    /// Payload of a full segment.
    pub(super) mss: u32,
    pub(super) sack: bool,
    pub(super) ecn: bool,
    /// Window that the receiver advertised, bytes.
    pub(super) window: u64,
    /// Round-trip time of the handshake; `None` if a segment of it was retransmitted.
    pub(super) rtt: Option<Duration>,
}

/// The sending end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    agreed: Agreed,
    /// First unacknowledged position (SND.UNA), and the first that was not sent (SND.NXT).
    una: u64,
    next: u64,
    /// Messages that are not acknowledged, and the index of the first one that is not completely sent.
    messages: VecDeque<Stretch>,
    unsent: usize,
    board: Scoreboard,
    window: Window,
    congestion: Congestion,
    rtt: Rtt,
    last_rtt: Option<Duration>,
    /// Expiry of the retransmission timer.
    timer: Option<Time>,
    state: State,
    recover: u64,
    /// Number of acknowledgements with ECE.
    notified: u64,
    /// Position after which an echo of a mark is a new one: SND.NXT at the last reduction.
    reduced: u64,
    /// True if the next new segment has CWR.
    cwr: bool,
    dup_acks: u32,
    /// Unacknowledged bytes at the first duplicate acknowledgement.
    flight: u64,
    /// True if the first segment is to be sent again, whatever the window is.
    head_due: bool,
    /// True if a partial acknowledgement has come in this recovery.
    partial: bool,
    /// SND.UNA at the last timeout.
    timed_out_at: Option<u64>,
    /// Segments that remain of the present TSO burst.
    burst: u32,
    last_sent: Time,
}

impl Sender {
    /// Creates the sender of a connection that is open.
    pub(super) fn new(config: &TcpConfig, agreed: Agreed) -> Sender {
        let mss = u64::from(agreed.mss);
        // A lost SYN lets the connection begin with one segment (RFC 5681 §3.1).
        let initial = if agreed.rtt.is_some() { config.initial_window } else { 1 };
        let mut rtt = Rtt::new(config.rto);
        match agreed.rtt {
            Some(measured) => rtt.measured(measured),
            None => rtt.opened_late(),
        }
        Sender {
            agreed,
            una: 1,
            next: 1,
            messages: VecDeque::new(),
            unsent: 0,
            board: Scoreboard::default(),
            window: Window { cwnd: u64::from(initial) * mss, ssthresh: config.initial_ssthresh, mss },
            congestion: Congestion::new(config.congestion),
            rtt,
            last_rtt: agreed.rtt,
            timer: None,
            state: State::Open,
            recover: 0,
            notified: 0,
            reduced: 0,
            cwr: false,
            dup_acks: 0,
            flight: 0,
            head_due: false,
            partial: false,
            timed_out_at: None,
            burst: 0,
            last_sent: Time::ORIGIN,
        }
    }

    /// Appends a message to the stream.
    pub(super) fn append(&mut self, message: Message) {
        let start = self.messages.back().map_or(self.next, |last| last.end);
        self.messages.push_back(Stretch { message, start, end: start + message.bytes, cuts: 0 });
    }

    /// Returns the messages that are not acknowledged, each with its acknowledged bytes.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&Stretch, u64)> {
        self.messages.iter().map(|stretch| (stretch, self.una.saturating_sub(stretch.start)))
    }

    /// Removes and returns the first message if it is acknowledged.
    pub(super) fn completed(&mut self) -> Option<Stretch> {
        let done = self.messages.front().copied().filter(|first| first.end <= self.una)?;
        self.messages.pop_front();
        self.unsent = self.unsent.saturating_sub(1);
        Some(done)
    }

    /// Returns the first position that was not sent (SND.NXT).
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of acknowledgements with ECE.
    pub(super) const fn notified(&self) -> u64 {
        self.notified
    }

    /// Returns true if new segments are ECN-capable.
    pub(super) const fn uses_ecn(&self) -> bool {
        self.agreed.ecn
    }

    /// Returns true if all messages are acknowledged.
    pub(super) fn is_idle(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) const fn window(&self) -> Window {
        self.window
    }

    /// Returns DCTCP's alpha, in units of 2^-20.
    pub(super) const fn alpha(&self) -> Option<u32> {
        self.congestion.alpha()
    }

    /// Returns the bytes that are thought to be in the network.
    pub(super) const fn in_flight(&self) -> u64 {
        self.board.pipe(self.outstanding())
    }

    /// Returns the smoothed and the last measured round-trip time.
    pub(super) fn round_trips(&self) -> (Option<Duration>, Option<Duration>) {
        (self.rtt.smoothed(), self.last_rtt)
    }

    /// Returns the time at which the retransmission timer expires, if it runs.
    pub(super) const fn timer(&self) -> Option<Time> {
        self.timer
    }

    /// Returns true if the present TSO burst has more segments.
    pub(super) const fn in_burst(&self) -> bool {
        self.burst > 0
    }

    const fn outstanding(&self) -> u64 {
        self.next - self.una
    }

    /// Handles the expiry of the retransmission timer (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1).
    pub(super) fn timed_out(&mut self, now: Time) {
        let first = self.timed_out_at != Some(self.una);
        self.timed_out_at = Some(self.una);
        let flight = self.outstanding();
        self.congestion.timed_out(&mut self.window, flight, first);
        self.cut();
        (self.state, self.recover) = (State::Loss, self.next);
        (self.dup_acks, self.head_due, self.burst) = (0, false, 0);
        self.board.lose_all();
        self.rtt.back_off();
        self.timer = Some(now + self.rtt.timeout());
    }

    /// Records a reduction of the window.
    fn cut(&mut self) {
        self.reduced = self.next;
        self.cwr = self.agreed.ecn;
        if let Some(first) = self.messages.front_mut() {
            first.cuts += 1;
        }
    }

    /// Returns the next segment to send at `now`, and counts it as sent.
    pub(super) fn send(&mut self, config: &TcpConfig, now: Time) -> Option<Transmit> {
        let out = match self.retransmission(now) {
            Some(again) => again,
            None => match self.new_segment(config, now) {
                Some(new) => new,
                None => self.doubtful(now)?,
            },
        };
        self.last_sent = now;
        if self.timer.is_none() {
            self.timer = Some(now + self.rtt.timeout());
        }
        Some(out)
    }

    fn again(&mut self, sent: Sent, now: Time, rescues: bool) -> Transmit {
        self.board.resent(sent.start, now, rescues);
        Transmit {
            start: sent.start,
            end: sent.end,
            pair: sent.pair,
            push: sent.push,
            again: true,
            cwr: false,
        }
    }

    /// Returns true if the congestion window has room for a segment.
    const fn has_room(&self, bytes: u64) -> bool {
        let pipe = self.in_flight();
        pipe == 0 || pipe + bytes <= self.window.cwnd
    }

    fn retransmission(&mut self, now: Time) -> Option<Transmit> {
        if std::mem::take(&mut self.head_due) {
            let first = self.board.first()?;
            return Some(self.again(first, now, false));
        }
        if self.state == State::Open || self.state == State::Recovery && !self.agreed.sack {
            return None;
        }
        let lost = self.board.next_lost()?;
        self.has_room(lost.end - lost.start).then(|| self.again(lost, now, false))
    }

    /// Returns the bytes of new data that the congestion window allows.
    fn room(&self, config: &TcpConfig) -> u64 {
        let mss = self.window.mss;
        let open = self.state == State::Open;
        let pipe = match self.agreed.sack {
            // Without limited transmit, SACKed segments do not let new ones be sent before a loss is known.
            true if open && !config.limited_transmit => self.outstanding(),
            _ => self.in_flight(),
        };
        let limited = !self.agreed.sack && open && config.limited_transmit;
        let bonus = if limited { u64::from(self.dup_acks) * mss } else { 0 };
        (self.window.cwnd + bonus).saturating_sub(pipe)
    }

    /// Sends new data, if there is some and both windows have room.
    fn new_segment(&mut self, config: &TcpConfig, now: Time) -> Option<Transmit> {
        let stretch = *self.messages.get(self.unsent)?;
        let idle = self.outstanding() == 0;
        if idle {
            self.restart(config, now);
        }
        let (mss, rest) = (self.window.mss, stretch.end - self.next);
        let (room, right) = (self.room(config), self.una + self.agreed.window);
        let mut len = mss.min(rest);
        if idle {
            // A receiver with a small window gets small segments, at least a byte.
            len = len.min(self.agreed.window.max(1));
        } else if self.next + len > right || len > room || self.defers(config, room, rest) {
            self.burst = 0;
            return None;
        }
        if self.burst == 0 {
            self.burst = config.tso;
        }
        let (start, end) = (self.next, self.next + len);
        let push = end == stretch.end;
        self.burst = if push { 0 } else { self.burst.saturating_sub(1) };
        self.unsent += usize::from(push);
        self.next = end;
        let pair = stretch.message.pair;
        self.board.push(Sent::new(start, end, pair, push, now));
        let cwr = std::mem::take(&mut self.cwr);
        Some(Transmit { start, end, pair, push, again: false, cwr })
    }

    /// Returns true if TSO waits for a longer burst: unless one is under way, the window has room for a full burst or a third
    /// of it, or the message ends (the rule of Linux).
    fn defers(&self, config: &TcpConfig, room: u64, rest: u64) -> bool {
        let mss = self.window.mss;
        let goal = (u64::from(config.tso) * mss).min((self.window.cwnd / 3).max(mss));
        self.burst == 0 && self.state == State::Open && room < goal && room < rest
    }

    /// Reduces the window after a pause of more than a timeout.
    fn restart(&mut self, config: &TcpConfig, now: Time) {
        let pause = now.saturating_since(self.last_sent);
        if self.last_sent == Time::ORIGIN {
            return;
        }
        self.congestion.idled(pause);
        let timeout = self.rtt.timeout();
        if pause <= timeout {
            return;
        }
        let initial = u64::from(config.initial_window) * self.window.mss;
        let Window { cwnd, ssthresh, .. } = &mut self.window;
        match config.idle {
            IdleRestart::Keep => {}
            IdleRestart::Initial => *cwnd = initial.min(*cwnd),
            IdleRestart::Halve => {
                *ssthresh = (*ssthresh).max(*cwnd / 4 * 3);
                let halvings = (pause.as_ps() / timeout.as_ps().max(1)).min(63);
                *cwnd = (*cwnd).min((*cwnd >> halvings).max(initial));
            }
        }
    }

    /// Sends a segment by the rules 3 and 4 of NextSeg, if no new data can be sent.
    fn doubtful(&mut self, now: Time) -> Option<Transmit> {
        let spare = self.state == State::Recovery && self.agreed.sack && self.has_room(self.window.mss);
        if !spare {
            return None;
        }
        if let Some(sent) = self.board.next_doubtful() {
            return Some(self.again(sent, now, false));
        }
        let sent = self.board.rescue()?;
        Some(self.again(sent, now, true))
    }
}
