//! PFC watchdog of a queue: detects a pause that does not end, acts on the queue, and reverts the action
//! (model: buffer §2.3).
//!
//! The watchdog polls with a countdown. *Detection* counts down over polls in which the vendor's predicate holds and
//! restarts at a poll in which it does not. *Restoration* counts down over polls without a pause frame. A storm is
//! therefore detected later than the detection time after its start, by at most one poll.

use crate::units::Duration;
use serde::{Deserialize, Serialize};

/// Action on a queue in a storm.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WatchdogAction {
    /// Packets of the queue are dropped, and pauses are ignored.
    #[default]
    Drop,
    /// Pauses are ignored.
    Forward,
    /// An event is reported; the queue stays paused.
    Alert,
}

/// Predicate by which a storm is detected (decision D13).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Predicate {
    /// Pause frames arrived, no pause ended, and the queue is paused at this poll and was at the last.
    #[default]
    Broadcom,
    /// The queue holds packets, sent none, and was paused for more than 99 % of the time.
    Mellanox,
    /// The queue holds packets, sent none, and pause frames arrived; or the queue is empty and was paused for more than
    /// 80 % of the time.
    Barefoot,
}

/// Settings of a watchdog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchdogConfig {
    /// Time for which the predicate must hold.
    pub detection: Duration,
    /// Time without a pause frame after which the watchdog reverts its action; `None`: never. The action `Alert`
    /// ignores it.
    pub restoration: Option<Duration>,
    /// Time between polls.
    pub poll: Duration,
    /// Action in a storm.
    pub action: WatchdogAction,
    /// Predicate that detects a storm.
    pub predicate: Predicate,
}

impl WatchdogConfig {
    /// Returns SONiC's `start_default` for a switch of `ports` ports: 200 ms each, multiplied by one more for every 32
    /// ports. The poll interval stays within a second.
    pub fn start_default(ports: u64) -> Self {
        let m = (ports.saturating_sub(1) / 32 + 1).max(1);
        let time = Duration::from_millis(200 * m);
        Self {
            detection: time,
            restoration: Some(time),
            poll: time.min(Duration::from_secs(1)),
            action: WatchdogAction::default(),
            predicate: Predicate::default(),
        }
    }
}

/// State of a queue at a poll.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sample {
    /// Pause frames received for the priority since the start.
    pub pause_frames: u64,
    /// Pauses that ended since the start.
    pub resumes: u64,
    /// True if the queue is paused at the poll.
    pub paused: bool,
    /// Time paused since the start.
    pub paused_time: Duration,
    /// True if the queue holds packets.
    pub occupied: bool,
    /// Packets sent since the start.
    pub sent: u64,
}

/// Result of a poll that changes the watchdog's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WatchdogEvent {
    /// A storm was detected: the caller must carry out the action.
    Storm,
    /// The storm is over: the caller must revert the action.
    Restored,
}

/// Watchdog of one queue.
#[derive(Debug, Clone)]
pub struct Watchdog {
    config: WatchdogConfig,
    last: Option<Sample>,
    left: Duration,
    stormed: bool,
    detected: u64,
    restored: u64,
}

impl Watchdog {
    /// Creates a watchdog before its first poll.
    pub const fn new(config: WatchdogConfig) -> Self {
        let left = config.detection;
        Self { config, last: None, left, stormed: false, detected: 0, restored: 0 }
    }

    /// Returns the watchdog's settings.
    pub const fn config(&self) -> &WatchdogConfig {
        &self.config
    }

    /// Restarts the poller while the switch runs: the sample of the last poll is cleared, a detected storm is kept.
    pub fn warm_restart(&mut self) {
        self.last = None;
        self.left = match self.stormed && self.config.action != WatchdogAction::Alert {
            true => self.config.restoration.unwrap_or(Duration::MAX),
            false => self.config.detection,
        };
    }

    /// Polls the queue.
    pub fn poll(&mut self, sample: Sample) -> Option<WatchdogEvent> {
        let last = self.last.replace(sample)?;
        if self.stormed && self.config.action != WatchdogAction::Alert {
            return self.restoration(&last, &sample);
        }
        if !self.holds(&last, &sample) {
            self.left = self.config.detection;
            return self.stormed.then(|| self.restore());
        }
        if self.stormed {
            return None;
        }
        if !self.counts_down() {
            return None;
        }
        self.stormed = true;
        self.detected += 1;
        self.left = self.config.restoration.unwrap_or(Duration::MAX);
        if self.config.action == WatchdogAction::Alert {
            self.left = self.config.detection;
        }
        Some(WatchdogEvent::Storm)
    }

    fn restoration(&mut self, last: &Sample, now: &Sample) -> Option<WatchdogEvent> {
        let restoration = self.config.restoration?;
        if now.pause_frames != last.pause_frames {
            self.left = restoration;
            return None;
        }
        self.counts_down().then(|| self.restore())
    }

    fn restore(&mut self) -> WatchdogEvent {
        self.stormed = false;
        self.restored += 1;
        self.left = self.config.detection;
        WatchdogEvent::Restored
    }

    /// Takes one poll off the countdown; returns true at its end.
    fn counts_down(&mut self) -> bool {
        let over = self.left <= self.config.poll;
        self.left = self.left.saturating_sub(self.config.poll);
        over
    }

    fn holds(&self, last: &Sample, now: &Sample) -> bool {
        let frames = now.pause_frames > last.pause_frames;
        let still = now.sent == last.sent;
        let paused = now.paused_time.saturating_sub(last.paused_time).as_ps();
        let beyond = |percent: u64| paused > self.config.poll.as_ps() / 100 * percent;
        match self.config.predicate {
            Predicate::Broadcom => frames && now.resumes == last.resumes && now.paused && last.paused,
            Predicate::Mellanox => now.occupied && still && beyond(99),
            Predicate::Barefoot => still && (now.occupied && frames || !now.occupied && beyond(80)),
        }
    }

    /// Returns true during a storm.
    pub const fn is_stormed(&self) -> bool {
        self.stormed
    }

    /// Returns the numbers of storms detected and ended since the start.
    pub const fn counts(&self) -> (u64, u64) {
        (self.detected, self.restored)
    }

    /// Clears the last sample and the countdown, as a restart of the poller does. A storm that lasts is not counted
    /// again.
    pub fn restart(&mut self) {
        self.last = None;
        self.left = match (self.stormed, self.config.restoration) {
            (true, Some(restoration)) if self.config.action != WatchdogAction::Alert => restoration,
            _ => self.config.detection,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn config(action: WatchdogAction) -> WatchdogConfig {
        WatchdogConfig { action, ..WatchdogConfig::start_default(32) }
    }

    /// Polls every `poll` from 150 ms before 0; the peer pauses the queue in `storm`, in ms, with a frame each ms.
    fn run(dog: &mut Watchdog, storm: std::ops::Range<u64>, until: u64) -> Vec<(u64, WatchdogEvent)> {
        let poll = dog.config().poll.as_ps() / 1_000_000_000;
        let mut events = Vec::new();
        for at in (1..).map(|n| n * poll).take_while(|at| *at <= until) {
            let within = at.clamp(storm.start, storm.end) - storm.start;
            let sample = Sample {
                pause_frames: within,
                resumes: u64::from(at >= storm.end),
                paused: storm.contains(&at),
                paused_time: MS(within),
                occupied: true,
                sent: if at < storm.start { at } else { storm.start },
            };
            events.extend(dog.poll(sample).map(|e| (at, e)));
        }
        events
    }

    /// Model: buffer §8.4 row 38, in its own time scale: the storm starts 50 ms after a poll.
    #[test]
    fn a_storm_is_seen_at_the_second_poll_and_restored() {
        let mut dog = Watchdog::new(config(WatchdogAction::Drop));
        // Polls at 200, 400 (a storm from 250 on: arms), 600: 350 ms after its start.
        let events = run(&mut dog, 250..1250, 3000);
        assert_eq!(events, [(600, WatchdogEvent::Storm), (1600, WatchdogEvent::Restored)]);
        assert_eq!(dog.counts(), (1, 1));
    }

    /// Model: buffer §2.4: the latency is in (k * poll, (k + 1) * poll].
    #[test]
    fn latency_is_detection_to_one_poll_more() {
        for detection in [200, 400, 600, 1000] {
            for start in 201..=400 {
                let c = WatchdogConfig { detection: MS(detection), ..config(WatchdogAction::Drop) };
                let events = run(&mut Watchdog::new(c), start..10_000, 5_000);
                let latency = events[0].0 - start;
                assert!(latency >= detection && latency <= detection + 200, "{detection} {start}: {latency}");
            }
        }
    }

    /// Model: buffer §8.4 rows 39 and 48.
    #[test]
    fn short_storms_and_slow_receivers_are_none() {
        assert_eq!(run(&mut Watchdog::new(config(WatchdogAction::Drop)), 250..400, 3000), []);
        for predicate in [Predicate::Broadcom, Predicate::Mellanox, Predicate::Barefoot] {
            let mut dog = Watchdog::new(WatchdogConfig { predicate, ..config(WatchdogAction::Drop) });
            for n in 1..50u64 {
                let sample = Sample {
                    pause_frames: n * 2000,
                    resumes: n * 2000,
                    paused: true,
                    paused_time: MS(n * 100),
                    occupied: true,
                    sent: n * 1000,
                };
                assert_eq!(dog.poll(sample), None, "{predicate:?}");
            }
        }
    }

    /// Model: buffer §8.4 row 42.
    #[test]
    fn alert_is_over_at_the_first_clean_poll() {
        let events = run(&mut Watchdog::new(config(WatchdogAction::Alert)), 250..1250, 3000);
        assert_eq!(events, [(600, WatchdogEvent::Storm), (1400, WatchdogEvent::Restored)]);
    }

    /// Model: buffer §8.4 rows 44 and 47.
    #[test]
    fn frames_hold_a_restoration_up_and_a_restart_counts_once() {
        let c = WatchdogConfig { restoration: Some(MS(400)), ..config(WatchdogAction::Drop) };
        let mut dog = Watchdog::new(c);
        let sample = |n: u64| Sample { pause_frames: n * 4 / 3, paused: true, ..Sample::default() };
        let events: Vec<_> = (1..100).filter_map(|n| dog.poll(sample(n))).collect();
        assert_eq!(events, [WatchdogEvent::Storm]);
        dog.restart();
        assert!(dog.is_stormed());
        let quiet: Vec<_> = (0..4).filter_map(|_| dog.poll(sample(99))).collect();
        assert_eq!((quiet, dog.counts()), (vec![WatchdogEvent::Restored], (1, 1)));
    }

    /// Model: buffer §2.3, start_default.
    #[test]
    fn defaults_scale_with_ports() {
        let ms = |ports| WatchdogConfig::start_default(ports).detection;
        assert_eq!([ms(1), ms(32), ms(33), ms(512)], [MS(200), MS(200), MS(400), MS(3200)]);
        assert_eq!(WatchdogConfig::start_default(512).poll, MS(1000));
    }

    /// The other two vendors' predicates see the same storm.
    #[test]
    fn all_predicates_see_a_storm() {
        for predicate in [Predicate::Mellanox, Predicate::Barefoot] {
            let c = WatchdogConfig { predicate, ..config(WatchdogAction::Forward) };
            let events = run(&mut Watchdog::new(c), 250..1450, 3000);
            assert_eq!(events.len(), 2, "{predicate:?} {events:?}");
        }
    }
}
