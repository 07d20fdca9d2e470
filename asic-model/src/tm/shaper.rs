//! Leaky buckets: a rate and a burst, for the least and the most that a queue or port gets.
//!
//! One bucket in exact time.
//!
//! A bucket holds `burst` bytes at first and fills at `rate` up to that. It may send while it is not empty, and a packet
//! may take more than is in it (model: tm §4). Each packet takes its bytes and those of the gap between frames.
//! Rates are kept exactly; the chip rounds them to a mantissa and an exponent, which is not modelled.

use crate::units::{BitRate, Bytes, Duration, Time};

/// Bytes that a packet takes beside its own: preamble and inter-packet gap.
const FRAME_GAP: u64 = 20;

/// A rate limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShaperConfig {
    /// Bytes per time.
    pub rate: BitRate,
    /// What may be sent at once after a pause.
    pub burst: Bytes,
}

/// A bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shaper {
    config: ShaperConfig,
    /// The time that it takes to fill.
    depth: Duration,
    /// When it will be full.
    full_at: Time,
}

impl Shaper {
    /// A full bucket.
    pub(super) fn new(config: ShaperConfig) -> Self {
        Self { config, depth: config.rate.time_for(config.burst), full_at: Time::ORIGIN }
    }

    /// Whether it may send.
    #[inline]
    pub(super) fn is_open(&self, now: Time) -> bool {
        self.full_at <= now || self.full_at < now + self.depth
    }

    /// When it may send, if nothing is taken before.
    pub(super) fn opens_at(&self) -> Time {
        // A bucket of no depth opens when it is full, one of some depth when the first bit is in it.
        if self.depth.is_zero() {
            return self.full_at;
        }
        self.full_at.saturating_sub(self.depth) + Duration::from_ps(1)
    }

    /// Takes a packet.
    pub(super) fn take(&mut self, now: Time, bytes: Bytes) {
        let time = self.config.rate.time_for(Bytes(bytes.0.saturating_add(FRAME_GAP)));
        self.full_at = self.full_at.max(now) + time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bucket(gbps: u64, burst: u64) -> Shaper {
        Shaper::new(ShaperConfig { rate: BitRate::from_gbps(gbps), burst: Bytes(burst) })
    }

    #[test]
    fn a_burst_then_the_rate() {
        // 1 Gb/s: 8 ns a byte. A burst of 1000 B lets packets of 480 + 20 B go at 0, 0, and then one every 4 us.
        let mut shaper = bucket(1, 1000);
        let mut sent = Vec::new();
        let mut now = Time::ORIGIN;
        while sent.len() < 4 {
            if shaper.is_open(now) {
                shaper.take(now, Bytes(480));
                sent.push(now.as_ps());
            } else {
                now = shaper.opens_at();
            }
        }
        assert_eq!(sent, [0, 0, 1, 4_000_001]);
    }

    proptest! {
        #[test]
        fn never_more_than_rate_and_burst(
            gbps in 1u64..400, burst in 1u64..20_000,
            packets in prop::collection::vec((0u64..2_000_000, 60u64..9000), 1..100),
        ) {
            let mut shaper = bucket(gbps, burst);
            let (mut now, mut taken) = (Time::ORIGIN, 0);
            for (gap, bytes) in packets {
                now += Duration::from_ps(gap);
                if !shaper.is_open(now) {
                    now = shaper.opens_at();
                    prop_assert!(shaper.is_open(now));
                }
                // Before each packet, what went out fits the burst and the rate.
                let credit = burst + BitRate::from_gbps(gbps).bytes_in(now.since_origin()).get();
                prop_assert!(taken <= credit + 1, "{} {}", taken, credit);
                shaper.take(now, Bytes(bytes));
                taken += bytes + FRAME_GAP;
            }
        }
    }
}
