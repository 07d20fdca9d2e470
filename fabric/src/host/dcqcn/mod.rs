//! DCQCN at hosts: reaction points (senders) and notification points (receivers), per queue pair (model: buffer §4).
//!
//! The reaction point comes in two forms: [`Published`], with byte counter and timer, and [`Mellanox`], with a monitor
//! of its own, as the HPCC and ConWeave simulators have it.

mod mellanox;
mod notification;
mod published;

pub use mellanox::Mellanox;
pub use notification::{Coalescing, NotificationPoint};
pub use published::Published;

use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// When the target rate follows the rate at a cut (model: buffer §4.2, §4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clamp {
    /// At every cut (`clamp_tgt_rate`).
    Always,
    /// If the rate has been raised since the last cut (`clamp_tgt_rate_after_time_inc`).
    #[default]
    AfterRaise,
    /// If the byte counter has raised it since the last cut. Without a byte counter: never.
    AfterBytes,
}

/// Parameters of a reaction point (model: buffer §4.4).
#[derive(Clone, Debug, PartialEq)]
pub struct ReactionConfig {
    /// The port's rate, which no rate exceeds.
    pub line: BitRate,
    /// Least rate, above 0.
    pub min: BitRate,
    /// Weight of a notification in alpha, above 0 and at most 1.
    pub g: f64,
    /// Alpha before the first notification, 0 to 1; [`Mellanox`] starts at 1.
    pub alpha: f64,
    /// Alpha decays after each such time without a notification.
    pub alpha_timer: Duration,
    /// The rate is raised after each such time without a cut.
    pub rate_timer: Duration,
    /// The rate is raised after so many bytes too ([`Published`] alone).
    pub byte_counter: Bytes,
    /// Stages of fast recovery.
    pub stages: u32,
    /// Step of additive increase.
    pub additive: BitRate,
    /// Step of hyper increase.
    pub hyper: BitRate,
    /// When the target follows the rate.
    pub clamp: Clamp,
    /// Cuts with the alpha that was before the notification, as the paper does; else with the new one.
    pub cut_first: bool,
    /// At most one cut in each such time ([`Mellanox`] alone).
    pub monitor: Duration,
}

impl ReactionConfig {
    /// The HPCC simulator's defaults at a line rate (model: buffer §4.4, third column).
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
        }
    }

    /// The next alpha, with or without a notification.
    fn next_alpha(&self, alpha: f64, notified: bool) -> f64 {
        (1.0 - self.g) * alpha + if notified { self.g } else { 0.0 }
    }

    /// A rate after a cut.
    fn cut(&self, rate: f64, alpha: f64) -> f64 {
        (rate * (1.0 - alpha / 2.0)).max(self.min.as_bps() as f64)
    }

    /// Halfway to the target.
    fn towards(&self, rate: f64, target: f64) -> f64 {
        f64::midpoint(rate, target).min(self.line.as_bps() as f64)
    }
}

/// A sender's rate.
#[derive(Clone, Debug, PartialEq)]
pub enum ReactionPoint {
    /// With byte counter and timer.
    Published(Published),
    /// With a monitor.
    Mellanox(Mellanox),
}

impl ReactionPoint {
    /// Lets timers that are due by then do their work.
    pub fn advance(&mut self, now: Time) {
        match self {
            ReactionPoint::Published(point) => point.advance(now),
            ReactionPoint::Mellanox(point) => point.advance(now),
        }
    }

    /// A notification arrives.
    pub fn notified(&mut self, now: Time) {
        match self {
            ReactionPoint::Published(point) => point.notified(now),
            ReactionPoint::Mellanox(point) => point.notified(now),
        }
    }

    /// Bytes were sent.
    pub fn sent(&mut self, bytes: Bytes) {
        if let ReactionPoint::Published(point) = self {
            point.sent(bytes);
        }
    }

    /// When the next timer is due.
    #[must_use]
    pub fn next_timer(&self) -> Option<Time> {
        match self {
            ReactionPoint::Published(point) => point.next_timer(),
            ReactionPoint::Mellanox(point) => point.next_timer(),
        }
    }

    /// Rates, alpha and counts.
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
    /// Bits a second at which it sends.
    pub rate: f64,
    /// Bits a second to which the rate returns.
    pub target: f64,
    /// Estimate of congestion, 0 to 1.
    pub alpha: f64,
    /// Notifications that arrived.
    pub notified: u64,
    /// Cuts.
    pub cuts: u64,
    /// Times that alpha decayed or rose by the timer.
    pub alpha_updates: u64,
}

impl Rates {
    fn new(config: &ReactionConfig) -> Self {
        let line = config.line.as_bps() as f64;
        Rates { rate: line, target: line, alpha: config.alpha, notified: 0, cuts: 0, alpha_updates: 0 }
    }
}
