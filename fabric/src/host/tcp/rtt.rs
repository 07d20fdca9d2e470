//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! ```text
//! first measurement R (§2.2):   SRTT = R, RTTVAR = R / 2
//! next ones (§2.3):             RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|, SRTT = 7/8 SRTT + 1/8 R
//! always:                       RTO = SRTT + max(G, 4 RTTVAR), at least `min` (§2.4), at most `max` (§2.5)
//! timeout (§5.5):               RTO = 2 RTO
//! ```

use super::config::RtoConfig;
use sluice_asic::units::Duration;

/// Estimator of a connection's round-trip time, with the retransmission timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rtt {
    config: RtoConfig,
    /// SRTT and RTTVAR, after the first measurement.
    smoothed: Option<(Duration, Duration)>,
    /// Timeout without back-off.
    base: Duration,
    /// Number of doublings since the last measurement.
    backoff: u32,
}

impl Rtt {
    pub(super) const fn new(config: RtoConfig) -> Rtt {
        Rtt { config, smoothed: None, base: config.initial, backoff: 0 }
    }

    /// Handles a measurement. Its caller measures no retransmitted segment (Karn's algorithm, §3).
    pub(super) fn measured(&mut self, rtt: Duration) {
        let r = rtt.as_ps();
        let (srtt, var) = match self.smoothed {
            None => (r, r / 2),
            Some((srtt, var)) => {
                let (srtt, var) = (srtt.as_ps(), var.as_ps());
                ((7 * srtt + r) / 8, (3 * var + srtt.abs_diff(r)) / 4)
            }
        };
        let [srtt, var] = [srtt, var].map(Duration::from_ps);
        self.smoothed = Some((srtt, var));
        self.base = (srtt + self.config.granularity.max(var * 4)).clamp(self.config.min, self.config.max);
        self.backoff = 0;
    }

    /// Doubles the timeout.
    pub(super) const fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// Sets the timeout of a connection whose SYN was retransmitted: three times the initial one, which is 3 s for the
    /// standard's 1 s (§5.7).
    pub(super) fn opened_late(&mut self) {
        (self.base, self.backoff) = (self.config.initial * 3, 0);
    }

    /// Returns the timeout.
    pub(super) fn timeout(&self) -> Duration {
        let doubled = 1_u64.checked_shl(self.backoff).and_then(|factor| self.base.checked_mul(factor));
        doubled.map_or(self.config.max, |timeout| timeout.min(self.config.max))
    }

    /// Returns SRTT, once there is a measurement.
    pub(super) fn smoothed(&self) -> Option<Duration> {
        self.smoothed.map(|(srtt, _)| srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Duration = Duration::from_micros;

    fn config() -> RtoConfig {
        RtoConfig { initial: US(1_000_000), min: US(1), max: US(60_000_000), granularity: US(1) }
    }

    /// By hand: R = 800: SRTT 800, RTTVAR 400, RTO 800 + 1600. R = 400: RTTVAR (1200 + 400) / 4 = 400, SRTT
    /// (5600 + 400) / 8 = 750, RTO 2350. R = 750: RTTVAR 300, SRTT 750, RTO 1950.
    #[test]
    fn the_estimate_follows_the_rfc() {
        let mut rtt = Rtt::new(config());
        assert_eq!((rtt.timeout(), rtt.smoothed()), (US(1_000_000), None));
        for (measured, srtt, rto) in [(800, 800, 2_400), (400, 750, 2_350), (750, 750, 1_950)] {
            rtt.measured(US(measured));
            assert_eq!((rtt.smoothed(), rtt.timeout()), (Some(US(srtt)), US(rto)), "{measured}");
        }
        // A variance below a quarter of the granularity: RTO = SRTT + G.
        let mut steady = Rtt::new(RtoConfig { granularity: US(1_000), ..config() });
        (0..60).for_each(|_| steady.measured(US(100)));
        assert_eq!(steady.timeout(), US(1_100));
    }

    #[test]
    fn timeouts_double_between_the_limits() {
        let mut rtt = Rtt::new(RtoConfig { min: US(10_000), max: US(50_000), ..config() });
        rtt.measured(US(100));
        let mut timeouts = Vec::new();
        for _ in 0..70 {
            timeouts.push(rtt.timeout());
            rtt.back_off();
        }
        assert_eq!(timeouts[..4], [10_000, 20_000, 40_000, 50_000].map(US));
        assert!(timeouts[4..].iter().all(|timeout| *timeout == US(50_000)));
        rtt.measured(US(100));
        assert_eq!(rtt.timeout(), US(10_000), "a measurement ends the back-off");
        rtt.opened_late();
        assert_eq!(rtt.timeout(), US(50_000), "3 s, cut to the largest timeout");
    }
}
