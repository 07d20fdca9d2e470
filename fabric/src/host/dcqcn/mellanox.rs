//! DCQCN reaction point with a rate decrease monitor: CNPs set flags, which the alpha timer and the monitor poll
//! (model: buffer §4.3). As firmware it also counts bytes, and its stages are those of the published form (§4.4).

use super::{Clamp, Rates, ReactionConfig};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// Reaction point that cuts its rate at most once per monitor period.
#[derive(Clone, Debug, PartialEq)]
pub struct Mellanox {
    config: ReactionConfig,
    pub(super) rates: Rates,
    /// True if sent bytes raise the rate too.
    counts_bytes: bool,
    byte_stage: u32,
    bytes_left: u64,
    time_stage: u32,
    /// A CNP arrived since the alpha timer last ran.
    for_alpha: bool,
    /// A CNP arrived since the monitor last ran.
    for_cut: bool,
    alpha_due: Option<Time>,
    monitor_due: Option<Time>,
    rate_due: Option<Time>,
}

impl Mellanox {
    /// Creates a sender at line rate that has received no CNP.
    #[must_use]
    pub fn new(config: ReactionConfig) -> Self {
        Mellanox {
            rates: Rates::new(&config),
            counts_bytes: false,
            byte_stage: 0,
            bytes_left: config.byte_counter.0,
            config,
            time_stage: 0,
            for_alpha: false,
            for_cut: false,
            alpha_due: None,
            monitor_due: None,
            rate_due: None,
        }
    }

    /// Creates a sender as in mlx5 firmware: it cuts and updates alpha as [`Mellanox::new`] does, and raises the rate by
    /// the timer and, if `byte_counter` is not 0, by sent bytes.
    #[must_use]
    pub fn firmware(config: ReactionConfig) -> Self {
        Mellanox { counts_bytes: config.byte_counter.0 > 0, ..Mellanox::new(config) }
    }

    pub(super) fn at_line(&self, line: BitRate) -> Self {
        let config = ReactionConfig { line: self.config.line.min(line), ..self.config.clone() };
        Mellanox { counts_bytes: self.counts_bytes, ..Mellanox::new(config) }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.alpha_due.into_iter().chain(self.monitor_due).chain(self.rate_due).min()
    }

    pub(super) fn notified(&mut self, now: Time) {
        self.advance(now);
        self.rates.notified += 1;
        self.for_cut = true;
        if self.alpha_due.is_some() {
            self.for_alpha = true;
            return;
        }
        self.rates.alpha = self.config.alpha;
        if let Some(first) = self.config.first_rate {
            self.rates.rate = self.rates.rate.min(first.as_bps() as f64);
            self.rates.target = self.rates.target.min(first.as_bps() as f64);
        }
        self.alpha_due = Some(now + self.config.alpha_timer);
        // One nanosecond later, so that the alpha timer runs first.
        self.monitor_due = Some(now + self.config.monitor + Duration::from_nanos(1));
    }

    pub(super) fn advance(&mut self, now: Time) {
        while let Some(due) = self.next_timer().filter(|due| *due <= now) {
            if self.alpha_due == Some(due) {
                self.rates.alpha =
                    self.config.next_alpha(self.rates.alpha, std::mem::take(&mut self.for_alpha));
                self.rates.alpha_updates += 1;
                self.alpha_due = Some(due + self.config.alpha_timer);
            } else if self.monitor_due == Some(due) {
                self.monitor_due = Some(due + self.config.monitor);
                if std::mem::take(&mut self.for_cut) {
                    self.cut(due);
                }
            } else {
                self.raise();
                self.time_stage = self.time_stage.saturating_add(1);
                self.rate_due = Some(due + self.config.rate_timer);
            }
        }
    }

    fn cut(&mut self, now: Time) {
        let clamp = match self.config.clamp {
            Clamp::Always => true,
            Clamp::AfterRaise => self.time_stage > 0 || self.byte_stage > 0,
            Clamp::AfterBytes => self.byte_stage > 0,
        };
        if clamp {
            self.rates.target = self.rates.rate;
        }
        self.rates.rate = self.config.cut(self.rates.rate, self.rates.alpha);
        self.rates.cuts += 1;
        (self.time_stage, self.byte_stage) = (0, 0);
        self.bytes_left = self.config.byte_counter.0;
        self.rate_due = Some(now + self.config.rate_timer);
    }

    pub(super) fn sent(&mut self, bytes: Bytes) {
        // Before the first cut the sender is at line rate and cannot be raised.
        if !self.counts_bytes || self.rate_due.is_none() {
            return;
        }
        let mut bytes = bytes.0;
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.config.byte_counter.0;
            self.raise();
            self.byte_stage = self.byte_stage.saturating_add(1);
        }
        self.bytes_left -= bytes;
    }

    /// Returns the step of the target: without a byte counter by the number of raises since the cut, else by the number of
    /// counters that have reached `stages`.
    const fn step(&self) -> u64 {
        let (time, bytes, stages) = (self.time_stage, self.byte_stage, self.config.stages);
        let phase = if self.counts_bytes {
            (time >= stages) as u8 + (bytes >= stages) as u8
        } else {
            (time >= stages) as u8 + (time > stages) as u8
        };
        match phase {
            0 => 0,
            1 => self.config.additive.as_bps(),
            _ => self.config.hyper.as_bps(),
        }
    }

    fn raise(&mut self) {
        let step = self.step();
        let line = self.config.line.as_bps() as f64;
        self.rates.target = (self.rates.target + step as f64).min(line);
        self.rates.rate = self.config.towards(self.rates.rate, self.rates.target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_counts_bytes_and_bounds_a_cut() {
        let config = ReactionConfig {
            alpha: 1.0,
            byte_counter: Bytes(1_000),
            additive: BitRate::from_gbps(1),
            hyper: BitRate::from_gbps(2),
            kept_share: 0.75,
            ..ReactionConfig::firmware(BitRate::from_gbps(100))
        };
        let mut point = Mellanox::firmware(config);
        let at = |us| Time::ORIGIN + Duration::from_micros(us);
        point.sent(Bytes(5_000));
        point.notified(at(0));
        point.advance(at(5));
        assert_eq!((point.rates.rate, point.rates.target), (75e9, 100e9), "alpha 1 would halve it");
        point.sent(Bytes(999));
        assert_eq!(point.rates.rate, 75e9);
        point.sent(Bytes(1));
        assert_eq!((point.rates.rate, point.rates.target), (87.5e9, 100e9), "fast recovery");
        point.notified(at(6));
        point.advance(at(9));
        // The byte counter has raised the rate, so the target follows; the cut keeps three quarters.
        assert_eq!((point.rates.rate, point.rates.target), (65.625e9, 87.5e9));
        point.sent(Bytes(2_000));
        let (additive, rate) = (88.5e9, f64::midpoint(f64::midpoint(65.625e9, 87.5e9), 88.5e9));
        assert_eq!((point.rates.rate, point.rates.target), (rate, additive), "one counter is beyond");
        point.advance(at(9 + 300));
        assert_eq!(point.rates.target, 89.5e9, "the timer's own first stage: one counter is beyond");
        point.sent(Bytes(1_000));
        assert_eq!(point.rates.target, 91.5e9, "both are: hyper increase");
    }

    #[test]
    fn the_first_notification_sets_the_rate_once() {
        let first_rate = Some(BitRate::from_gbps(60));
        let config = ReactionConfig { first_rate, ..ReactionConfig::firmware(BitRate::from_gbps(100)) };
        let mut point = Mellanox::firmware(config);
        point.notified(Time::ORIGIN);
        assert_eq!((point.rates.rate, point.rates.target), (60e9, 60e9));
        assert_eq!(point.rates.alpha, 1023.0 / 1024.0);
    }

    #[test]
    fn the_target_rises_by_phases() {
        let config = ReactionConfig {
            clamp: Clamp::Always,
            stages: 1,
            additive: BitRate::from_gbps(1),
            hyper: BitRate::from_gbps(3),
            rate_timer: Duration::from_micros(100),
            alpha_timer: Duration::from_micros(1000),
            ..ReactionConfig::new(BitRate::from_gbps(100))
        };
        let mut point = Mellanox::new(config);
        let at = |us| Time::ORIGIN + Duration::from_micros(us);
        assert_eq!(point.next_timer(), None);
        // Two cuts, so that the target is below the line.
        point.notified(at(0));
        point.notified(at(5));
        point.advance(at(9));
        assert_eq!((point.rates.cuts, point.rates.rate, point.rates.target), (2, 25e9, 50e9));
        for target in [50e9, 51e9, 54e9, 57e9] {
            let due = point.next_timer().into_iter().chain(point.rate_due).max();
            point.advance(due.unwrap());
            assert_eq!(point.rates.target, target);
        }
    }
}
