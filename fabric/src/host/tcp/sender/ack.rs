//! Effects of an acknowledgement on the sender: progress, round-trip times, marks, and fast recovery.
//!
//! ```text
//! RFC 6582 §3.2, without SACK
//!   third duplicate, beyond recover:  ssthresh = max(FlightSize / 2, 2 SMSS), recover = SND.NXT,
//!                                     retransmit SND.UNA, cwnd = ssthresh + 3 SMSS
//!   more duplicates:                  cwnd += SMSS
//!   partial ACK:                      retransmit SND.UNA, cwnd -= acked, += SMSS; the first one restarts the timer
//!   full ACK:                         cwnd = min(ssthresh, max(FlightSize, SMSS) + SMSS)
//! RFC 6675 §5, with SACK
//!   third duplicate or IsLost:        RecoveryPoint = SND.NXT, ssthresh = cwnd = FlightSize / 2, retransmit SND.UNA
//!   until RecoveryPoint:              while cwnd - pipe >= SMSS: send NextSeg
//! RFC 3168 §6.1.2, RFC 8257 §3.3: an echo of a mark reduces the window once per window of data
//! ```
//!
//! FlightSize does not count segments that limited transmit sent (RFC 5681 §3.2 step 2).

use super::super::config::TcpConfig;
use super::super::congestion::{Acked, Echo};
use super::super::scoreboard::Progress;
use super::{Sender, State};
use sluice_asic::units::{Duration, Time};

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Ack<'a> {
    /// First position that the receiver misses.
    pub(in super::super) number: u64,
    /// Window from there on, bytes.
    pub(in super::super) window: u64,
    pub(in super::super) ece: bool,
    /// Round-trip time by the timestamps option, whose ticks are coarse: used if segments were retransmitted (RFC 7323 §4.1).
    pub(in super::super) echo: Option<Duration>,
    /// SACK blocks.
    pub(in super::super) blocks: &'a [(u64, u64)],
}

/// The effect of an acknowledgement, for counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Effect {
    /// True if it began fast recovery.
    pub(in super::super) fast_retransmit: bool,
    /// True if it reports a duplicate: a retransmission that was not needed (RFC 2883), or a copy.
    pub(in super::super) duplicate: bool,
}

impl Sender {
    /// Handles an acknowledgement.
    pub(in super::super) fn acknowledged(&mut self, config: &TcpConfig, now: Time, ack: Ack<'_>) -> Effect {
        let duplicate = reports_duplicate(ack);
        let mut effect = Effect { duplicate, ..Effect::default() };
        if ack.number > self.next || ack.number < self.una {
            return effect;
        }
        let outstanding = self.outstanding();
        let moved = ack.number > self.una;
        self.una = ack.number;
        let mut progress = if moved { self.board.acknowledge(ack.number) } else { Progress::default() };
        self.selective(ack, duplicate, &mut progress);
        self.measure(now, progress, ack.echo);
        let same_window = self.agreed.window == ack.window;
        self.agreed.window = ack.window;
        let echo = Echo { bytes: progress.acked, marked: ack.ece, una: self.una, next: self.next };
        self.congestion.observe(echo);
        let repeats = !moved && outstanding > 0;
        let repeats = repeats && if self.agreed.sack { progress.sacked > 0 } else { same_window };
        let mut restarts = true;
        match self.state {
            State::Open => {
                if moved && !ack.ece {
                    self.grow(config, now, progress.acked, outstanding);
                }
                effect.fast_retransmit = self.open(config, moved, repeats);
            }
            State::Recovery => restarts = self.recovering(config, progress.acked, repeats),
            State::Loss => self.after_timeout(config, now, progress.acked, outstanding),
        }
        self.marked(ack.ece);
        if self.outstanding() == 0 {
            self.timer = None;
        } else if moved && restarts {
            self.timer = Some(now + self.rtt.timeout());
        }
        effect
    }

    /// Marks what the SACK blocks say; a D-SACK block says nothing new.
    fn selective(&mut self, ack: Ack<'_>, duplicate: bool, progress: &mut Progress) {
        if !self.agreed.sack {
            return;
        }
        for (start, end) in ack.blocks.iter().skip(usize::from(duplicate)) {
            // A block outside of what was sent is not believed.
            if *start >= self.una && *end <= self.next {
                self.board.sack(*start, *end, progress);
            }
        }
    }

    fn measure(&mut self, now: Time, progress: Progress, echo: Option<Duration>) {
        let by_clock = progress.sent_at.map(|sent_at| now.saturating_since(sent_at));
        let by_option = echo.filter(|_| progress.acked > 0);
        if let Some(measured) = by_clock.or(by_option) {
            self.rtt.measured(measured);
            self.last_rtt = Some(measured);
        }
    }

    /// Grows the window by acknowledged bytes, if the window limited the `outstanding` bytes that were unacknowledged
    /// (RFC 2861 §3).
    fn grow(&mut self, config: &TcpConfig, now: Time, bytes: u64, outstanding: u64) {
        let burst = u64::from(config.tso) * self.window.mss;
        let limited = match self.window.in_slow_start() {
            true => 2 * outstanding >= self.window.cwnd,
            false => outstanding + burst >= self.window.cwnd,
        };
        if limited {
            // Slow start after a timeout counts one segment per acknowledgement (RFC 3465 §2.3).
            let limit = if self.state == State::Loss { 1 } else { config.byte_counting };
            let srtt = self.rtt.smoothed().unwrap_or_default();
            self.congestion.grow(&mut self.window, Acked { now, bytes, srtt, limit });
        }
    }

    /// Counts duplicates, and begins fast recovery if a segment is lost. Returns true if it does.
    fn open(&mut self, config: &TcpConfig, moved: bool, repeats: bool) -> bool {
        if moved {
            self.dup_acks = 0;
        } else if repeats {
            if self.dup_acks == 0 {
                self.flight = self.outstanding();
            }
            self.dup_acks += 1;
        }
        let many = self.dup_acks >= config.dup_ack_threshold;
        let lost = if self.agreed.sack {
            self.board.mark_lost(config.dup_ack_threshold, self.window.mss);
            many || self.board.has_lost()
        } else {
            many && self.una > self.recover
        };
        if lost {
            self.recover_fast();
        }
        lost
    }

    fn recover_fast(&mut self) {
        let flight = if self.dup_acks > 0 { self.flight } else { self.outstanding() };
        self.congestion.lost(&mut self.window, flight);
        self.cut();
        if !self.agreed.sack {
            self.window.cwnd += u64::from(self.dup_acks) * self.window.mss;
        }
        (self.state, self.recover) = (State::Recovery, self.next);
        (self.head_due, self.partial, self.burst) = (true, false, 0);
        self.board.recover();
        self.board.mark_first();
    }

    /// Handles an acknowledgement in fast recovery. Returns true if new data that it acknowledges restarts the timer.
    fn recovering(&mut self, config: &TcpConfig, acked: u64, repeats: bool) -> bool {
        let mss = self.window.mss;
        if self.una >= self.recover {
            if !self.agreed.sack {
                let flight = self.outstanding().max(mss);
                self.window.cwnd = self.window.ssthresh.min(flight + mss);
            }
            self.leave();
            return true;
        }
        if self.agreed.sack {
            self.board.mark_lost(config.dup_ack_threshold, mss);
            return true;
        }
        if repeats {
            self.window.cwnd += mss;
        }
        if acked == 0 {
            return true;
        }
        let back = if acked >= mss { mss } else { 0 };
        self.window.cwnd = (self.window.cwnd.saturating_sub(acked) + back).max(mss);
        self.head_due = true;
        !std::mem::replace(&mut self.partial, true)
    }

    fn after_timeout(&mut self, config: &TcpConfig, now: Time, acked: u64, outstanding: u64) {
        if acked == 0 {
            return;
        }
        self.grow(config, now, acked, outstanding);
        if self.una >= self.recover {
            self.leave();
        }
    }

    /// Ends a recovery.
    fn leave(&mut self) {
        (self.state, self.dup_acks, self.head_due, self.partial) = (State::Open, 0, false, false);
        self.board.settle();
    }

    /// Reduces the window for an echo of a mark, unless a reduction covers it.
    fn marked(&mut self, ece: bool) {
        self.notified += u64::from(ece);
        if ece && self.agreed.ecn && self.state == State::Open && self.una > self.reduced {
            self.congestion.marked(&mut self.window);
            self.cut();
        }
    }
}

/// Returns true if the first SACK block is a D-SACK: before the acknowledgement number, or within the second block
/// (RFC 2883 §4).
fn reports_duplicate(ack: Ack<'_>) -> bool {
    match ack.blocks {
        [first, ..] if first.1 <= ack.number => true,
        [first, second, ..] => first.0 >= second.0 && first.1 <= second.1,
        _ => false,
    }
}
