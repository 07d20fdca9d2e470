//! DCQCN at hosts: reaction points (senders) and notification points (receivers), per queue pair (model: buffer §4).
//!
//! The reaction point has two forms: [`Published`], with byte counter and timer, and [`Mellanox`], with a rate decrease
//! monitor, as in the HPCC and ConWeave simulators. A *notification* is a CNP.

mod mellanox;
mod notification;
mod published;

pub use mellanox::Mellanox;
pub use notification::{Coalescing, NotificationPoint, NotificationScope};
pub use published::Published;

use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// Condition under which a cut sets the target rate to the rate before the cut (model: buffer §4.2, §4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// Every cut does (`clamp_tgt_rate`).
    Always,
    /// If the rate was raised since the last cut (`clamp_tgt_rate_after_time_inc`).
    #[default]
    AfterRaise,
    /// If the byte counter raised the rate since the last cut. Never without a byte counter.
    AfterBytes,
}

/// Parameters of a reaction point (model: buffer §4.4).
#[derive(Clone, Debug, PartialEq)]
pub struct ReactionConfig {
    /// Link rate, the upper limit of the rate.
    pub line: BitRate,
    /// Lower limit of the rate, above 0.
    pub min: BitRate,
    /// Weight `g` of a notification in alpha, above 0 and at most 1.
    pub g: f64,
    /// Alpha before the first notification, 0 to 1. [`Mellanox`] sets it at the first notification.
    pub alpha: f64,
    /// Period without a notification after which alpha decays.
    pub alpha_timer: Duration,
    /// Period without a cut after which the rate is raised.
    pub rate_timer: Duration,
    /// Bytes after which the rate is also raised; 0: never. [`Mellanox`] counts bytes only as firmware.
    pub byte_counter: Bytes,
    /// Stages of fast recovery.
    pub stages: u32,
    /// Step of additive increase.
    pub additive: BitRate,
    /// Step of hyper increase.
    pub hyper: BitRate,
    /// Condition under which the target follows the rate.
    pub clamp: Clamp,
    /// True if a cut uses alpha from before the notification, as in the paper; false if it uses the updated alpha
    /// ([`Published`] only).
    pub cut_first: bool,
    /// Period of the monitor: at most one cut per period ([`Mellanox`] only).
    pub monitor: Duration,
    /// Time after a cut in which notifications are ignored, as in later generations of NICs; zero: every notification
    /// cuts ([`Published`] only).
    pub cut_window: Duration,
    /// Share of alpha by which a cut lowers the rate, above 0 and at most 1: the rate is multiplied by 1 - alpha * share.
    pub cut_share: f64,
    /// Least rate after a cut, as a share of the rate before it, 0 to 1.
    pub kept_share: f64,
    /// Rate and target at the first notification of a pair, at most the present ones; `None`: they do not change
    /// ([`Mellanox`] only).
    pub first_rate: Option<BitRate>,
}

impl ReactionConfig {
    /// Returns the HPCC simulator's defaults for a link rate (model: buffer §4.4, third column).
    #[must_use]
    pub fn new(line: BitRate) -> Self {
        ReactionConfig {
            line,
            min: BitRate::from_bps(100_000_000),
            g: 1.0 / 16.0,
            alpha: 1.0,
            alpha_timer: Duration::from_micros(55),
            rate_timer: Duration::from_micros(1500),
            byte_counter: Bytes(150_000),
            stages: 5,
            additive: BitRate::from_bps(5_000_000),
            hyper: BitRate::from_bps(50_000_000),
            clamp: Clamp::default(),
            cut_first: true,
            monitor: Duration::from_micros(4),
            cut_window: Duration::ZERO,
            cut_share: 0.5,
            kept_share: 0.0,
            first_rate: None,
        }
    }

    /// Returns the defaults of mlx5 firmware, for [`Mellanox::firmware`] (model: buffer §4.4, last column).
    #[must_use]
    pub fn firmware(line: BitRate) -> Self {
        ReactionConfig {
            min: BitRate::from_bps(1_000_000),
            g: 5.0 / 1024.0,
            alpha: 1023.0 / 1024.0,
            alpha_timer: Duration::from_micros(1),
            rate_timer: Duration::from_micros(300),
            byte_counter: Bytes(32_767),
            stages: 1,
            kept_share: 0.5,
            ..ReactionConfig::new(line)
        }
    }

    /// Returns the updated alpha, with or without a notification.
    fn next_alpha(&self, alpha: f64, notified: bool) -> f64 {
        (1.0 - self.g) * alpha + if notified { self.g } else { 0.0 }
    }

    /// Returns the rate after a cut.
    fn cut(&self, rate: f64, alpha: f64) -> f64 {
        let cut = rate * (1.0 - alpha * self.cut_share);
        cut.max(rate * self.kept_share).max(self.min.as_bps() as f64)
    }

    /// Returns the mean of rate and target, at most the link rate.
    fn towards(&self, rate: f64, target: f64) -> f64 {
        f64::midpoint(rate, target).min(self.line.as_bps() as f64)
    }
}

/// A reaction point of either form.
#[derive(Clone, Debug, PartialEq)]
pub enum ReactionPoint {
    /// Reaction point with byte counter and timer.
    Published(Published),
    /// Reaction point with a monitor.
    Mellanox(Mellanox),
}

impl ReactionPoint {
    /// Runs all timers that are due up to and including `now`.
    pub fn advance(&mut self, now: Time) {
        match self {
            ReactionPoint::Published(point) => point.advance(now),
            ReactionPoint::Mellanox(point) => point.advance(now),
        }
    }

    /// Handles a notification.
    pub fn notified(&mut self, now: Time) {
        match self {
            ReactionPoint::Published(point) => point.notified(now),
            ReactionPoint::Mellanox(point) => point.notified(now),
        }
    }

    /// Counts sent bytes.
    pub fn sent(&mut self, bytes: Bytes) {
        match self {
            ReactionPoint::Published(point) => point.sent(bytes),
            ReactionPoint::Mellanox(point) => point.sent(bytes),
        }
    }

    /// Returns a new reaction point with the same parameters, at a line of at most this rate.
    #[must_use]
    pub fn at_line(&self, line: BitRate) -> ReactionPoint {
        match self {
            ReactionPoint::Published(point) => ReactionPoint::Published(point.at_line(line)),
            ReactionPoint::Mellanox(point) => ReactionPoint::Mellanox(point.at_line(line)),
        }
    }

    /// Returns the time of the next timer, if one is running.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        match self {
            ReactionPoint::Published(point) => point.next_timer(),
            ReactionPoint::Mellanox(point) => point.next_timer(),
        }
    }

    /// Returns rates, alpha and counts.
    #[must_use]
    pub fn state(&self) -> &Rates {
        match self {
            ReactionPoint::Published(point) => &point.rates,
            ReactionPoint::Mellanox(point) => &point.rates,
        }
    }
}

/// Rates, alpha and counts of a reaction point.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Current sending rate, bit/s.
    pub rate: f64,
    /// Target rate that fast recovery returns to, bit/s.
    pub target: f64,
    /// Estimate of congestion, 0 to 1.
    pub alpha: f64,
    /// Notifications that arrived.
    pub notified: u64,
    /// Number of cuts.
    pub cuts: u64,
    /// Number of alpha updates by the timer.
    pub alpha_updates: u64,
}

impl Rates {
    fn new(config: &ReactionConfig) -> Self {
        let line = config.line.as_bps() as f64;
        Rates { rate: line, target: line, alpha: config.alpha, notified: 0, cuts: 0, alpha_updates: 0 }
    }
}
