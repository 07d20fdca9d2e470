//! DCTCP in a NIC: a sending rate from the share of marked packets of each round trip (model: int §7.1).
//!
//! Every packet is acknowledged, and every acknowledgement says whether its packet was marked. Once in a round trip:
//!
//! ```text
//! F = marked / packets of the round trip;  alpha = (1 - g) * alpha + g * F
//! ```
//!
//! A marked packet cuts the rate by alpha / 2, once in a round trip. In a round trip without a cut the rate rises by
//! `additive`. There is no slow start: the sender begins at the line's rate, with alpha 1.

use sluice_asic::units::BitRate;

/// Parameters of a DCTCP sender in a NIC.
#[derive(Clone, Debug, PartialEq)]
pub struct RateDctcpConfig {
    /// Lower limit of the rate, above 0.
    pub min: BitRate,
    /// Step in a round trip without a cut.
    pub additive: BitRate,
    /// Weight g of a round trip in alpha, above 0 and at most 1.
    pub g: f64,
}

impl Default for RateDctcpConfig {
    /// Returns the parameters of HPCC's evaluation: 615 Mb/s, which are 1000 bytes in 13 us.
    fn default() -> Self {
        RateDctcpConfig {
            min: BitRate::from_bps(100_000_000),
            additive: BitRate::from_bps(615_000_000),
            g: 1.0 / 16.0,
        }
    }
}

/// A DCTCP sender in a NIC.
#[derive(Clone, Debug, PartialEq)]
pub struct RateDctcp {
    config: RateDctcpConfig,
    line: f64,
    /// Rate, bit/s.
    rate: f64,
    alpha: f64,
    /// Marked packets of the round trip, and its packets; `None` before the first acknowledgement.
    batch: Option<(u64, u64)>,
    /// First packet that was not sent when the round trip began.
    round_end: u64,
    /// First packet that was not sent at the cut; `None` if the last cut is a round trip ago.
    cut_end: Option<u64>,
    cuts: u64,
}

impl RateDctcp {
    /// Creates a sender at a line of this rate, at which it starts.
    #[must_use]
    pub const fn new(config: RateDctcpConfig, line: BitRate) -> RateDctcp {
        let line = line.as_bps() as f64;
        RateDctcp { config, line, rate: line, alpha: 1.0, batch: None, round_end: 0, cut_end: None, cuts: 0 }
    }

    /// Returns the pacing rate.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        BitRate::from_bps(self.rate as u64)
    }

    /// Returns alpha, the averaged share of marked packets.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the number of cuts.
    #[must_use]
    pub const fn cuts(&self) -> u64 {
        self.cuts
    }

    /// Handles an acknowledgement of all packets before `acknowledged`; `next` is the next packet to be sent, and
    /// `marked` is true if the acknowledged packet was.
    pub fn acknowledged(&mut self, acknowledged: u64, next: u64, marked: bool) {
        let (mut seen, size) = self.batch.unwrap_or((0, 1));
        seen += u64::from(marked);
        let new_round = self.batch.is_some() && acknowledged > self.round_end;
        if self.batch.is_none() || new_round {
            if new_round {
                let share = (seen as f64 / size as f64).min(1.0);
                self.alpha = (1.0 - self.config.g) * self.alpha + self.config.g * share;
                seen = 0;
            }
            self.round_end = next;
            // The packets up to the one after which the next round trip begins; the first one counts this packet too.
            let rest = next.saturating_sub(acknowledged) + 1;
            self.batch = Some((seen, rest + u64::from(!new_round)));
        } else {
            self.batch = Some((seen, size));
        }
        self.cut_end = self.cut_end.filter(|end| acknowledged <= *end);
        if marked && self.cut_end.is_none() {
            let least = (self.config.min.as_bps() as f64).min(self.line);
            self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(least);
            self.cut_end = Some(next);
            self.cuts += 1;
        } else if new_round && self.cut_end.is_none() {
            self.rate = (self.rate + self.config.additive.as_bps() as f64).min(self.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender() -> RateDctcp {
        RateDctcp::new(RateDctcpConfig::default(), BitRate::from_gbps(100))
    }

    #[test]
    fn the_first_mark_halves_the_rate_and_the_next_ones_wait_for_a_round_trip() {
        let mut dctcp = sender();
        dctcp.acknowledged(1, 100, true);
        assert_eq!(dctcp.rate().as_bps(), 50_000_000_000, "alpha is 1 at the start");
        dctcp.acknowledged(2, 101, true);
        dctcp.acknowledged(100, 150, true);
        assert_eq!(dctcp.cuts(), 1, "the cut was made when packet 100 was next");
        // Of packets 1 to 101 four were marked: alpha = 15/16 + 1/16 * 4/101.
        dctcp.acknowledged(101, 151, true);
        let alpha = 15.0 / 16.0 + 4.0 / 101.0 / 16.0;
        assert!((dctcp.alpha() - alpha).abs() < 1e-12, "{}", dctcp.alpha());
        assert_eq!((dctcp.cuts(), dctcp.rate().as_bps()), (2, (50e9 * (1.0 - alpha / 2.0)) as u64));
    }

    #[test]
    fn a_round_trip_without_marks_raises_the_rate() {
        let mut dctcp = sender();
        dctcp.acknowledged(1, 100, true);
        for ack in 2..=101 {
            dctcp.acknowledged(ack, ack + 60, false);
        }
        // One of 101 packets was marked, and the cut is a round trip ago.
        let alpha = 15.0 / 16.0 + 1.0 / 101.0 / 16.0;
        assert!((dctcp.alpha() - alpha).abs() < 1e-12, "{}", dctcp.alpha());
        assert_eq!(dctcp.rate().as_bps(), 50_615_000_000);
        // The round trip that begins there ends with the acknowledgement of packet 161.
        for ack in 102..=161 {
            dctcp.acknowledged(ack, ack + 60, false);
        }
        assert_eq!(dctcp.rate().as_bps(), 50_615_000_000);
        dctcp.acknowledged(162, 222, false);
        assert_eq!(dctcp.rate().as_bps(), 51_230_000_000);
    }

    #[test]
    fn without_marks_it_stays_at_the_line() {
        let mut dctcp = sender();
        (1..1_000).for_each(|ack| dctcp.acknowledged(ack, ack + 50, false));
        assert_eq!((dctcp.rate(), dctcp.cuts()), (BitRate::from_gbps(100), 0));
        assert!(dctcp.alpha() < 0.5);
    }

    #[test]
    fn the_rate_has_a_floor() {
        let mut dctcp = sender();
        (1..100).for_each(|round| dctcp.acknowledged(round * 10, round * 10 + 1, true));
        assert_eq!(dctcp.rate().as_bps(), 100_000_000);
    }
}
