//! Sender that obeys PFC over a cable, at the far end of a port.
//!
//! A PFC frame takes effect here one cable delay and a reaction time after its last bit left the device; the sender
//! finishes the frame that it is sending (model: buffer §2.2). The device may therefore be simulated up to
//! [`PfcSource::lookahead`] ahead of the sender.
//!
//! Order of calls: [`PfcSource::heard`] for every frame that the device has sent, [`PfcSource::advance`] to a time,
//! then [`PfcSource::may_send`] and [`PfcSource::send`] at that time.

use super::pfc::{PRIORITIES, PauseStats, PfcConfig, PfcRx, PfcTimes};
use crate::mac::{MacTx, Transmission, WireOverhead};
use crate::units::{BitRate, Bytes, Duration, Length, Time};
use std::collections::VecDeque;

/// Sender at the far end of a cable.
#[derive(Debug, Clone)]
pub struct PfcSource {
    tx: MacTx,
    rx: PfcRx,
    delay: Duration,
    reaction: Duration,
    /// Frames that have not taken effect, by the time at which they will.
    coming: VecDeque<(Time, PfcTimes)>,
}

impl PfcSource {
    /// Creates a sender at `rate` without pauses. Bit n of `honoured`: the sender obeys pauses of priority n; with 0 it
    /// ignores PFC. Of `config`, only the reaction time is used.
    pub fn new(rate: BitRate, cable: Length, config: &PfcConfig, honoured: u8) -> Self {
        Self {
            tx: MacTx::new(rate),
            rx: PfcRx::new(rate, honoured),
            delay: cable.delay(),
            reaction: config.reaction_on(rate),
            coming: VecDeque::new(),
        }
    }

    /// Sets the bytes that frames take on the wire in addition to their own; [`WireOverhead::ETHERNET`] by default.
    #[must_use]
    pub fn overhead(mut self, overhead: WireOverhead) -> Self {
        self.tx = self.tx.overhead(overhead);
        self
    }

    /// Returns the least time from the last bit of a PFC frame at the device to its effect here.
    pub fn lookahead(&self) -> Duration {
        self.delay + self.reaction
    }

    /// Returns true if the sender obeys pauses of any priority.
    pub const fn obeys(&self) -> bool {
        self.rx.honoured() != 0
    }

    /// Returns the one-way delay of the cable.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Receives a PFC frame of the device, whose last bit left the device at `last_bit`. Calls must be in order of
    /// time.
    pub fn heard(&mut self, last_bit: Time, times: PfcTimes) {
        self.coming.push_back((last_bit + self.lookahead(), times));
    }

    /// Begins and ends pauses up to and including `now`. Returns the priorities whose pause began or ended, as bits.
    pub fn advance(&mut self, now: Time) -> u8 {
        let mut changed = 0;
        while let Some((at, times)) = self.coming.front().copied().filter(|(at, _)| *at <= now) {
            self.coming.pop_front();
            changed |= self.rx.take(at, &times);
        }
        changed | self.rx.expire(now)
    }

    /// Returns the time at which the next pause begins, changes or ends, as far as it is known.
    pub fn next_time(&self) -> Option<Time> {
        let coming = self.coming.front().map(|(at, _)| *at);
        [coming, self.rx.next_expiry()].into_iter().flatten().min()
    }

    /// Returns true if a frame of this priority may start at `now`, the time of the last [`advance`](Self::advance).
    pub fn may_send(&self, now: Time, priority: u8) -> bool {
        let paused = self.rx.paused().checked_shr(priority.into()).unwrap_or(0) & 1 != 0;
        self.tx.free_at() <= now && !paused
    }

    /// Returns the time at which the line is free for another frame.
    pub const fn free_at(&self) -> Time {
        self.tx.free_at()
    }

    /// Sends a frame of `len` bytes (without FCS) at `now`, or later when the line is free. Returns when the frame is
    /// on the wire at the device's end of the cable.
    pub fn send(&mut self, now: Time, len: Bytes) -> Transmission {
        let Transmission { first_bit, last_bit, free_at } = self.tx.start(now, len);
        Transmission {
            first_bit: first_bit + self.delay,
            last_bit: last_bit + self.delay,
            free_at: free_at + self.delay,
        }
    }

    /// Returns the paused priorities, as bits, as of the last [`advance`](Self::advance).
    pub const fn paused(&self) -> u8 {
        self.rx.paused()
    }

    /// Returns the pause counters of each priority up to `now`.
    pub fn stats(&self, now: Time) -> [PauseStats; PRIORITIES] {
        self.rx.stats(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tm::pfc::quanta_time;

    const RATE: BitRate = BitRate::from_gbps(100);

    fn pause(priority: usize, quanta: u16) -> PfcTimes {
        let mut times = PfcTimes { enabled: 1 << priority, ..PfcTimes::default() };
        times.quanta[priority] = quanta;
        times
    }

    /// Model: buffer §1.10: 300 m are 1.515 us one way, the reaction at 100G is 394 quanta.
    #[test]
    fn a_pause_acts_after_cable_and_reaction() {
        let cable = Length::from_metres(300);
        let mut source = PfcSource::new(RATE, cable, &PfcConfig::default(), 0xff);
        let left = Time::from_nanos(1_000);
        let acts = left + cable.delay() + quanta_time(RATE, 394);
        source.heard(left, pause(3, 100));
        assert_eq!((source.next_time(), source.lookahead()), (Some(acts), acts.saturating_since(left)));
        let before = acts.saturating_sub(Duration::from_ps(1));
        assert_eq!((source.advance(before), source.may_send(before, 3)), (0, true));
        assert_eq!(
            (source.advance(acts), source.may_send(acts, 3), source.may_send(acts, 4)),
            (8, false, true)
        );
        // It ends by itself.
        let end = acts + quanta_time(RATE, 100);
        assert_eq!(source.next_time(), Some(end));
        assert_eq!((source.advance(end), source.may_send(end, 3)), (8, true));
        assert_eq!(source.stats(end)[3].paused, quanta_time(RATE, 100));
    }

    #[test]
    fn frames_take_line_time_and_arrive_a_delay_later() {
        let cable = Length::from_metres(40);
        let mut source = PfcSource::new(RATE, cable, &PfcConfig::default(), 0xff);
        let sent = source.send(Time::ORIGIN, Bytes(60));
        // 84 bytes at 80 ps; the preamble takes 8 of them.
        assert_eq!(sent.first_bit, Time::from_ps(640) + cable.delay());
        assert_eq!(
            (source.free_at(), sent.free_at),
            (Time::from_ps(6_720), Time::from_ps(6_720) + cable.delay())
        );
        assert!(!source.may_send(Time::from_ps(6_719), 0) && source.may_send(Time::from_ps(6_720), 0));
    }

    #[test]
    fn who_does_not_honour_does_not_stop() {
        let mut source = PfcSource::new(RATE, Length::from_metres(1), &PfcConfig::default(), 0);
        source.heard(Time::ORIGIN, pause(3, 0xffff));
        let later = Time::from_nanos(1_000_000);
        assert_eq!((source.advance(later), source.paused(), source.may_send(later, 3)), (0, 0, true));
        // Several frames that act by the same time: the last one counts.
        let mut obeys = PfcSource::new(RATE, Length::from_metres(1), &PfcConfig::default(), 0x08);
        obeys.heard(Time::ORIGIN, pause(3, 0xffff));
        obeys.heard(Time::from_nanos(50), pause(3, 0));
        assert_eq!((obeys.advance(later), obeys.may_send(later, 3)), (8, true));
        assert_eq!(obeys.stats(later)[3].paused, Duration::from_nanos(50));
    }
}
