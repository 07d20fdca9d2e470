//! DCQCN reaction point as published: every CNP cuts the rate, and a byte counter and a timer raise it (model: buffer
//! §4.2).

use super::{Clamp, Rates, ReactionConfig};
use sluice_asic::units::{BitRate, Bytes, Duration, Time};

/// A reaction point with byte counter and timer.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    config: ReactionConfig,
    pub(super) rates: Rates,
    byte_stage: u32,
    time_stage: u32,
    bytes_left: u64,
    alpha_due: Option<Time>,
    rate_due: Option<Time>,
    /// Time of the last cut.
    cut_at: Option<Time>,
}

impl Published {
    /// Creates a sender at line rate that has received no CNP.
    #[must_use]
    pub fn new(config: ReactionConfig) -> Self {
        let (rates, bytes_left) = (Rates::new(&config), config.byte_counter.0);
        let (alpha_due, rate_due, cut_at) = (None, None, None);
        Published { config, rates, byte_stage: 0, time_stage: 0, bytes_left, alpha_due, rate_due, cut_at }
    }

    pub(super) fn at_line(&self, line: BitRate) -> Self {
        Published::new(ReactionConfig { line: self.config.line.min(line), ..self.config.clone() })
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.alpha_due.into_iter().chain(self.rate_due).min()
    }

    pub(super) fn advance(&mut self, now: Time) {
        while let Some(due) = self.next_timer().filter(|due| *due <= now) {
            // If both are due at the same time, the alpha timer runs first.
            if self.alpha_due == Some(due) {
                self.rates.alpha = self.config.next_alpha(self.rates.alpha, false);
                self.rates.alpha_updates += 1;
                self.alpha_due = Some(due + self.config.alpha_timer);
            } else {
                self.time_stage += 1;
                self.raise();
                let timer = self.config.rate_timer;
                let next = if self.both_beyond() { Duration::from_ps(timer.as_ps() / 2) } else { timer };
                self.rate_due = Some(due + next);
            }
        }
    }

    pub(super) fn notified(&mut self, now: Time) {
        self.advance(now);
        self.rates.notified += 1;
        if self.cut_at.is_some_and(|cut| now < cut + self.config.cut_window) {
            return;
        }
        self.cut_at = Some(now);
        let raised = match self.config.clamp {
            Clamp::Always => true,
            Clamp::AfterRaise => self.byte_stage > 0 || self.time_stage > 0,
            Clamp::AfterBytes => self.byte_stage > 0,
        };
        if raised {
            self.rates.target = self.rates.rate;
            self.bytes_left = self.config.byte_counter.0;
        }
        let alpha = self.config.next_alpha(self.rates.alpha, true);
        let cut_by = if self.config.cut_first { self.rates.alpha } else { alpha };
        self.rates.rate = self.config.cut(self.rates.rate, cut_by);
        self.rates.alpha = alpha;
        self.rates.cuts += 1;
        (self.byte_stage, self.time_stage) = (0, 0);
        self.alpha_due = Some(now + self.config.alpha_timer);
        self.rate_due = Some(now + self.config.rate_timer);
    }

    pub(super) fn sent(&mut self, bytes: Bytes) {
        // Before the first cut the sender is at line rate and cannot be raised.
        if self.rate_due.is_none() || self.config.byte_counter.0 == 0 {
            return;
        }
        let mut bytes = bytes.0;
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.byte_stage += 1;
            self.raise();
            let whole = self.config.byte_counter.0;
            self.bytes_left = if self.both_beyond() { (whole / 2).max(1) } else { whole };
        }
        self.bytes_left -= bytes;
    }

    fn both_beyond(&self) -> bool {
        self.byte_stage.min(self.time_stage) >= self.config.stages
    }

    /// Enters a stage: updates the target as the stage says, and moves the rate halfway to the target.
    fn raise(&mut self) {
        let (least, most) = (self.byte_stage.min(self.time_stage), self.byte_stage.max(self.time_stage));
        let line = self.config.line.as_bps() as f64;
        let Rates { rate, target, .. } = self.rates;
        let target = if most == 1 && least == 0 && target > 10.0 * rate {
            target / 8.0
        } else if most < self.config.stages {
            target
        } else if least < self.config.stages {
            target + self.config.additive.as_bps() as f64
        } else {
            target + self.config.hyper.as_bps() as f64 * f64::from(least - self.config.stages + 1)
        };
        self.rates.target = target.min(line);
        self.rates.rate = self.config.towards(rate, self.rates.target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(us: u64) -> Time {
        Time::ORIGIN + Duration::from_micros(us)
    }

    fn gbps(point: &Published) -> (f64, f64) {
        (point.rates.rate / 1e9, point.rates.target / 1e9)
    }

    #[test]
    fn phases_follow_each_other() {
        let config = ReactionConfig {
            clamp: Clamp::Always,
            byte_counter: Bytes(1000),
            stages: 2,
            additive: BitRate::from_gbps(1),
            hyper: BitRate::from_gbps(2),
            ..ReactionConfig::new(BitRate::from_gbps(100))
        };
        let mut point = Published::new(config);
        point.sent(Bytes(5000));
        assert_eq!(gbps(&point), (100.0, 100.0), "nothing to raise yet");
        point.notified(at(0));
        point.notified(at(1));
        assert_eq!(gbps(&point), (25.0, 50.0));
        point.sent(Bytes(999));
        assert_eq!(gbps(&point), (25.0, 50.0));
        point.sent(Bytes(1));
        assert_eq!(gbps(&point), (37.5, 50.0), "fast recovery");
        point.sent(Bytes(1000));
        assert_eq!(gbps(&point), (44.25, 51.0), "one stage beyond: additive");
        point.advance(at(1 + 1500));
        assert_eq!(gbps(&point), (48.125, 52.0));
        point.advance(at(1 + 3000));
        assert_eq!(gbps(&point), (51.0625, 54.0), "both beyond: hyper");
        point.advance(at(1 + 3750));
        assert_eq!(gbps(&point).1, 56.0, "the timer runs twice as fast");
        point.sent(Bytes(500));
        assert_eq!(gbps(&point).1, 56.0, "the byte counter was loaded before");
        point.sent(Bytes(500));
        assert_eq!(gbps(&point).1, 60.0, "the third stage of both: twice the step");
        point.sent(Bytes(500));
        assert_eq!(gbps(&point).1, 64.0, "and then half as many bytes are a stage");
    }

    /// Notifications in equal intervals, in which the timers run equally often, have a fixed point. Between two
    /// notifications alpha decays `m` times: alpha = g / (1 - (1 - g)^(m + 1)). The timer raises the rate `F - 1` times
    /// halfway to the target, which is the rate R before the cut, and `j` times by R_AI first. After a cut the gap to the
    /// target is R * alpha / 2; a stage halves it, an additive one after adding R_AI. R is the same again if the gap then is
    /// j * R_AI: R = 2^(F + j) * R_AI * (j - 1 + 2^-j) / alpha.
    #[test]
    fn equal_intervals_have_the_fixed_point_of_the_closed_form() {
        const G: f64 = 1.0 / 16.0;
        const INTERVAL: u64 = 1_000;
        let (alpha_timer, rate_timer, stages) = (300, 150, 3);
        let config = ReactionConfig {
            clamp: Clamp::Always,
            g: G,
            alpha_timer: Duration::from_micros(alpha_timer),
            rate_timer: Duration::from_micros(rate_timer),
            byte_counter: Bytes(0),
            stages,
            additive: BitRate::from_bps(40_000_000),
            ..ReactionConfig::new(BitRate::from_gbps(100))
        };
        let mut point = Published::new(config);
        (0..20_000).for_each(|n| point.notified(at(n * INTERVAL)));
        point.advance(at(20_000 * INTERVAL - 1));
        let m = (INTERVAL / alpha_timer) as i32;
        let alpha = G / (1.0 - (1.0 - G).powi(m + 1));
        // The last notification of the loop has cut; alpha has decayed since.
        let before = alpha * (1.0 - G).powi(m);
        assert!((point.rates.alpha / before - 1.0).abs() < 1e-9, "{}", point.rates.alpha);
        // Six stages in an interval: two of fast recovery and four additive ones. The cut uses alpha before its update.
        let j = (INTERVAL / rate_timer) as i32 - (stages as i32 - 1);
        let rate = 2f64.powi(stages as i32 + j) * 40e6 * (f64::from(j) - 1.0 + 0.5f64.powi(j)) / before;
        assert!((point.rates.rate / rate - 1.0).abs() < 1e-6, "{}, expected {rate}", point.rates.rate);
    }

    #[test]
    fn the_order_of_cut_and_alpha_matters_below_one() {
        let base =
            ReactionConfig { alpha: 0.5, g: 1.0 / 256.0, ..ReactionConfig::new(BitRate::from_gbps(40)) };
        let rate = |cut_first| {
            let mut point = Published::new(ReactionConfig { cut_first, ..base.clone() });
            point.notified(at(0));
            (point.rates.rate / 1e6).round()
        };
        assert_eq!((rate(true), rate(false)), (30_000.0, 29_961.0));
    }

    #[test]
    fn within_the_window_after_a_cut_notifications_are_ignored() {
        let cuts = |us| {
            let base = ReactionConfig::new(BitRate::from_gbps(40));
            let window = Duration::from_micros(us);
            let mut point = Published::new(ReactionConfig { cut_window: window, ..base });
            [0, 20, 49, 50, 99, 120].into_iter().for_each(|us| point.notified(at(us)));
            (point.rates.cuts, point.rates.notified)
        };
        // With 50 us the cuts are at 0, 50 and 120: 99 is within the window of the cut at 50.
        assert_eq!((cuts(0), cuts(50)), ((6, 6), (3, 6)));
    }

    #[test]
    fn a_target_far_above_comes_down_first() {
        let mut point = Published::new(ReactionConfig {
            clamp: Clamp::AfterBytes,
            ..ReactionConfig::new(BitRate::from_gbps(100))
        });
        (0..6).for_each(|n| point.notified(at(n)));
        assert_eq!(point.rates.target, 100e9);
        point.advance(at(5 + 1500));
        assert_eq!(point.rates.target, 12.5e9);
    }

    proptest! {
        #[test]
        fn rates_stay_between_least_and_line(
            steps in prop::collection::vec((any::<bool>(), 0u64..4000, 0u64..400_000), 1..200),
            clamp in prop::sample::select(vec![Clamp::Always, Clamp::AfterRaise, Clamp::AfterBytes]),
            cut_first: bool,
        ) {
            let config =
                ReactionConfig { clamp, cut_first, ..ReactionConfig::new(BitRate::from_gbps(25)) };
            let (mut point, mut now) = (Published::new(config), Time::ORIGIN);
            for (notify, us, bytes) in steps {
                now += Duration::from_micros(us);
                point.advance(now);
                point.sent(Bytes(bytes));
                if notify {
                    point.notified(now);
                }
                let Rates { rate, target, alpha, .. } = point.rates;
                prop_assert!((100e6..=25e9).contains(&rate), "{rate}");
                prop_assert!((100e6..=25e9).contains(&target), "{target}");
                prop_assert!((0.0..=1.0).contains(&alpha), "{alpha}");
                prop_assert!(point.next_timer().is_none_or(|due| due > now));
            }
        }
    }
}
