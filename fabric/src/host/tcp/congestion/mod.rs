//! Congestion control: how the window grows and shrinks.
//!
//! [`Window`] has what all algorithms share: slow start (RFC 5681 §3.1 with the byte counting of RFC 3465). The sender calls
//! [`Congestion::grow`] for acknowledgements of new data outside of recovery, and one of [`Congestion::lost`],
//! [`Congestion::marked`] and [`Congestion::timed_out`] at most once per window of data. These set ssthresh and the window; in
//! recovery without SACK the sender inflates the window itself.

mod cubic;
mod dctcp;
mod newreno;

pub use cubic::CubicConfig;
pub use dctcp::DctcpConfig;

use cubic::Cubic;
use dctcp::Dctcp;
use newreno::NewReno;
use sluice_asic::units::{Duration, Time};

/// The algorithm, with its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CongestionConfig {
    /// NewReno: RFC 5681 and RFC 6582.
    #[default]
    NewReno,
    /// CUBIC: RFC 9438.
    Cubic(CubicConfig),
    /// DCTCP: RFC 8257.
    Dctcp(DctcpConfig),
}

/// Congestion window and slow start threshold, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    /// Payload of a full segment (SMSS).
    pub(super) mss: u64,
}

impl Window {
    pub(super) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows in slow start by the acknowledged bytes, at most by `limit` segments, up to ssthresh. Returns the bytes beyond
    /// it, which count for congestion avoidance.
    fn slow_start(&mut self, bytes: u64, limit: u32) -> u64 {
        if !self.in_slow_start() {
            return bytes;
        }
        let step = bytes.min(u64::from(limit) * self.mss);
        let grown = step.min(self.ssthresh - self.cwnd);
        self.cwnd += grown;
        step - grown
    }

    /// Sets ssthresh and the window to `bytes`, or to two full segments if they are more.
    fn reduce_to(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(2 * self.mss);
        self.cwnd = self.ssthresh;
    }
}

/// An acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acked {
    pub(super) now: Time,
    /// Newly acknowledged bytes.
    pub(super) bytes: u64,
    /// Smoothed round-trip time.
    pub(super) srtt: Duration,
    /// Most segments by which slow start may grow, the limit L of RFC 3465.
    pub(super) limit: u32,
}

/// Progress of a connection's ends of data, for algorithms that measure per window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echo {
    /// Newly acknowledged bytes.
    pub(super) bytes: u64,
    /// True if the acknowledgement has ECE.
    pub(super) marked: bool,
    /// First unacknowledged position, after this acknowledgement.
    pub(super) una: u64,
    /// First position that was not sent yet.
    pub(super) next: u64,
}

/// State of a connection's congestion control.
#[derive(Clone, Debug)]
pub(super) enum Congestion {
    NewReno(NewReno),
    Cubic(Cubic),
    Dctcp(Dctcp),
}

impl Congestion {
    pub(super) fn new(config: CongestionConfig) -> Congestion {
        match config {
            CongestionConfig::NewReno => Congestion::NewReno(NewReno::default()),
            CongestionConfig::Cubic(config) => Congestion::Cubic(Cubic::new(config)),
            CongestionConfig::Dctcp(config) => Congestion::Dctcp(Dctcp::new(config)),
        }
    }

    /// Grows the window.
    pub(super) fn grow(&mut self, window: &mut Window, acked: Acked) {
        let rest = window.slow_start(acked.bytes, acked.limit);
        if rest == 0 {
            return;
        }
        let acked = Acked { bytes: rest, ..acked };
        match self {
            Congestion::NewReno(newreno) => newreno.avoid(window, acked.bytes),
            Congestion::Cubic(cubic) => cubic.avoid(window, acked),
            Congestion::Dctcp(dctcp) => dctcp.newreno.avoid(window, acked.bytes),
        }
    }

    /// Measures marks.
    pub(super) fn observe(&mut self, echo: Echo) {
        if let Congestion::Dctcp(dctcp) = self {
            dctcp.observe(echo);
        }
    }

    /// Handles a loss that fast retransmit repairs; `flight` is the number of unacknowledged bytes.
    pub(super) fn lost(&mut self, window: &mut Window, flight: u64) {
        match self {
            Congestion::NewReno(newreno) => newreno.reduce(window, flight),
            Congestion::Cubic(cubic) => cubic.reduce(window, flight),
            // "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP" (RFC 8257 §3.5).
            Congestion::Dctcp(dctcp) => dctcp.newreno.reduce(window, flight),
        }
    }

    /// Handles an echo of a mark.
    pub(super) fn marked(&mut self, window: &mut Window) {
        let cwnd = window.cwnd;
        match self {
            Congestion::NewReno(newreno) => newreno.reduce(window, cwnd),
            Congestion::Cubic(cubic) => cubic.reduce(window, cwnd),
            Congestion::Dctcp(dctcp) => dctcp.marked(window),
        }
    }

    /// Handles a timeout: the window becomes one segment. If it is the first one of a segment, ssthresh is reduced
    /// (RFC 5681 §3.1, equation 4).
    pub(super) fn timed_out(&mut self, window: &mut Window, flight: u64, first: bool) {
        if first {
            self.lost(window, flight);
        }
        if let Congestion::Cubic(cubic) = self {
            cubic.timed_out();
        }
        window.cwnd = window.mss;
    }

    /// Excludes a time without data from the time that growth depends on.
    pub(super) fn idled(&mut self, time: Duration) {
        if let Congestion::Cubic(cubic) = self {
            cubic.idled(time);
        }
    }

    /// Returns DCTCP's estimate of the share of marked bytes, in units of 2^-20.
    pub(super) const fn alpha(&self) -> Option<u32> {
        match self {
            Congestion::Dctcp(dctcp) => Some(dctcp.alpha()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_counts_bytes_up_to_the_limit_and_ends_at_ssthresh() {
        let mut window = Window { cwnd: 10_000, ssthresh: 14_500, mss: 1_000 };
        assert_eq!((window.slow_start(1_000, 2), window.cwnd), (0, 11_000));
        assert_eq!((window.slow_start(5_000, 2), window.cwnd), (0, 13_000), "two segments at most");
        assert_eq!((window.slow_start(2_000, 2), window.cwnd), (500, 14_500));
        assert_eq!((window.slow_start(2_000, 2), window.cwnd), (2_000, 14_500));
    }

    #[test]
    fn the_first_timeout_halves_ssthresh_and_the_next_one_does_not() {
        for config in [CongestionConfig::NewReno, CongestionConfig::Dctcp(DctcpConfig::default())] {
            let mut window = Window { cwnd: 20_000, ssthresh: u64::MAX, mss: 1_000 };
            let mut congestion = Congestion::new(config);
            congestion.timed_out(&mut window, 18_000, true);
            assert_eq!((window.cwnd, window.ssthresh), (1_000, 9_000));
            congestion.timed_out(&mut window, 18_000, false);
            assert_eq!((window.cwnd, window.ssthresh), (1_000, 9_000));
        }
    }
}
