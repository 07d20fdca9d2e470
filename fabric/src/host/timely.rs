//! TIMELY: a sending rate from the gradient of round-trip times (model: int §7.2).
//!
//! ```text
//! new_diff = new_rtt - prev_rtt;  prev_rtt = new_rtt
//! rtt_diff = (1 - weight) * rtt_diff + weight * new_diff;  gradient = rtt_diff / minRTT
//! if new_rtt < T_low:    rate += step
//! if new_rtt > T_high:   rate *= 1 - beta * (1 - T_high / new_rtt)
//! else gradient <= 0:    rate += step
//! else:                  rate *= 1 - beta * gradient
//! ```
//!
//! The step is `additive`, and `hyper` after `hyper_after` increases in a row. The sender measures round trips itself: it
//! keeps the time at which it started each packet, and takes no sample from a packet that it has sent twice. So packets
//! need no timestamp, unlike the simulator's, which carry 8 bytes.

use sluice_asic::units::{BitRate, Bytes, Duration};

/// Acknowledgements at which the rate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completions {
    /// The first one of a packet that was sent after the last change: once in a round trip, as in the simulator.
    RoundTrip,
    /// Those that complete another segment of this many bytes: a completion event of the paper's NIC, whose segments
    /// have 16 to 64 KB.
    Segment(Bytes),
}

/// Parameters of a TIMELY sender.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelyConfig {
    /// Lower limit of the rate, above 0.
    pub min: BitRate,
    /// Additive step; `None`: a thousandth of the line.
    pub additive: Option<BitRate>,
    /// Step after `hyper_after` increases in a row; `None`: a two-hundredth of the line.
    pub hyper: Option<BitRate>,
    /// Increases in a row by the additive step.
    pub hyper_after: u32,
    /// T_low: below it the rate rises whatever the gradient is.
    pub low: Duration,
    /// T_high: above it the rate falls whatever the gradient is.
    pub high: Duration,
    /// minRTT: unit of the gradient, above 0.
    pub min_rtt: Duration,
    /// Weight of a new difference in the average, 0 to 1.
    pub weight: f64,
    /// beta, 0 to 1.
    pub beta: f64,
    /// Acknowledgements at which the rate changes.
    pub completions: Completions,
}

impl Default for TimelyConfig {
    /// Returns the parameters of HPCC's simulator.
    fn default() -> TimelyConfig {
        TimelyConfig {
            min: BitRate::from_bps(100_000_000),
            additive: None,
            hyper: None,
            hyper_after: 5,
            low: Duration::from_micros(50),
            high: Duration::from_micros(500),
            min_rtt: Duration::from_micros(20),
            weight: 0.875,
            beta: 0.8,
            completions: Completions::RoundTrip,
        }
    }
}

/// A TIMELY sender.
#[derive(Clone, Debug, PartialEq)]
pub struct Timely {
    config: TimelyConfig,
    line: f64,
    /// Steps, bit/s.
    additive: f64,
    hyper: f64,
    /// Rate, bit/s.
    rate: f64,
    /// The last round trip and the averaged difference, ps; `None` before the first sample.
    last: Option<(u64, f64)>,
    /// Increases in a row.
    increases: u32,
    /// Round trips: first packet that was not sent at the last change. Segments: bytes since the last change.
    since: u64,
    cuts: u64,
}

impl Timely {
    /// Creates a sender at a line of this rate, at which it starts.
    #[must_use]
    pub fn new(config: TimelyConfig, line: BitRate) -> Timely {
        let line = line.as_bps() as f64;
        let step =
            |given: Option<BitRate>, parts: f64| given.map_or(line / parts, |step| step.as_bps() as f64);
        Timely {
            line,
            additive: step(config.additive, 1_000.0),
            hyper: step(config.hyper, 200.0),
            config,
            rate: line,
            last: None,
            increases: 0,
            since: 0,
            cuts: 0,
        }
    }

    /// Returns the pacing rate.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        BitRate::from_bps(self.rate as u64)
    }

    /// Returns the number of decreases.
    #[must_use]
    pub const fn cuts(&self) -> u64 {
        self.cuts
    }

    /// Handles an acknowledgement of all packets before `acknowledged`, with `bytes` more bytes than the one before;
    /// `next` is the next packet to be sent. `rtt` is the round trip of the newest acknowledged packet, if that packet was
    /// sent once.
    pub fn acknowledged(&mut self, acknowledged: u64, next: u64, bytes: u64, rtt: Option<Duration>) {
        let due = match self.config.completions {
            Completions::RoundTrip => self.last.is_none() || acknowledged > self.since,
            Completions::Segment(segment) => {
                self.since += bytes;
                self.since >= segment.0
            }
        };
        let (true, Some(rtt)) = (due, rtt) else { return };
        self.since = match self.config.completions {
            Completions::RoundTrip => next,
            Completions::Segment(segment) => self.since % segment.0.max(1),
        };
        let rtt = rtt.as_ps();
        let Some((last, average)) = self.last else {
            self.last = Some((rtt, 0.0));
            return;
        };
        let average = (1.0 - self.config.weight) * average + self.config.weight * (rtt as f64 - last as f64);
        self.last = Some((rtt, average));
        self.change(rtt, average / self.config.min_rtt.as_ps() as f64);
    }

    /// Changes the rate after a round trip, ps, with a gradient.
    fn change(&mut self, rtt: u64, gradient: f64) {
        let TimelyConfig { low, high, beta, min, hyper_after, .. } = self.config;
        let factor = if rtt < low.as_ps() {
            None
        } else if rtt > high.as_ps() {
            Some(1.0 - beta * (1.0 - high.as_ps() as f64 / rtt as f64))
        } else if gradient <= 0.0 {
            None
        } else {
            Some((1.0 - beta * gradient).max(0.0))
        };
        if let Some(factor) = factor {
            self.rate = (self.rate * factor).max((min.as_bps() as f64).min(self.line));
            self.increases = 0;
            self.cuts += 1;
        } else {
            let step = if self.increases < hyper_after { self.additive } else { self.hyper };
            self.rate = (self.rate + step).min(self.line);
            self.increases = self.increases.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: BitRate = BitRate::from_gbps(100);

    /// Rates in Gb/s after round trips of these microseconds, once in a round trip.
    fn rates(config: TimelyConfig, us: &[u64]) -> Vec<f64> {
        let mut timely = Timely::new(config, LINE);
        let mut seq = 0;
        let mut after = |us: &u64| {
            seq += 100;
            timely.acknowledged(seq, seq + 99, 0, Some(Duration::from_micros(*us)));
            timely.rate().as_bps() as f64 / 1e9
        };
        us.iter().map(&mut after).collect()
    }

    fn close(found: &[f64], expected: &[f64]) {
        let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(same && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn gradients_above_zero_cut_and_others_raise() {
        let config = TimelyConfig { weight: 0.5, ..TimelyConfig::default() };
        // Differences 10, 0, -20 us with weight 1/2: averages 5, 2.5, -8.75 us; over 20 us 0.25, 0.125, -0.4375.
        let cut = 100.0 * (1.0 - 0.8 * 0.25);
        let again = cut * (1.0 - 0.8 * 0.125);
        close(&rates(config, &[100, 110, 110, 90]), &[100.0, cut, again, again + 0.1]);
    }

    #[test]
    fn beyond_the_thresholds_the_gradient_does_not_count() {
        // 1000 us are twice T_high: the rate falls by 0.8 / 2, although the round trip has just become shorter.
        let fall = 100.0 * 0.6;
        close(&rates(TimelyConfig::default(), &[2_000, 1_000]), &[100.0, fall]);
        // 49 us are below T_low, although the round trip has just become longer.
        close(&rates(TimelyConfig::default(), &[2_000, 1_000, 10, 49]), &[100.0, 60.0, 60.1, 60.2]);
    }

    #[test]
    fn hyper_increase_after_five_in_a_row() {
        let us = [2_000, 1_000, 10, 10, 10, 10, 10, 10, 10];
        close(&rates(TimelyConfig::default(), &us)[6..], &[60.5, 61.0, 61.5]);
    }

    #[test]
    fn a_steep_gradient_leaves_the_least_rate() {
        close(&rates(TimelyConfig::default(), &[60, 400, 60, 400])[1..2], &[0.1]);
    }

    #[test]
    fn the_rate_changes_once_in_a_round_trip_or_for_every_segment() {
        let rtt = |us| Some(Duration::from_micros(us));
        let mut timely = Timely::new(TimelyConfig::default(), LINE);
        timely.acknowledged(1, 100, 1_000, rtt(100));
        timely.acknowledged(100, 199, 99_000, rtt(1_000));
        assert_eq!(timely.rate(), LINE, "packet 99 was sent before the first sample");
        timely.acknowledged(101, 200, 1_000, rtt(1_000));
        assert_eq!(timely.rate().as_bps(), 60_000_000_000);
        let segment = Completions::Segment(Bytes(16_000));
        let mut timely = Timely::new(TimelyConfig { completions: segment, ..TimelyConfig::default() }, LINE);
        for packet in 1..=48 {
            timely.acknowledged(packet, packet + 99, 1_000, rtt(if packet < 32 { 100 } else { 1_000 }));
        }
        assert_eq!(timely.cuts(), 2, "packet 16 is the first sample, 32 and 48 change the rate");
    }

    #[test]
    fn a_packet_that_was_sent_twice_is_no_sample() {
        let mut timely = Timely::new(TimelyConfig::default(), LINE);
        timely.acknowledged(1, 100, 1_000, Some(Duration::from_micros(100)));
        timely.acknowledged(101, 200, 1_000, None);
        timely.acknowledged(102, 201, 1_000, Some(Duration::from_millis(1)));
        assert_eq!(timely.cuts(), 1, "the next packet is the sample of the round trip");
    }
}
