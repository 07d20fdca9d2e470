//! Priority flow control (IEEE 802.1Qbb) at a MAC: received pauses and sent pauses.
//!
//! *Receiving* (model: buffer §2.2). A PFC frame takes effect a reaction time after its last bit; the frame that is
//! being sent at that time is finished. A priority's time counts only if its enable bit is set. The time replaces the
//! rest of the running pause, and 0 ends the pause. Times are in quanta of 512 bit times of the receiving line.
//! Priorities that are not honoured and 802.3x PAUSE frames have no effect. A pause ends by itself when its time is
//! over (decision D12).
//!
//! *Sending*. The MAC sends a pause at once, and repeats it after a share of its time as long as the pause lasts. It
//! sends a resume once. One frame carries all priorities that are due.

use super::headroom::peer_quanta;
use crate::units::{BitRate, Bytes, Duration, Time};

/// Number of PFC priorities.
pub const PRIORITIES: usize = 8;
/// One quantum of pause time: 512 bit times.
pub const QUANTUM: Bytes = Bytes(64);

/// PFC settings of the MACs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PfcConfig {
    /// Pause time of sent frames, in quanta.
    pub quanta: u16,
    /// Share of the pause time after which the MAC repeats a pause, in percent; `None`: the MAC does not repeat it.
    pub refresh_percent: Option<u8>,
    /// True if pauses of all priorities are obeyed, not only those of lossless priorities (SONiC: pfc_asym).
    pub asymmetric: bool,
    /// Reaction time, from a received frame's last bit to its effect; `None`: the standard's bound for the line rate
    /// (decision D15).
    pub reaction: Option<Duration>,
}

impl Default for PfcConfig {
    fn default() -> Self {
        Self { quanta: u16::MAX, refresh_percent: Some(50), asymmetric: false, reaction: None }
    }
}

impl PfcConfig {
    /// Returns the reaction time on a line of this rate, from a frame's last bit to its effect.
    pub fn reaction_on(&self, rate: BitRate) -> Duration {
        self.reaction.unwrap_or_else(|| quanta_time(rate, peer_quanta(rate)))
    }
}

/// Returns the duration of `quanta` quanta on a line.
pub fn quanta_time(rate: BitRate, quanta: u32) -> Duration {
    rate.time_for(Bytes(QUANTUM.0 * u64::from(quanta)))
}

/// Pause times of a PFC frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PfcTimes {
    /// Bit n: true if the time of priority n counts.
    pub enabled: u8,
    /// Pause time by priority, in quanta; 0 resumes.
    pub quanta: [u16; PRIORITIES],
}

/// Counters of received pauses of one priority.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PauseStats {
    /// Frames with the priority's enable bit set, including those that resume.
    pub frames: u64,
    /// Pauses that began.
    pub pauses: u64,
    /// Pauses that ended, by a frame or by timeout (SONiC: ON2OFF).
    pub resumes: u64,
    /// Time paused; of a running pause, the part up to the last event.
    pub paused: Duration,
}

/// Receiving side of a port: the priorities that the peer pauses.
#[derive(Debug, Clone)]
pub struct PfcRx {
    rate: BitRate,
    honoured: u8,
    paused: u8,
    until: [Time; PRIORITIES],
    since: [Time; PRIORITIES],
    stats: [PauseStats; PRIORITIES],
    ignored_pauses: u64,
}

impl PfcRx {
    /// Creates a receiver without pauses. Bit n of `honoured`: pauses of priority n take effect.
    pub const fn new(rate: BitRate, honoured: u8) -> Self {
        let none = PauseStats { frames: 0, pauses: 0, resumes: 0, paused: Duration::ZERO };
        Self {
            rate,
            honoured,
            paused: 0,
            until: [Time::ORIGIN; PRIORITIES],
            since: [Time::ORIGIN; PRIORITIES],
            stats: [none; PRIORITIES],
            ignored_pauses: 0,
        }
    }

    /// Applies a received frame. Returns the priorities whose pause began or ended, as bits.
    pub fn take(&mut self, now: Time, times: &PfcTimes) -> u8 {
        let before = self.expire(now);
        let old = self.paused;
        for priority in 0..PRIORITIES {
            if times.enabled >> priority & 1 == 0 {
                continue;
            }
            self.stats[priority].frames += 1;
            if self.honoured >> priority & 1 == 0 {
                continue;
            }
            match times.quanta[priority] {
                0 => self.end(priority, now),
                quanta => self.begin(priority, now, now + quanta_time(self.rate, quanta.into())),
            }
        }
        before | (old ^ self.paused)
    }

    fn begin(&mut self, priority: usize, now: Time, until: Time) {
        if self.paused >> priority & 1 == 0 {
            self.paused |= 1 << priority;
            self.since[priority] = now;
            self.stats[priority].pauses += 1;
        }
        self.until[priority] = until;
    }

    fn end(&mut self, priority: usize, now: Time) {
        if self.paused >> priority & 1 != 0 {
            self.paused &= !(1 << priority);
            self.stats[priority].resumes += 1;
            self.account(priority, now);
        }
    }

    fn account(&mut self, priority: usize, now: Time) {
        let stats = &mut self.stats[priority];
        stats.paused =
            stats.paused.checked_add(now.saturating_since(self.since[priority])).unwrap_or(Duration::MAX);
        self.since[priority] = now;
    }

    /// Ends the pauses whose time is over. Returns their priorities, as bits.
    pub fn expire(&mut self, now: Time) -> u8 {
        let old = self.paused;
        for priority in 0..PRIORITIES {
            if old >> priority & 1 != 0 && self.until[priority] <= now {
                self.end(priority, self.until[priority]);
            }
        }
        old ^ self.paused
    }

    /// Counts a received 802.3x PAUSE frame, which has no other effect.
    pub const fn ignore_pause(&mut self) {
        self.ignored_pauses += 1;
    }

    /// Returns the number of 802.3x PAUSE frames received.
    pub const fn ignored_pauses(&self) -> u64 {
        self.ignored_pauses
    }

    /// Returns the paused priorities, as bits, as of the last [`take`](Self::take) or [`expire`](Self::expire).
    #[inline]
    pub const fn paused(&self) -> u8 {
        self.paused
    }

    /// Returns the time at which the next pause ends by itself.
    pub fn next_expiry(&self) -> Option<Time> {
        let paused = (0..PRIORITIES).filter(|p| self.paused >> p & 1 != 0);
        paused.map(|p| self.until[p]).min()
    }

    /// Changes which priorities are honoured, and ends the pauses of all others. Returns the priorities whose pause ended,
    /// as bits.
    pub fn set_honoured(&mut self, now: Time, honoured: u8) -> u8 {
        let old = self.paused;
        self.honoured = honoured;
        for priority in (0..PRIORITIES).filter(|p| honoured >> p & 1 == 0) {
            self.end(priority, now);
        }
        old ^ self.paused
    }

    /// Returns the honoured priorities, as bits.
    pub const fn honoured(&self) -> u8 {
        self.honoured
    }

    /// Returns the counters of each priority. The time of a running pause counts up to `now`.
    pub fn stats(&self, now: Time) -> [PauseStats; PRIORITIES] {
        let mut view = self.clone();
        view.expire(now);
        for priority in (0..PRIORITIES).filter(|p| view.paused >> p & 1 != 0).collect::<Vec<_>>() {
            view.account(priority, now);
        }
        view.stats
    }

    /// Returns the whole quanta of this line in a duration.
    pub fn quanta_in(&self, time: Duration) -> u64 {
        self.rate.bytes_in(time).0 / QUANTUM.0
    }
}

/// Sending side of a port: the priorities that the port pauses at its peer.
#[derive(Debug, Clone)]
pub struct PfcTx {
    quanta: u16,
    refresh: Option<Duration>,
    enabled: u8,
    active: u8,
    pending: u8,
    refresh_at: [Time; PRIORITIES],
    frames: [u64; PRIORITIES],
}

impl PfcTx {
    /// Creates a sender without pauses. Bit n of `enabled`: the port may send frames for priority n.
    pub fn new(rate: BitRate, config: &PfcConfig, enabled: u8) -> Self {
        let pause = quanta_time(rate, config.quanta.into());
        let part = |percent: u8| Duration::from_ps(pause.as_ps() / 100 * u64::from(percent));
        Self {
            quanta: config.quanta,
            refresh: config.refresh_percent.map(part),
            enabled,
            active: 0,
            pending: 0,
            refresh_at: [Time::MAX; PRIORITIES],
            frames: [0; PRIORITIES],
        }
    }

    /// Requests a pause (`xoff`) or a resume of these priorities at the peer.
    pub const fn request(&mut self, priorities: u8, xoff: bool) {
        let meant = priorities & self.enabled;
        self.active = if xoff { self.active | meant } else { self.active & !meant };
        self.pending |= meant;
    }

    /// Returns the time at which the next frame is due; [`Time::ORIGIN`] if a frame is due at once.
    pub fn next_time(&self) -> Option<Time> {
        if self.pending != 0 {
            return Some(Time::ORIGIN);
        }
        let active = (0..PRIORITIES).filter(|p| self.active >> p & 1 != 0);
        active.map(|p| self.refresh_at[p]).min().filter(|t| *t < Time::MAX)
    }

    /// Returns the frame that is due at `now`, if any, and counts it as sent.
    pub fn take(&mut self, now: Time) -> Option<PfcTimes> {
        let mut times = PfcTimes::default();
        for priority in 0..PRIORITIES {
            let active = self.active >> priority & 1 != 0;
            if self.pending >> priority & 1 == 0 && !(active && self.refresh_at[priority] <= now) {
                continue;
            }
            times.enabled |= 1 << priority;
            times.quanta[priority] = if active { self.quanta } else { 0 };
            self.refresh_at[priority] = match self.refresh.filter(|_| active) {
                Some(refresh) => now + refresh,
                None => Time::MAX,
            };
            self.frames[priority] += 1;
        }
        self.pending = 0;
        (times.enabled != 0).then_some(times)
    }

    /// Returns the priorities that are paused at the peer, as bits.
    pub const fn active(&self) -> u8 {
        self.active
    }

    /// Returns the number of frames sent with each priority's enable bit set.
    pub const fn frames(&self) -> [u64; PRIORITIES] {
        self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: BitRate = BitRate::from_gbps(100);

    fn times(enabled: u8, priority: usize, quanta: u16) -> PfcTimes {
        let mut times = PfcTimes { enabled, ..PfcTimes::default() };
        times.quanta[priority] = quanta;
        times
    }

    /// Model: buffer §2.2, one quantum and the longest pause.
    #[test]
    fn quanta_are_512_bit_times() {
        let rows = [
            (10, 51_200),
            (25, 20_480),
            (40, 12_800),
            (50, 10_240),
            (100, 5_120),
            (200, 2_560),
            (400, 1_280),
        ];
        for (gbps, ps) in rows {
            assert_eq!(quanta_time(BitRate::from_gbps(gbps), 1).as_ps(), ps);
            assert_eq!(quanta_time(BitRate::from_gbps(gbps), 65_535).as_ps(), ps * 65_535);
        }
        // Model: buffer §1.10: the reaction bound at 100G is 394 quanta.
        assert_eq!(PfcConfig::default().reaction_on(RATE), Duration::from_ps(394 * 5_120));
    }

    /// Model: buffer §8.3 rows 28 and 29.
    #[test]
    fn a_pause_ends_by_itself_and_is_replaced_not_added() {
        let mut rx = PfcRx::new(RATE, 0x18);
        let start = Time::from_ps(1000);
        assert_eq!(rx.take(start, &times(0x08, 3, 0xffff)), 0x08);
        let end = start + quanta_time(RATE, 0xffff);
        assert_eq!((rx.paused(), rx.next_expiry()), (0x08, Some(end)));
        assert_eq!(rx.expire(end.saturating_sub(Duration::from_ps(1))), 0);
        assert_eq!((rx.expire(end), rx.paused(), rx.next_expiry()), (0x08, 0, None));
        let stats = rx.stats(end)[3];
        assert_eq!((stats.pauses, stats.resumes, stats.paused), (1, 1, quanta_time(RATE, 0xffff)));
        assert_eq!(rx.quanta_in(stats.paused), 0xffff);

        let mut rx = PfcRx::new(RATE, 0x18);
        rx.take(Time::ORIGIN, &times(0x08, 3, 100));
        let later = Time::ORIGIN + quanta_time(RATE, 10);
        assert_eq!(rx.take(later, &times(0x08, 3, 50)), 0);
        assert_eq!(rx.next_expiry(), Some(Time::ORIGIN + quanta_time(RATE, 60)));
        assert_eq!(rx.stats(later)[3].paused, quanta_time(RATE, 10));
        assert_eq!(rx.take(later, &times(0x08, 3, 0)), 0x08);
        assert_eq!(rx.paused(), 0);
    }

    /// Model: buffer §8.3 rows 31 and 33.
    #[test]
    fn what_is_not_honoured_or_not_enabled_is_left_alone() {
        let mut rx = PfcRx::new(RATE, 0x18);
        assert_eq!(rx.take(Time::ORIGIN, &times(0x02, 1, 100)), 0);
        assert_eq!(rx.take(Time::ORIGIN, &times(0x00, 3, 100)), 0);
        assert_eq!(
            (rx.paused(), rx.stats(Time::ORIGIN)[1].frames, rx.stats(Time::ORIGIN)[3].frames),
            (0, 1, 0)
        );
        let mut asymmetric = PfcRx::new(RATE, 0xff);
        assert_eq!(asymmetric.take(Time::ORIGIN, &times(0x02, 1, 100)), 0x02);
        assert_eq!(asymmetric.set_honoured(Time::from_ps(5), 0x18), 0x02);
        assert_eq!(asymmetric.stats(Time::from_ps(9))[1].paused, Duration::from_ps(5));
    }

    /// Model: buffer §8.3 rows 23, 26, 27, 35.
    #[test]
    fn pauses_are_asked_for_refreshed_and_taken_back() {
        let mut tx = PfcTx::new(RATE, &PfcConfig::default(), 0x18);
        assert_eq!((tx.next_time(), tx.take(Time::ORIGIN)), (None, None));
        tx.request(0x08, true);
        tx.request(0x01, true);
        assert_eq!(tx.next_time(), Some(Time::ORIGIN));
        assert_eq!(tx.take(Time::ORIGIN), Some(times(0x08, 3, 0xffff)));
        let refresh = Time::ORIGIN + Duration::from_ps(quanta_time(RATE, 0xffff).as_ps() / 2);
        let due = tx.next_time().unwrap();
        assert!(due <= refresh && refresh.saturating_since(due) < Duration::from_ps(100), "{due}");
        assert_eq!(tx.take(due.saturating_sub(Duration::from_ps(1))), None);
        tx.request(0x10, true);
        let both = PfcTimes { enabled: 0x18, quanta: [0, 0, 0, 0xffff, 0xffff, 0, 0, 0] };
        assert_eq!(tx.take(due), Some(both));
        tx.request(0x08, false);
        assert_eq!(tx.take(due), Some(times(0x08, 3, 0)));
        assert_eq!((tx.active(), tx.frames()[3], tx.frames()[4]), (0x10, 3, 1));
        let mut once = PfcTx::new(RATE, &PfcConfig { refresh_percent: None, ..PfcConfig::default() }, 0xff);
        once.request(0x08, true);
        once.take(Time::ORIGIN);
        assert_eq!(once.next_time(), None);
    }
}
