//! DCTCP (RFC 8257; model: tcp §3): the window shrinks by the share of marked bytes.
//!
//! ```text
//! each ACK (§3.3):       BytesAcked += acked; if ECE: BytesMarked += acked
//! ACK > WindowEnd:       M = BytesMarked / BytesAcked, Alpha = Alpha (1 - g) + g M, WindowEnd = SND.NXT
//! ECE, once per window:  cwnd = cwnd (1 - Alpha / 2)
//! ```
//!
//! The window grows like NewReno's, and reacts to losses like NewReno's (§3.5).

use super::newreno::NewReno;
use super::{Echo, Window};

/// Alpha = 1.
const ONE: u32 = 1 << 20;

/// Settings of DCTCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DctcpConfig {
    /// The weight g of a window in alpha is 2 to the power of minus this number, 0 to 16; 4 by default: g = 1/16
    /// (RFC 8257 §4.2).
    pub shift: u32,
    /// Alpha of a new connection, in units of 2^-20, at most 2^20; 2^20 by default, as in Linux.
    pub initial_alpha: u32,
}

impl Default for DctcpConfig {
    fn default() -> Self {
        DctcpConfig { shift: 4, initial_alpha: ONE }
    }
}

#[derive(Clone, Debug)]
pub(in super::super) struct Dctcp {
    shift: u32,
    /// Estimate of the share of marked bytes, in units of 2^-20.
    alpha: u32,
    acked: u64,
    marked: u64,
    /// End of the observation window: the first position that was not sent when it began.
    window_end: u64,
    pub(super) newreno: NewReno,
}

impl Dctcp {
    pub(super) fn new(config: DctcpConfig) -> Dctcp {
        let (shift, alpha) = (config.shift, config.initial_alpha.min(ONE));
        // The first data has position 1, so the first observation window ends with the first acknowledgement.
        Dctcp { shift, alpha, acked: 0, marked: 0, window_end: 1, newreno: NewReno::default() }
    }

    pub(super) const fn alpha(&self) -> u32 {
        self.alpha
    }

    /// Counts acknowledged bytes; updates alpha at the end of an observation window.
    pub(super) fn observe(&mut self, echo: Echo) {
        self.acked += echo.bytes;
        if echo.marked {
            self.marked += echo.bytes;
        }
        if echo.una <= self.window_end || self.acked == 0 {
            return;
        }
        let share = u128::from(self.marked) * u128::from(ONE) / u128::from(self.acked);
        self.alpha = self.alpha - (self.alpha >> self.shift) + (share as u32 >> self.shift);
        (self.acked, self.marked, self.window_end) = (0, 0, echo.next);
    }

    pub(super) fn marked(&mut self, window: &mut Window) {
        let cut = u128::from(window.cwnd) * u128::from(self.alpha) / u128::from(2 * ONE);
        window.reduce_to(window.cwnd - cut as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, g = 1/16: alpha 1 -> 15/16 after a window without marks -> 15/16 * 15/16 + 1/16 * 1/4 = 229/256 after one
    /// with a quarter marked.
    #[test]
    fn alpha_is_a_moving_average_of_the_marked_share() {
        let mut dctcp = Dctcp::new(DctcpConfig::default());
        let mut ack = |bytes, marked, una, next| {
            dctcp.observe(Echo { bytes, marked, una, next });
            dctcp.alpha() as f64 / f64::from(ONE)
        };
        // The first acknowledgement ends the first window.
        assert_eq!(ack(1_000, false, 1_001, 11_001), 15.0 / 16.0);
        assert_eq!(ack(4_000, false, 5_001, 13_001), 15.0 / 16.0, "the window ends after position 11,001");
        assert_eq!(ack(6_000, false, 11_001, 15_001), 15.0 / 16.0);
        assert_eq!(ack(2_000, false, 13_001, 17_001), 225.0 / 256.0);
        assert_eq!(ack(3_000, false, 16_001, 20_001), 225.0 / 256.0);
        assert_eq!(ack(1_000, true, 17_001, 21_001), 225.0 / 256.0);
        let expected = 225.0 / 256.0 * 15.0 / 16.0 + 1.0 / 64.0 * 8.0 / 5.0;
        let found = ack(1_000, true, 18_001, 22_001);
        assert!((found - expected).abs() < 3e-6, "two of five segments are marked: {found} {expected}");
    }

    #[test]
    fn a_mark_cuts_by_half_of_alpha() {
        let cut = |initial_alpha| {
            let mut window = Window { cwnd: 80_000, ssthresh: u64::MAX, mss: 1_000 };
            Dctcp::new(DctcpConfig { shift: 4, initial_alpha }).marked(&mut window);
            assert_eq!(window.cwnd, window.ssthresh);
            window.cwnd
        };
        assert_eq!([ONE, ONE / 2, ONE / 16, 0].map(cut), [40_000, 60_000, 77_500, 80_000]);
    }
}
