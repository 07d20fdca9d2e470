//! DCQCN reaction point with a rate decrease monitor: CNPs set flags, which the alpha timer and the monitor poll
//! (model: buffer §4.3).

use super::{Clamp, Rates, ReactionConfig};
use sluice_asic::units::{Duration, Time};

/// Reaction point that cuts its rate at most once per monitor period.
#[derive(Clone, Debug, PartialEq)]
pub struct Mellanox {
    config: ReactionConfig,
    pub(super) rates: Rates,
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
            config,
            time_stage: 0,
            for_alpha: false,
            for_cut: false,
            alpha_due: None,
            monitor_due: None,
            rate_due: None,
        }
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
        self.rates.alpha = 1.0;
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
                self.rate_due = Some(due + self.config.rate_timer);
            }
        }
    }

    fn cut(&mut self, now: Time) {
        let clamp = match self.config.clamp {
            Clamp::Always => true,
            Clamp::AfterRaise => self.time_stage > 0,
            Clamp::AfterBytes => false,
        };
        if clamp {
            self.rates.target = self.rates.rate;
        }
        self.rates.rate = self.config.cut(self.rates.rate, self.rates.alpha);
        self.rates.cuts += 1;
        self.time_stage = 0;
        self.rate_due = Some(now + self.config.rate_timer);
    }

    fn raise(&mut self) {
        let step = match self.time_stage.cmp(&self.config.stages) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => self.config.additive.as_bps(),
            std::cmp::Ordering::Greater => self.config.hyper.as_bps(),
        };
        let line = self.config.line.as_bps() as f64;
        self.rates.target = (self.rates.target + step as f64).min(line);
        self.rates.rate = self.config.towards(self.rates.rate, self.rates.target);
        self.time_stage = self.time_stage.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_asic::units::BitRate;

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
